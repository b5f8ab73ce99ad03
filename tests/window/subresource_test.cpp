#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>

#include "tests/window/panel_test.h"

namespace texton::viewer::test {
namespace {

class SubresourcePanelTest : public PanelTest {
protected:
    bool shows(const QString& name) const {
        for (const QWidget* widget : panel_->findChildren<QWidget*>()) {
            if (widget->accessibleName() == name)
                return widget->isVisible() && widget->height() > 0 && widget->parentWidget()->height() > 0;
        }
        return false;
    }
};

TEST_F(SubresourcePanelTest, OnlyControlsThatApplyToTheImageAreShown) {
    open("subresource", {"card.png", "levels.dds", "cube.dds", "phantom.dds", "layers.dds"});
    const std::vector<std::vector<QString>> expected{{}, {"Level"}, {"Level", "Face"}, {"Slice"}, {"Layer"}};
    for (const std::size_t i : std::vector<std::size_t>{0, 1, 2, 3, 4, 2, 1, 3}) {
        workspace_->change("Show", [i](Session& session) { session.current = i; });
        settle();
        for (const QString name : {"Level", "Layer", "Face", "Slice", "Plane"}) {
            const bool is_expected = std::ranges::find(expected[i], name) != expected[i].end();
            EXPECT_EQ(shows(name), is_expected) << i << " " << name.toStdString();
        }
        EXPECT_EQ(shows("Play"), !expected[i].empty()) << i;
    }
    workspace_->change("Show", [](Session& session) { session.current = 2; });
    settle();
    image("subresource");
}

TEST_F(SubresourcePanelTest, PlaneOfAPlanarImageCanBeSelected) {
    Session session = session_with({"nv12_128x72.yuv"});
    session.images[0].options.raw = RawFrames{.format = Format::nv12, .extent = {128, 72}};
    open_session("subresource", session);
    press(find<QComboBox>("Plane"), Qt::Key_Down);
    EXPECT_EQ(this->session().subresource.plane, 1);
    EXPECT_EQ(find<QLabel>("Size, format and kind")->text(), "64 x 36 of rg8_unorm, planar nv12");
}

TEST_F(SubresourcePanelTest, EverySubresourceCanBeSelectedWithKeys) {
    open("subresource", {"cube.dds", "phantom.dds", "layers.dds"});
    press(find<QSpinBox>("Level"), Qt::Key_Up);
    EXPECT_EQ(session().subresource.level, 1);
    press(find<QComboBox>("Face"), Qt::Key_End);
    EXPECT_EQ(session().subresource.face, 5);
    workspace_->change("Show", [](Session& session) { session.current = 1; });
    settle();
    press(find<QSlider>("Slice, slider"), Qt::Key_End);
    EXPECT_EQ(session().subresource.slice, 35u);
    press(find<QSpinBox>("Slice"), Qt::Key_Up);
    EXPECT_EQ(session().subresource.slice, 0u) << "the last slice is followed by the first";
    workspace_->change("Show", [](Session& session) { session.current = 2; });
    settle();
    press(find<QSpinBox>("Layer"), Qt::Key_Up);
    EXPECT_EQ(session().subresource.layer, 1u);
}

TEST_F(SubresourcePanelTest, LayoutCanBeSelectedForImagesWithSeveralParts) {
    open("subresource", {"cube.dds"});
    auto* layout = find<QComboBox>("Layout");
    press(layout, Qt::Key_End);
    EXPECT_EQ(session().layout, Layout::sphere);
    workspace_->undo();
    settle();
    EXPECT_EQ(layout->currentIndex(), 0);
    workspace_->open({{.paths = {asset("card.png")}, .options = {}}});
    settle();
    press(layout, Qt::Key_End);
    EXPECT_EQ(session().layout, Layout::single) << "a 2D image has no other layout";
}

TEST_F(SubresourcePanelTest, PlaybackStepsThroughTheSlicesAndAddsNoUndoStep) {
    open("subresource", {"phantom.dds"});
    find<QSpinBox>("Images per second")->setValue(60);
    auto* play = find<QToolButton>("Play");
    click(play);
    EXPECT_TRUE(QTest::qWaitFor([&] { return session().subresource.slice >= 3; }, kPatience));
    click(find<QToolButton>("Stop"));
    const std::size_t stopped = session().subresource.slice;
    QTest::qWait(60);
    EXPECT_EQ(session().subresource.slice, stopped);
    EXPECT_FALSE(workspace_->history().can_undo());
    click(play);
    panel_->hide();
    EXPECT_FALSE(play->isChecked()) << "a hidden panel does not play";
}

TEST_F(SubresourcePanelTest, MissingImageIsReported) {
    open("subresource", {});
    EXPECT_EQ(find<QLabel>("Size, format and kind")->text(), "No image is shown.");
    EXPECT_FALSE(shows("Level"));
}

}  // namespace
}  // namespace texton::viewer::test
