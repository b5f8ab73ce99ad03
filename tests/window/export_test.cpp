// Export of texels in the background.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProgressBar>
#include <QStatusBar>
#include <QTemporaryDir>
#include <algorithm>
#include <filesystem>

#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/window/fixture.h"
#include "viewer/gui/saved_view.h"

namespace texton::viewer {
namespace {

constexpr Extent kExtent{2048, 2304};  // written in two bands

class ExportTest : public test::WindowFixture {
protected:
    // Starts with an image that takes some time to write.
    void start_with_noise() {
        std::vector<std::byte> texels(4 * kExtent.width * kExtent.height);
        std::uint32_t state = 1;
        for (std::byte& texel : texels) texel = std::byte((state = state * 1664525 + 1013904223) >> 24);
        write_image(path("noise.tif").toStdString(), Format::rgba8_unorm, kExtent, texels);
        Session session = test::session_with({});
        session.images.push_back({.paths = {path("noise.tif").toStdString()}});
        start(session);
        listen();
    }
    void listen() {
        QObject::connect(&workspace(), &Workspace::told, &window(), [this](const QString& text) { said_ = text; });
    }
    QString path(const char* name) const { return folder_.filePath(name); }
    /// Returns the last status message. The window shows it for some seconds.
    const QString& said() const { return said_; }
    bool shows_progress() { return !window().statusBar()->findChild<QProgressBar*>()->isHidden(); }

private:
    QTemporaryDir folder_;
    QString said_;
};

TEST_F(ExportTest, ExportWritesAllTexelsAndShowsItsProgress) {
    start_with_noise();
    std::vector<double> shares;
    QObject::connect(&workspace(), &Workspace::progressed, &window(),
                     [&](double share, const QString&) { shares.push_back(share); });
    workspace().export_texels(path("out.tif"));
    EXPECT_TRUE(shows_progress());
    settle();
    EXPECT_FALSE(shows_progress());
    EXPECT_TRUE(said().startsWith("Saved ")) << said().toStdString();
    EXPECT_TRUE(std::ranges::any_of(shares, [](double share) { return share > 0 && share < 1; }))
        << testing::PrintToString(shares);
    EXPECT_EQ(open_image(path("out.tif").toStdString()).info().extent, kExtent);
}

TEST_F(ExportTest, EscapeCancelsTheExportAndLeavesNoFile) {
    start_with_noise();
    workspace().export_texels(path("out.tif"));
    workspace().export_texels(path("other.tif"));
    EXPECT_TRUE(said().contains("other.tif was not written")) << said().toStdString();
    QTest::keyClick(&window(), Qt::Key_Escape);
    EXPECT_FALSE(workspace().is_exporting());
    EXPECT_FALSE(shows_progress());
    settle();
    EXPECT_EQ(said(), "The export was canceled.");
    EXPECT_EQ(QDir(path("")).entryList(QDir::Files), QStringList{"noise.tif"});
}

TEST_F(ExportTest, UnwritableFileIsReported) {
    start({"card.png"});
    listen();
    workspace().export_texels(path("no/such/folder.tif"));
    settle();
    EXPECT_TRUE(said().contains("folder.tif")) << said().toStdString();
    EXPECT_FALSE(shows_progress());
}

TEST(SavedViewTest, AFailedExportKeepsTheOldFile) {
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("view.png").toStdString();
    QImage image(4, 3, QImage::Format_ARGB32);
    image.fill(Qt::red);
    save_view(path, image);
    EXPECT_EQ(QImage(QString::fromStdString(path.string())).size(), image.size());
    EXPECT_THROW(save_view(path, QImage()), Error);
    EXPECT_EQ(QImage(QString::fromStdString(path.string())).size(), image.size());
    for (const char* name : {"view.nokind", "view", "no/such/folder.png"})
        EXPECT_THROW(save_view(folder.filePath(name).toStdString(), image), Error) << name;
    EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).join(' ').toStdString(), "view.png");
}

TEST_F(ExportTest, WebPageContainsTheCanvasTheSettingsAndTheValuesAtPins) {
    Session session = test::session_with({"card.png", "card.png"});
    session.pins = {{20.5, 10.5}};
    session.display.exposure = 1.5f;
    session.reference = 1;
    session.compare.mode = CompareMode::absolute;
    session.kernel = {.name = "gaussian", .parameters = {{"sigma", 0.25}}, .more_inputs = {}};
    start(session);
    listen();
    window().export_page(path("view.html"));
    EXPECT_EQ(said(), "Saved " + path("view.html") + ".");
    QFile file(path("view.html"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(file.readAll());
    for (const char* text :
         {"<title>card.png</title>", "481 x 321 of rgba8_srgb", "exposure 1.5 stops", "gaussian, sigma 0.25",
          "absolute with card.png", "Pin (20, 10)", "1.0000  0.0000  0.0000"})
        EXPECT_TRUE(page.contains(text)) << text << "\n" << page.right(2000).toStdString();
    EXPECT_FALSE(page.contains(QString::fromStdString(test::asset("card.png").parent_path().string())))
        << "folders are private";
    for (const char* outside : {"http:", "https:", "<script", "<link rel=\"stylesheet\""})
        EXPECT_FALSE(page.contains(outside)) << outside;

    const QString begin = "src=\"data:image/png;base64,";
    const qsizetype first = page.indexOf(begin) + begin.size();
    const QByteArray png = QByteArray::fromBase64(page.mid(first, page.indexOf('"', first) - first).toLatin1());
    EXPECT_EQ(QImage::fromData(png).convertToFormat(QImage::Format_RGB32),
              canvas().grab().toImage().convertToFormat(QImage::Format_RGB32));
}

TEST_F(ExportTest, WebPageEscapesNamesAndCannotBeWrittenToAMissingFolder) {
    const QString name = path("<b>&\"'.png");
    ASSERT_TRUE(QFile::copy(QString::fromStdString(test::asset("ball.png").string()), name));
    Session session = test::session_with({});
    session.images = {{.paths = {name.toStdString()}, .options = {}}};
    start(session);
    window().export_page(path("view.html"));
    QFile file(path("view.html"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(file.readAll());
    EXPECT_TRUE(page.contains("<h1>&lt;b&gt;&amp;&quot;")) << page.left(1500).toStdString();
    EXPECT_FALSE(page.contains("<b>"));
    EXPECT_THROW(window().export_page(path("missing/view.html")), Error);
}

}  // namespace
}  // namespace texton::viewer
