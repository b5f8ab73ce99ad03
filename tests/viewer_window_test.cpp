// The viewer's window, with the events that people cause. Runs on Qt's offscreen platform.
#include <QApplication>
#include <QDropEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QStatusBar>
#include <QTest>
#include <QUrl>
#include <QWheelEvent>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "tests/support/place.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/theme.h"

namespace texton::viewer {
namespace {

const QString kAssets = QString::fromStdString(test::place("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS));
const QString kCard = kAssets + "/card.png";
const QString kSky = kAssets + "/sky.exr";

class WindowTest : public testing::Test {
protected:
    void SetUp() override {
        window_ = std::make_unique<MainWindow>(Device::cpu(), QStringList{kCard, kSky});
        window_->resize(1000, 750);
        window_->show();
        ASSERT_TRUE(window_->open_all().isEmpty());
        QApplication::processEvents();
        canvas_ = window_->findChild<Canvas*>();
        ASSERT_NE(canvas_, nullptr);
    }

    QString values() const { return window_->findChild<QLabel*>("values")->text(); }
    Position under(QPoint point) const {
        return to_picture(canvas_->view(), {point.x() * 1.0, point.y() * 1.0}, canvas_->width(), canvas_->height());
    }
    QColor colour_at(QPoint point) const { return canvas_->grab().toImage().pixelColor(point); }

    void wheel(QPoint point, int notches) const {
        QWheelEvent event(point, canvas_->mapToGlobal(QPointF(point)), {}, {0, notches * 120}, Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas_, &event);
    }

    std::unique_ptr<MainWindow> window_;
    Canvas* canvas_ = nullptr;
};

TEST_F(WindowTest, APictureIsFittedAndStaysFittedAsTheWindowGrows) {
    EXPECT_EQ(canvas_->view(), fitted({481, 321}, canvas_->width(), canvas_->height()));
    EXPECT_EQ(canvas_->view().zoom, 2);
    window_->resize(1500, 1100);
    QApplication::processEvents();
    EXPECT_EQ(canvas_->view().zoom, 3);
    EXPECT_EQ(canvas_->view(), fitted({481, 321}, canvas_->width(), canvas_->height()));
}

TEST_F(WindowTest, TheWheelZoomsAtTheCursorAndTheWindowNoLongerRefits) {
    const QPoint cursor(300, 200);
    const Position before = under(cursor);
    wheel(cursor, 4);
    EXPECT_NEAR(canvas_->view().zoom, 8, 1e-9);
    EXPECT_NEAR(under(cursor).x, before.x, 1e-9);
    EXPECT_NEAR(under(cursor).y, before.y, 1e-9);
    window_->resize(1200, 900);
    QApplication::processEvents();
    EXPECT_NEAR(canvas_->view().zoom, 8, 1e-9);
    QTest::keyClick(window_.get(), Qt::Key_F);
    EXPECT_EQ(canvas_->view(), fitted({481, 321}, canvas_->width(), canvas_->height()));
}

TEST_F(WindowTest, ADragCarriesTheTexelUnderTheMouse) {
    wheel({500, 300}, 6);
    const Position before = under({400, 300});
    QTest::mousePress(canvas_, Qt::LeftButton, {}, {400, 300});
    QTest::mouseMove(canvas_, {460, 250});
    QTest::mouseRelease(canvas_, Qt::LeftButton, {}, {460, 250});
    EXPECT_NEAR(under({460, 250}).x, before.x, 1e-9);
    EXPECT_NEAR(under({460, 250}).y, before.y, 1e-9);
    const ViewState after = canvas_->view();
    QTest::mouseMove(canvas_, {100, 100});
    EXPECT_EQ(canvas_->view(), after) << "a move without a button drags nothing";
}

TEST_F(WindowTest, TheStatusBarSaysWhatIsUnderTheMouse) {
    const Position red = to_canvas(canvas_->view(), {20.5, 10.5}, canvas_->width(), canvas_->height());
    const QPoint point(static_cast<int>(red.x), static_cast<int>(red.y));
    QTest::mouseMove(canvas_, point);
    EXPECT_EQ(values().toStdString(), "(20, 10)   1.0000  0.0000  0.0000");
    EXPECT_EQ(colour_at(point), QColor(255, 0, 0));
    QTest::mouseMove(canvas_, {1, 1});
    EXPECT_EQ(values().toStdString(), "card.png") << "outside the picture";
}

TEST_F(WindowTest, KeysChangeZoomAndFile) {
    QTest::keyClick(window_.get(), Qt::Key_0, Qt::ControlModifier);
    EXPECT_EQ(canvas_->view().zoom, 1);
    QTest::keyClick(window_.get(), Qt::Key_Plus);
    EXPECT_EQ(canvas_->view().zoom, 2);
    QTest::keyClick(window_.get(), Qt::Key_PageDown);
    EXPECT_EQ(window_->windowTitle().toStdString(), "sky.exr - Texton");
    QTest::keyClick(window_.get(), Qt::Key_PageDown);
    EXPECT_EQ(window_->windowTitle().toStdString(), "card.png - Texton");
    QTest::keyClick(window_.get(), Qt::Key_PageUp);
    EXPECT_EQ(window_->windowTitle().toStdString(), "sky.exr - Texton");
}

TEST_F(WindowTest, ADroppedFileIsShownAndABadOneExplained) {
    const auto drop = [&](const QString& path) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_.get(), &enter);
        EXPECT_TRUE(enter.isAccepted());
        QDropEvent event({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_.get(), &event);
    };
    drop(kSky);
    EXPECT_EQ(window_->windowTitle().toStdString(), "sky.exr - Texton");
    EXPECT_TRUE(canvas_->isVisible());
    drop("/nowhere/missing.png");
    EXPECT_FALSE(canvas_->isVisible());
    bool said = false;
    for (const QLabel* label : window_->findChildren<QLabel*>()) {
        said = said || (label->isVisible() && label->text().contains("missing.png does not exist"));
    }
    EXPECT_TRUE(said);
    drop(kCard);
    EXPECT_TRUE(canvas_->isVisible()) << "a good file after a bad one";
}

TEST_F(WindowTest, EveryActionHasAKeyOfItsOwn) {
    QStringList keys;
    for (const QAction* action : window_->findChildren<QAction*>()) {
        if (action->isSeparator() || action->menu() != nullptr) continue;
        EXPECT_FALSE(action->shortcuts().isEmpty()) << action->text().toStdString();
        for (const QKeySequence& key : action->shortcuts()) keys.append(key.toString());
    }
    EXPECT_GE(keys.size(), 8);
    const qsizetype all = keys.size();
    EXPECT_EQ(keys.removeDuplicates(), 0) << all;
}

}  // namespace
}  // namespace texton::viewer

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    testing::InitGoogleTest(&argc, argv);
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    const QApplication application(argc, argv);
    texton::viewer::apply_theme(*qApp);
    return RUN_ALL_TESTS();
}
