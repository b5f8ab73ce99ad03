// Runs kernels of the CPU device for a program that measures them beside another library: opencv_rows.py.
//
// Reads requests from standard input, a line each, and answers each with a line on standard output:
//     prepare ROW FORMAT SIDE DATA   makes the images, runs the row once and answers "ready", or "none" if there is no
//                                    such row for this format
//     run                            runs the row and answers with the seconds it took
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <texton/color.h>
#include <texton/copy.h>
#include <texton/error.h>
#include <texton/filter.h>
#include <texton/launch.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/warp.h>

namespace {

using namespace texton;

constexpr Sampler kLinear{.filter = Filter::linear};

// A texture of pitched memory and an image of the same format.
struct Scene {
    Scene(Format format, std::size_t side, Extent to, bool smooth)
        : side(static_cast<float>(side)),
          source(Device::cpu(), format, {side, side}),
          result(Device::cpu(), format, to),
          texture(source.view(), kLinear),
          image(result.view()),
          stream(Device::cpu()) {
        fill(source, format, {side, side}, smooth);
    }

    static void fill(const Pitched2D& memory, Format format, const Extent& extent, bool smooth) {
        const FormatInfo& known = info(format);
        std::mt19937 random(5);
        const std::size_t channels = extent.width * extent.height * known.channels;
        std::vector<std::byte> bytes(packed_bytes(format, extent));
        const auto put = [&](auto of_code) {
            using Stored = decltype(of_code(0u));
            auto* const to = reinterpret_cast<Stored*>(bytes.data());
            for (std::size_t i = 0; i < channels; ++i) {
                const auto noise = static_cast<std::uint32_t>(random());
                to[i] = of_code(smooth ? (i / 997 + (noise & 15)) & 255 : noise & 255);
            }
        };
        switch (known.kind) {
            case FormatKind::floating:
                if (known.bits == 32) {
                    put([](std::uint32_t code) { return static_cast<float>(code) / 255.0f; });
                } else {
                    put([](std::uint32_t code) {
                        return static_cast<std::uint16_t>(detail::half_code_of(static_cast<float>(code) / 255.0f));
                    });
                }
                break;
            default:
                if (known.bits == 8) {
                    put([](std::uint32_t code) { return static_cast<std::uint8_t>(code); });
                } else {
                    put([](std::uint32_t code) { return static_cast<std::uint16_t>(code * 257); });
                }
        }
        copy(memory.view(), host_view(bytes.data(), format, extent));
    }

    float side;
    Pitched2D source;
    Pitched2D result;
    Texture texture;
    View image;
    Stream stream;
    std::unique_ptr<Pitched2D> map;
    std::unique_ptr<Texture> map_texture;
};

void make_map(Scene& scene) {
    const auto side = static_cast<std::size_t>(scene.side);
    std::vector<float> coordinates(2 * side * side);
    for (std::size_t y = 0; y < side; ++y) {
        for (std::size_t x = 0; x < side; ++x) {
            const auto column = static_cast<float>(x), row = static_cast<float>(y);
            coordinates[2 * (y * side + x)] = 0.96f * column - 0.17f * row + scene.side * 0.05f;
            coordinates[2 * (y * side + x) + 1] = 0.17f * column + 0.96f * row - scene.side * 0.04f;
        }
    }
    scene.map = std::make_unique<Pitched2D>(Device::cpu(), Format::rg32_float, Extent{side, side});
    copy(scene.map->view(), host_view(coordinates.data(), Format::rg32_float, {side, side}));
    scene.map_texture = std::make_unique<Texture>(scene.map->view(), Sampler{});
}

using Run = std::function<void(Scene&)>;

Run resampled(ResampleFilter filter) {
    return [filter](Scene& scene) { resample(scene.stream, scene.image, scene.texture, {.filter = filter}); };
}

Run blurred(int radius) {
    return [radius](Scene& scene) {
        gaussian(scene.stream, scene.image, scene.texture,
                 {.sigma = static_cast<float>(radius) / 3.0f + 0.3f, .radius = radius});
    };
}

Affine affine_of(const Scene& scene) { return {0.96f, -0.17f, scene.side * 0.05f, 0.17f, 0.96f, scene.side * -0.04f}; }

// The affine warp and the warp by a map as functors of a user.
struct WarpedByFunctor {
    static constexpr bool kMayBeCalledWithZeros = true;
    Affine map;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const float x = static_cast<float>(at.x) + 0.5f, y = static_cast<float>(at.y) + 0.5f;
        return source.at_texel(map.xx * x + map.xy * y + map.x0, map.yx * x + map.yy * y + map.y0);
    }
};

struct Row {
    double scale;  // of the image, relative to the texture
    Run run;
};

const std::map<std::string, Row>& rows() {
    static const std::map<std::string, Row> all = [] {
        std::map<std::string, Row> made;
        const std::pair<const char*, ResampleFilter> filters[] = {{"nearest", ResampleFilter::nearest},
                                                                  {"linear", ResampleFilter::linear},
                                                                  {"cubic", ResampleFilter::catmull_rom},
                                                                  {"lanczos", ResampleFilter::lanczos3},
                                                                  {"area", ResampleFilter::area}};
        const std::pair<const char*, double> scales[] = {{"eighth", 0.125}, {"quarter", 0.25}, {"third", 1 / 3.0},
                                                         {"half", 0.5},     {"0.7", 0.7},      {"1.5", 1.5},
                                                         {"double", 2}};
        for (const auto& [filter, kind] : filters) {
            for (const auto& [name, scale] : scales) made[std::string(filter) + "_" + name] = {scale, resampled(kind)};
        }
        for (const int radius : {1, 2, 4, 8}) made["gaussian_" + std::to_string(radius)] = {1, blurred(radius)};
        made["median_3"] = {1, [](Scene& s) { median(s.stream, s.image, s.texture, MedianSize::three); }};
        made["median_5"] = {1, [](Scene& s) { median(s.stream, s.image, s.texture, MedianSize::five); }};
        made["bilateral"] = {1, [](Scene& s) {
                                 bilateral(s.stream, s.image, s.texture,
                                           {.sigma_space = 2, .sigma_range = 0.1f, .radius = 4});
                             }};
        made["warp_affine"] = {1, [](Scene& s) { warp_affine(s.stream, s.image, s.texture, affine_of(s)); }};
        made["warp_functor"] = {1,
                                [](Scene& s) { launch(s.stream, s.image, WarpedByFunctor{affine_of(s)}, s.texture); }};
        made["warp_perspective"] = {
            1, [](Scene& s) {
                warp_perspective(s.stream, s.image, s.texture,
                                 Perspective{{{0.96f, -0.17f, 400}, {0.17f, 0.96f, -300}, {-1e-5f, -1e-5f, 1}}});
            }};
        made["remap"] = {1, [](Scene& s) {
                             if (s.map == nullptr) make_map(s);
                             warp_map(s.stream, s.image, s.texture, *s.map_texture);
                         }};
        made["color_matrix"] = {1, [](Scene& s) {
                                    ColorMatrix matrix;
                                    for (int row = 0; row < 3; ++row) {
                                        for (int column = 0; column < 4; ++column)
                                            matrix.row[row][column] = row == column ? 0.8f : 0.07f;
                                    }
                                    color_matrix(s.stream, s.image, s.texture, matrix);
                                }};
        made["swizzle"] = {1, [](Scene& s) { swizzle(s.stream, s.image, s.texture, "bgra"); }};
        made["exposure"] = {1, [](Scene& s) { exposure(s.stream, s.image, s.texture, 0.5f); }};
        made["copy"] = {1, [](Scene& s) { copy(s.image, s.source.view(), s.stream); }};
        return made;
    }();
    return all;
}

std::unique_ptr<Scene> prepared(const std::string& row, const std::string& format, std::size_t side,
                                const std::string& data) {
    const auto found = rows().find(row);
    const auto known = format_named(format);
    if (found == rows().end() || !known) return nullptr;
    const auto to = static_cast<std::size_t>(static_cast<double>(side) * found->second.scale);
    return std::make_unique<Scene>(*known, side, Extent{to, to}, data == "smooth");
}

}  // namespace

int main() {
    std::unique_ptr<Scene> scene;
    const Row* row = nullptr;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        std::string request, name, format, data;
        std::size_t side = 0;
        in >> request;
        try {
            if (request == "prepare" && in >> name >> format >> side >> data) {
                scene.reset();
                scene = prepared(name, format, side, data);
                row = scene ? &rows().at(name) : nullptr;
                if (row != nullptr) {
                    row->run(*scene);
                    scene->stream.synchronize();
                }
                std::cout << (row != nullptr ? "ready" : "none") << std::endl;
            } else if (request == "run" && row != nullptr) {
                const auto begin = std::chrono::steady_clock::now();
                row->run(*scene);
                scene->stream.synchronize();
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
                std::cout << took.count() << std::endl;
            } else {
                std::cout << "invalid request: " << line << std::endl;
            }
        } catch (const Error& error) {
            std::cout << "none: " << error.what() << std::endl;
        }
    }
}
