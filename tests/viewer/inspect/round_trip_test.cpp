// Round trips to the device and back.
#include "viewer/inspect/round_trip.h"

#include <gtest/gtest.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

namespace texton::viewer {
namespace {

class RoundTripTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, RoundTripTest, test::every_device(), test::device_label);

TEST_P(RoundTripTest, EveryArrayKindSurvivesTheRoundTrip) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            test::upload(array, test::ReferenceArray(info, 8));
            std::size_t bytes = 0;
            std::size_t parts = 0;
            round_trip(device(), image_of(array), [&](const TripResult& result) {
                bytes += result.bytes;
                ++parts;
                EXPECT_EQ(result.different, 0u);
                EXPECT_FALSE(result.first.has_value());
            });
            EXPECT_EQ(bytes, packed_bytes(info));
            EXPECT_EQ(parts, trip_parts(info).size());
        }
    }
}

TEST_P(RoundTripTest, DamagedByteIsFoundAndNamed) {
    for (const Format format : {Format::rg16_float, Format::bc3_unorm}) {
        const ArrayInfo info{.format = format, .extent = {24, 20, 3}, .kind = ArrayKind::array_3d, .levels = 2};
        const Array array(device(), info);
        test::upload(array, test::ReferenceArray(info, 8));
        const std::size_t side = block_side(format);
        const std::size_t slice = packed_bytes(format, {24, 20, 1});
        // A byte of the second texel or block of the second row in the last slice.
        const std::size_t byte = slice * 2 + row_bytes(format, 24) + texton::info(format).bytes + 3;
        std::vector<TripResult> results;
        round_trip(
            device(), image_of(array), [&](const TripResult& result) { results.push_back(result); }, {}, byte);
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(results[0].different, 1u);
        ASSERT_TRUE(results[0].first.has_value());
        EXPECT_EQ(results[0].first->byte, byte);
        EXPECT_EQ(results[0].first->subresource.slice, 2u);
        EXPECT_EQ(results[0].first->texel, (Offset{side, side, 0}));
        EXPECT_EQ(results[0].first->expected ^ std::byte{1}, results[0].first->found);
        EXPECT_EQ(results[1].different, 0u);
    }
}

TEST_P(RoundTripTest, DamagedLayerAndFaceAreNamed) {
    const ArrayInfo info{
        .format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::cubemap_layered, .layers = 2, .levels = 4};
    const Array array(device(), info);
    test::upload(array, test::ReferenceArray(info, 8));
    Array other(device(), info);
    test::ReferenceArray changed(info, 8);
    // Face +y of the second cube at level 1, texel (3, 2).
    const Region at{{3, 2, 6 + 2}, {1, 1, 1}};
    const std::byte flipped = changed.read(1, at).front() ^ std::byte{0x80};
    changed.write(1, at, {&flipped, 1});
    test::upload(other, changed);
    for (const TripPart& part : trip_parts(info)) {
        const TripResult result = compare_part(image_of(array), other, part);
        const bool here = part.subresource == SubresourceIndex{.level = 1, .layer = 1, .face = 2};
        EXPECT_EQ(result.different, here ? 1u : 0u);
        if (here) {
            EXPECT_EQ(result.first->texel, (Offset{3, 2, 0}));
            EXPECT_EQ(result.first->found, flipped);
        }
    }
    const Array unlike(device(), {.format = Format::r8_uint, .extent = {8, 8}});
    test::expect_error([&] { (void)compare_part(image_of(array), unlike, {}); }, ErrorCode::bad_argument,
                       "texton::viewer::compare_part");
}

}  // namespace
}  // namespace texton::viewer
