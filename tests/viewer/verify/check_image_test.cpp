// check_image() and the assertions of <texton/expect_image.h>: on memory of every kind, updates, reports and errors.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/expect_image.h>
#include <texton/image.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>

#include "tests/support/image_folder.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "viewer/verify/approval.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Extent kExtent{8, 6};

/// Returns an image of rgba8_unorm with texels that depend on the seed.
HostImage noise(unsigned seed, Extent extent = kExtent, Format format = Format::rgba8_unorm) {
    return draw({.seed = seed}, {.format = format, .extent = extent}).levels.at(0);
}

/// Returns the image with the red code of one texel changed by 2.
HostImage two_codes_off(HostImage image) {
    image.texels[4] ^= std::byte{2};
    return image;
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Folders of references and of a report, which the environment variables name.
class Folders {
public:
    Folders() {
        set("TEXTON_REFERENCES", references().string());
        set("TEXTON_REPORT", report().string());
    }
    ~Folders() {
        for (const char* name : {"TEXTON_REFERENCES", "TEXTON_REPORT", "TEXTON_UPDATE_REFERENCES", "TEXTON_UPDATE_AS"})
            unsetenv(name);
        set_image_references({});
    }

    static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
    fs::path path() const { return folder_.path(); }
    fs::path references() const { return folder_.at("references"); }
    fs::path report() const { return folder_.at("report"); }

    /// Checks in an update, with the variant if it is not empty.
    template <class Checked>
    ImageCheck update(const Checked& image, const std::string& name, const std::string& variant = "") const {
        set("TEXTON_UPDATE_REFERENCES", "1");
        set("TEXTON_UPDATE_AS", variant);
        ImageCheck check = check_image(image, name);
        set("TEXTON_UPDATE_REFERENCES", "0");
        set("TEXTON_UPDATE_AS", "");
        return check;
    }
    /// Writes a reference as `texton verify --update` does.
    void approve(const HostImage& image, const std::string& name) const {
        Suite suite;
        suite.references = references();
        suite.cases = {{.name = name, .where = {}, .criteria = {}, .work = FilesCase{}}};
        std::vector<Result> results(1);
        results[0].outcome = Outcome::no_reference;
        results[0].images = {image};
        const std::vector<const Case*> cases{&suite.cases[0]};
        write_update(suite, Device::cpu(), "", cases, results, update_of(cases, results));
    }

private:
    test::ImageFolder folder_;
};

class CheckImageTest : public testing::Test {
protected:
    Folders folders_;
};

// --- passing and failing ---------------------------------------------------------------------------------------------

TEST_F(CheckImageTest, AnEqualImagePasses) {
    folders_.approve(noise(1), "a");
    const ImageCheck check = check_image(noise(1).view(), "a");
    EXPECT_TRUE(check) << check.message;
    EXPECT_EQ(check.message, "");
    EXPECT_FALSE(check.approved);
    EXPECT_EQ(check.reference, folders_.references() / "a.texref");
    EXPECT_EQ(check.report, "");
    EXPECT_FALSE(fs::exists(folders_.report()));
}

TEST_F(CheckImageTest, AFailureNamesLimitsWorstTexelsReferenceReportAndRemedy) {
    folders_.approve(noise(1), "a b");
    const ImageCheck check = check_image(two_codes_off(noise(1)).view(), "a b", {}, "Some.Test");
    EXPECT_FALSE(check);
    EXPECT_THAT(check.message, AllOf(HasSubstr("image 'a b' differs from its reference: 1 of 48 texels differ: max ulp "
                                               "2 (allowed: 0)\n"),
                                     HasSubstr("\n    (1, 0): "), HasSubstr(", 2 ulp\n")));
    EXPECT_THAT(check.message, HasSubstr("\n  reference: " + (folders_.references() / "a_b.texref").string() + '\n'));
    EXPECT_THAT(check.message, HasSubstr("run the test again with TEXTON_UPDATE_REFERENCES=1"));
    EXPECT_EQ(check.report, folders_.report() / "Some.Test@a_b" / "index.html");
    EXPECT_THAT(check.message, HasSubstr("\n  report: " + check.report.string()));
    EXPECT_THAT(text_of(check.report), HasSubstr("1 of 48 texels differ"));
    unsetenv("TEXTON_REPORT");
    EXPECT_THAT(check_image(two_codes_off(noise(1)).view(), "a b").message, HasSubstr("set TEXTON_REPORT"));
}

TEST_F(CheckImageTest, EachLimitDecides) {
    folders_.approve(noise(1), "a");
    const HostImage image = two_codes_off(noise(1));
    const auto passes = [&](const ImageLimits& limits) { return check_image(image.view(), "a", limits).passed; };
    EXPECT_TRUE(passes({.ulp = 2}));
    EXPECT_FALSE(passes({.ulp = 1}));
    EXPECT_TRUE(passes({.max = 0.008}));
    EXPECT_FALSE(passes({.max = 0.007}));
    EXPECT_TRUE(passes({.mse = 1e-6}));
    EXPECT_FALSE(passes({.mse = 1e-8}));
    EXPECT_TRUE(passes({.psnr = 60}));
    EXPECT_FALSE(passes({.psnr = 90}));
    EXPECT_TRUE(passes({.ssim = 0.99}));
    EXPECT_FALSE(passes({.ssim = 1}));
    EXPECT_TRUE(passes({.share = 0.03}));
    EXPECT_FALSE(passes({.share = 0.02}));
    EXPECT_TRUE(passes({.count = ImageTexelCount{.texels = 1, .ulp = 1}}));
    EXPECT_FALSE(passes({.count = ImageTexelCount{.texels = 0, .ulp = 1}}));
    EXPECT_TRUE(passes({.count = ImageTexelCount{.texels = 0, .max = 0.008}}));
    EXPECT_FALSE(passes({.count = ImageTexelCount{.texels = 0, .max = 0.007}}));
    EXPECT_TRUE(passes({.flip = ImageFlip{.mean = 0.1}}));
    EXPECT_FALSE(passes({.flip = ImageFlip{.mean = 1e-9}}));
    EXPECT_FALSE(passes({.flip = ImageFlip{.mean = 0.1, .max = 1e-9}}));
    EXPECT_FALSE(passes({.ulp = 2, .share = 0.02}));
    EXPECT_TRUE(passes({.mask = {{1, 0, 1, 1}}}));
    EXPECT_FALSE(passes({.mask = {{2, 0, 1, 1}}}));
    EXPECT_TRUE(passes({.ignore = "ra"}));
    EXPECT_FALSE(passes({.ignore = "gba"}));
}

TEST_F(CheckImageTest, CriteriaOfSuitesAreGivenAsJson) {
    folders_.approve(noise(1), "a");
    const HostImage image = two_codes_off(noise(1));
    const auto passes = [&](const std::string& json, std::optional<std::uint32_t> ulp = {}) {
        return check_image(image.view(), "a", {.ulp = ulp, .json = json}).passed;
    };
    EXPECT_TRUE(passes(R"({"tolerance": {"ulp": 2}})"));
    EXPECT_FALSE(passes(R"({"tolerance": {"ulp": 1}})"));
    EXPECT_FALSE(passes(R"({"tolerance": {"ulp": 1}})", 2));  // replaces the member
    EXPECT_TRUE(passes(R"({"regions": [{"rectangle": [1, 0, 1, 1], "tolerance": {"ulp": 2}}]})"));
    EXPECT_FALSE(passes(R"({"regions": [{"rectangle": [2, 0, 1, 1], "tolerance": {"ulp": 2}}]})"));
    EXPECT_TRUE(passes(R"({"devices": [{"match": {"name": "*"}, "tolerance": {"ulp": 2}}]})"));
    EXPECT_FALSE(passes(R"({"devices": [{"match": {"name": "?"}, "tolerance": {"ulp": 2}}]})"));
}

TEST_F(CheckImageTest, WithoutLimitsTheStoredBitsMustBeEqual) {
    HostImage image(Format::r32_float, {2, 1});
    folders_.approve(image, "zero");
    image.texels[3] = std::byte{0x80};  // -0
    EXPECT_THAT(check_image(image.view(), "zero").message, HasSubstr("stored bits of 1 texels differ"));
    EXPECT_TRUE(check_image(image.view(), "zero", {.max = 0}));
}

TEST_F(CheckImageTest, OtherSizesAndFormatsFail) {
    folders_.approve(noise(1), "a");
    EXPECT_THAT(check_image(noise(1, {8, 5}).view(), "a").message,
                HasSubstr("the image is 8 x 5 of rgba8_unorm, but the reference is 8 x 6 of rgba8_unorm"));
    EXPECT_THAT(check_image(noise(1, kExtent, Format::rg8_unorm).view(), "a").message, HasSubstr("of rg8_unorm, but"));
}

TEST_F(CheckImageTest, AMissingReferenceFailsAndSaysHowToApprove) {
    const ImageCheck check = check_image(noise(1).view(), "new");
    EXPECT_FALSE(check);
    EXPECT_THAT(check.message, AllOf(HasSubstr("image 'new' has no reference"), HasSubstr("new.texref"),
                                     HasSubstr("TEXTON_UPDATE_REFERENCES=1")));
    EXPECT_THAT(text_of(check.report), HasSubstr("TEXTON_UPDATE_REFERENCES=1"));
    EXPECT_FALSE(fs::exists(folders_.references()));
}

TEST_F(CheckImageTest, OneOfSeveralVariantsIsEnough) {
    EXPECT_TRUE(folders_.update(noise(1).view(), "a"));
    EXPECT_TRUE(folders_.update(noise(2).view(), "a", "sm 90"));
    const ImageCheck check = check_image(noise(2).view(), "a");
    EXPECT_TRUE(check) << check.message;
    EXPECT_EQ(check.reference.filename(), "a@sm_90.texref");
    EXPECT_TRUE(check_image(noise(1).view(), "a"));
    EXPECT_FALSE(check_image(noise(3).view(), "a"));
}

// --- the folder of the references ------------------------------------------------------------------------------------

TEST_F(CheckImageTest, TheFolderIsThatOfTheVariableOrOfTheFunctionOrBesideTheSource) {
    folders_.approve(noise(1), "a");
    const auto reference = [&] { return check_image(noise(1).view(), "a").reference; };
    set_image_references(folders_.path() / "other");
    EXPECT_EQ(reference(), folders_.references() / "a.texref");
    Folders::set("TEXTON_REFERENCES", "");
    EXPECT_EQ(reference(), folders_.path() / "other" / "a.texref");
    set_image_references({});
    EXPECT_EQ(reference(), fs::path(__FILE__).parent_path() / "references" / "a.texref");
}

// --- updates ---------------------------------------------------------------------------------------------------------

TEST_F(CheckImageTest, AnUpdateWritesTheBytesOfAnUpdateOfTheCommand) {
    const ImageCheck check = folders_.update(noise(1).view(), "a");
    EXPECT_TRUE(check.passed && check.approved) << check.message;
    const std::string written = text_of(check.reference);
    fs::remove(check.reference);
    folders_.approve(noise(1), "a");
    EXPECT_EQ(text_of(check.reference), written);
    EXPECT_FALSE(folders_.update(noise(1).view(), "a").approved) << "an equal image needs no update";
    EXPECT_EQ(text_of(check.reference), written);
}

TEST_F(CheckImageTest, AnImageWithinTheLimitsBecomesTheReference) {
    folders_.approve(noise(1), "a");
    Folders::set("TEXTON_UPDATE_REFERENCES", "1");
    EXPECT_TRUE(check_image(two_codes_off(noise(1)).view(), "a", {.ulp = 2}).approved);
    EXPECT_EQ(read_reference(folders_.references() / "a.texref").images, std::vector{two_codes_off(noise(1))});
}

TEST_F(CheckImageTest, AnUpdatedReferencePassesInASuite) {
    const HostImage image = noise(1, kExtent, Format::rgba8_srgb);
    write_image(folders_.path() / "file.png", image.format, kExtent, image.texels);
    ASSERT_TRUE(folders_.update(image.view(), "file"));
    std::ofstream(folders_.path() / "s.json")
        << R"({"references": "references", "cases": [{"name": "file", "images": "file.png"}]})";
    const Suite suite = read_suite(folders_.path() / "s.json");
    const Result result = run_case(suite.cases.at(0), suite, Device::cpu());
    EXPECT_EQ(result.outcome, Outcome::passed) << result.message;
    EXPECT_TRUE(result.equal);
    EXPECT_TRUE(update_of({&suite.cases.at(0)}, {result}).empty());
}

TEST_F(CheckImageTest, AReferenceOfASuitePassesInACheck) {
    std::ofstream(folders_.path() / "s.json") << R"({"references": "references", "cases": [{"name": "a", "kernel":
        "resample", "input": {"pattern": "noise", "seed": 1, "size": [8, 6]}, "parameters": {"filter": "nearest"}}]})";
    const Suite suite = read_suite(folders_.path() / "s.json");
    const std::vector<const Case*> cases{&suite.cases.at(0)};
    const std::vector<Result> results = run_cases(cases, suite, Device::cpu());
    write_update(suite, Device::cpu(), "", cases, results, update_of(cases, results));
    const fs::path reference = folders_.references() / "a.texref";
    const std::string before = text_of(reference);
    ASSERT_FALSE(read_reference(reference).inputs.empty());
    EXPECT_TRUE(check_image(results[0].images.at(0).view(), "a"));
    EXPECT_FALSE(folders_.update(results[0].images.at(0).view(), "a").approved) << "hashes of inputs are not compared";
    EXPECT_EQ(text_of(reference), before);
}

TEST_F(CheckImageTest, ASecondImageOfANameIsNotApproved) {
    ASSERT_TRUE(folders_.update(noise(1).view(), "a").approved);
    EXPECT_TRUE(folders_.update(noise(1).view(), "a").passed);
    const ImageCheck second = folders_.update(noise(2).view(), "a");
    EXPECT_FALSE(second.passed || second.approved);
    EXPECT_THAT(second.message, AllOf(HasSubstr("differs from another image with the name 'a' in this process"),
                                      HasSubstr("TEXTON_UPDATE_AS")));
    Folders::set("TEXTON_UPDATE_REFERENCES", "1");
    const ImageCheck near = check_image(two_codes_off(noise(1)).view(), "a", {.ulp = 2});
    EXPECT_TRUE(near.passed && !near.approved) << near.message;
    EXPECT_EQ(read_reference(folders_.references() / "a.texref").images, std::vector{noise(1)});
}

TEST_F(CheckImageTest, AnImageThatEqualsTheReferenceKeepsIt) {
    folders_.approve(noise(1), "a");
    EXPECT_FALSE(folders_.update(noise(1).view(), "a").approved);
    EXPECT_FALSE(folders_.update(noise(2).view(), "a").approved);
    EXPECT_EQ(read_reference(folders_.references() / "a.texref").images, std::vector{noise(1)});
}

TEST_F(CheckImageTest, AFailedUpdateKeepsTheReference) {
    folders_.approve(noise(1), "a");
    const fs::path reference = folders_.references() / "a.texref";
    const std::string before = text_of(reference);
    EXPECT_THAT(folders_.update(View(), "a").message, HasSubstr("the view is empty"));
    EXPECT_EQ(text_of(reference), before);
    fs::create_directories(folders_.references() / "a@folder.texref");
    const ImageCheck check = folders_.update(noise(2).view(), "a", "folder");
    EXPECT_FALSE(check.passed || check.approved);
    EXPECT_THAT(check.message, HasSubstr("a@folder.texref"));
    EXPECT_EQ(text_of(reference), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folders_.references()), {}), 2) << "no temporary file is left";
}

// --- the report ------------------------------------------------------------------------------------------------------

TEST_F(CheckImageTest, TheReportListsTheChecksThatStillFail) {
    for (const char* name : {"a", "b"}) folders_.approve(noise(1), name);
    (void)check_image(noise(2).view(), "a", {}, "First");
    (void)check_image(noise(2).view(), "b", {}, "Second<");
    const fs::path list = folders_.report() / "index.html";
    EXPECT_THAT(text_of(list), AllOf(HasSubstr("href=\"First@a/index.html\""), HasSubstr("Second_@b/index.html")));
    EXPECT_TRUE(check_image(noise(1).view(), "a", {}, "First"));
    EXPECT_THAT(text_of(list), HasSubstr("First@a/")) << "a failure of this process stays";
    // A page that an earlier process wrote.
    fs::rename(folders_.report() / "First@a", folders_.report() / "Third@a");
    EXPECT_TRUE(check_image(noise(1).view(), "a", {}, "Third"));
    EXPECT_THAT(text_of(list), AllOf(Not(HasSubstr("@a/")), HasSubstr("Second_@b/")));
}

TEST_F(CheckImageTest, AReportThatCannotBeWrittenChangesNoResult) {
    folders_.approve(noise(1), "a");
    std::ofstream(folders_.report()) << "a file";
    EXPECT_TRUE(check_image(noise(1).view(), "a"));
    const ImageCheck check = check_image(two_codes_off(noise(1)).view(), "a");
    EXPECT_FALSE(check);
    EXPECT_EQ(check.report, "");
    EXPECT_THAT(check.message, AllOf(HasSubstr("max ulp 2"), HasSubstr("the report could not be written: ")));
}

TEST_F(CheckImageTest, ATestWithoutANameHasThatOfTheProgram) {
    EXPECT_EQ(check_image(noise(1).view(), "a").report.parent_path().filename(),
              std::string(program_invocation_short_name) + "@a");
}

// --- errors ----------------------------------------------------------------------------------------------------------

TEST_F(CheckImageTest, WrongNamesAndLimitsAreFailures) {
    folders_.approve(noise(1), "a");
    const auto message = [](const std::string& name, const ImageLimits& limits = {}) {
        const ImageCheck check = check_image(noise(1).view(), name, limits);
        EXPECT_FALSE(check);
        return check.message;
    };
    EXPECT_THAT(message(""), HasSubstr("the name is empty"));
    (void)check_image(noise(1).view(), "b c");
    EXPECT_THAT(message("b_c"), HasSubstr("the names 'b c' and 'b_c' have the same reference b_c.texref"));
    EXPECT_THAT(message("a", {.ignore = "x"}), HasSubstr("ImageLimits::ignore is 'x'"));
    EXPECT_THAT(message("a", {.flip = ImageFlip{}}), HasSubstr("ImageLimits::flip has neither mean nor max"));
    EXPECT_THAT(message("a", {.json = "{"}), HasSubstr("ImageLimits::json is not JSON: {"));
    EXPECT_THAT(message("a", {.json = "{\"ulp\": 1}"}), HasSubstr("'ulp'"));
    EXPECT_THAT(message("a", {.count = ImageTexelCount{.texels = 1}}), HasSubstr("neither ulp nor max"));
    EXPECT_THAT(check_image(two_codes_off(noise(1)).view(), "a", {.mask = {{7, 0, 2, 1}}}).message,
                HasSubstr("ImageLimits: 'mask' has a rectangle that ends at 9, 1, but the image is 8 x 6"));
    EXPECT_THAT(check_image(two_codes_off(noise(1)).view(), "a", {.ignore = "rgba"}).message,
                HasSubstr("'ignore' leaves no channel to compare"));
    EXPECT_TRUE(folders_.update(noise(1).view(), "../a\n"));
    EXPECT_TRUE(fs::exists(folders_.references() / ".._a_.texref"));
}

TEST_F(CheckImageTest, DamagedReferencesAndFoldersAreFailures) {
    fs::create_directories(folders_.references());
    std::ofstream(folders_.references() / "a.texref") << "not a reference";
    EXPECT_THAT(check_image(noise(1).view(), "a").message,
                AllOf(HasSubstr("image 'a' cannot be checked: "), HasSubstr("a.texref is not a reference")));
    EXPECT_FALSE(folders_.update(noise(1).view(), "a").approved);
    Folders::set("TEXTON_REFERENCES", (folders_.references() / "a.texref").string());
    EXPECT_THAT(check_image(noise(1).view(), "b").message,
                AllOf(HasSubstr("the folder of the references"), HasSubstr("cannot be read")));
}

TEST_F(CheckImageTest, WrongVariablesAndImagesAreFailures) {
    Folders::set("TEXTON_UPDATE_REFERENCES", "yes");
    EXPECT_THAT(check_image(noise(1).view(), "a").message,
                HasSubstr("TEXTON_UPDATE_REFERENCES is 'yes'. Set it to 1 to approve images, or to 0"));
    Folders::set("TEXTON_UPDATE_REFERENCES", "");
    EXPECT_THAT(check_image(Array(), "a").message, HasSubstr("image 'a' cannot be checked"));
    EXPECT_THAT(check_image(std::vector<ConstView>{}, "a").message, HasSubstr("there are no images"));
    EXPECT_THAT(check_image(Image{Format::r8_unorm, {2, 2}, std::vector<std::byte>(3)}, "a").message,
                HasSubstr("the image has 3 bytes, but 2 x 2 of r8_unorm are 4"));
}

// --- threads ---------------------------------------------------------------------------------------------------------

TEST_F(CheckImageTest, ThreadsCheckAndApproveAtOnce) {
    constexpr unsigned kThreads = 8, kImages = 6;
    std::vector<int> failures(kThreads);
    const auto run = [&](auto check) {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < kThreads; ++t)
            threads.emplace_back([&, t] {
                for (unsigned i = 0; i < kImages; ++i) failures[t] += check(t, i) ? 0 : 1;
            });
        threads.clear();
        return std::ranges::count(failures, 0);
    };
    Folders::set("TEXTON_UPDATE_REFERENCES", "1");
    // All threads approve the same images, and one of their own.
    EXPECT_EQ(run([](unsigned t, unsigned i) {
                  return check_image(noise(i).view(), std::to_string(i)) &&
                         check_image(noise(t).view(), "own " + std::to_string(t));
              }),
              kThreads);
    EXPECT_EQ(std::distance(fs::directory_iterator(folders_.references()), {}), kThreads + kImages);
    Folders::set("TEXTON_UPDATE_REFERENCES", "0");
    EXPECT_EQ(run([](unsigned t, unsigned i) {
                  const ImageCheck good = check_image(noise(i).view(), std::to_string(i));
                  const ImageCheck bad =
                      check_image(two_codes_off(noise(i)).view(), std::to_string(i), {}, "T" + std::to_string(t));
                  return good.passed && !bad.passed && fs::exists(bad.report);
              }),
              kThreads);
    const std::string list = text_of(folders_.report() / "index.html");
    EXPECT_THAT(list, HasSubstr("failed: " + std::to_string(kThreads * kImages)));
}

// --- assertions of GoogleTest ----------------------------------------------------------------------------------------

TEST_F(CheckImageTest, ExpectImagePassesOrFailsWithTheMessage) {
    folders_.approve(noise(1), "a");
    EXPECT_IMAGE(noise(1).view(), "a");
    EXPECT_IMAGE(two_codes_off(noise(1)).view(), "a", {.ulp = 2, .share = 0.1});
    EXPECT_NONFATAL_FAILURE(EXPECT_IMAGE(two_codes_off(noise(1)).view(), "a") << "with a note",
                            "max ulp 2 (allowed: 0)");
    EXPECT_NONFATAL_FAILURE(EXPECT_IMAGE(two_codes_off(noise(1)).view(), "a") << "with a note", "with a note");
    EXPECT_TRUE(fs::exists(folders_.report() / "CheckImageTest.ExpectImagePassesOrFailsWithTheMessage@a"));
}

TEST_F(CheckImageTest, AssertImageEndsTheFunction) {
    static bool went_on;
    went_on = false;
    EXPECT_FATAL_FAILURE(
        {
            ASSERT_IMAGE(noise(1).view(), "none");
            went_on = true;
        },
        "has no reference");
    EXPECT_FALSE(went_on);
    folders_.approve(noise(1), "none");
    ASSERT_IMAGE(noise(1).view(), "none");
}

TEST_F(CheckImageTest, AnElseAfterTheMacroBelongsToTheIfBeforeIt) {
    folders_.approve(noise(1), "a");
    bool other = false;
    if (folders_.path().empty())
        EXPECT_IMAGE(noise(2).view(), "a");
    else
        other = true;
    EXPECT_TRUE(other);
}

TEST_F(CheckImageTest, AnApprovedImageIsPrinted) {
    Folders::set("TEXTON_UPDATE_REFERENCES", "1");
    testing::internal::CaptureStdout();
    EXPECT_IMAGE(noise(1).view(), "a");
    EXPECT_IMAGE(noise(1).view(), "a");
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "[ APPROVED ] " + (folders_.references() / "a.texref").string() + '\n');
}

// --- memory of every kind --------------------------------------------------------------------------------------------

class CheckMemoryTest : public test::OnEveryDevice {
protected:
    /// Expects that the images equal what is approved for the host images, and that one changed texel is found.
    template <class Checked, class Change>
    void expect_checked(const Checked& image, const std::string& name, const Change& change) const {
        const ImageCheck first = folders_.update(image, name);
        EXPECT_TRUE(first.approved) << first.message;
        const ImageCheck equal = check_image(image, name);
        EXPECT_TRUE(equal) << equal.message;
        change();
        const ImageCheck changed = check_image(image, name);
        EXPECT_FALSE(changed) << name;
        EXPECT_THAT(changed.message, HasSubstr("1 of "));
        EXPECT_TRUE(fs::exists(changed.report)) << changed.message;
    }
    std::vector<HostImage> approved(const std::string& name) const {
        return read_reference(folders_.references() / (name + ".texref")).images;
    }

    Folders folders_;
};

TEST_P(CheckMemoryTest, ViewsOfMemoryOfEveryKindAreChecked) {
    const HostImage image = noise(7), texel = noise(8, {1, 1});
    for (const test::MemoryMaker& maker : test::memories(device(), peer(), image.format, kExtent)) {
        SCOPED_TRACE(maker.name);
        const test::Memory memory = maker.make(0);
        copy(memory.texels, image.view());
        expect_checked(memory.texels, maker.name, [&] { copy(memory.texels.region({{3, 2}, {1, 1}}), texel.view()); });
        const ImageCheck worst = check_image(memory.texels, maker.name);
        EXPECT_THAT(worst.message, HasSubstr("(3, 2): "));
    }
}

TEST_P(CheckMemoryTest, ARegionOfPitchedMemoryIsChecked) {
    const HostImage image = noise(7), texel = noise(8, {1, 1});
    const Pitched2D memory(device(), image.format, kExtent);
    copy(memory.view(), image.view());
    const View part = memory.view().region({{2, 1}, {4, 3}});
    expect_checked(part, "part", [&] { copy(part.region({{1, 1}, {1, 1}}), texel.view()); });
    EXPECT_EQ(approved("part").at(0).extent, (Extent{4, 3}));
    EXPECT_EQ(approved("part").at(0).texels[0], image.texels[4 * (8 + 2)]);
}

TEST_P(CheckMemoryTest, AllLevelsAndFacesOfAnArrayAreChecked) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {8, 8}, .kind = ArrayKind::cubemap, .levels = 3};
    const HostArray host = draw({.seed = 5}, info);
    const Array array = upload(device(), host);
    const HostImage texel = noise(9, {1, 1});
    expect_checked(array, "cube", [&] {
        copy(array.view({.level = 1, .face = 4, .region = Region{{2, 1, 0}, {1, 1}}}), texel.view());
    });
    const std::vector<HostImage> levels = approved("cube");
    ASSERT_EQ(levels.size(), 3U);
    EXPECT_EQ(levels[2].name, "level 2");
    EXPECT_EQ(levels[2].extent, (Extent{2, 2, 6}));
    EXPECT_EQ(levels[2].texels, host.levels[2].texels);
    EXPECT_THAT(check_image(array, "cube").message,
                AllOf(HasSubstr("level 1: 1 of 96 texels differ"), HasSubstr("\n    level 1 (2, 1, 4): ")));
}

TEST_P(CheckMemoryTest, ASubresourceIsChecked) {
    const ArrayInfo info{
        .format = Format::r16_float, .extent = {8, 6}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 2};
    const HostArray host = draw({.seed = 5, .range = {{0, 1}}}, info);
    const Array array = upload(device(), host);
    const View layer = array.view({.level = 1, .layer = 2});
    const HostImage texel(Format::r16_float, {1, 1});
    expect_checked(layer, "layer", [&] { copy(layer.region({{3, 2}, {1, 1}}), texel.view()); });
    EXPECT_EQ(approved("layer").at(0).extent, (Extent{4, 3}));
}

TEST_P(CheckMemoryTest, PlanesOfAPlanarArrayAreChecked) {
    const PlanarArray planar(device(), Format::nv12, {8, 6});
    const HostImage luma = noise(1, {8, 6}, Format::r8_unorm), chroma = noise(2, {4, 3}, Format::rg8_unorm);
    copy(planar.plane(0).view(), luma.view());
    copy(planar.plane(1).view(), chroma.view());
    const HostImage texel = noise(3, {1, 1}, Format::rg8_unorm);
    expect_checked(planar, "frame", [&] {
        copy(planar.plane(1).view({.region = Region{{1, 1}, {1, 1}}}), texel.view());
    });
    EXPECT_EQ(approved("frame").at(1).texels, chroma.texels);
    EXPECT_THAT(check_image(planar, "frame").message, HasSubstr("plane 1: 1 of 12 texels differ"));
}

TEST_P(CheckMemoryTest, BlocksAreDecoded) {
    const ArrayInfo info{.format = Format::bc1_srgb, .extent = {10, 7}};
    const HostArray host = draw({.seed = 5}, info);
    const Array array = upload(device(), host);
    EXPECT_TRUE(folders_.update(array, "blocks").approved);
    EXPECT_EQ(approved("blocks").at(0).text(), "10 x 7 of rgba8_srgb");
    EXPECT_TRUE(check_image(array, "blocks"));
    HostArray other = host;
    other.levels[0].texels[0] ^= std::byte{0x55};
    EXPECT_FALSE(check_image(upload(device(), other), "blocks"));
}

TEST_P(CheckMemoryTest, SeveralImagesHaveOneReference) {
    const HostImage image = noise(7), texel = noise(8, {1, 1});
    const Linear memory(device(), image.format, kExtent);
    const Array array(device(), {.format = image.format, .extent = kExtent});
    copy(memory.view(image.format, kExtent), image.view());
    copy(array.view(), noise(6).view());
    const std::vector<ConstView> frames{memory.view(image.format, kExtent), array.view()};
    expect_checked(frames, "frames", [&] { copy(array.view({.region = Region{{1, 2}, {1, 1}}}), texel.view()); });
    EXPECT_THAT(check_image(frames, "frames").message,
                AllOf(HasSubstr("image 1: 1 of 48 texels differ"), HasSubstr("\n    image 1 (1, 2): ")));
    EXPECT_THAT(check_image(array, "frames").message, HasSubstr("there are 1 images, but the reference has 2"));
}

TEST_P(CheckMemoryTest, TheReferenceNamesTheDeviceOfTheMemory) {
    const Array array(device(), {.format = Format::r8_unorm, .extent = {2, 2}});
    copy(array.view(), HostImage(Format::r8_unorm, {2, 2}).view());
    (void)folders_.update(array, "a");
    EXPECT_EQ(read_reference(folders_.references() / "a.texref").device, device().name());
}

INSTANTIATE_TEST_SUITE_P(Devices, CheckMemoryTest, test::every_device(), test::device_label);

TEST_F(CheckImageTest, AnImageOfAFileKeepsItsNumberOfChannels) {
    const HostImage image = noise(1);
    const Image read{image.format, image.extent, image.texels, 3};
    EXPECT_TRUE(folders_.update(read, "a").approved);
    EXPECT_EQ(read_reference(folders_.references() / "a.texref").images.at(0).file_channels, 3);
    EXPECT_THAT(check_image(image.view(), "a").message, HasSubstr("3 channels"));
}

}  // namespace
}  // namespace texton::verify
