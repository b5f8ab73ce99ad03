// The canvas with mouse, wheel and keyboard input: changes of the session, and pixels on the screen.
#include <QAccessible>
#include <QPainter>
#include <cmath>
#include <set>

#include "tests/window/fixture.h"
#include "viewer/gui/canvas.h"
#include "viewer/render/render.h"

namespace texton::viewer {
namespace {

class CanvasTest : public test::WindowFixture {
protected:
    void SetUp() override {
        Session session = test::session_with({"card.png", "sky.exr"});
        session.panels.clear();
        start(session);
    }

    // Returns the pixels of the canvas without overlays.
    QImage grabbed() {
        workspace().look([](Session& session) { session.overlays = {.values = false, .grid = false}; });
        settle();
        QImage image(canvas().size() * canvas().devicePixelRatioF(), QImage::Format_RGB32);
        image.setDevicePixelRatio(canvas().devicePixelRatioF());
        canvas().render(&image);
        return image;
    }
    void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mousePress(&canvas(), button, modifiers, from);
        QTest::mouseMove(&canvas(), (from + to) / 2);
        QTest::mouseMove(&canvas(), to);
        QTest::mouseRelease(&canvas(), button, modifiers, to);
    }
    Position under(QPoint point) {
        return texel_at(canvas().scene(), {point.x() + 0.5, point.y() + 0.5}).value_or(SeenTexel{}).at;
    }
};

TEST_F(CanvasTest, TilesTogetherEqualTheRenderedImage) {
    for (const double zoom : {0.37, 1.0, 2.0, 7.3}) {
        workspace().look([&](Session& session) {
            session.fits = false;
            session.view = {zoom, {201.3, 99.7}};
        });
        EXPECT_EQ(grabbed(), canvas().image()) << zoom;
        EXPECT_TRUE(canvas().is_complete());
    }
}

TEST_F(CanvasTest, DisplayChangeUpdatesEveryTile) {
    workspace().look([](Session& session) {
        session.fits = false;
        session.view = {3.3, {201.3, 99.7}};
    });
    settle();
    for (const float exposure : {-1.0f, 0.5f}) {
        workspace().change("exposure", [&](Session& session) { session.display.exposure = exposure; });
        EXPECT_FALSE(canvas().shows_display());
        EXPECT_EQ(grabbed(), canvas().image()) << exposure;
        EXPECT_TRUE(canvas().shows_display());
    }
}

TEST_F(CanvasTest, GridIsDrawnOnlyOnTheFirstPixelsOfTexels) {
    workspace().look([](Session& session) {
        session.fits = false;
        session.view = {16, {20.5, 10.5}};
    });
    const QImage plain = grabbed();
    workspace().look([](Session& session) { session.overlays.grid = true; });
    QImage drawn(plain.size(), QImage::Format_RGB32);
    canvas().render(&drawn);
    const PlanePixel origin = canvas_origin(canvas().scene());
    const int left = std::max(0, -origin.x), top = std::max(0, -origin.y);
    std::set<int> columns, rows;  // of changed pixels in columns and in rows of the grid
    for (int y = top; y < plain.height(); ++y) {
        for (int x = left; x < plain.width(); ++x) {
            const bool in_column = (x + origin.x) % 16 == 0, in_row = (y + origin.y) % 16 == 0;
            if (drawn.pixel(x, y) == plain.pixel(x, y)) continue;
            ASSERT_TRUE(in_column || in_row) << x << ", " << y;
            if (!in_row) columns.insert(x);
            if (!in_column) rows.insert(y);
        }
    }
    EXPECT_EQ(columns.size(), static_cast<std::size_t>((plain.width() - left + 15) / 16));
    EXPECT_EQ(rows.size(), static_cast<std::size_t>((plain.height() - top + 15) / 16));
}

TEST_F(CanvasTest, OldTilesAreShownScaledUntilNewTilesArrive) {
    workspace().look([](Session& session) { session.overlays = {.values = false, .grid = false}; });
    settle();
    for (int i = 0; i < 6; ++i) {
        wheel({400, 300}, i < 3 ? 1 : -2);  // no events are processed, so no new tile can arrive
        const Scene now = canvas().scene();
        QImage image(canvas().size(), QImage::Format_RGB32);
        canvas().render(&image);
        const PixelBox all = plane_box(now);
        const PlanePixel origin = canvas_origin(now);
        for (int y = 40; y < canvas().height() - 40; y += 7) {
            for (int x = 40; x < canvas().width() - 40; x += 7) {
                const int u = x + origin.x, v = y + origin.y;
                if (u > 8 && v > 8 && u < all.width - 8 && v < all.height - 8) {
                    ASSERT_NE(image.pixel(x, y), kBackground) << "step " << i << " at " << x << ", " << y;
                }
            }
        }
    }
}

TEST_F(CanvasTest, WheelZoomsAtTheCursorAndWithCtrlChangesTheLevel) {
    const Position before = under({300, 200});
    wheel({300, 200}, 4);
    EXPECT_NEAR(session().view.zoom, 8, 1e-9);
    EXPECT_FALSE(session().fits);
    EXPECT_NEAR(under({300, 200}).x, before.x, 0.5);
    EXPECT_NEAR(under({300, 200}).y, before.y, 0.5);
    wheel({300, 200}, -1, Qt::ControlModifier);
    EXPECT_EQ(session().subresource.level, 0) << "the image has one level";
}

TEST_F(CanvasTest, DragMovesTheTexelWithTheMouse) {
    wheel({500, 300}, 6);
    for (const Qt::MouseButton button : {Qt::LeftButton, Qt::MiddleButton}) {
        const Position before = under({400, 300});
        drag({400, 300}, {460, 250}, button);
        EXPECT_NEAR(under({460, 250}).x, before.x, 0.1);
        EXPECT_NEAR(under({460, 250}).y, before.y, 0.1);
    }
    const ViewState after = session().view;
    hover({100, 100});
    EXPECT_EQ(session().view, after) << "moving the mouse without a button does not drag";
}

TEST_F(CanvasTest, RightClickPinsAndUnpinsATexel) {
    const QPoint red = on_canvas({20.5, 10.5});
    QTest::mouseClick(&canvas(), Qt::RightButton, {}, red);
    ASSERT_EQ(session().pins.size(), 1u);
    EXPECT_EQ(session().pins[0], (Position{20.5, 10.5}));
    EXPECT_TRUE(canvas().accessibleDescription().startsWith("Texel 20, 10: 1.0000  0.0000  0.0000"));
    QTest::mouseClick(&canvas(), Qt::RightButton, Qt::ControlModifier, on_canvas({30.5, 12.5}));
    EXPECT_EQ(session().pins.size(), 2u);
    QTest::mouseClick(&canvas(), Qt::RightButton, Qt::ControlModifier, red);
    ASSERT_EQ(session().pins.size(), 1u);
    EXPECT_EQ(session().pins[0], (Position{30.5, 12.5}));
    QTest::mouseClick(&canvas(), Qt::RightButton, {}, {1, 1});
    EXPECT_EQ(session().pins.size(), 1u) << "no image at this position";
    workspace().undo();
    EXPECT_EQ(session().pins.size(), 2u);
}

TEST_F(CanvasTest, ShiftDragSelectsTexelsInAnyDirection) {
    drag(on_canvas({40.5, 30.5}), on_canvas({12.5, 10.5}), Qt::LeftButton, Qt::ShiftModifier);
    ASSERT_TRUE(session().selection);
    EXPECT_EQ(*session().selection, (TexelBox{12, 10, 29, 21}));
    QTest::mouseClick(&canvas(), Qt::LeftButton, Qt::ShiftModifier, {1, 1});
    EXPECT_FALSE(session().selection);
}

TEST_F(CanvasTest, KeysPinSelectAndPan) {
    canvas().setFocus();
    QTest::keyClick(&canvas(), Qt::Key_Space);
    ASSERT_EQ(session().pins.size(), 1u);
    const Position pin = session().pins[0];
    QTest::keyClick(&canvas(), Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(&canvas(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(&canvas(), Qt::Key_Down, Qt::ShiftModifier);
    ASSERT_TRUE(session().selection);
    EXPECT_EQ(*session().selection, (TexelBox{static_cast<std::size_t>(pin.x), static_cast<std::size_t>(pin.y), 2, 3}));
    const double x = session().view.center.x;
    QTest::keyClick(&canvas(), Qt::Key_Right, Qt::AltModifier);
    EXPECT_NEAR(session().view.center.x, x + 64 / session().view.zoom, 1e-9);
}

TEST_F(CanvasTest, WipeLineIsMovedByDragAndKeys) {
    workspace().change("wipe", [](Session& session) {
        session.reference = 1;
        session.compare = {.mode = CompareMode::wipe};
    });
    settle();
    EXPECT_EQ(grabbed().width(), canvas().width());
    const QPoint line(canvas().width() / 2, 120);
    const ViewState before = session().view;
    drag(line, {canvas().width() / 4, 130});
    EXPECT_NEAR(session().compare.wipe, 0.25, 0.01);
    EXPECT_EQ(session().view, before);
    QTest::keyClick(&canvas(), Qt::Key_Right, Qt::AltModifier | Qt::ShiftModifier);
    EXPECT_NEAR(session().compare.wipe, 0.27, 0.01);
}

TEST_F(CanvasTest, ImageStaysFittedAfterAResizeAndAChangeOfImage) {
    const auto fit = [&] { return fitted(canvas_extent(canvas().scene()), canvas().width(), canvas().height()); };
    EXPECT_EQ(session().view, fit());
    window().resize(1500, 1100);
    QApplication::processEvents();
    EXPECT_EQ(session().view, fit());
    workspace().change("next", [](Session& session) { session.current = 1; });
    settle();
    EXPECT_EQ(session().view, fit());
}

TEST_F(CanvasTest, TexelUnderTheMouseIsReportedUntilTheMouseLeaves) {
    hover(on_canvas({7.5, 9.5}));
    ASSERT_TRUE(workspace().hovered());
    EXPECT_EQ(std::floor(workspace().hovered()->at.x), 7);
    EXPECT_EQ(std::floor(workspace().hovered()->at.y), 9);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&canvas(), &leave);
    EXPECT_FALSE(workspace().hovered());
}

TEST_F(CanvasTest, ValuesOutlinesAndPinsAreDrawnOverTheTexels) {
    workspace().look([](Session& session) {
        session.fits = false;
        session.view = {80, {20.5, 10.5}};
        session.overlays = {.values = false, .grid = false};
    });
    settle();
    const auto drawn = [&] {
        QImage image(canvas().size(), QImage::Format_RGB32);
        canvas().render(&image);
        return image;
    };
    const QImage plain = drawn();
    workspace().look([](Session& session) { session.overlays.values = true; });
    settle();
    const QImage values = drawn();
    EXPECT_NE(values, plain);
    workspace().look([](Session& session) { session.overlays.hexadecimal = true; });
    settle();
    EXPECT_NE(drawn(), values);
    workspace().look([](Session& session) { session.overlays.values = false; });
    settle();
    EXPECT_EQ(drawn(), plain);
    workspace().outline("test", {{.subresource = {}, .x = 20, .y = 10, .color = Qt::cyan, .label = {}}});
    EXPECT_NE(drawn(), plain);
    workspace().outline("test", {});
    EXPECT_EQ(drawn(), plain);
}

TEST_F(CanvasTest, CanvasIsAccessibleAsANamedGraphic) {
    QAccessibleInterface* canvas_interface = QAccessible::queryAccessibleInterface(&canvas());
    ASSERT_NE(canvas_interface, nullptr);
    EXPECT_EQ(canvas_interface->role(), QAccessible::Graphic);
    EXPECT_EQ(canvas_interface->text(QAccessible::Name), "Image");
    EXPECT_FALSE(canvas_interface->text(QAccessible::Description).isEmpty());
}

}  // namespace
}  // namespace texton::viewer
