// Annotations: drawn, made and edited with the mouse, and written with the view.
#include <QTemporaryDir>

#include "tests/window/fixture.h"
#include "tests/window/screenshots.h"
#include "viewer/gui/annotation_editor.h"
#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/saved_page.h"

namespace texton::viewer::test {
namespace {

bool is_near(QRgb pixel, const QColor& color) {
    return std::abs(qRed(pixel) - color.red()) < 30 && std::abs(qGreen(pixel) - color.green()) < 30 &&
           std::abs(qBlue(pixel) - color.blue()) < 30;
}

qsizetype count(const QImage& image, AnnotationColor color) {
    qsizetype found = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) found += is_near(image.pixel(x, y), screen_color(color));
    return found;
}

class AnnotationsTest : public WindowFixture {
protected:
    // The zoom is 4, so that positions are at whole pixels of the screen.
    void start_with(const std::vector<std::string>& assets, const std::vector<Annotation>& annotations = {}) {
        Session session = session_with(assets);
        session.panels.clear();
        session.annotations = annotations;
        session.fits = false;
        session.view = {4, {100, 60}};
        session.overlays.grid = session.overlays.values = false;
        start(session);
        QObject::connect(&workspace(), &Workspace::told, &window(), [this](const QString& text) { said_ = text; });
    }
    void SetUp() override { start_with({"card.png", "zone_plate.png"}); }

    void trigger(const char* id) { window().actions().find(id)->trigger(); }
    void drag(Position from, Position to) {
        const QPoint begin = on_canvas(from), end = on_canvas(to);
        QTest::mousePress(&canvas(), Qt::LeftButton, {}, begin);
        QTest::mouseMove(&canvas(), (begin + end) / 2);
        QTest::mouseMove(&canvas(), end);
        QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, end);
    }
    void click(Position at) { QTest::mouseClick(&canvas(), Qt::LeftButton, {}, on_canvas(at)); }
    AnnotationEditor* editor() { return canvas().findChild<AnnotationEditor*>(); }
    AnnotationTool& tool() { return workspace().annotation_tool(); }
    const std::vector<Annotation>& annotations() { return session().annotations; }
    QImage grabbed() {
        settle();
        return canvas().grab().toImage().convertToFormat(QImage::Format_RGB32);
    }
    const QString& said() const { return said_; }

private:
    QString said_;
};

TEST_F(AnnotationsTest, DragWithAToolDrawsAnAnnotationInTexelsAsOneUndoStep) {
    const std::pair<const char*, AnnotationKind> tools[] = {{"draw-arrow", AnnotationKind::arrow},
                                                            {"draw-box", AnnotationKind::box},
                                                            {"draw-ruler", AnnotationKind::ruler}};
    for (const auto& [id, kind] : tools) {
        trigger(id);
        drag({80, 50}, {110, 70});
        ASSERT_EQ(annotations().size(), 1u) << id;
        EXPECT_EQ(annotations()[0], (Annotation{.kind = kind, .from = {80, 50}, .to = {110, 70}})) << id;
        EXPECT_EQ(tool().selected(), 0u);
        EXPECT_EQ(session().view.center, (Position{100, 60})) << "the image does not move";
        workspace().undo();
        EXPECT_TRUE(annotations().empty()) << id;
        EXPECT_FALSE(tool().selected());
    }
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    EXPECT_FALSE(tool().kind());
    drag({80, 50}, {90, 50});
    EXPECT_TRUE(annotations().empty());
    EXPECT_EQ(session().view.center, (Position{90, 60})) << "without a tool, a drag moves the image";
}

TEST_F(AnnotationsTest, EndsOfBoxesAndRulersAreCornersOfTexelsInsideTheImage) {
    trigger("draw-ruler");
    drag({80.25, 50.75}, {90.75, 50.25});
    ASSERT_EQ(annotations().size(), 1u);
    EXPECT_EQ(length_text(annotations()[0]), "11.05 texels (dx 11, dy -1)");
    workspace().look([](Session& session) { session.view.center = {20, 20}; });
    trigger("draw-box");
    drag({10, 10}, {-5, 12});
    EXPECT_EQ(annotations().at(1).to, (Position{0, 12}));
    trigger("draw-arrow");
    click({30, 30});
    EXPECT_EQ(annotations().size(), 2u) << "a click draws no arrow";
}

TEST_F(AnnotationsTest, ClickSelectsDragMovesAndDeleteRemoves) {
    start_with({"card.png"}, {{.kind = AnnotationKind::box, .from = {80, 50}, .to = {100, 70}},
                              {.kind = AnnotationKind::arrow, .from = {110, 40}, .to = {130, 60}}});
    click({90, 50});
    EXPECT_EQ(tool().selected(), 0u);
    drag({90, 50}, {95, 52});
    EXPECT_EQ(annotations()[0].from, (Position{85, 52}));
    EXPECT_EQ(annotations()[0].to, (Position{105, 72}));
    drag({105, 52}, {101, 49});
    EXPECT_EQ(annotations()[0].from, (Position{85, 49})) << "the corner between both ends";
    EXPECT_EQ(annotations()[0].to, (Position{101, 72}));
    drag({130, 60}, {125, 65});
    EXPECT_EQ(tool().selected(), 1u);
    EXPECT_EQ(annotations()[1].from, (Position{110, 40}));
    EXPECT_EQ(annotations()[1].to, (Position{125, 65}));
    QTest::keyClick(&canvas(), Qt::Key_Delete);
    EXPECT_EQ(annotations().size(), 1u);
    EXPECT_FALSE(tool().selected());
    workspace().undo();
    EXPECT_EQ(annotations().size(), 2u);
    workspace().undo();
    EXPECT_EQ(annotations()[1].to, (Position{130, 60})) << "a drag is one step";
    click({60, 60});
    EXPECT_FALSE(tool().selected());
    trigger("remove-annotations");
    EXPECT_TRUE(annotations().empty());
}

TEST_F(AnnotationsTest, TextIsTypedOnTheCanvas) {
    trigger("draw-text");
    click({80, 50});
    ASSERT_TRUE(editor()->isVisible());
    QTest::keyClicks(editor(), "a zipper");
    QTest::keyClick(editor(), Qt::Key_Return);
    EXPECT_FALSE(editor()->isVisible());
    ASSERT_EQ(annotations().size(), 1u);
    EXPECT_EQ(annotations()[0].text, "a zipper");
    EXPECT_EQ(annotations()[0].from, (Position{80, 50}));

    click({60, 70});
    QTest::keyClick(editor(), Qt::Key_Return);
    EXPECT_EQ(annotations().size(), 1u) << "without text there is nothing to see";
    click({60, 70});
    QTest::keyClicks(editor(), "x");
    QTest::keyClick(editor(), Qt::Key_Escape);
    EXPECT_EQ(annotations().size(), 1u);
    EXPECT_EQ(tool().kind(), AnnotationKind::text) << "the first Escape ends the text only";
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    EXPECT_FALSE(tool().kind());
}

TEST_F(AnnotationsTest, DoubleClickEditsTheTextAndEscapeRestoresIt) {
    start_with({"card.png"}, {{.kind = AnnotationKind::ruler, .from = {80, 50}, .to = {120, 50}, .text = "old"}});
    const auto edit = [&] { QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, on_canvas({90, 50})); };
    edit();
    ASSERT_TRUE(editor()->isVisible());
    EXPECT_EQ(editor()->text(), "old");
    QTest::keyClicks(editor(), "lost");
    QTest::keyClick(editor(), Qt::Key_Escape);
    EXPECT_EQ(annotations()[0].text, "old");
    edit();
    QTest::keyClicks(editor(), "new");
    QTest::keyClick(editor(), Qt::Key_Return);
    EXPECT_EQ(annotations()[0].text, "new");
    EXPECT_FALSE(session().fits) << "the view is unchanged";
    trigger("annotation-text");
    QTest::keyClicks(editor(), "kept");
    workspace().undo();
    EXPECT_EQ(annotations()[0].text, "old");
    EXPECT_FALSE(editor()->isVisible()) << "the text that was edited is no longer there";
}

TEST_F(AnnotationsTest, LinesHaveTheSameWidthAndOutlineAtEveryZoom) {
    start_with({"card.png"},
               {{.kind = AnnotationKind::ruler, .from = {100, 20}, .to = {100, 100}},
                {.kind = AnnotationKind::box, .from = {104, 20}, .to = {200, 100}, .color = AnnotationColor::black}});
    for (const double zoom : {4.0, 32.0, 700.0}) {
        workspace().look([&](Session& session) { session.view = {zoom, {100, 60}}; });
        const QImage image = grabbed();
        // The pixels of a row around a vertical line.
        const auto around = [&](double texel) {
            const double ratio = canvas().devicePixelRatioF();
            const int row = image.height() / 2 + static_cast<int>(60 * ratio);
            return image.copy(static_cast<int>(on_canvas({texel, 60}).x() * ratio) - 8, row, 16, 1);
        };
        const auto across = [&](AnnotationColor color, double texel) { return count(around(texel), color); };
        const auto brightest = [&](double texel) {
            const QImage pixels = around(texel);
            int most = 0;
            for (int x = 0; x < pixels.width(); ++x) most = std::max(most, qGreen(pixels.pixel(x, 0)));
            return most;
        };
        EXPECT_GE(across(AnnotationColor::red, 100), 1) << zoom;
        EXPECT_LE(across(AnnotationColor::red, 100), 3) << zoom;
        if (zoom > 32) continue;
        EXPECT_GE(across(AnnotationColor::black, 104), 2) << zoom;
        EXPECT_GT(brightest(104), 200) << "black lines have a white outline, at zoom " << zoom;
    }
}

TEST_F(AnnotationsTest, LengthOfAPartlyVisibleRulerIsInsideTheCanvas) {
    // The right half of the ruler is visible, near the lower edge of the canvas.
    start_with({"card.png"}, {{.kind = AnnotationKind::ruler,
                               .from = {0, 100},
                               .to = {210, 100},
                               .text = "two\nlines",
                               .color = AnnotationColor::magenta}});
    const double below = canvas().height() * canvas().devicePixelRatioF() / 2 - 6;  // pixels from center to the edge
    workspace().look([&](Session& session) { session.view = {4, {200, 100 - below / 4}}; });
    const QImage image = grabbed();
    const qsizetype lines = count(image.copy(0, image.height() - 12, image.width(), 12), AnnotationColor::magenta);
    EXPECT_GT(lines, 400) << "the ruler";
    EXPECT_GT(count(image.copy(0, image.height() - 80, image.width(), 60), AnnotationColor::magenta), 40)
        << "the label is above the ruler, because there is no space below";
}

TEST_F(AnnotationsTest, EachImageAndSubresourceHasItsOwnAnnotations) {
    start_with({"card.png", "zone_plate.png"},
               {{.from = {80, 40}, .to = {120, 60}, .color = AnnotationColor::magenta}});
    const auto seen = [&] { return count(grabbed(), AnnotationColor::magenta) > 100; };
    EXPECT_TRUE(seen());
    workspace().look([](Session& session) { session.current = 1; });
    EXPECT_FALSE(seen());
    workspace().look([](Session& session) { session.current = 0; });
    trigger("annotations");
    EXPECT_FALSE(seen());
    click({100, 50});
    EXPECT_FALSE(tool().selected()) << "hidden annotations cannot be selected";
    trigger("draw-box");
    EXPECT_TRUE(seen()) << "a tool shows what it edits";

    start_with({"cube.dds"}, {{.subresource = {.face = 3}, .from = {1, 2}, .to = {3, 4}}});
    workspace().look([](Session& session) { session.fits = true; });
    const qsizetype without = count(grabbed(), AnnotationColor::red);
    workspace().look([](Session& session) { session.subresource.face = 3; });
    const QImage face = grabbed();
    workspace().look([](Session& session) { session.overlays.annotations = false; });
    EXPECT_GT(count(face, AnnotationColor::red), count(grabbed(), AnnotationColor::red)) << without;
}

TEST_F(AnnotationsTest, SessionCannotGetTooManyAnnotations) {
    start_with({"card.png"}, std::vector<Annotation>(kMaxAnnotations, {.from = {1, 1}, .to = {2, 2}}));
    trigger("draw-arrow");
    drag({80, 50}, {110, 70});
    EXPECT_EQ(annotations().size(), kMaxAnnotations);
    EXPECT_TRUE(said().contains("1000")) << said().toStdString();
}

TEST_F(AnnotationsTest, UndoAndClosingAnImageEndTheSelection) {
    start_with({"card.png", "zone_plate.png"},
               {{.image = 1, .from = {1, 1}, .to = {9, 9}}, {.from = {80, 50}, .to = {120, 50}}});
    click({100, 50});
    ASSERT_EQ(tool().selected(), 1u);
    workspace().close(1);
    EXPECT_FALSE(tool().selected());
    ASSERT_EQ(annotations().size(), 1u);
    EXPECT_EQ(annotations()[0].from, (Position{80, 50}));
}

TEST_F(AnnotationsTest, ExportsOfTheViewHaveAnnotationsAndExportsOfDataHaveNone) {
    const QTemporaryDir folder;
    const auto exported = [&](const char* name) {
        workspace().export_texels(folder.filePath(name));
        settle();
        return QImage(folder.filePath(name));
    };
    settle();
    const qsizetype before = count(canvas().image(), AnnotationColor::magenta);
    const QImage texels = exported("without.png");
    ASSERT_FALSE(texels.isNull());
    workspace().change("Annotate", [](Session& session) {
        session.annotations = {{.kind = AnnotationKind::box,
                                .from = {70, 45},
                                .to = {130, 75},
                                .text = "<here>",
                                .color = AnnotationColor::magenta}};
    });
    settle();
    EXPECT_GT(count(canvas().image(), AnnotationColor::magenta), before + 500);
    EXPECT_EQ(exported("with.png"), texels);
    const std::string page = view_page(canvas().grab().toImage(), "card", canvas().scene());
    EXPECT_NE(page.find("Box (70, 45) to (130, 75): &lt;here&gt;"), std::string::npos);
    workspace().look([](Session& session) { session.overlays.annotations = false; });
    EXPECT_EQ(count(canvas().image(), AnnotationColor::magenta), before);
    EXPECT_EQ(view_page(QImage(), "card", canvas().scene()).find("Annotation"), std::string::npos);
}

TEST_F(AnnotationsTest, ScreenshotOfASessionShowsItsAnnotations) {
    const QTemporaryDir folder;
    Session session = this->session();
    session.annotations = {
        {.kind = AnnotationKind::arrow, .from = {60, 40}, .to = {100, 60}, .text = "edge of the wedge"},
        {.kind = AnnotationKind::box,
         .from = {104, 40},
         .to = {140, 62},
         .text = "blue",
         .color = AnnotationColor::blue},
        {.kind = AnnotationKind::ruler, .from = {70, 80}, .to = {124, 80}, .color = AnnotationColor::magenta},
        {.kind = AnnotationKind::ruler, .from = {50, 50}, .to = {62, 100}, .color = AnnotationColor::black},
        {.kind = AnnotationKind::text, .from = {90, 92}, .text = "any text", .color = AnnotationColor::white}};
    const auto path = folder.filePath("noted.json");
    write_session(path.toStdString(), session);
    const QImage noted = screenshot({"--session", path}, "1", folder.filePath("noted.png"));
    if (const QString images = qEnvironmentVariable("TEXTON_PANEL_IMAGES"); !images.isEmpty())
        noted.save(images + "/annotations_window.png");
    EXPECT_GT(count(noted, AnnotationColor::magenta), 300);
}

}  // namespace
}  // namespace texton::viewer::test
