#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>

#include "tests/window/panel_test.h"
#include "viewer/gui/controls.h"
#include "viewer/gui/parameter_fields.h"

namespace texton::viewer::test {
namespace {

class KernelPanelTest : public PanelTest {
protected:
    void search(const char* name) const { type<QLineEdit>("Search kernels", name); }
    QString problem() const { return find<QLabel>("Message")->text(); }
    QWidget* field(const char* name) const { return panel_->findChild<ParameterFields*>()->findChild<QWidget*>(name); }
};

TEST_F(KernelPanelTest, EveryKernelIsListedUnderItsGroup) {
    open("kernel", {});
    const auto* list = find<QTreeWidget>("Kernels");
    for (const Kernel& kernel : kernels()) {
        const auto found =
            list->findItems(QString::fromStdString(kernel.info.name), Qt::MatchExactly | Qt::MatchRecursive);
        const auto below = std::ranges::count_if(found, [](const auto* item) { return item->parent() != nullptr; });
        EXPECT_EQ(below, 1) << kernel.info.name;
    }
}

TEST_F(KernelPanelTest, KernelCanBeFoundRunAndRemoved) {
    open("kernel", {"card.png"});
    search("gaussian");
    EXPECT_EQ(session().kernel.name, "gaussian");
    ASSERT_NE(workspace_->shown(), nullptr);
    EXPECT_NE(workspace_->shown(), workspace_->document());
    EXPECT_EQ(problem(), "");
    EXPECT_TRUE(find<QLabel>("Run time")->text().contains("ms"));
    image("kernel");
    find<QLineEdit>("Search kernels")->clear();
    auto* list = find<QTreeWidget>("Kernels");
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Home);
    settle();
    EXPECT_EQ(session().kernel.name, "");
    EXPECT_EQ(workspace_->shown(), workspace_->document());
}

TEST_F(KernelPanelTest, KernelFieldsShowDefaultsWithoutEmittingEdits) {
    open("kernel", {"card.png"});
    for (const Kernel& kernel : kernels()) {
        ParameterFields fields(kernel.info);
        int edits = 0;
        QObject::connect(&fields, &ParameterFields::edited, [&] { ++edits; });
        fields.show();
        for (const ParameterInfo& parameter : kernel.info.parameters) {
            const auto* made = fields.findChild<QWidget*>(QString::fromStdString(parameter.name));
            ASSERT_NE(made, nullptr) << kernel.info.name << " " << parameter.name;
            EXPECT_FALSE(made->toolTip().isEmpty());
        }
        for (QLineEdit* edit : fields.findChildren<QLineEdit*>()) QTest::keyClick(edit, Qt::Key_Return);
        EXPECT_EQ(edits, 0) << kernel.info.name;
    }
}

TEST_F(KernelPanelTest, SessionStoresOnlyParametersThatDifferFromDefaults) {
    open("kernel", {"card.png"});
    search("swizzle");
    type<QLineEdit>("Order", "bgra");
    EXPECT_EQ(std::get<std::string>(session().kernel.parameters.at("order")), "bgra");
    const Color swizzled = value_at(*workspace_->shown(), {}, 20, 10);
    EXPECT_EQ(swizzled, (Color{0, 0, 1, 1})) << "the red bar";
    type<QLineEdit>("Order", "rgba");
    EXPECT_TRUE(session().kernel.parameters.empty());
    type<QLineEdit>("Order", "nonsense");
    EXPECT_NE(problem(), "");
    click(panel_->findChild<QPushButton*>());
    EXPECT_TRUE(session().kernel.parameters.empty());
    EXPECT_EQ(problem(), "");
}

TEST_F(KernelPanelTest, EveryParameterKindHasItsKindOfControl) {
    open("kernel", {"card.png"});
    for (const Kernel& kernel : kernels()) {
        workspace_->change("Kernel", [&](Session& session) { session.kernel = {kernel.info.name, {}, {}}; });
        settle();
        for (const ParameterInfo& parameter : kernel.info.parameters) {
            QWidget* made = field(parameter.name.c_str());
            ASSERT_NE(made, nullptr) << kernel.info.name << " " << parameter.name;
            switch (parameter.kind) {
                case ParameterKind::flag: EXPECT_NE(qobject_cast<QCheckBox*>(made), nullptr); break;
                case ParameterKind::integer: EXPECT_NE(qobject_cast<QSpinBox*>(made), nullptr); break;
                case ParameterKind::choice: EXPECT_NE(qobject_cast<QComboBox*>(made), nullptr); break;
                case ParameterKind::text: EXPECT_NE(qobject_cast<QLineEdit*>(made), nullptr); break;
                case ParameterKind::number:
                case ParameterKind::numbers:
                    EXPECT_TRUE(qobject_cast<QLineEdit*>(made) != nullptr ||
                                !made->findChildren<NumberEdit*>().empty());
            }
        }
    }
}

TEST_F(KernelPanelTest, SecondInputIsSelectedFromTheOpenImages) {
    open("kernel", {"card.png", "ball.png", "card.png"});
    search("blend");
    auto* second = panel_->findChildren<QComboBox*>().front();
    EXPECT_EQ(second->count(), 3);
    EXPECT_EQ(session().kernel.more_inputs, (std::vector<std::size_t>{1}));
    EXPECT_NE(problem(), "") << "the sizes differ";
    press(second, Qt::Key_Down);
    EXPECT_EQ(session().kernel.more_inputs, (std::vector<std::size_t>{2}));
    EXPECT_EQ(problem(), "");
    image("kernel_blend");
}

TEST_F(KernelPanelTest, ClosingAnImageKeepsOtherInputsAndRemovesItsKernel) {
    open("kernel", {"ball.png", "card.png", "card.png"});
    workspace_->change("Blend", [](Session& session) {
        session.current = 1;
        session.kernel = {.name = "blend", .parameters = {}, .more_inputs = {2}};
    });
    settle();
    const auto blend = workspace_->shown();
    ASSERT_NE(blend, nullptr) << problem().toStdString();
    workspace_->close(0);
    settle();
    EXPECT_EQ(session().kernel.more_inputs, (std::vector<std::size_t>{1}));
    EXPECT_EQ(workspace_->shown(), blend) << "its inputs did not change";
    QString told;
    QObject::connect(workspace_.get(), &Workspace::told, [&](const QString& text) { told = text; });
    workspace_->close(1);
    settle();
    EXPECT_EQ(session().kernel.name, "");
    EXPECT_EQ(workspace_->shown(), workspace_->document());
    EXPECT_EQ(told, "Kernel blend was removed because its input card.png was closed.");
    workspace_->undo();
    settle();
    EXPECT_NE(workspace_->shown(), workspace_->document());
}

TEST_F(KernelPanelTest, MissingInputIsReported) {
    open("kernel", {"card.png", "missing.png"});
    search("blend");
    EXPECT_TRUE(problem().startsWith("missing.png, an input of blend, could not be loaded. "))
        << problem().toStdString();
    EXPECT_EQ(workspace_->shown(), workspace_->document()) << "the image is shown without the kernel";
    workspace_->change("Input", [](Session& session) { session.kernel.more_inputs = {7}; });
    settle();
    EXPECT_TRUE(problem().startsWith("blend needs another input image, which is not open.")) << problem().toStdString();
    workspace_->change("Input", [](Session& session) { session.kernel.more_inputs = {0}; });
    settle();
    EXPECT_EQ(problem(), "");
    EXPECT_NE(workspace_->shown(), nullptr);
}

TEST_F(KernelPanelTest, KernelWaitsForAnImage) {
    open("kernel", {});
    search("gaussian");
    EXPECT_EQ(problem(), "Open an image to run the kernel on.");
}

}  // namespace
}  // namespace texton::viewer::test
