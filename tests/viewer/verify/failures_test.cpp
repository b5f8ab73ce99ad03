// Order and groups of failures.
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include "viewer/verify/failures.h"
#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

using testing::ElementsAre;

constexpr Extent kExtent{4, 4};

class FailureGroupsTest : public testing::Test {
protected:
    /// Adds a case whose image differs from zeros in texel `at` by `step` codes.
    void add(std::size_t at, int step, Extent extent = kExtent) {
        HostImage expected(Format::r8_unorm, extent), actual = expected;
        actual.texels[at] = static_cast<std::byte>(step);
        add_compared(std::move(expected), std::move(actual));
    }
    void add_compared(HostImage expected, HostImage actual) {
        Result result;
        result.outcome = Outcome::differs;
        result.comparisons.push_back(difference_of(expected, actual, criteria_).comparison);
        result.criteria.push_back(&criteria_);
        result.images.push_back(std::move(actual));
        result.reference.emplace().images.push_back(std::move(expected));
        add(std::move(result));
    }
    void add(Outcome outcome, const std::string& message) {
        Result result;
        result.outcome = outcome;
        result.message = message;
        add(std::move(result));
    }
    void add(Result result) {
        const std::string name = "case " + std::to_string(results_.size());
        Case& of = cases_.emplace_back();
        of.where = "s.json, '" + name + "'";
        of.work = FilesCase{};
        results_.push_back(std::move(result));
    }
    std::vector<std::vector<std::size_t>> groups() const {
        std::vector<const Case*> cases;
        for (const Case& each : cases_) cases.push_back(&each);
        std::vector<std::vector<std::size_t>> out;
        for (const FailureGroup& group : failure_groups(cases, results_)) out.push_back(group.results);
        return out;
    }

    Criteria criteria_;
    std::vector<Case> cases_;
    std::vector<Result> results_;
};

TEST_F(FailureGroupsTest, SevereFailuresComeFirst) {
    add(Outcome::no_reference, "none");
    add(1, 3);
    add(Outcome::passed, "");
    add(2, 200);
    add(Outcome::differs, "the image is 4 x 4, but the reference is 5 x 4");
    add(Outcome::skipped, "no file");
    add(Outcome::failed, "no file");
    EXPECT_THAT(groups(), ElementsAre(ElementsAre(6), ElementsAre(4), ElementsAre(3), ElementsAre(1), ElementsAre(0)));
}

TEST_F(FailureGroupsTest, NanIsMoreSevereThanAnyNumber) {
    const HostImage zeros(Format::r32_float, kExtent);
    HostImage large = zeros, nan = zeros;
    const float values[2] = {1e30f, std::numeric_limits<float>::quiet_NaN()};
    std::memcpy(large.texels.data(), &values[0], sizeof(float));
    std::memcpy(nan.texels.data(), &values[1], sizeof(float));
    add_compared(zeros, large);
    add_compared(zeros, nan);
    EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(0)));
}

TEST_F(FailureGroupsTest, EqualTexelsAndSizesOfDifferencesAreAlike) {
    add(5, 4);
    add(5, 7);  // in the same power of two
    add(6, 7);  // another texel
    add(5, 8);  // another power of two
    add(5, 7, {4, 5});
    EXPECT_THAT(groups(), ElementsAre(ElementsAre(3), ElementsAre(1, 0), ElementsAre(2), ElementsAre(4)));
}

TEST_F(FailureGroupsTest, DifferencesThatAreNotComparedDoNotCount) {
    add(5, 4);
    HostImage expected(Format::r8_unorm, kExtent), actual = expected;
    actual.texels[5] = std::byte{4};
    actual.texels[0] = std::byte{99};
    criteria_.mask.rectangles.push_back({{0, 0}, {1, 1}});
    add_compared(expected, actual);
    EXPECT_EQ(groups().size(), 1U);
}

TEST_F(FailureGroupsTest, BitsThatDifferWithoutADistanceAreDistinguished) {
    const HostImage zeros(Format::r32_float, kExtent);
    for (const std::size_t at : {1, 2, 1}) {
        HostImage negative = zeros;
        negative.texels[4 * at + 3] = std::byte{0x80};  // -0
        add_compared(zeros, negative);
    }
    EXPECT_THAT(groups(), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST_F(FailureGroupsTest, EqualMessagesAreAlikeApartFromThePosition) {
    add(Outcome::failed, "s.json, 'case 0': the command does not exist");
    add(Outcome::failed, "s.json, 'case 1': the command does not exist");
    add(Outcome::failed, "s.json, 'case 2': the command was killed");
    add(Outcome::no_reference, "s.json, 'case 3': the command was killed");
    EXPECT_THAT(groups(), ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

}  // namespace
}  // namespace texton::verify
