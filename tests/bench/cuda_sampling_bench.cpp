// Compares sample(), which writes an image of fetches, with a device-to-device copy that moves as many bytes.
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/sample.h>
#include <texton/stream.h>

#include "tests/bench/comparison.h"
#include "tests/bench/cuda_call.h"

namespace texton::bench {
namespace {

constexpr Extent kSide{8192, 8192};
constexpr int kTimes = 9;  // runs per call

// Formats of the texture and of the image that sample() writes.
struct Case {
    Format texture;
    Format image;
    Filter filter;
    AffineMap map;
    Target target;
    const char* name;
};

std::size_t moved_bytes(const Case& of) { return packed_bytes(of.texture, kSide) + packed_bytes(of.image, kSide); }

Sides images(const Case& of) {
    struct Memory {
        explicit Memory(const Case& of)
            : array(Device::cuda(), {of.texture, kSide}),
              texture(array, {.filter = of.filter}),
              image(Device::cuda(), moved_bytes(of)),
              copied(Device::cuda(), moved_bytes(of) / 2),
              stream(Device::cuda()) {
            fill(array.view(), std::vector<std::byte>(info(of.texture).bytes, std::byte{0x3C}));
            fill(image.view(), std::uint8_t{1});
        }
        Array array;
        Texture texture;
        Linear image;
        Linear copied;
        Stream stream;
    };
    auto memory = std::make_shared<Memory>(of);
    return {[=] {
                const View image = memory->image.view(of.image, kSide);
                for (int i = 0; i < kTimes; ++i) sample(memory->texture, of.map, image, memory->stream);
                memory->stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kTimes; ++i) {
                    must(cudaMemcpyAsync(memory->copied.data(), memory->image.data(), memory->copied.bytes(),
                                         cudaMemcpyDeviceToDevice));
                }
                must(cudaStreamSynchronize(nullptr));
            }};
}

// Uploads texels from host memory into an array and samples them. The peer is an upload of the same size from pinned
// memory.
Sides decoded_to_pixels(bool pinned) {
    constexpr Format kFormat = Format::rgba32_float;
    struct Memory {
        Array array{Device::cuda(), {kFormat, kSide}};
        Texture texture{array, {.filter = Filter::linear}};
        Linear image{Device::cuda(), packed_bytes(kFormat, kSide)};
        Pinned locked{Device::cuda(), packed_bytes(kFormat, kSide)};
        std::vector<std::byte> pageable = std::vector<std::byte>(packed_bytes(kFormat, kSide), std::byte{1});
        Stream stream{Device::cuda()};
    };
    auto memory = std::make_shared<Memory>();
    std::memset(memory->locked.data(), 1, memory->locked.bytes());
    return {[=] {
                const ConstView texels = pinned ? ConstView(memory->locked.view(kFormat, kSide))
                                                : host_view(memory->pageable.data(), kFormat, kSide);
                copy(memory->array.view(), texels, memory->stream);
                sample(memory->texture, {.x0 = 0.25F, .y0 = 0.25F}, memory->image.view(kFormat, kSide), memory->stream);
                memory->stream.synchronize();
            },
            [=] {
                must(cudaMemcpy(memory->image.data(), memory->locked.data(), memory->locked.bytes(),
                                cudaMemcpyHostToDevice));
            }};
}

const bool added = add_suite([] {
    if (!Device::why_no_cuda().empty()) return;  // cpu_bench.cpp adds the note
    using enum Target::Kind;
    constexpr AffineMap kShifted{.x0 = 0.25F, .y0 = 0.25F};
    constexpr AffineMap kTurned{.xx = 0.96F, .xy = -0.17F, .x0 = 400, .yx = 0.17F, .yy = 0.96F, .y0 = -300};
    // The texture unit has too few fetches in flight to hide the memory latency: see arrays/cuda/sampling_touched.cu.
    constexpr Target kOfTheUnit{speed_at_least, 0.75};
    constexpr Target kAlmostACopy{speed_at_least, 0.9};
    constexpr Filter kLinear = Filter::linear;
    const Case cases[] = {
        {Format::rgba8_unorm, Format::rgba8_unorm, kLinear, kShifted, kOfTheUnit, "bilinear rgba8_unorm"},
        {Format::rgba8_unorm, Format::rgba8_unorm, kLinear, kTurned, kOfTheUnit, "bilinear, turned rgba8_unorm"},
        {Format::rgba8_unorm, Format::rgba8_unorm, Filter::point, {}, kOfTheUnit, "point rgba8_unorm"},
        {Format::rgba8_srgb, Format::rgba8_srgb, kLinear, kShifted, {}, "bilinear rgba8_srgb"},
        {Format::r8_unorm, Format::r8_unorm, kLinear, kShifted, {}, "bilinear r8_unorm"},
        {Format::rgba16_float, Format::rgba16_float, kLinear, kShifted, {}, "bilinear rgba16_float"},
        {Format::rgba8_unorm, Format::rgba32_float, kLinear, kShifted, {}, "bilinear rgba8_unorm to rgba32_float"},
        {Format::rgba32_float, Format::rgba32_float, kLinear, kShifted, kOfTheUnit, "bilinear rgba32_float"},
        {Format::rgba32_float, Format::rgba32_float, kLinear, kTurned, kOfTheUnit, "bilinear, turned rgba32_float"},
        {Format::rgba32_float, Format::rgba32_float, Filter::point, {}, kAlmostACopy, "point rgba32_float"},
    };
    for (const Case& of : cases) {
        add({fmt::format("cuda/image/{} (cudaMemcpy)", of.name), of.target, [=] { return images(of); },
             kTimes * static_cast<double>(moved_bytes(of))});
    }
    const auto uploaded = static_cast<double>(packed_bytes(Format::rgba32_float, kSide));
    add({"cuda/image/1 GiB to pixels (pinned)", kAlmostACopy, [] { return decoded_to_pixels(false); }, uploaded});
    add({"cuda/image/1 GiB pinned to pixels (pinned)", kAlmostACopy, [] { return decoded_to_pixels(true); }, uploaded});
});

}  // namespace
}  // namespace texton::bench
