#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>

#include "tests/window/panel_test.h"
#include "viewer/gui/controls.h"
#include "viewer/render/color_transform.h"

namespace texton::viewer::test {
namespace {

class DisplayPanelTest : public PanelTest {
protected:
    const Display& display() const { return session().display; }
};

using Channels = std::array<bool, 4>;

TEST_F(DisplayPanelTest, ClickTogglesAChannelAndRightClickIsolatesAChannel) {
    open("display", {"card.png"});
    click(find<QToolButton>("Green"));
    EXPECT_EQ(display().channels, (Channels{true, false, true, true}));
    click(find<QToolButton>("Red"), Qt::RightButton);
    EXPECT_EQ(display().channels, (Channels{true, false, false, false}));
    EXPECT_TRUE(find<QToolButton>("Red")->isChecked());
    EXPECT_FALSE(find<QToolButton>("Blue")->isChecked());
    press(find<QToolButton>("Red"), Qt::Key_Space, Qt::ShiftModifier);
    EXPECT_EQ(display().channels, (Channels{true, true, true, true}));
    press(find<QToolButton>("Luminance"), Qt::Key_Space);
    EXPECT_TRUE(display().luminance);
}

TEST_F(DisplayPanelTest, NumbersAreChangedByTypingKeysAndSliders) {
    open("display", {"card.png"});
    type<NumberEdit>("Exposure", "-1.25");
    EXPECT_EQ(display().exposure, -1.25f);
    press(find<NumberEdit>("Exposure"), Qt::Key_Up);
    EXPECT_FLOAT_EQ(display().exposure, -1.15f);
    press(find<QSlider>("Exposure, slider"), Qt::Key_End);
    EXPECT_EQ(display().exposure, 10);
    type<NumberEdit>("Gamma", "2.2");
    EXPECT_FLOAT_EQ(display().gamma, 2.2f);
    type<NumberEdit>("Gamma", "-3");
    EXPECT_FLOAT_EQ(display().gamma, 2.2f) << "a negative gamma is rejected";
    EXPECT_EQ(find<NumberEdit>("Gamma")->text(), "2.2");
    type<NumberEdit>("White", "1e3");
    EXPECT_EQ(display().high, 1000);
    type<NumberEdit>("Black", "not a number");
    EXPECT_EQ(display().low, 0);
}

TEST_F(DisplayPanelTest, SliderDragIsUndoneInOneStep) {
    open("display", {"card.png"});
    auto* slider = find<QSlider>("Gamma, slider");
    QElapsedTimer time;
    time.start();
    for (int i = 0; i < 5; ++i) press(slider, Qt::Key_Right);
    EXPECT_NE(display().gamma, 1);
    if (time.elapsed() >= kTogether) return;
    workspace_->undo();
    settle();
    EXPECT_EQ(display().gamma, 1);
    EXPECT_EQ(find<NumberEdit>("Gamma")->text(), "1");
}

TEST_F(DisplayPanelTest, RangeFitsTheSelectionOrTheWholeImage) {
    open("display", {"ramp_linear.exr"});
    click(find<QPushButton>("Fit range to all"));
    EXPECT_EQ(display().low, 0);
    EXPECT_EQ(display().high, 1);
    EXPECT_FALSE(find<QPushButton>("Fit range to selection")->isEnabled());
    workspace_->change("Select", [](Session& session) { session.selection = TexelBox{64, 0, 128, 1}; });
    settle();
    click(find<QPushButton>("Fit range to selection"));
    EXPECT_FLOAT_EQ(display().low, 64 / 255.f);
    EXPECT_FLOAT_EQ(display().high, 191 / 255.f);
    workspace_->undo();
    EXPECT_EQ(display().high, 1);
}

TEST_F(DisplayPanelTest, FittedRangeIsFiniteForImagesWithNanAndInfinity) {
    open("display", {"nan_and_inf.exr"});
    click(find<QPushButton>("Fit range to all"));
    EXPECT_TRUE(std::isfinite(display().low));
    EXPECT_TRUE(std::isfinite(display().high));
    EXPECT_LT(display().low, display().high);
}

TEST_F(DisplayPanelTest, FalseColorsMarksAndResetWork) {
    open("display", {"card.png"});
    auto* colors = find<QComboBox>("False color");
    press(colors, Qt::Key_Down);
    EXPECT_EQ(display().false_color, FalseColor::viridis);
    press(find<QCheckBox>("Mark NaN and infinities"), Qt::Key_Space);
    EXPECT_FALSE(display().mark_nan);
    press(find<QCheckBox>("Mark values out of range"), Qt::Key_Space);
    EXPECT_TRUE(display().mark_range);
    image("display");
    for (QPushButton* button : panel_->findChildren<QPushButton*>()) {
        if (button->text() == "Reset display") click(button);
    }
    EXPECT_EQ(display(), Display{});
    EXPECT_EQ(colors->currentIndex(), 0);
}

TEST_F(DisplayPanelTest, ToneCurveAndZebraAreChosen) {
    open("display", {"ramp_linear.exr"});
    press(find<QComboBox>("Tone curve"), Qt::Key_End);
    EXPECT_EQ(display().tone_curve, ToneCurve::filmic);
    press(find<QCheckBox>("Zebra"), Qt::Key_Space);
    EXPECT_TRUE(display().zebra);
}

TEST_F(DisplayPanelTest, ColorConversionIsChosenByNamesOfTheConfigAndUndone) {
    if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
    unsetenv("OCIO");
    open("display", {"ramp_linear.exr"});
    auto* space = find<QComboBox>("Color space of the image");
    EXPECT_EQ(space->currentText(), "none");
    EXPECT_FALSE(find<QComboBox>("Color view")->isEnabled());
    space->setCurrentIndex(space->findText("ACEScg"));
    settle();
    EXPECT_EQ(display().color, (ColorConversion{.input = "ACEScg"}));
    EXPECT_TRUE(find<QComboBox>("Color view")->isEnabled());
    press(find<QComboBox>("Color display"), Qt::Key_End);
    press(find<QComboBox>("Color view"), Qt::Key_Down);
    EXPECT_EQ(display().color, (ColorConversion{.input = "ACEScg", .display = "Display P3", .view = "ACES SDR Video"}));
    image("display_color");
    press(space, Qt::Key_Home);
    EXPECT_EQ(display().color.input, "");
    workspace_->undo();
    settle();
    EXPECT_EQ(space->currentText(), "ACEScg");
}

TEST_F(DisplayPanelTest, SaysWhetherTheCanvasUsesATableAndHowLargeItsErrorIs) {
    if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
    unsetenv("OCIO");
    open("display", {"ramp_linear.exr"});
    choose("Color space of the image", "ACEScg");
    const auto text = [this] { return find<QLabel>("Accuracy of the colors")->text().toStdString(); };
    const auto measured = [this](float error) {
        workspace_->set_color_table(ColorTableError{color_transform(display().color), error});
        settle();
    };
    EXPECT_EQ(text(), "") << "images on the CPU device have exact colors";
    measured(0.1134f);
    EXPECT_EQ(text(), "The canvas converts colors by a table. Measured error: 0.11 of 255.");
    image("display_color_table");
    click(find<QToolButton>("Luminance"));
    EXPECT_EQ(text(), "") << "luminance is not converted";
    click(find<QToolButton>("Luminance"));
    measured(5.4f);
    EXPECT_EQ(text(), "The canvas converts colors exactly. A table would have an error of 5.4 of 255.");
    choose("Color space of the image", "none");
    EXPECT_EQ(text(), "");
}

TEST_F(DisplayPanelTest, UnusableColorConfigIsReportedWithItsName) {
    if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
    open("display", {"card.png"});
    type<QLineEdit>("Color config", "/missing.ocio");
    EXPECT_EQ(display().color.config, "/missing.ocio");
    EXPECT_TRUE(find<QLabel>("Problem with the color conversion")->text().contains("/missing.ocio"));
    auto* config = find<QLineEdit>("Color config");
    config->selectAll();
    press(config, Qt::Key_Delete);
    press(config, Qt::Key_Return);
    EXPECT_EQ(display().color, ColorConversion{});
    EXPECT_EQ(find<QLabel>("Problem with the color conversion")->text(), "");
}

TEST_F(DisplayPanelTest, TheProfileOfTheFileCanBeTheInput) {
    if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
    open("display", {"card.png"});
    choose("Color space of the image", kFileProfile);
    EXPECT_EQ(display().color.input, kFileProfile);
    EXPECT_TRUE(find<QLabel>("Problem with the color conversion")->text().contains("has no ICC profile"));
    choose("Color space of the image", "sRGB");
    EXPECT_EQ(find<QLabel>("Problem with the color conversion")->text(), "");
}

TEST_F(DisplayPanelTest, RangeCannotBeFittedWithoutAnImage) {
    open("display", {});
    EXPECT_FALSE(find<QPushButton>("Fit range to all")->isEnabled());
    type<NumberEdit>("Exposure", "2");
    EXPECT_EQ(display().exposure, 2);
}

}  // namespace
}  // namespace texton::viewer::test
