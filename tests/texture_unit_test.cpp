// The model of the texture unit against recordings of the hardware.
#include "arrays/texture_unit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/sample.h>

#include "tests/support/capture.h"
#include "tests/support/on_every_device.h"
#include "tests/support/place.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

fs::path captures() { return test::place("TEXTON_TEST_CAPTURES", TEXTON_TEST_CAPTURES); }

std::vector<std::string> capture_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(captures())) {
        if (entry.path().extension() == ".cap") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    return names;
}

// Recordings that the model does not reach in every point yet, with the share that it does.
const std::map<std::string, double>& not_exact() {
    static const std::map<std::string, double> shares{
        {"rand_grad_aniso2_f32", 0.99},   {"rand_grad_aniso4_f32", 0.97},  {"rand_grad_aniso4_u8x4", 0.98},
        {"rand_grad_aniso8_f32", 0.97},   {"rand_grad_aniso8_u8x4", 0.98}, {"rand_grad_aniso16_f32", 0.97},
        {"rand_grad_aniso16_u8x4", 0.97},
    };
    return shares;
}

class CaptureTest : public testing::TestWithParam<std::string> {};

TEST_P(CaptureTest, IsEqualInEveryBit) {
    const test::Capture capture(captures() / (GetParam() + ".cap"));
    ASSERT_GT(capture.points(), 0U);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < capture.points(); ++i) {
        const detail::Texel& recorded = capture.recorded(i);
        const detail::Texel computed = capture.computed(i);
        equal += std::equal(std::begin(recorded.channel), std::end(recorded.channel), std::begin(computed.channel));
    }
    const auto known = not_exact().find(GetParam());
    if (known == not_exact().end()) {
        EXPECT_EQ(equal, capture.points());
    } else {
        EXPECT_GE(static_cast<double>(equal), known->second * static_cast<double>(capture.points()));
        EXPECT_LT(equal, capture.points()) << "it is exact now: take it off the list";
    }
}

INSTANTIATE_TEST_SUITE_P(H200, CaptureTest, testing::ValuesIn(capture_names()),
                         [](const auto& info) { return info.param; });

class TextureModelTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TextureModelTest, test::every_device(), test::device_label);

detail::TexelFormat model_format(const FormatInfo& row) {
    const auto encoding = [&] {
        switch (row.kind) {
            case FormatKind::uint: return detail::Encoding::uint;
            case FormatKind::sint: return detail::Encoding::sint;
            case FormatKind::floating: return detail::Encoding::floating;
            case FormatKind::unorm: return detail::Encoding::unorm;
            case FormatKind::snorm: return detail::Encoding::snorm;
            case FormatKind::srgb: return detail::Encoding::srgb;
        }
        return detail::Encoding::uint;
    }();
    const bool packed = row.layout == FormatLayout::packed;
    return {encoding, packed ? detail::Packing::rgb10a2 : detail::Packing::plain, row.channels, row.bits, row.bytes};
}

// Random bits in every format that reads as floats: what the device's texture returns is what the model computes.
TEST_P(TextureModelTest, DecodesTexelsOfEveryFormatAsTheDeviceDoes) {
    const Extent extent{64, 64};
    std::vector<Point2> points;
    for (int i = 0; i < 64 * 64; ++i) {
        points.push_back({static_cast<float>(i % 64) + 0.5F, static_cast<float>(i / 64) + 0.5F});
    }
    for (const FormatInfo& row : formats()) {
        const bool has_array = row.layout == FormatLayout::plain || row.layout == FormatLayout::packed;
        const bool is_integer = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
        if (!has_array || is_integer) continue;  // integers are returned as they are
        SCOPED_TRACE(row.name);
        const test::Bytes bytes = test::pattern(packed_bytes(row.format, extent), 11);
        const Array array(device(), {row.format, extent});
        copy(array.view(), host_view(bytes.data(), row.format, extent));
        const auto returned = sample(Texture(array), points);

        detail::TextureView view{};
        view.kind = detail::ArrayKind::array_2d;
        view.format = model_format(row);
        view.level_count = 1;
        view.levels[0] = {
            reinterpret_cast<const unsigned char*>(bytes.data()), 64, 64, 1, 64 * row.bytes, 64 * 64 * row.bytes};
        detail::SamplerState sampler{};
        for (auto& mode : sampler.address) mode = detail::Address::clamp;
        int different = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const detail::Texel texel = fetch(view, sampler, {points[i].x, points[i].y, 0, 0});
            for (std::size_t c = 0; c < row.channels; ++c) {
                const auto computed = std::bit_cast<float>(texel.channel[c]);
                if (!(std::isnan(computed) && std::isnan(returned[i][c])) && computed != returned[i][c]) ++different;
            }
        }
        EXPECT_EQ(different, 0);
    }
}

TEST(CaptureFileTest, ADamagedOneIsRefusedByName) {
    const fs::path good = captures() / (capture_names().front() + ".cap");
    std::ifstream file(good, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const fs::path damaged = fs::path(testing::TempDir()) / "texton_damaged.cap";
    const auto refused = [&](const std::string& contents) {
        std::ofstream(damaged, std::ios::binary) << contents;
        try {
            const test::Capture capture(damaged);
            ADD_FAILURE() << "a damaged capture was read";
        } catch (const std::runtime_error& error) {
            EXPECT_NE(std::string(error.what()).find(damaged.string()), std::string::npos);
        }
    };
    refused("");
    refused(bytes.substr(0, 4));
    refused(bytes.substr(0, 40));
    refused(bytes.substr(0, bytes.size() - 1));
    refused(bytes + "x");
    refused(std::string(8, '\xff') + bytes.substr(8));
    fs::remove(damaged);
}

}  // namespace
}  // namespace texton
