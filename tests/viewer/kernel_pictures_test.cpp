// The pictures of kernels/README.md show what the kernels compute. With the environment variable TEXTON_MAKE_PICTURES, the test
// writes them to that folder instead.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/image.h>
#include <texton/image_load.h>
#include <texton/image_save.h>
#include <texton/kernel.h>
#include <texton/linear.h>

#include "tests/support/configured_path.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, ParameterValue>;
using Numbers = std::vector<double>;
using Color = std::array<float, 4>;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
constexpr Extent kSmall{144, 96};
/// The kernels compute the same bits on all devices.
Device device() { return Device::cpu(); }

/// How the picture of a kernel is made. Several images, or slices of an image, are side by side.
struct Picture {
    std::string kernel;
    std::vector<std::string> inputs;
    Values values{};
    Extent extent{0, 0};       ///< 0 x 0: the extent that the kernel proposes
    float gain = 1;            ///< of results with one channel
    int slice = -1;            ///< the only slice that is shown; -1: all
    std::size_t images = 100;  ///< maximum number of images that are shown
    bool has_alpha = false;    ///< the alpha of the result is shown
};

std::vector<Picture> pictures() {
    const Numbers gray{0.3, 0.59, 0.11, 0, 0.3, 0.59, 0.11, 0, 0.2, 0.45, 0.09, 0};
    const Numbers camera{90, 90, 72, 48};
    const Numbers barrel{-0.35, 0.1, 0, 0};
    const Numbers turned{0.8, 0, 0.6, 0, 1, 0, -0.6, 0, 0.8};
    const Numbers ray{4, 60, 36, 40, 0, 0, 0, 0, -36, 0, -60, 0};  // from the back of the phantom to its front
    const auto word = [](const char* text) { return ParameterValue(std::string(text)); };
    return {
        {"change_alpha", {"ball"}, {}, {0, 0}, 1, -1, 100, true},
        {"color_matrix", {"card"}, {{"matrix", gray}}},
        {"exposure", {"sky"}, {{"stops", -2.0}}},
        {"grade", {"card"}, {{"contrast", 1.4}, {"saturation", 0.3}}},
        {"lut_1d", {"card", "inversion"}},
        {"lut_3d", {"card", "rotation of colors"}},
        {"swizzle", {"card"}, {{"order", word("gbra")}}},
        {"tone_curve", {"sky"}, {{"curve", word("filmic")}}},
        {"transfer", {"card"}},
        {"cross_to_cube", {"cross"}},
        {"cube_to_cross", {"cube"}, {}, {0, 0}, 1, -1, 100, true},
        {"cube_to_equirect", {"cube"}, {}, {144, 72}},
        {"cube_to_strip", {"cube"}},
        {"equirect_to_cube", {"equirectangular"}, {}, {48, 48}},
        {"irradiance", {"cube"}, {{"samples", 256.0}}, {32, 32}},
        {"prefilter_ggx", {"environment"}, {{"samples", 256.0}}, {0, 0}, 1, 4},
        {"rotate_cube", {"cube"}, {{"rotation", turned}}, {48, 48}},
        {"strip_to_cube", {"strip"}},
        {"bilateral", {"card"}, {{"sigma_range", 0.3}}},
        {"convolve", {"card"}, {{"across", Numbers{-1, 0, 1}}, {"down", Numbers{1}}}},
        {"gaussian", {"card"}, {{"sigma", 3.0}}},
        {"median", {"card"}, {{"window", word("5")}}},
        {"unsharp", {"card"}, {{"amount", 3.0}}},
        {"min_max_pyramid", {"zone plate"}},
        {"percentage_closer", {"depths", "references"}},
        {"blend", {"card", "glow"}},
        {"blend_masked", {"card", "glow", "disk"}},
        {"layer", {"layers"}, {{"layer", 1.5}}},
        {"layer_sum", {"layers"}},
        {"mips", {"card"}},
        {"from_rgb", {"card"}, {}, {0, 0}, 1, -1, 1},
        {"to_rgb", {"luma", "chroma"}},
        {"resample", {"card"}, {{"filter", word("lanczos3")}}, {216, 144}},
        {"volume_march",
         {"phantom", "opacity"},
         {{"view", ray},
          {"steps", 240.0},
          {"range", Numbers{0.012, 0.03}},
          {"shading", true},
          {"light", Numbers{-1, 2, 1}}},
         {144, 130},
         1,
         -1,
         100,
         true},
        {"volume_projection", {"phantom"}, {{"view", ray}, {"steps", 240.0}}, {144, 130}, 28},
        {"volume_slice", {"phantom"}, {{"plane", Numbers{0, 0, 12, 48, 0, 24, 0, 60, 0}}}, {104, 130}, 28},
        {"distort", {"card"}, {{"camera", camera}, {"k", barrel}}},
        {"undistort", {"card"}, {{"camera", camera}, {"k", barrel}}},
        {"warp_affine", {"card"}, {{"map", Numbers{0.9, 0.35, -8, -0.35, 0.9, 28}}}},
        {"warp_map", {"card", "ripples"}},
        {"warp_perspective", {"card"}, {{"map", Numbers{1.4, 0.5, -20, 0, 1.6, -4, 0, 0.006, 0.7}}}},
        {"warp_polar", {"card"}, {}, kSmall},
    };
}

/// Returns an array whose texels are made by a function of their positions.
Array made(ArrayInfo info, const std::function<Color(std::size_t x, std::size_t y, std::size_t z)>& color) {
    const std::size_t channels = texton::info(info.format).channels;
    std::vector<float> texels;
    for (std::size_t z = 0; z < info.extent.depth; ++z) {
        for (std::size_t y = 0; y < info.extent.height; ++y) {
            for (std::size_t x = 0; x < info.extent.width; ++x) {
                const Color each = color(x, y, z);
                texels.insert(texels.end(), each.begin(), each.begin() + static_cast<std::ptrdiff_t>(channels));
            }
        }
    }
    Array array(device(), info);
    copy(array.view(), host_view(texels.data(), info.format, info.extent));
    return array;
}

/// Runs a kernel, and returns its images.
std::vector<View> computed(const std::string& name, const std::vector<Texture>& inputs, const Values& values,
                           Extent extent = {0, 0}, std::optional<Format> format = {}) {
    const Kernel& kernel = kernel_named(name);
    const Arguments arguments(kernel.info, values);
    std::vector<View> images;
    for (const ImageShape& shape : shapes(kernel, arguments, inputs)) {
        const Format chosen = format.value_or(shape.format);
        const Extent size = extent.width == 0 ? shape.extent : Extent{extent.width, extent.height, shape.extent.depth};
        images.push_back(Linear(device(), chosen, size).view(chosen, size));
    }
    const Stream stream(device());
    enqueue(kernel, stream, images, arguments, inputs);
    stream.synchronize();
    return images;
}

/// Returns an array of the image of a kernel. Six slices become a cubemap.
Array array_of(const View& image) {
    const Extent extent = image.extent();
    const bool is_cube = extent.depth == 6;
    Array array(device(), {.format = image.format(),
                           .extent = {extent.width, extent.height},
                           .kind = is_cube ? ArrayKind::cubemap : ArrayKind::array_2d,
                           .usage = {.gather = !is_cube}});
    copy(array.view(), image);
    return array;
}

Array file(const std::string& name) { return load(device(), open_image(kAssets / name)); }

/// Returns an image of a file in the size of a picture.
Array small(const std::string& name) {
    return array_of(computed("resample", {Texture(file(name))}, {{"filter", std::string("area")}}, kSmall).front());
}

Array plane(int index) {
    const ImageFile frame = open_image(kAssets / "nv12_128x72.yuv", {.raw = RawFrames{.extent = {128, 72}}});
    return load_planar(device(), frame).plane(index);
}

/// Returns the input of a kernel with this name.
Texture input(const std::string& name) {
    const Sampler linear{.filter = Filter::linear};
    const Sampler of_cube{.filter = Filter::linear, .normalized_coordinates = true, .seamless_cubemap = true};
    const Format rgba = Format::rgba32_float;
    const auto distance = [](std::size_t x, std::size_t y) {
        return std::sqrt((static_cast<float>(x) - 72) * (static_cast<float>(x) - 72) +
                         (static_cast<float>(y) - 48) * (static_cast<float>(y) - 48));
    };
    if (name == "card") return Texture(small("card.png"), linear);
    if (name == "sky") return Texture(small("sky.exr"), linear);
    if (name == "ball") return Texture(file("ball.png"), linear);
    if (name == "zone plate") return Texture(small("zone_plate.png"), linear);
    if (name == "layers") return Texture(file("layers.dds"), linear);
    if (name == "phantom") return Texture(file("phantom.dds"), linear);
    if (name == "luma") return Texture(plane(0), linear);
    if (name == "chroma") return Texture(plane(1), linear);
    if (name == "cube") return Texture(file("cube.dds"), of_cube);
    if (name == "cross") return Texture(array_of(computed("cube_to_cross", {input("cube")}, {}).front()), Sampler{});
    if (name == "strip") return Texture(array_of(computed("cube_to_strip", {input("cube")}, {}).front()), Sampler{});
    if (name == "equirectangular")
        return Texture(file("sky_equirectangular.exr"),
                       {.address = {AddressMode::wrap}, .filter = Filter::linear, .normalized_coordinates = true});
    if (name == "environment")
        return Texture(array_of(computed("equirect_to_cube", {input("equirectangular")}, {}, {64, 64}).front()),
                       of_cube);
    if (name == "glow") {
        return Texture(made({.format = rgba, .extent = kSmall},
                            [&](std::size_t x, std::size_t y, std::size_t) {
                                const float alpha = std::max(0.0f, 1 - distance(x, y) / 60);
                                return Color{alpha, 0.5f * alpha, 0.1f * alpha, alpha};
                            }),
                       Sampler{});
    }
    if (name == "disk") {
        return Texture(
            made({.format = Format::r32_float, .extent = kSmall},
                 [&](std::size_t x, std::size_t y, std::size_t) { return Color{distance(x, y) < 30 ? 1.0f : 0.0f}; }),
            Sampler{});
    }
    if (name == "ripples") {
        return Texture(
            made({.format = rgba, .extent = kSmall},
                 [&](std::size_t x, std::size_t y, std::size_t) {
                     const float shift = static_cast<float>((x + y) % 24 < 12 ? (x + y) % 12 : 12 - (x + y) % 12);
                     return Color{static_cast<float>(x) + 0.5f + shift, static_cast<float>(y) + 0.5f - shift};
                 }),
            Sampler{});
    }
    if (name == "depths") {
        return Texture(made({.format = Format::r32_float, .extent = kSmall, .usage = {.gather = true}},
                            [&](std::size_t x, std::size_t y, std::size_t) { return Color{distance(x, y)}; }),
                       Sampler{});
    }
    if (name == "references") {  // a tilted plane
        return Texture(made({.format = rgba, .extent = kSmall},
                            [](std::size_t x, std::size_t y, std::size_t) {
                                return Color{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f,
                                             0.5f * static_cast<float>(x)};
                            }),
                       Sampler{});
    }
    if (name == "inversion") {
        return Texture(made({.format = rgba, .extent = {2}, .kind = ArrayKind::array_1d},
                            [](std::size_t x, std::size_t, std::size_t) {
                                const float value = x == 0 ? 1.0f : 0.0f;
                                return Color{value, value, value, 1};
                            }),
                       linear);
    }
    if (name == "rotation of colors") {
        return Texture(made({.format = rgba, .extent = {2, 2, 2}, .kind = ArrayKind::array_3d},
                            [](std::size_t x, std::size_t y, std::size_t z) {
                                return Color{static_cast<float>(y), static_cast<float>(z), static_cast<float>(x), 1};
                            }),
                       linear);
    }
    if (name == "opacity") {
        return Texture(made({.format = rgba, .extent = {8}, .kind = ArrayKind::array_1d},
                            [](std::size_t x, std::size_t, std::size_t) {
                                const auto value = static_cast<float>(x) / 7;
                                return Color{1, 0.6f + 0.4f * value, 0.4f + 0.6f * value, x < 2 ? 0 : 0.25f * value};
                            }),
                       linear);
    }
    throw std::invalid_argument(name);
}

/// An image of rgba8_srgb in host memory.
struct Pixels {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::array<std::uint8_t, 4>> colors;
};

/// Returns the images, and their slices, from left to right.
Pixels beside(const std::vector<View>& images, const Picture& picture) {
    std::vector<Pixels> parts;
    for (std::size_t i = 0; i < std::min(images.size(), picture.images); ++i) {
        const View& view = images[i];
        const Extent extent = view.extent();
        const std::size_t channels = texton::info(view.format()).channels;
        std::vector<std::byte> texels(
            packed_bytes({.format = view.format(), .extent = extent, .kind = ArrayKind::array_3d}));
        copy(host_view(texels.data(), view.format(), extent), view);
        for (std::size_t slice = 0; slice < extent.depth; ++slice) {
            if (picture.slice >= 0 && slice != static_cast<std::size_t>(picture.slice)) continue;
            Pixels part{extent.width, extent.height, {}};
            for (std::size_t t = 0; t < extent.width * extent.height; ++t) {
                const std::size_t at = slice * extent.width * extent.height + t;
                std::array<std::uint8_t, 4> color{0, 0, 0, 255};
                if (channels == 4) {
                    std::memcpy(color.data(), texels.data() + 4 * at, 4);
                } else if (view.format() == Format::r8_unorm) {
                    color[0] = color[1] = color[2] = std::to_integer<std::uint8_t>(texels[at]);
                } else {
                    float value = 0;
                    std::memcpy(&value, texels.data() + 4 * at, 4);
                    color[0] = static_cast<std::uint8_t>(std::clamp(255 * picture.gain * value + 0.5f, 0.0f, 255.0f));
                    color[1] = color[2] = color[0];
                }
                if (!picture.has_alpha) color[3] = 255;
                part.colors.push_back(color);
            }
            parts.push_back(std::move(part));
        }
    }
    Pixels all;
    for (const Pixels& part : parts) {
        all.width += part.width;
        all.height = std::max(all.height, part.height);
    }
    all.colors.resize(all.width * all.height);
    std::size_t left = 0;
    for (const Pixels& part : parts) {
        for (std::size_t y = 0; y < part.height; ++y)
            std::copy_n(part.colors.begin() + static_cast<std::ptrdiff_t>(y * part.width), part.width,
                        all.colors.begin() + static_cast<std::ptrdiff_t>(y * all.width + left));
        left += part.width;
    }
    return all;
}

Pixels drawn(const Picture& picture) {
    std::vector<Texture> inputs;
    for (const std::string& name : picture.inputs) inputs.push_back(input(name));
    const Kernel& kernel = kernel_named(picture.kernel);
    const ImageShape shape = shapes(kernel, Arguments(kernel.info, picture.values), inputs).front();
    std::optional<Format> format = Format::rgba8_srgb;
    if (texton::info(shape.format).channels == 1) format = Format::r32_float;
    if (picture.kernel == "from_rgb") format = {};  // the formats of the planes are those of the layout
    return beside(computed(picture.kernel, inputs, picture.values, picture.extent, format), picture);
}

TEST(KernelPicturesTest, EachKernelThatWritesAnImageHasItsPicture) {
    const char* const folder = std::getenv("TEXTON_MAKE_PICTURES");
    std::set<std::string> without;
    for (const Kernel& kernel : kernels()) without.insert(kernel.info.name);
    for (const Picture& picture : pictures()) {
        SCOPED_TRACE(picture.kernel);
        without.erase(picture.kernel);
        Pixels pixels = drawn(picture);
        const Extent extent{pixels.width, pixels.height};
        const View view = host_view(pixels.colors.data(), Format::rgba8_srgb, extent);
        if (folder != nullptr) {
            save(fs::path(folder) / (picture.kernel + ".png"), view, {.alpha = SavedAlpha::unless_opaque});
            continue;
        }
        const Image stored = read_image(kAssets / "kernels" / (picture.kernel + ".png"));
        ASSERT_EQ(stored.extent, extent);
        EXPECT_TRUE(std::ranges::equal(stored.texels, std::as_bytes(std::span(pixels.colors))));
    }
    EXPECT_THAT(without, testing::ElementsAre("histogram", "statistics"));
}

}  // namespace
}  // namespace texton
