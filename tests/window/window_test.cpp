// The window as a whole, driven by input events.
#include <QDropEvent>
#include <QFileDialog>
#include <QLabel>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>
#include <fstream>
#include <iterator>

#include "tests/support/configured_path.h"
#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

using test::asset;

class WindowTest : public test::WindowFixture {
protected:
    void SetUp() override {
        Session session = test::session_with({"card.png", "sky.exr"});
        session.panels.clear();
        start(session);
        QObject::connect(&workspace(), &Workspace::told, &window(), [this](const QString& text) { said_ = text; });
    }

    QString said_;  // the last status message; the window shows it for some seconds

    QString values() { return window().findChild<QLabel*>("values")->text(); }
    Position under(QPoint point) {
        return to_image(session().view, {point.x() * 1.0, point.y() * 1.0}, canvas().width(), canvas().height());
    }
    void drop(const QString& path) { EXPECT_TRUE(drop_urls(window(), {QUrl::fromLocalFile(path)})); }
    /// Drags the URLs over the widget and drops them. Returns false if no widget there accepts them.
    bool drop_urls(QWidget& widget, const QList<QUrl>& urls) {
        QMimeData data;
        data.setUrls(urls);
        return drop_data(widget, data);
    }
    bool drop_data(QWidget& widget, const QMimeData& data) {
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&widget, &enter);
        if (!enter.isAccepted()) return false;
        QDropEvent event({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&widget, &event);
        settle();
        return event.isAccepted();
    }
    static QUrl url_of(const char* name) { return QUrl::fromLocalFile(QString::fromStdString(asset(name).string())); }
};

TEST_F(WindowTest, TheGuideListsEveryPanel) {
    std::ifstream file(texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/viewer/README.md");
    const std::string guide{std::istreambuf_iterator<char>(file), {}};
    for (const PanelInfo& panel : panels())
        EXPECT_NE(guide.find(" | `" + panel.id.toStdString() + "` | "), std::string::npos) << panel.id.toStdString();
}

TEST_F(WindowTest, ImageStaysFittedAsTheWindowGrows) {
    EXPECT_EQ(session().view, fitted({481, 321}, canvas().width(), canvas().height()));
    window().resize(1500, 1300);
    settle();
    EXPECT_EQ(session().view, fitted({481, 321}, canvas().width(), canvas().height()));
}

TEST_F(WindowTest, WheelZoomsAtTheCursorAndStopsFitting) {
    const QPoint cursor(300, 200);
    const Position before = under(cursor);
    const double zoom = session().view.zoom;
    wheel(cursor, 4);
    EXPECT_NEAR(session().view.zoom, zoom * 4, 1e-9);
    EXPECT_NEAR(under(cursor).x, before.x, 1e-9);
    EXPECT_NEAR(under(cursor).y, before.y, 1e-9);
    window().resize(1200, 900);
    settle();
    EXPECT_NEAR(session().view.zoom, zoom * 4, 1e-9);
    QTest::keyClick(&window(), Qt::Key_F);
    EXPECT_EQ(session().view, fitted({481, 321}, canvas().width(), canvas().height()));
}

TEST_F(WindowTest, DragMovesTheTexelWithTheMouse) {
    wheel({300, 300}, 6);
    const Position before = under({200, 300});
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, {200, 300});
    QTest::mouseMove(&canvas(), {260, 250});
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, {260, 250});
    EXPECT_NEAR(under({260, 250}).x, before.x, 1e-9);
    EXPECT_NEAR(under({260, 250}).y, before.y, 1e-9);
    const ViewState after = session().view;
    hover({100, 100});
    EXPECT_EQ(session().view, after) << "moving the mouse without a button does not drag";
}

TEST_F(WindowTest, StatusBarShowsTheTexelUnderTheMouse) {
    hover(on_canvas({20.5, 10.5}));
    EXPECT_EQ(values().toStdString(), "(20, 10)   1.0000  0.0000  0.0000  1.0000");
    hover({1, 1});
    EXPECT_EQ(values().toStdString(), "card.png") << "outside the image";
}

TEST_F(WindowTest, SidePanelsNeedNoHorizontalScrollBar) {
    window().resize(1280, 800);
    for (const PanelInfo& info : panels()) {
        if (info.area == PanelArea::bottom) continue;
        window().show_panel(info.id, true);
        settle();
        const auto* scroll = qobject_cast<QScrollArea*>(window().docks().at(info.id)->widget());
        ASSERT_NE(scroll, nullptr);
        EXPECT_FALSE(scroll->horizontalScrollBar()->isVisible()) << info.id.toStdString();
    }
}

TEST_F(WindowTest, PanelsAreMadeWhenTheyAreShownFirst) {
    const QDockWidget* dock = window().docks().at("kinds");
    const auto* scroll = qobject_cast<const QScrollArea*>(dock->widget());
    ASSERT_NE(scroll, nullptr);
    EXPECT_EQ(scroll->widget(), nullptr);
    window().show_panel("kinds", true);
    const QWidget* panel = scroll->widget();
    EXPECT_NE(panel, nullptr);
    window().show_panel("kinds", false);
    window().show_panel("kinds", true);
    EXPECT_EQ(scroll->widget(), panel);
}

TEST_F(WindowTest, KeysChangeTheZoomAndTheFile) {
    QTest::keyClick(&window(), Qt::Key_0, Qt::ControlModifier);
    EXPECT_EQ(session().view.zoom, 1);
    QTest::keyClick(&window(), Qt::Key_Plus);
    EXPECT_EQ(session().view.zoom, 2);
    for (const char* title : {"sky.exr - Texton", "card.png - Texton"}) {
        QTest::keyClick(&window(), Qt::Key_PageDown);
        settle();
        EXPECT_EQ(window().windowTitle().toStdString(), title);
    }
    QTest::keyClick(&window(), Qt::Key_PageUp);
    EXPECT_EQ(session().current, 1u);
}

TEST_F(WindowTest, ReferenceIsShownWhileItsKeyIsHeld) {
    QTest::keyPress(&window(), Qt::Key_T);
    EXPECT_EQ(session().current, 0u) << "no reference is set yet";
    QTest::keyRelease(&window(), Qt::Key_T);
    QTest::keyClick(&window(), Qt::Key_2, Qt::ShiftModifier);
    EXPECT_EQ(session().reference, 1u);
    for (const Qt::Key key : {Qt::Key_T, Qt::Key_Shift}) {
        QTest::keyPress(&window(), key);
        EXPECT_EQ(session().current, 1u);
        QTest::keyRelease(&window(), key);
        EXPECT_EQ(session().current, 0u);
    }
    workspace().undo();
    EXPECT_FALSE(session().reference) << "changing the view is not an undo step";
}

TEST_F(WindowTest, ClosingTheReferenceWhileItsKeyIsHeldShowsTheNextImage) {
    workspace().open({{.paths = {asset("ball.png")}, .options = {}}});
    settle();
    workspace().change("Reference", [](Session& session) { session.reference = 0; });
    QTest::keyPress(&window(), Qt::Key_T);
    ASSERT_EQ(session().current, 0u);
    workspace().close(0);
    QTest::keyRelease(&window(), Qt::Key_T);
    settle();
    EXPECT_EQ(session().current, 0u) << "the next image becomes current, as after every close";
    EXPECT_EQ(window().windowTitle().toStdString(), "sky.exr - Texton");
}

TEST_F(WindowTest, ValuesAreHexadecimalWhileShiftAndControlAreHeld) {
    QTest::keyPress(&window(), Qt::Key_Control);
    QTest::keyPress(&window(), Qt::Key_Shift, Qt::ControlModifier);
    EXPECT_TRUE(session().overlays.hexadecimal);
    QTest::keyRelease(&window(), Qt::Key_Shift, Qt::ControlModifier);
    EXPECT_FALSE(session().overlays.hexadecimal);
}

TEST_F(WindowTest, NormalizingFitsTheRangeToTheVisibleTexels) {
    workspace().change("Look at the sky", [](Session& session) { session.current = 1; });
    settle();
    QTest::keyClick(&window(), Qt::Key_N);
    settle();
    EXPECT_GT(session().display.high, 10) << "the sun";
    EXPECT_GT(session().display.low, 0);
    EXPECT_LT(session().display.low, 1);
}

TEST_F(WindowTest, DroppedFileIsShownAndAMissingFileIsExplained) {
    drop(QString::fromStdString(asset("ramp_srgb.png").string()));
    EXPECT_EQ(window().windowTitle().toStdString(), "ramp_srgb.png - Texton");
    EXPECT_TRUE(canvas().isVisible());
    drop("/nowhere/missing.png");
    EXPECT_FALSE(canvas().isVisible());
    EXPECT_NE(window().message().indexOf("/nowhere/missing.png"), -1) << window().message().toStdString();
    drop(QString::fromStdString(asset("card.png").string()));
    EXPECT_TRUE(canvas().isVisible()) << "a valid file after an invalid one";
}

TEST_F(WindowTest, AllDroppedFilesAreOpenedAndTheFirstIsShown) {
    EXPECT_TRUE(drop_urls(canvas(), {url_of("ramp_srgb.png"), url_of("ball.png"), url_of("cube.dds")}));
    EXPECT_EQ(session().images.size(), 5u);
    EXPECT_EQ(window().windowTitle().toStdString(), "ramp_srgb.png - Texton");
    workspace().undo();
    EXPECT_EQ(session().images.size(), 2u) << "one undo step";
}

TEST_F(WindowTest, FilesCanBeDroppedOnTheFilesPanel) {
    window().show_panel("files", true);
    settle();
    QWidget& list = *window().docks().at("files")->findChild<QListWidget*>()->viewport();
    EXPECT_TRUE(drop_urls(list, {url_of("ball.png")}));
    EXPECT_EQ(window().windowTitle().toStdString(), "ball.png - Texton");
}

TEST_F(WindowTest, ProblemOfAnImageIsToldOnce) {
    for (const char* id : {"files", "inspector", "byte-map", "footprint"}) window().show_panel(id, true);
    drop("/nowhere/missing.png");
    QTest::qWait(1);  // panels are refreshed in the next turn of the event loop
    const QString problem = workspace().problem(session().current);
    ASSERT_FALSE(problem.isEmpty());
    EXPECT_TRUE(window().message().contains(problem.toHtmlEscaped())) << window().message().toStdString();
    for (const auto& [id, dock] : window().docks()) {
        for (const QLabel* label : dock->findChildren<QLabel*>())
            EXPECT_FALSE(label->text().contains(problem)) << id.toStdString();
    }
}

TEST_F(WindowTest, DroppedNonImagesAreExplainedAndOtherFilesAreOpened) {
    const QTemporaryDir folder;
    const QString text = folder.filePath("notes.txt");
    std::ofstream(text.toStdString()) << "no image\n";
    drop(text);
    EXPECT_TRUE(window().message().contains("notes.txt cannot be shown")) << window().message().toStdString();
    drop(folder.path());
    EXPECT_TRUE(window().message().contains("cannot be shown")) << window().message().toStdString();
    EXPECT_TRUE(drop_urls(window(), {url_of("ball.png"), QUrl::fromLocalFile(text)}));
    EXPECT_TRUE(canvas().isVisible());
    EXPECT_EQ(window().windowTitle().toStdString(), "ball.png - Texton");
    const std::size_t open = session().images.size();
    EXPECT_FALSE(drop_urls(window(), {QUrl("https://example.org/picture.png")}));
    EXPECT_EQ(said_, "The dropped items are not local files.");
    QMimeData dropped_text;
    dropped_text.setText("words");
    EXPECT_FALSE(drop_data(window(), dropped_text));
    EXPECT_EQ(session().images.size(), open);
    EXPECT_TRUE(canvas().isVisible());
}

TEST_F(WindowTest, DroppedSessionIsReadAndAnInvalidSessionIsExplained) {
    const QTemporaryDir folder;
    const QString good = folder.filePath("good.json"), bad = folder.filePath("bad.json");
    write_session(good.toStdString(), test::session_with({"ball.png"}));
    std::ofstream(bad.toStdString()) << "{\"layout\": \"round\"}";
    drop(good);
    EXPECT_EQ(window().windowTitle().toStdString(), "ball.png - Texton");
    const Session before = session();
    drop(bad);
    EXPECT_EQ(session(), before);
    EXPECT_TRUE(said_.contains("'layout'")) << said_.toStdString();
}

TEST_F(WindowTest, SmallerImageIsVisibleAfterZoomingIntoALargerOne) {
    workspace().open({{.paths = {asset("odd_7x5.png")}, .options = {}}});
    workspace().look([](Session& session) { session.current = 0; });
    settle();
    window().canvas().zoom_by(8);
    window().canvas().look_at({400, 300});
    const ViewState view = session().view;
    const auto show = [&](std::size_t index) {
        workspace().change("Show image", [index](Session& session) { session.current = index; });
        settle();
    };
    show(2);
    EXPECT_TRUE(session().fits);
    EXPECT_EQ(session().view, fitted({7, 5}, canvas().width(), canvas().height()));
    show(0);
    EXPECT_EQ(session().view, view) << "the larger image is shown where it was";
    EXPECT_FALSE(session().fits);

    show(2);
    window().canvas().zoom_by(2);
    const ViewState small = session().view;
    show(0);
    EXPECT_EQ(session().view, small) << "the user changed the view since";
}

TEST_F(WindowTest, ImageOfEqualSizeIsShownAtTheSamePosition) {
    workspace().open({{.paths = {asset("card.png")}, .options = {}}});
    settle();
    window().canvas().zoom_by(4);
    window().canvas().look_at({-20, 10});
    const ViewState view = session().view;
    workspace().change("Show image", [](Session& session) { session.current = 0; });
    settle();
    EXPECT_EQ(session().view, view);
}

TEST_F(WindowTest, ImageIsShownWithoutAKernelThatCannotRunOnIt) {
    workspace().open({{.paths = {asset("cube.dds")}, .options = {}}});
    workspace().change("Kernel", [](Session& session) { session.kernel.name = "gaussian"; });
    settle();
    auto* notice = window().findChild<QLabel*>("notice");
    ASSERT_NE(notice, nullptr);
    EXPECT_TRUE(canvas().isVisible());
    EXPECT_EQ(window().message(), "");
    EXPECT_EQ(workspace().shown(), workspace().document());
    EXPECT_TRUE(notice->isVisible());
    EXPECT_TRUE(notice->text().startsWith("The image is shown without the kernel gaussian, which cannot run on it. "))
        << notice->text().toStdString();
    workspace().change("Show image", [](Session& session) { session.current = 0; });
    settle();
    EXPECT_NE(workspace().shown(), workspace().document());
    EXPECT_FALSE(notice->isVisible());
}

TEST_F(WindowTest, WindowWithoutImagesHasAButtonThatOpensFiles) {
    auto* open = window().findChild<QPushButton*>("open-files");
    ASSERT_NE(open, nullptr);
    EXPECT_FALSE(open->isVisible());
    workspace().replace("Nothing", Session{});
    settle();
    ASSERT_TRUE(open->isVisible());
    bool opened = false;
    QTimer closes;
    QObject::connect(&closes, &QTimer::timeout, [&opened] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (dialog == nullptr) return;
        opened = qobject_cast<QFileDialog*>(dialog) != nullptr;
        dialog->close();
    });
    closes.start(1);
    QTest::mouseClick(open, Qt::LeftButton);
    EXPECT_TRUE(opened);
}

TEST_F(WindowTest, SessionWithUnknownKeysIsOpenedWithANotice) {
    const QTemporaryDir folder;
    const QString file = folder.filePath("s.json");
    std::ofstream(file.toStdString()) << R"({"layout": "sheet", "newer": 1, "view": {"zoom": 3, "tilt": [2]}})";
    drop(file);
    EXPECT_EQ(session().layout, Layout::sheet);
    EXPECT_EQ(said_, file + " has keys that are not known and were ignored: 'view' > 'tilt', 'newer'.");
}

TEST_F(WindowTest, StatusBarShowsTheMessagesOfTheWorkspace) {
    workspace().tell("A calm line.");
    EXPECT_EQ(window().statusBar()->currentMessage(), "A calm line.");
}

TEST_F(WindowTest, ReplacedFileIsReadAgain) {
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("picture.png").toStdString();
    const std::filesystem::path aside = folder.filePath("aside.png").toStdString();
    std::filesystem::copy_file(asset("card.png"), file);
    window().open_files({QString::fromStdString(file.string())});
    settle();
    ASSERT_EQ(workspace().document()->info().extent, (Extent{481, 321}));
    std::filesystem::copy_file(asset("ramp_srgb.png"), aside);
    std::filesystem::rename(aside, file);
    const auto is_new = [&] {
        const auto document = workspace().document();
        return document && document->info().extent != Extent{481, 321};
    };
    EXPECT_TRUE(QTest::qWaitFor(is_new, test::kPatience));
}

}  // namespace
}  // namespace texton::viewer
