#include <OpenImageIO/imageio.h>
#include <QLabel>
#include <QTreeWidget>

#include "tests/window/panel_test.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer::test {
namespace {

// Writes an OpenEXR file in which each channel has a value of its own: 1, 2, 3, ...
void write_parts(const std::string& path, const std::vector<std::pair<std::string, std::vector<std::string>>>& parts) {
    std::vector<OIIO::ImageSpec> specs;
    for (const auto& [name, channels] : parts) {
        specs.emplace_back(8, 4, static_cast<int>(channels.size()), OIIO::TypeDesc::HALF);
        specs.back().channelnames = channels;
        specs.back().attribute("oiio:subimagename", name);
    }
    const auto out = OIIO::ImageOutput::create(path);
    ASSERT_TRUE(out && out->open(path, static_cast<int>(specs.size()), specs.data())) << OIIO::geterror();
    float first = 1;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (i > 0) {
            ASSERT_TRUE(out->open(path, specs[i], OIIO::ImageOutput::AppendSubimage)) << out->geterror();
        }
        std::vector<float> texels;
        for (int texel = 0; texel < 8 * 4; ++texel)
            for (int channel = 0; channel < specs[i].nchannels; ++channel)
                texels.push_back(first + static_cast<float>(channel));
        ASSERT_TRUE(out->write_image(OIIO::TypeDesc::FLOAT, texels.data())) << out->geterror();
        first += static_cast<float>(specs[i].nchannels);
    }
    ASSERT_TRUE(out->close()) << out->geterror();
}

class PartsPanelTest : public PanelTest {
protected:
    void open_file(const std::string& path) {
        Session session = session_with({});
        session.images = {{.paths = {path}, .options = {}}};
        open_session("parts", session);
    }
    QTreeWidget* tree() const { return find<QTreeWidget>("Parts and layers"); }
    QStringList rows() const {
        QStringList out;
        for (QTreeWidgetItemIterator each(tree()); *each != nullptr; ++each)
            out.append(((*each)->parent() != nullptr ? "- " : "") + (*each)->text(0));
        return out;
    }
    Color texel() const { return value_at(*workspace_->shown(), {}, 3, 2); }
    const QTemporaryDir folder_;
};

TEST_F(PartsPanelTest, LayersOfAllPartsAreListedAndShown) {
    const std::string path = folder_.filePath("parts.exr").toStdString();
    write_parts(path, {{"beauty", {"R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B"}},
                       {"ids", {"id.X", "id.Y", "id.Z", "weight"}}});
    open_file(path);
    EXPECT_EQ(rows().join('\n').toStdString(),
              "beauty  8 x 4\n- R G B A\n- Z\n- diffuse  R G B\nids  8 x 4\n- weight\n- id  X Y Z");
    ASSERT_NE(tree()->currentItem(), nullptr);
    EXPECT_EQ(tree()->currentItem()->text(0), "R G B A");
    EXPECT_EQ(texel(), (Color{1, 2, 3, 4}));

    press(tree(), Qt::Key_Down);
    press(tree(), Qt::Key_Down);
    EXPECT_EQ(session().images[0].options.channels, (std::vector<std::string>{"diffuse.R", "diffuse.G", "diffuse.B"}));
    EXPECT_EQ(texel()[1], 7);
    EXPECT_EQ(tree()->currentItem()->text(0), "diffuse  R G B");
    tree()->setCurrentItem(tree()->topLevelItem(1)->child(1));
    settle();
    EXPECT_EQ(session().images[0].options.part, 1);
    EXPECT_EQ(texel()[2], 11);
    image("parts");
    workspace_->undo();
    settle();
    EXPECT_EQ(session().images[0].options, ImageOptions{}) << "consecutive choices are one step";
    EXPECT_EQ(tree()->currentItem()->text(0), "R G B A");
}

TEST_F(PartsPanelTest, FileWithOnePartListsItsLayersOnly) {
    open("parts", {"card.png"});
    EXPECT_EQ(rows(), QStringList{"R G B"});
    EXPECT_EQ(tree()->currentItem()->text(0), "R G B");
}

TEST_F(PartsPanelTest, MissingFileIsExplainedAndAReplacedOneIsListedAgain) {
    const std::string path = folder_.filePath("later.exr").toStdString();
    open_file(path);
    EXPECT_FALSE(tree()->isVisible());
    EXPECT_TRUE(find<QLabel>("Note on the parts")->text().contains("later.exr"));
    write_parts(path, {{"one", {"a.R", "a.G", "a.B"}}});
    workspace_->reload(0);
    settle();
    EXPECT_EQ(rows(), QStringList{"a  R G B"});
    EXPECT_EQ(find<QLabel>("Note on the parts")->text(), "");
}

}  // namespace
}  // namespace texton::viewer::test
