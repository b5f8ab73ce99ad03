#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QToolButton>

#include "tests/window/panel_test.h"
#include "viewer/gui/annotation_tool.h"

namespace texton::viewer::test {
namespace {

class AnnotationsPanelTest : public PanelTest {};

TEST_F(AnnotationsPanelTest, ListsTheAnnotationsOfTheImageAndEditsTextAndColor) {
    Session session = session_with({"cube.dds", "card.png"});
    session.annotations = {{.kind = AnnotationKind::ruler, .image = 1, .from = {1, 2}, .to = {4, 6}},
                           {.kind = AnnotationKind::box, .image = 1, .from = {1, 2}, .to = {3, 4}, .text = "b"},
                           {.subresource = {.face = 2}, .from = {0, 0}, .to = {2, 2}}};
    open_session("annotations", session);
    auto* list = find<QListWidget>("Annotations of the image");
    ASSERT_EQ(list->count(), 1);
    EXPECT_TRUE(list->item(0)->text().startsWith("Arrow (0, 0) to (2, 2) [")) << list->item(0)->text().toStdString();
    EXPECT_TRUE(list->item(0)->text().contains("face +y"));
    EXPECT_FALSE(find<QLineEdit>("Annotation text")->isEnabled());
    list->setCurrentRow(0);
    settle();
    EXPECT_EQ(this->session().subresource.face, 2) << "the subresource of the annotation is shown";

    workspace_->look([](Session& now) { now.current = 1; });
    settle();
    ASSERT_EQ(list->count(), 2);
    EXPECT_EQ(list->item(0)->text(), "Ruler (1, 2) to (4, 6), 5 texels (dx 3, dy 4)");
    list->setCurrentRow(1);
    settle();
    EXPECT_EQ(find<QLineEdit>("Annotation text")->text(), "b");
    type<QLineEdit>("Annotation text", "corner");
    choose("Annotation color", "cyan");
    EXPECT_EQ(this->session().annotations[1].text, "corner");
    EXPECT_EQ(this->session().annotations[1].color, AnnotationColor::cyan);
    EXPECT_EQ(list->item(1)->text(), "Box (1, 2) to (3, 4): corner");
    image("annotations");
    click(find<QPushButton>("Remove"));
    EXPECT_EQ(list->count(), 1);
}

TEST_F(AnnotationsPanelTest, ChoosesTheTool) {
    open("annotations", {"card.png"});
    click(find<QToolButton>("Ruler"));
    EXPECT_EQ(workspace_->annotation_tool().kind(), AnnotationKind::ruler);
    EXPECT_TRUE(find<QToolButton>("Ruler")->isChecked());
    click(find<QToolButton>("Box"));
    EXPECT_EQ(workspace_->annotation_tool().kind(), AnnotationKind::box);
    EXPECT_FALSE(find<QToolButton>("Ruler")->isChecked());
    click(find<QToolButton>("Box"));
    EXPECT_FALSE(workspace_->annotation_tool().kind());
}

}  // namespace
}  // namespace texton::viewer::test
