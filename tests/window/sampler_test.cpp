#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>

#include "tests/window/panel_test.h"
#include "viewer/gui/sampler_fields.h"

namespace texton::viewer::test {
namespace {

class SamplerPanelTest : public PanelTest {
protected:
    const Sampler& sampler() const { return *session().sampler; }
    QString problem() const { return find<QLabel>("Message")->text(); }
};

TEST_F(SamplerPanelTest, EveryFieldCanBeEditedWithKeys) {
    open("sampler", {"levels.dds"});
    Sampler chosen = workspace_->document()->standard_sampler();
    choose("Address x", "wrap");
    choose("Address y", "mirror");
    choose("Address z", "border");
    chosen.address[0] = AddressMode::wrap;
    chosen.address[1] = AddressMode::mirror;
    chosen.address[2] = AddressMode::border;
    choose("Filter", "point");
    choose("Mip filter", "point");
    chosen.filter = chosen.mip_filter = Filter::point;
    for (const char* flag : {"Seamless cubemap", "Trilinear optimization"}) press(find<QCheckBox>(flag), Qt::Key_Space);
    chosen.seamless_cubemap = !chosen.seamless_cubemap;
    chosen.trilinear_optimization = !chosen.trilinear_optimization;
    press(find<QSpinBox>("Max anisotropy"), Qt::Key_PageUp);
    chosen.max_anisotropy += 10;
    type<NumberEdit>("Mip bias", "-0.5");
    type<NumberEdit>("Lowest level", "0.25");
    type<NumberEdit>("Highest level", "3");
    chosen.mip_bias = -0.5f;
    chosen.mip_min = 0.25f;
    chosen.mip_max = 3;
    const std::array<const char*, 4> names{"Border red", "Border green", "Border blue", "Border alpha"};
    for (std::size_t i = 0; i < 4; ++i) {
        type<NumberEdit>(names[i], QString::number(0.1 * static_cast<double>(i + 1)));
        chosen.border[i] = static_cast<float>(0.1 * static_cast<double>(i + 1));
    }
    ASSERT_TRUE(session().sampler);
    EXPECT_EQ(sampler(), chosen);
    EXPECT_TRUE(problem().contains("seamless_cubemap")) << "no cubemap";
    image("sampler");
}

TEST_F(SamplerPanelTest, InvalidSamplerReportsTheMessageOfTheLibrary) {
    open("sampler", {"levels.dds"});
    EXPECT_EQ(problem(), "");
    press(find<QCheckBox>("Normalized coordinates"), Qt::Key_Space);
    EXPECT_FALSE(sampler().normalized_coordinates);
    EXPECT_NE(problem(), "");
    EXPECT_FALSE(find<QLabel>("Message")->isHidden());
    image("sampler_problem");
    press(find<QCheckBox>("Normalized coordinates"), Qt::Key_Space);
    EXPECT_EQ(problem(), "");
}

TEST_F(SamplerPanelTest, ResetRestoresTheDefaultSamplerOfTheImage) {
    open("sampler", {"card.png"});
    QPushButton* reset = panel_->findChild<QPushButton*>();
    EXPECT_FALSE(reset->isEnabled());
    press(find<QComboBox>("Address x"), Qt::Key_Down);
    ASSERT_TRUE(session().sampler);
    click(reset);
    EXPECT_FALSE(session().sampler);
    EXPECT_EQ(find<QComboBox>("Address x")->currentText(), "clamp");
}

TEST_F(SamplerPanelTest, CanvasShowsStoredOrSampledTexels) {
    open("sampler", {"card.png"});
    EXPECT_TRUE(find<QRadioButton>("Show stored texels")->isChecked());
    press(find<QRadioButton>("Show sampled texels"), Qt::Key_Space);
    EXPECT_EQ(session().reading, Reading::sampled);
    workspace_->undo();
    settle();
    EXPECT_TRUE(find<QRadioButton>("Show stored texels")->isChecked());
}

TEST_F(SamplerPanelTest, FieldsAreDisabledWithoutAnImage) {
    open("sampler", {});
    EXPECT_FALSE(panel_->findChild<SamplerFields*>()->isEnabled());
}

TEST(SamplerFieldsTest, SettingASamplerEmitsNothingAndShowsEveryField) {
    Sampler sampler{.filter = Filter::linear,
                    .mip_filter = Filter::linear,
                    .normalized_coordinates = true,
                    .seamless_cubemap = true,
                    .trilinear_optimization = false,
                    .max_anisotropy = 16,
                    .mip_bias = 0.1f,
                    .mip_min = -1,
                    .mip_max = 7,
                    .border = {1, 2, 3, 4e9f}};
    sampler.address[1] = AddressMode::border;
    SamplerFields fields;
    int edits = 0;
    QObject::connect(&fields, &SamplerFields::edited, [&] { ++edits; });
    fields.set_sampler(sampler);
    EXPECT_EQ(edits, 0);
    EXPECT_EQ(fields.sampler(), sampler);
    for (NumberEdit* number : fields.findChildren<NumberEdit*>()) {
        if (number->accessibleName() == "Mip bias") {
            EXPECT_EQ(number->text(), "0.1");
        }
        QTest::keyClick(number, Qt::Key_Return);
    }
    EXPECT_EQ(edits, 0) << "Return without an edit does nothing";
    EXPECT_EQ(fields.sampler(), sampler);
}

}  // namespace
}  // namespace texton::viewer::test
