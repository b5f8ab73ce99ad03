// The order of calls of arrays/ without a stream: after the work of the default stream.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/sample.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "tests/support/default_stream.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::after_default_stream;
using test::all_bytes;

class ArrayOrderTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped()) return;
        array_.emplace(device(),
                       ArrayInfo{.format = Format::r8_uint, .extent = {kSide, kSide}, .usage = {.surface = true}});
        fill(array_->view(), std::uint8_t{1});
    }
    void TearDown() override {
        array_.reset();
        OnEveryDevice::TearDown();
    }
    const Array& array() const { return *array_; }
    void fill_on(const Stream& stream, std::uint8_t value) const { fill(array_->view(), value, stream); }

    static constexpr std::size_t kSide = 64;

private:
    std::optional<Array> array_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayOrderTest, test::every_device(), test::device_label);

TEST_P(ArrayOrderTest, FetchesOfPointsAreOrderedAfterTheDefaultStream) {
    const Texture texture(array());
    const std::vector<FetchPoint> points(100, FetchPoint{.x = 3.5F, .y = 4.5F});
    Samples samples;
    after_default_stream(
        device(), [&](const Stream& standard) { fill_on(standard, 2); }, [&] { samples = sample(texture, points); });
    EXPECT_TRUE(std::all_of(samples.texels.begin(), samples.texels.end(),
                            [](const Texel& texel) { return texel.channel[0] == 2; }));

    const std::vector<Point2> pairs(100, Point2{3.5F, 4.5F});
    std::vector<std::array<float, 4>> floats;
    after_default_stream(
        device(), [&](const Stream& standard) { fill_on(standard, 3); }, [&] { floats = sample(texture, pairs); });
    EXPECT_TRUE(std::all_of(floats.begin(), floats.end(), [](const auto& texel) { return texel[0] == 3; }));
}

TEST_P(ArrayOrderTest, FetchesOfAMapAreOrderedAfterTheDefaultStream) {
    const Texture texture(array());
    const Linear image(device(), kSide * kSide);
    after_default_stream(
        device(), [&](const Stream& standard) { fill_on(standard, 2); },
        [&] {
            sample(texture, AffineMap{}, image.view(Format::r8_uint, {kSide, kSide}));
        });
    EXPECT_TRUE(all_bytes(test::download(image.view()), 2));
}

TEST_P(ArrayOrderTest, ReadsAndWritesOfSurfacesAreOrderedAfterTheDefaultStream) {
    const Surface surface(array());
    const std::vector<SurfacePoint> points{{1, 2, 0}, {5, 6, 0}};
    std::vector<std::byte> texels;
    after_default_stream(
        device(), [&](const Stream& standard) { fill_on(standard, 2); }, [&] { texels = read(surface, points); });
    EXPECT_TRUE(all_bytes(texels, 2));
    after_default_stream(
        device(), [&](const Stream& standard) { fill_on(standard, 3); },
        [&] { write(surface, points, std::vector(2, std::byte{9})); });
    EXPECT_TRUE(all_bytes(read(surface, points), 9));
}

}  // namespace
}  // namespace texton
