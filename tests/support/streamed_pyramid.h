#pragma once
// Support for tests of streamed textures: a pyramid in memory, and an independent computation of clamps.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <texton/streamed_texture.h>

#include "tests/support/arrays.h"

namespace texton::test {

/// A pyramid of random texels in memory, and its plain array.
class MemoryPyramid {
public:
    /// Called before each read of a tile; may throw or block.
    using BeforeRead = std::function<void(const PyramidBox& box, const std::stop_token& stop)>;

    MemoryPyramid(const ArrayInfo& info, unsigned seed) : texels_(info, seed) {}

    const ArrayInfo& info() const { return texels_.info(); }
    ReferenceArray& texels() { return texels_; }
    /// Returns the pyramid. It refers to this object.
    TilePyramid pyramid(BeforeRead before = {}) {
        return {info(), [this, before = std::move(before)](const PyramidBox& box, std::span<std::byte> to,
                                                           const std::stop_token& stop) {
                    if (before) before(box, stop);
                    Region region = box.region;
                    if (is_layered(info().kind)) region.offset.z = box.layer;
                    const std::lock_guard lock(mutex_);
                    reads_.push_back(box);
                    const Bytes bytes = texels_.read(box.level, region);
                    if (bytes.size() != to.size()) throw std::length_error("the buffer has the wrong size");
                    std::ranges::copy(bytes, to.begin());
                }};
    }
    /// Returns the boxes that were read, in their order.
    std::vector<PyramidBox> reads() const {
        const std::lock_guard lock(mutex_);
        return reads_;
    }
    void forget_reads() {
        const std::lock_guard lock(mutex_);
        reads_.clear();
    }
    /// Returns an array of the device with all texels.
    Array plain(const Device& device) const {
        Array array(device, info());
        upload(array, texels_);
        return array;
    }
    /// Writes texels to a region of a level while others read.
    void write(int level, const Region& region, std::span<const std::byte> texels) {
        const std::lock_guard lock(mutex_);
        texels_.write(level, region, texels);
    }

private:
    ReferenceArray texels_;
    mutable std::mutex mutex_;
    std::vector<PyramidBox> reads_;
};

/// Describes a pyramid with all levels.
inline ArrayInfo pyramid_info(Format format, Extent extent, ArrayKind kind = ArrayKind::array_2d,
                              std::size_t layers = 1) {
    ArrayInfo info{.format = format, .extent = extent, .kind = kind, .layers = layers};
    info.levels = full_levels(info);
    return info;
}

/// Returns a sampler that reads levels.
inline Sampler level_sampler(Filter filter = Filter::linear, Filter mip_filter = Filter::linear) {
    return {.filter = filter, .mip_filter = mip_filter, .normalized_coordinates = true};
}

/// Computes clamps from the residency of the array and the texels that the model of the texture unit reads.
class ClampOracle {
public:
    explicit ClampOracle(const StreamedTexture& texture, const Sampler& sampler);
    ~ClampOracle();

    /// Returns the smallest clamp for which all texels are resident whose weight is not rounded to 0.
    int clamp(const FetchPoint& point, FetchOperation operation) const;

private:
    struct Levels;
    std::unique_ptr<Levels> levels_;
    Sampler sampler_;
    int last_ = 0;
};

/// Returns a point of a fetch: mostly inside of the texture, sometimes far outside or not finite.
FetchPoint random_point(Random& random, const ArrayInfo& info);
/// Returns `count` such points.
std::vector<FetchPoint> random_points(Random& random, const ArrayInfo& info, std::size_t count);

/// Sets the address modes of the axes: another order of the four modes for each number.
void set_address_modes(Sampler& sampler, std::size_t number);

/// Expects that fetches returned the texels of the plain array with the smallest possible clamp, and this clamp. Returns
/// the number of points whose clamp is not 0.
std::size_t expect_smallest_clamps(const StreamedTexture& texture, const Array& plain, const Sampler& sampler,
                                   const std::vector<FetchPoint>& points, FetchOperation operation,
                                   const StreamedSamples& found);

/// Updates until further updates change nothing. Returns the last progress.
StreamingProgress settle(StreamedTexture& texture, const Stream& stream);

}  // namespace texton::test
