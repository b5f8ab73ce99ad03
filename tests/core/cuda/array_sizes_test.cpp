// Compares the sizes of sparse and deferred arrays on the CPU device and on a GPU, for random shapes that no table
// contains.
#include <random>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/error.h>

#include "core/cpu/array.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

class CudaArraySizesTest : public test::OnEveryDevice {
protected:
    std::size_t below(std::size_t count) { return random_() % count; }

    ArrayInfo random_info(ArrayKind kind) {
        ArrayInfo info{
            .format = formats()[below(static_cast<std::size_t>(Format::nv12))].format, .extent = {}, .kind = kind};
        const std::size_t maximum = std::size_t{16} << below(8);
        info.extent.width = 1 + below(maximum);
        if (!is_flat(kind)) info.extent.height = is_cube(kind) ? info.extent.width : 1 + below(maximum);
        if (kind == ArrayKind::array_3d) info.extent.depth = 1 + below(std::size_t{2} << below(7));
        if (is_layered(kind)) info.layers = 1 + below(6);
        info.levels = 1 + static_cast<int>(below(static_cast<std::size_t>(full_levels(info))));
        return info;
    }
    static std::string describe(const ArrayInfo& info) {
        return fmt::format("{} {} {}, {} layers, {} levels", name(info.kind), name(info.format), to_string(info.extent),
                           info.layers, info.levels);
    }
    /// Calls `ask`; returns false if the array is not possible.
    template <class Ask>
    static bool asked(Ask&& ask) {
        try {
            ask();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::bad_argument) throw;
            return false;
        }
        return true;
    }

private:
    std::mt19937 random_{20};
};
INSTANTIATE_TEST_SUITE_P(Devices, CudaArraySizesTest, testing::Values(DeviceKind::cuda), test::device_label);

TEST_P(CudaArraySizesTest, DeferredMemoryRequirementsMatchTheCpuDevice) {
    int arrays = 0;
    for (int i = 0; i < 1500; ++i) {
        const ArrayInfo info = random_info(static_cast<ArrayKind>(i % 7));
        MemoryRequirements sizes;
        if (!asked([&] { sizes = memory_requirements(device(), info); })) continue;
        EXPECT_EQ(sizes.bytes / kTileBytes, detail::deferred_sizes(info).bytes / kTileBytes) << describe(info);
        EXPECT_EQ(sizes.alignment, kTileBytes) << describe(info);
        ++arrays;
    }
    EXPECT_GT(arrays, 700);
}

TEST_P(CudaArraySizesTest, SparseTileAndTailSizesMatchTheCpuDevice) {
    constexpr ArrayKind kKinds[] = {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d};
    int arrays = 0;
    for (int i = 0; i < 1500; ++i) {
        const ArrayInfo info = random_info(kKinds[i % 3]);
        SparseProperties sizes;
        if (!asked([&] { sizes = sparse_properties(device(), info); })) continue;
        const SparseProperties expected = detail::sparse_sizes(info);
        EXPECT_EQ(sizes.tile, expected.tile) << describe(info);
        EXPECT_EQ(sizes.first_tail_level, expected.first_tail_level) << describe(info);
        EXPECT_EQ(sizes.tail_bytes / kTileBytes, expected.tail_bytes / kTileBytes) << describe(info);
        EXPECT_EQ(sizes.tail_per_layer, expected.tail_per_layer) << describe(info);
        ++arrays;
    }
    EXPECT_GT(arrays, 700);
}

}  // namespace
}  // namespace texton
