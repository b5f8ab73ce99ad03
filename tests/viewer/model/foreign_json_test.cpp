// Sessions and suites that a stranger wrote, or that were damaged: they are read, or refused with an Error.
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/model/document.h"
#include "viewer/model/json_file.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/session.h"
#include "viewer/render/render.h"
#include "viewer/verify/run_suite.h"

namespace texton::viewer {
namespace {

using verify::Json;

// Every key of a session and of a suite, with valid values.
constexpr const char* kSession = R"({
    "images": [{"files": ["a.png"], "read_as": {"kind": "array_2d", "format": "rgba8_unorm", "color": "linear",
                "window": "data", "upright": true, "cube_side": 0, "part": 0, "first_level": 0, "levels": 1}},
               {"files": ["a.png"], "read_as": {"raw": {"format": "nv12", "width": 4, "height": 4, "frame": 0}}}],
    "current": 0, "reference": 0, "device": "cpu",
    "subresource": {"level": 0, "layer": 0, "face": 0, "slice": 0, "plane": 0}, "layout": "single",
    "view": {"fits": false, "zoom": 4, "x": 8, "y": 8}, "reading": "sampled",
    "sampler": {"address": ["wrap", "wrap", "wrap"], "filter": "linear", "mip_filter": "linear",
                "normalized_coordinates": true, "seamless_cubemap": false, "trilinear_optimization": false,
                "max_anisotropy": 4, "mip_bias": 0.5, "mip_min": 0, "mip_max": 3, "border": [0, 0, 0, 1]},
    "second_sampler": {"filter": "point"},
    "display": {"channels": [true, true, false, true], "luminance": false, "exposure": 1, "gamma": 1.2, "low": 0,
                "high": 1, "false_color": "turbo", "mark_nan": true, "mark_range": false},
    "compare": {"mode": "wipe", "against": "reference", "wipe": 0.5, "flip": false},
    "kernel": {"name": "gaussian", "parameters": {"sigma": 2, "radius": 3}, "more_inputs": [0]},
    "selection": {"x": 1, "y": 1, "width": 5, "height": 4}, "pins": [[1, 2], [3.5, 4]],
    "probe": {"operation": "plain", "u": 0.5, "v": 0.5, "w": 0.5, "lod": 1, "line_from": [0, 0, 0],
              "line_to": [1, 1, 1], "component": 0, "plot_first": 0, "plot_last": 1},
    "footprint": {"fetch": "gradients", "longer": 4, "shorter": 1, "turn": 0, "channel": 0},
    "ulp_region": {"whole": false, "points": 4}, "lod_plane": {"shown": false, "tilt": 60, "turn": 0, "repeats": 4},
    "lod_quantity": "level", "histogram_scope": "all", "sphere": {"yaw": 0, "pitch": 0},
    "overlays": {"values": true, "grid": true, "footprint": true, "hexadecimal": false}, "panels": ["inspector"]})";

constexpr const char* kSuite = R"({
    "references": "gold", "inputs": {"x": {"pattern": "noise", "size": [6, 5]}},
    "cases": [
        {"name": "a", "kernel": "resample", "input": "x", "parameters": {"filter": "area"},
         "size": [3, 3], "format": "rgba8_unorm", "tolerance": {"ulp": 1, "max": 0.5, "mse": 1, "psnr": 1, "share": 1},
         "matrix": {"input.seed": [1, 2], "how": {"small": {"size": [2, 2]}}}},
        {"name": "b", "kernel": "resample",
         "inputs": [{"pattern": "gradient", "seed": 1, "range": [0, 1], "size": [6, 5, 1], "kind": "layered_2d",
                     "format": "r32_float", "layers": 2, "levels": 1,
                     "read": {"format": "r32_float", "first_level": 0, "levels": 1, "first_layer": 0, "layers": 1}}],
         "sampler": {"address": "wrap", "border": [0, 0, 0, 1]}},
        {"name": "c", "kernel": "resample", "input": {"file": ["a.png"], "levels": 1, "sampler": {"filter": "point"}}},
        {"name": "d", "images": ["a.png", {"file": "b*.png", "name": "b", "mask": "a.png", "ignore": ["a"]}],
         "mask": [[0, 0, 1, 1]], "tolerance": {"ssim": 0.9, "count": {"texels": 1, "ulp": 1, "max": 0.1}}},
        {"name": "e", "folders": ["gold", "new"], "images": "*.png", "optional": true}]})";

constexpr const char* kCommandSuite = R"({"cases": [
        {"name": "f", "command": ["true", "{out}"], "environment": {"A": "b", "C": null}, "time_limit": 1,
         "exit_status": 0, "images": [{"file": "out/*.png", "tolerance": {"psnr": 40}}]}]})";

const std::vector<Json>& replacements() {
    static const std::vector<Json> all{nullptr,       "",
                                       "../x",        -1,
                                       1e300,         4294967296,
                                       Json::array(), Json::object(),
                                       true,          Json::array({Json::array(), nullptr})};
    return all;
}

// Calls `use` with the text of the value in which one value was replaced or removed, for each value in it.
void for_each_change(const Json& whole, const std::function<void(const std::string&)>& use) {
    std::vector<Json::json_pointer> places;
    const std::function<void(const Json&, const Json::json_pointer&)> collect = [&](const Json& value, const auto& at) {
        places.push_back(at);
        for (const auto& [key, inner] : value.items())
            if (value.is_object()) collect(inner, at / key);
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) collect(value[i], at / i);
    };
    collect(whole, Json::json_pointer());
    for (const Json::json_pointer& place : places) {
        for (const Json& replacement : replacements()) {
            Json changed = whole;
            changed[place] = replacement;
            use(changed.dump());
        }
        if (place.empty()) continue;
        Json changed = whole;
        Json& parent = changed[place.parent_pointer()];
        if (parent.is_array())
            parent.erase(static_cast<std::size_t>(std::stoul(place.back())));
        else
            parent.erase(place.back());
        use(changed.dump());
    }
}

class ForeignJsonTest : public testing::Test {
protected:
    void SetUp() override {
        write_image(folder_.at("a.png"), Format::rgba8_unorm, {16, 12}, test::pattern(16 * 12 * 4, 1));
    }
    std::filesystem::path written(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.at(name)) << text;
        return folder_.at(name);
    }

    test::ImageFolder folder_;
};

TEST_F(ForeignJsonTest, SessionWithAnyValueReplacedIsRenderedOrRefused) {
    const std::shared_ptr<const Document> document = Document::open({.paths = {folder_.at("a.png")}}, Device::cpu());
    std::size_t read = 0, refused = 0;
    for_each_change(Json::parse(kSession), [&](const std::string& text) {
        try {
            const Session session = session_of(text, "test", folder_.path());
            EXPECT_EQ(session_of(to_json(session), "test"), session) << text;
            ++read;
            Scene scene;
            scene.session = session;
            scene.shown = scene.against = document;
            scene.width = 9;
            scene.height = 7;
            EXPECT_EQ(render(scene, {0, 0, 9, 7}).size(), 63U) << text;
            (void)texel_at(scene, {4.5, 3.5});
        } catch (const Error&) {
            ++refused;
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << '\n' << text;
        }
    });
    EXPECT_GT(read, 50U);
    EXPECT_GT(refused, 500U);
}

TEST_F(ForeignJsonTest, SuiteWithAnyValueReplacedIsRunOrRefused) {
    std::size_t read = 0, refused = 0;
    for_each_change(Json::parse(kSuite), [&](const std::string& text) {
        try {
            const verify::Suite suite = verify::read_suite(written("suite.json", text));
            ++read;
            for (const verify::Case& each : suite.cases) (void)verify::run_case(each, suite, Device::cpu());
        } catch (const Error&) {
            ++refused;
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << '\n' << text;
        }
    });
    EXPECT_GT(read, 20U);
    EXPECT_GT(refused, 300U);
}

TEST_F(ForeignJsonTest, CommandWithAnyValueReplacedIsReadOrRefused) {
    std::size_t read = 0, refused = 0;
    for_each_change(Json::parse(kCommandSuite), [&](const std::string& text) {
        try {
            (void)verify::read_suite(written("suite.json", text), verify::Outside::refused, verify::Commands::allowed);
            ++read;
        } catch (const Error&) {
            ++refused;
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << '\n' << text;
        }
    });
    EXPECT_GT(read, 10U);
    EXPECT_GT(refused, 50U);
}

TEST_F(ForeignJsonTest, DeepNestingIsRefused) {
    for (const char* opening : {"[", R"({"a":)"}) {
        std::string text;
        for (int i = 0; i < 200000; ++i) text += opening;
        (void)test::expect_error([&] { (void)session_of(text, "test"); }, ErrorCode::bad_argument, "texton::verify",
                                 {"nested more than 32 levels deep"});
        (void)test::expect_error([&] { (void)verify::read_suite(written("s.json", text)); }, ErrorCode::io,
                                 "texton::verify::read_suite", {"s.json is nested more than 32 levels deep"});
    }
    std::string problem;
    EXPECT_TRUE(verify::parse_json(std::string(32, '[') + std::string(32, ']'), problem)) << problem;
    EXPECT_FALSE(verify::parse_json(std::string(33, '[') + std::string(33, ']'), problem));
}

TEST_F(ForeignJsonTest, DottedKeyOfAMatrixIsLimited) {
    std::string key = "a";
    for (int i = 0; i < 300000; ++i) key += ".a";
    const std::string text = R"({"cases": [{"name": "a", "kernel": "resample", "matrix": {")" + key + R"(": [1]}}]})";
    (void)test::expect_error([&] { (void)verify::read_suite(written("s.json", text)); }, ErrorCode::bad_argument,
                             "texton::verify", {"has more than 32 parts"});
}

TEST_F(ForeignJsonTest, MatrixThatCreatesTooManyCasesIsRefused) {
    std::string matrix;
    for (char axis = 'a'; axis < 'k'; ++axis) {
        matrix += std::string(matrix.empty() ? "" : ", ") + "\"parameters." + axis + "\": [0";
        for (int i = 1; i < 100; ++i) matrix += "," + std::to_string(i);
        matrix += "]";
    }
    const std::string text = R"({"cases": [{"name": "a", "kernel": "resample", "matrix": {)" + matrix + "}}]}";
    (void)test::expect_error([&] { (void)verify::read_suite(written("s.json", text)); }, ErrorCode::bad_argument,
                             "texton::verify", {"s.json, case 'a'", "there are 1000000 cases"});
}

TEST_F(ForeignJsonTest, MatrixThatMultipliesALargeCaseIsRefused) {
    std::string seeds = "0";
    for (int i = 1; i < 5000; ++i) seeds += "," + std::to_string(i);
    const std::string text = R"({"cases": [{"name": "a", "kernel": "resample", "matrix": {"input.seed": [)" + seeds +
                             R"(]}, "input": {"pattern": ")" + std::string(1 << 20, 'x') + R"("}}]})";
    (void)test::expect_error([&] { (void)verify::read_suite(written("s.json", text)); }, ErrorCode::bad_argument,
                             "texton::verify", {"s.json, case 'a'", "more than 64 MiB"});
}

TEST_F(ForeignJsonTest, CaseNameThatIsTooLongForAFileIsRefused) {
    const std::string text = R"({"cases": [{"name": ")" + std::string(300, 'a') +
                             R"(", "kernel": "resample", "input": {"pattern": "noise", "size": [1, 1]}}]})";
    (void)test::expect_error([&] { (void)verify::read_suite(written("s.json", text)); }, ErrorCode::io,
                             "texton::verify::read_suite", {"longer than 200 bytes"});
}

TEST_F(ForeignJsonTest, LargeFilesAndSpecialFilesAreRefused) {
    const std::string large = "[" + std::string(verify::kMaxJsonBytes, ' ') + "]";
    ASSERT_EQ(::mkfifo(folder_.at("pipe.json").c_str(), 0600), 0);
    for (const auto& [path, problem] : std::vector<std::pair<std::filesystem::path, std::string>>{
             {written("large.json", large), "large.json is larger than 16 MiB"},
             {folder_.at("pipe.json"), "pipe.json cannot be read: it is not a regular file"},
             {"/dev/zero", "/dev/zero cannot be read: it is not a regular file"},
             {folder_.path(), "cannot be read: it is not a regular file"},
             {folder_.at("gone.json"), "gone.json cannot be read: No such file or directory"}}) {
        (void)test::expect_error([&] { (void)read_session(path); }, ErrorCode::io, "texton::viewer::Session",
                                 {problem});
        (void)test::expect_error([&] { (void)verify::read_suite(path); }, ErrorCode::io, "texton::verify::read_suite",
                                 {problem});
    }
}

TEST_F(ForeignJsonTest, PipeOrDeviceNamedAsAnImageIsRefusedAtOnce) {
    for (const char* name : {"pipe.png", "pipe.cube"}) ASSERT_EQ(::mkfifo(folder_.at(name).c_str(), 0600), 0);
    for (const std::filesystem::path& path : {folder_.at("pipe.png"), std::filesystem::path("/dev/zero")})
        (void)test::expect_error([&] { (void)Document::open({.paths = {path}}, Device::cpu()); }, ErrorCode::io,
                                 "texton::viewer", {path.string() + " is a device, a pipe or a socket"});
    for (const char* name : {"pipe.png", "pipe.cube"}) {
        const verify::Suite suite = verify::read_suite(written(
            "s.json",
            R"({"cases": [{"name": "a", "kernel": "resample", "input": {"file": ")" + std::string(name) + "\"}}]}"));
        const verify::Result result = verify::run_case(suite.cases.front(), suite, Device::cpu());
        EXPECT_EQ(result.outcome, verify::Outcome::failed);
        EXPECT_NE(result.message.find("is a device, a pipe or a socket"), std::string::npos) << result.message;
    }
}

TEST_F(ForeignJsonTest, NumbersOutOfRangeAreRefused) {
    for (const char* text : {R"({"view": {"x": 1e300}})", R"({"view": {"y": -2e9}})", R"({"pins": [[1e300, 0]]})",
                             R"({"display": {"exposure": 1e300}})", R"({"sampler": {"mip_bias": 1e300}})",
                             R"({"sampler": {"border": 1e300}})", R"({"probe": {"line_to": [0, 1e300, 0]}})",
                             R"({"sphere": {"yaw": 1e300}})", R"({"view": {"x": 1e999}})"})
        EXPECT_THROW((void)session_of(text, "test"), Error) << text;
    std::string pins = "[0, 0]";
    for (int i = 0; i < 10000; ++i) pins += ", [0, 0]";
    (void)test::expect_error([&] { (void)session_of(R"({"pins": [)" + pins + "]}", "test"); }, ErrorCode::bad_argument,
                             "texton::verify", {"'pins' has 10001 values"});
}

TEST_F(ForeignJsonTest, FarAwayViewIsRendered) {
    const std::shared_ptr<const Document> document = Document::open({.paths = {folder_.at("a.png")}}, Device::cpu());
    for (const double at : {-1e9, 1e9}) {
        Scene scene;
        scene.shown = document;
        scene.session.view = {kMaxZoom, {at, at}};
        scene.width = scene.height = 4;
        EXPECT_EQ(std::signbit(static_cast<double>(canvas_origin(scene).x)), at < 0);
        EXPECT_EQ(render(scene, {0, 0, 4, 4}).size(), 16U);
    }
}

TEST_F(ForeignJsonTest, SessionCannotContainAFileNameThatIsNotUtf8) {
    Session session;
    session.images = {{.paths = {"/a/caf\xe9.png"}}};
    (void)test::expect_error([&] { write_session(folder_.at("s.json"), session); }, ErrorCode::unsupported,
                             "texton::viewer::Session", {"caf\xEF\xBF\xBD.png is not valid UTF-8"});
    EXPECT_FALSE(std::filesystem::exists(folder_.at("s.json")));
}

// --- paths -----------------------------------------------------------------------------------------------------------

class ForeignSuiteTest : public ForeignJsonTest {
protected:
    void SetUp() override {
        ForeignJsonTest::SetUp();
        std::filesystem::create_directories(folder_.at("suite"));
        std::filesystem::copy_file(folder_.at("a.png"), folder_.at("suite/in.png"));
    }
    verify::Suite read(const std::string& file, verify::Outside outside, const std::string& keys = "") const {
        return verify::read_suite(
            written(
                "suite/s.json",
                "{" + keys + R"("cases": [{"name": "a", "kernel": "resample", "input": {"file": ")" + file + "\"}}]}"),
            outside);
    }
    void expect_refused(const std::string& file, const std::string& keys = "") const {
        (void)test::expect_error([&] { (void)read(file, verify::Outside::refused, keys); }, ErrorCode::not_permitted,
                                 "texton::verify", {"is outside of the folder of the suite", "--allow-outside"});
        EXPECT_EQ(read(file, verify::Outside::allowed, keys).cases.size(), 1U);
    }
};

TEST_F(ForeignSuiteTest, FileOutsideOfTheFolderIsRefusedUnlessAllowed) {
    EXPECT_EQ(read("in.png", verify::Outside::refused).cases.size(), 1U);
    EXPECT_EQ(read("../suite/./in.png", verify::Outside::refused).cases.size(), 1U);
    EXPECT_EQ(read(folder_.at("suite/in.png").string(), verify::Outside::refused).cases.size(), 1U);
    expect_refused("../a.png");
    expect_refused("x/../../a.png");
    expect_refused(folder_.at("a.png").string());
    expect_refused("../suite2/in.png");
    std::filesystem::create_symlink(folder_.at("a.png"), folder_.at("suite/link.png"));
    std::filesystem::create_directory_symlink(folder_.path(), folder_.at("suite/up"));
    std::filesystem::create_symlink("in.png", folder_.at("suite/inner.png"));
    expect_refused("link.png");
    expect_refused("up/a.png");
    EXPECT_EQ(read("inner.png", verify::Outside::refused).cases.size(), 1U);
}

TEST_F(ForeignSuiteTest, ReferencesOutsideOfTheFolderAreRefusedUnlessAllowed) {
    expect_refused("in.png", R"("references": "..", )");
    expect_refused("in.png", R"("references": "/tmp", )");
    std::filesystem::create_directory_symlink(folder_.path(),
                                              folder_.at("suite/s"));  // the folder named after the suite
    expect_refused("in.png");
}

TEST_F(ForeignSuiteTest, ReferenceThatIsALinkOutOfTheFolderIsNotRead) {
    const verify::Suite suite = read("in.png", verify::Outside::refused);
    const verify::Result made = verify::run_case(suite.cases.front(), suite, Device::cpu());
    verify::write_reference({.path = folder_.at("elsewhere.texref"),
                             .images = made.images,
                             .inputs = made.inputs,
                             .device = "cpu",
                             .toolkit = "0"});
    std::filesystem::create_directories(suite.references);
    std::filesystem::create_symlink(folder_.at("elsewhere.texref"), suite.references / "a.texref");
    const verify::Result result = verify::run_case(suite.cases.front(), suite, Device::cpu());
    EXPECT_EQ(result.outcome, verify::Outcome::failed);
    EXPECT_NE(result.message.find("a.texref is outside of the folder of the suite"), std::string::npos)
        << result.message;
    const verify::Suite trusted = read("in.png", verify::Outside::allowed);
    EXPECT_EQ(verify::run_case(trusted.cases.front(), trusted, Device::cpu()).outcome, verify::Outcome::passed);
}

TEST_F(ForeignSuiteTest, CaseNamesNeverDenoteFolders) {
    EXPECT_EQ(verify::file_name(".."), "__");
    EXPECT_EQ(verify::file_name("."), "_");
    EXPECT_EQ(verify::file_name("../a"), ".._a");
}

}  // namespace
}  // namespace texton::viewer
