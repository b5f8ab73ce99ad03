// The byte map with mouse and keyboard input.
#include "viewer/gui/panels/byte_map.h"

#include <algorithm>

#include "tests/window/fixture.h"

namespace texton::viewer {
namespace {

class ByteMapTest : public test::WindowFixture {
protected:
    ByteMap& open(const std::vector<std::string>& assets) {
        start(assets);
        ByteMap& map = panel<ByteMap>("byte-map");
        settle();
        return map;
    }

    const Outline* outline() {
        outlines_ = workspace().outlines();
        return outlines_.empty() ? nullptr : &outlines_.back();
    }

private:
    std::vector<Outline> outlines_;
};

TEST_F(ByteMapTest, ClickOnAByteOutlinesItsTexelOnTheCanvas) {
    ByteMap& map = open({"card.png"});
    auto* bytes = map.findChild<BytesView*>();
    ASSERT_TRUE(bytes->isVisible());
    QTest::mouseClick(bytes->viewport(), Qt::LeftButton, {}, QPoint(4 * 13 + 1, 4 * 5 + 1));  // cells of 4 pixels
    EXPECT_EQ(bytes->selected(), 5u * 2048 + 13);
    ASSERT_NE(outline(), nullptr);
    EXPECT_EQ(outline()->x, 3);  // rgba8: the fourth texel
    EXPECT_EQ(outline()->y, 5);
    EXPECT_TRUE(map.findChild<QLabel*>("selected")->text().contains("byte 1 of texel (3, 5)"))
        << map.findChild<QLabel*>("selected")->text().toStdString();
}

TEST_F(ByteMapTest, TypedTexelSelectsItsByteAndTypedByteItsTexel) {
    ByteMap& map = open({"card.png"});
    auto* bytes = map.findChild<BytesView*>();
    map.findChild<QSpinBox*>("texel-x")->setValue(480);
    map.findChild<QSpinBox*>("texel-y")->setValue(320);
    ASSERT_TRUE(bytes->selected().has_value());
    const std::size_t pitch = 2048;  // for 481 texels of 4 bytes, rounded up to a multiple of 512
    EXPECT_EQ(*bytes->selected(), 320 * pitch + 480 * 4);
    auto* typed = map.findChild<QLineEdit*>("byte");
    typed->setText("0x785");  // 1925: after the last texel of the first row
    QTest::keyClick(typed, Qt::Key_Return);
    EXPECT_EQ(bytes->selected(), 1925u);
    EXPECT_EQ(outline(), nullptr);
    EXPECT_TRUE(map.findChild<QLabel*>("selected")->text().contains("padding"));
    typed->setText("nonsense");
    QTest::keyClick(typed, Qt::Key_Return);
    EXPECT_EQ(bytes->selected(), 1925u);
    QTest::keyClick(bytes, Qt::Key_Left);
    QTest::keyClick(bytes, Qt::Key_Left);
    EXPECT_EQ(outline()->x, 480);
    QTest::keyClick(bytes, Qt::Key_Down);
    EXPECT_EQ(bytes->selected(), 1923 + pitch);
}

TEST_F(ByteMapTest, PaddingIsIntactAndThePinnedTexelIsSelected) {
    ByteMap& map = open({"card.png"});
    EXPECT_TRUE(map.findChild<QLabel*>("summary")->text().contains("none was overwritten"));
    workspace().change("Pin", [](Session& session) { session.pins = {{7.5, 2.5}}; });
    settle();
    EXPECT_EQ(map.findChild<BytesView*>()->selected(), 2u * 2048 + 7 * 4);
}

TEST_F(ByteMapTest, AnotherPitchChangesThePreview) {
    ByteMap& map = open({"card.png"});
    auto* shown = map.findChild<QLabel*>("sheared");
    const QImage right = shown->pixmap().toImage();
    ASSERT_FALSE(right.isNull());
    auto* pitch = map.findChild<QSpinBox*>("pitch");
    EXPECT_EQ(pitch->value(), 2048);
    QTest::keyClick(map.findChild<QSlider*>("pitch-slider"), Qt::Key_Right);
    settle();
    EXPECT_EQ(pitch->value(), 2052);
    EXPECT_NE(shown->pixmap().toImage(), right);
    pitch->setValue(2048);
    settle();
    EXPECT_EQ(shown->pixmap().toImage(), right);
}

TEST_F(ByteMapTest, EveryKindOfImageIsShownAndAMissingImageIsReported) {
    ByteMap& map = open({"phantom.dds"});
    workspace().change("Slice", [](Session& session) { session.subresource.slice = 3; });
    settle();
    EXPECT_EQ(map.findChild<QSpinBox*>("texel-slice")->value(), 3);
    for (const char* name :
         {"odd_1x1.png", "bc1.dds", "cube.dds", "layers.dds", "nan_and_inf.exr", "nv12_128x72.yuv"}) {
        Session next = test::session_with({name});
        if (std::string(name).ends_with(".yuv"))
            next.images[0].options.raw = RawFrames{.format = Format::nv12, .extent = {128, 72}};
        next.panels = session().panels;
        workspace().replace("Another", next);
        settle();
        EXPECT_TRUE(map.findChild<BytesView*>()->isVisible()) << name;
        EXPECT_TRUE(map.findChild<QLabel*>("summary")->text().contains("none was overwritten")) << name;
    }
    Session none;
    none.panels = session().panels;
    workspace().replace("None", none);
    settle();
    EXPECT_TRUE(map.findChild<QLabel*>("words")->isVisible());
    EXPECT_FALSE(map.findChild<BytesView*>()->isVisible());
}

TEST_F(ByteMapTest, ZoomKeepsTheByteUnderTheCursorAndCombinesBytesWhenSmall) {
    ByteMap& map = open({"card.png"});
    auto* bytes = map.findChild<BytesView*>();
    bytes->setFocus();
    const QPoint center = bytes->viewport()->rect().center();
    const auto turn = [&](int notches) {
        QWheelEvent event(center, bytes->viewport()->mapToGlobal(QPointF(center)), {}, {0, notches * 120}, Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(bytes->viewport(), &event);
        settle();
    };
    const auto before = bytes->byte_at(center);
    turn(1);
    EXPECT_EQ(bytes->byte_at(center), before);
    EXPECT_FALSE(bytes->seen().isEmpty());
    for (int i = 0; i < 10; ++i) turn(-1);
    EXPECT_TRUE(bytes->seen().isEmpty());  // cells of several bytes have no value
    EXPECT_FALSE(bytes->grab().isNull());
}

}  // namespace
}  // namespace texton::viewer
