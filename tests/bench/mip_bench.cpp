// Compares a mip chain on the CPU device with resizes by OpenImageIO. Each level is the mean of 2x2 texels of the level
// above: sample() reads it with a linear filter at the center of the 2x2 texels.
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <OpenImageIO/imagebuf.h>
#include <OpenImageIO/imagebufalgo.h>

#include <texton/pitched.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr std::size_t kSide = 8192;

struct Chain {
    Chain() {
        for (std::size_t side = kSide; side > 0; side /= 2)
            levels.emplace_back(Device::cpu(), Format::rgba8_unorm, Extent{side, side});
        for (std::size_t i = 0; i + 1 < levels.size(); ++i)
            textures.emplace_back(levels[i].view(), Sampler{.filter = Filter::linear});
        std::mt19937 random(1);
        std::vector<unsigned char> texels(4 * kSide * kSide);
        for (unsigned char& channel : texels) channel = static_cast<unsigned char>(random());
        const auto side = static_cast<int>(kSide);
        oiio_levels.emplace_back(OIIO::ImageSpec(side, side, 4, OIIO::TypeUInt8));
        oiio_levels[0].set_pixels(OIIO::ROI::All(), OIIO::TypeUInt8, texels.data());
        for (std::size_t y = 0; y < kSide; ++y) {
            std::byte* row = levels[0].view().data() + y * levels[0].pitch();
            for (std::size_t x = 0; x < 4 * kSide; ++x) row[x] = static_cast<std::byte>(texels[y * 4 * kSide + x]);
        }
        for (int length = side / 2; length > 0; length /= 2)
            oiio_levels.emplace_back(OIIO::ImageSpec(length, length, 4, OIIO::TypeUInt8));
    }

    std::vector<Pitched2D> levels;
    std::vector<Texture> textures;
    std::vector<OIIO::ImageBuf> oiio_levels;
};

Sides mip_chain() {
    const auto chain = std::make_shared<Chain>();
    return {[chain] {
                for (std::size_t i = 0; i < chain->textures.size(); ++i)
                    sample(chain->textures[i], {.xx = 2, .yy = 2}, chain->levels[i + 1].view());
            },
            [chain] {
                for (std::size_t i = 1; i < chain->oiio_levels.size(); ++i)
                    OIIO::ImageBufAlgo::resize(chain->oiio_levels[i], chain->oiio_levels[i - 1], "box", 1.0f);
            }};
}

const bool added = add({.name = "cpu/mip chain of 8192x8192 rgba8 (OpenImageIO)",
                        .target = {Target::Kind::speed_at_least, 20},
                        .prepare = mip_chain,
                        .rounds = 3});

}  // namespace
}  // namespace texton::bench
