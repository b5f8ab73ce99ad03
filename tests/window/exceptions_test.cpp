// Exceptions of actions, slots and event handlers, and files that cannot be shown: the window reports them and continues.
#include <QTimer>
#include <QTranslator>
#include <stdexcept>

#include "tests/window/panel_test.h"
#include "viewer/gui/application.h"
#include "viewer/gui/controls.h"

// Defined only in programs with the leak sanitizer.
extern "C" __attribute__((weak)) void __lsan_disable();
extern "C" __attribute__((weak)) void __lsan_enable();

namespace texton::viewer::test {
namespace {

// If the handler of a mouse event throws, Qt does not free the event's point and keeps a reference to the window. What is
// allocated while an object exists is no leak.
class LeaksOfQt {
public:
    LeaksOfQt() {
        if (__lsan_disable != nullptr) __lsan_disable();
    }
    ~LeaksOfQt() {
        if (__lsan_enable != nullptr) __lsan_enable();
    }
    LeaksOfQt(const LeaksOfQt&) = delete;
    LeaksOfQt& operator=(const LeaksOfQt&) = delete;
};

class ExceptionsTest : public WindowFixture {
protected:
    void SetUp() override {
        start({"card.png"});
        QObject::connect(&workspace(), &Workspace::told, &window(),
                         [this](const QString& text) { told_.append(text); });
    }
    QStringList told_;
};

TEST_F(ExceptionsTest, ExceptionOfAnActionIsShown) {
    window().actions().add({"fails", {}, "Fails", {}, {}, [] { throw std::runtime_error("the action failed"); }});
    window().actions().find("fails")->trigger();
    EXPECT_EQ(told_, QStringList{"the action failed"});
    window().actions().add({"lacks-memory", {}, "Lacks memory", {}, {}, [] { throw std::bad_alloc(); }});
    window().actions().find("lacks-memory")->trigger();
    EXPECT_EQ(told_.last(), "There is not enough memory.");
}

TEST_F(ExceptionsTest, ExceptionOfASlotOrAnEventHandlerIsShown) {
    class Fails : public QWidget {
    protected:
        void mousePressEvent(QMouseEvent*) override { throw std::runtime_error("the handler failed"); }
    } widget;
    testing::internal::CaptureStderr();
    {
        const LeaksOfQt leaks;
        widget.show();
        QTest::mouseClick(&widget, Qt::LeftButton);
    }
    QTimer::singleShot(0, &widget, [] { throw std::runtime_error("the slot failed"); });
    QTimer::singleShot(0, &widget, [] { throw 1; });
    settle();
    QCoreApplication::processEvents();
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(told_, (QStringList{"the handler failed", "the slot failed", "An unknown error occurred."}));
    for (const QString& why : told_)
        EXPECT_NE(printed.find("texton-view: " + why.toStdString() + "\n"), std::string::npos) << printed;
}

TEST_F(ExceptionsTest, FilesWhoseNamesDifferOnlyInBytesThatAreNotUtf8AreDifferentImages) {
    const QTemporaryDir folder;
    const std::filesystem::path base = folder.path().toStdString();
    std::filesystem::copy_file(asset("card.png"), base / "caf\xe8.png");
    std::filesystem::copy_file(asset("zone_plate.png"), base / "caf\xe9.png");
    workspace().open({{.paths = {base / "caf\xe8.png"}}, {.paths = {base / "caf\xe9.png"}}});
    settle();
    workspace().look([](Session& session) { session.current = 2; });
    settle();
    ASSERT_NE(workspace().document(1), nullptr);
    ASSERT_NE(workspace().document(2), nullptr);
    EXPECT_NE(workspace().document(1), workspace().document(2));
    EXPECT_EQ(workspace().document(2)->source().paths.front(), base / "caf\xe9.png");
}

TEST_F(ExceptionsTest, UnusualSessionsAreShownWithoutAnException) {
    const QTemporaryDir folder;
    const QString path = folder.filePath("s.json");
    const std::string images = R"({"device": "cpu", "images": [{"files": [")" + asset("card.png").string() +
                               R"("]}, {"files": [")" + asset("cube.dds").string() + R"("]}, {"files": ["gone.png"]}],
        "panels": ["files", "subresource", "inspector", "display", "sampler", "kernel", "compare", "footprint",
                   "probe", "inspector", "no such panel"], )";
    testing::internal::CaptureStderr();
    for (
        const char* rest :
        {R"("view": {"fits": false, "zoom": 1024, "x": 1e9, "y": -1e9}, "pins": [[1e9, -1e9], [-1e9, 1e9]])",
         R"("subresource": {"level": 2147483647, "layer": 9007199254740992, "face": 77, "slice": 9007199254740992,
             "plane": 99}, "selection": {"x": 9007199254740992, "y": 0, "width": 9007199254740992, "height": 0})",
         R"("current": 99, "reference": 98, "layout": "sphere", "sphere": {"yaw": 1e9, "pitch": -1e9})",
         R"("current": 1, "layout": "cross", "reading": "sampled", "lod_plane": {"shown": true, "repeats": 1e9, "tilt": 1e9})",
         R"("current": 1, "layout": "sphere", "lod_plane": {"shown": true, "repeats": 0}, "pins": [[3, 4]])",
         R"("kernel": {"name": "no such kernel", "parameters": {"x": [1e300]}, "more_inputs": [9007199254740992]})",
         R"("kernel": {"name": "gaussian", "parameters": {"sigma": 1e300, "radius": 1e300}, "more_inputs": [0, 1, 2]})",
         R"("kernel": {"name": "resample", "parameters": {"crop": [1e300, -1e300, 1e300, 1e300]}})",
         R"("display": {"exposure": 3e38, "gamma": -3e38, "low": 3e38, "high": -3e38, "false_color": "turbo"})",
         R"("reading": "sampled", "sampler": {"mip_bias": 3e38, "mip_min": 3e38, "mip_max": -3e38, "border": 3e38})",
         R"("footprint": {"fetch": "gradients", "longer": 1e9, "shorter": -1e9, "turn": 1e9}, "pins": [[1, 1]])",
         R"("probe": {"u": 3e38, "lod": -3e38, "line_from": [3e38, 0, 0], "plot_first": 1e9, "plot_last": -1e9},
             "footprint": {"fetch": "probe"})",
         R"("compare": {"mode": "wipe", "against": "sampler", "wipe": -1e9}, "second_sampler": {})",
         R"("current": 2, "compare": {"mode": "ulp", "against": "reference"}, "reference": 2)"}) {
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write((images + rest + "}").c_str());
        file.close();
        told_.clear();
        window().open_files({path});
        EXPECT_EQ(session().images.size(), 3u) << rest << told_.join(' ').toStdString();
        settle();
        EXPECT_FALSE(window().grab().isNull());
    }
    settle();
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.find("texton-view: "), std::string::npos) << printed;
}

// --- undo ------------------------------------------------------------------------------------------------------------

// Translates every text to the same word, as a language may do with two short texts.
class OneWord : public QTranslator {
public:
    bool isEmpty() const override { return false; }
    QString translate(const char*, const char*, const char*, int) const override { return "Wert %1 %2 %3 %4"; }
};

class UndoInAnotherLanguageTest : public WindowFixture {};

TEST_F(UndoInAnotherLanguageTest, ChangesOfDifferentControlsAreDifferentSteps) {
    OneWord translator;
    QCoreApplication::installTranslator(&translator);
    start({"card.png"});
    for (const char* id : {"display", "footprint"}) {
        window().show_panel(id, true);
        settle();
        const QList<NumberEdit*> fields = window().docks().at(id)->findChildren<NumberEdit*>();
        ASSERT_GE(fields.size(), 2) << id;
        std::vector<Session> steps{session()};
        for (NumberEdit* field : fields) {
            Q_EMIT field->edited(3.5);
            if (session() != steps.back()) steps.push_back(session());
        }
        ASSERT_GE(steps.size(), 3U) << id;
        for (auto step = steps.rbegin() + 1; step != steps.rend(); ++step) {
            workspace().undo();
            EXPECT_TRUE(session() == *step) << id << ": two changes were undone together";
        }
    }
    QCoreApplication::removeTranslator(&translator);
}

}  // namespace
}  // namespace texton::viewer::test
