// Compares how fast tiles become resident in a streamed texture with a copy of as many bytes from pinned memory.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/streamed_texture.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr std::size_t kTile = 65536;                             // bytes
constexpr std::size_t kSide = 128;                               // of a tile of rgba8_unorm, in texels
constexpr Extent kTiles{128, 64};                                // of level 0
constexpr std::size_t kHalf = kTiles.width / 2 * kTiles.height;  // tiles of one of the two views

// Level 0 consists of two views of which the budget has memory for one, so each request maps and evicts all of its tiles.
class Streamed {
public:
    explicit Streamed(bool scattered) : scattered_(scattered) {
        settle(0);
        settle(1);
    }

    void settle(int half) {
        texture_.request(views(half));
        for (;;) {
            const StreamingProgress progress = texture_.update(stream_);
            if (progress.failed + progress.unfit + progress.overflow > 0) throw std::runtime_error("tiles are missing");
            if (progress.complete()) break;
            texture_.wait_for_reads(std::chrono::milliseconds(1));
        }
        stream_.synchronize();
    }

private:
    // Half of the tiles: all of 32 columns in turn, or every second tile as on a chessboard.
    std::vector<StreamedView> views(int half) const {
        std::vector<StreamedView> all;
        if (!scattered_) {
            for (std::size_t x = half == 0 ? 0 : 32; x < kTiles.width; x += 64)
                all.push_back({.region = Region{{x * kSide, 0}, {32 * kSide, kTiles.height * kSide}}});
            return all;
        }
        for (std::size_t y = 0; y < kTiles.height; ++y) {
            for (std::size_t x = (y + static_cast<std::size_t>(half)) % 2; x < kTiles.width; x += 2)
                all.push_back({.region = Region{{x * kSide, y * kSide}, {kSide, kSide}}});
        }
        return all;
    }

    static TilePyramid pyramid() {
        return {.info = {.format = Format::rgba8_unorm,
                         .extent = {kTiles.width * kSide, kTiles.height * kSide},
                         .levels = 8},
                .read =
                    [texels = std::vector<std::byte>(kTile, std::byte{42})](const PyramidBox&, std::span<std::byte> to,
                                                                            const std::stop_token&) {
                        for (std::size_t done = 0; done < to.size(); done += kTile)
                            std::memcpy(to.data() + done, texels.data(), std::min(kTile, to.size() - done));
                    },
                .tiles_per_read = 32};
    }

    bool scattered_;
    Device device_ = Device::cuda();
    Stream stream_{device_};
    StreamedTexture texture_{device_,
                             pyramid(),
                             {.sampler = {.normalized_coordinates = true},
                              .budget = (kHalf + kHalf / 2) * kTile,  // coarser tiles, too
                              .threads = 8,
                              .staging = 1024,
                              .prefetch = 0}};
};

Sides streaming(bool scattered) {
    const auto streamed = std::make_shared<Streamed>(scattered);
    const auto half = std::make_shared<int>(0);
    const Device device = Device::cuda();
    const auto pinned = std::make_shared<Pinned>(device, kHalf * kTile);
    const auto memory = std::make_shared<Linear>(device, kHalf * kTile);
    const auto stream = std::make_shared<Stream>(device);
    return {[=] {
                streamed->settle(*half);
                *half = 1 - *half;
            },
            [=] {
                copy(memory->view(), pinned->view(), *stream);
                stream->synchronize();
            }};
}

const bool kRows = add_suite([] {
    if (Device::why_no_cuda().empty()) {
        add({"cuda/streamed/tiles in runs", {}, [] { return streaming(false); }, 0, kHalf, 5});
        add({"cuda/streamed/tiles on a chessboard", {}, [] { return streaming(true); }, 0, kHalf, 5});
    }
});

}  // namespace
}  // namespace texton::bench
