#include <limits>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/surface.h>
#include <texton/tile_pool.h>

#include "tests/support/texels.h"
#include "tests/support/wrong_uses.h"

namespace texton::test {
namespace {

constexpr auto kBad = ErrorCode::bad_argument;
constexpr auto kOutside = ErrorCode::out_of_bounds;
constexpr auto kOverflow = ErrorCode::overflow;
constexpr auto kReleased = ErrorCode::released;
constexpr auto kImpossible = ErrorCode::unsupported;
constexpr auto kUnmapped = ErrorCode::not_mapped;
constexpr auto kRecording = ErrorCode::capturing;
constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMiB = std::size_t{1} << 20;

using D = const Device&;

// Two by two tiles of 128 x 128 texels; tiled_layers() has two such layers.
ArrayInfo tiled() { return {.format = Format::rgba8_unorm, .extent = {256, 256}}; }
ArrayInfo tiled_layers() {
    return {.format = Format::rgba8_unorm, .extent = {256, 256}, .kind = ArrayKind::layered_2d, .layers = 2};
}
ArrayInfo tiled_levels() { return {.format = Format::rgba8_unorm, .extent = {512, 512}, .levels = 10}; }
// Smaller than a tile, so the whole array is one mip tail, shared by all layers.
ArrayInfo small() { return {.format = Format::rgba8_unorm, .extent = {100, 100}}; }
ArrayInfo small_layers() {
    return {.format = Format::rgba8_unorm, .extent = {100, 100}, .kind = ArrayKind::layered_2d, .layers = 4};
}
ArrayInfo later(bool surface = false) {
    return {.format = Format::rgba8_unorm, .extent = {64, 64}, .usage = {.surface = surface}};
}

TilePool small_pool(D d) { return TilePool(d, {.chunk_bytes = 2 * kMiB}); }

std::vector<WrongUse> pools() {
    return {
        {"TilePoolOfNoChunks", kBad, "texton::TilePool", [](D d) { TilePool pool(d, {.chunk_bytes = 0}); }},
        {"TilePoolOfBrokenChunks", kBad, "texton::TilePool", [](D d) { TilePool pool(d, {.chunk_bytes = 3 * kMiB}); }},
        {"TilesOfNothing", kBad, "texton::TilePool", [](D d) { (void)small_pool(d).allocate(0); }},
        {"TilesOfNoBytes", kBad, "texton::TilePool", [](D d) { (void)small_pool(d).allocate_bytes(0); }},
        {"TilesPastTheBudget", ErrorCode::out_of_memory, "texton::TilePool",
         [](D d) {
             const TilePool pool(d, {.budget = 2 * kMiB, .chunk_bytes = 2 * kMiB});
             (void)pool.allocate(33);
         }},
        {"TilesBesideOthersPastTheBudget", ErrorCode::out_of_memory, "texton::TilePool",
         [](D d) {
             const TilePool pool(d, {.budget = 2 * kMiB, .chunk_bytes = 2 * kMiB});
             const Tiles maximum = pool.allocate(30);
             (void)pool.allocate(3);
         }},
        {"TilesOutOfMemory", ErrorCode::out_of_memory, "texton::TilePool",
         [](D d) { (void)TilePool(d).allocate(std::size_t{1} << 30); }, true},
        {"DeviceOfNoTiles", kReleased, "texton::Tiles", [](D) { (void)Tiles().device(); }},
    };
}

WrongUse sparse_making(std::string_view name, ErrorCode code, const ArrayInfo& info) {
    return {name, code, "texton::SparseArray", [=](D d) { SparseArray array(d, info); }};
}

// Calls map() for one box with the given number of tiles, which must fail with the code.
WrongUse sparse_mapping(std::string_view name, ErrorCode code, const ArrayInfo& info, const TileBox& box,
                        std::size_t tiles, std::size_t first_slot = 0) {
    return {name, code, "texton::SparseArray", [=](D d) {
                SparseArray array(d, info);
                const TileMapping mapping{box, small_pool(d).allocate(tiles), first_slot};
                array.map(std::span(&mapping, 1), Stream(d));
            }};
}

std::vector<WrongUse> sparse() {
    ArrayInfo drawn = tiled();
    drawn.usage.surface = true;
    ArrayInfo blocks = tiled();
    blocks.extent = {0, 256};
    return {
        sparse_making("SparseArray1D", kImpossible, {.extent = {256}, .kind = ArrayKind::array_1d}),
        sparse_making("SparseLayered1D", kImpossible, {.extent = {256}, .kind = ArrayKind::layered_1d, .layers = 2}),
        sparse_making("SparseCubemap", kImpossible, {.extent = {256, 256}, .kind = ArrayKind::cubemap}),
        sparse_making("SparseCubemapLayered", kImpossible,
                      {.extent = {256, 256}, .kind = ArrayKind::cubemap_layered, .layers = 2}),
        sparse_making("SparseArrayWithSurfaces", kImpossible, drawn),
        sparse_making("SparseArrayOfNoWidth", kBad, blocks),
        sparse_making("SparseArrayOfPlanes", kImpossible, {.format = Format::nv12, .extent = {256, 256}}),
        {"SparseArrayTooWide", kOverflow, "texton::SparseArray",
         [](D d) {
             SparseArray array(d, {.extent = {d.limits().texture_2d[0] + 1, 16}});
         }},
        {"SparsePropertiesOfACubemap", kImpossible, "texton::",
         [](D d) {
             (void)sparse_properties(d, {.extent = {256, 256}, .kind = ArrayKind::cubemap});
         }},
        {"PropertiesOfNoSparseArray", kReleased, "texton::SparseArray", [](D) { (void)SparseArray().properties(); }},
        {"TilesOfALevelThatIsNotThere", kOutside, "texton::SparseArray",
         [](D d) { (void)SparseArray(d, tiled()).tiles(1); }},
        {"TilesOfALevelBelowNone", kOutside, "texton::SparseArray",
         [](D d) { (void)SparseArray(d, tiled()).tiles(-1); }},
        {"TilesOfALevelOfTheTail", kOutside, "texton::SparseArray",
         [](D d) {
             const SparseArray array(d, tiled_levels());
             (void)array.tiles(array.properties().first_tail_level);
         }},
        sparse_mapping("TileThatIsNotThere", kOutside, tiled(), {.offset = {2, 0, 0}}, 1),
        sparse_mapping("TilesPastTheEdge", kOutside, tiled(), {.offset = {0, 1, 0}, .extent = {1, 2, 1}}, 2),
        sparse_mapping("TileBehindAPlane", kOutside, tiled(), {.offset = {0, 0, 1}}, 1),
        sparse_mapping("TileOfALevelThatIsNotThere", kOutside, tiled(), {.level = 1}, 1),
        sparse_mapping("TileOfALevelBelowNone", kOutside, tiled(), {.level = -1}, 1),
        sparse_mapping("TileOfALayerThatIsNotThere", kOutside, tiled_layers(), {.layer = 2}, 1),
        sparse_mapping("TilesThatWrapAround", kOutside, tiled(), {.offset = {1, 0, 0}, .extent = {kMax, 1, 1}}, 1),
        sparse_mapping("BoxOfNoTiles", kOutside, tiled(), {.extent = {0, 1, 1}}, 1),
        sparse_mapping("TooFewTilesForABox", kOutside, tiled(), {.extent = {2, 2, 1}}, 3),
        sparse_mapping("SlotsPastTheRun", kOutside, tiled(), {.extent = {2, 1, 1}}, 2, 1),
        sparse_mapping("SlotsThatWrapAround", kOutside, tiled(), {.extent = {2, 1, 1}}, 2, kMax),
        sparse_mapping("TailThatIsNotThere", kOutside, tiled(), TileBox::mip_tail(), 1),
        sparse_mapping("TileOfALevelInTheTail", kOutside, small(), {}, 1),
        sparse_mapping("TailOfALayerOfASharedTail", kOutside, small_layers(), TileBox::mip_tail(1), 4),
        sparse_mapping("TailOfALayerThatIsNotThere", kOutside, tiled_levels(), TileBox::mip_tail(1), 16),
        {"MapOfNoTiles", kReleased, "texton::SparseArray",
         [](D d) { SparseArray(d, tiled()).map(TileBox{}, Tiles(), Stream(d)); }},
        {"MapOfNoSparseArray", kReleased, "texton::SparseArray",
         [](D d) { SparseArray().map(TileBox{}, small_pool(d).allocate(1), Stream(d)); }},
        {"MapOfASlotTwice", ErrorCode::overlap, "texton::SparseArray",
         [](D d) {
             SparseArray array(d, tiled());
             const Tiles tiles = small_pool(d).allocate(2);
             const TileMapping twice[] = {{{.extent = {2, 1, 1}}, tiles, 0}, {{.offset = {0, 1, 0}}, tiles, 1}};
             array.map(twice, Stream(d));
         }},
        {"MapOfASlotThatIsElsewhere", ErrorCode::overlap, "texton::SparseArray",
         [](D d) {
             const Stream stream(d);
             SparseArray array(d, tiled());
             const Tiles tiles = small_pool(d).allocate(1);
             array.map(TileBox{}, tiles, stream);
             array.map({.offset = {1, 1, 0}}, tiles, stream);
         }},
        {"MapOfATileTwice", ErrorCode::overlap, "texton::SparseArray",
         [](D d) {
             SparseArray array(d, tiled());
             const Tiles tiles = small_pool(d).allocate(2);
             const TileMapping twice[] = {{{}, tiles, 0}, {{}, tiles, 1}};
             array.map(twice, Stream(d));
         }},
        {"MapWhileRecording", kRecording, "texton::SparseArray",
         [](D d) {
             const Stream stream(d);
             SparseArray array(d, tiled());
             const Tiles tiles = small_pool(d).allocate(1);
             (void)Graph::capture(stream, [&] { array.map(TileBox{}, tiles, stream); });
         }},
        {"UnmapWhileRecording", kRecording, "texton::SparseArray",
         [](D d) {
             const Stream stream(d);
             SparseArray array(d, tiled());
             (void)Graph::capture(stream, [&] { array.unmap_all(stream); });
         }},
        {"UnmapPastTheEdge", kOutside, "texton::SparseArray",
         [](D d) {
             SparseArray(d, tiled()).unmap({.offset = {0, 2, 0}}, Stream(d));
         }},
        {"ResidencyOfATileThatIsNotThere", kOutside, "texton::SparseArray",
         [](D d) {
             (void)SparseArray(d, tiled()).resident({.offset = {2, 0, 0}});
         }},
        {"ResidencyOfALevelThatIsNotThere", kOutside, "texton::SparseArray",
         [](D d) { (void)SparseArray(d, tiled()).residency(1); }},
        {"ResidencyOfALayerThatIsNotThere", kOutside, "texton::SparseArray",
         [](D d) { (void)SparseArray(d, tiled_layers()).residency(0, 2); }},
    };
}

std::vector<WrongUse> deferred() {
    return {
        {"DeferredArrayOfNoWidth", kBad, "texton::DeferredArray",
         [](D d) {
             DeferredArray array(d, {.extent = {0, 64}});
         }},
        {"DeferredArrayOfPlanes", kImpossible, "texton::DeferredArray",
         [](D d) {
             DeferredArray array(d, {.format = Format::nv12, .extent = {64, 64}});
         }},
        {"DeferredArrayTooWide", kOverflow, "texton::DeferredArray",
         [](D d) {
             DeferredArray array(d, {.extent = {d.limits().texture_2d[0] + 1, 16}});
         }},
        {"RequirementsOfNoWidth", kBad, "texton::",
         [](D d) {
             (void)memory_requirements(d, {.extent = {0, 64}});
         }},
        {"RequirementsOfNoDeferredArray", kReleased, "texton::DeferredArray",
         [](D) { (void)DeferredArray().requirements(); }},
        {"MapOfNoDeferredArray", kReleased, "texton::DeferredArray",
         [](D d) { DeferredArray().map(small_pool(d).allocate(1), Stream(d)); }},
        {"MapOfTooFewTiles", kBad, "texton::DeferredArray",
         [](D d) {
             DeferredArray array(d, {.extent = {1024, 1024}});
             array.map(small_pool(d).allocate(2), Stream(d));
         }},
        {"MapOfNoTilesAtAll", kReleased, "texton::DeferredArray",
         [](D d) { DeferredArray(d, later()).map(Tiles(), Stream(d)); }},
        {"MoveOfWhatIsNotMapped", kUnmapped, "texton::DeferredArray",
         [](D d) {
             DeferredArray array(d, later());
             array.move(small_pool(d).allocate_bytes(array.requirements().bytes), Stream(d));
         }},
        {"DeferredMapWhileRecording", kRecording, "texton::DeferredArray",
         [](D d) {
             const Stream stream(d);
             DeferredArray array(d, later());
             const Tiles tiles = small_pool(d).allocate_bytes(array.requirements().bytes);
             (void)Graph::capture(stream, [&] { array.map(tiles, stream); });
         }},
        {"CopyIntoWhatIsNotMapped", kUnmapped, "texton::copy",
         [](D d) {
             const DeferredArray array(d, later());
             const Bytes texels(64 * 64 * 4);
             copy(array.array().view(),
                  host_view(static_cast<const void*>(texels.data()), Format::rgba8_unorm, {64, 64}));
         }},
        {"CopyFromWhatIsNotMapped", kUnmapped, "texton::copy",
         [](D d) {
             const DeferredArray array(d, later());
             const Linear memory(d, Format::rgba8_unorm, {64, 64});
             copy(memory.view(Format::rgba8_unorm, {64, 64}), array.array().view(), Stream(d));
         }},
        {"BatchFromWhatIsNotMapped", kUnmapped, "texton::",
         [](D d) {
             const DeferredArray array(d, later());
             const Linear memory(d, Format::rgba8_unorm, {64, 64});
             CopyBatch batch;
             batch.add(memory.view(Format::rgba8_unorm, {64, 64}), array.array().view());
             batch.run(Stream(d));
         }},
        {"CopyOfWhatIsMappedNoMore", kUnmapped, "texton::copy",
         [](D d) {
             const Stream stream(d);
             DeferredArray array(d, later());
             array.map(small_pool(d).allocate_bytes(array.requirements().bytes), stream);
             array.unmap(stream);
             const Linear memory(d, Format::rgba8_unorm, {64, 64});
             copy(memory.view(Format::rgba8_unorm, {64, 64}), array.array().view(), stream);
         }},
        {"FillOfWhatIsNotMapped", kUnmapped, "texton::fill",
         [](D d) { fill(DeferredArray(d, later()).array().view(), std::uint8_t{1}); }},
        {"SampleOfWhatIsNotMapped", kUnmapped, "texton::",
         [](D d) {
             const DeferredArray array(d, later());
             const FetchPoint point;
             (void)sample(Texture(array.array()), std::span(&point, 1));
         }},
        {"HandleOfATextureThatIsNotMapped", kUnmapped, "texton::Texture",
         [](D d) {
             const DeferredArray array(d, later());
             (void)Texture(array.array()).handle();
         }},
        {"SurfaceOfWhatIsNotMapped", kUnmapped, "texton::",
         [](D d) {
             const DeferredArray array(d, later(true));
             const SurfacePoint point;
             (void)read(Surface(array.array()), std::span(&point, 1));
         }},
        {"WriteToWhatIsNotMapped", kUnmapped, "texton::",
         [](D d) {
             const DeferredArray array(d, later(true));
             const SurfacePoint point;
             write(Surface(array.array()), std::span(&point, 1), Bytes(4));
         }},
        {"HandleOfASurfaceThatIsNotMapped", kUnmapped, "texton::Surface",
         [](D d) {
             const DeferredArray array(d, later(true));
             (void)Surface(array.array()).handle();
         }},
        {"RecordedCopyOfWhatIsNotMapped", kUnmapped, "texton::copy",
         [](D d) {
             const Stream stream(d);
             const DeferredArray array(d, later());
             const Linear memory(d, Format::rgba8_unorm, {64, 64});
             (void)Graph::capture(stream, [&] {
                 copy(memory.view(Format::rgba8_unorm, {64, 64}), array.array().view(), stream);
             });
         }},
        {"LaunchOfACopyThatIsMappedNoMore", kUnmapped, "texton::Graph",
         [](D d) {
             const Stream stream(d);
             DeferredArray array(d, later());
             array.map(small_pool(d).allocate_bytes(array.requirements().bytes), stream);
             const Linear memory(d, Format::rgba8_unorm, {64, 64});
             const Graph graph = Graph::capture(stream, [&] {
                 copy(memory.view(Format::rgba8_unorm, {64, 64}), array.array().view(), stream);
             });
             array.unmap(stream);
             graph.launch(stream);
         }},
    };
}

}  // namespace

std::vector<WrongUse> wrong_uses_of_mappings() {
    std::vector<WrongUse> joined;
    for (auto& part : {pools(), sparse(), deferred()}) joined.insert(joined.end(), part.begin(), part.end());
    return joined;
}

}  // namespace texton::test
