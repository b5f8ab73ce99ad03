// Images of running programs: they appear, update in place, and stay when their program ends.
#include <unistd.h>

#include <QPainter>
#include <QProcess>
#include <QStatusBar>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/show.h>

#include "tests/window/fixture.h"
#include "viewer/gui/canvas_tiles.h"
#include "viewer/gui/live_images.h"
#include "viewer/gui/vector_graphics.h"
#include "viewer/model/host_image.h"

namespace texton::viewer::test {
namespace {

class LiveTest : public WindowFixture {
protected:
    void SetUp() override {
        path_ = folder_.filePath("socket").toStdString();
        setenv("TEXTON_SHOW", path_.c_str(), 1);
    }
    void TearDown() override {
        WindowFixture::TearDown();
        setenv("TEXTON_SHOW", "", 1);
    }
    /// Opens a window that listens at any TCP port, and at a socket of this test.
    void listen(const std::vector<std::string>& assets = {}) {
        start(assets);
        window().listen({.tcp = ListenAddress{.port = 0}, .socket = texton::detail::show_address(path_)});
        ASSERT_TRUE(window().live_images()->server().problems().empty());
    }
    /// Shows a frame of 32 x 16 gray texels, as a program would.
    static ShowResult show_gray(int value, const std::string& name = "gray") {
        const std::vector<std::uint8_t> texels(32 * 16, static_cast<std::uint8_t>(value));
        ShowResult result;
        for (int tries = 0; tries < 200 && result.outcome == ShowOutcome::no_window; ++tries) {
            result = show(host_view(static_cast<const void*>(texels.data()), Format::r8_unorm, {32, 16}), name);
            if (result.outcome == ShowOutcome::no_window) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return result;
    }
    static bool comes_true(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, kPatience); }
    /// Returns a texel of the shown image, or -1.
    int texel() const {
        const auto document = const_cast<LiveTest*>(this)->workspace().document();
        return document ? static_cast<int>(document->texels({}, {0, 0, 1, 1}).at(0)) : -1;
    }
    bool shows(const QString& title) {
        return comes_true([&] { return window().windowTitle() == title + " - Texton"; });
    }
    void send(const QStringList& scenario) {
        const std::string script =
            texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/support/tev_client.py";
        QProcess client;
        client.start("python3", QStringList{QString::fromStdString(script),
                                            QString::number(window().live_images()->server().port())} +
                                    scenario);
        ASSERT_TRUE(comes_true([&] { return client.state() == QProcess::NotRunning; }));
        ASSERT_EQ(client.exitCode(), 0) << client.readAllStandardError().toStdString();
    }

    const QTemporaryDir folder_;
    std::string path_;
};

TEST_F(LiveTest, AnImageOfAProgramAppearsAndUpdatesInPlace) {
    listen();
    const ShowResult first = show_gray(10);
    ASSERT_TRUE(comes_true([&] { return texel() == 10; }));
    ASSERT_EQ(session().images.size(), 1u);
    EXPECT_TRUE(shows(QString("gray (frame %1)").arg(first.frame)));
    workspace().look([](Session& session) {
        session.view = {3, {5, 6}};
        session.fits = false;
        session.pins = {{4.5, 2.5}};
        session.display.exposure = 1;
    });
    const Session before = session();
    const std::size_t steps = workspace().history().steps();
    for (const int value : {20, 30, 40}) {
        ASSERT_EQ(show_gray(value).outcome, ShowOutcome::shown);
        ASSERT_TRUE(comes_true([&] { return texel() == value; }));
    }
    EXPECT_EQ(session(), before) << "view, pins and exposure are kept";
    EXPECT_EQ(workspace().history().steps(), steps) << "frames are not undone";
    EXPECT_TRUE(shows(QString("gray (frame %1)").arg(first.frame + 3)));
}

TEST_F(LiveTest, DroppedFramesAreCountedInTheTitle) {
    listen();
    const ShowResult first = show_gray(1);
    ASSERT_TRUE(shows(QString("gray (frame %1)").arg(first.frame)));
    for (int i = 2; i <= 12; ++i) (void)show_gray(i);  // the window processes no events meanwhile
    EXPECT_TRUE(comes_true([&] { return texel() == 12; }));
    EXPECT_TRUE(comes_true([&] { return window().windowTitle().contains(" dropped)"); }))
        << window().windowTitle().toStdString();
}

// Documents read frames where the program has put them. Jobs may need many documents for long.
TEST_F(LiveTest, KeptFramesStayAsTheyAreWhileFurtherFramesArrive) {
    listen();
    std::vector<std::shared_ptr<const Document>> kept;
    for (int value = 1; value <= 7; ++value) {
        ASSERT_EQ(show_gray(value).outcome, ShowOutcome::shown);
        ASSERT_TRUE(comes_true([&] { return texel() == value; }));
        kept.push_back(workspace().document());
    }
    for (int value = 1; value <= 7; ++value) {
        const Document& document = *kept[static_cast<std::size_t>(value - 1)];
        const std::vector<std::byte> expected(32 * 16, static_cast<std::byte>(value));
        EXPECT_EQ(document.texels({}, {0, 0, 32, 16}), expected) << value;
        EXPECT_EQ(verify::read_array(document.array()).levels.front().texels, expected) << value << " on the device";
        EXPECT_EQ(verify::read_texels(document.file(), {}, {32, 16}), expected) << value << " as an image";
    }
}

TEST_F(LiveTest, AnImageOfAnotherSizeReplacesTheImage) {
    listen();
    (void)show_gray(1);
    ASSERT_TRUE(comes_true([&] { return texel() == 1; }));
    const std::vector<float> texels(8 * 8 * 4, 0.5f);
    (void)show(host_view(static_cast<const void*>(texels.data()), Format::rgba32_float, {8, 8}), "gray");
    EXPECT_TRUE(comes_true([&] {
        const auto document = workspace().document();
        return document && document->info().extent == Extent{8, 8};
    }));
    EXPECT_EQ(session().images.size(), 1u);
}

TEST_F(LiveTest, AnImageBesideFilesDoesNotReplaceTheShownOne) {
    listen({"card.png"});
    (void)show_gray(7);
    ASSERT_TRUE(comes_true([&] { return session().images.size() == 2; }));
    EXPECT_EQ(session().current, 0u);
    (void)show_gray(8);
    workspace().look([](Session& session) { session.current = 1; });
    EXPECT_TRUE(comes_true([&] { return texel() == 8; })) << "the newest frame is shown when the image is selected";
    workspace().close(1);
    for (int i = 0; i < 5; ++i) {
        (void)show_gray(9);
        QTest::qWait(20);
    }
    EXPECT_EQ(session().images.size(), 1u) << "a closed image stays closed while its program runs";
    workspace().undo();
    workspace().look([](Session& session) { session.current = 1; });
    EXPECT_TRUE(comes_true([&] { return texel() == 9; }));
}

TEST_F(LiveTest, ImagesOfEndedProgramsStayWithANote) {
    listen();
    const std::string program =
        texton::test::configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS) + "/texton-test-showing";
    for (int run = 0; run < 2; ++run) {
        QProcess showing;
        showing.start(QString::fromStdString(program), QStringList());
        ASSERT_TRUE(comes_true([&] {
            return workspace().document() && !window().windowTitle().contains("ended") &&
                   window().windowTitle().startsWith("counter (frame ");
        })) << window().windowTitle().toStdString();
        showing.kill();
        showing.waitForFinished();
        ASSERT_TRUE(comes_true([&] { return window().windowTitle().endsWith("program ended) - Texton"); }))
            << window().windowTitle().toStdString();
        EXPECT_EQ(session().images.size(), 1u) << "the program takes over its image when it runs again";
    }
    settle();
    const auto document = workspace().document();
    const std::vector<std::byte> texels = document->texels({}, {0, 0, 257, 129});
    for (std::size_t i = 0; i < texels.size(); i += 4) {
        std::uint32_t value = 0;
        std::memcpy(&value, &texels[i], 4);
        ASSERT_EQ(value, document->live_frame()) << "texel " << i / 4;
    }
    workspace().close(0);
    EXPECT_TRUE(comes_true([&] { return window().live_images()->server().images().empty(); }));
}

TEST_F(LiveTest, TheCanvasNeverPaintsPartsOfTwoFrames) {
    listen();
    std::atomic<bool> stop{false};
    std::set<std::uint64_t> painted;
    QObject::connect(&canvas(), &Canvas::painted_frame, &canvas(), [&](std::uint64_t frame) { painted.insert(frame); });
    std::thread program([&] {
        std::vector<std::uint8_t> texels(1024 * 1024);
        for (int i = 0; !stop; ++i) {
            std::ranges::fill(texels, static_cast<std::uint8_t>(i * 37));
            (void)show(host_view(static_cast<const void*>(texels.data()), Format::r8_unorm, {1024, 1024}), "frames");
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    });
    // Each texel covers one pixel, and the image covers the canvas.
    (void)comes_true([&] { return workspace().document() != nullptr; });
    workspace().look([](Session& session) {
        session.view = {1, {512, 512}};
        session.fits = false;
    });
    ASSERT_TRUE(comes_true([&] { return !painted.empty(); }));
    std::set<QRgb> colors;
    bool torn = false;
    (void)QTest::qWaitFor(
        [&] {
            const QImage image = canvas().grab().toImage();
            const QRgb first = image.pixel(image.width() / 2, image.height() / 2);
            for (int y = 40; y < image.height() && !torn; y += 3)
                for (int x = 40; x < image.width() && !torn; x += 3) torn = image.pixel(x, y) != first;
            colors.insert(first);
            return torn || (colors.size() >= 20 && painted.size() >= 20);
        },
        kPatience);
    stop = true;
    program.join();
    EXPECT_FALSE(torn);
    EXPECT_GE(colors.size(), 20u);
    EXPECT_GE(painted.size(), 20u);
}

TEST_F(LiveTest, AFrameThatTheCanvasStillRendersIsNotReplaced) {
    listen();
    show_gray(1);
    ASSERT_TRUE(comes_true([&] { return texel() == 1; }));
    window().hide();  // nothing is painted
    show_gray(2);
    ASSERT_TRUE(comes_true([&] { return texel() == 2; }));
    const auto renders = std::make_shared<bool>(true);  // the window outlives this function
    window().live_images()->wait_while([renders] { return *renders; });
    show_gray(3);
    QTest::qWait(600);
    EXPECT_EQ(texel(), 2);
    *renders = false;
    EXPECT_TRUE(comes_true([&] { return texel() == 3; }));
}

TEST(CanvasFramesTest, TheLastWholeFrameIsDrawnWhileFramesFollowTooFastToBeFinished) {
    constexpr int kSide = 2048;
    const auto frame = [](int number) {
        const std::vector<std::uint8_t> texels(kSide * kSide, static_cast<std::uint8_t>(number * 10));
        Array array(Device::cpu(), {.format = Format::r8_unorm, .extent = {kSide, kSide}});
        copy(array.view(), host_view(static_cast<const void*>(texels.data()), Format::r8_unorm, {kSide, kSide}));
        return Document::of_frame(std::move(array), "frames", static_cast<std::uint64_t>(number));
    };
    Workspace workspace(session_with({}));
    CanvasTiles tiles(workspace.jobs(), "test", nullptr);
    Scene scene{.session = {}, .shown = frame(1), .against = {}, .width = kSide, .height = kSide};
    scene.session.fits = false;
    scene.session.view = {1, {kSide / 2.0, kSide / 2.0}};
    const auto drawn = [&] {
        QImage canvas(kSide, kSide, QImage::Format_RGB32);
        canvas.fill(Qt::red);
        QPainter painter(&canvas);
        tiles.paint(painter, canvas.rect());
        painter.end();
        std::set<QRgb> colors;
        for (int y = 0; y < kSide; y += 8)
            for (int x = 0; x < kSide; x += 8) colors.insert(canvas.pixel(x, y));
        return colors;
    };
    tiles.show(scene);
    workspace.settle();
    const std::set<QRgb> first = drawn();
    ASSERT_EQ(first.size(), 1u);
    // Each frame is replaced as soon as one of its tiles is there.
    constexpr int kFrames = 24;
    int number = 2;
    bool was_whole = false;
    QObject::connect(&tiles, &CanvasTiles::updated, &tiles, [&] {
        if (number == kFrames) return;
        was_whole |= tiles.has_pixels();
        EXPECT_EQ(drawn(), first) << "while frame " << number << " is rendered";
        scene.shown = frame(++number);
        tiles.show(scene);
    });
    scene.shown = frame(number);
    tiles.show(scene);
    ASSERT_TRUE(QTest::qWaitFor([&] { return number == kFrames; }, kPatience));
    EXPECT_FALSE(was_whole);
    workspace.settle();
    EXPECT_EQ(drawn().size(), 1u);
    EXPECT_NE(drawn(), first);
}

TEST_F(LiveTest, ClientsOfTevCreateDrawOpenAndClose) {
    listen();
    send({"images"});
    ASSERT_TRUE(comes_true([&] { return workspace().document() != nullptr && session().images.size() == 2; }));
    EXPECT_TRUE(window().windowTitle().startsWith("colors (frame ")) << window().windowTitle().toStdString();
    send({"graphics"});
    ASSERT_TRUE(comes_true([&] { return window().windowTitle().startsWith("drawn "); })) << "the client asks for focus";
    canvas().fit();
    const auto pixel = [&](Position texel) { return canvas().grab().toImage().pixelColor(on_canvas(texel)); };
    EXPECT_TRUE(comes_true([&] { return pixel({4, 4}) == QColor(255, 0, 0); })) << "the filled rectangle";
    EXPECT_NE(pixel({7.5, 0.5}), QColor(255, 0, 0));
    send({"open", QString::fromStdString(asset("card.png").string())});
    ASSERT_TRUE(comes_true([&] { return window().windowTitle() == "card.png - Texton"; }));
    EXPECT_TRUE(comes_true([&] { return workspace().drawing().empty(); })) << "graphics belong to their image";
    send({"close", "drawn"});
    EXPECT_TRUE(comes_true([&] { return session().images.size() == 3; }));
    EXPECT_TRUE(window().live_images()->server().graphics("drawn").empty());
}

TEST_F(LiveTest, ATakenAddressIsReportedInTheStatusBar) {
    listen();
    MainWindow second(workspace());
    second.listen({.tcp = std::nullopt, .socket = texton::detail::show_address(path_)});
    EXPECT_TRUE(second.statusBar()->currentMessage().contains("in use"))
        << second.statusBar()->currentMessage().toStdString();
}

TEST(VectorGraphicsTest, EachCommandDrawsItsShape) {
    using tev::Command;
    using tev::Verb;
    const Command white{Verb::fill_color, {1, 1, 1, 1}};
    const auto drawn = [&](std::vector<Command> shape, bool fills = true) {
        QImage image(40, 40, QImage::Format_RGB32);
        image.fill(Qt::black);
        QPainter painter(&image);
        std::vector<Command> all{
            white, {Verb::stroke_color, {1, 1, 1, 1}}, {Verb::stroke_width, {4, 0}}, {Verb::begin_path}};
        all.insert(all.end(), shape.begin(), shape.end());
        all.push_back({fills ? Verb::fill : Verb::stroke});
        draw_vector_graphics(painter, all, 1);
        painter.end();
        return image;
    };
    const auto lit = [](const QImage& image, int x, int y) { return qRed(image.pixel(x, y)) > 200; };
    const auto dark = [](const QImage& image, int x, int y) { return qRed(image.pixel(x, y)) < 50; };

    const QImage rect = drawn({{Verb::rect, {10, 10, 20, 20}}});
    EXPECT_TRUE(lit(rect, 11, 11) && lit(rect, 28, 28) && dark(rect, 8, 8) && dark(rect, 32, 20));
    const QImage rounded = drawn({{Verb::rounded_rect, {10, 10, 20, 20, 10}}});
    EXPECT_TRUE(dark(rounded, 11, 11) && dark(rounded, 28, 28) && lit(rounded, 20, 11) && lit(rounded, 11, 20));
    const QImage varying = drawn({{Verb::rounded_rect_varying, {10, 10, 20, 20, 10, 0, 10, 0}}});
    EXPECT_TRUE(dark(varying, 11, 11) && lit(varying, 28, 11) && dark(varying, 28, 28) && lit(varying, 11, 28));
    const QImage circle = drawn({{Verb::circle, {20, 20, 10}}});
    EXPECT_TRUE(lit(circle, 20, 11) && dark(circle, 12, 12) && lit(circle, 20, 20));
    const QImage ellipse = drawn({{Verb::ellipse, {20, 20, 15, 5}}});
    EXPECT_TRUE(lit(ellipse, 8, 20) && dark(ellipse, 20, 10));
    const QImage triangle =
        drawn({{Verb::move_to, {5, 5}}, {Verb::line_to, {35, 5}}, {Verb::line_to, {5, 35}}, {Verb::close_path}});
    EXPECT_TRUE(lit(triangle, 10, 10) && dark(triangle, 30, 30));
    const QImage line = drawn({{Verb::move_to, {5, 20}}, {Verb::line_to, {35, 20}}}, false);
    EXPECT_TRUE(lit(line, 20, 20) && dark(line, 20, 25));
    const QImage hole = drawn({{Verb::rect, {5, 5, 30, 30}}, {Verb::circle, {20, 20, 8}}, {Verb::path_winding, {2}}});
    EXPECT_TRUE(lit(hole, 8, 8) && dark(hole, 20, 20));
    // From the right, clockwise on the screen: the lower half.
    const QImage below = drawn({{Verb::arc, {20, 20, 12, 0, 3.14159f, 2}}});
    EXPECT_TRUE(lit(below, 20, 28) && dark(below, 20, 12));
    const QImage above = drawn({{Verb::arc, {20, 20, 12, 0, 3.14159f, 1}}});
    EXPECT_TRUE(lit(above, 20, 12) && dark(above, 20, 28));
    const QImage corner =
        drawn({{Verb::move_to, {5, 5}}, {Verb::arc_to, {35, 5, 35, 35, 20}}, {Verb::line_to, {35, 35}}}, false);
    EXPECT_TRUE(lit(corner, 10, 5) && dark(corner, 34, 6) && lit(corner, 35, 30) && lit(corner, 29, 11));
    const QImage quad = drawn({{Verb::move_to, {5, 30}}, {Verb::quad_to, {20, 0, 35, 30}}}, false);
    EXPECT_TRUE(lit(quad, 20, 15) && dark(quad, 20, 30));
    const QImage bezier = drawn({{Verb::move_to, {5, 30}}, {Verb::bezier_to, {5, 0, 35, 0, 35, 30}}}, false);
    EXPECT_TRUE(lit(bezier, 20, 8) && dark(bezier, 20, 30));
    const QImage restored = drawn({{Verb::save},
                                   {Verb::fill_color, {0, 0, 0, 1}},
                                   {Verb::restore},
                                   {Verb::restore},
                                   {Verb::rect, {0, 0, 40, 40}}});
    EXPECT_TRUE(lit(restored, 20, 20));

    // Text lies on the left of, around and on the right of its position.
    const auto text_span = [&](float align) {
        const QImage image =
            drawn({{Verb::font_size, {12, 1}}, {Verb::text_align, {align}}, {Verb::text, {20, 20}, "WW"}});
        int first = 40, last = -1;
        for (int x = 0; x < 40; ++x)
            for (int y = 0; y < 40; ++y)
                if (!dark(image, x, y)) first = std::min(first, x), last = std::max(last, x);
        return std::pair(first, last);
    };
    EXPECT_GE(text_span(1).first, 19);
    EXPECT_LT(text_span(2).first, 19);
    EXPECT_GT(text_span(2).second, 21);
    EXPECT_LE(text_span(4).second, 21);
}

}  // namespace
}  // namespace texton::viewer::test
