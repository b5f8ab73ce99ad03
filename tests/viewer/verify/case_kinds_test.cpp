// Cases of commands, of files and of folders.
#include <cstring>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/report.h"
#include "viewer/verify/run_suite.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::AllOf;
using testing::HasSubstr;

class CaseKindsTest : public testing::Test {
protected:
    /// Returns a suite of one case with these keys.
    Suite suite(const std::string& keys) const {
        std::ofstream(folder_.at("s.json")) << R"({"cases": [{"name": "a", )" << keys << "}]}";
        return read_suite(folder_.at("s.json"), Outside::refused, Commands::allowed);
    }
    static Result run(const Suite& suite) { return run_case(suite.cases.front(), suite, Device::cpu()); }
    Result run(const std::string& keys) const { return run(suite(keys)); }
    static void approve(const Suite& suite) {
        Result result = run(suite);
        ASSERT_EQ(result.outcome, Outcome::no_reference) << result.message;
        write_reference({.path = reference_path(suite.references, "a"),
                         .images = std::move(result.images),
                         .inputs = result.inputs,
                         .device = "cpu",
                         .toolkit = "0"});
    }
    /// Writes an image of 4 x 4 texels. The texel at 2, 1 has the value `odd` in all channels, others have 100.
    void write(const std::string& name, int odd = 100, Extent extent = {4, 4}) const {
        std::vector<std::byte> texels(extent.width * extent.height * 4, std::byte{100});
        for (std::size_t c = 0; c < 4; ++c) texels[4 * (extent.width + 2) + c] = static_cast<std::byte>(odd);
        fs::create_directories(folder_.at(name).parent_path());
        write_image(folder_.at(name), Format::rgba8_unorm, extent, texels);
    }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_.at(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::vector<std::string> names(const Result& result) {
        std::vector<std::string> out;
        for (const HostImage& image : result.images) out.push_back(image.name);
        return out;
    }

    test::ImageFolder folder_;
};

// --- commands --------------------------------------------------------------------------------------------------------

TEST_F(CaseKindsTest, ImagesOfACommandAreCompared) {
    write("in.png");
    const Suite copy = suite(R"("command": ["cp", "{suite}/in.png", "out.png"], "images": "*.png")");
    approve(copy);
    EXPECT_EQ(run(copy).outcome, Outcome::passed);
    EXPECT_TRUE(run(copy).equal);
    write("in.png", 103);
    const Result changed = run(copy);
    EXPECT_EQ(changed.outcome, Outcome::differs);
    EXPECT_EQ(changed.message, "out.png: 1 of 16 texels differ: max ulp 3 (allowed: 0)");
    EXPECT_EQ(
        run(R"("command": ["cp", "{suite}/in.png", "out.png"], "images": "*.png", "tolerance": {"ulp": 3})").outcome,
        Outcome::passed);
}

TEST_F(CaseKindsTest, CommandThatWritesNoImageFails) {
    const Result result = run(R"("command": ["sh", "-c", "echo first; echo second >&2"], "images": ["*.png"])");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.message, "s.json, case 'a', 'images', 1: 'file' is '*.png', but the command wrote no such file");
    EXPECT_EQ(result.output, "first\nsecond");
    // The case is not missing anything, so it cannot be skipped.
    EXPECT_EQ(run(R"("command": ["true"], "images": ["*.png"], "optional": true)").outcome, Outcome::failed);
}

TEST_F(CaseKindsTest, EveryPatternMustMatchAnImageOfTheCommand) {
    write("in.png");
    const Result result = run(R"("command": ["cp", "{suite}/in.png", "out.png"], "images": ["*.png", "depth.exr"])");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.message, HasSubstr("'images', 2: 'file' is 'depth.exr'"));
}

TEST_F(CaseKindsTest, UnexpectedExitStatusCrashAndHangFailEvenIfImagesWereWritten) {
    write("in.png");
    const auto ended = [&](const std::string& script, const std::string& keys = "") {
        return run(R"("command": ["sh", "-c", "cp {suite}/in.png out.png; echo copied; )" + script +
                   R"("], "images": "out.png")" + keys);
    };
    EXPECT_EQ(ended("exit 3", R"(, "exit_status": 3)").outcome, Outcome::no_reference);
    EXPECT_EQ(ended("exit 0", R"(, "exit_status": 3)").outcome, Outcome::failed);
    const Result exited = ended("exit 3");
    EXPECT_EQ(exited.outcome, Outcome::failed);
    EXPECT_EQ(exited.message, "s.json, case 'a': the command ended with exit status 3 (expected: 0)");
    EXPECT_EQ(exited.output, "copied");
    const Result crashed = ended("kill -ABRT $$");
    EXPECT_EQ(crashed.outcome, Outcome::failed);
    EXPECT_THAT(crashed.message, HasSubstr("was ended by signal 6 (SIGABRT)"));
    const Result hung = ended("sleep 100", R"(, "time_limit": 0.5)");
    EXPECT_EQ(hung.outcome, Outcome::failed);
    EXPECT_THAT(hung.message, HasSubstr("was killed after 0.5 s"));
    EXPECT_EQ(hung.output, "copied");
}

TEST_F(CaseKindsTest, OnlyOptionalCasesAreSkipped) {
    const auto outcome = [&](const std::string& keys, bool optional) {
        return run(keys + (optional ? R"(, "optional": true)" : "")).outcome;
    };
    for (const char* keys :
         {R"("command": ["no-such-program-of-texton"], "images": "x.png")",
          R"("command": ["sh", "-c", "exit 77"], "images": "x.png")", R"("images": "gone*.png")",
          R"("folders": ["gone", "away"])", R"("kernel": "resample", "input": {"file": "gone.png"})"}) {
        EXPECT_EQ(outcome(keys, false), Outcome::failed) << keys;
        EXPECT_EQ(outcome(keys, true), Outcome::skipped) << keys;
        EXPECT_THAT(run(std::string(keys) + R"(, "optional": true)").message, HasSubstr("s.json, case 'a'")) << keys;
    }
    EXPECT_EQ(outcome(R"("command": ["sh", "-c", "exit 1"], "images": "x.png")", true), Outcome::failed);
}

TEST_F(CaseKindsTest, CommandsThatRunAtTheSameTimeHaveFoldersOfTheirOwn) {
    std::ofstream(folder_.at("s.json")) << R"({"cases": [
        {"name": "a", "command": ["sh", "-c", "test -z \"$(ls)\" && touch x && sleep 0.05 && ls && pwd"],
         "images": "*.png", "matrix": {"environment.N": ["1", "2", "3", "4", "5", "6"]}}]})";
    const Suite many = read_suite(folder_.at("s.json"), Outside::refused, Commands::allowed);
    std::vector<const Case*> cases;
    for (const Case& each : many.cases) cases.push_back(&each);
    std::set<std::string> folders;
    for (const Result& result : run_cases(cases, many, Device::cpu(), {.jobs = 3})) {
        EXPECT_THAT(result.output, testing::StartsWith("x\n"));
        folders.insert(result.output);
        EXPECT_FALSE(fs::exists(result.output.substr(2)));
    }
    EXPECT_EQ(folders.size(), 6U);
}

TEST_F(CaseKindsTest, LinkOutOfTheWorkingFolderAndPipeAreRefused) {
    write("in.png");
    EXPECT_THAT(run(R"("command": ["ln", "-s", "{suite}/in.png", "out.png"], "images": "*.png")").message,
                HasSubstr("is outside"));
    EXPECT_THAT(run(R"("command": ["mkfifo", "out.png"], "images": "*.png")").message, HasSubstr("a pipe"));
}

TEST_F(CaseKindsTest, CasesThatWereNotStartedBeforeAStopFail) {
    const Suite only = suite(R"("command": ["true"], "images": "x.png")");
    std::stop_source stop;
    stop.request_stop();
    const std::vector<Result> results =
        run_cases({&only.cases[0]}, only, Device::cpu(), {.jobs = 1, .stop = stop.get_token()});
    EXPECT_EQ(results.at(0).outcome, Outcome::failed);
    EXPECT_EQ(results.at(0).message, "the case was not run");
}

// --- repetition ------------------------------------------------------------------------------------------------------

TEST_F(CaseKindsTest, ResultsThatVaryAreCounted) {
    write("0.png");
    write("1.png", 102);
    write("2.png", 104);
    // Run n of the command copies image n % 3.
    const std::string keys =
        R"("command": ["sh", "-c", "n=$(cat {suite}/n); echo $(((n+1)%3)) > {suite}/n; cp {suite}/$n.png x.png"],
           "images": "*.png", "tolerance": {"ulp": 4})";
    const auto start = [&] { std::ofstream(folder_.at("n")) << 0; };
    const Suite varying = suite(keys);
    start();
    approve(varying);  // run 0
    start();
    const auto repeated = [&](const Suite& of, std::size_t runs) {
        return run_case(of.cases.front(), of, Device::cpu(), {.repeat = runs});
    };
    const Result result = repeated(varying, 7);
    EXPECT_EQ(result.outcome, Outcome::passed) << result.message;
    ASSERT_TRUE(result.repetition);
    EXPECT_TRUE(result.repetition->varies());
    EXPECT_EQ(result.repetition->text(),
              "7 runs gave 3 distinct results, 1 texels vary, and a reference is among the results");
    const Suite exact = suite(keys.substr(0, keys.rfind(", \"tolerance\"")));
    start();
    EXPECT_EQ(repeated(exact, 3).outcome, Outcome::differs);
    start();
    EXPECT_EQ(repeated(exact, 1).outcome, Outcome::passed);
    std::ofstream(folder_.at("n")) << 1;
    const Result without = repeated(exact, 2);
    EXPECT_FALSE(without.repetition->has_reference);
    EXPECT_EQ(without.repetition->distinct, 2U);
    EXPECT_FALSE(run(exact).repetition);
}

TEST_F(CaseKindsTest, OneFailedRunOfSeveralFailsTheCase) {
    write("in.png");
    const Suite flaky =
        suite(R"("command": ["sh", "-c", "test -e {suite}/ran && exit 1; touch {suite}/ran; cp {suite}/in.png x.png"],
        "images": "*.png")");
    approve(flaky);
    fs::remove(folder_.at("ran"));
    const Result result = run_case(flaky.cases.front(), flaky, Device::cpu(), {.repeat = 3});
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_TRUE(result.repetition->varies());
    EXPECT_EQ(result.repetition->failed, 2U);
    EXPECT_EQ(result.repetition->distinct, 1U);
    EXPECT_TRUE(result.repetition->has_reference);
}

TEST_F(CaseKindsTest, KernelsGiveTheSameResultInEveryRun) {
    const Suite kernel = suite(R"("kernel": "resample", "input": {"pattern": "noise", "size": [8, 8]})");
    approve(kernel);
    const Result result = run_case(kernel.cases.front(), kernel, Device::cpu(), {.repeat = 3});
    EXPECT_EQ(result.outcome, Outcome::passed);
    EXPECT_FALSE(result.repetition->varies());
    EXPECT_EQ(result.repetition->runs, 3U);
}

TEST(RepetitionTest, OtherSizesAreADistinctResult) {
    RepeatedResults results;
    results.add({HostImage(Format::r8_unorm, {2, 2})}, false);
    results.add({HostImage(Format::r8_unorm, {4, 1})}, false);
    const Repetition repetition = results.repetition();
    EXPECT_EQ(repetition.distinct, 2U);
    EXPECT_TRUE(repetition.other_shapes);
    EXPECT_EQ(repetition.varying, 0U);
}

TEST(RepetitionTest, VaryingTexelsAreCountedInEachImage) {
    HostImage image(Format::rg8_unorm, {3, 1});
    image.name = "a.png";
    HostImage other = image;
    other.name = "b.png";
    RepeatedResults results;
    results.add({image, other}, false);
    EXPECT_EQ(results.repetition().first, "");
    other.texels[3] = std::byte{1};  // the second channel of texel 1
    results.add({image, other}, false);
    results.add({image, other}, false);  // not a new result
    other.texels[5] = std::byte{9};
    results.add({image, other}, false);
    const Repetition repetition = results.repetition();
    EXPECT_EQ(repetition.distinct, 3U);
    EXPECT_EQ(repetition.varying, 2U);
    EXPECT_EQ(repetition.first, "b.png");
    ASSERT_EQ(repetition.images.size(), 1U);
    EXPECT_EQ(repetition.images[0].image, 1U);
    EXPECT_EQ(repetition.images[0].name, "b.png");
    EXPECT_THAT(repetition.images[0].counts, testing::ElementsAre(0, 2, 1));
    EXPECT_THAT(repetition.text(), HasSubstr("2 texels vary, the first image that varies is b.png, and no reference"));
}

TEST(RepetitionTest, ResultsOfDifferentLengthsNameTheFirstImageThatOneOfThemLacks) {
    const HostImage image(Format::r8_unorm, {2, 2});
    RepeatedResults results;
    results.add({image}, false);
    results.add({image, image, image}, false);
    EXPECT_EQ(results.repetition().first, "image 1");
}

TEST(FileOrderTest, NumbersInNamesAreComparedByTheirValue) {
    const std::vector<std::string> sorted{"",       "a",      "a/2",     "a/10",    "f01.png",
                                          "f1.png", "f2.png", "f2b.png", "f10.png", "g"};
    std::vector<std::string> names = sorted;
    std::ranges::reverse(names);
    std::ranges::sort(names, comes_before);
    EXPECT_EQ(names, sorted);
    EXPECT_FALSE(comes_before("f1", "f1"));
}

TEST_F(CaseKindsTest, FirstFrameThatDiffersIsNamed) {
    for (int i = 1; i <= 12; ++i) write("f/frame_" + std::to_string(i) + ".png");
    const Suite frames = suite(R"("images": "f/frame_*.png")");
    approve(frames);
    for (int i : {7, 10, 11}) write("f/frame_" + std::to_string(i) + ".png", 90);
    const Result result = run(frames);
    EXPECT_THAT(result.message, testing::StartsWith("f/frame_7.png: 1 of 16 texels differ"));
    EXPECT_THAT(result.message, HasSubstr("it is the first of 3 images that exceed a limit, of 12 images"));
    write_report(folder_.at("page"), frames, Device::cpu(), {&frames.cases.front()}, {result});
    EXPECT_THAT(
        text("page/a/index.html"),
        HasSubstr("The first image that differs is <b>f/frame_7.png</b>, after 6 equal images. 3 of 12 images"));
}

// --- files -----------------------------------------------------------------------------------------------------------

TEST_F(CaseKindsTest, AllFilesOfAPatternAreCompared) {
    write("out/b.png");
    write("out/a.png");
    write("out/.hidden.png");
    std::ofstream(folder_.at("out/notes.txt")) << "no image";
    const Suite files = suite(R"("images": "out/*.png")");
    EXPECT_EQ(names(run(files)), (std::vector<std::string>{"out/a.png", "out/b.png"}));
    approve(files);
    EXPECT_EQ(run(files).outcome, Outcome::passed);
    write("out/b.png", 90);
    EXPECT_THAT(run(files).message, HasSubstr("out/b.png: 1 of 16 texels differ"));
    write("out/a.png", 80);
    EXPECT_THAT(run(files).message, AllOf(HasSubstr("out/a.png: 1 of 16"),
                                          HasSubstr("it is the first of 2 images that exceed a limit, of 2")));
    write("out/c.png");
    EXPECT_THAT(run(files).message, HasSubstr("the reference has no image out/c.png"));
    fs::remove(folder_.at("out/c.png"));
    fs::remove(folder_.at("out/b.png"));
    EXPECT_THAT(run(files).message, HasSubstr("the reference has an image out/b.png, which was not made"));
    EXPECT_EQ(run(files).outcome, Outcome::differs);
}

TEST_F(CaseKindsTest, PatternsOfImagesHaveTheirOwnNamesAndLimits) {
    write("x/1.png");
    write("x/2.png");
    const std::string keys = R"("images": [{"file": "x/2.png", "name": "depth", "tolerance": {"ulp": 5}}, "x/?.png"])";
    const Suite files = suite(keys);
    EXPECT_EQ(names(run(files)), (std::vector<std::string>{"depth", "x/1.png"}));
    approve(files);
    write("x/2.png", 105);
    EXPECT_EQ(run(files).outcome, Outcome::passed);
    write("x/1.png", 105);
    EXPECT_THAT(run(files).message, HasSubstr("x/1.png: 1 of 16"));
    EXPECT_THAT(run(R"("images": [{"file": "x/*.png", "name": "depth"}])").message,
                HasSubstr("'images', 1: 'name' is 'depth', but 'x/*.png' matches 2 files"));
    EXPECT_THAT(run(R"("images": [{"file": "x/1.png", "name": "d"}, {"file": "x/2.png", "name": "d"}])").message,
                HasSubstr("'images', 2: two images have the name 'd'"));
}

TEST_F(CaseKindsTest, AllLevelsAndFacesOfAFileAreCompared) {
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::cubemap, .levels = 2};
    HostArray cube = draw({}, info);
    save(folder_.at("cube.dds"), image_of(upload(Device::cpu(), cube)));
    const Suite files = suite(R"("images": "cube.dds")");
    const std::vector<std::string> all = names(run(files));
    ASSERT_EQ(all.size(), 12U);
    EXPECT_EQ(all.back(), "cube.dds, face 5, level 1");
    approve(files);
    EXPECT_EQ(run(files).outcome, Outcome::passed);
    cube.levels[1].texels.back() ^= std::byte{1};
    save(folder_.at("cube.dds"), image_of(upload(Device::cpu(), cube)));
    EXPECT_EQ(run(files).message, "cube.dds, face 5, level 1: 1 of 4 texels differ: max ulp 1 (allowed: 0)");
}

TEST_F(CaseKindsTest, FirstLevelThatDiffersIsNamed) {
    HostArray chain = draw({}, {.format = Format::r8_unorm, .extent = {8, 8}, .levels = 4});
    save(folder_.at("chain.dds"), image_of(upload(Device::cpu(), chain)));
    const Suite files = suite(R"("images": "chain.dds")");
    approve(files);
    for (const std::size_t level : {2, 3}) chain.levels[level].texels.front() ^= std::byte{1};
    save(folder_.at("chain.dds"), image_of(upload(Device::cpu(), chain)));
    const Result result = run(files);
    EXPECT_THAT(result.message, testing::StartsWith("chain.dds, level 2: 1 of 4 texels differ"));
    write_report(folder_.at("page"), files, Device::cpu(), {&files.cases.front()}, {result});
    EXPECT_THAT(
        text("page/a/index.html"),
        HasSubstr("The first image that differs is <b>chain.dds, level 2</b>, after 2 equal images. 2 of 4 images"));
}

TEST_F(CaseKindsTest, AllSlicesOfAVolumeAreCompared) {
    HostArray volume = draw({}, {.format = Format::r8_unorm, .extent = {4, 3, 2}, .kind = ArrayKind::array_3d});
    save(folder_.at("volume.dds"), image_of(upload(Device::cpu(), volume)));
    const Suite files = suite(R"("images": "volume.dds")");
    approve(files);
    volume.levels[0].texels.back() ^= std::byte{1};
    save(folder_.at("volume.dds"), image_of(upload(Device::cpu(), volume)));
    const Result result = run(files);
    EXPECT_EQ(result.message, "volume.dds: 1 of 24 texels differ: max ulp 1 (allowed: 0)");
    EXPECT_EQ(result.comparisons.at(0).worst.at(0).at, (Offset{3, 2, 1}));
}

TEST_F(CaseKindsTest, ChannelsAfterTheFourthAreCompared) {
    test::StoredImage image = test::stored_image(5, 3, 6, OIIO::TypeDesc::FLOAT, 1);
    image.levels[0].assign(image.levels[0].size(), std::byte{0});
    test::store(folder_.at("many.exr"), {image});
    const Suite files = suite(R"("images": "many.exr")");
    approve(files);
    EXPECT_EQ(run(files).outcome, Outcome::passed);
    const float one = 1;
    std::memcpy(&image.levels[0][5 * sizeof one], &one, sizeof one);  // the sixth channel of the first texel
    test::store(folder_.at("many.exr"), {image});
    EXPECT_EQ(run(files).outcome, Outcome::differs);
}

TEST_F(CaseKindsTest, FileWithOneChannelMoreDiffers) {
    test::store(folder_.at("x.png"), {test::stored_image(4, 4, 3, OIIO::TypeDesc::UINT8, 1)});
    const Suite files = suite(R"("images": "x.png", "tolerance": {"ulp": 255})");
    approve(files);
    EXPECT_EQ(run(files).outcome, Outcome::passed);
    test::store(folder_.at("x.png"), {test::stored_image(4, 4, 4, OIIO::TypeDesc::UINT8, 1)});
    EXPECT_THAT(run(files).message, HasSubstr(", 3 channels"));
}

TEST_F(CaseKindsTest, LinkOutOfTheFolderOfTheSuiteIsNotRead) {
    const test::ImageFolder other;
    write_image(other.at("x.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    fs::create_symlink(other.at("x.png"), folder_.at("x.png"));
    const Result result = run(R"("images": "*.png")");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.message, HasSubstr("is outside of the folder of the suite"));
}

// --- folders ---------------------------------------------------------------------------------------------------------

TEST_F(CaseKindsTest, FilesOfEqualNamesInTwoFoldersAreCompared) {
    for (const char* side : {"gold/", "new/"})
        for (const char* name : {"a.png", "b.png", "sub/c.png"}) write(std::string(side) + name);
    std::ofstream(folder_.at("new/log.txt")) << "no image";
    const std::string keys = R"("folders": ["gold", "new"])";
    EXPECT_EQ(run(keys).outcome, Outcome::passed);
    EXPECT_EQ(run(keys).images.size(), 0U);
    write("new/sub/c.png", 101);
    const Result changed = run(keys);
    EXPECT_EQ(changed.outcome, Outcome::differs);
    EXPECT_EQ(changed.message, "sub/c.png: 1 of 16 texels differ: max ulp 1 (allowed: 0)");
    EXPECT_EQ(names(changed), (std::vector<std::string>{"sub/c.png"}));
    EXPECT_EQ(run(keys + R"(, "tolerance": {"ulp": 1})").outcome, Outcome::passed);
    EXPECT_EQ(run(keys + R"(, "images": ["*.png"])").outcome, Outcome::passed);
    EXPECT_EQ(run(keys + R"(, "images": ["*.png", "*/*.png"])").outcome, Outcome::differs);
}

TEST_F(CaseKindsTest, FileThatOneFolderLacksIsADifference) {
    write("gold/a.png");
    write("new/a.png");
    write("gold/b.png");
    EXPECT_EQ(run(R"("folders": ["gold", "new"])").outcome, Outcome::differs);
    EXPECT_EQ(run(R"("folders": ["gold", "new"])").message, "b.png is missing in " + folder_.at("new").string());
    EXPECT_EQ(run(R"("folders": ["new", "gold"])").message, "b.png is missing in " + folder_.at("new").string());
    EXPECT_EQ(run(R"("folders": ["new", "gold"], "images": "b*.png")").outcome, Outcome::differs);
}

TEST_F(CaseKindsTest, OtherSizeInAFolderIsADifference) {
    write("gold/a.png");
    write("new/a.png", 100, {5, 4});
    EXPECT_THAT(run(R"("folders": ["gold", "new"], "tolerance": {"ulp": 255})").message,
                HasSubstr("a.png: the image is 5 x 4 of"));
}

TEST_F(CaseKindsTest, EmptyFoldersAndPatternsWithoutFilesFail) {
    fs::create_directories(folder_.at("gold"));
    fs::create_directories(folder_.at("new"));
    EXPECT_EQ(run(R"("folders": ["gold", "new"])").outcome, Outcome::failed);
    EXPECT_THAT(run(R"("folders": ["gold", "new"])").message, HasSubstr("contain no images"));
    write("gold/a.png");
    write("new/a.png");
    const Result result = run(R"("folders": ["gold", "new"], "images": ["a.png", "b*.png"])");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.message, HasSubstr("'images', 2: 'file' is 'b*.png'"));
}

// --- reports ---------------------------------------------------------------------------------------------------------

TEST_F(CaseKindsTest, ReportsShowTheKindsOfCases) {
    write("in.png");
    write("gold/x.png");
    write("new/x.png", 7);
    std::ofstream(folder_.at("s.json")) << R"({"cases": [
        {"name": "command", "command": ["sh", "-c", "echo '<last>'; exit 4"], "images": "x.png"},
        {"name": "skip", "images": "gone.png", "optional": true},
        {"name": "files", "images": "in.png"},
        {"name": "folders", "folders": ["gold", "new"]}]})";
    const Suite all = read_suite(folder_.at("s.json"), Outside::refused, Commands::allowed);
    std::vector<const Case*> cases;
    for (const Case& each : all.cases) cases.push_back(&each);
    const std::vector<Result> results = run_cases(cases, all, Device::cpu(), {.jobs = 1});
    write_report(folder_.at("out"), all, Device::cpu(), cases, results);
    write_junit(folder_.at("out.xml"), all, cases, results);
    EXPECT_THAT(text("out/index.html"), AllOf(HasSubstr("0 of 4 cases passed"), HasSubstr(">1 skipped<")));
    EXPECT_THAT(text("out/command/index.html"),
                AllOf(HasSubstr("<pre>&lt;last&gt;</pre>"), HasSubstr("exit status 4"), HasSubstr("<code>sh</code>")));
    EXPECT_FALSE(fs::exists(folder_.at("out/skip")));
    EXPECT_THAT(text("out/files/index.html"), AllOf(HasSubstr("<h2>in.png</h2>"), HasSubstr("data:image/png")));
    EXPECT_THAT(text("out/folders/index.html"), AllOf(HasSubstr("<h2>x.png</h2>"), HasSubstr("Reference: the folder"),
                                                      HasSubstr("Difference &times;")));
    EXPECT_THAT(text("out.xml"), AllOf(HasSubstr(R"(tests="4" failures="2" errors="1" skipped="1")"),
                                       HasSubstr(R"(<skipped message="s.json, case 'skip')"),
                                       HasSubstr("<system-out>&lt;last&gt;</system-out>")));
}

}  // namespace
}  // namespace texton::verify
