// texton approve, and stores and image files as references of texton verify, run through a shell.
#include <map>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/support/command_line.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using testing::ElementsAre;
using testing::HasSubstr;

class CliApproveTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        for (const char* folder : {"ci", "dev"}) fs::create_directories(at(folder));
    }
    /// Writes the same suite into both folders. It has images of bytes, of floats and of signed integers.
    void write_suites(const std::string& keys = "", int seed = 1) const {
        for (const char* folder : {"ci", "dev"})
            std::ofstream(at(std::string(folder) + "/s.json")) << "{" << keys << R"("cases": [
                {"name": "a", "kernel": "resample", "input": {"pattern": "noise", "size": [8, 8], "seed": )"
                                                               << seed << R"(},
                 "matrix": {"input.format": ["rgba8_unorm", "r32_float", "r8_snorm"]}}]})";
    }
    Ended ci(const std::string& options) const { return run("verify ci/s.json --device cpu " + options); }
    Ended dev(const std::string& options = "") const { return run("verify dev/s.json --device cpu " + options); }
    /// Returns the contents of all files in a folder, and in folders inside it.
    std::map<std::string, std::string> contents(const std::string& folder) const {
        std::map<std::string, std::string> out;
        if (!fs::exists(at(folder))) return out;
        for (const auto& entry : fs::recursive_directory_iterator(at(folder)))
            if (entry.is_regular_file()) {
                const std::string name = entry.path().lexically_relative(at(folder)).string();
                out[name] = text(folder + "/" + name);
            }
        return out;
    }
};

TEST_F(CliApproveTest, ApprovalOfAReportWritesTheBytesOfAnUpdate) {
    for (const char* keys : {"", R"("reference_format": "image",)", R"("store": "s/store",)",
                             R"("reference_format": "image", "store": "s/store",)"}) {
        write_suites(keys);
        EXPECT_EQ(ci("--report report").status, 1) << keys;
        EXPECT_EQ(ci("--update --yes").status, 0) << keys;
        const Ended approved = run("approve report dev/s.json --yes");
        EXPECT_EQ(approved.status, 0) << approved.err;
        EXPECT_THAT(approved.out, HasSubstr("3 references written to dev/s\n"));
        EXPECT_GE(contents("dev/s").size(), 3U);
        EXPECT_TRUE(contents("ci/s") == contents("dev/s")) << keys;
        EXPECT_EQ(dev().status, 0) << keys;
        for (const char* folder : {"ci/s", "dev/s", "report"}) fs::remove_all(at(folder));
    }
}

TEST_F(CliApproveTest, ChangedResultsBecomeReferencesOrVariants) {
    write_suites();
    ci("--update --yes");
    fs::copy(at("ci/s"), at("dev/s"));
    write_suites("", 2);
    ci("--report report");
    EXPECT_EQ(run("approve report dev/s.json --yes --as seed_2 --filter snorm").status, 0);
    EXPECT_EQ(contents("dev/s").size(), 4U);
    ci("--update --yes --as seed_2");
    EXPECT_EQ(contents("dev/s").at("a_r8_snorm@seed_2.texref"), contents("ci/s").at("a_r8_snorm@seed_2.texref"));
    const Ended all = run("approve report dev/s.json --yes --json");
    EXPECT_EQ(json::parse(all.out)["approved"].size(), 3U) << all.err;
    EXPECT_EQ(dev().status, 0);
}

TEST_F(CliApproveTest, ReportNamesItsSuite) {
    write_suites();
    ci("--report report");
    EXPECT_EQ(run("approve report --yes").status, 0);
    EXPECT_EQ(ci("").status, 0);
    ci("--report report");
    EXPECT_EQ(run("approve report --yes").out, "Nothing to approve.\n");
    for (const std::string& path : {at("ci/s.json"), std::string("../s.json"), std::string("gone.json")}) {
        json results = json::parse(text("report/results.json"));
        results["suite_file"] = path;
        std::ofstream(at("report/results.json")) << results;
        const Ended refused = run("approve report --yes");
        EXPECT_EQ(refused.status, 2);
        EXPECT_THAT(refused.err, HasSubstr("the report was made with the suite " + path + ", which is not here"));
    }
}

TEST_F(CliApproveTest, ApprovalAsksForConfirmation) {
    write_suites();
    ci("--report report");
    const std::string approve = "'" + kProgram + "' approve report dev/s.json";
    const Ended declined = shell("echo n | " + approve);
    EXPECT_EQ(declined.status, 1);
    EXPECT_THAT(declined.out, testing::ContainsRegex("a/r8_snorm +no reference +0"));
    EXPECT_THAT(declined.out, HasSubstr("Write 3 references? [y/N] Nothing was written.\n"));
    EXPECT_FALSE(fs::exists(at("dev/s")));
    EXPECT_EQ(shell("echo y | " + approve).status, 0);
    EXPECT_EQ(contents("dev/s").size(), 3U);
    EXPECT_THAT(run("approve report dev/s.json --json").err, HasSubstr("--json cannot ask for confirmation"));
}

TEST_F(CliApproveTest, DamagedReportChangesNoReference) {
    write_suites();
    ci("--report report");
    const std::string last = "report/a_r8_snorm/result.texref", whole = text(last);
    std::ofstream(at(last), std::ios::binary) << whole.substr(0, whole.size() - 1);
    const Ended truncated = run("approve report dev/s.json --yes");
    EXPECT_EQ(truncated.status, 2);
    EXPECT_THAT(truncated.err, HasSubstr("a_r8_snorm/result.texref is truncated"));
    EXPECT_TRUE(contents("dev/s").empty());
    fs::remove(at(last));
    EXPECT_EQ(run("approve report dev/s.json --yes").status, 2);
    EXPECT_TRUE(contents("dev/s").empty());
    json results = json::parse(text("report/results.json"));
    results["cases"][0]["result"] = "../ci/s.json";
    std::ofstream(at("report/results.json")) << results;
    EXPECT_THAT(run("approve report dev/s.json --yes").err,
                HasSubstr("results.json does not list results of a report"));
    std::ofstream(at("report/results.json")) << "{";
    EXPECT_THAT(run("approve report dev/s.json --yes").err, HasSubstr("results.json is not valid JSON"));
    EXPECT_THAT(run("approve ci dev/s.json --yes").err, HasSubstr("results.json cannot be read"));
}

TEST_F(CliApproveTest, CaseThatTheSuiteLacksIsNamed) {
    write_suites();
    ci("--report report");
    std::ofstream(at("dev/s.json")) << R"({"cases": [{"name": "a/rgba8_unorm", "kernel": "resample",
        "input": {"pattern": "noise", "size": [8, 8]}}]})";
    const Ended refused = run("approve report dev/s.json --yes");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("the report has a result of the case 'a/r32_float', which s does not have"));
    EXPECT_EQ(run("approve report dev/s.json --yes --filter rgba8").status, 0);
    EXPECT_EQ(dev().status, 0);
}

TEST_F(CliApproveTest, ReferencesOfRemovedCasesAreRemovedIfTheReportHasAllCases) {
    write_suites();
    fs::create_directories(at("dev/s"));
    std::ofstream(at("dev/s/old.texref")) << "of a case that was removed";
    ci("--report report --filter rgba8");
    EXPECT_EQ(run("approve report dev/s.json --yes").status, 0);
    EXPECT_TRUE(fs::exists(at("dev/s/old.texref")));
    ci("--report report");
    const Ended all = run("approve report dev/s.json --yes");
    EXPECT_THAT(all.out, HasSubstr("1 references removed from dev/s\n"));
    EXPECT_FALSE(fs::exists(at("dev/s/old.texref")));
}

// --- stores and image files ------------------------------------------------------------------------------------------

TEST_F(CliApproveTest, StoreOfTheCommandLineIsUsedByUpdatesAndRuns) {
    write_suites();
    EXPECT_EQ(ci("--update --yes --store shared").status, 0);
    EXPECT_EQ(dev("--update --yes --store shared --as other").status, 0);
    EXPECT_EQ(contents("shared").size(), 3U);  // both suites have the same images
    EXPECT_EQ(ci("--store shared").status, 0);
    EXPECT_EQ(dev("--store shared").status, 0);
    const Ended without = ci("");
    EXPECT_EQ(without.status, 2);
    EXPECT_THAT(without.out, HasSubstr("is kept in a store, but the suite names none"));
}

TEST_F(CliApproveTest, ReferencesAreImageFilesWhereTheseHoldEveryBit) {
    write_suites(R"("reference_format": "image",)");
    EXPECT_EQ(ci("--update --yes").status, 0);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : contents("ci/s")) names.push_back(name);
    EXPECT_THAT(names, ElementsAre("a_r32_float.exr", "a_r32_float.texref.json", "a_r8_snorm.texref",
                                   "a_rgba8_unorm.png", "a_rgba8_unorm.texref.json"));
    EXPECT_EQ(ci("").status, 0);
    std::ofstream(at("ci/s.json")) << R"({"reference_format": "png", "cases": []})";
    EXPECT_THAT(ci("").err, HasSubstr("s.json: 'reference_format' is \"png\""));
}

TEST_F(CliApproveTest, JsonNamesTheReferenceAndItsEqualFields) {
    write_suites();
    ci("--update --yes");
    const json out = json::parse(ci("--json").out);
    EXPECT_THAT(out["cases"][0]["reference"], HasSubstr("a_rgba8_unorm.texref"));
    EXPECT_EQ(out["cases"][0]["equal_fields"], json({"device", "compute_capability", "cpu"}));
}

TEST_F(CliApproveTest, UpdateThatFailsChangesNoReference) {
    write_suites(R"("reference_format": "image",)");
    ci("--update --yes");
    const auto before = contents("ci/s");
    write_suites(R"("reference_format": "image",)", 2);
    fs::remove(at("ci/s/a_r32_float.exr"));
    fs::remove(at("ci/s/a_r32_float.texref.json"));
    fs::create_directories(at("ci/s/a_r32_float.exr"));  // where the update would write the second reference
    const Ended failed = ci("--update --yes");
    EXPECT_EQ(failed.status, 2);
    EXPECT_THAT(failed.err, HasSubstr("a_r32_float.exr is a folder"));
    for (const auto& [name, bytes] : contents("ci/s")) EXPECT_TRUE(before.at(name) == bytes) << name;
    EXPECT_EQ(contents("ci/s").size(), 3U);
}

}  // namespace
}  // namespace texton
