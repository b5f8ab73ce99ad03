// Compares kernels of the CPU device with OpenImageIO's algorithms on the same number of threads.
#include <cmath>

#include <Imath/ImathMatrix.h>
#include <OpenImageIO/imagebuf.h>
#include <OpenImageIO/imagebufalgo.h>

#include <texton/resample.h>
#include <texton/warp.h>

#include "tests/bench/image_scene.h"

namespace texton::bench {
namespace {

struct Kind {
    const char* name;
    Format format;
    OIIO::TypeDesc type;
};

OIIO::ImageBuf buffer_of(const Pitched2D& image, OIIO::TypeDesc type) {
    const Extent extent = image.extent();
    const OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), 4, type);
    OIIO::ImageBuf buffer(spec);
    buffer.set_pixels(OIIO::ROI::All(), type, image.data(), OIIO::AutoStride,
                      static_cast<OIIO::stride_t>(image.pitch()));
    return buffer;
}

using Ours = std::function<void(const ImageScene&)>;
using Peer = std::function<void(OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int threads)>;

Sides sides_of(const Kind& kind, Threads threads, Extent to, const Sampler& sampler, const Ours& ours,
               const Peer& peer) {
    const Extent from{kImageSide, kImageSide};
    const auto scene = std::make_shared<ImageScene>(kind.format, from, to, sampler);
    const auto source = std::make_shared<OIIO::ImageBuf>(buffer_of(scene->source, kind.type));
    const auto result = std::make_shared<OIIO::ImageBuf>(buffer_of(scene->result, kind.type));
    const auto run_peer = [=] { peer(*result, *source, threads == Threads::one ? 1 : 0); };
    const auto run_ours = [=] {
        ours(*scene);
        scene->stream.synchronize();
    };
    run_ours();
    run_peer();
    check_alike(
        scene->result, [&](std::size_t y) { return result->pixeladdr(0, static_cast<int>(y)); }, 0.03);
    return {with_threads(threads, run_ours), run_peer};
}

Sides halve(const Kind& kind, Threads threads) {
    return sides_of(
        kind, threads, {kImageSide / 2, kImageSide / 2}, {.filter = Filter::linear},
        [](const ImageScene& scene) { resample(scene.stream, scene.result.view(), scene.texture); },
        [](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::resize(to, from, "box", 1.0f, {}, count);
        });
}

Sides enlarge(const Kind& kind, Threads threads) {
    return sides_of(
        kind, threads, {kImageSide * 3 / 2, kImageSide * 3 / 2}, {.filter = Filter::linear},
        [](const ImageScene& scene) { resample(scene.stream, scene.result.view(), scene.texture); },
        [](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::resize(to, from, "triangle", 2.0f, {}, count);
        });
}

Sides turn(const Kind& kind, Threads threads) {
    const float center = static_cast<float>(kImageSide) / 2;
    const float cosine = std::cos(0.3f);
    const float sine = std::sin(0.3f);
    const Affine map{cosine, -sine,  center - cosine * center + sine * center,
                     sine,   cosine, center - sine * center - cosine * center};
    // Maps the source to the destination, for row vectors.
    const Imath::M33f forward(cosine, -sine, 0, sine, cosine, 0, center - cosine * center - sine * center,
                              center + sine * center - cosine * center, 1);
    constexpr AddressMode kBorder = AddressMode::border;
    return sides_of(
        kind, threads, {kImageSide, kImageSide}, {.address = {kBorder, kBorder}, .filter = Filter::linear},
        [map](const ImageScene& scene) { warp_affine(scene.stream, scene.result.view(), scene.texture, map); },
        [forward](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::warp(to, from, forward, "triangle", 2.0f, false, OIIO::ImageBuf::WrapBlack, {}, count);
        });
}

const bool added = add_suite([] {
    for (const Threads threads : {Threads::one, Threads::all}) {
        for (const Kind& kind : {Kind{"u8x4", Format::rgba8_unorm, OIIO::TypeUInt8},
                                 Kind{"f32x4", Format::rgba32_float, OIIO::TypeFloat}}) {
            const auto add_row = [&](const char* name, Sides (*prepare)(const Kind&, Threads)) {
                add({.name = fmt::format("cpu/image/{} {} (OpenImageIO){}", name, kind.name, suffix(threads)),
                     .target = {Target::Kind::speed_at_least, 20},
                     .prepare = [=] { return prepare(kind, threads); },
                     .rounds = 3});
            };
            add_row("resize to half", halve);
            add_row("resize to 1.5 times", enlarge);
            add_row("warp", turn);
        }
    }
});

}  // namespace
}  // namespace texton::bench
