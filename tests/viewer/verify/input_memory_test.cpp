// Memory of the inputs of kernels.
#include <gtest/gtest.h>

#include <texton/sample.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "viewer/verify/input_memory.h"
#include "viewer/verify/pattern.h"

namespace texton::verify {
namespace {

using test::expect_error;

class InputMemoryTest : public test::OnEveryDevice {
protected:
    /// Returns the first channel of texels, in the order of the coordinates.
    std::vector<float> read(const HostArray& texels, InputMemory memory, const std::vector<Offset>& at) const {
        const Sampler sampler{.filter = Filter::point, .normalized_coordinates = false};
        const Texture texture = upload(device(), texels, memory, sampler, {});
        std::vector<Point2> points;
        for (const Offset& each : at)
            points.push_back({static_cast<float>(each.x) + 0.5f, static_cast<float>(each.y) + 0.5f});
        std::vector<float> out;
        for (const std::array<float, 4>& value : sample(texture, points)) out.push_back(value[0]);
        return out;
    }
};

TEST_P(InputMemoryTest, RowsAndDeferredArraysHaveTheTexelsOfAnArray) {
    const HostArray noise = draw({}, {.format = Format::r32_float, .extent = {21, 9}});
    const std::vector<Offset> at{{0, 0}, {20, 8}, {7, 3}, {20, 0}};
    const std::vector<float> expected = read(noise, InputMemory::array, at);
    EXPECT_NE(expected[0], expected[1]);
    EXPECT_EQ(read(noise, InputMemory::rows, at), expected);
    EXPECT_EQ(read(noise, InputMemory::deferred, at), expected);
}

TEST_P(InputMemoryTest, EveryThirdTileOfASparseArrayIsZero) {
    // A tile has 128 x 128 texels.
    const HostArray noise = draw({.range = {{0.5f, 1}}}, {.format = Format::r32_float, .extent = {300, 200}});
    const std::vector<Offset> at{{5, 5}, {130, 5}, {260, 5}, {5, 130}, {130, 130}, {260, 130}};
    const std::vector<float> expected = read(noise, InputMemory::array, at);
    const std::vector<float> found = read(noise, InputMemory::sparse, at);
    for (std::size_t tile = 0; tile < at.size(); ++tile)
        EXPECT_EQ(found[tile], tile % 3 == 2 ? 0.0f : expected[tile]) << tile;
}

TEST_P(InputMemoryTest, RowsOfAVolumeAreRefused) {
    const HostArray volume = draw({}, {.format = Format::r8_unorm, .extent = {4, 3, 2}, .kind = ArrayKind::array_3d});
    expect_error([&] { (void)upload(device(), volume, InputMemory::rows, {}, {}); }, ErrorCode::unsupported,
                 "texton::verify::upload", {"rows", "array_2d"});
}

INSTANTIATE_TEST_SUITE_P(Devices, InputMemoryTest, test::every_device(), test::device_label);

}  // namespace
}  // namespace texton::verify
