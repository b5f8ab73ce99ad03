#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QListWidget>

#include "tests/window/panel_test.h"
#include "viewer/gui/controls.h"

namespace texton::viewer::test {
namespace {

class ComparePanelTest : public PanelTest {
protected:
    QString text(const char* name) const { return find<QLabel>(name)->text(); }
};

TEST_F(ComparePanelTest, ModeReferenceAndWipeCanBeSelected) {
    open("compare", {"card.png", "zone_plate.png"});
    EXPECT_EQ(text("Note on the comparison"), "Choose a mode to compare.");
    choose("Mode", "difference");
    EXPECT_EQ(session().compare.mode, CompareMode::difference);
    EXPECT_EQ(text("Note on the comparison"), "Choose a reference.");
    choose("Reference", "zone_plate.png");
    EXPECT_EQ(session().reference, 1u);
    EXPECT_TRUE(text("Note on the comparison").startsWith("Only the common 255 x 255"))
        << text("Note on the comparison").toStdString();
    EXPECT_FALSE(find<NumberEdit>("Wipe")->isEnabled());
    choose("Mode", "wipe");
    type<NumberEdit>("Wipe", "0.25");
    EXPECT_EQ(session().compare.wipe, 0.25);
    image("compare");
}

TEST_F(ComparePanelTest, ImageEqualsItself) {
    open("compare", {"card.png"});
    choose("Mode", "difference");
    choose("Reference", "card.png");
    EXPECT_EQ(text("Differing"), "0 of 154401");
    EXPECT_EQ(text("PSNR"), "inf dB");
    EXPECT_EQ(text("SSIM"), "1");
    EXPECT_EQ(text("FLIP"), "not computed");
    EXPECT_TRUE(find<QListWidget>("Worst texels")->isHidden());
    press(find<QCheckBox>("Compute FLIP"), Qt::Key_Space);
    EXPECT_EQ(text("FLIP"), "0, max 0");
}

TEST_F(ComparePanelTest, WorstTexelIsShownOnTheCanvas) {
    open("compare", {"bc7.dds", "ball.png"});
    choose("Mode", "absolute");
    choose("Reference", "ball.png");
    auto* worst = find<QListWidget>("Worst texels");
    ASSERT_GT(worst->count(), 2);
    worst->setCurrentRow(1);
    press(worst, Qt::Key_Return);
    ASSERT_EQ(session().pins.size(), 1u);
    const QString subresource =
        QString("(%1, %2)").arg(static_cast<int>(session().pins[0].x)).arg(static_cast<int>(session().pins[0].y));
    EXPECT_TRUE(worst->item(1)->text().startsWith(subresource)) << subresource.toStdString();
    EXPECT_EQ(session().view.center, session().pins[0]);
    image("compare_worst");
}

TEST_F(ComparePanelTest, SamplerMetricsCoverTheVisiblePixels) {
    Session session = session_with({"odd_7x5.png"});
    session.sampler = Sampler{.filter = Filter::point};
    session.second_sampler = Sampler{.filter = Filter::linear};
    session.fits = false;
    session.view = {8, {3.5, 2.5}};
    open_session("compare", session);
    choose("Mode", "difference");
    choose("Against", "sampler");
    EXPECT_FALSE(find<QComboBox>("Reference")->isEnabled());
    EXPECT_EQ(text("Note on the comparison"), "The samplers were compared at the 56 x 40 visible pixels.");
    EXPECT_TRUE(text("Differing").endsWith("of 2240"));
    EXPECT_GT(text("Differing").split(' ').front().toInt(), 1000);
    EXPECT_GT(text("Maximum").toDouble(), 0);
    EXPECT_TRUE(text("PSNR").endsWith(" dB"));
    EXPECT_GT(text("Maximum ulps").toUInt(), 0u);
    auto* worst = find<QListWidget>("Worst texels");
    ASSERT_EQ(worst->count(), 20);
    image("compare_samplers");
    press(worst, Qt::Key_Return);
    ASSERT_EQ(this->session().pins.size(), 1u);
    workspace_->change("Equal", [](Session& to) { to.second_sampler = to.sampler; });
    settle();
    EXPECT_TRUE(text("Differing").startsWith("0 of "));
    EXPECT_EQ(text("PSNR"), "inf dB");
}

TEST_F(ComparePanelTest, InvalidSecondSamplerIsExplained) {
    Session session = session_with({"card.png"});
    session.second_sampler = Sampler{.address = {AddressMode::wrap, AddressMode::clamp, AddressMode::clamp}};
    session.compare = {.mode = CompareMode::difference, .against = Against::sampler};
    open_session("compare", session);
    EXPECT_TRUE(text("Note on the comparison").contains("needs normalized coordinates"))
        << text("Note on the comparison").toStdString();
}

TEST_F(ComparePanelTest, MissingSecondDeviceIsReported) {
    open("compare", {"card.png"});
    choose("Mode", "difference");
    choose("Against", "device");
    const bool another = workspace_->other_device().has_value();
    EXPECT_EQ(text("Note on the comparison") == "This computer has no other device.", !another);
}

TEST_F(ComparePanelTest, MissingImageIsReported) {
    open("compare", {});
    choose("Mode", "difference");
    EXPECT_EQ(text("Note on the comparison"), "No image is shown.");
}

}  // namespace
}  // namespace texton::viewer::test
