// Reading of suites: lists that expand to several cases, and error messages.
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
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
    const auto& [inputs, run] = std::get<KernelCase>(only.work);
    EXPECT_EQ(run.kernel->info.name, "resample");
    EXPECT_EQ(std::get<std::string>(run.parameters.at("filter")), "area");
    EXPECT_EQ(std::get<std::vector<double>>(run.parameters.at("crop")), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(run.size, (ResultSize{.texels = {8, 6, 0}}));
    EXPECT_EQ(run.format, Format::r8_unorm);
    EXPECT_EQ(only.criteria.tolerance.max, 0.25);
    EXPECT_FALSE(only.criteria.tolerance.ulp);
    const auto& made = std::get<Input::Made>(inputs.at(0).source);
    EXPECT_EQ(made.pattern.kind, PatternKind::checker);
    EXPECT_EQ(made.pattern.seed, 9U);
    EXPECT_EQ(made.info, (ArrayInfo{.format = Format::r16_float, .extent = {5, 7}}));
    const Sampler sampler = sampler_of(inputs[0].sampler, "", made.info);
    EXPECT_EQ(sampler.address[0], AddressMode::wrap);
    EXPECT_EQ(sampler.address[1], AddressMode::clamp);
    EXPECT_EQ(sampler.border[3], 0.5f);
    EXPECT_TRUE(sampler.normalized_coordinates);  // required by wrap
    EXPECT_EQ(read_case("").cases[0].criteria.tolerance.ulp, 0U);
}

TEST_F(VerifySuiteTest, OldParameterNamesAreRead) {
    const Suite suite =
        read(R"({"cases": [{"name": "a", "kernel": "grade", "input": {"pattern": "noise", "size": [4, 4]},
        "parameters": {"grey": 0.25}, "matrix": {"parameters.contrast": [1, 2]}}]})");
    ASSERT_EQ(suite.cases.size(), 2U);
    for (const Case& each : suite.cases)
        EXPECT_EQ(std::get<double>(std::get<KernelCase>(each.work).run.parameters.at("gray")), 0.25);
}

TEST_F(VerifySuiteTest, AChoiceThatIsANumberMayBeWrittenAsANumber) {
    const Suite suite =
        read(R"({"cases": [{"name": "a", "kernel": "median", "input": {"pattern": "noise", "size": [4, 4]},
        "parameters": {"window": 5}}]})");
    const auto& parameters = std::get<KernelCase>(suite.cases.front().work).run.parameters;
    EXPECT_EQ(std::get<std::string>(parameters.at("window")), "5");
}

TEST_F(VerifySuiteTest, MatrixListsAreCombinedIntoAllCases) {
    const Suite suite = read_case(R"(, "matrix": {"parameters.filter": ["nearest", "area"], "size": [[2, 3], [4, 5]],
        "how": {"small": {"input": {"size": [1, 1]}}, "floats": {"input": {"format": "r32_float"}}}})");
    EXPECT_EQ(names(suite), (std::vector<std::string>{"a/nearest/2x3/small", "a/nearest/2x3/floats",
                                                      "a/nearest/4x5/small", "a/nearest/4x5/floats", "a/area/2x3/small",
                                                      "a/area/2x3/floats", "a/area/4x5/small", "a/area/4x5/floats"}));
    const Case& last = suite.cases.back();
    EXPECT_EQ(std::get<KernelCase>(last.work).run.size, (ResultSize{.texels = {4, 5, 0}}));
    EXPECT_EQ(std::get<std::string>(std::get<KernelCase>(last.work).run.parameters.at("filter")), "area");
    EXPECT_EQ(std::get<Input::Made>(std::get<KernelCase>(last.work).inputs[0].source).info,
              (ArrayInfo{.format = Format::r32_float, .extent = {4, 4}}));
}

TEST_F(VerifySuiteTest, QuickCasesContainEveryPairOfValues) {
    const Suite suite = read_case(R"(, "matrix": {"parameters.filter": ["nearest", "area", "linear"],
        "size": [[2, 3], [4, 5], [6, 7]], "input.seed": [1, 2, 3], "input.format": ["r8_unorm", "r16_float"]})");
    ASSERT_EQ(suite.cases.size(), 54U);
    std::size_t quick = 0;
    std::set<std::set<std::string>> pairs;
    for (const Case& each : suite.cases) {
        if (!each.is_quick) continue;
        ++quick;
        std::vector<std::string> words;  // the position tells 2 of the seed from other words
        std::istringstream parts(each.name);
        for (std::string word; std::getline(parts, word, '/');)
            words.push_back(fmt::format("{} {}", words.size(), word));
        for (std::size_t a = 1; a < words.size(); ++a)
            for (std::size_t b = a + 1; b < words.size(); ++b) pairs.insert({words[a], words[b]});
    }
    EXPECT_EQ(pairs.size(), 3U * 9 + 3U * 6);
    EXPECT_LT(quick, 16U);
    for (const Case& each : read_case(R"(, "matrix": {"size": [[2, 3], [4, 5]], "input.seed": [1, 2, 3]})").cases)
        EXPECT_TRUE(each.is_quick) << each.name;  // two keys: every combination is a pair
}

TEST_F(VerifySuiteTest, MemoryOfAnInputIsRead) {
    const Suite suite = read_case("", R"({"pattern": "ties", "size": [4, 4], "memory": "sparse"})");
    EXPECT_EQ(std::get<KernelCase>(suite.cases.at(0).work).inputs.at(0).memory, InputMemory::sparse);
    refused("", {"'memory' is 'disk'", "rows, sparse or deferred"},
            R"({"pattern": "noise", "size": [4, 4], "memory": "disk"})");
}

TEST_F(VerifySuiteTest, NamedInputsAreSharedBetweenCases) {
    const Suite suite = read(R"({"references": "gold", "inputs": {"x": {"pattern": "noise", "size": [3, 2]}},
        "cases": [{"name": "b", "kernel": "resample", "input": "x", "matrix": {"input.seed": [4, 5]}}]})");
    EXPECT_EQ(suite.references, folder_.at("gold"));
    EXPECT_EQ(std::get<Input::Made>(std::get<KernelCase>(suite.cases.at(1).work).inputs.at(0).source).pattern.seed, 5U);
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
    refused(R"(, "size": 4)", {"'size' is 4"});
    refused(R"(, "size": "large")", {"'size'", "'large' is not a size"});
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

TEST_F(VerifySuiteTest, CommandFilesAndFoldersHaveTheValuesOfTheFile) {
    std::ofstream(folder_.at("suite.json")) << R"({"cases": [
        {"name": "a", "command": ["render", "--out", "{out}"], "environment": {"SEED": "1", "DISPLAY": null},
         "time_limit": 2.5, "exit_status": 3, "optional": true, "tolerance": {"max": 0.5},
         "images": ["*.png", {"file": "b.exr", "name": "depth", "tolerance": {"ssim": 0.75}, "ignore": ["g", "a"]}]},
        {"name": "b", "images": "out/*.png", "mask": [[1, 2, 3, 4]]},
        {"name": "c", "folders": ["gold", "new"], "mask": "m.png",
         "tolerance": {"count": {"texels": 5, "max": 0.25, "ulp": 2}}}]})";
    const Suite suite = read_suite(folder_.at("suite.json"), Outside::refused, Commands::allowed);
    ASSERT_EQ(suite.cases.size(), 3U);
    const auto& [command, images] = std::get<CommandCase>(suite.cases[0].work);
    EXPECT_TRUE(suite.cases[0].optional);
    EXPECT_EQ(command.arguments, (std::vector<std::string>{"render", "--out", "{out}"}));
    EXPECT_EQ(command.environment.at("SEED"), "1");
    EXPECT_EQ(command.environment.at("DISPLAY"), std::nullopt);
    EXPECT_EQ(command.time_limit.count(), 2.5);
    EXPECT_EQ(command.exit_status, 3);
    ASSERT_EQ(images.size(), 2U);
    EXPECT_EQ(images[0].files, "*.png");
    EXPECT_EQ(images[0].criteria.tolerance.max, 0.5);
    EXPECT_EQ(images[1].name, "depth");
    EXPECT_EQ(images[1].criteria.tolerance.ssim, 0.75);
    EXPECT_FALSE(images[1].criteria.tolerance.max);
    EXPECT_EQ(images[1].criteria.ignored, 0b1010);
    const auto& files = std::get<FilesCase>(suite.cases[1].work);
    EXPECT_EQ(files.images.at(0).criteria.mask.rectangles.at(0), (Region{{1, 2, 0}, {3, 4, 1}}));
    EXPECT_FALSE(suite.cases[1].optional);
    const auto& folders = std::get<FoldersCase>(suite.cases[2].work);
    EXPECT_EQ(folders.expected, folder_.at("gold"));
    EXPECT_EQ(folders.actual, folder_.at("new"));
    EXPECT_EQ(suite.cases[2].criteria.mask.file, folder_.at("m.png"));
    EXPECT_EQ(suite.cases[2].criteria.tolerance.count->texels, 5U);
    EXPECT_EQ(suite.cases[2].criteria.tolerance.count->ulp, 2U);
    EXPECT_EQ(suite.cases[2].criteria.tolerance.count->max, 0.25);
}

TEST_F(VerifySuiteTest, CommandsAreRefusedUnlessTheyAreAllowed) {
    expect_error([&] { read(R"({"cases": [{"name": "a", "command": ["true"], "images": "x.png"}]})"); },
                 ErrorCode::not_permitted, "texton::verify", {"suite.json, case 'a'", "'command'", "--commands"});
}

TEST_F(VerifySuiteTest, InvalidCommandsAndImagesAreNamed) {
    const auto refuses = [&](const std::string& keys, std::initializer_list<std::string_view> fragments) {
        const Error error = expect_error([&] { read(R"({"cases": [{"name": "a", )" + keys + "}]}"); },
                                         ErrorCode::bad_argument, "texton::verify", fragments);
        EXPECT_TRUE(error.problem().starts_with("suite.json, case 'a'")) << error.what();
    };
    refuses(R"("command": [], "images": "x.png")", {"'command' is []"});
    refuses(R"("command": "ls -l", "images": "x.png")", {"'command' is \"ls -l\"", "No shell"});
    refuses(R"("command": [""], "images": "x.png")", {"'command' is"});
    refuses(R"("command": ["a\u0000b"], "images": "x.png")", {"'command' contains a zero character"});
    refuses(R"("command": ["true"])", {"'images' is missing"});
    refuses(R"("command": ["true"], "images": [])", {"'images' is empty"});
    refuses(R"("command": ["true"], "images": [1])", {"'images', 1", "not an object"});
    refuses(R"("command": ["true"], "images": [""])", {"'file' contains an empty path"});
    refuses(R"("command": ["true"], "images": [{"name": "x"}])", {"'images', 1", "'file' is missing"});
    refuses(R"("command": ["true"], "images": [{"file": "x", "size": 1}])", {"'size' is not a known key"});
    refuses(R"("command": ["true"], "images": "x", "time_limit": 0)", {"'time_limit' is 0"});
    refuses(R"("command": ["true"], "images": "x", "exit_status": 256)", {"'exit_status' is 256"});
    refuses(R"("command": ["true"], "images": "x", "environment": {"A=B": "1"})", {"'environment'", "'A=B'"});
    refuses(R"("command": ["true"], "images": "x", "environment": {"A": 1})", {"'environment'", "'A' is 1"});
    refuses(R"("command": ["true"], "images": "x", "size": [1, 1])", {"'size' is not a known key"});
    refuses(R"("folders": ["x"])", {"'folders' is [\"x\"]"});
    refuses(R"("folders": ["x", "./x"])", {"'folders' names the same folder twice"});
    refuses(R"("optional": true)", {"'kernel' is missing", "'command'"});
    refuses(R"("images": "x.png", "optional": 1)", {"'optional'"});
    refuses(R"("images": "x.png", "command": ["true"], "folders": ["a", "b"])", {"'folders' is not a known key"});
}

TEST_F(VerifySuiteTest, InvalidCriteriaAreNamed) {
    refused(R"(, "mask": [[0, 0, 1]])", {"'mask' is [[0,0,1]]", "x, y, width, height"});
    refused(R"(, "mask": [[0, 0, 0, 1]])", {"'mask' is"});
    refused(R"(, "mask": 3)", {"'mask' is 3"});
    refused(R"(, "ignore": "a")", {"'ignore' is \"a\""});
    refused(R"(, "ignore": ["x"])", {"'ignore' is [\"x\"]"});
    refused(R"(, "ignore": ["r", "g", "b", "a"])", {"'ignore' is"});
    refused(R"(, "tolerance": {"count": {"max": 1}})", {"'count': 'texels' is missing"});
    refused(R"(, "tolerance": {"count": {"texels": 1}})", {"'count': 'max' is missing"});
    refused(R"(, "tolerance": {"count": {"texels": 1, "max": 1, "mse": 1}})", {"'mse' is not a known key"});
}

TEST_F(VerifySuiteTest, ImagesFoldersAndMasksOutsideOfTheFolderAreRefused) {
    for (const char* keys :
         {R"("images": "../x.png")", R"("images": "/etc/x.png")", R"("folders": ["../a", "b"])",
          R"("folders": ["a", ".."])", R"("images": "x.png", "mask": "../m.png")",
          R"("command": ["true"], "images": "../x.png")", R"("images": [{"file": "a/../../x.png"}])"}) {
        const auto read_with = [&](Outside outside) {
            std::ofstream(folder_.at("suite.json")) << R"({"cases": [{"name": "a", )" << keys << "}]}";
            return read_suite(folder_.at("suite.json"), outside, Commands::allowed);
        };
        expect_error([&] { (void)read_with(Outside::refused); }, ErrorCode::not_permitted, "texton::verify",
                     {"suite.json, case 'a'", "is outside of the folder of the suite"});
        EXPECT_EQ(read_with(Outside::allowed).cases.size(), 1U) << keys;
    }
}

TEST_F(VerifySuiteTest, ReferencesAndStoresOutsideOfTheFolderAreRefused) {
    for (const std::string key : {"references", "store"}) {
        for (const char* path : {"../gold", "/etc", "a/../.."}) {
            const auto read_with = [&](Outside outside) {
                std::ofstream(folder_.at("suite.json"))
                    << "{\"" << key << "\": \"" << path << R"(", "cases": [{"name": "a", "images": "x.png"}]})";
                return read_suite(folder_.at("suite.json"), outside);
            };
            expect_error([&] { (void)read_with(Outside::refused); }, ErrorCode::not_permitted, "texton::verify",
                         {"suite.json, '" + key + "'", "is outside of the folder of the suite", "--allow-outside"});
            EXPECT_EQ(read_with(Outside::allowed).cases.size(), 1U) << key;
        }
    }
}

TEST_F(VerifySuiteTest, ALinkOutOfTheFolderIsNoFolderOfReferences) {
    std::filesystem::create_directory_symlink("..", folder_.at("suite"));
    expect_error([&] { (void)read(R"({"cases": [{"name": "a", "images": "x.png"}]})"); }, ErrorCode::not_permitted,
                 "texton::verify", {"suite is outside of the folder of the suite"});
}

TEST_F(VerifySuiteTest, SuiteWithoutCasesIsRefused) {
    expect_error([&] { read(R"({"cases": []})"); }, ErrorCode::bad_argument, "texton::verify",
                 {"suite.json", "'cases' is empty"});
}

TEST_F(VerifySuiteTest, InvalidSuiteFilesAreNamed) {
    expect_error([&] { read("{ \"cases\": [ }"); }, ErrorCode::io, "texton::verify::read_suite",
                 {"suite.json is not valid JSON"});
    expect_error([&] { (void)read_suite(folder_.at("gone.json")); }, ErrorCode::io, "texton::verify::read_suite",
                 {"gone.json cannot be read"});
    const std::string twice = R"({"name": "a b", "kernel": "resample", "input": {"pattern": "noise", "size": [1, 1]}})";
    expect_error([&] { read(R"({"cases": [)" + twice + "," + twice + "]}"); }, ErrorCode::io,
                 "texton::verify::read_suite", {"suite.json has two cases", "'a b'", "'name'"});
}

}  // namespace
}  // namespace texton::verify
