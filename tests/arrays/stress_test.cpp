// Many threads create, use and destroy memory and arrays of random kinds, each on its own stream. Every cycle reads back
// what it wrote. Some owners stay alive for a random number of cycles, so that lifetimes overlap.
#include <dirent.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/planar_array.h>
#include <texton/pool.h>
#include <texton/sample.h>
#include <texton/surface.h>

#include "tests/support/arrays.h"
#include "tests/support/decode.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/sparse_arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::Random;

constexpr int kThreads = 16;
constexpr std::size_t kMaxTexels = std::size_t{1} << 15;  // bytes of a level that a cycle uses

// Cycles of all threads together. TEXTON_STRESS_CYCLES asks for more.
std::size_t cycle_count() {
    const char* asked = std::getenv("TEXTON_STRESS_CYCLES");
    return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 4'000;
}

// Resident memory of the process in bytes.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * 4096;
}

std::size_t open_descriptors() {
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return 0;
    std::size_t count = 0;
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

// Returns by how much the smallest of the later values exceeds the largest of the earlier ones.
std::size_t growth(const std::vector<std::size_t>& values, std::ptrdiff_t earlier) {
    const std::size_t before = *std::max_element(values.begin(), values.begin() + earlier);
    const std::size_t after = *std::min_element(values.begin() + earlier, values.end());
    return after > before ? after - before : 0;
}

// Returns how much memory was in use, relative to the time when the most was free.
std::vector<std::size_t> used_of(std::vector<std::size_t> free) {
    const std::size_t most = *std::ranges::max_element(free);
    for (std::size_t& value : free) value = most - value;
    return free;
}

// Descriptions of small arrays of every kind.
const std::vector<ArrayInfo>& array_infos() {
    static const std::vector<ArrayInfo> all = [] {
        std::vector<ArrayInfo> infos;
        for (const ArrayKind kind : test::all_kinds()) {
            for (const Format format : test::formats_of_every_size()) {
                if (!test::has_arrays(kind, format)) continue;
                for (const ArrayInfo& info : test::example_infos(kind, format)) {
                    if (test::box_bytes(format, test::level_box(info, 0)) <= kMaxTexels) infos.push_back(info);
                }
            }
        }
        return infos;
    }();
    return all;
}

// The work of one thread.
class Worker {
public:
    Worker(const Device& device, std::uint64_t seed)
        : device_(device), random_(seed), stream_(device), tiles_(device, {.chunk_bytes = test::kChunk}) {}

    void cycle() {
        switch (random_.below(16)) {
            case 0: return use_sparse_array();
            case 1: return use_deferred_array();
            case 2: return use_planar_array();
            case 3: return use_pool();
            case 4: return use_graph();
            case 5:
            case 6: return use_memory();
            default: return use_array();
        }
    }

    // Destroys all owners and waits for their work.
    void finish() {
        for (std::shared_ptr<void>& owner : kept_) owner.reset();
        stream_.synchronize();
        tiles_.trim();
    }

private:
    // Keeps the owner alive until the place is needed again.
    void keep(std::shared_ptr<void> owner) {
        if (random_.coin()) kept_[random_.below(kept_.size())] = std::move(owner);
    }

    void require(bool holds, const std::string& what) const {
        if (!holds) throw std::runtime_error(what);
    }

    // Writes random texels to the view and reads them back.
    Bytes round_trip(const View& view, const std::string& what) {
        const Format format = view.format();
        const Extent extent = view.extent();
        Bytes texels = test::random_texels(random_, format, test::box_bytes(format, extent));
        Bytes back(texels.size());
        copy(view, host_view(static_cast<const void*>(texels.data()), format, extent), stream_);
        copy(host_view(static_cast<void*>(back.data()), format, extent), view, stream_);
        stream_.synchronize();
        require(back == texels, "the texels that were read differ from the written ones: " + what);
        return texels;
    }

    void use_array() {
        const ArrayInfo& info = random_.of(array_infos());
        auto array = std::make_shared<Array>(device_, info);
        const int level = static_cast<int>(random_.below(static_cast<std::size_t>(info.levels)));
        const View view = array->view({.level = level});
        const Bytes texels = round_trip(view, test::describe(info));
        if (info.kind == ArrayKind::array_2d && test::can_decode(info.format)) sample_texels(*array, level, texels);
        keep(std::move(array));
    }

    // Fetches some texels of the level at their centers.
    void sample_texels(const Array& array, int level, const Bytes& texels) {
        const Format format = array.info().format;
        const Extent extent = test::level_box(array.info(), level);
        const std::size_t bytes = test::box_bytes(format, {1, 1, 1});
        const Texture texture(array, {}, {.first_level = level, .levels = 1});
        std::array<FetchPoint, 4> points;
        std::array<std::size_t, 4> index{};
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::size_t x = random_.below(extent.width), y = random_.below(extent.height);
            points[i] = {.x = static_cast<float>(x) + 0.5f, .y = static_cast<float>(y) + 0.5f};
            index[i] = y * extent.width + x;
        }
        const Samples samples = sample(texture, points);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto expected = test::decode(format, std::span(texels).subspan(index[i] * bytes, bytes));
            require(std::ranges::equal(samples.texels[i].channel, expected),
                    "a fetch does not return the texel: " + test::describe(array.info()));
        }
    }

    void use_memory() {
        const Format format = random_.of(std::vector{Format::r8_uint, Format::rgba8_unorm, Format::rgba32_float});
        const Extent extent{random_.between(1, 64), random_.between(2, 16), random_.between(1, 3)};
        std::vector<test::MemoryMaker> makers = test::memories(device_, std::nullopt, format, extent);
        std::erase_if(makers, [](const test::MemoryMaker& maker) { return maker.foreign; });
        const test::MemoryMaker& maker = random_.of(makers);
        auto memory = std::make_shared<test::Memory>(maker.make(0));
        round_trip(memory->texels, maker.name);
        keep(std::move(memory));
    }

    void use_pool() {
        const std::size_t bytes = random_.between(1, 100'000);
        auto memory = std::make_shared<Linear>(Linear::async(bytes, stream_));
        const auto value = static_cast<std::uint8_t>(random_.bits());
        fill(memory->view(), value, stream_);
        Bytes back(bytes);
        copy(host_view(std::span(back)), memory->view(), stream_);
        stream_.synchronize();
        require(std::ranges::all_of(back, [&](std::byte each) { return each == std::byte{value}; }),
                "filled memory of a pool has other bytes");
        keep(std::move(memory));
    }

    void use_graph() {
        const Linear memory(device_, 1'000);
        const auto value = static_cast<std::uint8_t>(random_.bits());
        const auto graph =
            std::make_shared<Graph>(Graph::capture(stream_, [&] { fill(memory.view(), value, stream_); }));
        graph->launch(stream_);
        graph->launch(stream_);
        Bytes back(memory.bytes());
        copy(host_view(std::span(back)), memory.view(), stream_);
        stream_.synchronize();
        require(std::ranges::all_of(back, [&](std::byte each) { return each == std::byte{value}; }),
                "memory that a graph filled has other bytes");
    }

    void use_sparse_array() {
        const std::size_t columns = random_.between(1, 3);
        auto array = std::make_shared<SparseArray>(device_, test::tiled(columns));
        const std::size_t column = random_.below(columns);
        array->map(test::tile_at(column), tiles_.allocate(1), stream_);
        const Region tile{{column * test::kSide, 0, 0}, {test::kSide, 16, 1}};
        round_trip(array->array().view({.region = tile}), "a tile of a sparse array");
        if (random_.coin()) array->unmap_all(stream_);
        stream_.synchronize();
        keep(std::move(array));
    }

    void use_deferred_array() {
        auto array =
            std::make_shared<DeferredArray>(device_, ArrayInfo{.format = Format::rgba8_unorm, .extent = {64, 32}});
        array->map(tiles_.allocate_bytes(array->requirements().bytes), stream_);
        round_trip(array->array().view(), "a deferred array");
        if (random_.coin()) array->unmap(stream_);
        stream_.synchronize();
        keep(std::move(array));
    }

    void use_planar_array() {
        auto array = std::make_shared<PlanarArray>(device_, Format::nv12, Extent{32, 16});
        round_trip(array->frame().luma, "luma of a planar array");
        round_trip(array->frame().chroma, "chroma of a planar array");
        keep(std::move(array));
    }

    Device device_;
    Random random_;
    Stream stream_;
    TilePool tiles_;
    std::array<std::shared_ptr<void>, 6> kept_;
};

class StressTest : public test::OnEveryDevice {
protected:
    // Runs cycles on all threads and returns the first failure, or an empty text.
    std::string run(std::size_t cycles, std::uint64_t seed) const {
        std::atomic<std::size_t> left = cycles;
        std::mutex mutex;
        std::string failure;
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                try {
                    Worker worker(device(), seed + static_cast<std::uint64_t>(i));
                    while (true) {
                        std::size_t before = left.load();
                        while (before > 0 && !left.compare_exchange_weak(before, before - 1)) {
                        }
                        if (before == 0) break;
                        worker.cycle();
                    }
                    worker.finish();
                } catch (const std::exception& error) {
                    const std::scoped_lock lock(mutex);
                    if (failure.empty()) failure = error.what();
                    left = 0;
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        device().synchronize();
        return failure;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, StressTest, test::every_device(), test::device_label);

TEST_P(StressTest, ObjectsOfRandomKindsOnManyThreadsKeepTheirTexelsAndLeaveNoMemory) {
    // The driver and the allocator keep memory, and how much varies from phase to phase. A leak makes it grow in each one:
    // then every phase of the second half ends with more than each one of the first half.
    constexpr std::size_t kPhases = 10, kTolerance = std::size_t{48} << 20;
    const std::size_t cycles = cycle_count();
    ASSERT_EQ(run(cycles / kPhases, 1), "");
    const std::size_t descriptors_before = open_descriptors();
    std::vector<std::size_t> resident, free;
    for (std::uint64_t phase = 1; phase <= kPhases; ++phase) {
        ASSERT_EQ(run(cycles / kPhases, phase * 1'000), "");
        resident.push_back(resident_bytes());
        free.push_back(device().memory().free);
    }
    const auto half = static_cast<std::ptrdiff_t>(kPhases / 2);
    const std::size_t resident_growth = growth(resident, half), device_growth = growth(used_of(free), half);
    EXPECT_LE(resident_growth, kTolerance) << "memory of the host grew";
    EXPECT_LE(device_growth, on_cpu() ? 0 : kTolerance) << "memory of the device grew";
    EXPECT_LE(open_descriptors(), descriptors_before) << "file descriptors are left open";
    std::printf("cycles: %zu on %d threads, host memory grew by %zu KiB, device memory by %zu KiB\n", cycles, kThreads,
                resident_growth / 1024, device_growth / 1024);
}

}  // namespace
}  // namespace texton
