#include <limits>

#include <texton/array.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "tests/support/texels.h"
#include "tests/support/wrong_uses.h"

namespace texton::test {
namespace {

constexpr auto kBad = ErrorCode::bad_argument;
constexpr auto kOutside = ErrorCode::out_of_bounds;
constexpr auto kReleased = ErrorCode::released;
constexpr auto kDenied = ErrorCode::not_permitted;
constexpr auto kImpossible = ErrorCode::unsupported;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using D = const Device&;

ArrayInfo colors(ArrayKind kind = ArrayKind::array_2d, int levels = 1) {
    return {.format = Format::rgba8_unorm,
            .extent = is_flat(kind) ? Extent{8} : Extent{8, 8, kind == ArrayKind::array_3d ? 8u : 1u},
            .kind = kind,
            .layers = is_layered(kind) ? 3u : 1u,
            .levels = levels};
}
ArrayInfo whole_numbers() { return {.format = Format::rgba8_uint, .extent = {8, 8}}; }

Sampler normalized() { return {.normalized_coordinates = true}; }

std::vector<WrongUse> samplers() {
    const auto texture = [](std::string_view name, const ArrayInfo& info, const Sampler& sampler) {
        return WrongUse{name, kBad, "texton::Texture", [=](D d) { Texture made(Array(d, info), sampler); }};
    };
    using enum AddressMode;
    std::vector<WrongUse> uses{
        texture("LinearFilterOfIntegers", whole_numbers(), {.filter = Filter::linear}),
        texture("LinearFilterBetweenLevelsOfIntegers", {.format = Format::r32_sint, .extent = {8, 8}, .levels = 2},
                {.mip_filter = Filter::linear, .normalized_coordinates = true}),
        texture("WrapInTexels", colors(), {.address = {wrap, clamp, clamp}}),
        texture("MirrorInTexels", colors(), {.address = {clamp, mirror, clamp}}),
        texture("CubemapInTexels", colors(ArrayKind::cubemap), {}),
        texture("CubemapLayeredInTexels", colors(ArrayKind::cubemap_layered), {}),
        texture("LevelsInTexels", colors(ArrayKind::array_2d, 3), {}),
        texture("TooMuchAnisotropy", colors(),
                {.filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 17}),
        texture("NoAnisotropy", colors(),
                {.filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 0}),
    };
    uses.push_back(
        texture("SeamlessFilterOfAPlainArray", colors(), {.normalized_coordinates = true, .seamless_cubemap = true}));
    const auto spoilt = [](float Sampler::*field, float value) {
        Sampler sampler = normalized();
        sampler.*field = value;
        return sampler;
    };
    uses.push_back(texture("BiasThatIsNoNumber", colors(), spoilt(&Sampler::mip_bias, kNan)));
    uses.push_back(texture("LowestLevelThatIsNoNumber", colors(), spoilt(&Sampler::mip_min, kNan)));
    uses.push_back(texture("HighestLevelThatIsNoNumber", colors(), spoilt(&Sampler::mip_max, kNan)));
    return uses;
}

std::vector<WrongUse> ranges() {
    const auto texture = [](std::string_view name, ErrorCode code, const ArrayInfo& info, const TextureRange& range) {
        return WrongUse{name, code, "texton::Texture", [=](D d) { Texture made(Array(d, info), normalized(), range); }};
    };
    const ArrayInfo mips = colors(ArrayKind::layered_2d, 4);
    return {
        texture("TextureOfALevelThatIsNotThere", kOutside, mips, {.first_level = 4}),
        texture("TextureOfALevelBelowNone", kOutside, mips, {.first_level = -1}),
        texture("TextureOfTooManyLevels", kOutside, mips, {.first_level = 2, .levels = 3}),
        texture("TextureOfFewerLevelsThanNone", kOutside, mips, {.levels = -1}),
        texture("TextureOfALayerThatIsNotThere", kOutside, mips, {.first_layer = 3}),
        texture("TextureOfTooManyLayers", kOutside, mips, {.first_layer = 1, .layers = 3}),
        texture("TextureOfLayersThatWrapAround", kOutside, mips,
                {.first_layer = 2, .layers = std::numeric_limits<std::size_t>::max()}),
        texture("TextureAsWiderTexels", kBad, mips, {.format = Format::rg32_uint}),
        texture("TextureAsBlocks", kBad, mips, {.format = Format::bc1_unorm}),
        texture("TextureAsPlanes", kBad, mips, {.format = Format::nv12}),
        texture("TextureOfWordsAsBytes", kImpossible, {.format = Format::r32_uint, .extent = {8, 8}},
                {.format = Format::rgba8_unorm}),
        texture("TextureOfSrgbBlocksAsUnorm", kBad, {.format = Format::bc1_srgb, .extent = {8, 8}},
                {.format = Format::bc1_unorm}),
        texture("TextureOfOtherBlocks", kBad, {.format = Format::bc2_unorm, .extent = {8, 8}},
                {.format = Format::bc3_unorm}),
        texture("TextureOfAPartOfBlocks", kImpossible,
                {.format = Format::bc1_unorm, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 3},
                {.first_layer = 1}),
        texture("TextureOfAPartOfPackedLevels", kImpossible,
                {.format = Format::rgb10a2_unorm, .extent = {8, 8}, .levels = 4}, {.first_level = 1, .levels = 2}),
        {"TextureOfNoArray", kReleased, "texton::Texture", [](D) { Texture made{Array()}; }},
    };
}

std::vector<WrongUse> memory() {
    return {
        {"TextureOfHostMemory", kBad, "texton::Texture",
         [](D) {
             Bytes host(64);
             Texture made(host_view(std::span(host)));
         }},
        {"TextureOfNothing", kBad, "texton::Texture", [](D) { Texture made{ConstView()}; }},
        {"TextureOfABrokenAddress", kBad, "texton::Texture",
         [](D d) {
             const Linear row(d, 1024);
             Texture made(row.view().region({{4, 0, 0}, {64, 1, 1}}));
         }},
        {"TextureOfRowsAtABrokenAddress", kBad, "texton::Texture",
         [](D d) {
             const Pitched2D rows(d, Format::r8_uint, {64, 8});
             Texture made(rows.view().region({{4, 0, 0}, {32, 8, 1}}));
         }},
        {"TextureOfABrokenPitch", kBad, "texton::Texture",
         [](D d) {
             const Linear rows(d, Format::r8_uint, {33, 8});
             Texture made(rows.view(Format::r8_uint, {33, 8}));
         }},
        {"TextureOfSlicesOfMemory", kBad, "texton::Texture",
         [](D d) {
             const Pitched3D slices(d, Format::r8_uint, {64, 8, 2});
             Texture made(slices.view());
         }},
        {"TextureOfBlocksInMemory", kImpossible, "texton::Texture",
         [](D d) {
             const Pitched2D rows(d, Format::bc1_unorm, {64, 8});
             Texture made(rows.view());
         }},
        {"TextureOfAViewOfAnArray", kBad, "texton::Texture",
         [](D d) {
             const Array array(d, colors());
             Texture made(array.view());
         }},
        {"TextureOfTooManyRows", ErrorCode::overflow, "texton::Texture",
         [](D d) {
             const std::size_t rows = d.limits().pitch_2d[1] + 1;
             const Linear memory(d, Format::r8_uint, {32, rows});
             Texture made(memory.view(Format::r8_uint, {32, rows}));
         }},
        {"LinearFilterOfALine", kBad, "texton::Texture",
         [](D d) {
             const Linear memory(d, 512);
             Texture made(memory.view(Format::r32_float, {64}), {.filter = Filter::linear});
         }},
        {"LinearFilterOfIntegersInMemory", kBad, "texton::Texture",
         [](D d) {
             const Pitched2D rows(d, Format::r8_uint, {64, 8});
             Texture made(rows.view(), {.filter = Filter::linear});
         }},
    };
}

std::vector<WrongUse> fetches() {
    const auto refused = [](std::string_view name, const ArrayInfo& info, const SampleOptions& options) {
        return WrongUse{name, kBad, "texton::sample", [=](D d) {
                            const FetchPoint point;
                            (void)sample(Texture(Array(d, info), normalized()), std::span(&point, 1), options);
                        }};
    };
    const auto refused_on_rows = [](std::string_view name, const SampleOptions& options) {
        return WrongUse{name, kBad, "texton::sample", [=](D d) {
                            const Pitched2D rows(d, Format::rgba8_unorm, {64, 8});
                            const FetchPoint point;
                            (void)sample(Texture(rows.view()), std::span(&point, 1), options);
                        }};
    };
    const auto refused_on_a_row = [](std::string_view name, const SampleOptions& options) {
        return WrongUse{name, kBad, "texton::sample", [=](D d) {
                            const Linear row(d, 1024);
                            const FetchPoint point;
                            (void)sample(Texture(row.view()), std::span(&point, 1), options);
                        }};
    };
    using enum FetchOperation;
    ArrayInfo gathers = colors();
    gathers.usage.gather = true;
    return {
        refused("GatherWithoutItsUsage", colors(), {.operation = gather}),
        refused("GatherFromAVolume", colors(ArrayKind::array_3d), {.operation = gather}),
        refused("GatherFromACubemap", colors(ArrayKind::cubemap), {.operation = gather}),
        refused("GatherOfAFifthComponent", gathers, {.operation = gather, .component = 4}),
        refused("GatherOfAComponentBelowNone", gathers, {.operation = gather, .component = -1}),
        refused("TexelsOfAnArray", colors(), {.operation = texel}),
        refused("ResidencyOfALine", colors(ArrayKind::array_1d), {.residency = true}),
        refused("ResidencyOfACubemap", colors(ArrayKind::cubemap), {.residency = true}),
        refused_on_rows("GatherFromMemory", {.operation = gather}),
        refused_on_rows("LevelOfDetailOfMemory", {.operation = lod}),
        refused_on_rows("GradientsOnMemory", {.operation = gradients}),
        refused_on_rows("TexelsOfRows", {.operation = texel}),
        refused_on_rows("ResidencyOfMemory", {.residency = true}),
        refused_on_a_row("PlainFetchFromARow", {}),
        refused_on_a_row("LevelOfDetailOfARow", {.operation = lod}),
        refused_on_a_row("GradientsOnARow", {.operation = gradients}),
        {"SampleWhileRecording", ErrorCode::capturing, "texton::sample",
         [](D d) {
             const Stream stream(d);
             const Texture texture(Array(d, colors()));
             const FetchPoint point;
             (void)Graph::capture(stream, [&] { (void)sample(texture, std::span(&point, 1)); });
         }},
        {"PointsOnAVolume", kBad, "texton::sample",
         [](D d) {
             const Point2 point;
             (void)sample(Texture(Array(d, colors(ArrayKind::array_3d))), std::span(&point, 1));
         }},
    };
}

ArrayInfo drawable(ArrayKind kind = ArrayKind::array_2d, int levels = 1) {
    ArrayInfo info = colors(kind, levels);
    info.usage.surface = true;
    return info;
}

std::vector<WrongUse> surfaces() {
    const auto trapped = [](std::string_view name, ArrayKind kind, SurfacePoint point) {
        return WrongUse{name, kOutside, "texton::", [=](D d) {
                            const Surface surface(Array(d, drawable(kind)));
                            const SurfacePoint points[] = {{}, point};
                            (void)read(surface, points);
                        }};
    };
    return {
        {"SurfaceWithoutItsUsage", kDenied, "texton::Surface", [](D d) { Surface surface(Array(d, colors())); }},
        {"SurfaceOfALevelThatIsNotThere", kOutside, "texton::Surface",
         [](D d) { Surface surface(Array(d, drawable(ArrayKind::array_2d, 2)), 2); }},
        {"SurfaceOfALevelBelowNone", kOutside, "texton::Surface",
         [](D d) { Surface surface(Array(d, drawable()), -1); }},
        {"SurfaceOfNoArray", kReleased, "texton::Surface", [](D) { Surface surface{Array()}; }},
        trapped("SurfaceReadPastTheRow", ArrayKind::array_2d, {8, 0, 0}),
        trapped("SurfaceReadBeforeTheRow", ArrayKind::array_1d, {-1, 0, 0}),
        trapped("SurfaceReadPastTheRows", ArrayKind::layered_2d, {0, 8, 0}),
        trapped("SurfaceReadPastTheLayers", ArrayKind::layered_2d, {0, 0, 3}),
        trapped("SurfaceReadPastTheSlices", ArrayKind::array_3d, {0, 0, 8}),
        trapped("SurfaceReadPastTheFaces", ArrayKind::cubemap, {0, 0, 6}),
        trapped("SurfaceReadPastTheCubes", ArrayKind::cubemap_layered, {0, 0, 18}),
        {"SurfaceWritePastTheRow", kOutside, "texton::",
         [](D d) {
             const Surface surface(Array(d, drawable()));
             const SurfacePoint point{8, 0, 0};
             write(surface, std::span(&point, 1), Bytes(4));
         }},
        {"SurfaceWriteOfTooFewTexels", kBad, "texton::",
         [](D d) {
             const Surface surface(Array(d, drawable()));
             const SurfacePoint points[] = {{}, {1, 0, 0}};
             write(surface, points, Bytes(4));
         }},
        {"SurfaceWriteOfABrokenTexel", kBad, "texton::",
         [](D d) {
             const Surface surface(Array(d, drawable()));
             const SurfacePoint point;
             write(surface, std::span(&point, 1), Bytes(3));
         }},
    };
}

}  // namespace

std::vector<WrongUse> wrong_uses_of_textures() {
    std::vector<WrongUse> joined;
    for (auto& part : {samplers(), ranges(), memory(), fetches(), surfaces()}) {
        joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
}

}  // namespace texton::test
