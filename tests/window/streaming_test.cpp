// Images that are streamed: the window shows coarser texels until those that are seen have been read.
#include <QLabel>
#include <QListWidget>
#include <QStatusBar>
#include <fstream>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/image_save.h>

#include "tests/window/fixture.h"
#include "viewer/gui/panels/streaming.h"
#include "viewer/model/streamed_image.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kSide = 2048;
constexpr std::size_t kMiB = std::size_t{1} << 20;

class StreamingTest : public test::WindowFixture {
protected:
    static std::uint8_t code(std::size_t x, std::size_t y, int seed) {
        return static_cast<std::uint8_t>((x * 7 + y * 13 + static_cast<std::size_t>(seed)) % 251);
    }
    std::filesystem::path path() const { return folder_.filePath("levels.tif").toStdString(); }

    // Writes a file whose level 0 has codes of their own and whose other levels are black.
    void write(int seed) const {
        const Array array(Device::cpu(), {.format = Format::r8_unorm, .extent = {kSide, kSide}, .levels = 12});
        std::vector<std::uint8_t> texels(kSide * kSide);
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = code(i % kSide, i / kSide, seed);
        const Stream stream(Device::cpu());
        for (int level = 1; level < 12; ++level) fill(array.view({.level = level}), 0, stream);
        stream.synchronize();
        copy(array.view({.level = 0}),
             host_view(static_cast<const void*>(texels.data()), Format::r8_unorm, {kSide, kSide}));
        save(path(), array, {.compression = "zip"});
    }
    void open(std::size_t budget = 2 * kMiB) {
        Session session = test::session_with({});
        session.images.push_back({.paths = {path()}});
        session.overlays = {.values = false, .grid = false};
        start(session, {1000, 750}, {.loaded = kMiB, .streamed = budget});
        ASSERT_NE(workspace().document(), nullptr) << workspace().problem(0).toStdString();
        ASSERT_NE(workspace().document()->streamed(), nullptr) << workspace().document()->streaming_problem();
    }
    void look(double zoom, Position center) {
        workspace().look([&](Session& session) {
            session.fits = false;
            session.view = {zoom, center};
        });
    }
    // Returns the gray value of the pixel that shows the texel, as drawn by the canvas.
    int gray(std::size_t x, std::size_t y) {
        QImage image(canvas().size() * canvas().devicePixelRatioF(), QImage::Format_RGB32);
        image.setDevicePixelRatio(canvas().devicePixelRatioF());
        canvas().render(&image);
        const PlanePixel origin = canvas_origin(canvas().scene());
        const double zoom = session().view.zoom;
        return qRed(image.pixel(static_cast<int>((static_cast<double>(x) + 0.5) * zoom) - origin.x,
                                static_cast<int>((static_cast<double>(y) + 0.5) * zoom) - origin.y));
    }
    QString text(const char* name) { return window().docks().at("streaming")->findChild<QLabel*>(name)->text(); }

    QTemporaryDir folder_;
};

TEST_F(StreamingTest, ZoomedInTheCanvasShowsTheTexelsOfTheFile) {
    write(1);
    open();
    EXPECT_EQ(gray(1000, 1000), 0) << "a coarse level";
    for (const Position& center : {Position{1000, 1000}, Position{300, 1700}, Position{1040, 980}}) {
        look(2, center);
        settle();
        ASSERT_TRUE(canvas().is_complete());
        for (std::size_t i = 0; i < 40; ++i) {
            const std::size_t x = static_cast<std::size_t>(center.x) - 20 + i, y = static_cast<std::size_t>(center.y);
            ASSERT_EQ(gray(x, y), code(x, y, 1)) << x << ", " << y;
        }
    }
    const StreamedStatus status = workspace().document()->streamed()->status();
    EXPECT_LE(status.counts.resident_bytes, 2 * kMiB);
    EXPECT_TRUE(status.failures.empty());
}

TEST_F(StreamingTest, HoveredTexelIsApproximateUntilItIsResident) {
    write(1);
    open();
    const auto hovered = [&](std::size_t x, std::size_t y) {
        workspace().hover(SeenTexel{{}, {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5}});
        for (const QLabel* label : window().statusBar()->findChildren<QLabel*>()) {
            if (label->text().startsWith(QString("(%1, %2)").arg(x).arg(y))) return label->text();
        }
        return QString();
    };
    EXPECT_TRUE(hovered(1000, 1000).contains("about")) << hovered(1000, 1000).toStdString();
    look(2, {1000, 1000});
    settle();
    EXPECT_EQ(hovered(1001, 1000), QString("(1001, 1000)   %1").arg(code(1001, 1000, 1) / 255.0, 0, 'f', 4));
}

TEST_F(StreamingTest, PanelCountsAndOutlinesTiles) {
    write(1);
    open();
    panel<StreamingPanel>("streaming");
    look(2, {1000, 1000});
    settle();
    EXPECT_TRUE(text("tiles").contains("Level 0: ")) << text("tiles").toStdString();
    EXPECT_TRUE(text("tiles").contains(" 0 show a coarser level, 0 failed")) << text("tiles").toStdString();
    EXPECT_TRUE(text("memory").contains("of 2.0")) << text("memory").toStdString();
    EXPECT_TRUE(text("queue").startsWith("0 waiting")) << text("queue").toStdString();
    const std::size_t tiles = workspace().document()->streamed()->status().tiles.size();
    EXPECT_EQ(workspace().outlines().size(), tiles);
    window().docks().at("streaming")->findChild<QCheckBox*>("outlines")->click();
    settle();
    EXPECT_TRUE(workspace().outlines().empty());
    window().show_panel("streaming", false);
    EXPECT_TRUE(workspace().outlines().empty());
}

TEST_F(StreamingTest, DamagedTilesShowCoarserTexelsAndAreListed) {
    write(1);
    const auto bytes = std::filesystem::file_size(path());
    {
        // The tiles of level 0 come first.
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(bytes / 2));
        file << std::string(20000, 'x');
    }
    open(8 * kMiB);
    panel<StreamingPanel>("streaming");
    look(0.6, {1024, 1024});
    settle();
    EXPECT_TRUE(canvas().is_complete());
    const auto* failures = window().docks().at("streaming")->findChild<QListWidget*>("failures");
    ASSERT_GT(failures->count(), 0);
    EXPECT_TRUE(failures->item(0)->text().startsWith("Level 0, texel (")) << failures->item(0)->text().toStdString();
    EXPECT_FALSE(text("tiles").contains(" 0 failed")) << text("tiles").toStdString();
}

TEST_F(StreamingTest, ChangedFileIsReadAgain) {
    write(1);
    open();
    look(2, {1000, 1000});
    settle();
    ASSERT_EQ(gray(1000, 1000), code(1000, 1000, 1));
    write(100);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            settle();
            return gray(1000, 1000) == code(1000, 1000, 100);
        },
        test::kPatience));
    ASSERT_NE(workspace().document()->streamed(), nullptr);
}

TEST_F(StreamingTest, ImageThatIsNotShownReleasesItsTiles) {
    write(1);
    open();
    look(2, {1000, 1000});
    settle();
    const std::shared_ptr<StreamedImage> image = workspace().document()->streamed();
    ASSERT_GT(image->status().counts.resident_tiles, 0u);
    workspace().open({{.paths = {test::asset("card.png")}, .options = {}}});
    settle();
    ASSERT_TRUE(QTest::qWaitFor([&] { return image->settled(); }, test::kPatience));
    EXPECT_EQ(image->status().counts.resident_tiles, 0u);
}

}  // namespace
}  // namespace texton::viewer
