// Video files and numbered files, which are shown one frame at a time.
#include <QElapsedTimer>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QSlider>
#include <QSpinBox>
#include <QStatusBar>
#include <QToolButton>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include <texton/image.h>

#include "tests/support/texels.h"
#include "tests/support/y4m_file.h"
#include "tests/window/panel_test.h"
#include "viewer/gui/playback.h"
#include "viewer/model/frames.h"

namespace texton::viewer::test {
namespace {

/// Returns a session with a clip of three frames.
Session clip_in(const QTemporaryDir& folder) {
    const std::filesystem::path path = folder.filePath("clip.y4m").toStdString();
    texton::test::write_y4m(path, 3, "C420jpeg XCOLORRANGE=FULL");
    Session session;
    session.device = device_name();
    session.images = {{.paths = {path}}};
    return session;
}

/// Returns the first luma code of the document: 16, 32 and 48 in the three frames.
int luma(const Workspace& workspace) {
    const std::shared_ptr<const Document> document = workspace.document();
    return document ? static_cast<int>(document->texels({}, {0, 0, 1, 1}).at(0)) : -1;
}

class FramesTest : public WindowFixture {
protected:
    const QTemporaryDir folder_;
};

TEST_F(FramesTest, KeysStepThroughTheFramesOfAVideoFile) {
    start(clip_in(folder_));
    EXPECT_EQ(luma(workspace()), 16);
    for (const int code : {32, 48, 16}) {
        QTest::keyClick(&window(), Qt::Key_Period);
        settle();
        EXPECT_EQ(luma(workspace()), code) << "the first frame follows the last one";
    }
    QTest::keyClick(&window(), Qt::Key_Comma);
    settle();
    EXPECT_EQ(luma(workspace()), 48);
    EXPECT_EQ(frame_of(session().images[0]), 2u);
    while (workspace().history().can_undo()) workspace().undo();
    settle();
    EXPECT_EQ(luma(workspace()), 16);
}

TEST_F(FramesTest, TheFrameBeforeStaysVisibleWhileAnotherOneIsLoading) {
    start(clip_in(folder_));
    workspace().show_frame(1);
    EXPECT_TRUE(workspace().is_loading(0));
    EXPECT_EQ(luma(workspace()), 16);
    workspace().show_frame(2);
    EXPECT_EQ(luma(workspace()), 16);
    settle();
    EXPECT_FALSE(workspace().is_loading(0));
    EXPECT_EQ(luma(workspace()), 48);
    workspace().show_frame(3);
    EXPECT_EQ(frame_of(session().images[0]), 2u) << "there is no such frame";
}

TEST_F(FramesTest, KeysOfFramesDoNothingForOtherImages) {
    start({"card.png"});
    const Session before = session();
    QTest::keyClick(&window(), Qt::Key_Period);
    QTest::keyClick(&window(), Qt::Key_Comma);
    settle();
    EXPECT_EQ(session(), before);
}

TEST_F(FramesTest, RawFramesAreStepped) {
    Session session = clip_in(folder_);
    const std::filesystem::path path = folder_.filePath("clip.yuv").toStdString();
    std::ofstream(path, std::ios::binary)
        << std::string(192, static_cast<char>(16)) << std::string(192, static_cast<char>(32));
    session.images = {{.paths = {path}}};
    session.images[0].options.raw = RawFrames{.format = Format::nv12, .extent = {16, 8}};
    start(session);
    QTest::keyClick(&window(), Qt::Key_Period);
    settle();
    EXPECT_EQ(luma(workspace()), 32);
    EXPECT_EQ(this->session().images[0].options.raw->frame, 1u);
}

/// Returns a session with three numbered files of gray 16, 32 and 48.
Session numbered_in(const QTemporaryDir& folder) {
    const std::filesystem::path path = folder.path().toStdString();
    for (const int number : {7, 8, 9})
        write_image(path / fmt::format("frame_{:03}.png", number), Format::r8_unorm, {16, 8},
                    texton::test::Bytes(128, static_cast<std::byte>(16 * (number - 6))));
    Session session;
    session.device = device_name();
    session.images = {{.paths = {path / "frame_%03d.png"}}};
    return session;
}

TEST_F(FramesTest, NumberedFilesAreTheFramesOfOneImage) {
    start(numbered_in(folder_));
    EXPECT_EQ(luma(workspace()), 16);
    EXPECT_EQ(window().windowTitle(), "frame_007.png (frame 0 of 3) - Texton");
    for (const int code : {32, 48, 16}) {
        QTest::keyClick(&window(), Qt::Key_Period);
        settle();
        EXPECT_EQ(luma(workspace()), code) << "the first file follows the last one";
    }
    QTest::keyClick(&window(), Qt::Key_Comma);
    settle();
    EXPECT_EQ(luma(workspace()), 48);
    EXPECT_EQ(window().windowTitle(), "frame_009.png (frame 2 of 3) - Texton");
    EXPECT_EQ(session().images.size(), 1u);
    EXPECT_EQ(frame_of(session().images[0]), 2u);
    workspace().undo();
    settle();
    EXPECT_EQ(luma(workspace()), 16);
}

TEST_F(FramesTest, OneOfNumberedFilesOpensAllOfThem) {
    const Session session = numbered_in(folder_);
    start({"card.png"});
    window().open_numbered_files(folder_.filePath("frame_008.png"));
    settle();
    EXPECT_EQ(this->session().images.back(), session.images[0]);
    EXPECT_EQ(workspace().frames(), 3u);
    window().open_numbered_files("card.png");
    EXPECT_EQ(this->session().images.size(), 2u);
    EXPECT_EQ(window().statusBar()->currentMessage(), "card.png has no number.");
}

TEST_F(FramesTest, TheShownOneOfNumberedFilesIsReadAgainWhenItChanges) {
    start(numbered_in(folder_));
    workspace().show_frame(1);
    settle();
    EXPECT_EQ(luma(workspace()), 32);
    write_image(folder_.filePath("frame_008.png").toStdString(), Format::r8_unorm, {24, 8},
                texton::test::Bytes(192, std::byte{100}));
    EXPECT_TRUE(QTest::qWaitFor([&] { return luma(workspace()) == 100; }, kPatience));
    EXPECT_EQ(frame_of(session().images[0]), 1u);
}

TEST_F(FramesTest, AFrameBehindTheLastOfNumberedFilesIsNamed) {
    Session session = numbered_in(folder_);
    session.images[0].options.frame = 3;
    start(session);
    EXPECT_TRUE(workspace().problem(0).contains("stands for 3 files")) << workspace().problem(0).toStdString();
}

class FramesPanelTest : public PanelTest {
protected:
    /// Plays the open image until each of its three frames was shown.
    void expect_playback_of_all_frames() {
        find<QSpinBox>("Images per second")->setValue(60);
        std::set<int> seen;
        QObject::connect(workspace_.get(), &Workspace::documents_changed, [&] { seen.insert(luma(*workspace_)); });
        QTest::mouseClick(find<QToolButton>("Play"), Qt::LeftButton);
        EXPECT_TRUE(QTest::qWaitFor([&] { return seen == std::set{16, 32, 48}; }, kPatience));
        click(find<QToolButton>("Stop"));
        EXPECT_FALSE(workspace_->history().can_undo());
    }

    const QTemporaryDir folder_;
};

TEST_F(FramesPanelTest, CommandsAndProgramsReadTheShownOneOfNumberedFiles) {
    Session session = numbered_in(folder_);
    session.images[0].options.frame = 2;
    open_session("reproduce", session);
    const QString commands = find<QPlainTextEdit>("Commands that write the visible texels to files")->toPlainText();
    EXPECT_TRUE(commands.contains("frame_009.png")) << commands.toStdString();
    EXPECT_FALSE(commands.contains("--frame")) << commands.toStdString();
}

TEST_F(FramesPanelTest, TheListOfImagesKeepsTheThumbnailUntilThatOfTheNextFrameIsMade) {
    open_session("files", numbered_in(folder_));
    settle();
    auto* list = find<QListWidget>("Images");
    const QString text = "frame_%03d.png\n16 x 8 of r8_srgb\n3 frames";
    EXPECT_EQ(list->item(0)->text(), text);
    const auto gray = [&] { return qGray(list->item(0)->icon().pixmap(64, 64).toImage().pixel(32, 32)); };
    const int first = gray();
    QStringList texts;
    QObject::connect(list, &QListWidget::itemChanged, [&](QListWidgetItem* item) { texts.append(item->text()); });
    workspace_->show_frame(2);
    settle();
    EXPECT_GT(gray(), first);
    EXPECT_EQ(texts.count(text), texts.size()) << texts.join(" | ").toStdString();
}

TEST_F(FramesPanelTest, PlaybackShowsEachOfNumberedFiles) {
    open_session("subresource", numbered_in(folder_));
    expect_playback_of_all_frames();
}

TEST_F(FramesPanelTest, PlaybackHasTheRateAndCountsFramesThatAreLate) {
    open_session("subresource", numbered_in(folder_));
    Playback playback(*workspace_);
    std::vector<double> times;
    std::vector<int> codes;
    QElapsedTimer clock;
    QObject::connect(&playback, &Playback::counted, [&] {
        if (playback.shown() == 0) return;
        times.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
        codes.push_back(luma(*workspace_));
    });
    clock.start();
    playback.start(50);
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() == 12; }, kPatience));
    playback.stop();
    EXPECT_GE(times.back(), 12 * 20.0 - 1) << "no frame is shown before its time";
    for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i], 16 + 16 * ((static_cast<int>(i) + 1) % 3)) << i;
    const std::size_t late = playback.late();

    playback.start(50);
    QTest::qSleep(200);  // the thread of the window is blocked
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() > 0; }, kPatience));
    EXPECT_EQ(playback.shown(), 1u);
    EXPECT_EQ(playback.late(), 1u) << "the numbers count from the start; before, " << late << " frames were late";
    playback.stop();
    settle();
}

TEST_F(FramesPanelTest, TheReferenceIsPlayedAlong) {
    Session session = numbered_in(folder_);
    const QTemporaryDir other;
    for (const int number : {1, 2})
        write_image(other.filePath(QString("b%1.png").arg(number)).toStdString(), Format::r8_unorm, {16, 8},
                    texton::test::Bytes(128, static_cast<std::byte>(100 + number)));
    session.images.push_back({.paths = {other.filePath("b%d.png").toStdString()}});
    session.reference = 1;
    open_session("subresource", session);
    Playback playback(*workspace_);
    std::vector<std::pair<std::size_t, std::size_t>> seen;
    QObject::connect(&playback, &Playback::counted, [&] {
        seen.emplace_back(frame_of(this->session().images[0]), frame_of(this->session().images[1]));
        EXPECT_NE(workspace_->document(1), nullptr);
    });
    playback.start(100);
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() >= 6; }, kPatience));
    playback.stop();
    settle();
    seen.resize(7);
    EXPECT_EQ(seen, (std::vector<std::pair<std::size_t, std::size_t>>{
                        {0, 0}, {1, 1}, {2, 0}, {0, 1}, {1, 0}, {2, 1}, {0, 0}}));
}

TEST_F(FramesPanelTest, PlaybackContinuesAtTheFrameThatTheUserChooses) {
    open_session("subresource", numbered_in(folder_));
    click(find<QToolButton>("Play"));
    EXPECT_TRUE(find<QLabel>("Late frames")->text().contains("frames were late")) << "the playback has started";
    workspace_->show_frame(2);
    std::set<std::size_t> seen;
    QObject::connect(workspace_.get(), &Workspace::documents_changed,
                     [&] { seen.insert(frame_of(session().images[0])); });
    EXPECT_TRUE(QTest::qWaitFor([&] { return seen == std::set<std::size_t>{0, 1, 2}; }, kPatience));
    EXPECT_EQ(luma(*workspace_), 16 + 16 * static_cast<int>(frame_of(session().images[0])));
    click(find<QToolButton>("Stop"));
}

TEST_F(FramesPanelTest, FrameThatCannotBeReadIsToldAndSkipped) {
    Session session = numbered_in(folder_);
    std::ofstream(folder_.filePath("frame_008.png").toStdString()) << "no image";
    open_session("subresource", session);
    QString told;
    QObject::connect(workspace_.get(), &Workspace::told, [&](const QString& text) { told = text; });
    Playback playback(*workspace_);
    std::set<std::size_t> seen;
    QObject::connect(&playback, &Playback::counted, [&] { seen.insert(frame_of(this->session().images[0])); });
    playback.start(100);
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() >= 4; }, kPatience));
    playback.stop();
    settle();
    EXPECT_EQ(seen, (std::set<std::size_t>{0, 2}));
    EXPECT_TRUE(told.contains("frame_008.png")) << told.toStdString();
}

TEST_F(FramesPanelTest, TheFrameCanBeSelected) {
    open_session("subresource", clip_in(folder_));
    EXPECT_TRUE(find<QSpinBox>("Frame")->isVisible());
    press(find<QSlider>("Frame, slider"), Qt::Key_End);
    EXPECT_EQ(luma(*workspace_), 48);
    EXPECT_EQ(find<QSpinBox>("Frame")->value(), 2);
    press(find<QSpinBox>("Frame"), Qt::Key_Down);
    EXPECT_EQ(luma(*workspace_), 32);
    image("frames");
    open("subresource", {"card.png"});
    EXPECT_FALSE(find<QSpinBox>("Frame")->isVisible());
}

TEST_F(FramesPanelTest, TheSitingAndTheRangeOfTheFileAreListed) {
    open_session("subresource", clip_in(folder_));
    const QString text = find<QLabel>("Size, format and kind")->text();
    EXPECT_TRUE(text.contains("planar nv12")) << text.toStdString();
    EXPECT_TRUE(text.contains("chroma siting center")) << text.toStdString();
    EXPECT_TRUE(text.contains("full range")) << text.toStdString();
}

TEST_F(FramesPanelTest, PlaybackShowsEachFrameAndAddsNoUndoStep) {
    open_session("subresource", clip_in(folder_));
    expect_playback_of_all_frames();
}

}  // namespace
}  // namespace texton::viewer::test
