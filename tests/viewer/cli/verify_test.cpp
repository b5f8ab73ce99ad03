// texton verify, run through a shell.
#include <csignal>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/command_line.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliVerifyTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write_suite(1);
    }
    /// Writes a suite of three cases with noise of this seed.
    void write_suite(int seed) const {
        std::ofstream(at("s.json")) << R"({"cases": [
            {"name": "filter", "kernel": "resample", "size": [9, 7],
             "input": {"pattern": "noise", "size": [8, 8], "seed": )"
                                    << seed << R"(},
             "matrix": {"parameters.filter": ["nearest", "linear"]}},
            {"name": "floats", "kernel": "resample", "input": {"pattern": "gradient", "size": [4, 4], "format": "r32_float"}}]})";
    }
    Ended verify(const std::string& options = "") const { return run("verify s.json --device cpu " + options); }
};

TEST_F(CliVerifyTest, SuitePassesAfterItsReferencesAreApproved) {
    const Ended first = verify();
    EXPECT_EQ(first.status, 1) << first.err;
    EXPECT_THAT(first.out, HasSubstr("no reference: filter/nearest"));
    EXPECT_THAT(first.out, HasSubstr("s: 3 cases: 0 passed, 3 without reference"));
    const Ended update = verify("--update --yes");
    EXPECT_EQ(update.status, 0) << update.err;
    EXPECT_THAT(update.out, HasSubstr("3 references written to s"));
    EXPECT_TRUE(fs::exists(at("s/filter_nearest.texref")));
    const Ended second = verify();
    EXPECT_EQ(second.status, 0) << second.out;
    EXPECT_EQ(second.out, "s: 3 cases: 3 passed\n");
    EXPECT_EQ(verify("--update").out, "Nothing to approve.\n");
}

TEST_F(CliVerifyTest, UpdateShowsChangedCasesAndAsksForConfirmation) {
    verify("--update --yes");
    write_suite(2);
    const std::string before = text("s/filter_nearest.texref");
    const Ended declined = shell("echo n | '" + kProgram + "' verify s.json --device cpu --update");
    EXPECT_EQ(declined.status, 1);
    EXPECT_THAT(declined.out, testing::ContainsRegex("filter/nearest +changed +63 "));
    EXPECT_THAT(declined.out, Not(HasSubstr("floats")));
    EXPECT_THAT(declined.out, HasSubstr("Write 2 references? [y/N] Nothing was written.\n"));
    EXPECT_EQ(text("s/filter_nearest.texref"), before);
    EXPECT_EQ(shell("echo y | '" + kProgram + "' verify s.json --device cpu --update").status, 0);
    EXPECT_EQ(verify().status, 0);
    // Approves a second reference in addition to the first.
    write_suite(1);
    EXPECT_EQ(verify("--update --yes --as seed_1").status, 0);
    EXPECT_TRUE(fs::exists(at("s/filter_nearest@seed_1.texref")));
    EXPECT_EQ(verify().status, 0);
    write_suite(2);
    EXPECT_EQ(verify().status, 0);
}

TEST_F(CliVerifyTest, UpdateOffersToRemoveReferencesOfRemovedCases) {
    verify("--update --yes");
    verify("--update --yes --as other");
    std::ofstream(at("s/sharpen.texref")) << "of a case that was renamed";
    std::ofstream(at("s/sharpen@sm_90.texref")) << "and its variant";
    std::ofstream(at("s/notes.txt")) << "no reference";
    EXPECT_EQ(verify().status, 0);
    EXPECT_EQ(verify("--update --filter '^filter'").out, "Nothing to approve.\n");
    const Ended declined = shell("echo n | '" + kProgram + "' verify s.json --device cpu --update");
    EXPECT_EQ(declined.status, 1);
    EXPECT_THAT(declined.out, testing::ContainsRegex("sharpen.texref +no such case"));
    EXPECT_THAT(declined.out, HasSubstr("sharpen@sm_90.texref"));
    EXPECT_THAT(declined.out, HasSubstr("Remove 2? [y/N] Nothing was written.\n"));
    EXPECT_TRUE(fs::exists(at("s/sharpen.texref")));
    write_suite(5);
    const Ended agreed = shell("echo y | '" + kProgram + "' verify s.json --device cpu --update");
    EXPECT_EQ(agreed.status, 0) << agreed.err;
    EXPECT_THAT(agreed.out, HasSubstr("Write 2 references and remove 2? [y/N] "));
    EXPECT_THAT(agreed.out, HasSubstr("2 references removed from s\n"));
    EXPECT_FALSE(fs::exists(at("s/sharpen.texref")));
    EXPECT_FALSE(fs::exists(at("s/sharpen@sm_90.texref")));
    EXPECT_TRUE(fs::exists(at("s/notes.txt")));
    EXPECT_EQ(verify().status, 0);
}

TEST_F(CliVerifyTest, UpdateKeepsReferencesOfOtherSuitesInASharedFolder) {
    std::ofstream(at("s.json")) << R"({"references": "all", "cases": [
        {"name": "a", "kernel": "resample", "input": {"pattern": "noise", "size": [2, 2]}}]})";
    verify("--update --yes");
    std::ofstream(at("all/b.texref")) << "of another suite";
    EXPECT_EQ(verify("--update").out, "Nothing to approve.\n");
}

TEST_F(CliVerifyTest, OnlyFilteredCasesRun) {
    EXPECT_EQ(verify("--list").out, "filter/nearest\nfilter/linear\nfloats\n");
    EXPECT_EQ(verify("--list --filter '^fl'").out, "floats\n");
    EXPECT_EQ(json::parse(verify("--list --json").out)["cases"], (json{"filter/nearest", "filter/linear", "floats"}));
    EXPECT_EQ(verify("--list --quick").out, verify("--list").out);  // no matrix has three keys
    EXPECT_THAT(verify("--filter linear").out, HasSubstr(" 1 case:"));
    const Ended none = verify("--filter sharp");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("no case of s matches 'sharp'"));
    EXPECT_EQ(verify("--filter '('").status, 2);
}

TEST_F(CliVerifyTest, JsonAndJunitReportsContainEveryCase) {
    verify("--update --yes");
    write_suite(3);
    const Ended result = verify("--json --junit out.xml");
    EXPECT_EQ(result.status, 1) << result.err;
    const json out = json::parse(result.out);
    EXPECT_EQ(out["total"],
              (json{{"cases", 3}, {"passed", 1}, {"skipped", 0}, {"differs", 2}, {"no_reference", 0}, {"failed", 0}}));
    EXPECT_EQ(out["cases"][0]["name"], "filter/nearest");
    EXPECT_EQ(out["cases"][0]["outcome"], "differs");
    EXPECT_EQ(out["cases"][0]["differing"], 63);
    EXPECT_EQ(out["cases"][2]["outcome"], "passed");
    const std::string xml = text("out.xml");
    EXPECT_THAT(xml, HasSubstr(R"(<testsuite name="s" tests="3" failures="2" errors="0")"));
    EXPECT_THAT(xml, HasSubstr(R"(<testcase classname="s" name="floats" time=)"));
    EXPECT_THAT(xml, HasSubstr(R"(<failure type="differs" message="63 of 63 texels differ: max ulp)"));
}

TEST_F(CliVerifyTest, UpdateListsApprovedReferencesAsJson) {
    verify("--update --yes");
    write_suite(3);
    std::ofstream(at("s/gone.texref")) << "of no case";
    const Ended asking = verify("--update --json");
    EXPECT_EQ(asking.status, 2);
    EXPECT_THAT(asking.err, HasSubstr("Add --yes"));
    EXPECT_TRUE(fs::exists(at("s/gone.texref")));
    const Ended result = verify("--update --json --yes");
    EXPECT_EQ(result.status, 0) << result.err;
    const json out = json::parse(result.out);
    EXPECT_EQ(out["approved"], (json{"filter/nearest", "filter/linear"}));
    EXPECT_EQ(out["removed"], (json{"s/gone.texref"}));
    EXPECT_EQ(out["total"]["differs"], 2);
    EXPECT_EQ(verify().status, 0);
}

TEST_F(CliVerifyTest, CubeFilesAreAcceptedAsInputs) {
    std::ofstream(at("t.cube")) << "LUT_1D_SIZE 2\nDOMAIN_MAX 2 2 2\n0 0 0\n1 1 1\n";
    const auto write = [&](const std::string& table) {
        std::ofstream(at("s.json"))
            << R"({"cases": [{"name": "a", "kernel": "lut_1d", "parameters": {"filter": "exact"},
            "inputs": [{"pattern": "gradient", "size": [4, 2], "format": "rgba32_float"}, )"
            << table << "]}]}";
    };
    write(R"({"file": "t.cube"})");
    EXPECT_EQ(verify("--update --yes").status, 0);
    EXPECT_EQ(verify().out, "s: 1 case: 1 passed\n");
    // The same entries for another domain.
    std::ofstream(at("t.cube")) << "LUT_1D_SIZE 2\nDOMAIN_MAX 1 1 1\n0 0 0\n1 1 1\n";
    EXPECT_THAT(verify().out, HasSubstr("8 of 8 texels differ"));
    std::ofstream(at("t.cube")) << "LUT_1D_SIZE 2\n0 0 0\n";
    const Ended cut = verify();
    EXPECT_EQ(cut.status, 2);
    EXPECT_THAT(cut.out, HasSubstr("t.cube, line 2: the file ends after 1 of 2 entries"));
    write(R"({"file": "t.cube", "format": "r8_unorm"})");
    EXPECT_THAT(verify().err, HasSubstr("'format' does not apply to a .cube file"));
    write(R"({"file": ["t.cube", "t.cube"]})");
    EXPECT_THAT(verify().err, HasSubstr("contains a .cube table and other files"));
}

TEST_F(CliVerifyTest, ReportHasAPageForEachFailingCase) {
    verify("--update --yes");
    write_suite(4);
    const Ended result = verify("--report pages");
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.out, HasSubstr("report: pages/index.html"));
    const std::string index = text("pages/index.html");
    EXPECT_THAT(index, HasSubstr("<a href=\"filter_linear/index.html\">filter/linear</a>"));
    EXPECT_THAT(index, HasSubstr("1 of 3 cases passed"));
    EXPECT_FALSE(fs::exists(at("pages/floats")));
    const std::string page = text("pages/filter_linear/index.html");
    EXPECT_THAT(page, HasSubstr("data-kind=\"flip\""));
    EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,iVBORw0KGgo"));  // the PNG signature
    EXPECT_THAT(page, HasSubstr("texels read"));
    EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
    for (const char* name : {"expected", "actual", "difference", "ulp", "flip"})
        EXPECT_EQ(read_image(at(std::string("pages/filter_linear/") + name + ".png")).extent, (Extent{9, 7})) << name;
    EXPECT_EQ(open_image(at("pages/filter_linear/actual.dds")).info().extent, (Extent{9, 7}));
}

TEST_F(CliVerifyTest, ReportInASingleFileContainsEverything) {
    verify("--update --yes");
    write_suite(4);
    const Ended result = verify("--report page.html --single-file");
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.out, HasSubstr("report: page.html\n"));
    const std::string page = text("page.html");
    EXPECT_THAT(page, HasSubstr("href=\"#case-filter_linear\">filter/linear</a>"));
    EXPECT_THAT(page, HasSubstr("<article id=\"case-filter_linear\">"));
    EXPECT_THAT(page, HasSubstr("texels read"));
    EXPECT_THAT(page, Not(HasSubstr("index.html")));
    std::vector<std::string> names;
    for (const fs::directory_entry& each : fs::directory_iterator(folder())) names.push_back(each.path().filename());
    EXPECT_THAT(names, testing::UnorderedElementsAre("s.json", "s", "page.html", "out", "err"));
}

TEST_F(CliVerifyTest, ReportThatCannotBeWrittenIsRefusedBeforeTheCasesRun) {
    write_image(at("in.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    std::ofstream(at("s.json"))
        << R"({"cases": [{"name": "a", "command": ["touch", "{suite}/ran"], "images": "*.png"}]})";
    fs::create_directories(at("folder"));
    const auto refused = [&](const std::string& options, const std::string& message) {
        const Ended ended = verify("--commands " + options);
        EXPECT_EQ(ended.status, 2);
        EXPECT_THAT(ended.err, HasSubstr(message));
        EXPECT_FALSE(fs::exists(at("ran")));
    };
    refused("--report in.png", "the report cannot be written to in.png, which is a file");
    refused("--report folder --single-file", "the report cannot be written to folder, which is a folder");
    refused("--report s.json --single-file", "--report would overwrite s.json");
    refused("--report out.xml --junit out.xml --single-file", "--report would overwrite out.xml");
    refused("--report in.png/report", "the folder in.png/report of the report cannot be created");
    refused("--single-file", "--single-file requires --report");
}

TEST_F(CliVerifyTest, HistoryKeepsResultsAndTheReportPlotsThem) {
    verify("--update --yes --history h.jsonl --label first");
    EXPECT_EQ(verify("--history h.jsonl --label second").status, 0);
    write_suite(4);
    EXPECT_EQ(verify("--history h.jsonl --report pages --label third").status, 1);
    std::ifstream file(at("h.jsonl"));
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    ASSERT_EQ(lines.size(), 9U);
    EXPECT_EQ(lines[0]["outcome"], "no reference");
    EXPECT_EQ(lines[3]["outcome"], "passed");
    EXPECT_EQ(lines[6]["outcome"], "differs");
    EXPECT_EQ(lines[6]["case"], "filter/nearest");
    EXPECT_EQ(lines[6]["suite"], "s");
    EXPECT_EQ(lines[6]["label"], "third");
    EXPECT_GT(lines[6]["rmse"], 0);
    EXPECT_THAT(text("pages/filter_nearest/index.html"), AllOf(HasSubstr("class=\"plot\""), HasSubstr("third")));
    EXPECT_THAT(text("pages/index.html"), HasSubstr("<title>passed in 2 of the last 3 runs</title>"));
}

TEST_F(CliVerifyTest, HistoryThatCannotBeUsedIsRefusedBeforeTheCasesRun) {
    fs::create_directories(at("folder"));
    std::ofstream(at("notes.txt")) << "remember the milk\n";
    const auto refused = [&](const std::string& options, const std::string& message) {
        const Ended ended = verify("--update --yes " + options);
        EXPECT_EQ(ended.status, 2);
        EXPECT_THAT(ended.err, HasSubstr(message));
        EXPECT_FALSE(fs::exists(at("s/floats.texref")));
    };
    refused("--history folder", "the history folder is a folder");
    refused("--history notes.txt", "the history notes.txt is a file of another kind");
    refused("--history s.json", "--history would change s.json");
    refused("--history gone/h.jsonl", "the history gone/h.jsonl cannot be opened");
    refused("--history x --junit x", "--history would change x");
    refused("--label abc", "--label requires --history");
    EXPECT_EQ(text("notes.txt"), "remember the milk\n");
}

TEST_F(CliVerifyTest, FailedCaseIsAnErrorAndTheOtherCasesRun) {
    std::ofstream(at("s.json")) << R"({"cases": [
        {"name": "a", "kernel": "resample", "input": {"file": "gone.png"}},
        {"name": "b", "kernel": "resample", "input": {"pattern": "noise", "size": [2, 2]}}]})";
    const Ended result = verify("--junit out.xml --report pages");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.out, HasSubstr("failed: a: "));
    EXPECT_THAT(result.out, HasSubstr("gone.png"));
    EXPECT_THAT(result.out, HasSubstr("2 cases: 0 passed, 1 without reference, 1 failed"));
    EXPECT_THAT(text("out.xml"), HasSubstr("<error type=\"failed\""));
    EXPECT_TRUE(fs::exists(at("pages/b/actual.png")));
    EXPECT_EQ(verify("--update --yes").status, 2);
    EXPECT_TRUE(fs::exists(at("s/b.texref")));
}

TEST_F(CliVerifyTest, InvalidSuiteIsNamed) {
    std::ofstream(at("s.json")) << R"({"cases": [{"name": "a", "kernel": "resample", "color": 1}]})";
    const Ended result = verify();
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("s.json, case 'a': 'color' is not a known key"));
    EXPECT_EQ(run("verify gone.json").status, 2);
    EXPECT_EQ(verify("--yes").status, 2);
}

TEST_F(CliVerifyTest, SuiteThatNamesPathsOutsideOfItsFolderNeedsAnOption) {
    fs::create_directories(at("sub"));
    write_image(at("a.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    std::ofstream(at("sub/t.json"))
        << R"({"references": "../gold", "cases": [{"name": "a", "kernel": "resample", "input": {"file": "../a.png"}}]})";
    const Ended refused = run("verify sub/t.json --device cpu --update --yes");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("is outside of the folder of the suite, sub"));
    EXPECT_THAT(refused.err, HasSubstr("--allow-outside"));
    EXPECT_FALSE(fs::exists(at("gold")));
    const Ended allowed = run("verify sub/t.json --device cpu --update --yes --allow-outside");
    EXPECT_EQ(allowed.status, 0) << allowed.err;
    EXPECT_TRUE(fs::exists(at("gold/a.texref")));
}

TEST_F(CliVerifyTest, CommandsRunOnlyIfTheyAreAllowed) {
    write_image(at("in.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    std::ofstream(at("s.json"))
        << R"({"cases": [{"name": "a", "command": ["sh", "-c", "touch {suite}/ran; cp {suite}/in.png x.png"], "images": "*.png"}]})";
    const Ended refused = verify("--update --yes --allow-outside");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("s.json, case 'a': 'command' is given, but commands are not allowed"));
    EXPECT_FALSE(fs::exists(at("ran")));
    EXPECT_EQ(verify("--list").out, "a\n");
    EXPECT_EQ(verify("--commands").status, 1);
    EXPECT_TRUE(fs::exists(at("ran")));
    EXPECT_EQ(verify("--commands --update --yes").status, 0);
    EXPECT_EQ(verify("--commands").out, "s: 1 case: 1 passed\n");
}

TEST_F(CliVerifyTest, SuiteGoesOnAfterCommandsThatFail) {
    write_image(at("in.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    std::ofstream(at("s.json")) << R"({"cases": [
        {"name": "crash", "command": ["sh", "-c", "echo last words; kill -SEGV $$"], "images": "*.png"},
        {"name": "hang", "command": ["sleep", "100"], "time_limit": 0.2, "images": "*.png"},
        {"name": "good", "command": ["cp", "{suite}/in.png", "x.png"], "images": "*.png"},
        {"name": "gone", "images": "gone.png", "optional": true}]})";
    const Ended update = verify("--commands --update --yes");
    EXPECT_EQ(update.status, 2);
    EXPECT_THAT(update.out, HasSubstr("1 references written"));
    const Ended result = verify("--commands");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.out,
                HasSubstr("failed: crash: s.json, case 'crash': the command was ended by signal 11 (SIGSEGV)\n"
                          "    last words\n"));
    EXPECT_THAT(result.out, HasSubstr("failed: hang: s.json, case 'hang': the command was killed after 0.2 s"));
    EXPECT_THAT(result.out, HasSubstr("skipped: gone: s.json, case 'gone'"));
    EXPECT_THAT(result.out, HasSubstr("s: 4 cases: 1 passed, 1 skipped, 2 failed"));
    const json out = json::parse(verify("--commands --json").out);
    EXPECT_EQ(out["total"]["skipped"], 1);
    EXPECT_EQ(out["cases"][0]["output"], "last words");
    EXPECT_EQ(verify("--commands --filter 'good|gone'").status, 0);
}

TEST_F(CliVerifyTest, RepeatedCasesTellHowTheyVary) {
    for (const char* name : {"0.png", "1.png"})
        write_image(at(name), Format::rgba8_unorm, {2, 2},
                    std::vector<std::byte>(16, name[0] == '0' ? std::byte{0} : std::byte{9}));
    std::ofstream(at("n")) << 0;
    std::ofstream(at("s.json")) << R"({"cases": [{"name": "a", "images": "*.png", "tolerance": {"ulp": 9},
        "command": ["sh", "-c", "n=$(cat {suite}/n); echo $((1-n)) > {suite}/n; cp {suite}/$n.png x.png"]}]})";
    EXPECT_EQ(verify("--commands --update --yes").status, 0);
    const Ended result = verify("--commands --repeat 4 --report page");
    EXPECT_EQ(result.status, 0) << result.out;
    const std::string words = "4 runs gave 2 distinct results, 4 texels vary, and a reference is among the results";
    EXPECT_THAT(result.out, HasSubstr("varies: a: " + words + "\n"));
    EXPECT_THAT(text("page/index.html"), HasSubstr(words));
    EXPECT_THAT(text("page/index.html"), HasSubstr("<a href=\"a/index.html\">a</a>"));
    EXPECT_THAT(text("page/a/index.html"), AllOf(HasSubstr(words), HasSubstr("data-kind=\"varying\"")));
    EXPECT_EQ(read_image(at("page/a/varying.png")).extent, (Extent{2, 2}));
    const json row = json::parse(verify("--commands --repeat 4 --json").out)["cases"][0]["repetition"];
    EXPECT_EQ(row["distinct"], 2);
    EXPECT_EQ(row["has_reference"], true);
    EXPECT_EQ(verify("--commands --repeat 0").status, 2);
    EXPECT_EQ(verify("--commands --repeat 2 --update").status, 2);
}

TEST_F(CliVerifyTest, UpdateDoesNotChangeFoldersThatAreCompared) {
    fs::create_directories(at("a"));
    fs::create_directories(at("b"));
    write_image(at("a/x.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16));
    write_image(at("b/x.png"), Format::rgba8_unorm, {2, 2}, std::vector<std::byte>(16, std::byte{9}));
    std::ofstream(at("s.json")) << R"({"cases": [{"name": "f", "folders": ["a", "b"]}]})";
    const std::string before = text("a/x.png");
    const Ended update = verify("--update --yes");
    EXPECT_EQ(update.status, 1);
    EXPECT_THAT(update.out, HasSubstr("differs: f: x.png: 4 of 4 texels differ"));
    EXPECT_EQ(text("a/x.png"), before);
    EXPECT_FALSE(fs::exists(at("s")));
    EXPECT_EQ(verify("--update --yes --json").status, 1);
}

TEST_F(CliVerifyTest, TerminationEndsCommandsAndRemovesTheirFolders) {
    std::ofstream(at("s.json"))
        << R"({"cases": [{"name": "a", "command": ["sh", "-c", "pwd > {suite}/folder; echo $$ > {suite}/leader; sleep 100"], "images": "*.png"}]})";
    const Ended ended =
        shell("'" + kProgram +
              "' verify s.json --device cpu --commands & p=$!; while ! test -s leader; do sleep 0.05; done; "
              "kill -TERM $p; wait $p; echo status $?");
    EXPECT_THAT(ended.out, HasSubstr("status 143"));
    std::string folder = text("folder");
    folder.pop_back();
    EXPECT_FALSE(fs::exists(folder));
    EXPECT_NE(::kill(std::stoi(text("leader")), 0), 0);
}

TEST_F(CliVerifyTest, ReportStaysInItsFolderWhateverTheNamesOfCases) {
    std::ofstream(at("s.json")) << R"({"cases": [
        {"name": "..", "kernel": "resample", "input": {"pattern": "noise", "size": [8, 8]}},
        {"name": ".", "kernel": "resample", "input": {"pattern": "noise", "size": [8, 8]}}]})";
    fs::create_directories(at("in"));
    EXPECT_EQ(verify("--report in/report").status, 1);
    EXPECT_FALSE(fs::exists(at("in/index.html")));
    EXPECT_TRUE(fs::exists(at("in/report/__/index.html")));
    EXPECT_THAT(text("in/report/index.html"), HasSubstr("of 2 cases passed"));
}

}  // namespace
}  // namespace texton
