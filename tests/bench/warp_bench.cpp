// Compares affine warps on the CPU device with OpenCV. OpenCV rounds coordinates to 1/32 of a texel; Texton uses the
// coordinates of the texture unit.
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include <tbb/task_arena.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <texton/pitched.h>
#include <texton/pixel_encode.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "arrays/unit/affine_map.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr int kSide = 4096;

struct Kind {
    const char* name;
    Format format;
    int matrix;  // OpenCV's type
};
constexpr Kind kBytes4{"rgba8", Format::rgba8_unorm, CV_8UC4};
constexpr Kind kFloats4{"rgba32f", Format::rgba32_float, CV_32FC4};
constexpr Kind kFloats1{"r32f", Format::r32_float, CV_32FC1};

enum class Threads { one, all };

// One image for both libraries, rotated by 17 degrees around its center, with black outside.
struct Warp {
    Warp(const Kind& kind, Filter filter)
        : source(Device::cpu(), kind.format, {kSide, kSide}),
          result(Device::cpu(), kind.format, {kSide, kSide}),
          sampler{.address = {AddressMode::border, AddressMode::border}, .filter = filter},
          texture(source.view(), sampler),
          cv_source(kSide, kSide, kind.matrix, source.view().data(), source.pitch()),
          cv_result(kSide, kSide, kind.matrix) {
        std::mt19937 random(1);
        for (int y = 0; y < kSide; ++y) {
            if (cv_source.depth() == CV_32F) {
                float* row = cv_source.ptr<float>(y);
                for (int x = 0; x < kSide * cv_source.channels(); ++x)
                    row[x] = static_cast<float>(random() & 0xffffff) * 0x1p-24f;
            } else {
                unsigned char* row = cv_source.ptr(y);
                for (int x = 0; x < kSide * cv_source.channels(); ++x) row[x] = static_cast<unsigned char>(random());
            }
        }
        const double angle = 17 * CV_PI / 180;
        const double cosine = std::cos(angle);
        const double sine = std::sin(angle);
        constexpr double kCenter = kSide / 2.0;
        map = {static_cast<float>(cosine),
               static_cast<float>(-sine),
               static_cast<float>(kCenter - cosine * kCenter + sine * kCenter),
               static_cast<float>(sine),
               static_cast<float>(cosine),
               static_cast<float>(kCenter - sine * kCenter - cosine * kCenter)};
        // OpenCV's pixel centers are at integer coordinates.
        cv_map = (cv::Mat_<double>(2, 3) << map.xx, map.xy, map.x0 + 0.5 * (double{map.xx} + map.xy - 1), map.yx,
                  map.yy, map.y0 + 0.5 * (double{map.yx} + map.yy - 1));
    }

    void run() const { sample(texture, map, result.view()); }

    // Throws if one of 100,000 pixels does not have the same bits as the model of the texture unit.
    void check() const {
        detail::TextureView view{};
        view.kind = ArrayKind::array_2d;
        view.format = detail::texel_format(source.view().format());
        view.level_count = 1;
        view.levels[0] = {reinterpret_cast<const unsigned char*>(source.view().data()),
                          kSide,
                          kSide,
                          1,
                          static_cast<std::int64_t>(source.pitch()),
                          0};
        for (std::uint32_t i = 0; i < 100000; ++i) {
            const std::uint32_t x = i * 2654435761u >> 20;
            const std::uint32_t y = i * 40503u % kSide;
            const Texel texel = detail::fetch(view, sampler, detail::position_of_pixel(map, x, y));
            const detail::Pixel expected = detail::encode_pixel(texel, {view.format, false});
            const std::byte* pixel = result.view().data() + y * result.pitch() + x * view.format.bytes;
            if (std::memcmp(pixel, expected.word, view.format.bytes) != 0)
                throw std::runtime_error("a pixel differs from the model's");
        }
    }

    Pitched2D source;
    Pitched2D result;
    Sampler sampler;
    Texture texture;
    AffineMap map;
    cv::Mat cv_source;
    cv::Mat cv_result;
    cv::Mat cv_map;
};

std::function<void()> with_threads(Threads threads, std::function<void()> action) {
    if (threads == Threads::all) return action;
    return [action] { tbb::task_arena(1).execute(action); };
}

void use_cv_threads(Threads threads) { cv::setNumThreads(threads == Threads::all ? -1 : 1); }

Sides warp(const Kind& kind, Filter filter, Threads threads) {
    const auto scene = std::make_shared<Warp>(kind, filter);
    scene->run();
    scene->check();
    const int interpolation = filter == Filter::linear ? cv::INTER_LINEAR : cv::INTER_NEAREST;
    return {with_threads(threads, [scene] { scene->run(); }), [scene, interpolation, threads] {
                use_cv_threads(threads);
                cv::warpAffine(scene->cv_source, scene->cv_result, scene->cv_map, scene->cv_result.size(),
                               interpolation | cv::WARP_INVERSE_MAP, cv::BORDER_CONSTANT);
            }};
}

// OpenCV reads integer source coordinates from a map that is computed before the rounds.
Sides remap_nearest(const Kind& kind, Threads threads) {
    const auto scene = std::make_shared<Warp>(kind, Filter::point);
    scene->run();
    scene->check();
    cv::Mat positions(kSide, kSide, CV_16SC2);
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
            const detail::Coordinates at =
                detail::position_of_pixel(scene->map, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
            positions.at<cv::Vec2s>(y, x) = {static_cast<short>(std::floor(at.x)),
                                             static_cast<short>(std::floor(at.y))};
        }
    }
    return {with_threads(threads, [scene] { scene->run(); }), [scene, positions, threads] {
                use_cv_threads(threads);
                cv::remap(scene->cv_source, scene->cv_result, positions, {}, cv::INTER_NEAREST, cv::BORDER_CONSTANT);
            }};
}

void add_warps(Threads threads) {
    const std::string where = threads == Threads::one ? ", one thread" : ", all threads";
    const auto add_row = [&](const std::string& what, double target, std::function<Sides()> prepare) {
        add({.name = "cpu/warp/" + what + where,
             .target = {Target::Kind::speed_at_least, target},
             .prepare = std::move(prepare)});
    };
    const auto add_linear = [&](const Kind& kind, double target) {
        add_row(std::string(kind.name) + " bilinear (OpenCV)", target,
                [kind, threads] { return warp(kind, Filter::linear, threads); });
    };
    add_linear(kBytes4, 1.5);
    add_linear(kFloats4, 1.5);
    add_linear(kFloats1, 1.2);
    for (const Kind& kind : {kBytes4, kFloats1}) {
        add_row(std::string(kind.name) + " nearest (OpenCV)", 1,
                [kind, threads] { return warp(kind, Filter::point, threads); });
        add_row(std::string(kind.name) + " nearest (OpenCV's remap)", 1,
                [kind, threads] { return remap_nearest(kind, threads); });
    }
}

const bool added = add_suite([] {
    add_warps(Threads::one);
    add_warps(Threads::all);
});

}  // namespace
}  // namespace texton::bench
