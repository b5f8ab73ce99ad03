// texton-view --review: a window with the failing cases of a suite.
#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QTimer>
#include <QTreeWidget>
#include <fstream>
#include <map>
#include <set>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_save.h>

#include "tests/window/fixture.h"
#include "viewer/gui/panels/review.h"
#include "viewer/gui/suite_review.h"

namespace texton::viewer::test {
namespace {

namespace fs = std::filesystem;
using verify::Verdict;

class ReviewWindowTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(temporary_.isValid());
        fs::create_directory(folder() / "suite");
    }
    void TearDown() override {
        window_.reset();
        review_.reset();
        workspace_.reset();
    }

    fs::path folder() const { return temporary_.path().toStdString(); }
    fs::path at(const std::string& name) const { return folder() / "suite" / name; }
    void write_text(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }
    std::string text(const std::string& name) const {
        std::ifstream file(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // Writes an image of gray texels; the texel at 2, 1 has another red value.
    void write(const std::string& name, int gray, int odd = -1, Extent extent = {16, 12}) const {
        std::vector<std::byte> texels(extent.width * extent.height * 4, static_cast<std::byte>(gray));
        if (odd >= 0) texels[4 * (extent.width + 2)] = static_cast<std::byte>(odd);
        write_image(at(name), Format::rgba8_unorm, extent, texels);
    }
    // Runs the command with the suite, and returns its exit status.
    int command(const QStringList& arguments) const {
        QProcess process;
        process.setWorkingDirectory(QString::fromStdString((folder() / "suite").string()));
        process.start(TEXTON_PROGRAM, QStringList{"verify", "s.json", "--device", device_name().c_str()} + arguments);
        EXPECT_TRUE(process.waitForFinished(kPatience)) << process.errorString().toStdString();
        return process.exitCode();
    }
    // Writes a suite of four images and approves it; then a, b and c change in the same way, and d changes more.
    void prepare() const {
        write_text("s.json", kSuite);
        for (const char* name : {"a", "b", "c", "d"}) write(std::string(name) + ".png", 100);
        ASSERT_EQ(command({"--update", "--yes"}), 0);
        for (const char* name : {"a", "b", "c"}) write(std::string(name) + ".png", 100, 103);
        write("d.png", 100, 200);
    }
    std::map<std::string, std::string> references() const {
        std::map<std::string, std::string> out;
        for (const auto& each : fs::directory_iterator(at("s")))
            out[each.path().filename().string()] = text("s/" + each.path().filename().string());
        return out;
    }

    void open(const verify::ReviewOptions& more = {}) {
        QSettings().clear();
        verify::ReviewOptions options = more;
        options.suite = at("s.json");
        Session session;
        session.device = device_name();
        session.panels = {"review"};
        workspace_ = std::make_unique<Workspace>(session);
        review_ = std::make_unique<SuiteReview>(*workspace_, options);
        window_ = std::make_unique<MainWindow>(*workspace_);
        window_->resize(1100, 800);
        show_active(*window_);
    }
    void start(const verify::ReviewOptions& more = {}) {
        open(more);
        workspace_->settle();
    }

    MainWindow& window() { return *window_; }
    Workspace& workspace() { return *workspace_; }
    SuiteReview& review() { return *review_; }
    const verify::Review& decisions() { return *review_->review(); }
    const Session& session() const { return workspace_->session(); }
    void settle() { workspace_->settle(); }
    QString shown() {
        const auto current = review_->current();
        return current ? QString::fromStdString(decisions().run().cases[*current]->name) : QString();
    }
    Verdict verdict(const std::string& name) {
        const auto& cases = decisions().run().cases;
        for (std::size_t i = 0; i < cases.size(); ++i)
            if (cases[i]->name == name) return decisions().decision(i).verdict;
        throw std::runtime_error("no case " + name);
    }
    void press(int key, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(&window(), static_cast<Qt::Key>(key), modifiers);
        settle();
    }
    // Presses the keys of an action that asks, and clicks a button of the dialog.
    QString answer(int key, Qt::KeyboardModifiers modifiers, QMessageBox::StandardButton button,
                   bool checks_box = false) {
        QString asked;
        QTimer::singleShot(0, &window(), [&] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (box == nullptr) return;
            asked = box->text();
            if (checks_box && box->checkBox() != nullptr) box->checkBox()->setChecked(true);
            box->button(button)->click();
        });
        press(key, modifiers);
        EXPECT_FALSE(asked.isEmpty()) << "no dialog";
        show_active(window());  // without a window manager, nothing activates it after the dialog
        return asked;
    }
    QString apply(bool checks_box = false) {
        return answer(Qt::Key_Return, Qt::ControlModifier, QMessageBox::Apply, checks_box);
    }
    template <class Widget>
    Widget& find(const QString& name) {
        for (Widget* widget : window().docks().at("review")->findChildren<Widget*>())
            if (widget->accessibleName() == name) return *widget;
        throw std::runtime_error("no " + name.toStdString());
    }
    QStringList listed() {
        QStringList out;
        const auto& list = find<QTreeWidget>("Failing cases");
        for (int i = 0; i < list.topLevelItemCount(); ++i)
            out.append(list.topLevelItem(i)->text(1) + ": " + list.topLevelItem(i)->text(2));
        return out;
    }
    QString status() { return find<QLabel>("State of the review").text(); }
    QString problem() { return find<QLabel>("Message of the review").text(); }
    void select(std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
        workspace().change("Select", [&](Session& to) { to.selection = TexelBox{x, y, width, height}; });
    }
    // Saves the window as a PNG for manual checks if TEXTON_PANEL_IMAGES names a folder.
    void image(const char* name) {
        const QString to = qEnvironmentVariable("TEXTON_PANEL_IMAGES");
        if (!to.isEmpty()) window().grab().save(to + "/" + name + ".png");
    }

    static constexpr const char* kSuite = R"({
    // four images
    "cases": [
        {"name": "a", "images": {"name": "image", "file": "a.png"}},
        {"name": "b", "images": {"name": "image", "file": "b.png"}},
        {"name": "c", "images": {"name": "image", "file": "c.png"}},
        {"name": "d", "images": {"name": "image", "file": "d.png"}}
    ]
}
)";
    QTemporaryDir temporary_;
    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<SuiteReview> review_;
    std::unique_ptr<MainWindow> window_;
};

TEST_F(ReviewWindowTest, FailingCasesAreListedInGroupsTheMostSevereFirst) {
    prepare();
    start();
    EXPECT_EQ(listed(), (QStringList{"d: 1 texel, 100 ulp", "a +2: 1 texel, 3 ulp"}));
    EXPECT_EQ(status(), "s.json: 4 of 4 cases fail");
    EXPECT_EQ(shown(), "d");
    EXPECT_TRUE(window().reference_canvas().isVisible());
    EXPECT_EQ(find<QLabel>("Why the case fails").text(), "image: 1 of 192 texels differ: max ulp 100 (allowed: 0)");
    QStringList order;
    for (int i = 0; i < 4; ++i) {
        order.append(shown());
        press(Qt::Key_J);
    }
    EXPECT_EQ(order, (QStringList{"d", "a", "b", "c"}));
    EXPECT_EQ(shown(), "d") << "the list starts again";
    press(Qt::Key_K);
    EXPECT_EQ(shown(), "c");
    find<QTreeWidget>("Failing cases").setCurrentItem(find<QTreeWidget>("Failing cases").topLevelItem(1));
    settle();
    EXPECT_EQ(shown(), "a");
    image("review_list");
}

TEST_F(ReviewWindowTest, ApprovedCasesHaveTheBytesThatTheCommandWrites) {
    prepare();
    const auto before = references();
    start();
    for (int i = 0; i < 4; ++i) press(Qt::Key_Y);
    EXPECT_EQ(decisions().count(Verdict::approved), 4u);
    EXPECT_EQ(references(), before);
    EXPECT_EQ(apply(), "References to write: 4");
    const auto reviewed = references();
    EXPECT_TRUE(listed().isEmpty());
    EXPECT_TRUE(window().message().contains("No failing case is left")) << window().message().toStdString();
    EXPECT_EQ(command({}), 0);

    for (const auto& [name, contents] : before) write_text("s/" + name, contents);
    EXPECT_EQ(command({"--update", "--yes"}), 0);
    EXPECT_EQ(references(), reviewed);
    EXPECT_NE(reviewed, before);
}

TEST_F(ReviewWindowTest, GroupIsApprovedByOneKey) {
    prepare();
    start();
    press(Qt::Key_J);
    ASSERT_EQ(shown(), "a");
    press(Qt::Key_Y, Qt::ShiftModifier);
    EXPECT_EQ(decisions().count(Verdict::approved), 3u);
    EXPECT_EQ(shown(), "d") << "the next undecided case";
    EXPECT_EQ(status(), "s.json: 4 of 4 cases fail, 3 approved");
    apply();
    EXPECT_EQ(listed(), QStringList{"d: 1 texel, 100 ulp"});
    EXPECT_EQ(command({"--filter", "[abc]"}), 0);
    EXPECT_EQ(command({}), 1);
}

TEST_F(ReviewWindowTest, DeclinedDialogWritesNothing) {
    prepare();
    const auto before = references();
    start();
    press(Qt::Key_Y);
    answer(Qt::Key_Return, Qt::ControlModifier, QMessageBox::Cancel);
    EXPECT_EQ(references(), before);
    EXPECT_EQ(decisions().count(Verdict::approved), 1u);
}

TEST_F(ReviewWindowTest, RejectionTakesANoteThatIsSavedBesideTheSuite) {
    prepare();
    start();
    press(Qt::Key_D);
    EXPECT_EQ(verdict("d"), Verdict::rejected);
    auto& note = find<QLineEdit>("Note");
    ASSERT_TRUE(note.hasFocus());
    QTest::keyClicks(&note, "too bright: y/n?");
    QTest::keyClick(&note, Qt::Key_Return);
    settle();
    EXPECT_EQ(shown(), "a");
    EXPECT_EQ(note.text(), "");
    EXPECT_FALSE(note.hasFocus());
    EXPECT_FALSE(fs::exists(at("s.review.json")));
    EXPECT_EQ(apply(), "Rejections are written to s.review.json.");
    EXPECT_NE(text("s.review.json").find("\"note\": \"too bright: y/n?\""), std::string::npos) << text("s.review.json");
    TearDown();
    start();
    EXPECT_EQ(verdict("d"), Verdict::rejected) << "the next review shows it";
    EXPECT_EQ(find<QLineEdit>("Note").text(), "too bright: y/n?");
}

TEST_F(ReviewWindowTest, DecisionsAndChangesOfTheViewAreUndoneInTheirOrder) {
    prepare();
    start();
    press(Qt::Key_Y);
    press(Qt::Key_R);  // hides red
    press(Qt::Key_Y);
    ASSERT_EQ(shown(), "b");
    press(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(verdict("a"), Verdict::undecided);
    EXPECT_EQ(verdict("d"), Verdict::approved);
    EXPECT_EQ(shown(), "a");
    EXPECT_FALSE(session().display.channels[0]);
    press(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(session().display.channels[0]);
    EXPECT_EQ(verdict("d"), Verdict::approved);
    press(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(verdict("d"), Verdict::undecided);
    EXPECT_EQ(shown(), "d");
    for (int i = 0; i < 3; ++i) press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(verdict("a"), Verdict::approved);
    EXPECT_EQ(verdict("d"), Verdict::approved);
    EXPECT_FALSE(session().display.channels[0]);
    press(Qt::Key_O);
    EXPECT_EQ(verdict("a"), Verdict::undecided);
}

TEST_F(ReviewWindowTest, UndoOfAViewChangeShowsItsCaseAgain) {
    prepare();
    start();
    press(Qt::Key_R);
    press(Qt::Key_J);
    ASSERT_EQ(shown(), "a");
    press(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(shown(), "d");
    EXPECT_TRUE(workspace().shown() != nullptr);
    EXPECT_EQ(find<QTreeWidget>("Failing cases").currentItem()->text(1), "d");
}

TEST_F(ReviewWindowTest, KeysChooseHowTheImagesAreCompared) {
    prepare();
    start();
    const auto title = [&] { return workspace().title(session().current); };
    EXPECT_EQ(title(), "d result");
    EXPECT_EQ(workspace().title(*session().reference), "d reference");
    press(Qt::Key_2, Qt::ControlModifier);
    EXPECT_EQ(session().compare.mode, CompareMode::wipe);
    EXPECT_FALSE(window().reference_canvas().isVisible());
    press(Qt::Key_3, Qt::ControlModifier);
    EXPECT_EQ(session().compare.mode, CompareMode::none);
    EXPECT_EQ(title(), "d result");
    press(Qt::Key_H);
    EXPECT_EQ(title(), "d reference");
    press(Qt::Key_H);
    EXPECT_EQ(title(), "d result");
    press(Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(session().compare.mode, CompareMode::absolute);
    press(Qt::Key_5, Qt::ControlModifier);
    EXPECT_EQ(title(), "d FLIP map");
    const auto map = workspace().shown();
    ASSERT_NE(map, nullptr);
    const std::vector<std::byte> worst = map->texels({}, {2, 1, 1, 1});
    EXPECT_GT(std::to_integer<int>(worst[0]), 40) << "the texel that differs";
    EXPECT_EQ(std::to_integer<int>(map->texels({}, {15, 11, 1, 1})[0]), 0);
    press(Qt::Key_6, Qt::ControlModifier);
    EXPECT_EQ(session().compare.mode, CompareMode::ulp);
    EXPECT_EQ(find<QComboBox>("View").currentText(), "ulp map");
    press(Qt::Key_J);
    EXPECT_EQ(session().compare.mode, CompareMode::ulp) << "the view stays for the next case";
    press(Qt::Key_1, Qt::ControlModifier);
    EXPECT_TRUE(window().reference_canvas().isVisible());
    image("review_sides");
}

TEST_F(ReviewWindowTest, WorstTexelsAreShownOneAfterTheOther) {
    prepare();
    std::vector<std::byte> texels(16 * 12 * 4, std::byte{100});
    texels[4 * (16 * 11 + 15)] = std::byte{255};
    texels[4 * (16 * 3 + 7)] = std::byte{90};
    write_image(at("a.png"), Format::rgba8_unorm, {16, 12}, texels);
    start();
    ASSERT_EQ(shown(), "a");
    press(Qt::Key_U);
    EXPECT_EQ(session().pins, (std::vector<Position>{{15.5, 11.5}}));
    EXPECT_EQ(session().view.center, (Position{15.5, 11.5}));
    press(Qt::Key_U);
    EXPECT_EQ(session().pins, (std::vector<Position>{{7.5, 3.5}}));
    press(Qt::Key_U);
    EXPECT_EQ(session().pins, (std::vector<Position>{{15.5, 11.5}}));
    press(Qt::Key_J);
    EXPECT_TRUE(session().pins.empty());
    press(Qt::Key_F);
    write("a.png", 100, -1, {20, 9});
    press(Qt::Key_F5, Qt::ShiftModifier);
    ASSERT_EQ(shown(), "d");
    press(Qt::Key_K);
    ASSERT_EQ(shown(), "a");
    press(Qt::Key_U);
    EXPECT_TRUE(problem().startsWith("No texel of the image differs")) << problem().toStdString();
}

TEST_F(ReviewWindowTest, BothCanvasesShareZoomAndPosition) {
    prepare();
    start();
    Canvas& reference = window().reference_canvas();
    ASSERT_TRUE(reference.isVisible());
    EXPECT_LE(std::abs(reference.width() - window().canvas().width()), 1);
    const double zoom = session().view.zoom;
    const QPoint point(20, 30);
    QWheelEvent wheel(point, reference.mapToGlobal(QPointF(point)), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&reference, &wheel);
    settle();
    EXPECT_DOUBLE_EQ(session().view.zoom, 2 * zoom);
    const QImage of_reference = reference.image(), of_result = window().canvas().image();
    const QRect common(0, 0, std::min(of_reference.width(), of_result.width()), of_result.height());
    int differing = 0;
    for (int x = 0; x < common.width(); ++x)
        differing += of_reference.pixel(x, common.height() / 4) != of_result.pixel(x, common.height() / 4) ? 1 : 0;
    EXPECT_LT(differing, common.width() / 2) << "all texels but one are equal, and are at the same pixels";
}

TEST_F(ReviewWindowTest, MaskIsDrawnOnTheImageAndWrittenIntoTheSuite) {
    prepare();
    start();
    press(Qt::Key_J);
    ASSERT_EQ(shown(), "a");
    press(Qt::Key_M);
    EXPECT_TRUE(problem().startsWith("No texels are selected")) << problem().toStdString();
    Canvas& canvas = window().canvas();
    const auto on_canvas = [&](Position texel) {
        const PlanePixel origin = canvas_origin(canvas.scene());
        const double zoom = session().view.zoom;
        return QPoint(static_cast<int>(texel.x * zoom - origin.x), static_cast<int>(texel.y * zoom - origin.y));
    };
    QTest::mousePress(&canvas, Qt::LeftButton, Qt::ShiftModifier, on_canvas({1.5, 0.5}));
    QMouseEvent move(QEvent::MouseMove, on_canvas({3.5, 2.5}), canvas.mapToGlobal(QPointF(on_canvas({3.5, 2.5}))),
                     Qt::NoButton, Qt::LeftButton, Qt::ShiftModifier);
    QApplication::sendEvent(&canvas, &move);
    QTest::mouseRelease(&canvas, Qt::LeftButton, Qt::ShiftModifier, on_canvas({3.5, 2.5}));
    ASSERT_TRUE(session().selection.has_value());
    press(Qt::Key_M);
    EXPECT_FALSE(session().selection.has_value());
    EXPECT_EQ(problem(), "With the mask, the case passes.");
    ASSERT_EQ(workspace().outlines().size(), 1u);
    EXPECT_EQ(workspace().outlines()[0].x, 1);
    EXPECT_EQ(workspace().outlines()[0].width, 3);
    image("review_mask");
    press(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(workspace().outlines().empty());
    press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    select(8, 8, 2, 2);
    press(Qt::Key_M);
    select(9, 9, 1, 1);
    press(Qt::Key_M, Qt::ShiftModifier);
    EXPECT_EQ(workspace().outlines().size(), 1u) << "the rectangle at the selection is removed";
    window().actions().find("review-copy-mask")->trigger();
    EXPECT_EQ(QApplication::clipboard()->text(), "\"mask\": [[1, 0, 3, 3]]");
    EXPECT_EQ(text("s.json"), kSuite);
    EXPECT_EQ(apply(), "Masks to write into s.json: 1. Then the suite is run again.");
    std::string expected = kSuite;
    expected.replace(expected.find("a.png\"}}"), 8, "a.png\"}, \"mask\": [[1, 0, 3, 3]]}");
    EXPECT_EQ(text("s.json"), expected);
    EXPECT_EQ(listed(), (QStringList{"d: 1 texel, 100 ulp", "b +1: 1 texel, 3 ulp"}));
}

TEST_F(ReviewWindowTest, FailedCommandShowsItsLastLines) {
    write_text("s.json", R"({"cases": [{"name": "x", "command": ["sh", "-c", "echo one; echo two >&2; exit 3"],
        "images": "x.png"}]})");
    start({.commands = verify::Commands::allowed});
    EXPECT_EQ(listed(), QStringList{"x: failed"});
    EXPECT_TRUE(find<QLabel>("Why the case fails").text().contains("3"));
    EXPECT_TRUE(window().message().contains("x: failed")) << window().message().toStdString();
    EXPECT_TRUE(window().message().contains("two"));
    press(Qt::Key_Y);
    EXPECT_EQ(problem(), "The case has no images, so there is nothing to approve.");
    EXPECT_EQ(verdict("x"), Verdict::undecided);
    image("review_failed");
}

TEST_F(ReviewWindowTest, CommandWithOtherImagesShowsItsLastLinesBesideThem) {
    write("a.png", 50);
    write_text("s.json", R"({"cases": [{"name": "x", "command": ["sh", "-c", "echo seed 7; cp \"$1\" x.png", "sh",
        "{suite}/a.png"], "images": "x.png"}]})");
    start({.commands = verify::Commands::allowed});
    EXPECT_EQ(listed(), QStringList{"x: no reference"});
    EXPECT_EQ(find<QPlainTextEdit>("Last lines of the command").toPlainText(), "seed 7");
    EXPECT_TRUE(find<QPlainTextEdit>("Last lines of the command").isVisible());
}

TEST_F(ReviewWindowTest, ImageOfAnotherSizeIsShownBesideTheReference) {
    prepare();
    write("a.png", 100, -1, {20, 9});
    start();
    EXPECT_EQ(listed().front(), "a: other shape");
    for (const int view : {Qt::Key_2, Qt::Key_4, Qt::Key_5, Qt::Key_6}) {
        press(view, Qt::ControlModifier);
        EXPECT_EQ(workspace().title(session().current), "a result");
        EXPECT_EQ(session().compare.mode, view == Qt::Key_2 ? CompareMode::wipe : CompareMode::none);
    }
    press(Qt::Key_1, Qt::ControlModifier);
    EXPECT_EQ(workspace().shown()->whole().extent, (Extent{20, 9}));
    EXPECT_EQ(workspace().document(*session().reference)->whole().extent, (Extent{16, 12}));
    image("review_sizes");
}

TEST_F(ReviewWindowTest, CaseWithoutReferenceShowsItsResultAndIsApproved) {
    write_text("s.json", R"({"cases": [{"name": "new/1", "images": "a.png"}]})");
    write("a.png", 50);
    start();
    EXPECT_EQ(listed(), QStringList{"new/1: no reference"});
    EXPECT_EQ(find<QLabel>("Why the case fails").text(),
              "The case has no reference. Approve the result to make it the reference.");
    EXPECT_EQ(workspace().title(session().current), "new:1 result");
    EXPECT_FALSE(session().reference.has_value());
    EXPECT_FALSE(window().reference_canvas().isVisible());
    press(Qt::Key_Y);
    apply();
    EXPECT_EQ(command({}), 0);
}

TEST_F(ReviewWindowTest, ImagesOfACaseAndSlicesOfAVolumeAreReached) {
    write_text("s.json", R"({"cases": [{"name": "m", "images": ["a.png", "v.dds"]}]})");
    const auto write_volume = [&](int odd) {
        std::vector<std::byte> texels(8 * 8 * 4 * 4, std::byte{50});
        texels[4 * (8 * 8 * 2 + 5)] = static_cast<std::byte>(odd);
        save(at("v.dds"), host_view(static_cast<const void*>(texels.data()), Format::rgba8_unorm, {8, 8, 4}));
    };
    write("a.png", 50);
    write_volume(50);
    ASSERT_EQ(command({"--update", "--yes"}), 0);
    write("a.png", 50, 51);
    write_volume(60);
    start();
    auto& images = find<QComboBox>("Image of the case");
    ASSERT_GE(images.count(), 2);
    EXPECT_TRUE(images.currentText().startsWith("v.dds")) << "the image with the largest difference is first";
    EXPECT_EQ(workspace().shown()->info().kind, ArrayKind::array_3d);
    EXPECT_EQ(session().subresource.slice, 2u) << "the slice of the worst texel";
    const QString volume = images.currentText();
    press(Qt::Key_I);
    EXPECT_NE(images.currentText(), volume);
    press(Qt::Key_I, Qt::ShiftModifier);
    EXPECT_EQ(images.currentText(), volume);
    press(Qt::Key_Home);
    images.setCurrentIndex(0);
    settle();
    EXPECT_EQ(images.currentText(), "a.png: 1 texel, 1 ulp");
    EXPECT_EQ(workspace().shown()->whole().extent, (Extent{16, 12}));
    image("review_images");
}

TEST_F(ReviewWindowTest, RunIsCanceledByEscapeWithoutBlockingTheWindow) {
    prepare();
    std::string suite = kSuite;
    suite.replace(suite.find("{\"name\": \"d\""), 1,
                  "{\"name\": \"slow\", \"command\": [\"sleep\", \"600\"], \"images\": \"x.png\"}, {");
    write_text("s.json", suite);
    open({.commands = verify::Commands::allowed});
    EXPECT_TRUE(review().is_running());
    QElapsedTimer since;
    since.start();
    while (review().done() < 4 && since.elapsed() < kPatience) QTest::qWait(20);
    EXPECT_EQ(review().done(), 4u);
    EXPECT_TRUE(QTest::qWaitFor([&] { return status() == "s.json: 4 of 5 cases were run"; }, kPatience));
    QTest::keyClick(&window(), Qt::Key_Escape);
    settle();
    EXPECT_LT(since.elapsed(), 300000);
    EXPECT_FALSE(review().is_running());
    EXPECT_EQ(listed().size(), 2) << "the cases that were completed: " << listed().join("; ").toStdString();
    EXPECT_TRUE(status().contains("(canceled)"));
}

TEST_F(ReviewWindowTest, ClosingDuringARunStopsIt) {
    write_text("s.json", R"({"cases": [{"name": "slow", "command": ["sleep", "600"], "images": "x.png"}]})");
    open({.commands = verify::Commands::allowed});
    QTest::qWait(100);
    QElapsedTimer since;
    since.start();
    TearDown();
    EXPECT_LT(since.elapsed(), 300000);
}

TEST_F(ReviewWindowTest, WindowAsksBeforeItDiscardsDecisions) {
    prepare();
    start();
    press(Qt::Key_Y);
    bool asked = false;
    QTimer::singleShot(0, &window(), [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        asked = box != nullptr;
        if (asked) box->button(QMessageBox::Cancel)->click();
    });
    EXPECT_FALSE(window().close());
    EXPECT_TRUE(asked);
    show_active(window());
    press(Qt::Key_Z, Qt::ControlModifier);
    ASSERT_FALSE(review().has_changes());
    EXPECT_TRUE(window().close());
}

TEST_F(ReviewWindowTest, SuiteIsReadAndRunAgain) {
    prepare();
    start();
    press(Qt::Key_J);
    write("d.png", 100);
    press(Qt::Key_F5, Qt::ShiftModifier);
    EXPECT_EQ(listed(), QStringList{"a +2: 1 texel, 3 ulp"});
    EXPECT_EQ(shown(), "a") << "the case stays";
    write_text("s.json", "{");
    press(Qt::Key_F5, Qt::ShiftModifier);
    EXPECT_TRUE(problem().contains("not valid JSON")) << problem().toStdString();
    EXPECT_FALSE(review().is_busy());
}

TEST_F(ReviewWindowTest, UnusedReferencesAreRemovedIfTheUserSaysSo) {
    prepare();
    write_text("s/old.texref", "");
    start();
    press(Qt::Key_Y);
    apply();
    EXPECT_TRUE(fs::exists(at("s/old.texref")));
    press(Qt::Key_Y);
    apply(true);
    EXPECT_FALSE(fs::exists(at("s/old.texref")));
}

TEST_F(ReviewWindowTest, SuiteWithoutFailingCasesSaysSo) {
    write_text("s.json", R"({"cases": [{"name": "a", "images": "a.png"}]})");
    write("a.png", 50);
    ASSERT_EQ(command({"--update", "--yes"}), 0);
    start();
    EXPECT_TRUE(window().message().contains("No case fails")) << window().message().toStdString();
    EXPECT_EQ(status(), "s.json: 0 of 1 cases fail");
    for (const ActionInfo& info : window().actions().all()) {
        if (!info.id.startsWith("review-") || info.id == "review-run") continue;
        window().actions().find(info.id)->trigger();
        settle();
    }
    EXPECT_FALSE(find<QTreeWidget>("Failing cases").isVisible());
}

TEST_F(ReviewWindowTest, BadSuiteIsRefusedBeforeTheWindow) {
    write_text("s.json", R"({"cases": [{"name": "a", "images": "a.png", "unknown": 1}]})");
    EXPECT_THROW(open(), Error);
    EXPECT_EQ(window_, nullptr);
}

TEST_F(ReviewWindowTest, KeysAndMnemonicsOfAllActionsAreUnique) {
    prepare();
    start();
    std::map<QString, QString> holders;
    for (const ActionInfo& info : window().actions().all()) {
        for (const QKeySequence& keys : window().actions().find(info.id)->shortcuts()) {
            const auto [holder, is_new] = holders.emplace(keys.toString(), info.id);
            EXPECT_TRUE(is_new) << keys.toString().toStdString() << " of " << info.id.toStdString() << " and "
                                << holder->second.toStdString();
        }
    }
    bool has_menu = false;
    for (const QAction* menu : window().menuBar()->actions()) {
        has_menu |= menu->text() == "&Review";
        std::set<QString> mnemonics;
        for (const QAction* action : menu->menu()->actions()) {
            const QString mnemonic = QKeySequence::mnemonic(action->text()).toString();
            EXPECT_TRUE(mnemonic.isEmpty() || mnemonics.insert(mnemonic).second) << action->text().toStdString();
        }
    }
    EXPECT_TRUE(has_menu);
}

}  // namespace
}  // namespace texton::viewer::test
