// The exit statuses of all commands, and the table of viewer/README.md that lists them.
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>

#include <texton/image.h>
#include <texton/recording.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"
#include "viewer/launcher/command_names.h"

namespace texton {
namespace {

using test::Ended;
using testing::HasSubstr;

class CliExitStatusTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        test::Bytes texels = test::pattern(4 * 4 * 4, 3);
        write_image(at("a.png"), Format::rgba8_unorm, {4, 4}, texels);
        texels[5] ^= std::byte{1};
        write_image(at("b.png"), Format::rgba8_unorm, {4, 4}, texels);
        std::ofstream(at("bad.png")) << "no image";
        Recording recording = random_recording(1, {.points = 10});
        recording.results = replay(recording);
        write_recording(at("a.cap"), recording);
        recording.results[4].channel[0] ^= 1;
        write_recording(at("b.cap"), recording);
        std::ofstream(at("bad.cap")) << "no recording";
        std::ofstream(at("p.json")) << R"({"steps": [{"kernel": "gaussian"}]})";
        write_suite("s", "a.png", "a.png");
        write_suite("unapproved", "a.png", "a.png");
        write_suite("bad", "bad.png", "a.png");
        ASSERT_EQ(run("verify s.json --device cpu --update --yes").status, 0);
        ASSERT_EQ(run("verify s.json --device cpu --report report").status, 0);
    }
    void write_suite(const std::string& name, const std::string& first, const std::string& second) const {
        const auto test_case = [](const char* title, const std::string& file) {
            return std::string(R"({"name": ")") + title + R"(", "kernel": "resample", "input": {"file": ")" + file +
                   "\"}}";
        };
        std::ofstream(at(name + ".json"))
            << "{\"cases\": [" << test_case("first", first) << ", " << test_case("second", second) << "]}";
    }
};

// The arguments for each outcome of a command. Empty: the command has no such outcome.
struct Row {
    const char* command;
    const char* success;
    const char* difference;
    const char* one_bad;  // one of two files is bad: the other one is processed
    const char* missing;  // a file does not exist
    const char* wrong;    // an option is wrong
};

constexpr Row kRows[] = {
    {"approve", "report s.json --yes", "", "", "gone s.json --yes", "report s.json --filter ["},
    {"batch", "p.json a.png -o 'good/{stem}.png' --device cpu",
     "p.json a.png bad.png -o 'both/{stem}.png' --device cpu", "", "p.json gone.png -o 'gone/{stem}.png' --device cpu",
     "p.json a.png -o '{steam}.png'"},
    {"bench", "swizzle --size 8x8 --device cpu", "", "", "", "swizzle --size 0x8"},
    {"compare", "a.png a.png", "a.png b.png", "a.png bad.png", "a.png gone.png", "a.png a.png --metric weight"},
    {"completion", "bash", "", "", "", "csh"},
    {"convert", "a.png c.png", "", "a.png bad.png c.dds --kind layered_2d", "gone.png c.png", "a.png c.png --levels x"},
    {"devices", "--device cpu", "", "", "", "--device tpu"},
    {"info", "a.png b.png", "", "bad.png a.png", "gone.png a.png", "a.png --levels x"},
    {"mips", "a.png c.dds", "", "", "gone.png c.dds", "a.png c.dds --set filter=round"},
    {"record", "", "", "", "", "new --random 1 --device cpu"},
    {"replay", "a.cap", "b.cap", "bad.cap b.cap", "gone.cap a.cap", "a.cap --device tpu"},
    {"run", "gaussian a.png -o c.png --device cpu", "", "", "gaussian gone.png -o c.png",
     "gaussian a.png -o c.png --sigma x"},
    {"stats", "a.png b.png --device cpu", "", "bad.png a.png --device cpu", "gone.png --device cpu", "a.png --range 1"},
    {"verify", "s.json --device cpu", "unapproved.json --device cpu", "bad.json --device cpu", "gone.json",
     "s.json --filter ["},
    {"view", "--version", "", "a.png bad.png --device cpu --screenshot shot.png",
     "gone.png --device cpu --screenshot shot.png", "--size 12"},
};

class CliExitStatusOfTest : public CliExitStatusTest, public testing::WithParamInterface<Row> {};

TEST_P(CliExitStatusOfTest, EachOutcomeHasItsStatus) {
    const Row& row = GetParam();
    const bool has_viewer = std::filesystem::exists(std::filesystem::path(kProgram).parent_path() / "texton-view");
    if (row.command == std::string_view("view") && !has_viewer) GTEST_SKIP() << "there is no viewer";
    const auto expect = [&](const std::string& arguments, int status) {
        if (arguments.empty()) return;
        const Ended ended = run(std::string(row.command) + ' ' + arguments);
        EXPECT_EQ(ended.status, status) << arguments << '\n' << ended.out << ended.err;
        EXPECT_NE(ended.out + ended.err, "") << arguments;
        if (status != 2) {
            EXPECT_EQ(ended.err, "") << arguments;
        }
    };
    expect(row.success, 0);
    expect(row.difference, 1);
    expect(row.one_bad, 2);
    expect(row.missing, 2);
    expect(row.wrong, 2);
    expect("--nonsense", 2);
}
INSTANTIATE_TEST_SUITE_P(Commands, CliExitStatusOfTest, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.command); });

TEST_F(CliExitStatusTest, TheOtherFilesAreProcessedIfOneIsBad) {
    EXPECT_THAT(run("info bad.png a.png").out, HasSubstr("a.png: 4 x 4"));
    EXPECT_THAT(run("stats bad.png a.png --device cpu").out, HasSubstr("a.png: 4 x 4"));
    EXPECT_THAT(run("replay bad.cap gone.cap a.cap").out, HasSubstr("total: 10 points, 10 equal, 1 of 1 files exact"));
    std::filesystem::create_directories(at("empty"));
    const Ended ended = run("replay empty a.cap");
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.out, HasSubstr("total: 10 points, 10 equal, 1 of 1 files exact"));
    EXPECT_THAT(ended.err, HasSubstr("the folder empty contains no .cap file"));
    EXPECT_THAT(run("verify bad.json --device cpu").out, HasSubstr("no reference: second"));
}

TEST_F(CliExitStatusTest, TheTableOfTheReadmeListsAllCommandsAndAgreesWithTheirHelp) {
    const std::string readme = test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/viewer/README.md";
    std::ifstream file(readme);
    std::map<std::string, bool> differs;  // whether the command has the status 1
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) inside = line == "### Exit status";
        if (!inside || !line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        std::istringstream text(line.substr(1));
        for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
        ASSERT_EQ(cells.size(), 4u) << line;
        std::istringstream names(cells[0]);
        for (std::string name; std::getline(names, name, '`') && std::getline(names, name, '`');)
            differs[name] = cells[2] != " - ";
    }
    for (const launcher::CommandName& command : launcher::kCommandNames) {
        ASSERT_TRUE(differs.contains(command.name)) << command.name;
        if (command.name == std::string_view("view")) continue;
        const std::string help = run(std::string(command.name) + " --help").out;
        EXPECT_EQ(differs[command.name], help.find("\n  1  ") != std::string::npos) << command.name;
        EXPECT_THAT(help, HasSubstr("\n  2  "));
    }
    EXPECT_EQ(differs.size(), launcher::kCommandNames.size());
    EXPECT_EQ(std::size(kRows), launcher::kCommandNames.size());
}

}  // namespace
}  // namespace texton
