// Images that the device holds at a reduced size only. When magnified, texels are read from the file.
#include <QLabel>
#include <QListWidget>
#include <atomic>
#include <cmath>
#include <thread>

#include <texton/copy.h>
#include <texton/image.h>
#include <texton/image_save.h>
#include <texton/linear.h>

#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"
#include "viewer/gui/panels/inspector.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kSide = 4096;

class LargeImageTest : public test::WindowFixture {
protected:
    // Returns alternating black and white texels, which become gray in the reduced image.
    static std::vector<std::byte> chequered(std::size_t side = kSide) {
        std::vector<std::byte> texels(side * side);
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = std::byte((i + i / side) % 2 == 0 ? 255 : 0);
        return texels;
    }
    std::filesystem::path at(const char* name) const { return folder_.filePath(name).toStdString(); }
    // Opens the image on a device with too little memory for 16 MiB.
    void start_with(const std::filesystem::path& path) {
        taken_.emplace(Device::cpu(), Device::cpu().memory().free - (std::size_t{20} << 20));
        Session session = test::session_with({});
        session.device = "cpu";
        session.images.push_back({.paths = {path}});
        session.overlays = {.values = false, .grid = false};
        start(session);
        ASSERT_NE(workspace().document(), nullptr) << workspace().problem(0).toStdString();
        ASSERT_EQ(workspace().document()->halvings(), 1);
    }
    void start_chequered() {
        write_image(at("chequered.tif"), Format::r8_unorm, {kSide, kSide}, chequered());
        start_with(at("chequered.tif"));
    }
    void look(double zoom, Position center) {
        workspace().look([&](Session& session) {
            session.fits = false;
            session.view = {zoom, center};
        });
    }
    // Returns the gray value of the pixel that shows the texel, as drawn by the canvas.
    int gray(Position texel) {
        QImage image(canvas().size() * canvas().devicePixelRatioF(), QImage::Format_RGB32);
        image.setDevicePixelRatio(canvas().devicePixelRatioF());
        canvas().render(&image);
        const PlanePixel origin = canvas_origin(canvas().scene());
        const double zoom = session().view.zoom;
        return qRed(
            image.pixel(static_cast<int>(texel.x * zoom) - origin.x, static_cast<int>(texel.y * zoom) - origin.y));
    }
    QString said(const char* name) {
        for (const QLabel* label : window().findChildren<QLabel*>())
            if (label->accessibleName() == name) return label->text();
        return {};
    }

    // Reads the file in another thread until stopped.
    class OtherReader {
    public:
        explicit OtherReader(std::shared_ptr<const Document> document)
            : thread_([this, document = std::move(document)] {
                  (void)document->texels({}, {0, kSide - 1, 1, 1}, CancellationToken([this] {
                                             reads_ = true;
                                             while (!ends_) std::this_thread::yield();
                                             return false;
                                         }));
              }) {
            while (!reads_) std::this_thread::yield();
        }
        ~OtherReader() {
            ends_ = true;
            thread_.join();
        }
        OtherReader(const OtherReader&) = delete;
        OtherReader& operator=(const OtherReader&) = delete;

    private:
        std::atomic<bool> reads_ = false, ends_ = false;
        std::thread thread_;
    };

    QTemporaryDir folder_;
    std::optional<Linear> taken_;
};

TEST_F(LargeImageTest, ZoomBeyondTheReducedImageShowsTheFilesTexels) {
    start_chequered();
    EXPECT_EQ(session().view.center, (Position{kSide / 2.0, kSide / 2.0})) << "in texels of the file";
    look(0.5, {2001, 2001});
    settle();
    EXPECT_FALSE(canvas().reads_files());
    EXPECT_NEAR(gray({2001, 2001}), 128, 1);
    for (const double zoom : {1.0, 2.0, 13.0}) {
        look(zoom, {2001, 2001});
        settle();
        EXPECT_TRUE(canvas().is_complete());
        for (const double x : {2000.5, 2001.5, 2010.5})
            EXPECT_EQ(gray({x, 2003.5}), static_cast<int>(x) % 2 == 1 ? 255 : 0) << zoom << " " << x;
        EXPECT_EQ(canvas().image().size(), canvas().size() * canvas().devicePixelRatioF());
    }
    look(4, {4095.5, 4095.5});
    settle();
    EXPECT_EQ(gray({4095.5, 4095.5}), 255) << "the last texel";
    EXPECT_EQ(gray({4094.5, 4095.5}), 0);
}

TEST_F(LargeImageTest, ReducedImageIsShownWhileTheFileIsRead) {
    start_chequered();
    {
        const OtherReader other(workspace().document());
        look(2, {1001, 1001});
        ASSERT_TRUE(QTest::qWaitFor([&] { return canvas().has_pixels() && canvas().reads_files(); }));
        EXPECT_FALSE(canvas().is_complete());
        EXPECT_NEAR(gray({1000.5, 1000.5}), 128, 1);
        hover(on_canvas({1000.5, 1003.5}));
        EXPECT_TRUE(said("Texel under the mouse").startsWith("(1000, 1003)   about 0.50"))
            << said("Texel under the mouse").toStdString();
        wheel(on_canvas({1000.5, 1000.5}), 2);
        EXPECT_EQ(session().view.zoom, 4);
        ASSERT_TRUE(QTest::qWaitFor([&] { return canvas().has_pixels(); }));
    }
    settle();
    EXPECT_TRUE(canvas().is_complete());
    EXPECT_FALSE(canvas().reads_files());
    EXPECT_EQ(gray({1000.5, 1000.5}), 255);
    hover(on_canvas({1000.5, 1003.5}));
    settle();
    EXPECT_EQ(said("Texel under the mouse"), "(1000, 1003)   0.0000");
}

TEST_F(LargeImageTest, EscapeStopsReadingUntilTheViewChanges) {
    start_chequered();
    {
        const OtherReader other(workspace().document());
        look(2, {1001, 1001});
        ASSERT_TRUE(QTest::qWaitFor([&] { return canvas().has_pixels() && canvas().reads_files(); }));
        QTest::keyClick(&window(), Qt::Key_Escape);
        EXPECT_FALSE(canvas().reads_files());
    }
    settle();
    EXPECT_NEAR(gray({1000.5, 1000.5}), 128, 1);
    look(2, {1100, 1001});
    settle();
    EXPECT_EQ(gray({1100.5, 1000.5}), 255);
}

TEST_F(LargeImageTest, PinsSelectionAndTextUseFilePositions) {
    start_chequered();
    look(20, {3001.5, 2001.5});
    settle();
    QTest::mouseClick(&canvas(), Qt::RightButton, {}, on_canvas({3001.5, 2001.5}));
    settle();
    EXPECT_EQ(session().pins, (std::vector<Position>{{3001.5, 2001.5}}));
    auto& inspector = panel<InspectorPanel>("inspector");
    QStringList text;
    for (const QLabel* label : inspector.findChildren<QLabel*>())
        if (label->isVisible()) text.append(label->text());
    EXPECT_TRUE(text.contains("(3001, 2001)")) << text.join(" | ").toStdString();
    EXPECT_TRUE(text.join(' ').contains("reduced image")) << text.join(" | ").toStdString();
    EXPECT_TRUE(inspector.findChild<QListWidget*>()->item(0)->text().contains("255"))
        << inspector.findChild<QListWidget*>()->item(0)->text().toStdString();
    QTest::mousePress(&canvas(), Qt::LeftButton, Qt::ShiftModifier, on_canvas({3000.5, 2000.5}));
    QTest::mouseMove(&canvas(), on_canvas({3005.5, 2003.5}));
    QTest::mouseRelease(&canvas(), Qt::LeftButton, Qt::ShiftModifier, on_canvas({3005.5, 2003.5}));
    EXPECT_EQ(session().selection, (TexelBox{3000, 2000, 6, 4}));
    EXPECT_TRUE(said("Size and format").startsWith("4096 x 4096")) << said("Size and format").toStdString();
    EXPECT_TRUE(said("Size and format").contains("shown from 2048 x 2048")) << said("Size and format").toStdString();

    // The same session on a device with enough memory.
    const Session kept = session_of(to_json(session()), "test");
    const ViewState view = kept.view;
    taken_.reset();
    workspace().reload(0);
    settle();
    ASSERT_EQ(workspace().document()->halvings(), 0);
    workspace().replace("test", kept);
    settle();
    EXPECT_EQ(session().view, view);
    EXPECT_EQ(gray({3006.5, 2001.5}), 0) << "at the same position";
    EXPECT_EQ(gray({3007.5, 2001.5}), 255);
}

TEST_F(LargeImageTest, ReplacedFileIsReadAgain) {
    start_chequered();
    look(2, {1001, 1001});
    settle();
    ASSERT_EQ(gray({1000.5, 1000.5}), 255);
    std::vector<std::byte> other = chequered();
    for (std::byte& texel : other) texel = ~texel;
    std::filesystem::remove(at("chequered.tif"));
    write_image(at("chequered.tif"), Format::r8_unorm, {kSide, kSide}, other);
    look(2, {1301, 1001});  // while its texels are being read
    workspace().reload(0);
    settle();
    EXPECT_EQ(gray({1300.5, 1000.5}), 0);
    EXPECT_EQ(gray({1301.5, 1000.5}), 255);
}

TEST_F(LargeImageTest, RemovedFileIsReportedAndTheReducedImageStays) {
    {
        const std::vector<std::byte> texels = chequered();
        save(at("chequered.dds"), image_of(host_view(texels.data(), Format::r8_unorm, {kSide, kSide})));
    }
    start_with(at("chequered.dds"));
    std::filesystem::remove(at("chequered.dds"));
    QString told;
    QObject::connect(&workspace(), &Workspace::told, &window(), [&](const QString& text) { told = text; });
    look(2, {1001, 1001});
    settle();
    EXPECT_TRUE(canvas().isVisible());
    EXPECT_FALSE(canvas().reads_files());
    EXPECT_NEAR(gray({1000.5, 1000.5}), 128, 1);
    EXPECT_TRUE(told.contains("chequered.dds")) << told.toStdString();
}

TEST_F(LargeImageTest, EveryPanelAcceptsAReducedImage) {
    start_chequered();
    look(20, {3001.5, 2001.5});
    QTest::mouseClick(&canvas(), Qt::RightButton, {}, on_canvas({3001.5, 2001.5}));
    for (const PanelInfo& each : panels()) {
        window().show_panel(each.id, true);
        settle();
        for (const Outline& outline : workspace().outlines()) {
            EXPECT_EQ(std::fmod(outline.width, 2), 0) << "one texel of the array covers two of the file";
            EXPECT_LT(outline.x, 4096);
        }
        window().show_panel(each.id, false);
    }
}

}  // namespace
}  // namespace texton::viewer
