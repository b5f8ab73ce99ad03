#include "viewer/tiles/computed_image.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <mutex>
#include <utility>

#include "arrays/files/source.h"

namespace texton::tiles {
namespace {

class ComputedImage final : public detail::ImageSource {
public:
    explicit ComputedImage(std::unique_ptr<KernelInStrips> kernel)
        : ImageSource(kernel->shape().format, info(kernel->shape().format).kind == FormatKind::srgb,
                      {kernel->shape().extent}),
          kernel_(std::move(kernel)) {}

    void read(int, const Region& box, std::byte* packed) const override {
        const std::lock_guard lock(mutex_);
        const std::size_t bytes = row_bytes(format(), box.extent.width);
        const std::size_t pitch = row_bytes(format(), level(0).width);
        const std::size_t begin = row_bytes(format(), box.offset.x);
        const std::size_t end = box.offset.y + box.extent.height;
        for (std::size_t y = box.offset.y; y < end;) {
            const Strip& strip = strip_of(y / kernel_->strip_rows());
            const std::size_t stop = std::min(end, strip.rows.end);
            for (std::size_t z = 0; z < box.extent.depth; ++z) {
                const std::byte* slice = strip.pixels.data() + (box.offset.z + z) * strip.rows.count() * pitch + begin;
                for (std::size_t row = y; row < stop; ++row)
                    std::memcpy(packed + (z * box.extent.height + row - box.offset.y) * bytes,
                                slice + (row - strip.rows.first) * pitch, bytes);
            }
            y = stop;
        }
    }
    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        return detail::cut(format(), detail::whole(extent), {extent.width, 1, 1}, max_bytes);
    }
    ImageAccess access(int index) const override { return {{level(index).width, kernel_->strip_rows(), 1}}; }

private:
    struct Strip {
        Rows rows;
        Linear pixels;
    };

    Rows rows_of(std::size_t index) const {
        const std::size_t height = level(0).height;
        const std::size_t first = std::min(index * kernel_->strip_rows(), height);
        return {first, std::min(first + kernel_->strip_rows(), height)};
    }

    // Returns the strip with this index, and starts to compute the one after it.
    const Strip& strip_of(std::size_t index) const {
        const Rows rows = rows_of(index);
        if (current_.rows == rows && rows.count() > 0) return current_;
        if (computing_.valid()) computing_.get();
        if (next_.rows != rows) compute(index);
        std::swap(current_, next_);
        next_.rows = {};
        if (rows_of(index + 1).count() > 0)
            computing_ = std::async(std::launch::async, [this, index] { compute(index + 1); });
        return current_;
    }

    void compute(std::size_t index) const {
        next_.rows = {};
        if (next_.pixels.bytes() == 0) next_.pixels = strip_pixels(*kernel_);
        kernel_->compute(rows_of(index), rows_of(index + 1), next_.pixels);
        next_.rows = rows_of(index);
    }

    const std::unique_ptr<KernelInStrips> kernel_;
    mutable std::mutex mutex_;
    mutable Strip current_;
    mutable Strip next_;
    mutable std::future<void> computing_;  // of next_
};

}  // namespace

Linear strip_pixels(const KernelInStrips& kernel) {
    const ImageShape& shape = kernel.shape();
    return {kernel.device(), shape.format, Extent{shape.extent.width, kernel.strip_rows(), shape.extent.depth}};
}

ImageFile computed_image(std::unique_ptr<KernelInStrips> kernel, const ArrayInfo& info) {
    auto state = std::make_shared<detail::ImageState>();
    state->info = info;
    state->name = "the image of " + kernel->run().kernel->info.name;
    state->file = std::make_shared<ComputedImage>(std::move(kernel));
    if (state->file->srgb()) state->metadata.color_space = "sRGB";
    if (texton::info(info.format).channels == 4) state->metadata.alpha = ImageAlpha::straight;
    state->metadata.file_kind = "memory";
    state->metadata.data = state->metadata.display = detail::frame_of("texton::tiles", info.extent);
    return ImageFile(std::move(state));
}

}  // namespace texton::tiles
