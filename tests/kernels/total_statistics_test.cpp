// Statistics of parts, added together.
#include <texton/total_statistics.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/linear.h>
#include <texton/percentiles.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

Texture texture_of(const Device& device, Extent extent, std::span<const float> values) {
    const Array array(device, {Format::r32_float, extent});
    test::upload(array.view(), std::as_bytes(values));
    return Texture(array);
}

Statistics statistics_of(const Texture& texture) {
    const Stream stream(texture.device());
    const Linear memory(texture.device(), sizeof(Statistics));
    collect_statistics(stream, memory.view(), texture, {-10, 10});
    return read_statistics(stream, memory.view());
}

std::vector<float> random_values(std::size_t count) {
    test::Random random(11);
    std::vector<float> values(count);
    for (float& value : values) {
        const auto word = static_cast<std::uint32_t>(random.bits());
        value = word % 50 == 0
                    ? std::numeric_limits<float>::quiet_NaN()
                    : std::ldexp(static_cast<float>(static_cast<std::int32_t>(word)), static_cast<int>(word % 90) - 70);
    }
    return values;
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

class TotalStatisticsTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TotalStatisticsTest, test::every_device(), test::device_label);

TEST_P(TotalStatisticsTest, PartsHaveTheBitsOfTheWhole) {
    constexpr std::size_t kWidth = 300, kHeight = 240;
    const std::vector<float> values = random_values(kWidth * kHeight);
    const Texture whole_texture = texture_of(device(), {kWidth, kHeight}, values);
    const Statistics whole = statistics_of(whole_texture);
    TotalStatistics total;
    const TextureParts parts = [&](const std::function<void(const Texture&)>& visit) {
        for (const auto& [first, rows] : {std::pair{100U, 140U}, {0U, 1U}, {1U, 99U}})
            visit(texture_of(device(), {kWidth, rows}, std::span(values).subspan(first * kWidth, rows * kWidth)));
    };
    parts([&](const Texture& part) { total.add(statistics_of(part)); });
    TotalStatistics in_any_order;
    parts([&](const Texture& part) {
        TotalStatistics own;
        own.add(statistics_of(part));
        own.add(in_any_order);
        in_any_order = own;
    });
    EXPECT_EQ(std::memcmp(&in_any_order, &total, sizeof total), 0);
    EXPECT_EQ(total.finite[0], whole.finite[0]);
    EXPECT_EQ(total.nans[0], whole.nans[0]);
    EXPECT_EQ(total.lowest(0), whole.lowest(0));
    EXPECT_EQ(total.highest(0), whole.highest(0));
    EXPECT_TRUE(same_bits(total.mean(0), whole.mean(0))) << total.mean(0) << " " << whole.mean(0);
    for (std::size_t bin = 0; bin < Statistics::kBins; ++bin)
        ASSERT_EQ(total.histogram[0][bin], whole.histogram[0][bin]) << bin;
    const std::vector<double> shares{0, 0.01, 0.3, 0.5, 0.999, 1};
    const Stream stream(device());
    const auto expected = percentiles(stream, whole_texture, shares);
    const auto found = percentiles(stream, parts, shares);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_EQ(found[i][0], expected[i][0]) << shares[i];
}

TEST(TotalStatisticsSumTest, SumsOfFarMoreThan2To31TexelsAreExact) {
    for (const float value : {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), -0.1f, 1e-40f}) {
        // Statistics of 2^30 texels, 2^10 - 1 times.
        Statistics part = statistics_of(texture_of(Device::cpu(), {1024, 512}, std::vector<float>(1024 * 512, value)));
        for (std::int64_t& word : part.sum[0]) word *= 2048;
        part.finite[0] *= 2048;
        TotalStatistics total;
        for (int i = 0; i < 1023; ++i) total.add(part);
        EXPECT_EQ(total.finite[0], (std::uint64_t{1} << 30) * 1023);
        EXPECT_NEAR(total.mean(0), value, 3 * 0x1p-23 * std::abs(value));
        EXPECT_EQ(total.mean(0), part.mean(0));
        TotalStatistics twice = total;
        twice.add(total);
        EXPECT_EQ(twice.finite[0], 2 * total.finite[0]);
        EXPECT_EQ(twice.mean(0), part.mean(0));
        EXPECT_EQ(twice.lowest(0), value);
    }
    EXPECT_TRUE(std::isnan(TotalStatistics().mean(0)));
    EXPECT_EQ(TotalStatistics().lowest(0), std::numeric_limits<float>::infinity());
}

TEST(TotalStatisticsSumTest, ErrorsOfPartsAndWrongSharesPassThrough) {
    const Stream stream(Device::cpu());
    const TextureParts failing = [](const std::function<void(const Texture&)>&) { throw std::length_error("part"); };
    EXPECT_THROW((void)percentiles(stream, failing, std::vector{0.5}), std::length_error);
    test::expect_error([&] { (void)percentiles(stream, failing, std::vector{1.5}); }, ErrorCode::bad_argument,
                       "texton::percentiles", {"a share is 1.5"});
}

}  // namespace
}  // namespace texton
