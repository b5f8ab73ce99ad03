// Measures the cost of a fetch on one core of the CPU device, beside the model of the texture unit: with RowSampler,
// which performs plain fetches on vectors, and with SingleFetches.
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "arrays/cpu/rows.h"
#include "arrays/cpu/single_fetches.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr std::size_t kFetches = 1 << 16;

// A texture of random bytes with all levels, and fetches at random positions.
struct Scene {
    std::vector<std::vector<unsigned char>> levels;
    detail::TextureView view{};
    Sampler sampler{};
    std::vector<FetchPoint> points;
    std::vector<Texel> texels;
};

std::shared_ptr<Scene> make_scene(Format format, ArrayKind kind = ArrayKind::array_2d) {
    auto scene = std::make_shared<Scene>();
    std::mt19937 random(1);
    scene->view.kind = kind;
    scene->view.format = detail::texel_format(format);
    const std::size_t bytes = scene->view.format.bytes;
    const bool volume = kind == ArrayKind::array_3d;
    for (std::size_t side = volume ? 128 : 1024; side > 0; side /= 2) {
        const std::size_t depth = volume ? side : is_cube(kind) ? 6 : 1;
        std::vector<unsigned char>& level = scene->levels.emplace_back(side * side * depth * bytes);
        for (unsigned char& byte : level) byte = static_cast<unsigned char>(random() & 0x3f);
        const auto length = static_cast<std::int32_t>(side);
        const auto pitch = static_cast<std::int64_t>(side * bytes);
        scene->view.levels[scene->view.level_count++] = {
            level.data(), length, length, static_cast<std::int32_t>(depth), pitch, pitch * length};
    }
    scene->sampler = {
        .filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 16};
    std::uniform_real_distribution<float> position(0, 1);
    for (std::size_t i = 0; i < kFetches; ++i) {
        FetchPoint& point = scene->points.emplace_back();
        point = {.x = position(random), .y = position(random), .z = position(random), .lod = 3 * position(random)};
        point.dx[0] = 0.02f * position(random);  // up to 20 texels long and up to 2 texels wide
        point.dy[1] = 0.002f * position(random);
    }
    scene->texels.resize(kFetches);
    return scene;
}

std::function<void()> by_model(const std::shared_ptr<Scene>& scene, FetchOperation operation) {
    return [scene, operation] {
        for (std::size_t i = 0; i < kFetches; ++i) {
            scene->texels[i] = detail::fetch_point(scene->view, scene->sampler, scene->points[i], operation, 0);
        }
    };
}

std::function<void()> one_by_one(const std::shared_ptr<Scene>& scene, FetchOperation operation) {
    return [scene, operation] {
        const detail::SingleFetches single(scene->view, scene->sampler);
        for (std::size_t i = 0; i < kFetches; ++i) scene->texels[i] = single.fetch(scene->points[i], operation, 0);
    };
}

std::function<void()> on_vectors(const std::shared_ptr<Scene>& scene) {
    std::vector<float> x;
    std::vector<float> y;
    for (const FetchPoint& point : scene->points) {
        x.push_back(point.x);
        y.push_back(point.y);
    }
    return [scene, x, y] {
        detail::RowSampler(scene->view, scene->sampler).fetch(x.data(), y.data(), kFetches, scene->texels.data());
    };
}

// The table shows the time of 1000 fetches, so microseconds in the table are nanoseconds per fetch.
void add_costs(Format format) {
    const std::string of = "of " + std::string(name(format)) + " (1000 fetches)";
    const auto add_cost = [&](const std::string& what, std::function<Sides()> prepare) {
        add({.name = "cpu/" + what + " " + of,
             .target = {},
             .prepare = std::move(prepare),
             .operations = kFetches / 1000.0});
    };
    add_cost("plain (the model)", [format]() -> Sides {
        const auto scene = make_scene(format);
        return {on_vectors(scene), by_model(scene, FetchOperation::plain)};
    });
    const auto add_single = [&](const std::string& what, ArrayKind kind, FetchOperation operation) {
        add_cost(what + " (the model)", [format, kind, operation]() -> Sides {
            const auto scene = make_scene(format, kind);
            return {one_by_one(scene, operation), by_model(scene, operation)};
        });
    };
    add_single("at a level of detail", ArrayKind::array_2d, FetchOperation::lod);
    add_single("with gradients, anisotropy 16", ArrayKind::array_2d, FetchOperation::gradients);
    add_single("plain of a volume", ArrayKind::array_3d, FetchOperation::plain);
    add_single("at a level of detail of a volume", ArrayKind::array_3d, FetchOperation::lod);
    add_single("plain of a cubemap", ArrayKind::cubemap, FetchOperation::plain);
    add_single("at a level of detail of a cubemap", ArrayKind::cubemap, FetchOperation::lod);
}

const bool added = add_suite([] {
    add_costs(Format::rgba8_unorm);
    add_costs(Format::rgba32_float);
});

}  // namespace
}  // namespace texton::bench
