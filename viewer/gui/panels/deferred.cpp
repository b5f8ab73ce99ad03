#include "viewer/gui/panels/deferred.h"

#include <QFontDatabase>

namespace texton::viewer {
namespace {

QString text_of(DeferredStep step) {
    switch (step) {
        case DeferredStep::create: return DeferredPanel::tr("&Create");
        case DeferredStep::requirements: return DeferredPanel::tr("&Requirements");
        case DeferredStep::back: return DeferredPanel::tr("&Back with memory");
        case DeferredStep::upload: return DeferredPanel::tr("&Upload");
        case DeferredStep::sample: return DeferredPanel::tr("&Sample");
        case DeferredStep::move: return DeferredPanel::tr("&Move");
        case DeferredStep::unmap: return DeferredPanel::tr("U&nmap");
    }
    return {};
}

QString tip_of(DeferredStep step) {
    switch (step) {
        case DeferredStep::create: return DeferredPanel::tr("Creates an array like the image, without memory");
        case DeferredStep::requirements: return DeferredPanel::tr("Queries how much memory the array needs");
        case DeferredStep::back:
            return DeferredPanel::tr("Maps the array to tiles of a pool. Its contents are undefined.");
        case DeferredStep::upload: return DeferredPanel::tr("Copies the texels of the image to the array");
        case DeferredStep::sample: return DeferredPanel::tr("Samples the center of the array through a texture");
        case DeferredStep::move: return DeferredPanel::tr("Maps the array to other tiles and keeps its texels");
        case DeferredStep::unmap: return DeferredPanel::tr("Unmaps the memory of the array");
    }
    return {};
}

}  // namespace

DeferredPanel::DeferredPanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "deferred", LooksAt::image, parent),
      again_(new QPushButton(tr("Start &again"))),
      log_(new QPlainTextEdit) {
    for (std::size_t i = 0; i < kDeferredSteps.size(); ++i) {
        const DeferredStep step = kDeferredSteps[i];
        buttons_[i] = new QPushButton(text_of(step));
        buttons_[i]->setObjectName(QString::fromUtf8(name(step).data()));
        buttons_[i]->setToolTip(tip_of(step));
        buttons_[i]->setEnabled(false);
        reasons_[i] = new QLabel;
        reasons_[i]->setObjectName("why-" + buttons_[i]->objectName());
        reasons_[i]->setWordWrap(true);
        reasons_[i]->setForegroundRole(QPalette::PlaceholderText);
        reasons_[i]->setIndent(12);
        reasons_[i]->hide();
        content()->addWidget(buttons_[i]);
        content()->addWidget(reasons_[i]);
        connect(buttons_[i], &QPushButton::clicked, this, [this, step] { run(step); });
    }
    again_->setObjectName("again");
    again_->setToolTip(tr("Releases the array and the pool"));
    log_->setObjectName("log");
    log_->setReadOnly(true);
    log_->setAccessibleName(tr("Results of the steps"));
    log_->setPlaceholderText(tr("The results of the steps appear here."));
    log_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    log_->setMinimumHeight(log_->fontMetrics().height() * 7);
    content()->addWidget(log_, 1);
    content()->addWidget(again_);
    connect(again_, &QPushButton::clicked, this, [this] {
        if (document() != nullptr) renew();
    });
}

void DeferredPanel::renew() {
    say({});
    steps_ = std::make_shared<DeferredSteps>(Array(document()->array(subresource().plane).block()));
    run(std::nullopt);
}

void DeferredPanel::forget() {
    stop();
    steps_.reset();
    show_state({});
}

void DeferredPanel::run(std::optional<DeferredStep> step) {
    if (steps_ == nullptr) return;
    // No other step may run until the job is done, because the job uses steps_.
    QWidget* focused = focusWidget();
    for (QPushButton* button : buttons_) button->setEnabled(false);
    work([this, steps = steps_, step, focused = QPointer(focused)](const CancellationToken&) -> Finish {
        if (step) steps->run(*step);
        State state;
        for (std::size_t i = 0; i < kDeferredSteps.size(); ++i) state.obstacles[i] = steps->obstacle(kDeferredSteps[i]);
        state.log = steps->log();
        return [this, steps, state = std::move(state), focused] {
            if (steps != steps_) return;
            show_state(state);
            if (focused != nullptr && focused->isEnabled() && isAncestorOf(focused)) focused->setFocus();
        };
    });
}

void DeferredPanel::show_state(const State& state) {
    for (std::size_t i = 0; i < buttons_.size(); ++i) {
        const QString why = QString::fromStdString(state.obstacles[i]);
        buttons_[i]->setEnabled(steps_ != nullptr && why.isEmpty());
        buttons_[i]->setAccessibleDescription(why);
        reasons_[i]->setText(why);
        reasons_[i]->setVisible(!why.isEmpty());
    }
    QStringList lines;
    for (const DeferredSteps::Done& done : state.log)
        lines.push_back(QString("%1 %2: %3")
                            .arg(done.failed ? QString::fromUtf8("\u2717") : QString::fromUtf8("\u2713"),
                                 QString::fromUtf8(name(done.step).data()), QString::fromStdString(done.text)));
    log_->setPlainText(lines.join('\n'));
    log_->moveCursor(QTextCursor::End);
}

}  // namespace texton::viewer
