#include <utility>

#include <texton/copy.h>

#include "arrays/array_block.h"
#include "arrays/files/source.h"
#include "core/file_error.h"

// Arrays and views in memory as images.

namespace texton {
namespace {

using detail::ImageState;

constexpr const char* kImageOf = "texton::image_of";
constexpr const char* kName = "image in memory";

class ViewFile : public detail::ImageSource {
public:
    ViewFile(std::vector<ConstView> levels, std::vector<Extent> extents)
        : ImageSource(levels.front().format(), info(levels.front().format()).kind == FormatKind::srgb,
                      std::move(extents)),
          views_(std::move(levels)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        copy(host_view(static_cast<void*>(packed), format(), box.extent),
             views_[static_cast<std::size_t>(level)].region(box));
    }
    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const Extent extent = this->level(level);
        return detail::cut(format(), detail::whole(extent), {extent.width, block_side(format()), 1}, max_bytes);
    }

private:
    std::vector<ConstView> views_;
};

ImageFile image_of_levels(const ArrayInfo& info, std::vector<ConstView> levels) {
    std::vector<Extent> extents;
    for (const ConstView& level : levels) extents.push_back(level.extent());
    auto state = std::make_shared<ImageState>();
    state->info = info;
    state->info.usage = {};
    state->name = kName;
    state->file = std::make_shared<ViewFile>(std::move(levels), std::move(extents));
    if (state->file->srgb()) state->metadata.color_space = "sRGB";
    if (texton::info(info.format).channels == 4) state->metadata.alpha = ImageAlpha::straight;
    state->metadata.file_kind = "memory";
    state->metadata.data = state->metadata.display = detail::frame_of(kImageOf, info.extent);
    return ImageFile(std::move(state));
}

// The slices of a view of an array are layers or belong to a volume, depending on the array. Slices of other memory
// belong to a volume.
ArrayKind kind_of(const ConstView& view) {
    if (view.extent().depth == 1) return ArrayKind::array_2d;
    const auto block = std::dynamic_pointer_cast<const detail::ArrayBlock>(view.location().owner);
    if (block == nullptr || block->info.kind == ArrayKind::array_3d) return ArrayKind::array_3d;
    return is_flat(block->info.kind) ? ArrayKind::layered_1d : ArrayKind::layered_2d;
}

}  // namespace

ImageFile image_of(const Array& array) {
    return detail::guarded(kImageOf, kName, [&] {
        std::vector<ConstView> levels;
        for (int level = 0; level == 0 || level < array.info().levels; ++level) {
            levels.push_back(array.view({.level = level}));
        }
        return image_of_levels(array.info(), std::move(levels));
    });
}

ImageFile image_of(const ConstView& view) {
    return detail::guarded(kImageOf, kName, [&] {
        ArrayInfo info{.format = view.format(), .extent = view.extent(), .kind = kind_of(view)};
        if (is_layered(info.kind)) info.layers = std::exchange(info.extent.depth, 1);
        return image_of_levels(info, {view});
    });
}

ImageFile image_of(const PlanarArray& array) {
    return detail::guarded(kImageOf, kName, [&] {
        auto state = std::make_shared<ImageState>();
        state->planes = {image_of(array.plane(0)), image_of(array.plane(1))};
        state->info = {.format = array.format(), .extent = array.extent()};
        state->metadata = state->planes[0].metadata();
        state->metadata.channels = {"Y", "Cb", "Cr"};
        state->name = kName;
        return ImageFile(std::move(state));
    });
}

}  // namespace texton
