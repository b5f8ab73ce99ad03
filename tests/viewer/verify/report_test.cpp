// Reports as files. report_browser_test.cpp tests them in a browser.
#include <algorithm>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/image_difference.h"
#include "viewer/verify/report.h"
#include "viewer/verify/report_images.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::HasSubstr;
using testing::Not;

class ReportTest : public testing::Test {
protected:
    /// Adds a case whose only texel that differs is `at`.
    void add(const std::string& name, Extent extent, Offset at) {
        HostImage expected(Format::rgba8_unorm, extent), actual = expected;
        std::memset(&actual.texels[(at.y * extent.width + at.x) * 4], 255, 4);
        Result result;
        result.outcome = Outcome::differs;
        result.comparisons.push_back(difference_of(expected, actual, criteria_).comparison);
        result.criteria.push_back(&criteria_);
        result.images.push_back(std::move(actual));
        result.reference.emplace().images.push_back(std::move(expected));
        add(name, std::move(result));
    }
    void add(const std::string& name, Result result) {
        Case& of = suite_.cases.emplace_back();
        of.name = name;
        of.work = FilesCase{};
        results_.push_back(std::move(result));
    }
    std::string report(const std::string& name, const ReportOptions& options = {}) {
        suite_.name = "suite";
        std::vector<const Case*> cases;
        for (const Case& each : suite_.cases) cases.push_back(&each);
        write_report(folder_.at(name), suite_, Device::cpu(), cases, results_, options);
        return text(options.single_file ? name : name + "/index.html");
    }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_.at(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    test::ImageFolder folder_;
    Criteria criteria_;
    Suite suite_;
    std::vector<Result> results_;
};

TEST_F(ReportTest, PagesAllowTheBrowserToLoadNothing) {
    add("a", {4, 4}, {1, 1});
    const std::string policy = "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src";
    EXPECT_THAT(report("out"), HasSubstr(policy));
    EXPECT_THAT(text("out/a/index.html"), HasSubstr(policy));
    EXPECT_THAT(report("one.html", {.single_file = true}), HasSubstr(policy));
    for (const char* page : {"out/index.html", "out/a/index.html", "one.html"})
        EXPECT_THAT(text(page),
                    testing::AllOf(Not(HasSubstr("http:")), Not(HasSubstr("https:")), Not(HasSubstr("url("))));
}

TEST_F(ReportTest, TextOfSuitesIsNeverMarkup) {
    Result result;
    result.outcome = Outcome::failed;
    result.message = "<script>alert(1)</script>";
    result.output = "</pre><script>alert(2)</script>";
    add("<img src=x>\"'&", std::move(result));
    const std::string page = report("one.html", {.single_file = true});
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, Not(HasSubstr("<img src=x>")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(2)"));
}

TEST_F(ReportTest, LargeImagesAreReducedAndTheWorstTexelsAreShownInFullSize) {
    add("large", {2100, 2000}, {1500, 1234});
    const std::string index = report("out");
    const std::string page = text("out/large/index.html");
    EXPECT_THAT(page, HasSubstr("reduced to 1/2 of their sides"));
    EXPECT_THAT(page, HasSubstr("data-width=\"2100\" data-height=\"2000\" data-left=\"0\" data-top=\"0\""));
    EXPECT_THAT(page, HasSubstr("data-width=\"512\" data-height=\"512\" data-left=\"1244\" data-top=\"978\""));
    EXPECT_EQ(read_image(folder_.at("out/large/actual.png")).extent, (Extent{2100, 2000}));
    EXPECT_LT(page.size(), std::size_t{2} << 20);
}

TEST_F(ReportTest, ReducedMapsKeepTheBrightestTexel) {
    ShownImage image{{5, 4}, std::vector<std::byte>(80)};
    image.texels[4 * (3 * 5 + 4) + 1] = std::byte{200};
    image.texels[0] = std::byte{8};
    const ShownImage map = reduced(image, 2, Reduction::brightest), mean = reduced(image, 2, Reduction::mean);
    EXPECT_EQ(map.extent, (Extent{3, 2}));
    EXPECT_EQ(map.texels[4 * 5 + 1], std::byte{200});
    EXPECT_EQ(mean.texels[4 * 5 + 1], std::byte{100});  // two texels at the edge
    EXPECT_EQ(mean.texels[0], std::byte{2});
    EXPECT_EQ(map.texels[4 * 1], std::byte{0});
}

TEST_F(ReportTest, ImagesOfOtherSizesAreShownBesideEachOther) {
    Result result;
    result.outcome = Outcome::differs;
    result.images = {HostImage(Format::rgba8_unorm, {6, 4}), HostImage(Format::rgba8_unorm, {3, 3})};
    result.images[0].name = "a.png";
    result.images[1].name = "new.png";
    result.criteria.assign(2, &criteria_);
    result.reference.emplace().images = {HostImage(Format::rgba8_unorm, {5, 4}),
                                         HostImage(Format::rgba8_unorm, {2, 2})};
    result.reference->images[0].name = "a.png";
    result.reference->images[1].name = "old.png";
    add("shapes", std::move(result));
    (void)report("out");
    const std::string page = text("out/shapes/index.html");
    EXPECT_THAT(page, HasSubstr("Expected: 5 x 4 of rgba8_unorm; actual: 6 x 4 of rgba8_unorm"));
    EXPECT_THAT(page, HasSubstr("Actual: 3 x 3 of rgba8_unorm"));
    EXPECT_THAT(page, HasSubstr("Expected: 2 x 2 of rgba8_unorm; there is no such image in the result"));
}

TEST_F(ReportTest, LikeFailuresAreListedTogether) {
    for (const char* name : {"a", "b", "c"}) add(name, {4, 4}, {1, 1});
    add("other", {4, 4}, {2, 1});
    const std::string index = report("out");
    EXPECT_THAT(index, HasSubstr("<summary>2 like failures</summary>"));
    const auto groups = [&] {
        std::size_t count = 0;
        for (std::size_t at = index.find("group card"); at != std::string::npos; at = index.find("group card", at + 1))
            ++count;
        return count;
    };
    EXPECT_EQ(groups(), 2U);
}

TEST_F(ReportTest, PathThatCannotHoldTheReportIsRefused) {
    fs::create_directories(folder_.at("folder"));
    std::ofstream(folder_.at("file")) << "x";
    expect_error([&] { (void)report("file"); }, ErrorCode::bad_argument, "texton::verify", {"file, which is a file"});
    expect_error([&] { (void)report("folder", {.single_file = true}); }, ErrorCode::bad_argument, "texton::verify",
                 {"folder, which is a folder"});
    expect_error([&] { (void)report("file/in"); }, ErrorCode::io, "texton::verify",
                 {"file/in of the report cannot be created"});
    EXPECT_EQ(text("file"), "x");
}

}  // namespace
}  // namespace texton::verify
