#include <texton/recording.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/pitched.h>
#include <texton/sample.h>

#include "arrays/captures/checks.h"
#include "arrays/unit/texture_unit.h"
#include "core/file_error.h"
#include "core/new_file.h"

namespace texton {
namespace {

using detail::NewFile;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kObject = "texton::Recording";

// An error in the contents of a file. read_recording() catches it and adds the file's name.
struct Damage {
    std::string what;
};

void require(bool holds, std::string what) {
    if (!holds) throw Damage{std::move(what)};
}

struct KindName {
    const char* name;
    ArrayKind kind;
    TextureSource source;
};
constexpr KindName kKinds[] = {{"1d", ArrayKind::array_1d, TextureSource::array},
                               {"2d", ArrayKind::array_2d, TextureSource::array},
                               {"3d", ArrayKind::array_3d, TextureSource::array},
                               {"1d_layered", ArrayKind::layered_1d, TextureSource::array},
                               {"2d_layered", ArrayKind::layered_2d, TextureSource::array},
                               {"cubemap", ArrayKind::cubemap, TextureSource::array},
                               {"cubemap_layered", ArrayKind::cubemap_layered, TextureSource::array},
                               {"pitch2d", ArrayKind::array_2d, TextureSource::pitched}};

struct BlockName {
    const char* name;
    Format format;
    Format srgb;  // the same format if there is no srgb variant
};
constexpr BlockName kBlocks[] = {
    {"bc1", Format::bc1_unorm, Format::bc1_srgb},        {"bc2", Format::bc2_unorm, Format::bc2_srgb},
    {"bc3", Format::bc3_unorm, Format::bc3_srgb},        {"bc4u", Format::bc4_unorm, Format::bc4_unorm},
    {"bc4s", Format::bc4_snorm, Format::bc4_snorm},      {"bc5u", Format::bc5_unorm, Format::bc5_unorm},
    {"bc5s", Format::bc5_snorm, Format::bc5_snorm},      {"bc6hu", Format::bc6h_ufloat, Format::bc6h_ufloat},
    {"bc6hs", Format::bc6h_sfloat, Format::bc6h_sfloat}, {"bc7", Format::bc7_unorm, Format::bc7_srgb}};

struct OperationName {
    const char* name;
    FetchOperation operation;
};
constexpr OperationName kOperations[] = {{"fetch", FetchOperation::plain},
                                         {"lod", FetchOperation::lod},
                                         {"grad", FetchOperation::gradients},
                                         {"gather", FetchOperation::gather}};

template <class Row, std::size_t N>
const Row& named(const Row (&rows)[N], const std::string& name, const char* field) {
    const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.name == name; });
    require(row != std::end(rows), fmt::format("the {} {} is unknown", field, detail::quoted(name)));
    return *row;
}

// The member of FetchPoint that a column contains.
struct Column {
    const char* name;
    float (*get)(const FetchPoint&);
    void (*set)(FetchPoint&, float);
};

// Converts like a GPU: NaN becomes 0, and values outside the range are clamped.
std::int32_t layer_of(float value) {
    if (std::isnan(value)) return 0;
    if (value >= 2147483648.0F) return INT32_MAX;
    if (value <= -2147483648.0F) return INT32_MIN;
    return static_cast<std::int32_t>(value);
}

constexpr Column kColumns[] = {
    {"x", [](const FetchPoint& p) { return p.x; }, [](FetchPoint& p, float v) { p.x = v; }},
    {"y", [](const FetchPoint& p) { return p.y; }, [](FetchPoint& p, float v) { p.y = v; }},
    {"z", [](const FetchPoint& p) { return p.z; }, [](FetchPoint& p, float v) { p.z = v; }},
    {"layer", [](const FetchPoint& p) { return static_cast<float>(p.layer); },
     [](FetchPoint& p, float v) { p.layer = layer_of(v); }},
    {"lod", [](const FetchPoint& p) { return p.lod; }, [](FetchPoint& p, float v) { p.lod = v; }},
    {"dxdx", [](const FetchPoint& p) { return p.dx[0]; }, [](FetchPoint& p, float v) { p.dx[0] = v; }},
    {"dydx", [](const FetchPoint& p) { return p.dx[1]; }, [](FetchPoint& p, float v) { p.dx[1] = v; }},
    {"dzdx", [](const FetchPoint& p) { return p.dx[2]; }, [](FetchPoint& p, float v) { p.dx[2] = v; }},
    {"dxdy", [](const FetchPoint& p) { return p.dy[0]; }, [](FetchPoint& p, float v) { p.dy[0] = v; }},
    {"dydy", [](const FetchPoint& p) { return p.dy[1]; }, [](FetchPoint& p, float v) { p.dy[1] = v; }},
    {"dzdy", [](const FetchPoint& p) { return p.dy[2]; }, [](FetchPoint& p, float v) { p.dy[2] = v; }},
};

// Reads consecutive parts of a file.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    std::span<const std::byte> take(std::uint64_t count) {
        require(count <= rest_.size(),
                fmt::format("the file is truncated; {} bytes are missing", count - rest_.size()));
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    template <class T>
    std::vector<T> take_all(std::size_t count) {
        require(count <= rest_.size() / sizeof(T), "the file is truncated");
        std::vector<T> out(count);
        const auto bytes = take(count * sizeof(T));
        if (count > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    std::size_t left() const noexcept { return rest_.size(); }

private:
    std::span<const std::byte> rest_;
};

// Returns a number of the head as an integer. Conversions of the JSON library are undefined for other numbers.
std::uint64_t whole(const json& value, const char* field, std::uint64_t lowest, std::uint64_t highest) {
    const bool real = value.is_number_float();
    const double number = real ? value.get<double>() : 0;
    const bool valid =
        real ? number >= 0 && number <= 0x1p53 && number == std::floor(number) : value.is_number_unsigned();
    const std::uint64_t count = !valid ? 0 : real ? static_cast<std::uint64_t>(number) : value.get<std::uint64_t>();
    require(valid && count >= lowest && count <= highest,
            fmt::format("{} is {}, but must be {} to {}", field, value.is_number() ? value.dump() : value.type_name(),
                        lowest, highest));
    return count;
}

int number(const json& head, const char* field, int lowest, int highest) {
    return static_cast<int>(
        whole(head.at(field), field, static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)));
}

// Returns the name of a packed format in recordings, which is without the kind.
std::string_view packed_name(const FormatInfo& row) { return row.name.substr(0, row.name.rfind('_')); }

std::optional<Format> packed_format(std::string_view name) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::packed && packed_name(row) == name) return row.format;
    }
    return std::nullopt;
}

Format format_of(const json& head) {
    const bool srgb = number(head, "srgb", 0, 1) == 1;
    const bool normalized = number(head, "normalized_read", 0, 1) == 1;
    const auto name = head.at("format").get<std::string>();
    if (number(head, "block_bytes", 0, 16) != 0) {
        const BlockName& row = named(kBlocks, name, "format");
        return srgb ? row.srgb : row.format;
    }
    if (const std::optional<Format> packed = packed_format(name)) return *packed;
    const int bits = number(head, "bits", 1, 32);
    const int channels = number(head, "channels", 1, 4);
    const auto type = head.at("type").get<std::string>();
    require(type == "u" || type == "s" || type == "f", fmt::format("the type {} is unknown", detail::quoted(type)));
    const FormatKind kind = type == "f"   ? FormatKind::floating
                            : srgb        ? FormatKind::srgb
                            : normalized  ? (type == "s" ? FormatKind::snorm : FormatKind::unorm)
                            : type == "s" ? FormatKind::sint
                                          : FormatKind::uint;
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::plain && row.bits == bits && row.channels == channels && row.kind == kind)
            return row.format;
    }
    throw Damage{fmt::format("there is no format with {} channels of {} bits and this type", channels, bits)};
}

ArrayInfo array_of(const json& head) {
    ArrayInfo array;
    array.kind = named(kKinds, head.at("kind").get<std::string>(), "kind").kind;
    array.format = format_of(head);
    const json& extent = head.at("extent");
    require(extent.is_array() && extent.size() == 3, "the extent does not have three numbers");
    std::size_t sides[3];
    for (std::size_t i = 0; i < 3; ++i) {
        sides[i] = whole(extent.at(i), "a side of the extent", 1, 131072);
    }
    const bool volume = array.kind == ArrayKind::array_3d;
    array.extent = {sides[0], sides[1], volume ? sides[2] : 1};
    if (!volume) array.layers = sides[2];
    if (is_cube(array.kind)) {
        require(sides[2] % 6 == 0 && sides[0] == sides[1],
                "the faces are not square, or their number is not a multiple of 6");
        array.layers = sides[2] / 6;
    }
    require(is_layered(array.kind) || array.layers == 1, "the kind has no layers, but the extent has several");
    require(!is_flat(array.kind) || sides[1] == 1, "the kind is 1D, but the height is not 1");
    array.levels = number(head, "levels", 1, std::min(full_levels(array), detail::kMaxLevels));
    return array;
}

float real(const json& value) {
    if (value.is_string()) {  // JSON has no numbers for these values
        const auto text = value.get<std::string>();
        if (text == "inf") return INFINITY;
        if (text == "-inf") return -INFINITY;
        if (text == "nan") return NAN;
    }
    const auto number = value.get<double>();
    constexpr double kMax = std::numeric_limits<float>::max();
    if (std::abs(number) > kMax) return std::copysign(INFINITY, static_cast<float>(number > 0 ? 1 : -1));
    return static_cast<float>(number);
}

json real(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Sampler sampler_of(const json& head) {
    Sampler sampler;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto mode = whole(head.at("address").at(i), "an address mode", 0, detail::kAddressModeCount - 1);
        sampler.address[i] = static_cast<AddressMode>(mode);
    }
    sampler.filter = static_cast<Filter>(number(head, "filter", 0, 1));
    sampler.mip_filter = static_cast<Filter>(number(head, "mip_filter", 0, 1));
    sampler.normalized_coordinates = number(head, "normalized_coords", 0, 1) == 1;
    sampler.seamless_cubemap = number(head, "seamless", 0, 1) == 1;
    sampler.trilinear_optimization = number(head, "no_trilinear_opt", 0, 1) == 0;
    sampler.max_anisotropy = static_cast<std::uint8_t>(std::max(1, number(head, "max_anisotropy", 0, 16)));
    sampler.mip_bias = real(head.at("mip_bias"));
    sampler.mip_min = real(head.at("mip_min"));
    sampler.mip_max = real(head.at("mip_max"));
    for (std::size_t i = 0; i < 4; ++i) sampler.border[i] = real(head.at("border").at(i));
    return sampler;
}

Extent whole_level(const ArrayInfo& array, int level) {
    Extent extent = level_extent(array, level);
    extent.depth = slice_count(array, level);
    return extent;
}

Recording parse(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    const auto length = reader.take_all<std::uint64_t>(1).front();
    require(length <= reader.left(),
            fmt::format("the first 8 bytes announce a header of {} bytes, but {} bytes follow", length, reader.left()));
    const auto text = reader.take(length);
    const auto* first = reinterpret_cast<const char*>(text.data());
    const json head = json::parse(first, first + text.size());

    Recording recording;
    recording.array = array_of(head);
    recording.source = named(kKinds, head.at("kind").get<std::string>(), "kind").source;
    recording.sampler = sampler_of(head);
    recording.operation = named(kOperations, head.at("op").get<std::string>(), "op").operation;
    recording.component = number(head, "gather_component", 0, 3);
    recording.array.usage.gather = recording.operation == FetchOperation::gather;
    require(!recording.array.usage.gather || recording.array.kind == ArrayKind::array_2d,
            "the operation is gather, but the kind is not 2D");
    for (int level = 0; level < recording.array.levels; ++level) {
        const std::uint64_t stored = whole(head.at("level_bytes").at(static_cast<std::size_t>(level)),
                                           "the size of a level", 0, std::numeric_limits<std::uint64_t>::max());
        const std::size_t needed = packed_bytes(recording.array.format, whole_level(recording.array, level));
        require(stored == needed, fmt::format("level {} has {} bytes, but must have {}", level, stored, needed));
        const auto texels = reader.take(needed);
        recording.levels.emplace_back(texels.begin(), texels.end());
    }
    const std::uint64_t count = whole(head.at("points"), "points", 0, std::numeric_limits<std::uint64_t>::max());
    require(count <= reader.left() / sizeof(Texel),
            fmt::format("the file is truncated; it is too short for {} points", count));
    recording.points.resize(count);
    for (const json& name : head.at("columns")) {
        const Column& column = named(kColumns, name.get<std::string>(), "column");
        const auto values = reader.take_all<float>(count);
        for (std::size_t i = 0; i < count; ++i) column.set(recording.points[i], values[i]);
    }
    recording.results = reader.take_all<Texel>(count);
    require(reader.left() == 0, fmt::format("the file has {} bytes after the results", reader.left()));
    return recording;
}

std::string format_name(Format format) {
    for (const BlockName& row : kBlocks) {
        if (row.format == format || row.srgb == format) return row.name;
    }
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) return std::string(packed_name(row));
    const bool is_signed = row.kind == FormatKind::sint || row.kind == FormatKind::snorm;
    const char type = row.kind == FormatKind::floating ? 'f' : is_signed ? 's' : 'u';
    return row.channels == 1 ? fmt::format("{}{}", type, row.bits)
                             : fmt::format("{}{}x{}", type, row.bits, row.channels);
}

bool reads_integers(Format format) {
    return info(format).kind == FormatKind::uint || info(format).kind == FormatKind::sint;
}

// Checks that the format of the file can express the recording. `path` is for the message.
void check_expressible(const fs::path& path, const Recording& recording) {
    const auto refuse = [&](std::string problem) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::Recording",
                     .problem = fmt::format("{}: {}", path.string(), problem),
                     .remedy = "Record a plane, an array or rows of memory, with another fetch operation than texel."});
    };
    if (std::none_of(std::begin(kKinds), std::end(kKinds), [&](const KindName& each) {
            return each.kind == recording.array.kind && each.source == recording.source;
        })) {
        refuse("files cannot contain textures of one row of memory");
    }
    if (std::none_of(std::begin(kOperations), std::end(kOperations),
                     [&](const OperationName& each) { return each.operation == recording.operation; })) {
        refuse("files cannot contain fetches of single texels");
    }
    if (info(recording.array.format).layout == FormatLayout::planar) refuse("files cannot contain planar textures");
}

json head_of(const Recording& recording, const std::string& name, const std::vector<std::string>& columns) {
    const ArrayInfo& array = recording.array;
    const FormatInfo& row = info(array.format);
    const bool blocks = row.layout == FormatLayout::block;
    const bool half = array.format == Format::bc6h_ufloat || array.format == Format::bc6h_sfloat;
    const bool is_signed = row.kind == FormatKind::sint || (row.kind == FormatKind::snorm && !blocks);
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& each) {
        return each.kind == array.kind && each.source == recording.source;
    });
    const auto operation = std::find_if(std::begin(kOperations), std::end(kOperations), [&](const OperationName& each) {
        return each.operation == recording.operation;
    });
    std::vector<std::size_t> level_bytes;
    for (const auto& level : recording.levels) level_bytes.push_back(level.size());
    std::vector<int> address;
    for (const AddressMode mode : recording.sampler.address) address.push_back(static_cast<int>(mode));
    json border = json::array();
    for (const float value : recording.sampler.border) border.push_back(real(value));
    return {{"name", name},
            {"kind", kind->name},
            {"format", format_name(array.format)},
            {"bits", blocks ? (half ? 16 : 8) : row.bits},
            {"channels", row.channels},
            {"type", row.kind == FormatKind::floating && !blocks ? "f"
                     : is_signed                                 ? "s"
                                                                 : "u"},
            {"block_bytes", blocks ? row.bytes : 0},
            {"extent", {array.extent.width, array.extent.height, slice_count(array, 0)}},
            {"levels", array.levels},
            {"op", operation->name},
            {"gather_component", recording.component},
            {"address", address},
            {"filter", static_cast<int>(recording.sampler.filter)},
            {"mip_filter", static_cast<int>(recording.sampler.mip_filter)},
            {"normalized_read", row.kind != FormatKind::floating && !reads_integers(array.format) ? 1 : 0},
            {"srgb", row.kind == FormatKind::srgb ? 1 : 0},
            {"normalized_coords", recording.sampler.normalized_coordinates ? 1 : 0},
            {"mip_bias", real(recording.sampler.mip_bias)},
            {"mip_min", real(recording.sampler.mip_min)},
            {"mip_max", real(recording.sampler.mip_max)},
            {"max_anisotropy", recording.sampler.max_anisotropy},
            {"border", border},
            {"seamless", recording.sampler.seamless_cubemap ? 1 : 0},
            {"no_trilinear_opt", recording.sampler.trilinear_optimization ? 0 : 1},
            {"points", recording.points.size()},
            {"columns", columns},
            {"level_bytes", level_bytes},
            {"result", !reads_integers(array.format)  ? "f32x4"
                       : row.kind == FormatKind::sint ? "s32x4"
                                                      : "u32x4"}};
}

[[noreturn]] void refuse_file(const fs::path& path, const std::string& what, const char* remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = kObject,
                 .problem = fmt::format("{}: {}", path.string(), what),
                 .remedy = remedy});
}

Recording read_file(const fs::path& path) {
    constexpr const char* kDamaged = "Record the texture again, or get a new copy of the file.";
    std::error_code failure;
    if (fs::is_directory(path, failure)) refuse_file(path, "the path is a folder", "Use the path of a file.");
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse_file(path, "the file cannot be opened", "Check that it exists and that you may read it.");
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) refuse_file(path, "the file cannot be read completely", "Check the disk.");
    try {
        return parse(std::as_bytes(std::span(read)));
    } catch (const Damage& damage) {
        refuse_file(path, "the file is not a valid recording: " + damage.what, kDamaged);
    } catch (const json::exception& error) {
        refuse_file(path, std::string("the file is not a valid recording: ") + error.what(), kDamaged);
    }
}

void write_to(NewFile& file, const std::string& name, const Recording& recording) {
    std::vector<std::string> columns;
    std::vector<std::vector<float>> values;
    for (const Column& column : kColumns) {
        std::vector<float> all;
        for (const FetchPoint& point : recording.points) all.push_back(column.get(point));
        const bool zero = std::all_of(all.begin(), all.end(), [](float v) { return v == 0 && !std::signbit(v); });
        if (zero) continue;
        columns.emplace_back(column.name);
        values.push_back(std::move(all));
    }
    const std::string head = head_of(recording, name, columns).dump(-1, ' ', false, json::error_handler_t::replace);
    const std::uint64_t length = head.size();
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(head)));
    for (const auto& level : recording.levels) file.write(level);
    for (const auto& column : values) file.write(std::as_bytes(std::span(column)));
    file.write(std::as_bytes(std::span(recording.results)));
}

}  // namespace

void detail::check_recording(const Recording& recording, const char* object) {
    const auto refuse = [&](std::string problem, std::string remedy, std::vector<ErrorNumber> numbers) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = std::move(problem),
                     .remedy = std::move(remedy),
                     .numbers = std::move(numbers)});
    };
    const ArrayInfo& array = recording.array;
    const int most = std::min(full_levels(array), kMaxLevels);
    if (array.levels < 1 || array.levels > most || recording.levels.size() != static_cast<std::size_t>(array.levels)) {
        refuse(fmt::format("the recording has texels of {} levels, but its array has {} of at most {}",
                           recording.levels.size(), array.levels, most),
               "Add the texels of each level.", {{"levels", recording.levels.size()}});
    }
    for (int level = 0; level < array.levels; ++level) {
        const std::size_t bytes = recording.levels[static_cast<std::size_t>(level)].size();
        const std::size_t needed = packed_bytes(array.format, whole_level(array, level));
        if (bytes == needed && needed > 0) continue;
        refuse(fmt::format("level {} of the recording has {} bytes, but its texels need {}", level, bytes, needed),
               "Add all texels of the level, packed.", {{"bytes", bytes}, {"needed", needed}});
    }
    if (!recording.results.empty() && recording.results.size() != recording.points.size()) {
        refuse(fmt::format("the recording has {} results for {} points", recording.results.size(),
                           recording.points.size()),
               "Add one result for each point, or none.",
               {{"results", recording.results.size()}, {"points", recording.points.size()}});
    }
}

Recording read_recording(const fs::path& path) {
    return detail::guarded(kObject, path, [&] { return read_file(path); });
}

void write_recording(const fs::path& path, const Recording& recording) {
    check_expressible(path, recording);
    detail::check_recording(recording, kObject);
    detail::guarded(kObject, path, [&] {
        NewFile file(kObject, path);
        write_to(file, path.stem().string(), recording);
        file.complete();
    });
}

}  // namespace texton
