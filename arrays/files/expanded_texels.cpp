#include "arrays/files/expanded_texels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/parallel.h"

namespace texton::detail {
namespace {

class ExpandedTexels : public ImageSource {
public:
    ExpandedTexels(ImageSourcePtr stored, std::size_t texels_of_unit, Format format, bool srgb,
                   std::vector<Extent> levels)
        : ImageSource(format, srgb, std::move(levels)), stored_(std::move(stored)), texels_of_unit_(texels_of_unit) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const std::size_t first = box.offset.x / texels_of_unit_;
        const std::size_t end = (box.offset.x + box.extent.width + texels_of_unit_ - 1) / texels_of_unit_;
        Region covering = box;
        covering.offset.x = first;
        covering.extent.width = end - first;
        const std::size_t stored_row = row_bytes(stored_->format(), covering.extent.width);
        const auto stored =
            std::make_unique_for_overwrite<std::byte[]>(packed_bytes(stored_->format(), covering.extent));
        stored_->read(level, covering, stored.get());
        const std::size_t row = row_bytes(format(), box.extent.width);
        const std::size_t skipped = box.offset.x - first * texels_of_unit_;
        run_in_parallel(box.extent.height * box.extent.depth, [&](std::size_t line) {
            expand(stored.get() + line * stored_row, skipped, box.extent.width, packed + line * row);
        });
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const Extent extent = this->level(level);
        return cut(format(), whole(extent), {extent.width, 1, 1}, max_bytes);
    }
    ImageAccess access(int) const override { return {{texels_of_unit_, 1, 1}}; }

protected:
    /// Writes `count` texels of a row. The first `skipped` texels of the first unit are left out.
    virtual void expand(const std::byte* stored, std::size_t skipped, std::size_t count, std::byte* out) const = 0;

private:
    ImageSourcePtr stored_;
    std::size_t texels_of_unit_;
};

class Units : public ExpandedTexels {
public:
    Units(ImageSourcePtr units, const UnitLayout& layout, Format format, bool srgb, std::vector<Extent> levels)
        : ExpandedTexels(std::move(units), static_cast<std::size_t>(layout.texels), format, srgb, std::move(levels)),
          layout_(layout) {}

private:
    void expand(const std::byte* stored, std::size_t skipped, std::size_t count, std::byte* out) const override {
        const std::size_t channels = info(format()).channels, texels = static_cast<std::size_t>(layout_.texels);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t texel = skipped + i;
            const std::byte* const unit = stored + texel / texels * 4;
            for (std::size_t c = 0; c < channels; ++c) {
                const std::int8_t from = layout_.bytes[texel % texels][c];
                *out++ = from == UnitLayout::kOpaque ? std::byte{255} : unit[from];
            }
        }
    }

    UnitLayout layout_;
};

class PaletteColors : public ExpandedTexels {
public:
    PaletteColors(ImageSourcePtr indices, const Palette& palette, Format format, bool srgb)
        : ExpandedTexels(indices, 1, format, srgb, indices->levels()), palette_(palette) {}

private:
    void expand(const std::byte* stored, std::size_t, std::size_t count, std::byte* out) const override {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(out + i * 4, palette_[std::to_integer<std::size_t>(stored[i])].data(), 4);
    }

    Palette palette_;
};

}  // namespace

ImageSourcePtr expanded_units(ImageSourcePtr units, const UnitLayout& layout, Format format, bool srgb,
                              std::vector<Extent> levels) {
    return std::make_shared<Units>(std::move(units), layout, format, srgb, std::move(levels));
}

ImageSourcePtr palette_colors(ImageSourcePtr indices, const Palette& palette, Format format, bool srgb) {
    return std::make_shared<PaletteColors>(std::move(indices), palette, format, srgb);
}

}  // namespace texton::detail
