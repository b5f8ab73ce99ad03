// Reading of suites: lists that expand to several cases, and error messages.
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/suite.h"

namespace texton::verify {
namespace {

using test::expect_error;

class VerifySuiteTest : public testing::Test {
protected:
    Suite read(const std::string& text) const {
        std::ofstream(folder_.at("suite.json")) << text;
        return read_suite(folder_.at("suite.json"));
    }
    /// Reads a suite of one case with these keys in addition to name, kernel and input.
    Suite read_case(const std::string& keys,
                    const std::string& input = R"({"pattern": "noise", "size": [4, 4]})") const {
        return read(R"({"cases": [{"name": "a", "kernel": "resample", "input": )" + input + keys + "}]}");
    }
    void refused(const std::string& keys, std::initializer_list<std::string_view> fragments,
                 const std::string& input = R"({"pattern": "noise", "size": [4, 4]})") const {
        const Error error =
            expect_error([&] { (void)read_case(keys, input); }, ErrorCode::bad_argument, "texton::verify", fragments);
        EXPECT_TRUE(error.problem().starts_with("suite.json, case 'a")) << error.what();
    }
    static std::vector<std::string> names(const Suite& suite) {
        std::vector<std::string> out;
        for (const Case& each : suite.cases) out.push_back(each.name);
        return out;
    }

    test::ImageFolder folder_;
};

TEST_F(VerifySuiteTest, CaseHasTheValuesOfTheFile) {
    const Suite suite = read_case(R"(, "parameters": {"filter": "area", "crop": [0, 1, 2, 3]}, "size": [8, 6],
        "format": "r8_unorm", "sampler": {"address": ["wrap", "clamp"], "border": 0.5}, "tolerance": {"max": 0.25})",
                                  R"({"pattern": "checker", "seed": 9, "size": [5, 7], "format": "r16_float"})");
    ASSERT_EQ(suite.cases.size(), 1U);
    const Case& only = suite.cases.front();
    EXPECT_EQ(suite.name, "suite");
    EXPECT_EQ(suite.references, folder_.at("suite"));
    EXPECT_EQ(only.name, "a");
    EXPECT_EQ(only.run.kernel->info.name, "resample");
    EXPECT_EQ(std::get<std::string>(only.run.parameters.at("filter")), "area");
    EXPECT_EQ(std::get<std::vector<double>>(only.run.parameters.at("crop")), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(only.run.size, (Extent{8, 6, 0}));
    EXPECT_EQ(only.run.format, Format::r8_unorm);
    EXPECT_EQ(only.tolerance.max, 0.25);
    EXPECT_FALSE(only.tolerance.ulp);
    const auto& made = std::get<Input::Made>(only.inputs.at(0).source);
    EXPECT_EQ(made.pattern.kind, PatternKind::checker);
    EXPECT_EQ(made.pattern.seed, 9U);
    EXPECT_EQ(made.info, (ArrayInfo{.format = Format::r16_float, .extent = {5, 7}}));
    const Sampler sampler = sampler_of(only.inputs[0].sampler, "", made.info);
    EXPECT_EQ(sampler.address[0], AddressMode::wrap);
    EXPECT_EQ(sampler.address[1], AddressMode::clamp);
    EXPECT_EQ(sampler.border[3], 0.5f);
    EXPECT_TRUE(sampler.normalized_coordinates);  // required by wrap
    EXPECT_EQ(read_case("").cases[0].tolerance.ulp, 0U);
}

TEST_F(VerifySuiteTest, OldParameterNamesAreRead) {
    const Suite suite =
        read(R"({"cases": [{"name": "a", "kernel": "grade", "input": {"pattern": "noise", "size": [4, 4]},
        "parameters": {"grey": 0.25}, "matrix": {"parameters.contrast": [1, 2]}}]})");
    ASSERT_EQ(suite.cases.size(), 2U);
    for (const Case& each : suite.cases) EXPECT_EQ(std::get<double>(each.run.parameters.at("gray")), 0.25);
}

TEST_F(VerifySuiteTest, MatrixListsAreCombinedIntoAllCases) {
    const Suite suite = read_case(R"(, "matrix": {"parameters.filter": ["nearest", "area"], "size": [[2, 3], [4, 5]],
        "how": {"small": {"input": {"size": [1, 1]}}, "floats": {"input": {"format": "r32_float"}}}})");
    EXPECT_EQ(names(suite), (std::vector<std::string>{"a/nearest/2x3/small", "a/nearest/2x3/floats",
                                                      "a/nearest/4x5/small", "a/nearest/4x5/floats", "a/area/2x3/small",
                                                      "a/area/2x3/floats", "a/area/4x5/small", "a/area/4x5/floats"}));
    const Case& last = suite.cases.back();
    EXPECT_EQ(last.run.size, (Extent{4, 5, 0}));
    EXPECT_EQ(std::get<std::string>(last.run.parameters.at("filter")), "area");
    EXPECT_EQ(std::get<Input::Made>(last.inputs[0].source).info,
              (ArrayInfo{.format = Format::r32_float, .extent = {4, 4}}));
}

TEST_F(VerifySuiteTest, NamedInputsAreSharedBetweenCases) {
    const Suite suite = read(R"({"references": "gold", "inputs": {"x": {"pattern": "noise", "size": [3, 2]}},
        "cases": [{"name": "b", "kernel": "resample", "input": "x", "matrix": {"input.seed": [4, 5]}}]})");
    EXPECT_EQ(suite.references, folder_.at("gold"));
    EXPECT_EQ(std::get<Input::Made>(suite.cases.at(1).inputs.at(0).source).pattern.seed, 5U);
    expect_error([&] { read_case("", R"("y")"); }, ErrorCode::bad_argument, "texton::verify",
                 {"suite.json, case 'a'", "no input 'y'"});
}

TEST_F(VerifySuiteTest, UnknownKeysAndNamesAreReportedWithTheirCase) {
    refused(R"(, "color": 1)", {"'color' is not a known key", "tolerance"});
    refused(R"(, "sizes": [1, 1])", {"'sizes' is not a known key"});
    refused("", {"'sed' is not a known key"}, R"({"pattern": "noise", "size": [4, 4], "sed": 1})");
    refused(R"(, "tolerance": {"ulps": 1})", {"'ulps' is not a known key"});
    refused(R"(, "tolerance": {})", {"'tolerance' is empty"});
    refused(R"(, "parameters": {"filtre": "area"})", {"there is no parameter 'filtre'"});
    refused(R"(, "parameters": {"filter": "sharp"})", {"filter is 'sharp'"});
    refused(R"(, "matrix": {"size": []})", {"'size' is []"});
    refused(R"(, "matrix": {"how": {"x": {"depth": 1}}})", {"'depth' is not a known key"});
    expect_error([&] { read(R"({"cases": [], "case": 1})"); }, ErrorCode::bad_argument, "texton::verify",
                 {"suite.json", "'case' is not a known key"});
}

TEST_F(VerifySuiteTest, InvalidValuesAreNamed) {
    refused(R"(, "size": [0, 4])", {"'size' contains 0"});
    refused(R"(, "size": "4x4")", {"'size' is \"4x4\""});
    refused(R"(, "format": "rgb8")", {"'rgb8' is not a format"});
    refused(R"(, "tolerance": {"ulp": -1})", {"'ulp' is -1"});
    refused("", {"'pattern' is missing"}, R"({"size": [4, 4]})");
    refused("", {"'pattern' is 'snow'"}, R"({"pattern": "snow", "size": [4, 4]})");
    refused("", {"'size' is missing"}, R"({"pattern": "noise"})");
    refused("", {"'cube' is not a kind of array"}, R"({"pattern": "noise", "size": [4, 4], "kind": "cube"})");
    expect_error([&] { read(R"({"cases": [{"name": "z", "kernel": "polish"}]})"); }, ErrorCode::bad_argument,
                 "texton::verify", {"suite.json, case 'z'", "'kernel' is 'polish'"});
    expect_error([&] { read(R"({"cases": [{"kernel": "resample"}]})"); }, ErrorCode::bad_argument, "texton::verify",
                 {"suite.json, case 1", "'name' is missing"});
    expect_error([&] { (void)sampler_of(Json::parse(R"({"filter": "cubic"})"), "here", {}); }, ErrorCode::bad_argument,
                 "texton::verify", {"here", "'filter' is \"cubic\"", "point, linear"});
    expect_error([&] { (void)sampler_of(Json::parse(R"({"filtering": 1})"), "here", {}); }, ErrorCode::bad_argument,
                 "texton::verify", {"here", "'filtering' is not a known key"});
}

TEST_F(VerifySuiteTest, InvalidSuiteFilesAreNamed) {
    expect_error([&] { read("{ \"cases\": [ }"); }, ErrorCode::io, "texton::verify::read_suite",
                 {"suite.json is not valid JSON"});
    expect_error([&] { (void)read_suite(folder_.at("gone.json")); }, ErrorCode::io, "texton::verify::read_suite",
                 {"gone.json cannot be read"});
    const std::string twice = R"({"name": "a b", "kernel": "resample", "input": {"pattern": "noise", "size": [1, 1]}})";
    expect_error([&] { read(R"({"cases": [)" + twice + "," + twice + "]}"); }, ErrorCode::io,
                 "texton::verify::read_suite", {"two cases", "'a b'"});
}

}  // namespace
}  // namespace texton::verify
