// The session: saving, loading and undo.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "viewer/model/history.h"
#include "viewer/model/session.h"

namespace texton::viewer {
namespace {

// Every field differs from Session{}.
Session unusual() {
    Session session;
    session.images = {{.paths = {"/a/one.png"}, .options = {}},
                      {.paths = {"/a/x.exr", "/a/y.exr"},
                       .options = {.kind = ArrayKind::layered_2d,
                                   .format = Format::rgba16_float,
                                   .bc = BlockDecoding::exact,
                                   .color = ImageColor::linear,
                                   .window = ImageWindow::display,
                                   .upright = false,
                                   .cube = CubeLayout::vertical_cross,
                                   .cube_side = 7,
                                   .part = 2,
                                   .channels = {"R", "diffuse.Z"},
                                   .first_level = 1,
                                   .levels = 3,
                                   .layer = 4,
                                   .face = 5,
                                   .frame = 4,
                                   .raw = RawFrames{Format::p010, {64, 32}, 5, RawLayout::planes}}}};
    session.current = 1;
    session.reference = 0;
    session.device = "cpu:0";
    session.subresource = {1, 2, 3, 4, 1};
    session.layout = Layout::sphere;
    session.view = {12.5, {1.25, -3}};
    session.fits = false;
    session.reading = Reading::sampled;
    Sampler sampler{.address = {AddressMode::wrap, AddressMode::mirror, AddressMode::border},
                    .filter = Filter::linear,
                    .mip_filter = Filter::linear,
                    .normalized_coordinates = true,
                    .seamless_cubemap = true,
                    .trilinear_optimization = false,
                    .max_anisotropy = 8,
                    .mip_bias = -0.3f,
                    .mip_min = 0.1f,
                    .mip_max = 3.7f,
                    .border = {0.1f, 0.2f, 0.3f, 0.4f}};
    session.sampler = sampler;
    sampler.filter = Filter::point;
    session.second_sampler = sampler;
    session.display = {.channels = {true, false, true, false},
                       .luminance = true,
                       .exposure = 1.5f,
                       .gamma = 2.2f,
                       .low = -0.1f,
                       .high = 17,
                       .false_color = FalseColor::turbo,
                       .mark_nan = false,
                       .mark_range = true,
                       .zebra = true,
                       .tone_curve = ToneCurve::filmic,
                       .color = {"/config.ocio", "ACEScg", "Display P3", "Raw"}};
    session.compare = {CompareMode::ulp, Against::device, 0.123456789, true};
    session.kernel = {
        "gaussian", {{"radius", 3.0}, {"flag", true}, {"way", std::string("x")}, {"row", std::vector{1.0, 2.5}}}, {0}};
    session.selection = TexelBox{1, 2, 3, 4};
    session.pins = {{1.5, 2.5}, {0.1, 1e6}};
    session.annotations = {
        {AnnotationKind::ruler, 1, {1, 2, 3, 4, 1}, {1.5, -2}, {3, 4.25}, "gr\u00f6\u00dfe", AnnotationColor::cyan}};
    session.probe = {FetchOperation::lod, 0.1f, 0.2f, 0.3f, 1.7f, {0, 1, 2}, {3, 4, 5}, 2, 0.3, 0.7};
    session.footprint = {FootprintFetch::gradients, 8.5, 0.25, 30, 3};
    session.ulp_region = {true, 8};
    session.lod_plane = {true, 45, 10, 8};
    session.lod_quantity = LodQuantity::blend;
    session.histogram_scope = HistogramScope::selection;
    session.sphere_yaw = 100;
    session.sphere_pitch = -20;
    session.overlays = {false, false, false, true, false};
    session.panels = {"kernel"};
    return session;
}

Session read(const std::string& json) { return session_of(json, "test"); }

TEST(SessionTest, FileRestoresEveryField) {
    for (const Session& session : {Session{}, unusual()}) EXPECT_EQ(read(to_json(session)), session);
}

TEST(SessionTest, WrittenFileMatchesTheStoredFileByteForByte) {
    const auto path =
        std::filesystem::path(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES)) / "session.json";
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(to_json(unusual()), std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(SessionTest, MissingKeysGetDefaultsAndPathsAreRelativeToTheFile) {
    const Session session = session_of(R"({"images": [{"files": ["a.png"]}]})", "test", "/there");
    Session expected;
    expected.images = {{.paths = {"/there/a.png"}, .options = {}}};
    EXPECT_EQ(session, expected);
}

TEST(SessionTest, OldKeysAndParameterNamesAreRead) {
    const Session session = read(R"({"pictures": [{"files": ["/a.png"]}], "place": {"level": 2},
        "display": {"false_colour": "turbo"}, "kernel": {"name": "grade", "parameters": {"grey": 0.5, "contrast": 2}}})");
    EXPECT_EQ(session.images.at(0).paths, std::vector<std::filesystem::path>{"/a.png"});
    EXPECT_EQ(session.subresource.level, 2);
    EXPECT_EQ(session.display.false_color, FalseColor::turbo);
    EXPECT_EQ(session.kernel.parameters, (std::map<std::string, ParameterValue>{{"gray", 0.5}, {"contrast", 2.0}}));
    EXPECT_EQ(to_json(session).find("grey"), std::string::npos) << "the new names are written";
}

TEST(SessionTest, AKeyIsRefusedUnderBothOfItsNames) {
    (void)test::expect_error([] { (void)read(R"({"subresource": {"level": 1}, "place": {"level": 2}})"); },
                             ErrorCode::bad_argument, "texton::verify", {"'place'"});
}

TEST(SessionTest, InvalidFileIsRefusedAndTheInvalidKeyIsNamed) {
    const auto problem_of = [](const char* json) -> std::string {
        try {
            (void)read(json);
        } catch (const Error& error) {
            return error.problem();
        }
        return "none";
    };
    for (const auto& [json, word] : std::initializer_list<std::pair<const char*, const char*>>{
             {"{", "not valid JSON"},
             {"[]", "object"},
             {R"({"color": 1})", "'color'"},
             {R"({"images": [{"files": []}]})", "'files'"},
             {R"({"images": [{"files": [1]}]})", "'files'"},
             {R"({"layout": "round"})", "'layout'"},
             {R"({"layout": 3})", "'layout'"},
             {R"({"view": {"zoom": 0}})", "'zoom'"},
             {R"({"view": {"zoom": 1e9}})", "'zoom'"},
             {R"({"subresource": {"level": -1}})", "'level'"},
             {R"({"subresource": {"level": 1e15}})", "'level'"},
             {R"({"display": {"channels": [true]}})", "'channels'"},
             {R"({"kernel": {"parameters": {"a": null}}})", "'a'"},
             {R"({"pins": [[1]]})", "'pins'"},
             {R"({"probe": {"line_to": [1, 2, "x"]}})", "'line_to'"},
             {R"({"probe": {"component": 4}})", "'component'"},
             {R"({"footprint": {"channel": 4}})", "'channel'"},
             {R"({"ulp_region": {"points": 3}})", "'points'"},
             {R"({"annotations": [{"kind": "star"}]})", "'kind'"},
             {R"({"annotations": [{"color": "mauve"}]})", "'color'"},
             {R"({"annotations": [{"from": [1, null]}]})", "'from'"},
             {R"({"annotations": [{"to": [1, 1e10]}]})", "'to'"},
             {R"({"annotations": [{"to": 3}]})", "'to'"},
             {R"({"annotations": [{"text": 3}]})", "'text'"},
             {R"({"annotations": [{"kind": "box"}]})", "'image' is 0, but the session has 0 images"},
             {R"({"sampler": {"filter": "cubic"}})", "'filter'"}})
        EXPECT_NE(problem_of(json).find(word), std::string::npos) << json << ": " << problem_of(json);
}

TEST(SessionTest, ImageIndicesOutOfRangeAreReset) {
    const Session session = read(R"({"current": 4, "reference": 9})");
    EXPECT_EQ(session.current, 0u);
    EXPECT_FALSE(session.reference);
}

TEST(SessionTest, LongTextAndTooManyAnnotationsAreRefused) {
    const auto session_of_text = [](std::size_t characters, std::size_t count) {
        Session session;
        session.images = {{.paths = {"/a.png"}, .options = {}}};
        Annotation annotation;
        for (std::size_t i = 0; i < characters; ++i) annotation.text += "\u00e4";
        session.annotations.assign(count, annotation);
        return session;
    };
    const Session longest = session_of_text(kMaxAnnotationText, 1), most = session_of_text(1, kMaxAnnotations);
    EXPECT_EQ(read(to_json(longest)), longest);
    EXPECT_EQ(read(to_json(most)), most);
    (void)test::expect_error([&] { (void)read(to_json(session_of_text(kMaxAnnotationText + 1, 1))); },
                             ErrorCode::bad_argument, "texton::verify", {"annotation 0", "'text'", "1001", "1000"});
    (void)test::expect_error([&] { (void)read(to_json(session_of_text(1, kMaxAnnotations + 1))); },
                             ErrorCode::bad_argument, "texton::verify", {"'annotations'", "1001", "1000"});
}

TEST(SessionTest, FailedWriteLeavesNoFile) {
    const auto folder = std::filesystem::temp_directory_path() / "texton-no-such-folder";
    EXPECT_THROW(write_session(folder / "s.json", Session{}), Error);
    EXPECT_THROW((void)read_session(folder / "s.json"), Error);
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(SessionTest, WritingReplacesTheWholeFile) {
    const auto path = std::filesystem::temp_directory_path() / "texton-session-test.json";
    write_session(path, unusual());
    write_session(path, Session{});
    EXPECT_EQ(read_session(path), Session{});
    std::filesystem::remove(path);
}

// --- undo ------------------------------------------------------------------------------------------------------------

Session with_exposure(float stops) {
    Session session;
    session.display.exposure = stops;
    return session;
}

TEST(HistoryTest, EveryChangeCanBeUndoneAndRedone) {
    History history;
    history.add("one", with_exposure(0));
    history.add("two", with_exposure(1));
    EXPECT_EQ(history.undo_text(), "two");
    EXPECT_EQ(history.undo(with_exposure(2)), with_exposure(1));
    EXPECT_EQ(history.undo(with_exposure(1)), with_exposure(0));
    EXPECT_FALSE(history.can_undo());
    EXPECT_EQ(history.redo_text(), "one");
    EXPECT_EQ(history.redo(with_exposure(0)), with_exposure(1));
    EXPECT_EQ(history.redo(with_exposure(1)), with_exposure(2));
    EXPECT_FALSE(history.can_redo());
}

TEST(HistoryTest, ChangeAfterUndoClearsTheRedoList) {
    History history;
    history.add("one", with_exposure(0));
    (void)history.undo(with_exposure(1));
    history.add("other", with_exposure(0));
    EXPECT_FALSE(history.can_redo());
}

TEST(HistoryTest, DragIsOneChangeAndAPauseEndsTheDrag) {
    History history;
    const auto begin = std::chrono::steady_clock::now();
    const auto at = [&](int milliseconds) { return begin + std::chrono::milliseconds(milliseconds); };
    for (int i = 0; i < 50; ++i) history.add("drag", with_exposure(static_cast<float>(i)), "slider", at(i * 500));
    history.add("drag", with_exposure(50), "slider", at(49 * 500 + 2000));
    EXPECT_EQ(history.undo(with_exposure(51)), with_exposure(50));
    EXPECT_EQ(history.undo(with_exposure(50)), with_exposure(0));
    EXPECT_FALSE(history.can_undo());
}

TEST(SessionTest, UnknownKeysAreListedWithTheirObjectsAndTheRestIsRead) {
    std::vector<std::string> unknown;
    const Session session = session_of(
        R"({"newer": 1, "images": [{"files": ["a.png"], "tags": []}], "display": {"gamma": 2, "tone": "x"}})", "test",
        {}, &unknown);
    EXPECT_EQ(session.display.gamma, 2);
    ASSERT_EQ(session.images.size(), 1u);
    EXPECT_EQ(unknown, (std::vector<std::string>{"'images' 0 > 'tags'", "'display' > 'tone'", "'newer'"}));
    EXPECT_EQ(unknown_keys_text("s.json", {"'a'", "'b'"}),
              "s.json has keys that are not known and were ignored: 'a', 'b'.");
    EXPECT_EQ(
        unknown_keys_text("s.json", std::vector<std::string>(10, "'a'")),
        "s.json has keys that are not known and were ignored: 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a' and 2 more.");
    EXPECT_THROW((void)session_of(R"({"layout": "round"})", "test", {}, &unknown), Error) << "a wrong value";
}

}  // namespace
}  // namespace texton::viewer
