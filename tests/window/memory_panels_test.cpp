// The panels reproduce, kinds, timeline and round trip with mouse and keyboard input.
#include <QClipboard>
#include <QGuiApplication>

#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"
#include "viewer/gui/panels/byte_map.h"
#include "viewer/gui/panels/kind_matrix.h"
#include "viewer/gui/panels/reproduce.h"
#include "viewer/gui/panels/round_trip.h"
#include "viewer/gui/panels/timeline.h"

namespace texton::viewer {
namespace {

class MemoryPanelsTest : public test::WindowFixture {};

TEST_F(MemoryPanelsTest, ReproducePanelFollowsTheViewAndCopiesCommands) {
    start({"card.png"});
    ReproducePanel& reproduce = panel<ReproducePanel>("reproduce");
    settle();
    auto* commands = reproduce.findChild<QPlainTextEdit*>("commands");
    EXPECT_TRUE(commands->toPlainText().contains("texton convert"));
    workspace().change("Zoom", [](Session& session) {
        session.fits = false;
        session.view = {64, {100, 100}};
    });
    settle();
    EXPECT_TRUE(commands->toPlainText().contains("crop="));
    workspace().change("Kernel", [](Session& session) { session.kernel.name = "median"; });
    settle();
    EXPECT_TRUE(commands->toPlainText().contains("texton run median"));
    EXPECT_TRUE(reproduce.findChild<QPlainTextEdit*>("program")->toPlainText().contains("kernel_named(\"median\")"));
    // The session text of the panel must parse to the same session.
    const std::string json = reproduce.findChild<QPlainTextEdit*>("session")->toPlainText().toStdString();
    EXPECT_EQ(session_of(json, "the panel"), session());
    reproduce.findChild<QPushButton*>("copy-commands")->click();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), commands->toPlainText());
}

TEST_F(MemoryPanelsTest, KindMeasurementsRunInSequenceAndCanBeStopped) {
    start({"odd_7x5.png"});
    KindMatrixPanel& kinds = panel<KindMatrixPanel>("kinds");
    auto* table = kinds.findChild<QTableWidget*>("table");
    auto* run = kinds.findChild<QPushButton*>("run");
    QTest::mouseClick(run, Qt::LeftButton);
    settle();
    for (int row = 0; row < table->rowCount(); ++row) {
        ASSERT_NE(table->item(row, 0), nullptr) << row;
        EXPECT_FALSE(table->item(row, 0)->text().isEmpty());
    }
    table->setCurrentCell(5, 0);  // a cubemap of 7 x 5
    EXPECT_EQ(table->item(5, 0)->text(), "-");
    EXPECT_TRUE(kinds.findChild<QLabel*>("details")->text().contains("texton::Array"));
    QTest::mouseClick(run, Qt::LeftButton);
    QTest::mouseClick(run, Qt::LeftButton);
    settle();
    EXPECT_EQ(table->item(table->rowCount() - 1, 0), nullptr);
    EXPECT_FALSE(run->text().contains("Stop"));
}

TEST_F(MemoryPanelsTest, TimelineListsTheLoadStepsAndTheKernel) {
    start({"card.png"});
    TimelinePanel& timeline = panel<TimelinePanel>("timeline");
    settle();
    auto* table = timeline.findChild<QTableWidget*>("table");
    const std::size_t steps = workspace().document()->timing().steps.size();
    ASSERT_GT(steps, 0u);
    EXPECT_EQ(table->rowCount(), static_cast<int>(steps * 4));
    EXPECT_TRUE(timeline.findChild<QLabel*>("summary")->text().contains("64 MiB"));
    workspace().change("Kernel", [](Session& session) { session.kernel.name = "median"; });
    settle();
    EXPECT_EQ(table->rowCount(), static_cast<int>(steps * 4 + 1));
    auto* view = timeline.findChild<TimelineView*>();
    const double span = view->end() - view->begin();
    view->setFocus();
    QTest::keyClick(view, Qt::Key_Plus);
    EXPECT_LT(view->end() - view->begin(), span);
    QTest::keyClick(view, Qt::Key_F);
    EXPECT_DOUBLE_EQ(view->end() - view->begin(), span);
}

TEST_F(MemoryPanelsTest, RoundTripPassesAndADamagedByteOpensTheByteMap) {
    start({"levels.dds"});
    ByteMap& map = panel<ByteMap>("byte-map");
    RoundTripPanel& trip = panel<RoundTripPanel>("round-trip");
    auto* run = trip.findChild<QPushButton*>("run");
    auto* verdict = trip.findChild<QLabel*>("verdict");
    QTest::mouseClick(run, Qt::LeftButton);
    settle();
    EXPECT_TRUE(verdict->text().contains("bytes are unchanged")) << verdict->text().toStdString();
    EXPECT_EQ(trip.findChild<QTableWidget*>("table")->rowCount(), 8);  // levels of 128 x 64
    EXPECT_TRUE(session().pins.empty());
    trip.findChild<QCheckBox*>("damage")->click();
    QTest::mouseClick(run, Qt::LeftButton);
    settle();
    EXPECT_TRUE(verdict->text().contains("1 of")) << verdict->text().toStdString();
    ASSERT_EQ(session().pins.size(), 1u);
    EXPECT_EQ(session().pins.front(), (Position{0.5, 32.5}));  // half of the level's bytes
    EXPECT_EQ(map.findChild<BytesView*>()->selected(), 32u * 512);
    workspace().undo();
    EXPECT_TRUE(session().pins.empty());
}

TEST_F(MemoryPanelsTest, EveryPanelAcceptsEveryAsset) {
    start(Session{});
    for (const PanelInfo& each : panels()) window().show_panel(each.id, true);
    settle();
    for (const char* name : {"odd_1x1.png", "bc6h.dds", "cube.dds", "layers.dds", "phantom.dds", "nan_and_inf.exr",
                             "levels.exr", "README.md"}) {
        Session next = test::session_with({name});
        next.panels = session().panels;
        workspace().replace("Another", next);
        settle();
        for (const PanelInfo& each : panels()) EXPECT_FALSE(window().docks().at(each.id)->widget()->grab().isNull());
    }
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::layered_1d, ArrayKind::cubemap_layered}) {
        Session next = test::session_with({kind == ArrayKind::cubemap_layered ? "cube.dds" : "odd_2x1.png"});
        next.images[0].options.kind = kind;
        next.panels = session().panels;
        workspace().replace("Another", next);
        settle();
    }
}

}  // namespace
}  // namespace texton::viewer
