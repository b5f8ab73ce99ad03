#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>

#include "tests/window/panel_test.h"
#include "viewer/gui/histogram_view.h"

namespace texton::viewer::test {
namespace {

class HistogramPanelTest : public PanelTest {
protected:
    QString text(const char* name) const { return find<QLabel>(name)->text(); }
    HistogramView* view() const { return panel_->findChild<HistogramView*>(); }
};

TEST_F(HistogramPanelTest, StatisticsMatchTheImage) {
    open("histogram", {"ramp_linear.exr"});
    EXPECT_EQ(text("R, Minimum"), "0");
    EXPECT_EQ(text("R, Maximum"), "1");
    EXPECT_EQ(text("First value of the histogram"), "0");
    EXPECT_TRUE(text("Note on the histogram").isEmpty());
    image("histogram");
}

TEST_F(HistogramPanelTest, StatisticsCanBeLimitedToTheSelection) {
    open("histogram", {"ramp_linear.exr"});
    auto* scope = find<QComboBox>("Scope");
    press(scope, Qt::Key_Down);
    EXPECT_TRUE(text("Note on the histogram").contains("Nothing is selected"));
    workspace_->change("Select", [](Session& session) { session.selection = TexelBox{51, 0, 1, 1}; });
    settle();
    EXPECT_EQ(text("R, Minimum"), "0.2");
    EXPECT_EQ(text("R, Mean"), "0.2");
    EXPECT_EQ(text("R, Maximum"), "0.2");
}

TEST_F(HistogramPanelTest, SpecialValuesAreCounted) {
    open("histogram", {"nan_and_inf.exr"});
    EXPECT_TRUE(text("NaN and infinite values").contains("NaN"));
    click(find<QCheckBox>("Logarithmic"));
    image("histogram_special");
}

TEST_F(HistogramPanelTest, DragSetsTheRangeAndMovesItsEdges) {
    open("histogram", {"card.png"});
    const int width = view()->width();
    const int center = view()->height() / 2;
    QElapsedTimer time;
    time.start();
    QTest::mousePress(view(), Qt::LeftButton, {}, {width / 4, center});
    QTest::mouseMove(view(), {width / 2, center});
    QTest::mouseRelease(view(), Qt::LeftButton, {}, {width / 2, center});
    settle();
    EXPECT_NEAR(session().display.low, 0.25, 0.01);
    EXPECT_NEAR(session().display.high, 0.5, 0.01);
    QTest::mousePress(view(), Qt::LeftButton, {}, {width / 2 + 2, center});
    QTest::mouseMove(view(), {width * 3 / 4, center});
    QTest::mouseRelease(view(), Qt::LeftButton, {}, {width * 3 / 4, center});
    settle();
    EXPECT_NEAR(session().display.low, 0.25, 0.01);
    EXPECT_NEAR(session().display.high, 0.75, 0.01);
    EXPECT_TRUE(view()->accessibleDescription().contains("White") || view()->accessibleDescription().contains("white"));
    if (time.elapsed() >= kTogether) return;
    workspace_->undo();
    EXPECT_EQ(session().display, Display{}) << "consecutive drags are one undo step";
}

TEST_F(HistogramPanelTest, KeysMoveTheRangeEdgesByOneBin) {
    open("histogram", {"card.png"});
    press(view(), Qt::Key_Left);
    EXPECT_FLOAT_EQ(session().display.high, 1 - 1 / 256.f);
    press(view(), Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_FLOAT_EQ(session().display.low, 1 / 256.f);
}

TEST_F(HistogramPanelTest, IntegerRangeIsAFractionOfTheFormatRange) {
    Session session = session_with({"card.png"});
    session.images[0].options.format = Format::rgba8_uint;
    open_session("histogram", session);
    EXPECT_EQ(text("R, Maximum"), "255");
    press(view(), Qt::Key_Left);
    EXPECT_FLOAT_EQ(this->session().display.high, 255 / 256.f);
}

TEST_F(HistogramPanelTest, MissingImageIsReported) {
    open("histogram", {});
    EXPECT_EQ(text("Note on the histogram"), "No image is shown.");
    press(view(), Qt::Key_Left);
    EXPECT_EQ(session().display, Display{});
}

}  // namespace
}  // namespace texton::viewer::test
