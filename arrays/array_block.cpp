#include "arrays/array_block.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/work_order.h"

namespace texton::detail {
namespace {

// The limits of a kind of array.
struct KindRow {
    ArrayKind kind;
    int sides;          // number of dimensions that may exceed 1
    const char* limit;  // name of the member of DeviceLimits
    Extent (*largest)(const DeviceLimits&);
    std::size_t (*max_layers)(const DeviceLimits&);
    bool sparse;
};

using L = const DeviceLimits&;
constexpr std::size_t one_layer(L) { return 1; }

constexpr KindRow kKinds[] = {
    {ArrayKind::array_1d, 1, "texture_1d", [](L l) { return Extent{l.texture_1d}; }, one_layer, false},
    {ArrayKind::array_2d, 2, "texture_2d",
     [](L l) {
         return Extent{l.texture_2d[0], l.texture_2d[1]};
     },
     one_layer, true},
    {ArrayKind::array_3d, 3, "texture_3d",
     [](L l) {
         return Extent{l.texture_3d[0], l.texture_3d[1], l.texture_3d[2]};
     },
     one_layer, true},
    {ArrayKind::layered_1d, 1, "texture_1d_layered", [](L l) { return Extent{l.texture_1d_layered[0]}; },
     [](L l) { return l.texture_1d_layered[1]; }, false},
    {ArrayKind::layered_2d, 2, "texture_2d_layered",
     [](L l) {
         return Extent{l.texture_2d_layered[0], l.texture_2d_layered[1]};
     },
     [](L l) { return l.texture_2d_layered[2]; }, true},
    {ArrayKind::cubemap, 2, "cubemap",
     [](L l) {
         return Extent{l.cubemap, l.cubemap};
     },
     one_layer, false},
    {ArrayKind::cubemap_layered, 2, "cubemap_layered",
     [](L l) {
         return Extent{l.cubemap_layered[0], l.cubemap_layered[0]};
     },
     [](L l) { return l.cubemap_layered[1] / 6; }, false},  // CUDA counts faces
};

constexpr bool in_order() {
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
        if (static_cast<std::size_t>(kKinds[i].kind) != i) return false;
    }
    return true;
}
static_assert(in_order() && kKinds[std::size(kKinds) - 1].kind == ArrayKind::cubemap_layered);

const KindRow& row_of(ArrayKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// Maximum width of surfaces of array_1d. It is smaller than that of textures, and DeviceLimits does not contain it.
constexpr std::size_t kSurface1D = 32768;

class Check {
public:
    Check(const Device& device, const ArrayInfo& info, ArrayBacking backing, const char* object)
        : device_(device),
          limits_(device.limits()),
          info_(info),
          row_(row_of(info.kind)),
          backing_(backing),
          object_(object) {}

    void run() const {
        shape();
        levels();
        format();
        usage();
        sizes();
    }

private:
    [[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) const {
        throw Error({.code = code,
                     .object = object_,
                     .problem = std::move(problem),
                     .remedy = std::move(remedy),
                     .numbers = {{"width", info_.extent.width},
                                 {"height", info_.extent.height},
                                 {"depth", info_.extent.depth},
                                 {"layers", info_.layers},
                                 {"levels", static_cast<std::uint64_t>(std::max(info_.levels, 0))}}});
    }

    void shape() const {
        const Extent& extent = info_.extent;
        const std::string_view kind = name(info_.kind);
        const bool empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
        if (empty || (row_.sides < 2 && extent.height != 1) || (row_.sides < 3 && extent.depth != 1)) {
            constexpr const char* kRemedy[] = {"Use a width of at least 1, and a height and depth of 1.",
                                               "Use a width and height of at least 1, and a depth of 1.",
                                               "Use a width, height and depth of at least 1."};
            refuse(ErrorCode::bad_argument,
                   fmt::format("an array of kind {} with {} texels was requested", kind, sides()),
                   kRemedy[row_.sides - 1]);
        }
        if (is_cube(info_.kind) && extent.width != extent.height) {
            refuse(ErrorCode::bad_argument,
                   fmt::format("cube faces of {} texels were requested, which are not square", to_string(extent)),
                   "Use equal width and height.");
        }
        if (info_.layers == 0 || (!is_layered(info_.kind) && info_.layers != 1)) {
            refuse(ErrorCode::bad_argument,
                   fmt::format("an array of kind {} with {} layers was requested", kind, info_.layers),
                   is_layered(info_.kind) ? "Use at least 1 layer." : "Set layers to 1, or use a layered kind.");
        }
    }

    void levels() const {
        const int maximum = full_levels(info_);
        if (info_.levels >= 1 && info_.levels <= maximum) return;
        refuse(ErrorCode::bad_argument,
               fmt::format("{} levels were requested, but an array of {} texels can have 1 to {}", info_.levels,
                           sides(), maximum),
               "full_levels() returns the maximum number of levels.");
    }

    void format() const {
        const FormatLayout layout = texton::info(info_.format).layout;
        if (layout == FormatLayout::planar) {
            refuse(ErrorCode::unsupported,
                   fmt::format("an array of {} was requested, which is a planar format", what()), "Use PlanarArray.");
        }
        if (layout == FormatLayout::block && is_flat(info_.kind)) {
            refuse(ErrorCode::unsupported,
                   fmt::format("an array of kind {} and format {} was requested, but blocks need two dimensions",
                               name(info_.kind), what()),
                   "Use another kind of array, or a format without compression.");
        }
    }

    void usage() const {
        if (info_.usage.surface && texton::info(info_.format).layout == FormatLayout::block) {
            refuse(ErrorCode::unsupported,
                   fmt::format("surfaces of {} were requested, which is a block-compressed format", what()),
                   "Write the blocks to an array of rg32_uint (blocks of 8 bytes) or rgba32_uint (16 bytes), then copy "
                   "them.");
        }
        if (info_.usage.gather && info_.kind != ArrayKind::array_2d) {
            refuse(ErrorCode::unsupported,
                   fmt::format("ArrayUsage::gather was requested for the kind {}", name(info_.kind)),
                   "Use array_2d, the only kind that supports gather.");
        }
        if (backing_ != ArrayBacking::sparse) return;
        if (!row_.sparse) {
            refuse(ErrorCode::unsupported, fmt::format("a sparse array of kind {} was requested", name(info_.kind)),
                   "Use array_2d, array_3d or layered_2d, or use DeferredArray.");
        }
        if (info_.usage.surface) {
            refuse(ErrorCode::unsupported, "surfaces of a sparse array were requested, which CUDA does not support",
                   "Write to another array and copy the texels, or use DeferredArray.");
        }
    }

    void sizes() const {
        fit(row_.limit, row_.largest(limits_));
        const std::size_t maximum = row_.max_layers(limits_);
        if (info_.layers > maximum) too_large(row_.limit, fmt::format("{} layers", maximum));
        const bool flat = info_.kind == ArrayKind::array_1d;
        if (info_.levels > 1 && flat) fit("mipmap_1d", {limits_.mipmap_1d});
        if (info_.levels > 1 && info_.kind == ArrayKind::array_2d) {
            fit("mipmap_2d", {limits_.mipmap_2d[0], limits_.mipmap_2d[1]});
        }
        if (info_.usage.gather) fit("gather", {limits_.gather[0], limits_.gather[1]});
        if (info_.usage.surface && flat) fit("surfaces", {kSurface1D});
    }

    void fit(const char* limit, const Extent& maximum) const {
        const Extent& extent = info_.extent;
        if (extent.width <= maximum.width && extent.height <= maximum.height && extent.depth <= maximum.depth) return;
        too_large(limit, to_string(maximum));
    }

    [[noreturn]] void too_large(const char* limit, const std::string& maximum) const {
        refuse(ErrorCode::overflow,
               fmt::format("an array of kind {} with {} texels{} was requested, but the limit of {} for {} is {}",
                           name(info_.kind), sides(),
                           is_layered(info_.kind) ? fmt::format(" and {} layers", info_.layers) : "", device_.name(),
                           limit, maximum),
               "Split the image.");
    }

    std::string sides() const { return to_string(info_.extent); }
    std::string_view what() const { return name(info_.format); }

    const Device& device_;
    const DeviceLimits& limits_;
    const ArrayInfo& info_;
    const KindRow& row_;
    ArrayBacking backing_;
    const char* object_;
};

}  // namespace

ArrayBlock::~ArrayBlock() { destroy(nullptr, nullptr); }

void ArrayBlock::destroy(std::shared_ptr<WorkOrder> order, std::shared_ptr<void> memory) noexcept {
    const ArrayHandle own = whole == nullptr ? handle : nullptr;
    handle = nullptr;
    if (own == nullptr && attached == nullptr) return;
    auto end = [textures = std::move(attached), order = std::move(order), memory = std::move(memory), whole = whole,
                device = backend, own]() mutable {
        if (order != nullptr) order->finish();
        textures.reset();
        if (own != nullptr) device->destroy_array(own);
        memory.reset();
    };
    outside_recording(std::move(end));
}

ArrayBlock& live(const Array& array, const char* object) {
    return static_cast<ArrayBlock&>(live(std::static_pointer_cast<Block>(array.block()), object));
}

MemoryLocation location_of(const ArrayBlock& block, int level) {
    const Format format = block.info.format;
    MemoryLocation location;
    location.backend = block.backend;
    location.array = block.handle;
    location.array_part = block.part + level;
    location.kind = MemoryKind::array;
    location.format = format;
    location.extent = level_extent(block.info, level);
    location.extent.depth = slice_count(block.info, level);
    location.pitch = row_bytes(format, location.extent.width);
    location.slice_pitch = location.pitch * row_count(format, location.extent.height);
    return location;
}

void check_array(const Device& device, const ArrayInfo& info, ArrayBacking backing, const char* object) {
    Check(device, info, backing, object).run();
}

void create_array(ArrayBlock& block, ArrayBacking backing, const char* object) {
    refuse_while_recording(object, "creating an array");
    block.handle = request(block.backend, object, {{"bytes", block.bytes}},
                           [&] { return block.backend->create_array(block.info, backing); });
}

}  // namespace texton::detail
