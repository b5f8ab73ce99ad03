#include "tests/support/capture.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "arrays/texture_unit.h"

namespace texton::test {
namespace {

using nlohmann::json;
using namespace detail;

const std::map<std::string, ArrayKind> kKinds{{"1d", ArrayKind::array_1d},
                                              {"2d", ArrayKind::array_2d},
                                              {"3d", ArrayKind::array_3d},
                                              {"1d_layered", ArrayKind::layered_1d},
                                              {"2d_layered", ArrayKind::layered_2d},
                                              {"cubemap", ArrayKind::cubemap},
                                              {"cubemap_layered", ArrayKind::cubemap_layered},
                                              {"pitch2d", ArrayKind::pitch_2d}};

const std::map<std::string, Packing> kBlocks{
    {"bc1", Packing::bc1},           {"bc2", Packing::bc2},  {"bc3", Packing::bc3},  {"bc4u", Packing::bc4},
    {"bc4s", Packing::bc4},          {"bc5u", Packing::bc5}, {"bc5s", Packing::bc5}, {"bc6hu", Packing::bc6h_unsigned},
    {"bc6hs", Packing::bc6h_signed}, {"bc7", Packing::bc7}};

const std::map<std::string, Capture::Operation> kOperations{{"fetch", Capture::Operation::fetch},
                                                            {"lod", Capture::Operation::lod},
                                                            {"grad", Capture::Operation::grad},
                                                            {"gather", Capture::Operation::gather}};

// Takes blobs from the front of a file.
class Reader {
public:
    explicit Reader(std::span<const unsigned char> bytes) : rest_(bytes) {}

    std::span<const unsigned char> take(std::size_t count) {
        if (count > rest_.size()) throw std::runtime_error("it is cut short");
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    template <class T>
    std::vector<T> take_all(std::size_t count) {
        if (count > rest_.size() / sizeof(T)) throw std::runtime_error("it is cut short");
        std::vector<T> out(count);
        const auto bytes = take(count * sizeof(T));
        if (count > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    bool empty() const noexcept { return rest_.empty(); }

private:
    std::span<const unsigned char> rest_;
};

Encoding encoding_of(const json& head) {
    const auto format = head.at("format").get<std::string>();
    const auto type = head.at("type").get<std::string>();
    const bool is_signed = type == "s" || format == "bc4s" || format == "bc5s";
    if (type == "f" || format.starts_with("bc6h")) return Encoding::floating;
    if (head.at("normalized_read").get<int>() == 0) return is_signed ? Encoding::sint : Encoding::uint;
    if (head.at("srgb").get<int>() != 0) return Encoding::srgb;
    return is_signed ? Encoding::snorm : Encoding::unorm;
}

TexelFormat format_of(const json& head) {
    TexelFormat format{};
    format.encoding = encoding_of(head);
    const auto block = kBlocks.find(head.at("format").get<std::string>());
    format.packing = block != kBlocks.end() ? block->second : Packing::plain;
    format.channels = head.at("channels").get<std::uint8_t>();
    format.bits = head.at("bits").get<std::uint8_t>();
    const auto block_bytes = head.at("block_bytes").get<std::uint8_t>();
    format.bytes = block_bytes != 0 ? block_bytes : static_cast<std::uint8_t>(format.bits / 8 * format.channels);
    return format;
}

SamplerState sampler_of(const json& head) {
    SamplerState sampler{};
    for (std::size_t i = 0; i < 3; ++i) sampler.address[i] = static_cast<Address>(head.at("address").at(i).get<int>());
    sampler.filter = static_cast<Filter>(head.at("filter").get<int>());
    sampler.mip_filter = static_cast<Filter>(head.at("mip_filter").get<int>());
    sampler.normalized_coordinates = head.at("normalized_coords").get<int>() != 0;
    sampler.seamless_cubemap = head.at("seamless").get<int>() != 0;
    sampler.trilinear_optimization = head.at("no_trilinear_opt").get<int>() == 0;
    sampler.max_anisotropy = head.at("max_anisotropy").get<std::uint8_t>();
    sampler.mip_bias = head.at("mip_bias").get<float>();
    sampler.mip_min = head.at("mip_min").get<float>();
    sampler.mip_max = head.at("mip_max").get<float>();
    for (std::size_t i = 0; i < 4; ++i) sampler.border[i] = head.at("border").at(i).get<float>();
    return sampler;
}

// Packed texels of one level.
LevelView level_of(const TextureView& texture, const json& extent, int level, const unsigned char* texels) {
    const auto reduced = [level](std::int32_t side) { return std::max(1, side >> level); };
    LevelView out{};
    out.data = texels;
    out.width = reduced(extent.at(0).get<std::int32_t>());
    out.height = reduced(extent.at(1).get<std::int32_t>());
    const auto depth = extent.at(2).get<std::int32_t>();
    out.depth = texture.kind == ArrayKind::array_3d ? reduced(depth) : depth;
    const bool blocks = texture.format.packing != Packing::plain;
    const auto stored = [blocks](std::int32_t side) { return blocks ? (side + 3) / 4 : side; };
    out.row_pitch = std::int64_t{stored(out.width)} * texture.format.bytes;
    out.slice_pitch = out.row_pitch * stored(out.height);
    return out;
}

}  // namespace

Capture::Capture(const std::filesystem::path& path) try {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("it cannot be opened");
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    Reader reader({reinterpret_cast<const unsigned char*>(read.data()), read.size()});
    const auto length = reader.take_all<std::uint64_t>(1).front();
    const auto text = reader.take(length);
    const json head = json::parse(text.begin(), text.end());

    texture_.kind = kKinds.at(head.at("kind").get<std::string>());
    texture_.format = format_of(head);
    texture_.level_count = head.at("levels").get<std::int32_t>();
    if (texture_.level_count < 1 || texture_.level_count > kMaxLevels)
        throw std::runtime_error("it has no such levels");
    for (int level = 0; level < texture_.level_count; ++level) {
        const auto index = static_cast<std::size_t>(level);
        const auto texels = reader.take(head.at("level_bytes").at(index).get<std::size_t>());
        levels_.emplace_back(texels.begin(), texels.end());
        texture_.levels[index] = level_of(texture_, head.at("extent"), level, levels_.back().data());
    }
    sampler_ = sampler_of(head);
    operation_ = kOperations.at(head.at("op").get<std::string>());
    gather_component_ = head.at("gather_component").get<int>();

    const auto count = head.at("points").get<std::size_t>();
    std::map<std::string, std::vector<float>> columns;
    for (const auto& name : head.at("columns")) columns[name.get<std::string>()] = reader.take_all<float>(count);
    const auto value = [&](const char* name, std::size_t i) {
        const auto column = columns.find(name);
        return column == columns.end() ? 0.0F : column->second[i];
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Coordinates at{value("x", i), value("y", i), value("z", i), static_cast<std::int32_t>(value("layer", i))};
        const Gradients gradients{{value("dxdx", i), value("dydx", i), value("dzdx", i)},
                                  {value("dxdy", i), value("dydy", i), value("dzdy", i)}};
        points_.push_back({at, value("lod", i), gradients});
    }
    recorded_ = reader.take_all<Texel>(count);
    if (!reader.empty()) throw std::runtime_error("it is longer than it says");
} catch (const std::exception& error) {
    throw std::runtime_error(path.string() + " is no capture: " + error.what());
}

Texel Capture::computed(std::size_t point) const {
    const Point& is = points_[point];
    switch (operation_) {
        case Operation::fetch: return fetch(texture_, sampler_, is.at);
        case Operation::lod: return fetch_lod(texture_, sampler_, is.at, is.lod);
        case Operation::grad: return fetch_grad(texture_, sampler_, is.at, is.gradients);
        case Operation::gather: return gather(texture_, sampler_, is.at, gather_component_);
    }
    return {};
}

}  // namespace texton::test
