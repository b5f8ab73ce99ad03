#pragma once
// The fetches of a block of pixels on the CPU device.
//
// A functor asks for one texel after the other; the vectors of RowSampler want the same fetch of many pixels. So plain fetches
// of 1D and 2D textures return zeros at first and are written down: the functor's first fetch in all pixels makes one lane, its
// second the next. Then the lanes are fetched, and the functor is called again, and told what it asks for. Where a place
// depended on what was fetched before, it asks for another one now: that is written down again. Other fetches, and all
// once this has gone on for long, are made as they are asked for.
#include <memory>
#include <span>
#include <vector>

#include <texton/source.h>

#include "arrays/cpu/texture.h"

namespace texton::detail {

class CpuFetches {
public:
    static constexpr std::size_t kPixels = 128;  // of a block

    /// The textures must outlive it.
    explicit CpuFetches(std::span<const CpuTexture> textures);
    ~CpuFetches();
    CpuFetches(const CpuFetches&) = delete;
    CpuFetches& operator=(const CpuFetches&) = delete;

    /// A block of so many pixels follows.
    void start(std::size_t pixels);
    bool begin(std::size_t pixel);
    Texel fetch(std::size_t texture, FetchOperation operation, const FetchPoint& at, int component);
    /// Makes the fetches that are written down. False: the functor must be called again.
    bool settle();

private:
    struct Lane {
        std::size_t texture;
        std::int32_t layer;
        bool wanted;  // some places are not fetched
        float x[kPixels];
        float y[kPixels];
        bool known[kPixels];
        Texel texels[kPixels];
    };
    struct Rows {
        std::size_t texture;
        std::int32_t layer;
        std::unique_ptr<RowSampler> sampler;
    };

    bool has_rows(std::size_t texture) const;
    Lane& add_lane(std::size_t texture, const FetchPoint& at);
    const RowSampler& rows(std::size_t texture, std::int32_t layer);

    static constexpr std::size_t kMostLanes = 64;
    static constexpr int kMostRounds = 12;

    std::span<const CpuTexture> textures_;
    std::vector<std::unique_ptr<TextureReader>> readers_;
    std::vector<Rows> rows_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::size_t used_lanes_ = 0;
    std::size_t pixels_ = 0;
    std::size_t pixel_ = 0;
    std::size_t next_lane_ = 0;  // of the pixel
    int round_ = 0;
    bool waiting_[kPixels];  // for a fetch
};

}  // namespace texton::detail
