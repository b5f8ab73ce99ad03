// The timeline of an upload.
#include "viewer/inspect/timeline.h"

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"
#include "tests/support/on_every_device.h"

namespace texton::viewer {
namespace {

LoadTiming two_parts() {
    LoadTiming timing;
    timing.steps = {
        {.bytes = 4'000'000, .decode_begin = 0, .decode_end = 4, .convert = 1, .copy_begin = 5, .copy_end = 7},
        {.bytes = 2'000'000, .decode_begin = 4, .decode_end = 6, .copy_begin = 7, .copy_end = 8}};
    timing.total = 9;
    return timing;
}

TEST(TimelineTest, StepsBecomeBarsAndTheKernelIsTheLastBar) {
    const Timeline timeline = timeline_of(two_parts(), 3.0);
    ASSERT_EQ(timeline.bars.size(), 9u);
    EXPECT_EQ(timeline.bars[0], (TimelineBar{TimelineLane::decode, 0, 0, 3, 4'000'000}));
    EXPECT_EQ(timeline.bars[1], (TimelineBar{TimelineLane::convert, 0, 3, 4, 4'000'000}));
    EXPECT_EQ(timeline.bars[2], (TimelineBar{TimelineLane::staging, 0, 4, 5, 4'000'000}));
    EXPECT_EQ(timeline.bars[7], (TimelineBar{TimelineLane::copy, 1, 7, 8, 2'000'000}));
    EXPECT_EQ(timeline.bars[8], (TimelineBar{TimelineLane::kernel, 0, 9, 12, 0}));
    EXPECT_EQ(timeline.total, 12);
    EXPECT_EQ(timeline.bytes, 6'000'000u);
    EXPECT_EQ(timeline_of(two_parts()).bars.size(), 8u);
    EXPECT_EQ(timeline_of({}).total, 0);
}

TEST(TimelineTest, OverlappingTimesOfALaneAreCountedOnce) {
    Timeline timeline = timeline_of(two_parts());
    EXPECT_EQ(timeline.busy(TimelineLane::decode), 5);
    EXPECT_EQ(timeline.busy(TimelineLane::convert), 1);
    EXPECT_EQ(timeline.busy(TimelineLane::copy), 3);
    EXPECT_EQ(timeline.busy(TimelineLane::kernel), 0);
    EXPECT_DOUBLE_EQ(timeline.rate(TimelineLane::copy), 2.0);  // 6 MB in 3 ms
    EXPECT_DOUBLE_EQ(timeline.bars[3].rate(), 2.0);
    EXPECT_EQ(timeline.overlap(), 1);                             // 5 to 6
    timeline.bars.push_back({TimelineLane::copy, 2, 6, 7.5, 0});  // overlaps the other bars
    EXPECT_EQ(timeline.busy(TimelineLane::copy), 3);
    EXPECT_EQ(TimelineBar{}.rate(), 0);
}

class UploadPeakTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, UploadPeakTest, test::every_device(), test::device_label);

TEST_P(UploadPeakTest, UploadPeakIsMeasuredAndCanBeCanceled) {
    EXPECT_GT(upload_peak(device(), std::size_t{1} << 20), 0);
    EXPECT_THROW((void)upload_peak(device(), 1 << 20, CancellationToken([] { return true; })), Canceled);
}

}  // namespace
}  // namespace texton::viewer
