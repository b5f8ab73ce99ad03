// Compares kernels of the CPU device with OpenCV's functions on the same number of threads.
#include <array>
#include <bit>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <texton/array.h>
#include <texton/color.h>
#include <texton/copy.h>
#include <texton/filter.h>
#include <texton/mips.h>
#include <texton/planar.h>
#include <texton/resample.h>
#include <texton/warp.h>

#include "tests/bench/image_scene.h"

namespace texton::bench {
namespace {

constexpr Sampler kPoint{.filter = Filter::point};
constexpr Sampler kLinear{.filter = Filter::linear};

struct Kind {
    const char* name;
    Format format;
    int matrix;  // OpenCV's type
};
constexpr std::array kKinds{Kind{"u8x4", Format::rgba8_unorm, CV_8UC4}, Kind{"f32x4", Format::rgba32_float, CV_32FC4}};

cv::Mat matrix_of(const Pitched2D& image, int type) {
    const Extent extent = image.extent();
    return {static_cast<int>(extent.height), static_cast<int>(extent.width), type, image.data(), image.pitch()};
}

// A task for both libraries. `target` is the minimum of our speed divided by OpenCV's. `apart` is the maximum mean
// difference of the results.
struct Task {
    std::string name;
    double target;
    double apart;
    Extent to;
    Sampler sampler;
    std::function<void(const ImageScene&)> ours;
    std::function<void(const cv::Mat& from, cv::Mat& to)> peer;
};

Sides sides_of(const Kind& kind, const Task& task, Threads threads) {
    const Extent from{kImageSide, kImageSide};
    const auto scene = std::make_shared<ImageScene>(kind.format, from, task.to, task.sampler);
    const cv::Mat cv_source = matrix_of(scene->source, kind.matrix);
    const auto cv_result =
        std::make_shared<cv::Mat>(static_cast<int>(task.to.height), static_cast<int>(task.to.width), kind.matrix);
    const auto ours = [scene, run = task.ours] {
        run(*scene);
        scene->stream.synchronize();
    };
    const auto peer = [cv_source, cv_result, run = task.peer] { run(cv_source, *cv_result); };
    ours();
    peer();
    check_alike(
        scene->result, [&](std::size_t y) { return cv_result->ptr(static_cast<int>(y)); }, task.apart);
    return {with_threads(threads, ours), with_threads(threads, peer)};
}

// --- resampling ------------------------------------------------------------------------------------------------------

Task resize(const char* name, Extent to, ResampleFilter filter, int interpolation, double target, double apart) {
    const bool through_linear = filter == ResampleFilter::linear || filter == ResampleFilter::catmull_rom;
    return {fmt::format("resample {} to {}", name, to.width),
            target,
            apart,
            to,
            through_linear ? kLinear : kPoint,
            [filter](const ImageScene& scene) {
                resample(scene.stream, scene.result.view(), scene.texture, {.filter = filter});
            },
            [interpolation](const cv::Mat& from, cv::Mat& result) {
                cv::resize(from, result, result.size(), 0, 0, interpolation);
            }};
}

void add_sizes(std::vector<Task>& tasks) {
    for (const std::size_t side : {kImageSide / 2, kImageSide * 3 / 2}) {
        const Extent to{side, side};
        tasks.push_back(resize("nearest", to, ResampleFilter::nearest, cv::INTER_NEAREST, 1, 0.05));
        tasks.push_back(resize("linear", to, ResampleFilter::linear, cv::INTER_LINEAR, 1.5, 0.005));
        tasks.push_back(resize("cubic", to, ResampleFilter::catmull_rom, cv::INTER_CUBIC, 1, 0.02));
        // OpenCV's INTER_AREA is linear when enlarging.
        tasks.push_back(resize("area", to, ResampleFilter::area, cv::INTER_AREA, 1, 0.02));
    }
}

Task warp() {
    constexpr double kAngle = 17 * CV_PI / 180;
    const auto cosine = static_cast<float>(std::cos(kAngle));
    const auto sine = static_cast<float>(std::sin(kAngle));
    const float center = static_cast<float>(kImageSide) / 2;
    const Affine map{cosine, -sine,  center - cosine * center + sine * center,
                     sine,   cosine, center - sine * center - cosine * center};
    // OpenCV's pixel centers are at integer coordinates.
    const cv::Mat cv_map = (cv::Mat_<double>(2, 3) << map.xx, map.xy, map.x0 + 0.5 * (double{map.xx} + map.xy - 1),
                            map.yx, map.yy, map.y0 + 0.5 * (double{map.yx} + map.yy - 1));
    constexpr AddressMode kBorder = AddressMode::border;
    return {"warp affine bilinear",
            1.5,
            0.005,
            {kImageSide, kImageSide},
            {.address = {kBorder, kBorder}, .filter = Filter::linear},
            [map](const ImageScene& scene) { warp_affine(scene.stream, scene.result.view(), scene.texture, map); },
            [cv_map](const cv::Mat& from, cv::Mat& result) {
                cv::warpAffine(from, result, cv_map, result.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP);
            }};
}

// --- filters ---------------------------------------------------------------------------------------------------------

Task blur(int radius) {
    const float sigma = static_cast<float>(radius) / 2;
    return {fmt::format("gaussian radius {}", radius),
            1,
            0.005,
            {kImageSide, kImageSide},
            kPoint,
            [sigma, radius](const ImageScene& scene) {
                gaussian(scene.stream, scene.result.view(), scene.texture, {sigma, radius});
            },
            [sigma, radius](const cv::Mat& from, cv::Mat& result) {
                const int side = 2 * radius + 1;
                cv::GaussianBlur(from, result, {side, side}, sigma, sigma, cv::BORDER_REPLICATE);
            }};
}

Task weights() {
    static constexpr std::array kAcross{0.1f, 0.2f, 0.3f, 0.25f, 0.15f};
    static constexpr std::array kDown{0.05f, 0.15f, 0.4f, 0.3f, 0.1f};
    return {"convolve 5x5",
            1,
            0.005,
            {kImageSide, kImageSide},
            kPoint,
            [](const ImageScene& scene) { convolve(scene.stream, scene.result.view(), scene.texture, kAcross, kDown); },
            [](const cv::Mat& from, cv::Mat& result) {
                const cv::Mat across(1, 5, CV_32F, const_cast<float*>(kAcross.data()));
                const cv::Mat down(1, 5, CV_32F, const_cast<float*>(kDown.data()));
                cv::sepFilter2D(from, result, -1, across, down, {-1, -1}, 0, cv::BORDER_REPLICATE);
            }};
}

// --- colors ----------------------------------------------------------------------------------------------------------

Task matrix() {
    const ColorMatrix matrix{{{0.6f, 0.3f, 0.1f, 0}, {0.2f, 0.7f, 0.1f, 0}, {0.1f, 0.1f, 0.8f, 0}}};
    const cv::Mat cv_matrix =
        (cv::Mat_<float>(4, 4) << 0.6f, 0.3f, 0.1f, 0, 0.2f, 0.7f, 0.1f, 0, 0.1f, 0.1f, 0.8f, 0, 0, 0, 0, 1);
    return {
        "color matrix",
        1,
        0.005,
        {kImageSide, kImageSide},
        kPoint,
        [matrix](const ImageScene& scene) { color_matrix(scene.stream, scene.result.view(), scene.texture, matrix); },
        [cv_matrix](const cv::Mat& from, cv::Mat& result) { cv::transform(from, result, cv_matrix); }};
}

Task turned_channels() {
    return {"swizzle bgra",
            1,
            0,
            {kImageSide, kImageSide},
            kPoint,
            [](const ImageScene& scene) { swizzle(scene.stream, scene.result.view(), scene.texture, "bgra"); },
            [](const cv::Mat& from, cv::Mat& result) {
                static constexpr std::array kFromTo{0, 2, 1, 1, 2, 0, 3, 3};
                if (from.depth() == CV_8U) {
                    cv::cvtColor(from, result, cv::COLOR_RGBA2BGRA);
                } else {  // cvtColor() supports floats too
                    cv::mixChannels(&from, 1, &result, 1, kFromTo.data(), 4);
                }
            }};
}

struct Planes {
    Pitched2D luma{Device::cpu(), Format::r8_unorm, {kImageSide, kImageSide}};
    Pitched2D chroma{Device::cpu(), Format::rg8_unorm, {kImageSide / 2, kImageSide / 2}};
    Pitched2D result{Device::cpu(), Format::rgba8_unorm, luma.extent()};
    Texture luma_texture{luma.view(), kPoint};
    Texture chroma_texture{chroma.view(), kLinear};
    Stream stream{Device::cpu()};
    cv::Mat cv_result;
};

// OpenCV uses the nearest chroma sample, Texton filters it linearly.
Sides from_nv12(Threads threads) {
    const auto planes = std::make_shared<Planes>();
    fill_with_noise(planes->luma);
    fill_with_noise(planes->chroma);
    return {with_threads(threads,
                         [planes] {
                             to_rgb(planes->stream, planes->result.view(), planes->luma_texture, planes->chroma_texture,
                                    {.standard = LumaStandard::bt601, .siting = ChromaSiting::center});
                             planes->stream.synchronize();
                         }),
            with_threads(threads, [planes] {
                cv::cvtColorTwoPlane(matrix_of(planes->luma, CV_8UC1), matrix_of(planes->chroma, CV_8UC2),
                                     planes->cv_result, cv::COLOR_YUV2RGBA_NV12);
            })};
}

// --- mip levels ------------------------------------------------------------------------------------------------------

struct Chain {
    explicit Chain(const Kind& kind)
        : image(Device::cpu(), kind.format, {kImageSide, kImageSide}),
          array(Device::cpu(), {.format = kind.format, .extent = image.extent(), .levels = levels}),
          stream(Device::cpu()) {
        fill_with_noise(image);
        copy(array.view(), image.view());
        cv_levels[0] = matrix_of(image, kind.matrix);
    }

    int levels = static_cast<int>(std::bit_width(kImageSide));
    Pitched2D image;
    Array array;
    Stream stream;
    std::vector<cv::Mat> cv_levels = std::vector<cv::Mat>(static_cast<std::size_t>(levels));
};

Sides mips(const Kind& kind, Threads threads) {
    const auto chain = std::make_shared<Chain>(kind);
    return {with_threads(threads,
                         [chain] {
                             make_mips(chain->stream, chain->array);
                             chain->stream.synchronize();
                         }),
            with_threads(threads, [chain] {
                std::vector<cv::Mat>& levels = chain->cv_levels;
                for (std::size_t i = 1; i < levels.size(); ++i)
                    cv::resize(levels[i - 1], levels[i], {}, 0.5, 0.5, cv::INTER_AREA);
            })};
}

const bool added = add_suite([] {
    std::vector<Task> tasks{warp()};
    add_sizes(tasks);
    for (const int radius : {2, 8}) tasks.push_back(blur(radius));
    tasks.push_back(weights());
    tasks.push_back(matrix());
    tasks.push_back(turned_channels());
    for (const Threads threads : {Threads::one, Threads::all}) {
        const auto add_row = [&](const std::string& name, double target, std::function<Sides()> prepare) {
            add({.name = "cpu/image/" + name + suffix(threads),
                 .target = {Target::Kind::speed_at_least, target},
                 .prepare = std::move(prepare),
                 .rounds = 7});
        };
        for (const Kind& kind : kKinds) {
            const std::string of = std::string(" ") + kind.name + " (OpenCV)";
            for (const Task& task : tasks)
                add_row(task.name + of, task.target, [=] { return sides_of(kind, task, threads); });
            add_row("mips box" + of, 1, [=] { return mips(kind, threads); });
        }
        add_row("NV12 to RGBA u8x4 (OpenCV)", 1, [=] { return from_nv12(threads); });
    }
});

}  // namespace
}  // namespace texton::bench
