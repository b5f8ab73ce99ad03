#include <limits>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/planar_array.h>
#include <texton/texture.h>

#include "tests/support/texels.h"
#include "tests/support/wrong_uses.h"

namespace texton::test {
namespace {

constexpr auto kBad = ErrorCode::bad_argument;
constexpr auto kOutside = ErrorCode::out_of_bounds;
constexpr auto kOverflow = ErrorCode::overflow;
constexpr auto kReleased = ErrorCode::released;
constexpr auto kImpossible = ErrorCode::unsupported;
constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

using D = const Device&;

// Valid descriptions of arrays of each kind. The tests make one field invalid.
ArrayInfo flat() { return {.format = Format::r8_uint, .extent = {8}, .kind = ArrayKind::array_1d}; }
ArrayInfo square() { return {.format = Format::r8_uint, .extent = {8, 8}}; }
ArrayInfo volume() { return {.format = Format::r8_uint, .extent = {8, 8, 8}, .kind = ArrayKind::array_3d}; }
ArrayInfo rows() { return {.format = Format::r8_uint, .extent = {8}, .kind = ArrayKind::layered_1d, .layers = 3}; }
ArrayInfo pages() { return {.format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 3}; }
ArrayInfo cube() { return {.format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::cubemap}; }
ArrayInfo cubes() {
    return {.format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::cubemap_layered, .layers = 2};
}

ArrayInfo with_extent(ArrayInfo info, Extent extent) {
    info.extent = extent;
    return info;
}
ArrayInfo with_layers(ArrayInfo info, std::size_t layers) {
    info.layers = layers;
    return info;
}
ArrayInfo with_levels(ArrayInfo info, int levels) {
    info.levels = levels;
    return info;
}
ArrayInfo with_format(ArrayInfo info, Format format) {
    info.format = format;
    return info;
}
ArrayInfo with_usage(ArrayInfo info, ArrayUsage usage) {
    info.usage = usage;
    return info;
}

// Creates an array, which must fail with the code. The limits of the device may determine the description.
WrongUse making(std::string_view name, ErrorCode code, std::function<ArrayInfo(const DeviceLimits&)> info) {
    return {name, code, "texton::Array", [info](D d) { Array array(d, info(d.limits())); }};
}
WrongUse making(std::string_view name, ErrorCode code, const ArrayInfo& info) {
    return making(name, code, [info](const DeviceLimits&) { return info; });
}

std::vector<WrongUse> shapes() {
    return {
        making("Array1DOfNoWidth", kBad, with_extent(flat(), {0})),
        making("Array1DWithHeight", kBad, with_extent(flat(), {8, 2})),
        making("Array1DOfNoHeight", kBad, with_extent(flat(), {8, 0})),
        making("Array2DOfNoWidth", kBad, with_extent(square(), {0, 8})),
        making("Array2DWithDepth", kBad, with_extent(square(), {8, 8, 2})),
        making("Array3DOfNoDepth", kBad, with_extent(volume(), {8, 8, 0})),
        making("Array3DOfNoHeight", kBad, with_extent(volume(), {8, 0, 8})),
        making("Layered1DWithHeight", kBad, with_extent(rows(), {8, 3})),
        making("Layered2DWithDepth", kBad, with_extent(pages(), {8, 8, 3})),
        making("CubemapThatIsNoSquare", kBad, with_extent(cube(), {8, 9})),
        making("CubemapWithDepth", kBad, with_extent(cube(), {8, 8, 6})),
        making("CubemapLayeredThatIsNoSquare", kBad, with_extent(cubes(), {9, 8})),
        making("ArrayOfNoLayers", kBad, with_layers(pages(), 0)),
        making("CubemapLayeredOfNoCubes", kBad, with_layers(cubes(), 0)),
        making("LayersOfAPlainArray", kBad, with_layers(square(), 2)),
        making("LayersOfAVolume", kBad, with_layers(volume(), 2)),
        making("LayersOfACubemap", kBad, with_layers(cube(), 6)),
        making("NoLayersOfAPlainArray", kBad, with_layers(square(), 0)),
        making("ArrayOfNoLevels", kBad, with_levels(square(), 0)),
        making("ArrayOfFewerLevelsThanNone", kBad, with_levels(square(), -1)),
        making("OneLevelTooMany2D", kBad, with_levels(square(), 5)),
        making("OneLevelTooMany1D", kBad, with_levels(flat(), 5)),
        making("OneLevelTooMany3D", kBad, with_levels(volume(), 5)),
        making("OneLevelTooManyForItsLayers", kBad, with_levels(with_layers(pages(), 64), 5)),
        making("OneLevelTooManyForACube", kBad, with_levels(cube(), 5)),
        making("OneLevelTooManyOfBlocks", kBad, with_levels(with_format(square(), Format::bc1_unorm), 5)),
        making("ArrayOfPlanes", kImpossible, with_format(square(), Format::nv12)),
        making("VolumeOfPlanes", kImpossible, with_format(volume(), Format::p010)),
        making("Blocks1D", kImpossible, with_format(flat(), Format::bc1_unorm)),
        making("Blocks1DLayered", kImpossible, with_format(rows(), Format::bc7_srgb)),
        making("SurfacesOfBlocks", kImpossible,
               with_usage(with_format(square(), Format::bc3_unorm), {.surface = true})),
        making("GatherOfALine", kImpossible, with_usage(flat(), {.gather = true})),
        making("GatherOfAVolume", kImpossible, with_usage(volume(), {.gather = true})),
        making("GatherOfLayers", kImpossible, with_usage(pages(), {.gather = true})),
        making("GatherOfACubemap", kImpossible, with_usage(cube(), {.gather = true})),
        making("GatherOfCubes", kImpossible, with_usage(cubes(), {.gather = true})),
    };
}

std::vector<WrongUse> limits() {
    using L = const DeviceLimits&;
    return {
        making("Array1DTooWide", kOverflow, [](L l) { return with_extent(flat(), {l.texture_1d + 1}); }),
        making("Array2DTooWide", kOverflow,
               [](L l) {
                   return with_extent(square(), {l.texture_2d[0] + 1, 1});
               }),
        making("Array2DTooHigh", kOverflow,
               [](L l) {
                   return with_extent(square(), {1, l.texture_2d[1] + 1});
               }),
        making("Array3DTooWide", kOverflow,
               [](L l) {
                   return with_extent(volume(), {l.texture_3d[0] + 1, 1, 1});
               }),
        making("Array3DTooHigh", kOverflow,
               [](L l) {
                   return with_extent(volume(), {1, l.texture_3d[1] + 1, 1});
               }),
        making("Array3DTooDeep", kOverflow,
               [](L l) {
                   return with_extent(volume(), {1, 1, l.texture_3d[2] + 1});
               }),
        making("Layered1DTooWide", kOverflow, [](L l) { return with_extent(rows(), {l.texture_1d_layered[0] + 1}); }),
        making("Layered1DOfTooManyLayers", kOverflow,
               [](L l) { return with_layers(rows(), l.texture_1d_layered[1] + 1); }),
        making("Layered2DTooWide", kOverflow,
               [](L l) {
                   return with_extent(pages(), {l.texture_2d_layered[0] + 1, 1});
               }),
        making("Layered2DTooHigh", kOverflow,
               [](L l) {
                   return with_extent(pages(), {1, l.texture_2d_layered[1] + 1});
               }),
        making("Layered2DOfTooManyLayers", kOverflow,
               [](L l) { return with_layers(pages(), l.texture_2d_layered[2] + 1); }),
        making("CubemapTooLarge", kOverflow,
               [](L l) {
                   return with_extent(cube(), {l.cubemap + 1, l.cubemap + 1});
               }),
        making("CubemapLayeredTooLarge", kOverflow,
               [](L l) {
                   return with_extent(cubes(), {l.cubemap_layered[0] + 1, l.cubemap_layered[0] + 1});
               }),
        making("CubemapLayeredOfTooManyCubes", kOverflow,
               [](L l) { return with_layers(cubes(), l.cubemap_layered[1] / 6 + 1); }),
        making("CubemapLayeredOfCountlessCubes", kOverflow, [](L) { return with_layers(cubes(), kMax / 3); }),
        making("MipmapsTooWide", kOverflow,
               [](L l) {
                   return with_levels(with_extent(square(), {l.mipmap_2d[0] + 1, 1}), 2);
               }),
        making("MipmapsTooHigh", kOverflow,
               [](L l) {
                   return with_levels(with_extent(square(), {1, l.mipmap_2d[1] + 1}), 2);
               }),
        making("Mipmaps1DTooWide", kOverflow,
               [](L l) { return with_levels(with_extent(flat(), {l.mipmap_1d + 1}), 2); }),
        making("GatherTooWide", kOverflow,
               [](L l) {
                   return with_usage(with_extent(square(), {l.gather[0] + 1, 1}), {.gather = true});
               }),
        making("GatherTooHigh", kOverflow,
               [](L l) {
                   return with_usage(with_extent(square(), {1, l.gather[1] + 1}), {.gather = true});
               }),
        making("Surface1DTooWide", kOverflow,
               [](L) { return with_usage(with_extent(flat(), {32769}), {.surface = true}); }),
        making("ArrayOfCountlessTexels", kOverflow, with_extent(volume(), {kMax, kMax, kMax})),
        {"ArrayOutOfMemory", ErrorCode::out_of_memory, "texton::Array",
         [](D d) {
             Array array(d, {.format = Format::rgba32_float,
                             .extent = {d.limits().texture_3d[0], d.limits().texture_3d[1], d.limits().texture_3d[2]},
                             .kind = ArrayKind::array_3d});
         },
         true},
        {"PackedBytesOverflow", kOverflow, "texton::",
         [](D) {
             (void)packed_bytes(with_extent(volume(), {kMax, 2, 2}));
         }},
    };
}

std::vector<WrongUse> parts() {
    const auto part = [](std::string_view name, ErrorCode code, ArrayInfo info, Subresource part) {
        return WrongUse{name, code, "texton::Array", [=](D d) { (void)Array(d, info).view(part); }};
    };
    const ArrayInfo mips = with_levels(pages(), 4);
    return {
        part("LevelThatIsNotThere", kOutside, mips, {.level = 4}),
        part("LevelBelowNone", kOutside, mips, {.level = -1}),
        part("LayerThatIsNotThere", kOutside, mips, {.layer = 3}),
        part("CubeThatIsNotThere", kOutside, cubes(), {.layer = 2}),
        part("FaceThatIsNotThere", kOutside, cube(), {.face = 6}),
        part("FaceBelowNone", kOutside, cube(), {.face = -1}),
        part("LayerOfAPlainArray", kBad, square(), {.layer = 0}),
        part("LayerOfAVolume", kBad, volume(), {.layer = 0}),
        part("LayerOfACubemap", kBad, cube(), {.layer = 0}),
        part("FaceOfAPlainArray", kBad, square(), {.face = 0}),
        part("FaceOfLayers", kBad, pages(), {.layer = 0, .face = 0}),
        part("FaceOfNoCube", kBad, cubes(), {.face = 0}),
        part("RegionPastTheLevel", kOutside, mips, {.level = 1, .region = Region{{0, 0, 0}, {5, 4, 1}}}),
        part("RegionPastTheLayers", kOutside, mips, {.region = Region{{0, 0, 2}, {8, 8, 2}}}),
        part("RegionPastTheLayer", kOutside, mips, {.layer = 0, .region = Region{{0, 0, 1}, {8, 8, 1}}}),
        part("RegionOfNothing", kOutside, square(), {.region = Region{{0, 0, 0}, {0, 1, 1}}}),
        part("RegionThatWrapsAround", kOutside, square(), {.region = Region{{kMax, 0, 0}, {2, 1, 1}}}),
        part("RegionOfAnArrayThroughBlocks", kBad, with_format(square(), Format::bc1_unorm),
             {.region = Region{{2, 0, 0}, {4, 4, 1}}}),
        part("RegionOfAnArrayThatBreaksABlock", kBad, with_format(square(), Format::bc1_unorm),
             {.region = Region{{0, 0, 0}, {4, 3, 1}}}),
        {"ViewOfNoArray", kReleased, "texton::Array", [](D) { (void)Array().view(); }},
        {"DeviceOfNoArray", kReleased, "texton::Array", [](D) { (void)Array().device(); }},
    };
}

std::vector<WrongUse> copies_and_fills() {
    return {
        {"CopyWithinALevelOntoItself", ErrorCode::overlap, "texton::copy",
         [](D d) {
             const Array array(d, square());
             copy(array.view({.region = Region{{1, 0}, {4, 4}}}), array.view({.region = Region{{0, 1}, {4, 4}}}));
         }},
        {"CopyOfALayerOntoItself", ErrorCode::overlap, "texton::copy",
         [](D d) {
             const Array array(d, pages());
             copy(array.view({.layer = 1}), array.view().region({{0, 0, 1}, {8, 8, 1}}));
         }},
        {"BatchOfACubeOntoItself", ErrorCode::overlap, "texton::",
         [](D d) {
             const Array array(d, cube());
             CopyBatch().add(array.view({.face = 2}), array.view({.face = 2}));
         }},
        {"CopyOfAnotherLevelsExtent", kBad, "texton::copy",
         [](D d) {
             const Array array(d, with_levels(square(), 2));
             copy(array.view({.level = 1}), array.view());
         }},
        {"CopyOfLayersIntoOne", kBad, "texton::copy",
         [](D d) {
             const Array array(d, pages());
             copy(Array(d, square()).view(), array.view());
         }},
        {"CopyOfWiderTexelsIntoAnArray", kBad, "texton::copy",
         [](D d) { copy(Array(d, square()).view(), Array(d, with_format(square(), Format::r16_uint)).view()); }},
        {"CopyOfLargerBlocksIntoAnArray", kBad, "texton::copy",
         [](D d) {
             copy(Array(d, with_format(square(), Format::bc1_unorm)).view(),
                  Array(d, with_format(square(), Format::bc7_unorm)).view());
         }},
        {"CopyOfWordsIntoBlocks", kBad, "texton::copy",
         [](D d) {
             copy(Array(d, with_format(square(), Format::bc1_unorm)).view(),
                  Array(d, with_format(square(), Format::rg32_uint)).view());
         }},
        {"FillWithAPatternLongerThanATexel", kBad, "texton::fill",
         [](D d) { fill(Array(d, square()).view(), std::uint16_t{1}); }},
        {"FillWithATexelTooLong", kBad, "texton::fill",
         [](D d) { fill(Array(d, with_format(square(), Format::rg16_uint)).view(), Bytes(8)); }},
        {"FillWithThreeBytes", kBad, "texton::fill", [](D d) { fill(Array(d, square()).view(), Bytes(3)); }},
        {"FillWithNoBytes", kBad, "texton::fill", [](D d) { fill(Array(d, square()).view(), Bytes()); }},
        {"FillWithThirtyTwoBytes", kBad, "texton::fill", [](D d) { fill(Linear(d, 64).view(), Bytes(32)); }},
        {"FillOfARowWithBrokenTexels", kBad, "texton::fill", [](D d) { fill(Linear(d, 60).view(), Bytes(16)); }},
    };
}

std::vector<WrongUse> planar() {
    return {
        {"PlanarArrayOfAPlainFormat", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::rgba8_unorm, {8, 8});
         }},
        {"PlanarArrayOfOddWidth", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv12, {7, 8});
         }},
        {"PlanarArrayOfOddHeight", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::p016, {8, 7});
         }},
        {"PlanarArrayOfOddWidth422", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv16, {7, 8});
         }},
        {"PlanarArrayOfOddHeight422", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv16, {8, 7});
         }},
        {"PlanarArrayOfNoWidth", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv12, {0, 8});
         }},
        {"PlanarArrayOfNoHeight", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv16, {8, 0});
         }},
        {"PlanarArrayWithDepth", kBad, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv12, {8, 8, 2});
         }},
        {"PlanarArrayTooWide", kOverflow, "texton::PlanarArray",
         [](D d) {
             PlanarArray array(d, Format::nv12, {d.limits().texture_2d[0] + 2, 2});
         }},
        {"PlaneThatIsNotThere", kOutside, "texton::PlanarArray",
         [](D d) {
             (void)PlanarArray(d, Format::nv12, {8, 8}).plane(2);
         }},
        {"PlaneBelowNone", kOutside, "texton::PlanarArray",
         [](D d) {
             (void)PlanarArray(d, Format::nv12, {8, 8}).plane(-1);
         }},
        {"BorderOfAPlaneOfNv12", kImpossible, "texton::Texture",
         [](D d) {
             const PlanarArray array(d, Format::nv12, {8, 8});
             using enum AddressMode;
             Texture made(array.plane(0), {.address = {border, clamp, clamp}});
         }},
        {"PlaneOfNothing", kReleased, "texton::PlanarArray", [](D) { (void)PlanarArray().plane(0); }},
        {"FrameOfNothing", kReleased, "texton::PlanarArray", [](D) { (void)PlanarArray().frame(); }},
        {"HostFrameOfNull", kBad, "texton::host_frame",
         [](D) {
             (void)host_frame(nullptr, Format::nv12, {8, 8});
         }},
        {"HostFrameOfAPlainFormat", kBad, "texton::host_frame",
         [](D) {
             (void)host_frame(Bytes(256).data(), Format::r8_unorm, {8, 8});
         }},
        {"HostFrameOfOddWidth", kBad, "texton::host_frame",
         [](D) {
             (void)host_frame(Bytes(256).data(), Format::nv12, {7, 8});
         }},
        {"HostFramePitchTooSmall", kBad, "texton::host_frame",
         [](D) {
             (void)host_frame(Bytes(256).data(), Format::p010, {8, 8}, 15);
         }},
        {"CopyOfAnotherFramesExtent", kBad, "texton::copy",
         [](D d) {
             Bytes host(256);
             copy(PlanarArray(d, Format::nv12, {8, 8}).frame(), host_frame(host.data(), Format::nv12, {8, 6}));
         }},
        {"CopyOfANarrowerFrame", kBad, "texton::copy",
         [](D d) {
             Bytes host(256);
             copy(host_frame(host.data(), Format::p010, {8, 8}), PlanarArray(d, Format::nv12, {8, 8}).frame());
         }},
    };
}

}  // namespace

std::vector<WrongUse> wrong_uses_of_arrays() {
    std::vector<WrongUse> joined;
    for (auto& part : {shapes(), limits(), parts(), copies_and_fills(), planar()}) {
        joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
}

}  // namespace texton::test
