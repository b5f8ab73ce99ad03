#include "viewer/render/streamed_texels.h"

#include <algorithm>

#include "viewer/model/streamed_image.h"

namespace texton::viewer {

StreamedTexels::StreamedTexels(std::shared_ptr<const Document> document, const SubresourceIndex& subresource)
    : document_(std::move(document)),
      subresource_(document_->clamped(subresource)),
      layer_(streamed_layer(document_->whole(), subresource_)),
      extent_(document_->extent(subresource_)) {}

bool StreamedTexels::read_level(int level, const TexelBox& box, std::span<Color> out) const {
    SubresourceIndex subresource = subresource_;
    subresource.level = level;
    const Format format = document_->info().format;
    const TexelBox blocks = whole_blocks(format, box, document_->extent(subresource));
    const auto bytes = document_->streamed()->texels({level, layer_, blocks});
    if (bytes) decode_box(format, *bytes, blocks, box, out);
    return bytes.has_value();
}

// Reads texels of the finest level that has all of them, and repeats each.
void StreamedTexels::read_coarser(const TexelBox& box, std::span<Color> out) const {
    const int of_array = document_->halvings(subresource_);
    for (int times = 1; times < of_array; ++times) {
        SubresourceIndex coarser = subresource_;
        coarser.level += times;
        const Extent extent = document_->extent(coarser);
        const auto column = [&](std::size_t x) { return std::min(x >> times, extent.width - 1); };
        const auto row = [&](std::size_t y) { return std::min(y >> times, extent.height - 1); };
        const std::size_t left = column(box.x), top = row(box.y);
        const TexelBox texels{left, top, column(box.x + box.width - 1) - left + 1,
                              row(box.y + box.height - 1) - top + 1};
        std::vector<Color> values(texels.width * texels.height);
        if (!read_level(coarser.level, texels, values)) continue;
        for (std::size_t y = 0; y < box.height; ++y) {
            const Color* const from = values.data() + (row(box.y + y) - top) * texels.width;
            for (std::size_t x = 0; x < box.width; ++x) out[y * box.width + x] = from[column(box.x + x) - left];
        }
        return;
    }
    RepeatedTexels(*document_, subresource_, of_array).read(box, out);
}

void StreamedTexels::read(const TexelBox& box, std::span<Color> out) const {
    if (read_level(subresource_.level, box, out)) return;
    // Tiles become resident one by one. Before they are read, because is_final() may become true meanwhile.
    is_final_ = is_final_ && document_->streamed()->is_final({subresource_.level, layer_, box});
    const Extent& tile = document_->streamed()->tile();
    const std::size_t right = box.x + box.width, bottom = box.y + box.height;
    std::vector<Color> values;
    for (std::size_t y = box.y; y < bottom;) {
        const std::size_t next_y = std::min(bottom, (y / tile.height + 1) * tile.height);
        for (std::size_t x = box.x; x < right;) {
            const std::size_t next_x = std::min(right, (x / tile.width + 1) * tile.width);
            const TexelBox part{x, y, next_x - x, next_y - y};
            values.resize(part.width * part.height);
            if (!read_level(subresource_.level, part, values)) read_coarser(part, values);
            for (std::size_t row = 0; row < part.height; ++row) {
                std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * part.width), part.width,
                            out.begin() + static_cast<std::ptrdiff_t>((y + row - box.y) * box.width + x - box.x));
            }
            x = next_x;
        }
        y = next_y;
    }
}

}  // namespace texton::viewer
