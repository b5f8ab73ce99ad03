#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScrollBar>

#include "tests/window/panel_test.h"

namespace texton::viewer::test {
namespace {

class InspectorPanelTest : public PanelTest {
protected:
    QString text(const char* name) const { return find<QLabel>(name)->text(); }
    void hover(double x, double y, const SubresourceIndex& subresource = {}) const {
        workspace_->hover(SeenTexel{subresource, {x, y}});
        settle();
    }
    void pin(double x, double y) const {
        workspace_->change("Pin", [=](Session& session) { session.pins.push_back({x, y}); });
        settle();
    }
    QPushButton* button(const QString& text) const {
        for (QPushButton* each : panel_->findChildren<QPushButton*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }
};

TEST_F(InspectorPanelTest, TexelUnderTheMouseIsShownInDecimalAndHexadecimal) {
    open("inspector", {"card.png"});
    EXPECT_EQ(text("Message"), "Point at a texel, or pin one.");
    hover(20.5, 10.25);
    EXPECT_EQ(text("Texel"), "(20, 10)");
    EXPECT_EQ(text("R, Stored"), "255\n0xff");
    EXPECT_EQ(text("R, Sampled"), "1\n0x3f800000");
    EXPECT_EQ(text("R, Shown"), "255\n0xff");
    EXPECT_EQ(text("G, Stored"), "0\n0x00");
    EXPECT_TRUE(text("Coordinates").contains("481 x 321"));
    image("inspector");
}

TEST_F(InspectorPanelTest, LevelAndFaceAreShown) {
    open("inspector", {"cube.dds"});
    hover(3, 4, {.level = 1, .face = 5});
    EXPECT_EQ(text("Texel"), "(3, 4), level 1, face -z");
}

TEST_F(InspectorPanelTest, CompressedTexelHasBytesButNoStoredChannels) {
    open("inspector", {"bc7.dds"});
    hover(9, 9);
    EXPECT_EQ(text("R, Stored"), "");
    EXPECT_NE(text("R, Sampled"), "");
    EXPECT_TRUE(text("Format and bytes").contains("block"));
    image("inspector_block");
}

TEST_F(InspectorPanelTest, LastPinTakesPrecedenceOverTheMouse) {
    open("inspector", {"card.png"});
    pin(20.5, 10.5);
    pin(100.5, 200.5);
    hover(1, 1);
    EXPECT_EQ(text("Texel"), "(100, 200)");
    const auto* pins = find<QListWidget>("Pins");
    ASSERT_EQ(pins->count(), 2);
    EXPECT_EQ(pins->item(0)->text(), "(20, 10)  1 0 0 1");
}

TEST_F(InspectorPanelTest, PinsAreShownRemovedAndClearedWithKeys) {
    open("inspector", {"card.png"});
    for (const double x : {10.5, 20.5, 30.5}) pin(x, 10.5);
    auto* pins = find<QListWidget>("Pins");
    pins->setCurrentRow(0);
    press(pins, Qt::Key_Return);
    EXPECT_EQ(session().view.center, (Position{10.5, 10.5}));
    EXPECT_GE(session().view.zoom, 8);
    EXPECT_EQ(session().pins.back(), (Position{10.5, 10.5}));
    EXPECT_EQ(session().pins.size(), 3u) << "a pinned position is not pinned again";
    pins->setCurrentRow(1);
    press(pins, Qt::Key_Delete);
    EXPECT_EQ(session().pins, (std::vector<Position>{{20.5, 10.5}, {10.5, 10.5}}));
    click(button("Clear"));
    EXPECT_TRUE(session().pins.empty());
    click(button("Pin center"));
    EXPECT_EQ(session().pins.size(), 1u);
}

TEST_F(InspectorPanelTest, PinsWithLongNumbersWrapWithoutBeingCutOff) {
    open("inspector", {"sky.exr"});
    pin(20.5, 10.5);
    const auto* pins = find<QListWidget>("Pins");
    EXPECT_FALSE(pins->horizontalScrollBar()->isVisible());
    EXPECT_GT(pins->visualItemRect(pins->item(0)).height(), 2 * pins->fontMetrics().lineSpacing() - 4);
    EXPECT_LE(pins->visualItemRect(pins->item(0)).width(), pins->viewport()->width());
}

TEST_F(InspectorPanelTest, TexelAndPinsAreCopiedAsText) {
    open("inspector", {"card.png"});
    pin(20.5, 10.5);
    click(button("Copy as text"));
    const QString copied = QApplication::clipboard()->text();
    EXPECT_TRUE(copied.startsWith("(20, 10)\nrgba8_srgb, bytes ff 00 00 ff\n")) << copied.toStdString();
    EXPECT_TRUE(copied.contains("R  stored 255 0xff  sampled 1 0x3f800000  shown 255\n")) << copied.toStdString();
    EXPECT_TRUE(copied.endsWith("(20, 10)  1 0 0 1\n")) << copied.toStdString();
}

TEST_F(InspectorPanelTest, UnreadableImageIsExplained) {
    open("inspector", {"missing.png"});
    EXPECT_EQ(text("Message"), "The image cannot be shown.") << "the window says why";
    EXPECT_FALSE(button("Copy as text")->isVisible());
    workspace_->close(0);
    settle();
    EXPECT_EQ(text("Message"), "No image is shown.");
}

TEST_F(InspectorPanelTest, EveryAssetHasATexelToInspect) {
    open("inspector", {"odd_1x1.png", "nan_and_inf.exr", "layers.dds", "phantom.dds", "levels.exr", "bc4.dds",
                       "bc5_snorm.dds", "bc6h.dds", "sky.exr"});
    for (std::size_t i = 0; i < session().images.size(); ++i) {
        workspace_->change("Show", [i](Session& session) { session.current = i; });
        settle();
        hover(0, 0);
        hover(1e9, 1e9);
        EXPECT_EQ(text("Message"), "") << i;
        EXPECT_NE(text("R, Sampled"), "") << i;
    }
}

}  // namespace
}  // namespace texton::viewer::test
