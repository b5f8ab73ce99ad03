// Rendered scenes: compares each pixel with the texture unit's result for the texel and position that it shows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/metrics.h>
#include <texton/mips.h>
#include <texton/planar.h>
#include <texton/sample.h>

#include "viewer/render/display.h"
#include "viewer/render/layout.h"
#include "viewer/render/planar_color.h"
#include "viewer/render/render.h"
#include "viewer/render/stored_texels.h"
#include "viewer/render/texel_text.h"

namespace texton::viewer {
namespace {

using Shown = std::shared_ptr<const Document>;

// Creates an array whose bytes depend on the seed only.
Array random_array(const ArrayInfo& info, unsigned seed = 1) {
    Array array(Device::cpu(), info);
    std::mt19937 random(seed);
    for (int level = 0; level < info.levels; ++level) {
        const View view = array.view({.level = level});
        std::vector<std::byte> bytes(packed_bytes(info.format, view.extent()));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        copy(view, host_view(static_cast<const void*>(bytes.data()), info.format, view.extent()));
    }
    return array;
}

Shown random_document(const ArrayInfo& info, unsigned seed = 1) {
    return Document::of(random_array(info, seed), "random");
}

template <class T>
Shown document_of(Format format, Extent extent, const std::vector<T>& values) {
    Array array(Device::cpu(), {.format = format, .extent = extent});
    copy(array.view(), host_view(static_cast<const void*>(values.data()), format, extent));
    return Document::of(std::move(array), "given");
}

Scene scene_of(Shown shown, ViewState view, int width = 90, int height = 70) {
    Scene scene;
    scene.shown = std::move(shown);
    scene.width = width;
    scene.height = height;
    scene.session.view = view;
    scene.session.fits = false;
    return scene;
}

std::vector<std::uint32_t> render_all(const Scene& scene) { return render(scene, {0, 0, scene.width, scene.height}); }

std::uint32_t pixel_of(const Color& value, const Document& document, const Display& display, int x = 0, int y = 0) {
    const Screen screen(display, meaning_of(document.info().format));
    std::uint32_t pixel = 0;
    screen.show({&value, 1}, x, y, {&pixel, 1});
    return pixel;
}

Display opaque() {
    Display display;
    display.channels[3] = false;
    return display;
}

// --- display values --------------------------------------------------------------------------------------------------

TEST(DisplayTest, CurveReturnsTheNearestCode) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> any(0, 1);
    for (const bool light : {false, true}) {
        for (const float gamma : {0.3f, 1.0f, 2.2f, 30.0f}) {
            const CodeCurve curve(light, gamma);
            EXPECT_EQ(curve.code(0), 0u);
            EXPECT_EQ(curve.code(1), 255u);
            for (int i = 0; i < 20'000; ++i) {
                const float value = i % 2 ? any(random) : std::exp2(-24 * any(random));
                const double v = static_cast<double>(value);
                const double encoded = !light ? v : v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
                const double code = 255 * std::pow(encoded, 1 / static_cast<double>(gamma));
                // The two parts of the sRGB curve and of its inverse meet within 1e-4 of a code.
                ASSERT_NEAR(curve.code(value), code, 0.5001) << value << " " << light << " " << gamma;
            }
        }
    }
}

TEST(DisplayTest, EightBitCodesAreDisplayedUnchanged) {
    const CodeCurve curve(false, 1);
    for (int code = 0; code < 256; ++code)
        EXPECT_EQ(curve.code(static_cast<float>(code) / 255), static_cast<unsigned>(code));
}

TEST(DisplayTest, RangeAndExposureAreAppliedBeforeTheCurve) {
    const Shown document = random_document({.format = Format::r16_unorm, .extent = {4, 4}});
    Display display;
    display.low = 0.25f;
    display.high = 0.75f;
    EXPECT_EQ(pixel_of({0.25f}, *document, display), 0xff000000u);
    EXPECT_EQ(pixel_of({0.75f}, *document, display), 0xffffffffu);
    EXPECT_EQ(pixel_of({0.5f}, *document, display), 0xff808080u);
    display.exposure = -1;
    EXPECT_EQ(pixel_of({0.75f}, *document, display), 0xff808080u);
    display.gamma = 2;
    EXPECT_EQ(pixel_of({0.375f}, *document, display), 0xff5a5a5au) << "the square root of 1/8";
}

TEST(DisplayTest, SingleChannelIsGrayAndDisabledChannelsAreOmitted) {
    const Shown document = random_document({.format = Format::rgba8_unorm, .extent = {4, 4}});
    const Color value{1, 0.5f, 0.25f, 0.75f};
    Display display = opaque();
    EXPECT_EQ(pixel_of(value, *document, display), 0xffff8040u);
    display.channels = {false, true, false, false};
    EXPECT_EQ(pixel_of(value, *document, display), 0xff808080u);
    display.channels = {false, false, false, true};
    EXPECT_EQ(pixel_of(value, *document, display), 0xffbfbfbfu);
    display.channels = {true, false, true, false};
    EXPECT_EQ(pixel_of(value, *document, display), 0xffff0040u);
    display.channels = {false, false, false, false};
    EXPECT_EQ(pixel_of(value, *document, display), 0xff000000u);
    display = opaque();
    display.luminance = true;
    const auto gray = static_cast<std::uint32_t>(std::lround(255 * (0.2126 + 0.7152 * 0.5 + 0.0722 * 0.25)));
    EXPECT_EQ(pixel_of(value, *document, display), 0xff000000u | gray << 16 | gray << 8 | gray);
}

TEST(DisplayTest, TransparentTexelsShowACheckerboard) {
    const Shown document = random_document({.format = Format::rgba8_unorm, .extent = {4, 4}});
    const Display display;
    EXPECT_EQ(pixel_of({1, 1, 1, 0}, *document, display, 0, 0), 0xff3d3d3du);
    EXPECT_EQ(pixel_of({1, 1, 1, 0}, *document, display, 8, 0), 0xff525252u);
    EXPECT_EQ(pixel_of({1, 1, 1, 0}, *document, display, -1, 0), 0xff525252u);
    EXPECT_EQ(pixel_of({1, 1, 1, 1}, *document, display, 8, 0), 0xffffffffu);
    EXPECT_EQ(pixel_of({1, 1, 1, 0}, *document, opaque(), 8, 0), 0xffffffffu);
}

TEST(DisplayTest, NanAndInfinityAreMarkedInVisibleChannels) {
    const Shown document = random_document({.format = Format::rgba32_float, .extent = {4, 4}});
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    Display display = opaque();
    EXPECT_EQ(pixel_of({0, nan, 0, 1}, *document, display), kNanMark);
    EXPECT_EQ(pixel_of({0, 0, -infinity, 1}, *document, display), kInfinityMark);
    EXPECT_EQ(pixel_of({0, 0, 0, nan}, *document, display), 0xff000000u) << "alpha is not shown";
    display.channels = {true, false, false, false};
    EXPECT_EQ(pixel_of({0, nan, 0, 1}, *document, display), 0xff000000u);
    display = opaque();
    display.mark_nan = false;
    EXPECT_EQ(pixel_of({nan, infinity, -infinity, 1}, *document, display), 0xff00ff00u);
    display.mark_range = true;
    EXPECT_EQ(pixel_of({0.5f, 1.01f, 0, 1}, *document, display), kAboveMark);
    EXPECT_EQ(pixel_of({-0.01f, 1, 0, 1}, *document, display), kBelowMark);
    EXPECT_EQ(pixel_of({0, 1, 0, 1}, *document, display), 0xff00ff00u);
}

TEST(DisplayTest, FalseColorsSpanTheWholeMap) {
    const Shown document = random_document({.format = Format::r32_float, .extent = {4, 4}});
    Display display;
    for (const FalseColor map : {FalseColor::viridis, FalseColor::turbo, FalseColor::diverging}) {
        display.false_color = map;
        const std::vector<std::uint32_t> all = false_colors(map);
        ASSERT_EQ(all.size(), 256u);
        EXPECT_EQ(pixel_of({-3}, *document, display), all.front());
        EXPECT_EQ(pixel_of({0.2f}, *document, display), all[51]);
        EXPECT_EQ(pixel_of({7}, *document, display), all.back());
    }
    EXPECT_TRUE(false_colors(FalseColor::none).empty());
}

TEST(DisplayTest, IntegersAreDisplayedAsFractionsOfTheirRange) {
    const Shown bytes = random_document({.format = Format::r8_uint, .extent = {4, 4}});
    EXPECT_EQ(pixel_of({255}, *bytes, {}), 0xffffffffu);
    EXPECT_EQ(pixel_of({128}, *bytes, {}), 0xff808080u);
    const Shown signs = random_document({.format = Format::r16_sint, .extent = {4, 4}});
    EXPECT_EQ(pixel_of({32767}, *signs, {}), 0xffffffffu);
    EXPECT_EQ(pixel_of({-1}, *signs, {}), 0xff000000u);
}

// --- texels ----------------------------------------------------------------------------------------------------------

TEST(StoredTexelsTest, StoredTexelsMatchTheTextureUnit) {
    for (const FormatInfo& format : formats()) {
        if (format.layout == FormatLayout::planar) continue;
        const Shown document = random_document({.format = format.format, .extent = {64, 16}});
        std::vector<Color> texels(64 * 16);
        StoredTexels(document, {}).read({0, 0, 64, 16}, texels);
        const Texture texture(document->array());
        for (std::size_t i = 0; i < texels.size(); ++i) {
            const FetchPoint point{.x = static_cast<float>(i % 64) + 0.5f, .y = static_cast<float>(i / 64) + 0.5f};
            const Texel texel = sample(texture, {&point, 1}).texels.front();
            for (std::size_t c = 0; c < format.channels; ++c) {
                const float expected = format.kind == FormatKind::uint ? static_cast<float>(texel.channel[c])
                                       : format.kind == FormatKind::sint
                                           ? static_cast<float>(static_cast<std::int32_t>(texel.channel[c]))
                                           : texel.as_float(static_cast<int>(c));
                if (std::isnan(expected) && std::isnan(texels[i][c])) continue;
                ASSERT_EQ(texels[i][c], expected) << format.name << " texel " << i << " channel " << c;
            }
        }
    }
}

TEST(StoredTexelsTest, TexelTextContainsTheStoredCodes) {
    const Shown bytes = document_of<std::uint8_t>(Format::rg8_srgb, {2, 1}, {0, 255, 7, 16});
    EXPECT_THAT(stored_text(bytes, {}, {0, 0, 2, 1}, false),
                testing::ElementsAre(testing::ElementsAre("0", "255"), testing::ElementsAre("7", "16")));
    EXPECT_THAT(stored_text(bytes, {}, {1, 0, 1, 1}, true), testing::ElementsAre(testing::ElementsAre("07", "10")));
    const Shown signs = document_of<std::int16_t>(Format::r16_snorm, {1, 1}, {-32768});
    EXPECT_THAT(stored_text(signs, {}, {0, 0, 1, 1}, false), testing::ElementsAre(testing::ElementsAre("-32768")));
    const Shown floats = document_of<float>(Format::r32_float, {1, 1}, {0.15625f});
    EXPECT_THAT(stored_text(floats, {}, {0, 0, 1, 1}, false), testing::ElementsAre(testing::ElementsAre("0.1562")));
    EXPECT_THAT(stored_text(floats, {}, {0, 0, 1, 1}, true), testing::ElementsAre(testing::ElementsAre("3e200000")));
    const Shown packed =
        document_of<std::uint32_t>(Format::rgb10a2_unorm, {1, 1}, {2u << 30 | 1023u << 20 | 5u << 10 | 9u});
    EXPECT_THAT(stored_text(packed, {}, {0, 0, 1, 1}, false),
                testing::ElementsAre(testing::ElementsAre("9", "5", "1023", "2")));
}

// --- kinds and layouts -----------------------------------------------------------------------------------------------

const std::vector<ArrayInfo>& all_kinds() {
    static const std::vector<ArrayInfo> kinds{
        {.format = Format::rgba8_unorm, .extent = {37}, .kind = ArrayKind::array_1d},
        {.format = Format::rgba8_srgb, .extent = {19, 23}, .levels = 4},
        {.format = Format::rgba16_float, .extent = {9, 8, 5}, .kind = ArrayKind::array_3d, .levels = 2},
        {.format = Format::rg16_uint, .extent = {21}, .kind = ArrayKind::layered_1d, .layers = 3, .levels = 2},
        {.format = Format::r8_snorm, .extent = {13, 7}, .kind = ArrayKind::layered_2d, .layers = 4, .levels = 3},
        {.format = Format::rgba8_unorm, .extent = {11, 11}, .kind = ArrayKind::cubemap, .levels = 2},
        {.format = Format::rgba32_float, .extent = {6, 6}, .kind = ArrayKind::cubemap_layered, .layers = 2},
        {.format = Format::bc7_unorm, .extent = {24, 16}, .levels = 2},
        {.format = Format::bc1_srgb, .extent = {16, 16}, .kind = ArrayKind::cubemap, .levels = 3},
        {.format = Format::bc6h_sfloat, .extent = {16, 8}, .kind = ArrayKind::layered_2d, .layers = 2, .levels = 2},
        {.format = Format::bc3_unorm, .extent = {8, 8, 4}, .kind = ArrayKind::array_3d},
        {.format = Format::r32_uint, .extent = {1, 1}},
        {.format = Format::rgb10a2_unorm, .extent = {5, 9}},
    };
    return kinds;
}

TEST(RenderTest, EveryPixelShowsTheTexelReportedAtItsPosition) {
    for (const ArrayInfo& info : all_kinds()) {
        const Shown document = random_document(info);
        for (const Layout layout : {Layout::single, Layout::sheet, Layout::cross, Layout::sphere}) {
            if (layout == Layout::sphere && info.levels > 1 && info.format == Format::bc1_srgb)
                continue;  // fetched by direction; tested below
            Scene scene = scene_of(document, {3.7, {}});
            scene.session.layout = layout;
            scene.session.subresource = {.level = info.levels - 1, .layer = 1, .face = 3, .slice = 2};
            scene.session.sphere_yaw = 35;
            scene.session.sphere_pitch = -20;
            scene.session.display = opaque();
            const Extent extent = canvas_extent(scene);
            scene.session.view.center = {static_cast<double>(extent.width) / 2, static_cast<double>(extent.height) / 2};
            if (layout_of(scene.session, *document) == Layout::sphere) scene.session.view.zoom = 40;
            const std::vector<std::uint32_t> pixels = render_all(scene);
            std::size_t seen = 0;
            for (int y = 0; y < scene.height; ++y) {
                for (int x = 0; x < scene.width; ++x) {
                    const auto texel = texel_at(scene, {x + 0.5, y + 0.5});
                    const std::uint32_t pixel = pixels[static_cast<std::size_t>(y * scene.width + x)];
                    if (!texel) {
                        ASSERT_EQ(pixel, kBackground) << x << " " << y;
                        continue;
                    }
                    ++seen;
                    const Color value = value_at(*document, texel->subresource, static_cast<std::size_t>(texel->at.x),
                                                 static_cast<std::size_t>(texel->at.y));
                    ASSERT_EQ(pixel, pixel_of(value, *document, scene.session.display))
                        << name(info.kind) << " " << name(info.format) << " layout " << static_cast<int>(layout)
                        << " at " << x << " " << y;
                }
            }
            EXPECT_GT(seen, 0u) << name(info.kind);
        }
    }
}

TEST(RenderTest, SheetShowsAllPartsWithoutOverlap) {
    for (const ArrayInfo& info : all_kinds()) {
        const Shown document = random_document(info);
        Session session;
        session.layout = Layout::sheet;
        const std::vector<Part> parts = parts_of(session, *document);
        std::size_t expected = 0;
        for (int level = 0; level < info.levels; ++level) expected += slice_count(info, level);
        EXPECT_EQ(parts.size(), expected) << name(info.kind);
        const Extent all = extent_of(session, *document);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            EXPECT_LE(parts[i].at.x + parts[i].width, static_cast<double>(all.width));
            EXPECT_LE(parts[i].at.y + parts[i].height, static_cast<double>(all.height));
            for (std::size_t j = 0; j < i; ++j) {
                const bool apart = parts[i].at.x >= parts[j].at.x + parts[j].width ||
                                   parts[j].at.x >= parts[i].at.x + parts[i].width ||
                                   parts[i].at.y >= parts[j].at.y + parts[j].height ||
                                   parts[j].at.y >= parts[i].at.y + parts[i].height;
                EXPECT_TRUE(apart) << name(info.kind) << " " << i << " " << j;
                EXPECT_NE(label_of(*document, parts[i].subresource), label_of(*document, parts[j].subresource));
            }
        }
    }
}

TEST(RenderTest, PartOfACanvasEqualsTheSamePartOfTheWholeCanvas) {
    std::mt19937 random(5);
    for (const ArrayInfo& info : all_kinds()) {
        const Shown document = random_document(info);
        for (const Reading reading : {Reading::stored, Reading::sampled}) {
            if (reading == Reading::sampled && document->standard_sampler().filter == Filter::linear &&
                meaning_of(info.format).unit != 1)
                continue;
            for (const double zoom : {0.31, 1.0, 9.3}) {
                Scene scene = scene_of(document, {zoom, {4.2, 3.1}}, 400, 300);
                scene.session.reading = reading;
                scene.session.layout = Layout::sheet;
                const std::vector<std::uint32_t> whole = render_all(scene);
                const int x = static_cast<int>(random() % 300), y = static_cast<int>(random() % 200);
                const std::vector<std::uint32_t> part = render(scene, {x, y, 100, 80});
                for (int row = 0; row < 80; ++row) {
                    const auto begin = whole.begin() + (y + row) * 400 + x;
                    ASSERT_TRUE(std::equal(begin, begin + 100, part.begin() + row * 100))
                        << name(info.kind) << " " << zoom;
                }
            }
        }
    }
}

TEST(RenderTest, ReducedPixelIsTheMeanOfTheCoveredTexels) {
    constexpr std::size_t kSide = 50;
    std::mt19937 random(9);
    std::vector<float> texels(kSide * kSide);
    for (float& texel : texels) texel = static_cast<float>(random() % 1000) / 1000;
    const Shown document = document_of(Format::r32_float, {kSide, kSide}, texels);
    const double zoom = 0.3;
    const Scene scene = scene_of(document, {zoom, {kSide / 2.0, kSide / 2.0}}, 15, 15);
    ASSERT_EQ(canvas_origin(scene), (PlanePixel{0, 0}));
    const Values values = values_of(scene, {0, 0, 15, 15}, Quality::full);
    for (int y = 0; y < 15; ++y) {
        for (int x = 0; x < 15; ++x) {
            double sum = 0, area = 0;
            for (std::size_t v = 0; v < kSide; ++v) {
                for (std::size_t u = 0; u < kSide; ++u) {
                    const auto covered = [](double texel, double pixel, double z) {
                        return std::max(0.0, std::min(texel + 1, (pixel + 1) / z) - std::max(texel, pixel / z));
                    };
                    const double share =
                        covered(static_cast<double>(u), x, zoom) * covered(static_cast<double>(v), y, zoom);
                    sum += share * static_cast<double>(texels[v * kSide + u]);
                    area += share;
                }
            }
            const auto at = static_cast<std::size_t>(y * 15 + x);
            ASSERT_NEAR(values.values[at][0], sum / area, 2e-6) << x << " " << y;
        }
    }
}

TEST(RenderTest, SingleNanIsVisibleAtAnyZoom) {
    std::vector<float> texels(256 * 256, 0.5f);
    texels[100 * 256 + 77] = std::numeric_limits<float>::quiet_NaN();
    const Shown document = document_of(Format::r32_float, {256, 256}, texels);
    for (const double zoom : {0.02, 0.1, 0.7, 1.0, 6.0}) {
        const std::vector<std::uint32_t> pixels = render_all(scene_of(document, {zoom, {77.5, 100.5}}));
        EXPECT_GT(std::count(pixels.begin(), pixels.end(), kNanMark), 0) << zoom;
    }
}

TEST(RenderTest, QuickValuesOfAReducedViewAreSingleTexels) {
    const Shown document = random_document({.format = Format::r8_unorm, .extent = {200, 200}});
    const Scene reduced = scene_of(document, {0.2, {100, 100}});
    const Values quick = values_of(reduced, {0, 0, 40, 40}, Quality::quick);
    EXPECT_EQ(quick.quality, Quality::quick);
    EXPECT_EQ(quick.values[3 * 40 + 4], value_at(*document, {}, 22, 17));
    EXPECT_EQ(values_of(scene_of(document, {2, {100, 100}}), {0, 0, 40, 40}, Quality::quick).quality, Quality::full);
}

// --- samplers --------------------------------------------------------------------------------------------------------

TEST(RenderTest, SampledViewMatchesFetchesWithThePixelGradients) {
    const Shown document = random_document({.format = Format::rgba8_unorm, .extent = {64, 32}, .levels = 6});
    Sampler sampler{
        .filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 4};
    for (const double zoom : {0.11, 0.5, 1.0, 5.0}) {
        Scene scene = scene_of(document, {zoom, {32, 16}});
        scene.session.reading = Reading::sampled;
        scene.session.sampler = sampler;
        const Values values = values_of(scene, {0, 0, 40, 30}, Quality::full);
        const Texture texture(document->array(), sampler);
        for (int y = 0; y < 30; ++y) {
            for (int x = 0; x < 40; ++x) {
                const auto at = static_cast<std::size_t>(y * 40 + x);
                const double u = (x + 0.5) / zoom, v = (y + 0.5) / zoom;
                ASSERT_EQ(values.seen[at] == 1, u < 64 && v < 32);
                if (!values.seen[at]) continue;
                FetchPoint point{.x = static_cast<float>(u * (1.0 / 64)), .y = static_cast<float>(v * (1.0 / 32))};
                point.dx[0] = static_cast<float>(1 / zoom * (1.0 / 64));
                point.dy[1] = static_cast<float>(1 / zoom * (1.0 / 32));
                const Texel texel =
                    sample(texture, {&point, 1}, {.operation = FetchOperation::gradients}).texels.front();
                for (std::size_t c = 0; c < 4; ++c)
                    ASSERT_EQ(values.values[at][c], texel.as_float(static_cast<int>(c)))
                        << zoom << " at " << x << " " << y;
            }
        }
    }
}

TEST(RenderTest, LevelAtItsOwnSizeLooksTheSameStoredAndSampled) {
    const Shown document = random_document({.format = Format::rgba8_unorm, .extent = {64, 64}, .levels = 4});
    Scene scene = scene_of(document, {1, {8, 8}}, 16, 16);
    scene.session.subresource.level = 2;
    scene.session.display = opaque();
    const std::vector<std::uint32_t> stored = render_all(scene);
    scene.session.reading = Reading::sampled;
    scene.session.sampler =
        Sampler{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
    EXPECT_EQ(render_all(scene), stored);
    scene.session.sampler = Sampler{.filter = Filter::linear};
    EXPECT_EQ(render_all(scene), stored) << "in texels";
}

TEST(RenderTest, PerspectivePlaneHasAHorizonAndRepeatsTheImage) {
    const Shown document = random_document({.format = Format::rgba8_unorm, .extent = {64, 64}, .levels = 7});
    Scene scene = scene_of(document, {2, {32, 32}}, 128, 128);
    scene.session.display = opaque();
    scene.session.lod_plane = {.shown = true, .tilt = 75, .turn = 0, .repeats = 4};
    const std::vector<std::uint32_t> pixels = render_all(scene);
    EXPECT_EQ(pixels[64], kBackground) << "above the horizon";
    EXPECT_FALSE(texel_at(scene, {64, 0}));
    EXPECT_NE(pixels[127 * 128 + 64], kBackground);
    scene.session.lod_plane.tilt = 0;
    scene.session.lod_plane.repeats = 1;
    scene.session.reading = Reading::sampled;
    scene.session.sampler = Sampler{.normalized_coordinates = true};
    const std::vector<std::uint32_t> upright = render_all(scene);
    scene.session.lod_plane.shown = false;
    EXPECT_EQ(upright, render_all(scene)) << "seen from the front without repetition it equals the image";
}

// --- comparisons -----------------------------------------------------------------------------------------------------

TEST(CompareTest, CompareModesUseTheTexelValues) {
    const std::vector<float> a{
        0.5f, 0.25f, -1, 0, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    const std::vector<float> b{0.25f, 0.5f, 1, 0, std::numeric_limits<float>::infinity(), 1};
    Scene scene = scene_of(document_of(Format::r32_float, {6, 1}, a), {1, {3, 0.5}}, 6, 1);
    scene.against = document_of(Format::r32_float, {6, 1}, b);
    const auto values = [&](CompareMode mode) {
        scene.session.compare.mode = mode;
        std::vector<float> out;
        for (const Color& value : values_of(scene, {0, 0, 6, 1}, Quality::full).values) out.push_back(value[0]);
        return out;
    };
    const auto number = testing::NanSensitiveFloatEq(std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(values(CompareMode::difference), testing::ElementsAre(0.25f, -0.25f, -2, 0, 0, number));
    EXPECT_THAT(values(CompareMode::absolute), testing::ElementsAre(0.25f, 0.25f, 2, 0, 0, number));
    EXPECT_THAT(values(CompareMode::relative), testing::ElementsAre(0.5f, 0.5f, 2, 0, 0, number));
    EXPECT_THAT(values(CompareMode::squared), testing::ElementsAre(0.0625f, 0.0625f, 4, 0, 0, number));
    scene.session.compare.mode = CompareMode::difference;
    EXPECT_EQ(render_all(scene)[3], 0xff808080u) << "no difference is shown as gray";
    EXPECT_EQ(render_all(scene)[5], kNanMark);
    scene.session.compare.mode = CompareMode::absolute;
    EXPECT_EQ(render_all(scene)[3], 0xff000000u);
}

TEST(CompareTest, RenderedUlpMapMatchesTheUlpMapOfTheKernels) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba8_srgb, Format::rg8_srgb, Format::rg16_snorm,
                                Format::r16_float, Format::rgba32_float, Format::rgba16_uint, Format::rgb10a2_unorm}) {
        const ArrayInfo info{.format = format, .extent = {40, 30}};
        Scene scene = scene_of(random_document(info, 1), {1, {20, 15}}, 40, 30);
        scene.against = random_document(info, 2);
        scene.session.compare.mode = CompareMode::ulp;
        const auto bytes_of = [](const Document& document) { return document.texels({}, {0, 0, 40, 30}); };
        const std::vector<std::byte> a = bytes_of(*scene.shown), b = bytes_of(*scene.against);
        const auto view = [&](const std::vector<std::byte>& bytes) {
            return host_view(static_cast<const void*>(bytes.data()), format, info.extent);
        };
        const std::vector<std::byte> map = ulp_map(ulp_distances(view(a), view(b)));
        const std::vector<std::uint32_t> pixels = render_all(scene);
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            const auto byte = [&](std::size_t c) { return std::to_integer<std::uint32_t>(map[4 * i + c]); };
            ASSERT_EQ(pixels[i], 0xff000000u | byte(0) << 16 | byte(1) << 8 | byte(2)) << name(format) << " " << i;
        }
    }
}

TEST(CompareTest, DifferenceOfOneTexelIsVisibleInAReducedView) {
    std::vector<std::uint8_t> a(256 * 256, 40), b = a;
    b[256 * 33 + 90] = 41;
    Scene scene = scene_of(document_of(Format::r8_unorm, {256, 256}, a), {0.1, {128, 128}});
    scene.against = document_of(Format::r8_unorm, {256, 256}, b);
    scene.session.compare.mode = CompareMode::ulp;
    const std::vector<std::uint32_t> pixels = render_all(scene);
    const auto is_marked = [](std::uint32_t pixel) { return pixel != kBackground && pixel != 0xff000000u; };
    EXPECT_GE(std::count_if(pixels.begin(), pixels.end(), is_marked), 1);
}

TEST(CompareTest, ReferenceOfAnotherSizeIsComparedInTheCommonArea) {
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {30, 20}};
    Scene scene = scene_of(random_document(info), {2, {15, 10}}, 60, 40);
    scene.against = random_document({.format = Format::r8_unorm, .extent = {12, 40}});
    scene.session.compare.mode = CompareMode::absolute;
    const std::vector<std::uint32_t> pixels = render_all(scene);
    EXPECT_NE(pixels[23], kBackground);
    EXPECT_EQ(pixels[24], kBackground);
    EXPECT_NE(pixels[39 * 60], kBackground);
}

TEST(CompareTest, WipeShowsOneImageOnEachSideOfItsLine) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {30, 20}};
    Scene scene = scene_of(random_document(info, 1), {3, {15, 10}});
    const std::vector<std::uint32_t> left = render_all(scene);
    const Shown other = random_document(info, 2);
    const std::vector<std::uint32_t> right = render_all(scene_of(other, {3, {15, 10}}));
    scene.against = other;
    scene.session.compare = {.mode = CompareMode::wipe, .against = Against::reference, .wipe = 0.3};
    const std::vector<std::uint32_t> both = render_all(scene);
    for (std::size_t i = 0; i < both.size(); ++i) ASSERT_EQ(both[i], i % 90 < 27 ? left[i] : right[i]) << i;
    EXPECT_EQ(wipe_column(scene), 27);
}

TEST(CompareTest, TwoSamplersAreComparedWithEachOther) {
    Scene scene = scene_of(random_document({.format = Format::r8_unorm, .extent = {16, 16}}), {4, {8, 8}}, 64, 64);
    scene.against = scene.shown;
    scene.session.sampler = Sampler{};
    scene.session.second_sampler = Sampler{.filter = Filter::linear};
    scene.session.compare = {.mode = CompareMode::absolute, .against = Against::sampler};
    const Values values = values_of(scene, {0, 0, 64, 64}, Quality::full);
    EXPECT_TRUE(
        std::any_of(values.values.begin(), values.values.end(), [](const Color& value) { return value[0] > 0.1f; }));
    scene.session.second_sampler = Sampler{};
    const Values same = values_of(scene, {0, 0, 64, 64}, Quality::full);
    EXPECT_TRUE(std::all_of(same.values.begin(), same.values.end(), [](const Color& value) { return value[0] == 0; }));
}

TEST(PlanarTest, PlanarImageIsShownInColorOrByItsPlanes) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "render_test.yuv";
    constexpr std::size_t kWidth = 32, kHeight = 16;
    std::mt19937 random(4);
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < kWidth * kHeight * 3 / 2; ++i) file.put(static_cast<char>(random()));
    file.close();
    Source source{.paths = {path}};
    source.options.raw = RawFrames{.format = Format::nv12, .extent = {kWidth, kHeight}};
    const Shown document = Document::open(source, Device::cpu());
    ASSERT_TRUE(document->is_planar());

    Array expected(Device::cpu(),
                   {.format = Format::rgba8_unorm, .extent = {kWidth, kHeight}, .usage = {.surface = true}});
    Stream stream(Device::cpu());
    to_rgb(stream, expected.view(), Texture(document->array(0)),
           Texture(document->array(1), {.filter = Filter::linear}));
    stream.synchronize();
    Scene scene = scene_of(document, {1, {16, 8}}, kWidth, kHeight);
    EXPECT_EQ(render_all(scene),
              render_all(scene_of(Document::of(std::move(expected), "rgb"), {1, {16, 8}}, kWidth, kHeight)));
    EXPECT_EQ(color_of(document), color_of(document)) << "cached after the first call";

    scene.session.display.luminance = true;
    const auto luma = static_cast<std::uint32_t>(std::lround(value_at(*document, {}, 5, 6)[0] * 255));
    EXPECT_EQ(render_all(scene)[6 * kWidth + 5], 0xff000000u | luma << 16 | luma << 8 | luma);
    scene.session.display.luminance = false;
    scene.session.subresource.plane = 1;
    EXPECT_EQ(canvas_extent(scene), (Extent{kWidth / 2, kHeight / 2}));
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace texton::viewer
