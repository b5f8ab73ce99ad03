// Histories: the file to which runs append their results.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/report_history.h"
#include "viewer/verify/run_history.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::HasSubstr;
using testing::Not;

class RunHistoryTest : public testing::Test {
protected:
    RunHistoryTest() {
        suite_.name = "suite";
        for (const char* name : {"a", "b"}) suite_.cases.emplace_back().name = name;
        for (const Case& each : suite_.cases) cases_.push_back(&each);
        results_.resize(2);
        results_[0].outcome = Outcome::passed;
        results_[1].outcome = Outcome::differs;
        Comparison& comparison = results_[1].comparisons.emplace_back();
        comparison.peak = 2;
        comparison.all.differing = 7;
        comparison.all.max_ulp = 40;
        comparison.all.rmse = 0.5;
        results_[1].seconds = 0.25;
    }
    void append(const std::string& label = {}) const {
        append_history(path(), suite_, Device::cpu(), label, cases_, results_);
    }
    CaseHistories read() const { return read_history(path(), suite_); }
    fs::path path() const { return folder_.at("h.jsonl"); }
    std::string text() const {
        std::ifstream file(path());
        return {std::istreambuf_iterator<char>(file), {}};
    }

    test::ImageFolder folder_;
    Suite suite_;
    std::vector<const Case*> cases_;
    std::vector<Result> results_;
};

TEST_F(RunHistoryTest, EachRunAppendsALineForEachCase) {
    append("one");
    const std::string before = text();
    results_[0].outcome = Outcome::failed;
    append("two");
    EXPECT_THAT(text(), testing::StartsWith(before));
    EXPECT_EQ(std::ranges::count(text(), '\n'), 4);
    const CaseHistories histories = read();
    ASSERT_EQ(histories.at("a").size(), 2U);
    EXPECT_EQ(histories.at("a")[0].outcome, Outcome::passed);
    EXPECT_EQ(histories.at("a")[1].outcome, Outcome::failed);
    const HistoryEntry& entry = histories.at("b")[1];
    EXPECT_EQ(entry.outcome, Outcome::differs);
    EXPECT_EQ(entry.label, "two");
    EXPECT_EQ(entry.device, Device::cpu().name());
    EXPECT_EQ(entry.differing, 7U);
    EXPECT_EQ(entry.max_ulp, 40U);
    EXPECT_EQ(entry.rmse, 0.25);
    EXPECT_EQ(entry.seconds, 0.25);
    EXPECT_THAT(entry.time, testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST_F(RunHistoryTest, DifferencesFromNanStayInfinite) {
    results_[1].comparisons[0].all.rmse = std::numeric_limits<double>::quiet_NaN();
    append();
    EXPECT_TRUE(std::isinf(read().at("b")[0].rmse));
}

TEST_F(RunHistoryTest, CasesOfOtherSuitesAreNotMixed) {
    append();
    suite_.name = "other";
    EXPECT_TRUE(read().empty());
}

TEST_F(RunHistoryTest, LineThatWasNotWrittenCompletelyIsIgnored) {
    append();
    const std::string whole = text();
    const std::size_t second = whole.find('\n') + 1;
    for (const std::size_t kept :
         {whole.size() - 1, whole.size() - 20, second + 1, second - 1, second - 20, std::size_t{1}}) {
        std::ofstream(path()) << whole.substr(0, kept);
        prepare_history(path());
        append();
        EXPECT_EQ(read().at("a").size(), kept >= second - 1 ? 2U : 1U) << kept;
        EXPECT_EQ(read().at("b").size(), kept == whole.size() - 1 ? 2U : 1U) << kept;
        EXPECT_EQ(text().substr(kept, 1), "\n");
    }
}

TEST_F(RunHistoryTest, ProcessesThatAppendAtOnceKeepAllLinesWhole) {
    constexpr int kProcesses = 8, kRuns = 50;
    const std::string label(3000, 'x');  // lines are longer than a buffer of stdio
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            for (int run = 0; run < kRuns; ++run) append(label);
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    std::ifstream file(path());
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
        const Json json = Json::parse(line, nullptr, false);
        ASSERT_TRUE(json.is_object()) << line;
        // The lines of a run stay together.
        EXPECT_EQ(json["case"], lines % 2 == 0 ? "a" : "b");
        EXPECT_EQ(json["label"], label);
    }
    EXPECT_EQ(lines, std::size_t{2} * kProcesses * kRuns);
}

TEST_F(RunHistoryTest, OldEntriesAreNotReturned) {
    for (std::size_t i = 0; i < kMaxHistory + 5; ++i) append(std::to_string(i));
    ASSERT_EQ(read().at("a").size(), kMaxHistory);
    EXPECT_EQ(read().at("a").front().label, "5");
}

TEST_F(RunHistoryTest, PathThatIsNoHistoryIsRefused) {
    fs::create_directories(folder_.at("folder"));
    expect_error([&] { prepare_history(folder_.at("folder")); }, ErrorCode::bad_argument, "texton::verify",
                 {"folder is a folder"});
    expect_error([&] { prepare_history(folder_.at("gone/h")); }, ErrorCode::io, "texton::verify",
                 {"gone/h cannot be opened: No such file"});
    ASSERT_EQ(::mkfifo(folder_.at("pipe").c_str(), 0600), 0);
    expect_error([&] { prepare_history(folder_.at("pipe")); }, ErrorCode::bad_argument, "texton::verify",
                 {"pipe is not a regular file"});
    for (const std::string other : {"not JSON\n", "no line", "[1]\n", "{}\n", "{\"cases\": []}\n{\"time\": \"x\"}\n"}) {
        std::ofstream(path()) << other;
        expect_error([&] { prepare_history(path()); }, ErrorCode::bad_argument, "texton::verify",
                     {"is a file of another kind"});
        EXPECT_EQ(text(), other);
    }
    std::ofstream(path()) << "";
    prepare_history(path());
}

TEST_F(RunHistoryTest, PlotsShowEachRun) {
    for (const char* label : {"one", "two <b>", "three"}) {
        results_[1].comparisons[0].all.rmse *= 2;
        append(label);
    }
    const std::string plot = history_plot(read().at("b")), strip = outcome_strip(read().at("b"));
    std::size_t points = 0;
    for (std::size_t at = plot.find("<circle class=\"differs\""); at != std::string::npos; ++points)
        at = plot.find("<circle class=\"differs\"", at + 1);
    EXPECT_EQ(points, 6U);  // in two plots
    EXPECT_THAT(plot, HasSubstr("two &lt;b&gt;"));
    EXPECT_THAT(plot, Not(HasSubstr("two <b>")));
    // The values 0.5, 1 and 2 are at a quarter, a half and the whole of the height.
    EXPECT_THAT(plot, HasSubstr("points=\"70.0,76.0 389.0,54.0 708.0,10.0 \""));
    EXPECT_THAT(strip, HasSubstr("passed in 0 of the last 3 runs"));
    EXPECT_EQ(history_plot({}), "");
}

}  // namespace
}  // namespace texton::verify
