#include "viewer/gui/panels/kernel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <algorithm>

#include "viewer/text/parameter_text.h"

namespace texton::viewer {
namespace {

constexpr int kNameRole = Qt::UserRole;

const Kernel* kernel_of(const std::string& name) {
    const auto found = std::ranges::find(kernels(), name, [](const Kernel& kernel) { return kernel.info.name; });
    return found != kernels().end() ? &*found : nullptr;
}

}  // namespace

KernelPanel::KernelPanel(Workspace& workspace)
    : LivePanel(workspace),
      search_(new QLineEdit),
      list_(new QTreeWidget),
      summary_(new QLabel),
      fields_column_(new QVBoxLayout),
      reset_(new QPushButton(tr("Reset parameters"))),
      time_(new QLabel),
      problem_(new CalmText(tr("Message"))) {
    search_->setPlaceholderText(tr("Search kernels"));
    search_->setAccessibleName(tr("Search kernels"));
    search_->setClearButtonEnabled(true);
    search_->installEventFilter(this);
    list_->setAccessibleName(tr("Kernels"));
    list_->setHeaderHidden(true);
    list_->setUniformRowHeights(true);
    list_->setMinimumHeight(list_->fontMetrics().lineSpacing() * 9);
    summary_->setWordWrap(true);
    summary_->setAccessibleName(tr("Description of the kernel"));
    time_->setAccessibleName(tr("Run time"));
    time_->setToolTip(tr("Time from enqueueing the kernel until the device finished"));

    auto* column = new QVBoxLayout;
    column->addWidget(search_);
    column->addWidget(list_, 1);
    column->addWidget(summary_);
    column->addWidget(problem_);
    column->addLayout(fields_column_);
    column->addWidget(reset_);
    column->addWidget(time_);
    lay_out(column);

    connect(search_, &QLineEdit::textChanged, this, &KernelPanel::list_kernels);
    connect(list_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item != nullptr && item->data(0, kNameRole).isValid())
            choose(item->data(0, kNameRole).toString().toStdString());
    });
    connect(reset_, &QPushButton::clicked, this, [this] {
        this->workspace().change(tr("Reset parameters"), [](Session& session) { session.kernel.parameters.clear(); });
    });
    list_kernels();
}

void KernelPanel::list_kernels() {
    const QSignalBlocker quiet(list_);
    list_->clear();
    const QString text = search_->text().trimmed();
    const auto add = [&](QTreeWidgetItem* item, const QString& name, const QString& tip) {
        item->setData(0, kNameRole, name);
        item->setToolTip(0, tip);
        if (name.toStdString() == workspace().session().kernel.name) list_->setCurrentItem(item);
    };
    if (text.isEmpty()) add(new QTreeWidgetItem(list_, {tr("No kernel")}), "", tr("Shows the image without a kernel"));
    QTreeWidgetItem* group = nullptr;
    for (const Kernel* kernel : kernels_like(text.toStdString())) {
        const QString group_name = QString::fromStdString(title_of_name(kernel->info.group));
        if (group == nullptr || group->text(0) != group_name) {
            group = new QTreeWidgetItem(list_, {group_name});
            group->setFlags(Qt::ItemIsEnabled);
            group->setExpanded(true);
        }
        const QString name = QString::fromStdString(kernel->info.name);
        add(new QTreeWidgetItem(group, {name}), name, QString::fromStdString(kernel->info.summary));
    }
}

// In the search field, Down and Return select the first kernel of the list. Down also moves the focus to the list.
bool KernelPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Return || key == Qt::Key_Enter) {
            QTreeWidgetItem* item = list_->topLevelItem(0);
            if (item != nullptr && item->childCount() > 0) item = item->child(0);
            if (item != nullptr) list_->setCurrentItem(item);
            if (key == Qt::Key_Down) list_->setFocus();
            return true;
        }
    }
    return LivePanel::eventFilter(watched, event);
}

void KernelPanel::choose(const std::string& name) {
    const Session& session = workspace().session();
    if (session.kernel.name == name) return;
    const Kernel* kernel = kernel_of(name);
    KernelChoice choice;
    choice.name = name;
    // The additional inputs are the images after the current one, continued at the start of the list.
    for (std::size_t i = 1; kernel != nullptr && i < kernel->info.inputs.size() && !session.images.empty(); ++i)
        choice.more_inputs.push_back((session.current + i) % session.images.size());
    workspace().change(name.empty() ? tr("No kernel") : tr("Kernel %1").arg(QString::fromStdString(name)),
                       [&](Session& next) { next.kernel = choice; });
}

void KernelPanel::set_parameter(const std::string& name, const ParameterValue& value) {
    const auto& parameters = kernel_->info.parameters;
    const auto of = std::ranges::find(parameters, name, &ParameterInfo::name);
    const QString title = QString::fromStdString(title_of_name(name));
    workspace().change(
        title,
        [&](Session& session) {
            if (of != parameters.end() && value == of->standard) {
                session.kernel.parameters.erase(name);
            } else {
                session.kernel.parameters[name] = value;
            }
        },
        "kernel " + QString::fromStdString(name));
}

void KernelPanel::show_fields(const Kernel* kernel) {
    if (kernel == kernel_) return;
    kernel_ = kernel;
    // Deleted later, because a signal of these widgets may be the caller.
    if (parameters_) parameters_->deleteLater();
    if (inputs_page_) inputs_page_->deleteLater();
    inputs_.clear();
    if (kernel == nullptr) return;
    auto* page = new QWidget;
    QFormLayout* form = narrow_form();
    form->setContentsMargins(0, 0, 0, 0);
    page->setLayout(form);
    for (std::size_t i = 1; i < kernel->info.inputs.size(); ++i) {
        const InputInfo& input = kernel->info.inputs[i];
        const QString title = QString::fromStdString(title_of_name(input.name));
        QComboBox* box = choice_box(title, {});
        box->setToolTip(QString::fromStdString(input.summary));
        form->addRow(title, box);
        connect(box, &QComboBox::currentIndexChanged, this, [this, i](int index) {
            this->workspace().change(tr("Kernel input"), [=](Session& session) {
                session.kernel.more_inputs.resize(std::max(session.kernel.more_inputs.size(), i), session.current);
                session.kernel.more_inputs[i - 1] = static_cast<std::size_t>(index);
            });
        });
        inputs_.push_back(box);
    }
    inputs_page_ = page;
    parameters_ = new ParameterFields(kernel->info);
    connect(parameters_, &ParameterFields::edited, this, &KernelPanel::set_parameter);
    if (inputs_.empty()) page->hide();
    fields_column_->addWidget(page);
    fields_column_->addWidget(parameters_);
}

void KernelPanel::show_inputs() {
    const Session& session = workspace().session();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const QSignalBlocker quiet(inputs_[i]);
        inputs_[i]->clear();
        for (const Source& source : session.images) inputs_[i]->addItem(QString::fromStdString(title_of(source)));
        const auto& chosen = session.kernel.more_inputs;
        inputs_[i]->setCurrentIndex(i < chosen.size() ? static_cast<int>(chosen[i]) : -1);
    }
}

void KernelPanel::refresh() {
    const Session& session = workspace().session();
    const KernelChoice& choice = session.kernel;
    const Kernel* kernel = kernel_of(choice.name);
    const QTreeWidgetItem* item = list_->currentItem();
    if (item == nullptr || item->data(0, kNameRole).toString().toStdString() != choice.name) list_kernels();
    show_fields(kernel);
    show_inputs();
    if (parameters_) parameters_->set_values(choice.parameters);
    reset_->setVisible(kernel != nullptr && !kernel->info.parameters.empty());
    reset_->setEnabled(!choice.parameters.empty());
    summary_->setVisible(kernel != nullptr);
    if (kernel != nullptr) summary_->setText(QString::fromStdString(title_of_name(kernel->info.summary)) + ".");

    QString problem = workspace().kernel_problem();
    if (problem.isEmpty() && !choice.name.empty() && session.images.empty())
        problem = tr("Open an image to run the kernel on.");
    if (problem.isEmpty() && !choice.name.empty() && kernel == nullptr)
        problem = tr("Kernel %1 does not exist. Select another kernel.").arg(QString::fromStdString(choice.name));
    problem_->say(problem);
    const bool busy = workspace().jobs().busy("kernel");
    time_->setVisible(kernel != nullptr && problem.isEmpty() && !session.images.empty());
    time_->setText(busy ? tr("Running...") : tr("Took %1 ms").arg(workspace().kernel_milliseconds(), 0, 'f', 2));
}

}  // namespace texton::viewer
