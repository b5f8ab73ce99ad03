#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTimer>
#include <future>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/image_save.h>

#include "tests/window/panel_test.h"

namespace texton::viewer::test {
namespace {

class FilesPanelTest : public PanelTest {
protected:
    QListWidget* list() const { return find<QListWidget>("Images"); }
    QStringList rows() const {
        QStringList out;
        for (int row = 0; row < list()->count(); ++row) out.append(list()->item(row)->text());
        return out;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const Source& source : session().images) out.push_back(source.paths.front().filename().string());
        return out;
    }
    // True if the thumbnail of the row is not transparent.
    bool has_thumbnail(int row) const {
        const QImage image = list()->item(row)->icon().pixmap(64, 64).toImage();
        return qAlpha(image.pixel(image.width() / 2, image.height() / 2)) == 255;
    }
};

using Names = std::vector<std::string>;

TEST_F(FilesPanelTest, EveryReadableImageHasAThumbnailWithoutBeingLoaded) {
    open("files", {"card.png", "sky.exr", "cube.dds", "missing.png"});
    QAbstractItemModelTester tester(list()->model());
    EXPECT_TRUE(QTest::qWaitFor([&] { return has_thumbnail(0) && has_thumbnail(1) && has_thumbnail(2); }, kPatience));
    settle();
    EXPECT_EQ(rows()[0], "card.png\n481 x 321 of rgba8_srgb");
    EXPECT_TRUE(rows()[2].contains("cubemap")) << rows()[2].toStdString();
    EXPECT_EQ(workspace_->document(1), nullptr) << "a thumbnail does not load the image into the workspace";
    EXPECT_FALSE(has_thumbnail(3));
    image("files");
}

TEST_F(FilesPanelTest, LargeImageHasAThumbnailThatIsReadInBands) {
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("large.tif").toStdString();
    {
        Array large(Device::cpu(), {.format = Format::rgba8_unorm, .extent = {8192, 2304}});  // 72 MiB
        fill(large.view(), std::uint32_t{0xff00ff00});
        save(path, image_of(large));
    }
    Session session = session_with({"card.png", "ball.png"});
    session.images[1] = {.paths = {path}, .options = {}};
    open_session("files", session);
    ASSERT_TRUE(QTest::qWaitFor([&] { return has_thumbnail(1); }, kPatience));
    const QImage icon = list()->item(1)->icon().pixmap(64, 64).toImage();
    EXPECT_EQ(icon.pixelColor(icon.width() / 2, icon.height() / 2), QColor(0, 255, 0));
    EXPECT_TRUE(rows()[1].startsWith("large.tif\n8192 x 2304 of rgba8_unorm")) << rows()[1].toStdString();
    EXPECT_EQ(workspace_->document(1), nullptr);
}

TEST_F(FilesPanelTest, TheFirstThumbnailIsMadeWhileTheCurrentImageIsLoadingAndTheOthersWait) {
    open("files", {});
    std::promise<void> loaded;
    workspace_->make_images_by([arrived = loaded.get_future().share()](const Source& source, const Device& device) {
        arrived.wait();
        return Document::open({.paths = {asset("sky.exr")}, .options = source.options}, device);
    });
    workspace_->change("Open", [](Session& session) {
        session = session_with({"card.png", "card.png", "ball.png"});
        session.images[0].paths = {std::string(Workspace::kMadeImages) + "slow"};
    });
    QTest::qWait(kTogether / 5);
    EXPECT_FALSE(has_thumbnail(1)) << "most images are loaded in one step, before a thumbnail would be made";
    Q_EMIT workspace_->progressed(0.25, "slow");
    EXPECT_TRUE(QTest::qWaitFor([&] { return has_thumbnail(1); }, kPatience));
    Q_EMIT workspace_->progressed(0.5, "slow");
    QTest::qWait(kTogether / 5);
    EXPECT_TRUE(workspace_->is_loading(0));
    EXPECT_FALSE(has_thumbnail(2)) << "further thumbnails would slow down the current image";
    loaded.set_value();
    EXPECT_TRUE(QTest::qWaitFor([&] { return has_thumbnail(2); }, kPatience));
}

TEST_F(FilesPanelTest, SelectedRowIsShown) {
    open("files", {"card.png", "sky.exr"});
    press(list(), Qt::Key_Down);
    EXPECT_EQ(session().current, 1u);
    EXPECT_NE(workspace_->document(), nullptr);
    workspace_->undo();
    settle();
    EXPECT_EQ(list()->currentRow(), 0);
}

TEST_F(FilesPanelTest, ReferenceCanBeSetAndCleared) {
    open("files", {"card.png", "sky.exr"});
    press(list(), Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(session().reference, 0u);
    EXPECT_TRUE(rows()[0].contains("reference"));
    EXPECT_TRUE(find<QPushButton>("Compares other images with this one")->isChecked());
    click(find<QPushButton>("Compares other images with this one"));
    EXPECT_FALSE(session().reference);
}

TEST_F(FilesPanelTest, KeysMoveTheCurrentImageWhichStaysCurrent) {
    open("files", {"card.png", "sky.exr", "ball.png"});
    press(list(), Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(names(), (Names{"sky.exr", "card.png", "ball.png"}));
    EXPECT_EQ(session().current, 1u);
    EXPECT_EQ(list()->currentRow(), 1);
    press(list(), Qt::Key_Up, Qt::ControlModifier);
    press(list(), Qt::Key_Up, Qt::ControlModifier);
    EXPECT_EQ(names(), (Names{"card.png", "sky.exr", "ball.png"})) << "the first row cannot move up";
}

TEST_F(FilesPanelTest, MovedRowMovesTheImage) {
    open("files", {"card.png", "sky.exr", "ball.png"});
    // The model receives this call when a drop inside the list ends.
    ASSERT_TRUE(list()->model()->moveRow({}, 2, {}, 0));
    settle();
    EXPECT_EQ(names(), (Names{"ball.png", "card.png", "sky.exr"}));
    EXPECT_EQ(session().current, 1u);
    EXPECT_TRUE(rows()[0].startsWith("ball.png"));
    EXPECT_EQ(list()->currentRow(), 1);
    ASSERT_TRUE(list()->model()->moveRow({}, 0, {}, 3));
    settle();
    EXPECT_EQ(names(), (Names{"card.png", "sky.exr", "ball.png"}));
}

TEST_F(FilesPanelTest, RowCanBeDraggedWithTheMouse) {
    if (QGuiApplication::platformName() == "offscreen")
        GTEST_SKIP() << "Qt's offscreen platform does not support dragging. Run with QT_QPA_PLATFORM=xcb, for example "
                        "under xvfb-run.";
    open("files", {"card.png", "sky.exr", "ball.png"});
    QWidget* viewport = list()->viewport();
    const QPoint from = list()->visualItemRect(list()->item(2)).center();
    const QPoint above_all(from.x(), 2);
    const auto move = [&](QPoint to) {
        QMouseEvent event(QEvent::MouseMove, to, viewport->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                          Qt::NoModifier);
        QApplication::sendEvent(viewport, &event);
    };
    // The drag runs its own event loop until the button is released.
    QTimer::singleShot(0, viewport, [&] {
        QTest::mouseMove(viewport, from - QPoint(0, 40));
        QTest::mouseMove(viewport, above_all);
        QTest::mouseRelease(viewport, Qt::LeftButton, {}, above_all);
    });
    QTest::mousePress(viewport, Qt::LeftButton, {}, from);
    move(from - QPoint(0, 30));
    move(from - QPoint(0, 40));
    settle();
    EXPECT_EQ(names(), (Names{"ball.png", "card.png", "sky.exr"}));
    EXPECT_EQ(names()[session().current], "ball.png") << "the mouse press made it current";
    EXPECT_EQ(list()->count(), 3);
    workspace_->undo();
    settle();
    EXPECT_EQ(names(), (Names{"card.png", "sky.exr", "ball.png"}));
}

TEST_F(FilesPanelTest, ManyImagesHaveLowRowsAndCanBeFiltered) {
    std::vector<std::string> assets(40, "ball.png");
    assets[7] = "card.png";
    assets[30] = "sky.exr";
    open("files", assets);
    auto* filter = find<QLineEdit>("Filter");
    ASSERT_NE(filter, nullptr);
    EXPECT_TRUE(filter->isVisible());
    const int height = list()->visualItemRect(list()->item(0)).height();
    EXPECT_GE(list()->viewport()->height() / height, 11) << height;
    const auto visible = [&] {
        std::vector<int> out;
        for (int row = 0; row < list()->count(); ++row)
            if (!list()->item(row)->isHidden()) out.push_back(row);
        return out;
    };
    EXPECT_EQ(visible().size(), 40u);
    type<QLineEdit>("Filter", "CARD");
    EXPECT_EQ(visible(), std::vector<int>{7});
    type<QLineEdit>("Filter", "s .exr");
    EXPECT_EQ(visible(), std::vector<int>{30});
    EXPECT_EQ(session().current, 0u) << "filtering does not change the image";
    workspace_->change("Open", [](Session& session) { session.images.push_back(session.images[30]); });
    settle();
    EXPECT_EQ(visible(), (std::vector<int>{30, 40}));
    image("files_filtered");
    filter->clear();
    settle();
    EXPECT_EQ(visible().size(), 41u);
}

TEST_F(FilesPanelTest, FewImagesHaveNoFilterAndLargeThumbnails) {
    open("files", {"card.png", "sky.exr"});
    EXPECT_FALSE(find<QLineEdit>("Filter")->isVisible());
    EXPECT_GE(list()->visualItemRect(list()->item(0)).height(), 64);
}

TEST_F(FilesPanelTest, ClosingTheLastImageLeavesAnEmptyPanel) {
    open("files", {"card.png", "missing.png"});
    press(list(), Qt::Key_Down);
    EXPECT_TRUE(rows()[1].contains("cannot be shown"));
    image("files_problem");
    press(list(), Qt::Key_Delete);
    press(list(), Qt::Key_Delete);
    EXPECT_TRUE(session().images.empty());
    EXPECT_EQ(list()->count(), 0);
    EXPECT_FALSE(find<QPushButton>("Closes the image; the file is kept")->isEnabled());
}

}  // namespace
}  // namespace texton::viewer::test
