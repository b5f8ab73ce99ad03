// Levels of a pyramid that are computed and kept in a temporary file.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/image_pyramid.h>
#include <texton/linear.h>
#include <texton/sample.h>

#include "core/file_error.h"
#include "core/new_file.h"

namespace texton {
namespace {

constexpr const char* kAdd = "texton::add_levels";
constexpr std::size_t kSide = 512;  // of the boxes that are computed together

void check(const ArrayInfo& info) {
    const bool blocks = texton::info(info.format).layout == FormatLayout::block;
    if (!blocks && (info.kind == ArrayKind::array_2d || info.kind == ArrayKind::layered_2d)) return;
    throw Error(
        {.code = ErrorCode::unsupported,
         .object = kAdd,
         .problem = blocks ? fmt::format("levels of the block-compressed format {} were requested", name(info.format))
                           : fmt::format("levels of a pyramid of kind {} were requested", name(info.kind)),
         .remedy = "Use a pyramid that has all levels."});
}

// The texels along one axis that a box of the next level needs: one more on each side than it covers.
struct Span {
    Span(std::size_t box, std::size_t count, std::size_t size, std::size_t next_size)
        : scale(static_cast<double>(size) / static_cast<double>(next_size)) {
        const double begin = static_cast<double>(box) * scale;
        const double end = static_cast<double>(box + count) * scale;
        first = static_cast<std::size_t>(std::max(begin - 1, 0.0));
        length = std::min(static_cast<std::size_t>(end) + 2, size) - first;
        start = begin - static_cast<double>(first);
    }

    double scale;  // texels for each texel of the next level
    double start;  // position of the box, from the first texel on
    std::size_t first;
    std::size_t length;
};

class AddedLevels {
public:
    AddedLevels(TilePyramid source, const std::filesystem::path& folder)
        : source_(std::move(source)), info_(source_.info), file_(kAdd, folder / "texton_levels.tmp") {
        info_.levels = full_levels(info_);
        offsets_.resize(static_cast<std::size_t>(info_.levels));
        for (int level = source_.info.levels; level < info_.levels; ++level) {
            offsets_[static_cast<std::size_t>(level)] = bytes_;
            const Extent extent = level_extent(info_, level);
            bytes_ += extent.width * extent.height * layers() * texel();
        }
    }

    const ArrayInfo& info() const noexcept { return info_; }

    void make(const OnImageProgress& progress) {
        std::size_t done = 0;
        for (int level = source_.info.levels; level < info_.levels; ++level) {
            const Extent extent = level_extent(info_, level);
            for (std::size_t layer = 0; layer < layers(); ++layer) {
                for (std::size_t y = 0; y < extent.height; y += kSide) {
                    for (std::size_t x = 0; x < extent.width; x += kSide) {
                        const Region box{{x, y, 0},
                                         {std::min(kSide, extent.width - x), std::min(kSide, extent.height - y), 1}};
                        make_box({level, layer, box});
                        done += box.extent.width * box.extent.height * texel();
                        if (!progress || detail::call_back([&] { return progress({done, bytes_}); })) continue;
                        throw Canceled({.code = ErrorCode::not_permitted,
                                        .object = kAdd,
                                        .problem = "the callback canceled the computation",
                                        .remedy = "The temporary file was removed."});
                    }
                }
            }
        }
    }

    void read(const PyramidBox& box, std::span<std::byte> texels, const std::stop_token& stop) const {
        if (box.level < source_.info.levels) return source_.read(box, texels, stop);
        const std::size_t row = box.region.extent.width * texel();
        for (std::size_t y = 0; y < box.region.extent.height; ++y) {
            if (file_.read_at(offset_of(box, y), texels.subspan(y * row, row)) == row) continue;
            detail::fail_file(kAdd, file_.name(), "can no longer be read", "The temporary file may have been changed.");
        }
    }

private:
    std::size_t layers() const noexcept { return is_layered(info_.kind) ? info_.layers : 1; }
    std::size_t texel() const noexcept { return texton::info(info_.format).bytes; }

    // Returns the position of a row of a box in the file.
    std::uint64_t offset_of(const PyramidBox& box, std::size_t row) const {
        const Extent extent = level_extent(info_, box.level);
        const std::size_t y = box.layer * extent.height + box.region.offset.y + row;
        return offsets_[static_cast<std::size_t>(box.level)] + (y * extent.width + box.region.offset.x) * texel();
    }

    void make_box(const PyramidBox& box) {
        const Extent from = level_extent(info_, box.level - 1);
        const Extent to = level_extent(info_, box.level);
        const Region& region = box.region;
        const Span x(region.offset.x, region.extent.width, from.width, to.width);
        const Span y(region.offset.y, region.extent.height, from.height, to.height);
        const Extent extent{x.length, y.length};
        std::vector<std::byte> texels(extent.width * extent.height * texel());
        read({box.level - 1, box.layer, {{x.first, y.first, 0}, extent}}, texels, {});
        const Array array(Device::cpu(), {.format = info_.format, .extent = extent});
        copy(array.view(), host_view(std::as_const(texels).data(), info_.format, extent));
        const FormatKind kind = texton::info(info_.format).kind;
        const bool integers = kind == FormatKind::uint || kind == FormatKind::sint;
        const Texture texture(array, {.filter = integers ? Filter::point : Filter::linear});
        const AffineMap map{.xx = static_cast<float>(x.scale),
                            .x0 = static_cast<float>(x.start),
                            .yy = static_cast<float>(y.scale),
                            .y0 = static_cast<float>(y.start)};
        const Linear image(Device::cpu(), info_.format, region.extent);
        sample(texture, map, image.view(info_.format, region.extent));
        const std::size_t row = region.extent.width * texel();
        for (std::size_t i = 0; i < region.extent.height; ++i) {
            if (const int error = file_.write_at(offset_of(box, i), {image.data() + i * row, row})) file_.fail(error);
        }
    }

    const TilePyramid source_;
    ArrayInfo info_;
    detail::NewFile file_;                // never completed, so that its destructor removes it
    std::vector<std::uint64_t> offsets_;  // of each level in the file
    std::uint64_t bytes_ = 0;
};

}  // namespace

TilePyramid add_levels(TilePyramid pyramid, const std::filesystem::path& folder, const OnImageProgress& progress) {
    if (pyramid.info.levels >= full_levels(pyramid.info)) return pyramid;
    return detail::guarded(kAdd, folder, [&] {
        check(pyramid.info);
        const auto levels = std::make_shared<AddedLevels>(std::move(pyramid), folder);
        levels->make(progress);
        return TilePyramid{levels->info(), [levels](const PyramidBox& box, std::span<std::byte> texels,
                                                    const std::stop_token& stop) { levels->read(box, texels, stop); }};
    });
}

}  // namespace texton
