#pragma once
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <vector>

#include "viewer/gui/live_panel.h"
#include "viewer/gui/parameter_fields.h"

namespace texton::viewer {

/// Panel that selects a kernel of the registry for the current image, its parameters and its additional inputs.
class KernelPanel : public LivePanel {
    Q_OBJECT

public:
    explicit KernelPanel(Workspace& workspace);

protected:
    void refresh() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void list_kernels();
    void choose(const std::string& name);
    void show_fields(const Kernel* kernel);
    void show_inputs();
    void set_parameter(const std::string& name, const ParameterValue& value);

    QLineEdit* search_;
    QTreeWidget* list_;
    QLabel* summary_;
    QVBoxLayout* fields_column_;
    QPointer<QWidget> inputs_page_;
    std::vector<QComboBox*> inputs_;
    QPointer<ParameterFields> parameters_;
    const Kernel* kernel_ = nullptr;  // the kernel whose fields are shown
    QPushButton* reset_;
    QLabel* time_;
    CalmText* problem_;
};

}  // namespace texton::viewer
