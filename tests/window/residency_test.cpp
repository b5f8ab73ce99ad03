// The panels residency map and deferred steps with mouse and keyboard input.
#include "viewer/gui/panels/residency.h"

#include <algorithm>

#include "tests/window/fixture.h"
#include "viewer/gui/panels/deferred.h"

namespace texton::viewer {
namespace {

class ResidencyPanelTest : public test::WindowFixture {
protected:
    void open(const std::vector<std::string>& assets) {
        start(assets);
        panel_ = &panel<ResidencyPanel>("residency");
        tiles_ = panel_->findChild<TileView*>();
        settle();
    }

    std::size_t mapped() const {
        std::size_t count = 0;
        for (const std::vector<bool>& table : tiles_->residency())
            count += static_cast<std::size_t>(std::ranges::count(table, true));
        return count;
    }
    QString numbers() const { return panel_->findChild<QLabel*>("numbers")->text(); }
    void press(const char* name) {
        panel_->findChild<QPushButton*>(name)->click();
        settle();
    }

    ResidencyPanel* panel_ = nullptr;
    TileView* tiles_ = nullptr;
};

TEST_F(ResidencyPanelTest, ClickMapsATileAndUndoUnmapsTheTile) {
    open({"card.png"});  // 4 x 3 tiles of 128 x 128
    press("unmap-all");
    EXPECT_EQ(mapped(), 0u);
    EXPECT_TRUE(numbers().contains("100.0 %")) << numbers().toStdString();
    const TileView::Tile tile{0, 5};
    QTest::mouseClick(tiles_, Qt::LeftButton, {}, tiles_->rectangle(tile).center());
    settle();
    EXPECT_EQ(mapped(), 1u);
    EXPECT_TRUE(tiles_->residency()[0][5]);
    EXPECT_EQ(tiles_->chosen(), tile);
    ASSERT_FALSE(workspace().outlines().empty());
    EXPECT_EQ(workspace().outlines().back().x, 128);
    EXPECT_EQ(workspace().outlines().back().y, 128);
    press("undo");
    EXPECT_EQ(mapped(), 0u);
    press("redo");
    EXPECT_EQ(mapped(), 1u);
    press("map-all");
    EXPECT_EQ(mapped(), 12u);
    EXPECT_TRUE(numbers().contains("0.0 %")) << numbers().toStdString();
    press("undo");
    EXPECT_EQ(mapped(), 1u);
}

TEST_F(ResidencyPanelTest, DragMapsTheCrossedTilesInOneChange) {
    open({"card.png"});
    press("unmap-all");
    QTest::mousePress(tiles_, Qt::LeftButton, {}, tiles_->rectangle({0, 0}).center());
    for (const std::size_t i : {1u, 2u, 3u}) {
        const QPoint at = tiles_->rectangle({0, i}).center();
        QMouseEvent move(QEvent::MouseMove, at, tiles_->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(tiles_, &move);
    }
    QTest::mouseRelease(tiles_, Qt::LeftButton, {}, tiles_->rectangle({0, 3}).center());
    settle();
    EXPECT_EQ(mapped(), 4u);
    press("undo");
    EXPECT_EQ(mapped(), 0u);
}

TEST_F(ResidencyPanelTest, KeysSelectAndMapTiles) {
    open({"card.png"});
    press("unmap-all");
    tiles_->setFocus();
    for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Down, Qt::Key_Space}) QTest::keyClick(tiles_, key);
    settle();
    EXPECT_TRUE(tiles_->residency()[0][5]);
    EXPECT_EQ(mapped(), 1u);
}

TEST_F(ResidencyPanelTest, MipTailCanBeMappedAndKindsWithoutTilesAreExplained) {
    open({"levels.dds", "cube.dds"});
    ASSERT_FALSE(tiles_->residency().empty());
    press("unmap-all");
    const std::size_t tail = tiles_->residency().size() - 1;
    QTest::mouseClick(tiles_, Qt::LeftButton, {}, tiles_->rectangle({tail, 0}).center());
    settle();
    EXPECT_TRUE(tiles_->residency()[tail][0]);
    workspace().change("Next", [](Session& session) { session.current = 1; });
    settle();
    EXPECT_FALSE(tiles_->isVisible());
    EXPECT_TRUE(panel_->findChild<QLabel*>("words")->text().contains("sparse"));
    workspace().undo();
    settle();
    EXPECT_TRUE(tiles_->isVisible());
}

class DeferredPanelTest : public test::WindowFixture {};

TEST_F(DeferredPanelTest, InvalidStepsAreDisabledWithTheReason) {
    start({"card.png"});
    DeferredPanel& deferred = panel<DeferredPanel>("deferred");
    settle();
    const auto button = [&](const char* name) { return deferred.findChild<QPushButton*>(name); };
    const auto press = [&](const char* name) {
        ASSERT_TRUE(button(name)->isEnabled()) << name;
        QTest::mouseClick(button(name), Qt::LeftButton);
        settle();
    };
    EXPECT_TRUE(button("create")->isEnabled());
    EXPECT_FALSE(button("upload")->isEnabled());
    press("create");
    EXPECT_TRUE(deferred.findChild<QLabel*>("why-upload")->text().contains("has no memory"));
    for (const char* step : {"requirements", "back", "upload", "sample", "move", "sample"}) press(step);
    auto* log = deferred.findChild<QPlainTextEdit*>("log");
    EXPECT_TRUE(log->toPlainText().contains("same as the image"));
    EXPECT_EQ(log->toPlainText().count('\n'), 6);
    EXPECT_TRUE(deferred.findChild<QLabel*>("why-upload")->isHidden());
    press("unmap");
    EXPECT_FALSE(button("sample")->isEnabled());
    press("again");
    EXPECT_TRUE(button("create")->isEnabled());
    EXPECT_TRUE(log->toPlainText().isEmpty());
}

}  // namespace
}  // namespace texton::viewer
