// Video images with planes of luma and chroma, in every panel.
#include <QLabel>
#include <fstream>

#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

struct Plane {
    Format format;
    int plane;
    const char* text;
    const char* texels;
};

class PlanarTest : public test::WindowFixture, public testing::WithParamInterface<Plane> {
protected:
    /// Returns a frame of 128 x 72. The codes of P010 are those of NV12 in the high bits.
    Source frame() const {
        Source source{.paths = {test::asset("nv12_128x72.yuv")}, .options = {}};
        source.options.raw = RawFrames{.format = GetParam().format, .extent = {128, 72}};
        if (GetParam().format == Format::nv12) return source;
        std::ifstream codes(source.paths.front(), std::ios::binary);
        source.paths = {folder_.filePath("p010.yuv").toStdString()};
        std::ofstream out(source.paths.front(), std::ios::binary);
        for (char code = 0; codes.get(code);) out.put(0).put(code);
        return source;
    }
    /// Returns all visible texts of the panel.
    QString words_in(const QString& id) {
        QStringList text;
        for (const QLabel* label : window().docks().at(id)->findChildren<QLabel*>())
            if (label->isVisible()) text.append(label->text());
        return text.join('\n');
    }

    const QTemporaryDir folder_;
};

TEST_P(PlanarTest, EveryPanelShowsAPlane) {
    Session session;
    session.device = test::device_name();
    session.images = {frame(), frame()};
    session.images.back().options.upright = false;  // the same texels
    session.reference = 1;
    session.compare.mode = CompareMode::ulp;
    session.subresource.plane = GetParam().plane;
    session.reading = Reading::sampled;
    session.pins = {{20.5, 10.5}};
    session.panels.clear();
    start(session);
    ASSERT_TRUE(workspace().document()) << workspace().problem(0).toStdString();
    std::map<QString, QString> said;
    for (const PanelInfo& panel : panels()) {
        window().show_panel(panel.id, true);
        settle();
        said[panel.id] = words_in(panel.id);
        EXPECT_FALSE(said[panel.id].contains("cannot")) << said[panel.id].toStdString();
        window().show_panel(panel.id, false);
    }
    EXPECT_EQ(window().message(), QString());
    const auto says = [&](const char* id, const QString& text) {
        EXPECT_TRUE(said.at(id).contains(text)) << id << ": " << said.at(id).toStdString();
    };
    says("subresource", GetParam().text);
    says("inspector", GetParam().plane == 0 ? "(20, 10), luma" : "(20, 10), chroma");
    says("histogram", "Mean");
    says("compare", QString("0 of %1").arg(GetParam().texels));
    says("footprint", "0 ulps");
    says("probe", "CPU");
    says("byte-map", "none was overwritten");
    says("residency", "1 of 1 slots mapped");
}

INSTANTIATE_TEST_SUITE_P(Planes, PlanarTest,
                         testing::Values(Plane{Format::nv12, 0, "128 x 72 of r8_unorm, planar nv12", "9216"},
                                         Plane{Format::p010, 1, "64 x 36 of rg16_unorm, planar p010", "2304"}),
                         [](const auto& info) {
                             return std::string(name(info.param.format)) + (info.param.plane == 0 ? "luma" : "chroma");
                         });

}  // namespace
}  // namespace texton::viewer
