#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/array.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/planar_array.h>
#include <texton/sparse_array.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/device_fields.h"
#include "viewer/model/document.h"
#include "viewer/text/value_text.h"

namespace texton::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string device;
    bool formats = false;
    bool json = false;
};

constexpr ArrayKind kKinds[] = {ArrayKind::array_1d,       ArrayKind::array_2d,   ArrayKind::array_3d,
                                ArrayKind::layered_1d,     ArrayKind::layered_2d, ArrayKind::cubemap,
                                ArrayKind::cubemap_layered};

// A use of an array.
enum class Use { texture, surface, gather, sparse, deferred };
struct UseRow {
    Use use;
    const char* word;
    char letter;
};
constexpr UseRow kUses[] = {{Use::texture, "texture", 't'},
                            {Use::surface, "surface", 's'},
                            {Use::gather, "gather", 'g'},
                            {Use::sparse, "sparse", 'p'},
                            {Use::deferred, "deferred", 'd'}};

std::string id(const Device& device) {
    return fmt::format("{}:{}", device.kind() == DeviceKind::cpu ? "cpu" : "cuda", device.index());
}

// Returns true if the device can create a small array of the kind and format for the use.
bool can(const Device& device, ArrayKind kind, Format format, Use use) {
    const bool flat = is_flat(kind), deep = kind == ArrayKind::array_3d;
    const ArrayInfo array_info{.format = format,
                               .extent = {16, flat ? 1U : 16U, deep ? 16U : 1U},
                               .kind = kind,
                               .layers = is_layered(kind) ? 2U : 1U,
                               .usage = {.surface = use == Use::surface, .gather = use == Use::gather}};
    try {
        if (plane_count(format) > 1) {
            if (kind != ArrayKind::array_2d || use != Use::texture) return false;
            (void)PlanarArray(device, format, array_info.extent);
        } else if (use == Use::sparse) {
            (void)SparseArray(device, array_info);
        } else if (use == Use::deferred) {
            (void)DeferredArray(device, array_info);
        } else {
            (void)Array(device, array_info);
        }
        return true;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::unsupported || error.code() == ErrorCode::bad_argument) return false;
        throw;
    }
}

std::string largest(const DeviceLimits& limits, ArrayKind kind) {
    const auto sides = [](const auto& list) {
        std::string out;
        for (const std::size_t side : list) out += (out.empty() ? "" : " x ") + std::to_string(side);
        return out;
    };
    const auto layers = [](auto width, auto count) { return fmt::format("{}, {} layers", width, count); };
    switch (kind) {
        case ArrayKind::array_1d: return std::to_string(limits.texture_1d);
        case ArrayKind::array_2d: return sides(limits.texture_2d);
        case ArrayKind::array_3d: return sides(limits.texture_3d);
        case ArrayKind::layered_1d: return layers(limits.texture_1d_layered[0], limits.texture_1d_layered[1]);
        case ArrayKind::layered_2d:
            return layers(fmt::format("{} x {}", limits.texture_2d_layered[0], limits.texture_2d_layered[1]),
                          limits.texture_2d_layered[2]);
        case ArrayKind::cubemap: return fmt::format("{0} x {0}", limits.cubemap);
        case ArrayKind::cubemap_layered:
            return fmt::format("{0} x {0}, {1} cubes", limits.cubemap_layered[0], limits.cubemap_layered[1] / 6);
    }
    return {};
}

Json properties(const Device& device) {
    const DeviceProperties& p = device.properties();
    std::string uuid;
    for (const std::uint8_t byte : p.uuid) uuid += fmt::format("{:02x}", byte);
    const MemoryInfo memory = device.memory();
    const viewer::DeviceFields fields = viewer::fields_of(device);
    return {{"name", p.name},
            {"uuid", uuid},
            {"ordinal", p.ordinal},
            {"compute_capability", fmt::format("{}.{}", p.compute_major, p.compute_minor)},
            {"multiprocessors", p.multiprocessors},
            {"total_memory", memory.total},
            {"free_memory", memory.free},
            {"l2_bytes", p.l2_bytes},
            {"driver_version", p.driver_version},
            {"driver_release", fields.driver_release},
            {"cpu", fields.cpu},
            {"runtime_version", p.runtime_version},
            {"managed_memory", p.managed_memory},
            {"concurrent_managed_access", p.concurrent_managed_access},
            {"pageable_memory_access", p.pageable_memory_access},
            {"host_register", p.host_register},
            {"host_register_read_only", p.host_register_read_only},
            {"host_pointer_is_device_pointer", p.host_pointer_is_device_pointer},
            {"memory_pools", p.memory_pools},
            {"pool_file_descriptors", p.pool_file_descriptors},
            {"pool_fabric_handles", p.pool_fabric_handles},
            {"host_numa_pools", p.host_numa_pools},
            {"virtual_memory", p.virtual_memory}};
}

Json limits(const Device& device) {
    const DeviceLimits& l = device.limits();
    return {{"pitch_alignment", l.pitch_alignment},
            {"max_pitch", l.max_pitch},
            {"texture_alignment", l.texture_alignment},
            {"texture_pitch_alignment", l.texture_pitch_alignment},
            {"surface_alignment", l.surface_alignment},
            {"texture_1d", l.texture_1d},
            {"texture_2d", l.texture_2d},
            {"texture_3d", l.texture_3d},
            {"texture_1d_layered", l.texture_1d_layered},
            {"texture_2d_layered", l.texture_2d_layered},
            {"cubemap", l.cubemap},
            {"cubemap_layered", l.cubemap_layered},
            {"gather", l.gather},
            {"mipmap_1d", l.mipmap_1d},
            {"mipmap_2d", l.mipmap_2d},
            {"pitch_2d", l.pitch_2d}};
}

Json kinds_of_format(const Device& device, Format format) {
    Json out = Json::object();
    for (const ArrayKind kind : kKinds) {
        Json uses = Json::array();
        for (const UseRow& row : kUses) {
            if (can(device, kind, format, row.use)) uses.push_back(row.word);
        }
        if (!uses.empty()) out[std::string(name(kind))] = uses;
    }
    return out;
}

Json all_of(const Device& device) {
    Json formats_of_device = Json::object();
    for (const FormatInfo& row : formats()) {
        formats_of_device[std::string(row.name)] = {{"channels", row.channels},
                                                    {"bits", row.bits},
                                                    {"bytes", row.bytes},
                                                    {"kinds", kinds_of_format(device, row.format)}};
    }
    return {{"id", id(device)},
            {"properties", properties(device)},
            {"limits", limits(device)},
            {"formats", formats_of_device}};
}

std::string cell(const std::string& key, const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get_ref<const std::string&>().empty() ? "-" : value.get<std::string>();
    if (value.is_array()) {
        std::string out;
        for (const Json& each : value) out += (out.empty() ? "" : " x ") + each.dump();
        return out;
    }
    const bool is_bytes = key.ends_with("memory") || key.ends_with("bytes");
    return is_bytes ? viewer::size_text(value.get<std::size_t>()) : value.dump();
}

// Prints a table with a row for each key and a column for each device.
void print_side_by_side(const char* title, const std::vector<Device>& devices, Json (*of)(const Device&)) {
    std::vector<std::string> header{title};
    std::vector<Json> columns;
    for (const Device& device : devices) {
        header.push_back(id(device));
        columns.push_back(of(device));
    }
    Table table(header);
    for (const auto& [key, unused] : columns.front().items()) {
        std::vector<std::string> row{key};
        for (const Json& column : columns) row.push_back(cell(key, column[key]));
        table.add(row);
    }
    fmt::print("{}\n", table.of_text().text());
}

// Returns which of the plain, packed, block-compressed and planar formats an array of the kind accepts for a use.
std::string layouts(const Device& device, ArrayKind kind, Use use) {
    constexpr std::pair<Format, const char*> kExamples[] = {{Format::rgba8_unorm, "plain"},
                                                            {Format::rgb10a2_unorm, "packed"},
                                                            {Format::bc7_unorm, "BC"},
                                                            {Format::nv12, "planar"}};
    std::string out;
    for (const auto& [format, word] : kExamples) {
        if (can(device, kind, format, use)) out += (out.empty() ? "" : " ") + std::string(word);
    }
    return out.empty() ? "-" : out;
}

void print_kinds(const Device& device) {
    Table table({"array kinds of " + id(device), "largest", "textures", "surfaces", "gather", "sparse", "deferred"});
    for (const ArrayKind kind : kKinds) {
        std::vector<std::string> row{std::string(name(kind)), largest(device.limits(), kind)};
        for (const UseRow& use : kUses) row.push_back(layouts(device, kind, use.use));
        table.add(row);
    }
    fmt::print("{}\n", table.of_text().text());
}

void print_formats(const Device& device) {
    std::vector<std::string> header{"formats of " + id(device), "channels", "bits", "bytes"};
    for (const ArrayKind kind : kKinds) header.emplace_back(name(kind));
    Table table(header);
    for (const FormatInfo& format : formats()) {
        std::vector<std::string> row{std::string(format.name), std::to_string(format.channels),
                                     format.bits == 0 ? "-" : std::to_string(format.bits),
                                     format.bytes == 0 ? "-" : std::to_string(format.bytes)};
        for (const ArrayKind kind : kKinds) {
            std::string letters;
            for (const UseRow& use : kUses) letters += can(device, kind, format.format, use.use) ? use.letter : '-';
            row.push_back(letters);
        }
        table.add(row);
    }
    fmt::print(
        "{}t texture, s surface, g gather, p sparse, d deferred. bytes: size of a texel, or of a block of 4 x 4 "
        "texels\n\n",
        table.of_text().text());
}

Status run(const Options& options) {
    const std::vector<Device> devices =
        options.device.empty() ? Device::list() : std::vector{viewer::device_named(options.device)};
    const std::string why_no_cuda = Device::why_no_cuda();
    if (options.json) {
        Json out{{"devices", Json::array()}, {"no_cuda", nullptr}};
        if (!why_no_cuda.empty()) out["no_cuda"] = why_no_cuda;
        for (const Device& device : devices) out["devices"].push_back(all_of(device));
        print_json(out);
        return Status::good;
    }
    print_side_by_side("device", devices, properties);
    print_side_by_side("limit", devices, limits);
    for (const Device& device : devices) {
        print_kinds(device);
        if (options.formats) print_formats(device);
    }
    if (options.device.empty() && !why_no_cuda.empty()) fmt::print("No CUDA device: {}.\n", why_no_cuda);
    return Status::good;
}

}  // namespace

void add_devices(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("--device", options->device, "List only this device: cpu, cpu:N, cuda or cuda:N");
    command->add_flag("--formats", options->formats,
                      "Also print a table of all texel formats; --json always includes it");
    command->add_flag("--json", options->json, "Print one JSON object instead of tables");
    command->footer(
        "Limits of arrays are in texels; pitches, alignments and memory sizes are in bytes. The uses of array kinds "
        "and\n"
        "formats are found by creating small arrays on the device.\n"
        "\n"
        "Examples:\n"
        "  texton devices                       # all devices, side by side\n"
        "  texton devices --device cuda --formats\n"
        "  texton devices --json | jq '.devices[].limits.texture_2d'\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  the device does not exist");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
