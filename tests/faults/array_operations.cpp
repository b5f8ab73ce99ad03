// Arrays, their mappings, textures, surfaces and sampling.
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/recording.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/streamed_texture.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "tests/faults/files.h"
#include "tests/faults/operations.h"
#include "tests/support/arrays.h"

namespace texton::test {
namespace {

constexpr FetchPoint kPoints[] = {{.x = 0.3f, .y = 0.6f, .z = 0.2f}, {.x = 0.7f, .y = 0.1f, .z = 0.9f, .lod = 1}};

std::span<const std::byte> bytes_of(const std::vector<Texel>& texels) { return std::as_bytes(std::span(texels)); }

Operation array_operation(ArrayKind kind) {
    const ArrayInfo info = small_info(kind, Format::rgba8_unorm);
    return {"Array_" + std::string(name(kind)), {"array"}, [info](const Device& device) {
                return Prepared{[device, info] {
                    const Array array(device, info);
                    const Stream stream(device);
                    for (int level = 0; level < info.levels; ++level) {
                        const View view = array.view({.level = level});
                        fill(view, std::uint32_t{0x11223344u + static_cast<std::uint32_t>(level)}, stream);
                    }
                    stream.synchronize();
                    const Texture texture(
                        array,
                        {.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true});
                    (void)texture.handle();
                    const Samples samples = sample(texture, kPoints, {.operation = FetchOperation::lod});
                    Bytes result = texels_of(array.view({.level = info.levels - 1}), stream);
                    append(result, bytes_of(samples.texels));
                    append(result, texels_of(array.view()));
                    return result;
                }};
            }};
}

Bytes query_arrays(const Device& device) {
    (void)memory_requirements(device, {.format = Format::rgba8_unorm, .extent = {64, 64}});
    (void)sparse_properties(device, {.format = Format::rgba8_unorm, .extent = {256, 256}});
    return {};
}

Prepared copy_arrays(const Device& device) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {40, 30}};
    const auto host = std::make_shared<Bytes>(pattern(40 * 30 * 4, 4));
    return {[device, info, host] {
        const Array first(device, info), second(device, info);
        const Stream stream(device);
        const Pitched2D memory(device, info.format, info.extent);
        copy(first.view(), host_view(static_cast<const void*>(host->data()), info.format, info.extent), stream);
        copy(second.view(), first.view(), stream);
        copy(memory.view(), second.view(), stream);
        CopyBatch batch;
        batch.add(first.view({.region = Region{{0, 0}, {20, 30}}}), memory.view().region({{20, 0}, {20, 30}}));
        batch.add(first.view({.region = Region{{20, 0}, {20, 30}}}), memory.view().region({{0, 0}, {20, 30}}));
        batch.run(stream);
        return texels_of(first.view(), stream);
    }};
}

Prepared copy_large_array(const Device& device) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {1500, 1500}};
    const auto host = std::make_shared<Bytes>(pattern(1500 * 1500 * 4, 5));
    const auto array = std::make_shared<Array>(device, info);
    return {[device, info, host, array] {
        const Stream stream(device);
        copy(array->view(), host_view(static_cast<const void*>(host->data()), info.format, info.extent), stream);
        return texels_of(array->view(), stream);
    }};
}

Bytes use_textures(const Device& device) {
    const Pitched2D pitched(device, Format::rgba8_unorm, {64, 8});
    const Linear linear(device, 256);
    fill(pitched.view(), std::uint8_t{9});
    fill(linear.view(), std::uint8_t{4});
    const Texture of_pitched(pitched.view(), {.filter = Filter::linear});
    const Texture of_linear(linear.view(Format::rgba8_unorm, {64}));
    const FetchPoint texel{.layer = 5};
    const Point2 position{3.5f, 2.25f};
    const Samples samples = sample(of_linear, {&texel, 1}, {.operation = FetchOperation::texel});
    const auto floats = sample(of_pitched, {&position, 1});
    Bytes result;
    append(result, bytes_of(samples.texels));
    append(result, std::as_bytes(std::span(floats)));
    return result;
}

Bytes sample_image(const Device& device) {
    const Array array(device, {.format = Format::rgba8_unorm, .extent = {64, 64}});
    fill(array.view(), std::uint32_t{0x01020304});
    const Texture texture(array, {.filter = Filter::linear});
    const Linear memory(device, Format::rgba16_float, {100, 70});
    const View image = memory.view(Format::rgba16_float, {100, 70});
    const Stream stream(device);
    sample(texture, {.xx = 0.5f, .xy = 0.1f, .yy = 0.6f}, image);
    sample(texture, {.xx = 0.7f}, image.region({{10, 10}, {50, 50}}), stream);
    return texels_of(image, stream);
}

Bytes use_surface(const Device& device) {
    const Array array(device, {.format = Format::rgba8_uint, .extent = {32, 16}, .usage = {.surface = true}});
    fill(array.view(), std::uint32_t{5});
    const Surface surface(array);
    (void)surface.handle();
    const SurfacePoint points[] = {{1, 2}, {30, 15}};
    const std::byte texels[8] = {std::byte{1}, std::byte{2}};
    write(surface, points, texels);
    Bytes result;
    append(result, read(surface, points));
    append(result, texels_of(array.view()));
    return result;
}

constexpr std::size_t kChunk = std::size_t{2} << 20;

Bytes use_sparse_array(const Device& device) {
    SparseArray array(device, {.format = Format::r8_uint, .extent = {512, 512}});
    const TilePool pool(device, {.chunk_bytes = kChunk});
    const Stream stream(device);
    const TileBox left{.extent = {1, 2, 1}};
    const TileBox right{.offset = {1, 0, 0}};
    const Tiles tiles = pool.allocate(2);
    const TileMapping mappings[] = {{left, tiles}, {right, pool.allocate(1)}};
    array.map(mappings, stream);
    fill(array.array().view({.region = Region{{}, {512, 256}}}), std::uint8_t{7}, stream);
    array.used_on(stream);
    array.unmap(right, stream);
    (void)array.resident(left);
    (void)array.residency(0);
    (void)pool.usage();
    const FetchPoint points[] = {{.x = 3.5f, .y = 4.5f}, {.x = 300.5f, .y = 4.5f}};
    stream.synchronize();
    const Samples samples = sample(Texture(array.array()), points, {.residency = true});
    Bytes result;
    append(result, bytes_of(samples.texels));
    append(result, std::as_bytes(std::span(samples.resident)));
    array.unmap_all(stream);
    stream.synchronize();
    pool.trim();
    return result;
}

Bytes use_streamed_texture(const Device& device) {
    ArrayInfo info{.format = Format::r8_uint, .extent = {700, 300}};
    info.levels = full_levels(info);
    const auto read = [](const PyramidBox& box, std::span<std::byte> texels, const std::stop_token&) {
        std::ranges::fill(texels, static_cast<std::byte>(box.level + 1));
    };
    StreamedTexture texture(device, {info, read}, {.sampler = {.normalized_coordinates = true}, .threads = 1});
    const Stream stream(device);
    const StreamedView views[] = {{.region = Region{{}, {200, 200}}}};
    const FetchPoint points[] = {{.x = 0.1f, .y = 0.1f}, {.x = 0.9f, .y = 0.9f}, {.x = 0.9f, .y = 0.9f, .lod = 3}};
    texture.request(views);
    (void)texture.feedback();
    settle(texture, stream);
    Bytes result;
    const auto add = [&](const StreamedSamples& samples) {
        append(result, bytes_of(samples.texels));
        append(result, std::as_bytes(std::span(samples.clamps)));
    };
    add(texture.sample(points));
    settle(texture, stream);
    add(texture.sample(points));
    texture.invalidate();
    texture.set_budget(texture.minimum_budget() + kTileBytes);
    settle(texture, stream, 2);
    (void)texture.failures();
    (void)texture.statistics();
    texture.abort();
    stream.synchronize();
    return result;
}

Bytes use_deferred_array(const Device& device) {
    DeferredArray array(device, {.format = Format::rgba8_unorm, .extent = {64, 32}, .usage = {.surface = true}});
    const TilePool pool(device, {.chunk_bytes = kChunk});
    const Stream stream(device);
    const std::size_t bytes = array.requirements().bytes;
    array.map(pool.allocate_bytes(bytes), stream);
    fill(array.array().view(), std::uint32_t{0x01020304}, stream);
    array.move(pool.allocate_bytes(bytes), stream);
    array.used_on(stream);
    const Graph graph = captured(stream, [&] {
        fill(array.array().view({.region = Region{{}, {8, 8}}}), std::uint32_t{9}, stream);
    });
    graph.launch(stream);
    Bytes result = texels_of(array.array().view(), stream);
    array.unmap(stream);
    stream.synchronize();
    return result;
}

/// Calls the function in a new thread, whose start cannot fail.
template <class Function>
void in_new_thread(const Function& function) {
    std::exception_ptr failure;
    const auto run = [&] {
        try {
            function();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    std::thread thread = [&] {
        const Aside own;
        return std::thread(run);
    }();
    thread.join();
    if (failure) std::rethrow_exception(failure);
}

/// Records a copy, and goes on if it fails. Returns 1 if a graph with the copy keeps the array.
Bytes record_copy_that_may_fail(const Device& device) {
    std::optional<Aside> own(std::in_place);  // only calls of the recording fail
    const TilePool pool(device, {.chunk_bytes = kChunk});
    const Stream stream(device);
    std::optional<DeferredArray> array(
        std::in_place, device, ArrayInfo{.format = Format::r8_uint, .extent = {64, 32}, .usage = {.surface = true}});
    const Tiles tiles = pool.allocate_bytes(array->requirements().bytes);
    array->map(tiles, stream);
    stream.synchronize();
    const Linear memory(device, 64 * 32);
    const View packed = memory.view(Format::r8_uint, {64, 32});
    own.reset();
    std::optional<Graph> graph;
    in_new_thread([&] {  // what a thread keeps for its recordings is empty in a new one
        graph.emplace(captured(stream, [&] {
            try {
                copy(packed, array->array().view(), stream);
            } catch (const Error&) {
                // The graph may have no copy.
            }
        }));
    });
    array.reset();
    const bool kept = tiles.mapped() != 0;
    Bytes result = own_bytes(1);
    result[0] = std::byte{kept || graph->size() == 0};
    return result;
}

Bytes use_planar_array(const Device& device) {
    const PlanarArray first(device, Format::nv12, {32, 16});
    const PlanarArray second(device, Format::nv12, {32, 16});
    const Stream stream(device);
    fill(first.frame().luma, std::uint8_t{1});
    fill(first.frame().chroma, std::uint8_t{2});
    copy(second.frame(), first.frame(), stream);
    Bytes result = texels_of(second.frame().luma, stream);
    append(result, texels_of(second.plane(1).view(), stream));
    return result;
}

Prepared replay_recording(const Device& device) {
    const auto recording =
        std::make_shared<Recording>(random_recording(3, {.kind = ArrayKind::array_2d, .points = 20}));
    return {[=] {
        (void)random_recording(4, {.points = 8});
        const std::vector<Texel> of_model = replay(*recording);
        const std::vector<Texel> of_device = replay(*recording, device);
        Bytes result;
        append(result, bytes_of(of_model));
        append(result, bytes_of(of_device));
        return result;
    }};
}

Prepared store_recording(const Device&) {
    const auto files = std::make_shared<Files>();
    const std::filesystem::path path = files->at("a.cap");
    const auto recording =
        std::make_shared<Recording>(random_recording(3, {.kind = ArrayKind::array_2d, .points = 20}));
    recording->results = replay(*recording);
    write_recording(path, *recording);
    const Bytes contents = contents_of(path);
    return {[=] {
                write_recording(path, *recording);
                const Recording read = read_recording(path);
                Bytes result;
                append(result, bytes_of(read.results));
                return result;
            },
            [=] {
                files->expect({{"a.cap", {contents}}});
            }};
}

}  // namespace

std::vector<Operation> array_operations() {
    std::vector<Operation> all;
    for (const ArrayKind kind : all_kinds()) all.push_back(array_operation(kind));
    all.insert(all.end(), {
                              {"ArrayQueries", {"array"}, with_device(query_arrays)},
                              {"CopyOfArrays", {"array"}, copy_arrays},
                              {"CopyOfALargeArray", {"array"}, copy_large_array},
                              {"TexturesOfMemory", {"texture", "sample"}, with_device(use_textures)},
                              {"SampleImage", {"sample"}, with_device(sample_image)},
                              {"Surface", {"surface"}, with_device(use_surface)},
                              {"PlanarArray", {"planar_array"}, with_device(use_planar_array)},
                              {"ReplayOfRecording", {"recording"}, replay_recording},
                              // nlohmann::json allocates memory in its destructor
                              {"RecordingFile", {"recording"}, store_recording, true, false, true},
                          });
    return all;
}

std::vector<Operation> mapping_operations() {
    return {
        {"SparseArray", {"sparse_array", "tile_pool"}, with_device(use_sparse_array)},
        {"StreamedTexture", {"streamed_texture", "streamed_feedback"}, with_device(use_streamed_texture)},
        {"DeferredArray", {"deferred_array", "tile_pool"}, with_device(use_deferred_array)},
        {"RecordedCopyThatMayFail", {"deferred_array", "graph"}, with_device(record_copy_that_may_fail)},
    };
}

}  // namespace texton::test
