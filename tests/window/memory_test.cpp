// What the window keeps in memory: tiles of a picture that is far larger than the canvas, and pictures that are closed.
#include <algorithm>

#include "tests/window/fixture.h"
#include "viewer/gui/canvas_tiles.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(CanvasMemoryTest, TilesStayWithinTheirBoundHoweverFarAPictureIsPanned) {
    Array large(Device::cpu(), {.format = Format::r8_unorm, .extent = {32768, 4096}});
    Workspace workspace(test::session_with({}));
    CanvasTiles tiles(workspace.jobs(), "test", nullptr);
    Scene scene{
        .session = {}, .shown = Document::of(std::move(large), "large"), .against = {}, .width = 1024, .height = 1024};
    scene.session.fits = false;
    std::size_t most = 0;
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 12; ++column) {
            scene.session.view = {1, {1024 + column * 2560.0, 1024 + row * 2048.0}};
            tiles.show(scene);
            workspace.settle();
            ASSERT_TRUE(tiles.is_complete()) << tiles.problem().toStdString();
            ASSERT_LE(tiles.bytes(), 192 * kMiB);
            most = std::max(most, tiles.bytes());
        }
    }
    EXPECT_GT(most, 128 * kMiB) << "or the bound was not tried";
}

class ClosedPictureTest : public test::WindowFixture {};

TEST_F(ClosedPictureTest, NothingHoldsItsArrayWhateverWasShownOfIt) {
    Session session = test::session_with({"card.png", "odd_7x5.png"});
    session.pins = {{20.5, 10.5}};
    session.compare.mode = CompareMode::difference;
    session.reference = 1;
    start(session);
    for (const PanelInfo& panel : panels()) {
        window().show_panel(panel.id, true);
        settle();
        window().show_panel(panel.id, false);
    }
    const std::weak_ptr<const Document> first = workspace().document();
    ASSERT_FALSE(first.expired());
    workspace().close(0);
    settle();
    ASSERT_TRUE(canvas().isVisible()) << "of the other picture";
    EXPECT_TRUE(first.expired()) << first.use_count();
    const std::weak_ptr<const Document> last = workspace().document();
    ASSERT_FALSE(last.expired());
    workspace().close(0);
    settle();
    EXPECT_TRUE(last.expired()) << last.use_count();
}

}  // namespace
}  // namespace texton::viewer
