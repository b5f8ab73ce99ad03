#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/image_pairs.h"
#include "viewer/verify/review.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

class ReviewTest : public testing::Test {
protected:
    void write(const std::string& name, int gray, int odd = -1, Extent extent = {4, 4}) const {
        std::vector<std::byte> texels(extent.width * extent.height * 4, static_cast<std::byte>(gray));
        if (odd >= 0) texels[20] = static_cast<std::byte>(odd);  // red of the texel at 1, 1
        write_image(folder_.at(name), Format::rgba8_unorm, extent, texels);
    }
    void write_text(const std::string& name, const std::string& text) const { std::ofstream(folder_.at(name)) << text; }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_.at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // Writes a suite of the images a.png to d.png, approves it, and changes a, b and c in the same way, and d more.
    void prepare() const {
        write_text("s.json", kSuite);
        for (const char* name : {"a", "b", "c", "d"}) write(std::string(name) + ".png", 100);
        const auto approved = run();
        write_update(approved->suite, Device::cpu(), {}, approved->cases, approved->results,
                     update_of(approved->cases, approved->results));
        for (const char* name : {"a", "b", "c"}) write(std::string(name) + ".png", 100, 103);
        write("d.png", 100, 200);
    }
    std::shared_ptr<SuiteRun> run(ReviewOptions options) const {
        options.suite = folder_.at("s.json");
        auto out = std::make_shared<SuiteRun>(options, Device::cpu());
        out->run({});
        return out;
    }
    std::shared_ptr<SuiteRun> run(const std::string& filter = {}) const { return run(ReviewOptions{.filter = filter}); }
    static void apply(Review& review, bool removes_unused = false) {
        const Review::Writing writing = review.prepare(removes_unused);
        Review::write(writing);
        review.finish(writing);
    }
    /// Returns the contents of all files of the references by their names.
    std::map<std::string, std::string> references() const {
        std::map<std::string, std::string> out;
        for (const auto& each : fs::directory_iterator(folder_.at("s")))
            out[each.path().filename().string()] = text("s/" + each.path().filename().string());
        return out;
    }

    static constexpr const char* kSuite = R"({
    // four images
    "cases": [
        {"name": "a", "images": {"name": "image", "file": "a.png"}},
        {"name": "b", "images": {"name": "image", "file": "b.png"}},
        {"name": "c", "images": {"name": "image", "file": "c.png"}},
        {"name": "d", "images": {"name": "image", "file": "d.png"}}
    ]
}
)";
    static constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3;
    test::ImageFolder folder_;
};

using Indices = std::vector<std::size_t>;

TEST_F(ReviewTest, ApprovalOfAGroupWritesWhatAnUpdateOfTheseCasesWrites) {
    prepare();
    const auto before = references();
    Review review(run());
    EXPECT_THAT(review.groups(), ElementsAre(ElementsAre(kD), ElementsAre(kA, kB, kC)));
    EXPECT_EQ(review.approve(review.group_of(kB)), 3u);
    EXPECT_EQ(references(), before) << "nothing is written before the decisions are applied";
    apply(review);
    const auto reviewed = references();
    EXPECT_EQ(reviewed.at("d.texref"), before.at("d.texref"));
    EXPECT_THAT(review.groups(), ElementsAre(ElementsAre(kD)));
    EXPECT_FALSE(review.can_undo());
    EXPECT_FALSE(review.has_changes());

    for (const auto& [name, contents] : before) write_text("s/" + name, contents);
    const auto updated = run("[abc]");
    write_update(updated->suite, Device::cpu(), {}, updated->cases, updated->results,
                 update_of(updated->cases, updated->results));
    EXPECT_EQ(references(), reviewed);
    EXPECT_NE(reviewed.at("a.texref"), before.at("a.texref"));
    EXPECT_EQ(Review(run()).groups().size(), 1u);
}

TEST_F(ReviewTest, ApprovedResultsBecomeVariantsIfTheirNameIsGiven) {
    prepare();
    const std::map<std::string, std::string> before = references();
    Review review(run(ReviewOptions{.filter = "a", .variant = "here"}));
    EXPECT_EQ(review.approve(std::vector{kA}), 1U);
    apply(review);
    std::map<std::string, std::string> after = references();
    EXPECT_EQ(after.erase("a@here.texref"), 1U);
    EXPECT_EQ(after, before);
    EXPECT_EQ(run("a")->results.front().outcome, Outcome::passed);
}

TEST_F(ReviewTest, QuickRunHasOnlyTheCasesThatCoverAllPairs) {
    write_text("s.json", R"({"cases": [{"name": "a", "kernel": "median", "input": {"pattern": "noise", "size": [4, 4]},
        "matrix": {"input.size": [[3, 3], [4, 4], [5, 5]], "parameters.window": [3, 5], "size": [[3, 3], [2, 2]]}}]})");
    const auto quick = run(ReviewOptions{.quick = true});
    EXPECT_LT(quick->cases.size(), 12U);
    EXPECT_GE(quick->cases.size(), 6U);
    EXPECT_FALSE(quick->is_complete);
    EXPECT_EQ(run()->cases.size(), 12U);
}

TEST_F(ReviewTest, DecisionsAreUndoneAndRedone) {
    prepare();
    Review review(run());
    review.approve(review.group_of(kA));
    review.reject(Indices{kB}, "a seam");
    review.reopen(Indices{kC});
    EXPECT_EQ(review.decision(kB), (Decision{Verdict::rejected, "a seam"}));
    EXPECT_EQ(review.count(Verdict::approved), 1u);
    EXPECT_EQ(review.undo(), kC);
    EXPECT_EQ(review.undo(), kB);
    EXPECT_EQ(review.count(Verdict::approved), 3u);
    EXPECT_EQ(review.undo(), kA);
    EXPECT_EQ(review.count(Verdict::undecided), 4u);
    EXPECT_FALSE(review.can_undo());
    EXPECT_EQ(review.redo(), kA);
    EXPECT_EQ(review.redo(), kB);
    EXPECT_EQ(review.decision(kB).note, "a seam");
    review.approve(Indices{kD});
    EXPECT_FALSE(review.can_redo()) << "a new decision removes the undone ones";
}

TEST_F(ReviewTest, DecisionThatChangesNothingIsNoStep) {
    prepare();
    Review review(run());
    review.approve(Indices{kA});
    review.approve(Indices{kA});
    review.reopen(Indices{kB});
    (void)review.undo();
    EXPECT_FALSE(review.can_undo());
}

TEST_F(ReviewTest, RejectionsAreSavedBesideTheSuiteAndReadAgain) {
    prepare();
    Review review(run());
    review.reject(Indices{kD}, "too bright");
    review.reject(Indices{kA}, "");
    EXPECT_TRUE(review.changes().notes);
    apply(review);
    const RejectedCases notes = read_notes(folder_.at("s.review.json"));
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_EQ(notes.at("d").note, "too bright");
    EXPECT_THAT(notes.at("d").message, HasSubstr("1 of 16 texels differ"));

    Review again(run());
    EXPECT_EQ(again.decision(kD), (Decision{Verdict::rejected, "too bright"}));
    EXPECT_FALSE(again.can_undo());
    EXPECT_FALSE(again.has_changes());

    Review filtered(run("a"));  // does not run d
    filtered.approve(Indices{0});
    apply(filtered);
    EXPECT_EQ(read_notes(folder_.at("s.review.json")).size(), 1u) << "notes on other cases stay";

    write("d.png", 100);
    Review passed(run());
    EXPECT_TRUE(passed.changes().notes);
    apply(passed);
    EXPECT_FALSE(fs::exists(folder_.at("s.review.json"))) << "the case passes, so no note is left";
}

TEST_F(ReviewTest, NotesThatAreNoNotesAreRefused) {
    prepare();
    for (const char* bad : {"[]", "{\"rejected\": 1}", "{\"rejected\": [{}]}", "{\"rejected\": [], \"x\": 1}"}) {
        write_text("s.review.json", bad);
        expect_error([&] { (void)run(); }, ErrorCode::bad_argument, "texton::verify", {"s.review.json"});
    }
    write_text("s.review.json", "{");
    expect_error([&] { (void)run(); }, ErrorCode::io, "texton::verify", {"s.review.json", "not valid JSON"});
}

TEST_F(ReviewTest, MaskIsWrittenIntoTheSuiteAndMakesTheCasePass) {
    prepare();
    const auto before = references();
    const auto results = run();
    Review review(results);
    EXPECT_THAT(exceeded_limits(results->results[kA], 0, review.criteria(kA, 0)), HasSubstr("max ulp 3"));
    review.set_mask(kA, 0, {{{1, 1, 0}, {1, 1, 1}}});
    EXPECT_EQ(exceeded_limits(results->results[kA], 0, review.criteria(kA, 0)), "");
    EXPECT_NE(exceeded_limits(results->results[kB], 0, review.criteria(kB, 0)), "");
    EXPECT_EQ(text("s.json"), kSuite);
    apply(review);
    std::string expected = kSuite;
    expected.replace(expected.find("a.png\"}}"), 8, "a.png\"}, \"mask\": [[1, 1, 1, 1]]}");
    EXPECT_EQ(text("s.json"), expected);
    EXPECT_EQ(references(), before);
    EXPECT_EQ(run()->results[kA].outcome, Outcome::passed);
}

TEST_F(ReviewTest, MaskIsUndoneLikeOtherDecisions) {
    prepare();
    Review review(run());
    const std::vector<Region> box{{{1, 1, 0}, {1, 1, 1}}};
    review.set_mask(kA, 0, box);
    review.set_mask(kA, 0, {});
    EXPECT_EQ(review.changes().masks, 0u) << "the mask of the suite is no change";
    EXPECT_EQ(review.undo(), kA);
    EXPECT_EQ(review.criteria(kA, 0).mask.rectangles, box);
    (void)review.undo();
    EXPECT_TRUE(review.criteria(kA, 0).mask.rectangles.empty());
    (void)review.redo();
    EXPECT_EQ(review.changes().masks, 1u);
}

TEST_F(ReviewTest, MaskThatCannotBeWrittenIsRefused) {
    prepare();
    write_text("s.json", R"({"cases": [{"name": "a", "images": {"name": "image", "file": "a.png"}, "mask": "m.png"},
        {"name": "b", "matrix": {"images": [{"name": "image", "file": "b.png"}, {"name": "image", "file": "c.png"}]}},
        {"name": "d", "images": {"name": "image", "file": "d.png"}}]})");
    write("m.png", 255);
    Review review(run());
    expect_error(
        [&] {
            review.set_mask(0, 0, {{{0, 0, 0}, {1, 1, 1}}});
        },
        ErrorCode::bad_argument, "texton::verify", {"case 'a'", "m.png"});
    expect_error(
        [&] {
            review.set_mask(1, 0, {{{0, 0, 0}, {1, 1, 1}}});
        },
        ErrorCode::unsupported, "texton::verify", {"case 'b'", "[[0, 0, 1, 1]]"});
    expect_error(
        [&] {
            review.set_mask(3, 0, {{{0, 0, 0}, {1, 5, 1}}});
        },
        ErrorCode::bad_argument, "texton::verify", {"case 'd'", "[[0, 0, 1, 5]]", "4 x 4"});
    EXPECT_FALSE(review.can_undo());
}

TEST_F(ReviewTest, MaskOfACaseAppliesToDevicesWithoutAMaskOfTheirOwn) {
    prepare();
    const auto suite = [&](const std::string& device_mask) {
        return R"({"cases": [{"name": "a", "images": {"name": "image", "file": "a.png", "devices": [{"match": {"name": "*"})" +
               device_mask + R"(, "tolerance": {"ulp": 1}}]}}]})";
    };
    write_text("s.json", suite(""));
    Review review(run());
    ASSERT_EQ(review.groups().size(), 1u);
    review.set_mask(0, 0, {{{1, 1, 0}, {1, 1, 1}}});
    apply(review);
    EXPECT_EQ(run()->results[0].outcome, Outcome::passed);
    write_text("s.json", suite(R"(, "mask": [[0, 0, 1, 1]])"));
    Review own(run());
    expect_error(
        [&] {
            own.set_mask(0, 0, {{{1, 1, 0}, {1, 1, 1}}});
        },
        ErrorCode::bad_argument, "texton::verify", {"'devices'", "[[1, 1, 1, 1]]"});
}

TEST_F(ReviewTest, NothingIsWrittenIfTheSuiteChangedBelowAMask) {
    prepare();
    const auto before = references();
    Review review(run());
    review.set_mask(kA, 0, {{{1, 1, 0}, {1, 1, 1}}});
    review.approve(Indices{kB});
    write_text("s.json", std::string(kSuite) + "\n");
    expect_error([&] { apply(review); }, ErrorCode::io, "texton::verify", {"s.json was changed"});
    EXPECT_EQ(references(), before);
}

TEST_F(ReviewTest, CasesWithoutImagesAreNotApproved) {
    prepare();
    fs::remove(folder_.at("a.png"));
    Review review(run());
    EXPECT_FALSE(review.is_approvable(kA));
    EXPECT_EQ(review.approve(Indices{kA, kB}), 1u);
    EXPECT_EQ(review.decision(kA).verdict, Verdict::undecided);
    EXPECT_THAT(review.groups().front(), ElementsAre(kA)) << "the most severe one is first";
}

TEST_F(ReviewTest, UnusedReferencesAreRemovedOnRequestOnly) {
    prepare();
    write_text("s/old.texref", "");
    Review review(run());
    EXPECT_EQ(review.changes().unused.size(), 1u);
    apply(review);
    EXPECT_TRUE(fs::exists(folder_.at("s/old.texref")));
    EXPECT_TRUE(Review(run("a")).changes().unused.empty()) << "not all cases were run";
    apply(review, true);
    EXPECT_FALSE(fs::exists(folder_.at("s/old.texref")));
}

TEST_F(ReviewTest, StoppedRunKeepsTheCompletedCases) {
    prepare();
    SuiteRun stopped({.suite = folder_.at("s.json")}, Device::cpu());
    std::stop_source stop;
    stopped.run({.jobs = 1, .done = [&](std::size_t) { stop.request_stop(); }, .stop = stop.get_token()});
    ASSERT_EQ(stopped.cases.size(), stopped.results.size());
    EXPECT_GE(stopped.cases.size(), 1u);
    EXPECT_LT(stopped.cases.size(), 4u);
    for (const Result& each : stopped.results) EXPECT_EQ(each.outcome, Outcome::differs);
    EXPECT_FALSE(stopped.is_complete);
}

// --- pairs of images -------------------------------------------------------------------------------------------------

TEST(ImagePairsTest, ImagesAreBesideThoseOfTheReferenceWithTheSameName) {
    const auto image = [](const char* name, std::uint32_t width = 4) {
        HostImage out(Format::r8_unorm, {width, 4});
        out.name = name;
        return out;
    };
    Result result;
    result.images = {image("a"), image("b", 5), image("new")};
    result.reference.emplace();
    result.reference->images = {image("b"), image("old"), image("a")};
    const std::vector<ImagePair> pairs = image_pairs(result);
    ASSERT_EQ(pairs.size(), 4u);
    EXPECT_EQ(pairs[0].expected, &result.reference->images[2]);
    EXPECT_EQ(pairs[0].text, "a: equal");
    EXPECT_EQ(pairs[1].text, "b: other size or format");
    EXPECT_EQ(pairs[2].text, "new: not in the reference");
    EXPECT_EQ(pairs[3].actual, nullptr);
    EXPECT_EQ(pairs[3].text, "old: only in the reference");
    EXPECT_EQ(worst_pair(result, pairs), 2u);
}

TEST(ImagePairsTest, WorstPairHasTheLargestDifference) {
    Result result;
    result.reference.emplace();
    for (const int change : {0, 5, 90, 7}) {
        HostImage expected(Format::r8_unorm, {4, 4}), actual = expected;
        actual.texels[3] = static_cast<std::byte>(change);
        result.comparisons.push_back(compare(expected.view(), actual.view()));
        result.reference->images.push_back(expected);
        result.images.push_back(actual);
    }
    const std::vector<ImagePair> pairs = image_pairs(result);
    EXPECT_EQ(worst_pair(result, pairs), 2u);
    EXPECT_EQ(pairs[1].text, "image 1: 1 texel, 5 ulp");
}

TEST(ImagePairsTest, FlipMapIsBlackWhereImagesAreEqual) {
    HostImage expected(Format::rgba8_unorm, {32, 32, 2}), actual = expected;
    for (std::size_t i = 0; i < 32 * 32 * 4; ++i) actual.texels[i] = std::byte{255};  // the first slice
    const HostImage map = flip_map(expected, actual);
    EXPECT_EQ(map.extent, expected.extent);
    const std::vector<float> values = read_channels(map.view());
    EXPECT_GT(values[0], 0.9f);
    EXPECT_EQ(values[4 * 32 * 32], 0.0f);
}

}  // namespace
}  // namespace texton::verify
