// Memory use of the window: tiles of an image much larger than the canvas, closed images, and images that exceed the
// device's memory.
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include <texton/image.h>
#include <texton/image_save.h>
#include <texton/linear.h>

#include "tests/window/fixture.h"
#include "viewer/gui/canvas_tiles.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(CanvasMemoryTest, TilesStayWithinTheirMemoryLimitWhilePanning) {
    Array large(Device::cpu(), {.format = Format::r8_unorm, .extent = {32768, 4096}});
    Workspace workspace(test::session_with({}));
    CanvasTiles tiles(workspace.jobs(), "test", nullptr);
    Scene scene{
        .session = {}, .shown = Document::of(std::move(large), "large"), .against = {}, .width = 1024, .height = 1024};
    scene.session.fits = false;
    std::size_t maximum = 0;
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 12; ++column) {
            scene.session.view = {1, {1024 + column * 2560.0, 1024 + row * 2048.0}};
            tiles.show(scene);
            workspace.settle();
            ASSERT_TRUE(tiles.is_complete()) << tiles.problem().toStdString();
            ASSERT_LE(tiles.bytes(), 192 * kMiB);
            maximum = std::max(maximum, tiles.bytes());
        }
    }
    EXPECT_GT(maximum, 128 * kMiB) << "otherwise the limit was not tested";
}

class ImageMemoryTest : public test::WindowFixture {
protected:
    void show(std::size_t index) {
        workspace().look([index](Session& session) { session.current = index; });
        settle();
    }
};

TEST_F(ImageMemoryTest, LeastRecentlyShownImagesAreReleasedAndReadAgain) {
    start(std::vector<std::string>{"card.png", "sky.exr", "ball.png", "cube.dds"});
    for (const std::size_t index : {1u, 2u, 0u}) show(index);
    std::vector<std::weak_ptr<const Document>> documents;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        documents.push_back(workspace().document(i));
        ASSERT_FALSE(documents[i].expired()) << "all fit the default limit";
        bytes += packed_bytes(documents[i].lock()->info());
    }
    workspace().set_image_memory(bytes);
    show(3);
    EXPECT_TRUE(documents[1].expired()) << "it was shown first";
    EXPECT_FALSE(documents[2].expired());
    EXPECT_FALSE(documents[0].expired());
    workspace().set_image_memory(1);
    settle();
    EXPECT_TRUE(documents[2].expired());
    EXPECT_TRUE(documents[0].expired());
    EXPECT_NE(workspace().document(3), nullptr) << "the current image stays, whatever the limit";
    show(1);
    ASSERT_NE(workspace().document(1), nullptr);
    EXPECT_EQ(workspace().problem(1), "");
    EXPECT_EQ(workspace().document(3), nullptr);
}

TEST_F(ImageMemoryTest, ImagesThatAreComparedAreNotReleased) {
    Session session = test::session_with({"card.png", "card.png", "sky.exr"});
    session.images[1].options.upright = false;
    session.reference = 1;
    session.compare.mode = CompareMode::wipe;
    start(session);
    workspace().set_image_memory(1);
    settle();
    EXPECT_NE(workspace().document(0), nullptr);
    EXPECT_NE(workspace().document(1), nullptr);
}

class ClosedImageTest : public test::WindowFixture {};

TEST_F(ClosedImageTest, ClosedImageIsReleasedAfterUseByEveryPanel) {
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
    ASSERT_TRUE(canvas().isVisible()) << "shows the other image";
    EXPECT_TRUE(first.expired()) << first.use_count();
    const std::weak_ptr<const Document> last = workspace().document();
    ASSERT_FALSE(last.expired());
    workspace().close(0);
    settle();
    EXPECT_TRUE(last.expired()) << last.use_count();
}

TEST_F(ClosedImageTest, HiddenPanelReleasesAClosedReference) {
    Session session = test::session_with({"card.png", "odd_7x5.png"});
    session.compare.mode = CompareMode::difference;
    session.reference = 1;
    start(session);
    window().show_panel("compare", true);
    settle();
    window().show_panel("compare", false);
    const std::weak_ptr<const Document> reference = workspace().document(1);
    ASSERT_FALSE(reference.expired());
    workspace().close(1);
    settle();
    EXPECT_TRUE(reference.expired()) << reference.use_count();
}

class LittleMemoryTest : public test::WindowFixture {
protected:
    // Writes a gray image with a square in it; 16 MiB by default.
    std::filesystem::path large(const char* name, std::size_t side = 4096) const {
        std::vector<std::byte> texels(side * side, std::byte{64});
        for (std::size_t y = side / 4; y < side / 2; ++y)
            std::fill_n(texels.begin() + static_cast<std::ptrdiff_t>(y * side + side / 4), side / 4, std::byte{200});
        const std::filesystem::path path = folder_.filePath(name).toStdString();
        write_image(path, Format::r8_unorm, {side, side}, texels);
        return path;
    }
    static Session of(const std::vector<std::filesystem::path>& paths) {
        Session session = test::session_with({});
        session.device = "cpu";
        for (const auto& path : paths) session.images.push_back({.paths = {path}});
        return session;
    }
    // Allocates all memory of the device except `bytes`.
    static Linear take_all_but(std::size_t bytes) { return Linear(Device::cpu(), Device::cpu().memory().free - bytes); }
    QString said(const char* name) {
        for (const QLabel* label : window().findChildren<QLabel*>())
            if (label->accessibleName() == name) return label->text();
        return {};
    }

    QTemporaryDir folder_;
};

TEST_F(LittleMemoryTest, ImageThatDoesNotFitIsShownReducedWithANote) {
    const Linear taken = take_all_but(20 * kMiB);
    start(of({large("large.tif")}));
    ASSERT_TRUE(canvas().isVisible()) << window().message().toStdString();
    ASSERT_EQ(workspace().document()->halvings(), 1);
    EXPECT_EQ(workspace().document()->info().extent, (Extent{2048, 2048}));
    EXPECT_TRUE(said("Size and format").startsWith("4096 x 4096")) << said("Size and format").toStdString();
    EXPECT_TRUE(said("Size and format").endsWith("shown from 2048 x 2048")) << said("Size and format").toStdString();
    EXPECT_TRUE(said("Note on the image").startsWith("Shown at 1/2 of its width and height"));
    hover(on_canvas({1200, 1200}));
    EXPECT_TRUE(said("Texel under the mouse").contains("0.7843")) << said("Texel under the mouse").toStdString();
}

TEST_F(LittleMemoryTest, NoteFitsTheFilesPanelInALowWindow) {
    const Linear taken = take_all_but(20 * kMiB);
    Session session = of({large("large.tif")});
    session.panels = {"files", "kernel"};
    start(session, {1024, 640});
    ASSERT_TRUE(said("Note on the image").startsWith("Shown at 1/2 of its width and height"));
    const auto* scroll = qobject_cast<QScrollArea*>(window().docks().at("files")->widget());
    ASSERT_NE(scroll, nullptr);
    EXPECT_FALSE(scroll->verticalScrollBar()->isVisible());
}

TEST_F(LittleMemoryTest, HiddenImageIsUnloadedForMemoryAndReloadedWhenShown) {
    const auto first = large("first.tif", 2048);
    const auto second = large("second.tif", 2048);
    const Linear taken = take_all_but(9 * kMiB);
    start(of({first, second}));
    ASSERT_EQ(workspace().document(0)->halvings(), 0);
    workspace().look([](Session& session) { session.current = 1; });
    settle();
    ASSERT_NE(workspace().document(1), nullptr) << workspace().problem(1).toStdString();
    EXPECT_EQ(workspace().document(1)->halvings(), 0);
    EXPECT_EQ(workspace().document(0), nullptr);
    workspace().look([](Session& session) { session.current = 0; });
    settle();
    ASSERT_NE(workspace().document(0), nullptr) << workspace().problem(0).toStdString();
    EXPECT_EQ(workspace().document(0)->halvings(), 0);
}

TEST_F(LittleMemoryTest, EscapeCancelsLoadingAndAKeyRestartsLoading) {
    const Linear taken = take_all_but(20 * kMiB);
    start(of({}));
    workspace().open({{.paths = {large("large.tif")}}});
    ASSERT_TRUE(workspace().is_loading(0));
    EXPECT_TRUE(window().message().contains("Press Esc to cancel")) << window().message().toStdString();
    QTest::keyClick(&window(), Qt::Key_Escape);
    EXPECT_FALSE(workspace().is_loading(0));
    settle();
    EXPECT_EQ(workspace().document(0), nullptr);
    EXPECT_TRUE(window().message().contains("Loading was canceled")) << window().message().toStdString();
    QTest::keyClick(&window(), Qt::Key_F5);
    settle();
    ASSERT_NE(workspace().document(0), nullptr) << workspace().problem(0).toStdString();
    EXPECT_EQ(workspace().document(0)->halvings(), 1);
}

TEST_F(LittleMemoryTest, MessageExplainsWhyNoSizeFits) {
    const auto path = folder_.filePath("blocks.dds").toStdString();
    save(path, Array(Device::cpu(), {.format = Format::bc1_unorm, .extent = {1024, 1024}}));
    const Linear taken = take_all_but(kMiB / 8);
    start(of({path}));
    EXPECT_TRUE(window().message().contains("blocks.dds cannot be shown")) << window().message().toStdString();
    EXPECT_TRUE(window().message().contains("bytes were requested")) << window().message().toStdString();
    EXPECT_TRUE(window().message().contains("The image cannot be reduced automatically"))
        << window().message().toStdString();
}

}  // namespace
}  // namespace texton::viewer
