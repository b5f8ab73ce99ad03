// Compares the texture unit model as device code with the hardware and with the model on the host.
//
// Each format uses the random textures, samplers and points of random_recording(). With TEXTON_LONG_RUN=1 further
// rounds vary the points on the device. A kernel fetches each point from the texture and from the model and counts
// differences. A share of the model's results is compared with the host. TEXTON_DIFFERENCES=FOLDER writes a recording
// of fetches that differ for each texture.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/cuda_fetch.h>
#include <texton/cuda_interop.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/recording.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;

// --- amount of work --------------------------------------------------------------------------------------------------

constexpr std::size_t kPoints = 8192;  // per texture

struct Effort {
    std::size_t textures;  // per format
    std::size_t rounds;    // per texture: how often the points are used
    std::size_t share;     // the host computes one of this many fetches
};
constexpr Effort kShort{123, 1, 1};    // 10^6 fetches
constexpr Effort kLong{1221, 10, 16};  // 10^8

Effort effort() {
    const char* asked = std::getenv("TEXTON_LONG_RUN");
    return asked != nullptr && std::string(asked) == "1" ? kLong : kShort;
}

// --- classes of fetches ----------------------------------------------------------------------------------------------

/// Class of fetches that follow the same rules of the model.
struct FetchClass {
    FetchOperation operation;
    bool anisotropic;
    bool cube;
    auto operator<=>(const FetchClass&) const = default;
};

std::string describe(const FetchClass& fetches) {
    constexpr const char* kNames[] = {"plain", "lod", "gradients", "gather", "texel"};
    return std::string(kNames[static_cast<int>(fetches.operation)]) + (fetches.anisotropic ? ", anisotropic" : "") +
           (fetches.cube ? ", cubemap" : "");
}

// --- points ----------------------------------------------------------------------------------------------------------

/// Per axis: distance by which later rounds move points, and number of half weight steps in a distance of 1.
struct Reach {
    float side[3];
    float steps[3];
};

Reach reach_of(const Recording& recording) {
    Reach reach{};
    const Extent& extent = recording.array.extent;
    const std::size_t sides[] = {extent.width, extent.height, extent.depth};
    for (int axis = 0; axis < 3; ++axis) {
        const auto texels = static_cast<float>(sides[axis]);
        const bool in_texels = !recording.sampler.normalized_coordinates;
        reach.side[axis] = in_texels ? texels : 1;
        reach.steps[axis] = in_texels ? 512 : 512 * texels;
    }
    return reach;
}

/// Random numbers that are the same on host and device.
class Hash {
public:
    TEXTON_HD Hash(std::uint32_t index, std::uint32_t round) : state_(index * 0x9E3779B9U ^ round * 0x85EBCA6BU) {}
    TEXTON_HD std::uint32_t bits() {
        state_ = state_ * 747796405U + 2891336453U;
        const std::uint32_t word = (state_ >> ((state_ >> 28) + 4) ^ state_) * 277803737U;
        return word >> 22 ^ word;
    }
    /// Returns a number from -1 to 1.
    TEXTON_HD float around_zero() { return static_cast<float>(static_cast<std::int32_t>(bits()) >> 8) * 0x1p-23F; }

private:
    std::uint32_t state_;
};

/// Round 0 returns the point unchanged. Later rounds move it; a quarter of the points move to a position halfway
/// between two weights.
TEXTON_HD FetchPoint varied(FetchPoint point, const Reach& reach, std::uint32_t index, std::uint32_t round) {
    if (round == 0) return point;
    Hash hash(index, round);
    const bool halfway = hash.bits() % 4 == 0;
    float* const at[3] = {&point.x, &point.y, &point.z};
    for (int axis = 0; axis < 3; ++axis) {
        *at[axis] += hash.around_zero() * reach.side[axis];
        if (halfway) *at[axis] = floorf(*at[axis] * reach.steps[axis]) / reach.steps[axis];
        point.dx[axis] *= 1 + hash.around_zero() / 2;
        point.dy[axis] *= 1 + hash.around_zero() / 2;
    }
    point.lod += hash.around_zero();
    return point;
}

// --- device code -----------------------------------------------------------------------------------------------------

struct Experiment {
    cudaTextureObject_t texture;
    detail::TextureView view;
    Sampler sampler;
    FetchOperation operation;
    int component;
    Reach reach;
};

struct Tally {
    static constexpr unsigned kNamed = 64;
    unsigned different = 0;
    unsigned fetch[kNamed] = {};  // the first fetches that differ

    std::span<const unsigned> named() const { return std::span(fetch).first(std::min(different, kNamed)); }
};

template <FetchOperation operation, ArrayKind kind>
constexpr bool kExists = has_fetch(operation, kind, false);

template <FetchOperation operation, ArrayKind kind>
__device__ uint4 fetch_if_any(cudaTextureObject_t texture, const FetchPoint& point, int component) {
    if constexpr (kExists<operation, kind>) return fetch_words<operation, kind>(texture, point, component);
    return {};
}

template <FetchOperation operation>
__device__ uint4 fetch_of(cudaTextureObject_t texture, ArrayKind kind, const FetchPoint& point, int component) {
    using enum ArrayKind;
    switch (kind) {
        case array_1d: return fetch_if_any<operation, array_1d>(texture, point, component);
        case array_2d: return fetch_if_any<operation, array_2d>(texture, point, component);
        case array_3d: return fetch_if_any<operation, array_3d>(texture, point, component);
        case layered_1d: return fetch_if_any<operation, layered_1d>(texture, point, component);
        case layered_2d: return fetch_if_any<operation, layered_2d>(texture, point, component);
        case cubemap: return fetch_if_any<operation, cubemap>(texture, point, component);
        case cubemap_layered: return fetch_if_any<operation, cubemap_layered>(texture, point, component);
    }
    return {};
}

__device__ Texel fetch_by_hardware(const Experiment& experiment, const FetchPoint& point) {
    using enum FetchOperation;
    const cudaTextureObject_t texture = experiment.texture;
    const ArrayKind kind = experiment.view.kind;
    uint4 words{};
    switch (experiment.operation) {
        case plain: words = fetch_of<plain>(texture, kind, point, 0); break;
        case lod: words = fetch_of<lod>(texture, kind, point, 0); break;
        case gradients: words = fetch_of<gradients>(texture, kind, point, 0); break;
        case gather: words = fetch_of<gather>(texture, kind, point, experiment.component); break;
        case texel: break;
    }
    return {{words.x, words.y, words.z, words.w}};
}

__global__ void compare(const __grid_constant__ Experiment experiment, const FetchPoint* points, unsigned rounds,
                        Texel* kept, unsigned share, Tally* tally) {
    const unsigned count = kPoints * rounds;
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const FetchPoint point = varied(points[i % kPoints], experiment.reach, i % kPoints, i / kPoints);
        const Texel by_model =
            detail::fetch_point(experiment.view, experiment.sampler, point, experiment.operation, experiment.component);
        if (i % share == 0) kept[i / share] = by_model;
        if (by_model == fetch_by_hardware(experiment, point)) continue;
        const unsigned position = atomicAdd(&tally->different, 1);
        if (position < Tally::kNamed) tally->fetch[position] = i;
    }
}

// --- host code -------------------------------------------------------------------------------------------------------

/// The texels of all levels in one block of device memory.
struct DeviceTexels {
    Linear memory;
    detail::TextureView view{};
};

DeviceTexels copy_texels(const Device& device, const Recording& recording) {
    Bytes all;
    DeviceTexels texels;
    texels.view.kind = recording.array.kind;
    texels.view.format = detail::texel_format(recording.array.format);
    texels.view.level_count = recording.array.levels;
    std::vector<std::size_t> offsets;
    for (const Bytes& level : recording.levels) {
        offsets.push_back(all.size());
        all.insert(all.end(), level.begin(), level.end());
    }
    texels.memory = Linear(device, all.size());
    test::upload(texels.memory.view(), all);
    for (int i = 0; i < recording.array.levels; ++i) {
        const Extent extent = test::level_box(recording.array, i);
        const std::size_t pitch = row_bytes(recording.array.format, extent.width);
        detail::LevelView& level = texels.view.levels[i];
        level.data =
            reinterpret_cast<const unsigned char*>(texels.memory.data()) + offsets[static_cast<std::size_t>(i)];
        level.width = static_cast<std::int32_t>(extent.width);
        level.height = static_cast<std::int32_t>(extent.height);
        level.depth = static_cast<std::int32_t>(extent.depth);
        level.row_pitch = static_cast<std::int64_t>(pitch);
        level.slice_pitch = static_cast<std::int64_t>(pitch * row_count(recording.array.format, extent.height));
    }
    return texels;
}

/// Creates the texture of the capture. The texture keeps its memory alive.
Texture texture_of(const Device& device, const Recording& recording) {
    if (recording.source == TextureSource::pitched) {
        const Pitched2D memory(device, recording.array.format,
                               {recording.array.extent.width, recording.array.extent.height});
        test::upload(memory.view(), recording.levels[0]);
        return Texture(memory.view(), recording.sampler);
    }
    const Array array(device, recording.array);
    for (int level = 0; level < recording.array.levels; ++level)
        test::upload(array.view({.level = level}), recording.levels[static_cast<std::size_t>(level)]);
    return Texture(array, recording.sampler);
}

struct Outcome {
    Tally tally{};
    std::size_t host_different = 0;
    Recording differences{};  // points that differ; results are read from the hardware later
};

Outcome run(const Device& device, const Recording& recording, const Effort& effort) {
    const DeviceTexels texels = copy_texels(device, recording);
    const Texture texture = texture_of(device, recording);
    Experiment experiment{texture.handle(),    texels.view,         recording.sampler,
                          recording.operation, recording.component, reach_of(recording)};
    const std::size_t fetches = kPoints * effort.rounds;
    const Linear points(device, kPoints * sizeof(FetchPoint));
    const Linear kept(device, (fetches + effort.share - 1) / effort.share * sizeof(Texel));
    const Linear tally(device, sizeof(Tally));
    Outcome outcome;
    test::upload(points.view(), std::as_bytes(std::span(recording.points)));
    test::upload(tally.view(), std::as_bytes(std::span(&outcome.tally, 1)));
    constexpr unsigned kThreads = 128;
    compare<<<static_cast<unsigned>((fetches + kThreads - 1) / kThreads), kThreads>>>(
        experiment, reinterpret_cast<const FetchPoint*>(points.data()), static_cast<unsigned>(effort.rounds),
        reinterpret_cast<Texel*>(kept.data()), static_cast<unsigned>(effort.share),
        reinterpret_cast<Tally*>(tally.data()));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::memcpy(&outcome.tally, test::download(tally.view()).data(), sizeof(Tally));
    const Bytes on_device = test::download(kept.view());

    const auto point_of = [&](std::size_t fetch) {
        const auto index = static_cast<std::uint32_t>(fetch % kPoints);
        return varied(recording.points[index], experiment.reach, index, static_cast<std::uint32_t>(fetch / kPoints));
    };
    Recording part = recording;
    part.points.clear();
    for (std::size_t i = 0; i < fetches; i += effort.share) part.points.push_back(point_of(i));
    const std::vector<Texel> on_host = replay(part);
    for (std::size_t i = 0; i < on_host.size(); ++i)
        outcome.host_different += std::memcmp(&on_host[i], &on_device[i * sizeof(Texel)], sizeof(Texel)) != 0;
    part.points.clear();
    for (const unsigned fetch : outcome.tally.named()) part.points.push_back(point_of(fetch));
    outcome.differences = std::move(part);
    return outcome;
}

/// Writes the hardware's results of the fetches that differ, if TEXTON_DIFFERENCES is set.
void keep(Recording differences, const Device& device, const std::string& name) {
    const char* folder = std::getenv("TEXTON_DIFFERENCES");
    if (folder == nullptr || differences.points.empty()) return;
    differences.results = replay(differences, device);
    write_recording(std::filesystem::path(folder) / (name + ".cap"), differences);
}

class CudaModelTest : public testing::TestWithParam<Format> {
protected:
    void SetUp() override {
        const std::string why = Device::why_no_cuda();
        if (why.empty()) return;
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device: " << why;
        GTEST_SKIP() << "no CUDA device: " << why;
    }
};
INSTANTIATE_TEST_SUITE_P(Formats, CudaModelTest,
                         testing::ValuesIn(test::array_formats().begin(), test::array_formats().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(CudaModelTest, TheModelOnTheGpuMatchesTheHostAndTheHardware) {
    const Device device = Device::cuda();
    ASSERT_EQ(cudaSetDevice(ordinal(device)), cudaSuccess);
    const Effort asked = effort();
    struct Sum {
        std::size_t fetches = 0;
        std::size_t different = 0;
        std::string first{};
    };
    std::map<FetchClass, Sum> sums;
    for (std::size_t i = 0; i < asked.textures; ++i) {
        const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1000000 + i;
        Recording recording = random_recording(seed, {.format = GetParam(), .points = kPoints});
        if (recording.array.extent.height == 1)
            recording.source = TextureSource::array;  // textures of one row of memory cannot filter
        Outcome outcome = run(device, recording, asked);
        EXPECT_EQ(outcome.host_different, 0U) << "seed " << seed << ", " << test::describe(recording.array);
        Sum& sum = sums[{recording.operation, recording.sampler.max_anisotropy > 1, is_cube(recording.array.kind)}];
        sum.fetches += kPoints * asked.rounds;
        sum.different += outcome.tally.different;
        if (outcome.tally.different > 0 && sum.first.empty()) {
            sum.first = "seed " + std::to_string(seed) + ", fetch " + std::to_string(outcome.tally.fetch[0]) + ", " +
                        test::describe(recording.array);
        }
        keep(std::move(outcome.differences), device, std::string(name(GetParam())) + "_" + std::to_string(seed));
    }
    for (const auto& [fetches, sum] : sums) {
        EXPECT_EQ(sum.different, 0U) << describe(fetches) << ", of " << sum.fetches << ", the first: " << sum.first;
    }
}

}  // namespace
}  // namespace texton
