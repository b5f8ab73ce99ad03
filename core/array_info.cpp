#include <texton/array_info.h>

#include <algorithm>
#include <bit>
#include <limits>

#include <texton/error.h>

namespace texton {
namespace {

struct KindName {
    ArrayKind kind;
    std::string_view name;
};
constexpr KindName kKinds[] = {
    {ArrayKind::array_1d, "array_1d"},
    {ArrayKind::array_2d, "array_2d"},
    {ArrayKind::array_3d, "array_3d"},
    {ArrayKind::layered_1d, "layered_1d"},
    {ArrayKind::layered_2d, "layered_2d"},
    {ArrayKind::cubemap, "cubemap"},
    {ArrayKind::cubemap_layered, "cubemap_layered"},
};

}  // namespace

std::string_view name(ArrayKind kind) noexcept { return kKinds[static_cast<std::size_t>(kind)].name; }

std::optional<ArrayKind> array_kind_named(std::string_view name) noexcept {
    for (const KindName& row : kKinds) {
        if (row.name == name) return row.kind;
    }
    return std::nullopt;
}

Extent level_extent(const ArrayInfo& info, int level) noexcept {
    const auto reduced = [level](std::size_t side) {
        return level < 64 ? std::max<std::size_t>(1, side >> level) : std::size_t{1};
    };
    return {reduced(info.extent.width), reduced(info.extent.height), reduced(info.extent.depth)};
}

std::size_t slice_count(const ArrayInfo& info, int level) noexcept {
    if (info.kind == ArrayKind::array_3d) return level_extent(info, level).depth;
    return (is_layered(info.kind) ? info.layers : 1) * (is_cube(info.kind) ? 6 : 1);
}

int full_levels(const ArrayInfo& info) noexcept {
    const std::size_t longest = std::max({info.extent.width, info.extent.height, info.extent.depth});
    return static_cast<int>(std::bit_width(longest));
}

std::size_t packed_bytes(const ArrayInfo& info) {
    std::size_t total = 0;
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        if (is_cube(info.kind)) extent.depth = 6;
        const std::size_t bytes =
            checked_product(packed_bytes(info.format, extent), is_layered(info.kind) ? info.layers : 1,
                            "texton::packed_bytes", "bytes per layer * layers");
        if (bytes <= std::numeric_limits<std::size_t>::max() - total) {
            total += bytes;
            continue;
        }
        throw Error({.code = ErrorCode::overflow,
                     .object = "texton::packed_bytes",
                     .problem = "the size of all levels in bytes does not fit in 64 bits",
                     .remedy = "Use a smaller extent, or fewer layers or levels.",
                     .numbers = {{"width", info.extent.width},
                                 {"height", info.extent.height},
                                 {"depth", info.extent.depth},
                                 {"layers", info.layers},
                                 {"level", static_cast<std::uint64_t>(level)}}});
    }
    return total;
}

}  // namespace texton
