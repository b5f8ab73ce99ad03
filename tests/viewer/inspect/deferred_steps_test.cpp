// The steps in the life of a deferred array.
#include "viewer/inspect/deferred_steps.h"

#include <set>

#include <gmock/gmock.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton::viewer {
namespace {

using testing::HasSubstr;

class DeferredStepsTest : public test::OnEveryDevice {
protected:
    Array image(ArrayKind kind = ArrayKind::array_2d, Format format = Format::rgba8_unorm) const {
        const ArrayInfo info = test::small_info(kind, format);
        Array array(device(), info);
        test::upload(array, test::ReferenceArray(info, 4));
        return array;
    }

    static std::set<DeferredStep> legal(const DeferredSteps& steps) {
        std::set<DeferredStep> out;
        for (const DeferredStep step : kDeferredSteps) {
            if (steps.obstacle(step).empty()) out.insert(step);
        }
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, DeferredStepsTest, test::every_device(), test::device_label);

TEST_P(DeferredStepsTest, EachStepAllowsTheNextStep) {
    using enum DeferredStep;
    DeferredSteps steps(image());
    EXPECT_EQ(legal(steps), (std::set{create}));
    ASSERT_TRUE(steps.run(create));
    EXPECT_EQ(legal(steps), (std::set{requirements}));
    ASSERT_TRUE(steps.run(requirements));
    EXPECT_EQ(legal(steps), (std::set{requirements, back}));
    ASSERT_TRUE(steps.run(back));
    EXPECT_EQ(legal(steps), (std::set{requirements, back, upload, sample, move, unmap}));
    ASSERT_TRUE(steps.run(unmap));
    EXPECT_EQ(legal(steps), (std::set{requirements, back}));
}

TEST_P(DeferredStepsTest, RefusedStepsReportTheMessageOfTheLibrary) {
    using enum DeferredStep;
    DeferredSteps steps(image());
    EXPECT_FALSE(steps.run(upload));
    EXPECT_TRUE(steps.log().back().failed);
    ASSERT_TRUE(steps.run(create));
    EXPECT_THAT(steps.obstacle(upload), HasSubstr("has no memory"));
    EXPECT_THAT(steps.obstacle(sample), HasSubstr("has no memory"));
    EXPECT_THAT(steps.obstacle(move), HasSubstr("DeferredArray::map()"));
    EXPECT_THAT(steps.obstacle(back), HasSubstr("requirements"));
    EXPECT_FALSE(steps.mapped());
    EXPECT_FALSE(steps.run(sample));
    EXPECT_THAT(steps.log().back().text, HasSubstr("has no memory"));
    EXPECT_EQ(steps.log().size(), 3u);
}

TEST_P(DeferredStepsTest, UploadedImageSurvivesAMoveForEveryArrayKind) {
    using enum DeferredStep;
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rgba8_unorm, Format::r32_sint, Format::rg16_float, Format::bc1_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            SCOPED_TRACE(std::string(name(kind)) + " " + std::string(name(format)));
            DeferredSteps steps(image(kind, format));
            for (const DeferredStep step : {create, requirements, back, upload, sample})
                ASSERT_TRUE(steps.run(step)) << steps.log().back().text;
            EXPECT_THAT(steps.log().back().text, HasSubstr("same as the image"));
            ASSERT_TRUE(steps.run(move)) << steps.log().back().text;
            ASSERT_TRUE(steps.run(sample));
            EXPECT_THAT(steps.log().back().text, HasSubstr("same as the image"));
            ASSERT_TRUE(steps.run(back));
            ASSERT_TRUE(steps.run(sample));
            EXPECT_THAT(steps.log().back().text, HasSubstr("nothing was uploaded"));
        }
    }
}

}  // namespace
}  // namespace texton::viewer
