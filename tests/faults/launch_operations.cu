// launch() with functors of the program.
#include <algorithm>
#include <chrono>
#include <memory>

#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/streamed_source.h>
#include <texton/streamed_texture.h>

#include "tests/faults/operations.h"

namespace texton::test {
namespace {

struct Double {
    static constexpr bool kPointwise = true;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.at_texel(at.center_x(), at.center_y()) * 2.0f;
    }
};

struct Shift {
    float by;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.at_texel(at.center_x() + by, at.center_y());
    }
};

struct Recorded : Shift {
    static constexpr bool kMayBeCalledWithZeros = true;
};

struct Gradient {
    TEXTON_HD Float4 operator()(PixelPosition at) const { return Float4{at.center_x() / 64, at.center_y() / 64, 0, 1}; }
};

Bytes launch_functors(const Device& device) {
    const Array array(device, {.format = Format::rgba8_unorm, .extent = {64, 32}});
    fill(array.view(), std::uint32_t{0x10203040});
    const Texture texture(array, {.filter = Filter::linear});
    const Linear memory(device, Format::rgba8_unorm, {64, 128});
    const View all = memory.view(Format::rgba8_unorm, {64, 128});
    const auto part = [&](std::size_t index) { return all.region({{0, 32 * index}, {64, 32}}); };
    const Stream stream(device);
    launch(stream, part(0), Double{}, texture);
    launch(stream, part(1), Shift{0.25f}, texture);
    launch(stream, part(2), Recorded{{0.25f}}, texture);
    launch(stream, part(3), Gradient{});
    return texels_of(all, stream);
}

Bytes launch_batch(const Device& device) {
    const Array array(device, {.format = Format::rgba8_unorm, .extent = {64, 32}});
    fill(array.view(), std::uint32_t{0x10203040});
    const Texture texture(array);
    const Linear memory(device, Format::rgba8_unorm, {64, 64});
    const View all = memory.view(Format::rgba8_unorm, {64, 64});
    const Stream stream(device);
    std::vector<LaunchJob<Shift, 1>> jobs;
    {
        const Aside own;
        jobs.push_back({all.region({{}, {64, 32}}), Shift{1}, {texture}});
        jobs.push_back({all.region({{0, 32}, {64, 32}}), Shift{2}, {texture}});
    }
    launch(stream, jobs);
    return texels_of(all, stream);
}

struct FetchStreamed {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.fetch_or_request(at.center_x() / 64, at.center_y() / 32, 0).value;
    }
};

Bytes launch_streamed(const Device& device) {
    ArrayInfo info{.format = Format::rgba8_unorm, .extent = {256, 128}};
    info.levels = full_levels(info);
    const auto read = [](const PyramidBox& box, std::span<std::byte> texels, const std::stop_token&) {
        std::ranges::fill(texels, static_cast<std::byte>(box.level + 1));
    };
    StreamedTexture texture(device, {info, read}, {.sampler = {.normalized_coordinates = true}, .threads = 1});
    const Linear memory(device, Format::rgba8_unorm, {64, 32});
    const View image = memory.view(Format::rgba8_unorm, {64, 32});
    const Stream stream(device);
    for (int i = 0; i < 3; ++i) {
        launch(stream, image, FetchStreamed{}, texture);
        settle(texture, stream);
    }
    return texels_of(image, stream);
}

}  // namespace

std::vector<Operation> launch_operations() {
    return {
        {"Launch", {"launch", "source", "pixel"}, with_device(launch_functors)},
        {"LaunchBatch", {"launch"}, with_device(launch_batch)},
        {"LaunchStreamed", {"streamed_source", "launch"}, with_device(launch_streamed)},
    };
}

}  // namespace texton::test
