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

OIIO::ImageBuf buffer_of(const Pitched2D& picture, OIIO::TypeDesc type) {
    const Extent extent = picture.extent();
    const OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), 4, type);
    OIIO::ImageBuf buffer(spec);
    buffer.set_pixels(OIIO::ROI::All(), type, picture.data(), OIIO::AutoStride,
                      static_cast<OIIO::stride_t>(picture.pitch()));
    return buffer;
}

using Ours = std::function<void(const PictureScene&)>;
using Peer = std::function<void(OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int threads)>;

Sides sides_of(const Kind& kind, Threads threads, Extent to, const Sampler& sampler, const Ours& ours,
               const Peer& peer) {
    const Extent from{kPictureSide, kPictureSide};
    const auto scene = std::make_shared<PictureScene>(kind.format, from, to, sampler);
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
        kind, threads, {kPictureSide / 2, kPictureSide / 2}, {.filter = Filter::linear},
        [](const PictureScene& scene) { resample(scene.stream, scene.result.view(), scene.texture); },
        [](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::resize(to, from, "box", 1.0f, {}, count);
        });
}

Sides enlarge(const Kind& kind, Threads threads) {
    return sides_of(
        kind, threads, {kPictureSide * 3 / 2, kPictureSide * 3 / 2}, {.filter = Filter::linear},
        [](const PictureScene& scene) { resample(scene.stream, scene.result.view(), scene.texture); },
        [](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::resize(to, from, "triangle", 2.0f, {}, count);
        });
}

Sides turn(const Kind& kind, Threads threads) {
    const float middle = static_cast<float>(kPictureSide) / 2;
    const float cosine = std::cos(0.3f);
    const float sine = std::sin(0.3f);
    const Affine map{cosine, -sine,  middle - cosine * middle + sine * middle,
                     sine,   cosine, middle - sine * middle - cosine * middle};
    // Maps the source to the destination, for row vectors.
    const Imath::M33f forward(cosine, -sine, 0, sine, cosine, 0, middle - cosine * middle - sine * middle,
                              middle + sine * middle - cosine * middle, 1);
    constexpr AddressMode kBorder = AddressMode::border;
    return sides_of(
        kind, threads, {kPictureSide, kPictureSide}, {.address = {kBorder, kBorder}, .filter = Filter::linear},
        [map](const PictureScene& scene) { warp_affine(scene.stream, scene.result.view(), scene.texture, map); },
        [forward](OIIO::ImageBuf& to, const OIIO::ImageBuf& from, int count) {
            OIIO::ImageBufAlgo::warp(to, from, forward, "triangle", 2.0f, false, OIIO::ImageBuf::WrapBlack, {}, count);
        });
}

const bool added = add_suite([] {
    for (const Threads threads : {Threads::one, Threads::all}) {
        for (const Kind& kind : {Kind{"u8x4", Format::rgba8_unorm, OIIO::TypeUInt8},
                                 Kind{"f32x4", Format::rgba32_float, OIIO::TypeFloat}}) {
            const auto add_row = [&](const char* name, Sides (*prepare)(const Kind&, Threads)) {
                add({.name = fmt::format("cpu/picture/{} {} (OpenImageIO){}", name, kind.name, suffix(threads)),
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
