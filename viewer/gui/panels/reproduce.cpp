#include "viewer/gui/panels/reproduce.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QPushButton>

#include "viewer/inspect/reproduce.h"

namespace texton::viewer {
namespace {

QString with_notes(const CommandLines& commands) {
    QStringList lines;
    for (const std::string& note : commands.notes) lines.push_back("# " + QString::fromStdString(note));
    for (const std::string& line : commands.lines) lines.push_back(QString::fromStdString(line));
    lines.push_back({});
    lines.push_back("# " + ReproducePanel::tr("Screenshot of the window. Save the session as session.json first."));
    lines.push_back("texton-view --session session.json --screenshot screen.png");
    return lines.join('\n') + '\n';
}

}  // namespace

ReproducePanel::ReproducePanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "reproduce", LooksAt::subresource, parent), pages_(new QTabWidget) {
    pages_->setObjectName("pages");
    pages_->setAccessibleName(tr("Commands, program and session"));
    content()->addWidget(pages_);
    commands_ = add_page("commands", tr("Commands"), tr("Commands that write the visible texels to files"));
    program_ = add_page("program", tr("C++"), tr("C++ program that does the same with the installed package"));
    session_ = add_page("session", tr("Session"), tr("Session file with all settings"));
}

QPlainTextEdit* ReproducePanel::add_page(const QString& name, const QString& title, const QString& tip) {
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    auto* text = new QPlainTextEdit;
    text->setObjectName(name);
    text->setReadOnly(true);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setAccessibleName(tip);
    auto* copy = new QPushButton(tr("C&opy"));
    copy->setObjectName("copy-" + name);
    copy->setToolTip(tip);
    connect(copy, &QPushButton::clicked, this, [this, text] {
        QApplication::clipboard()->setText(text->toPlainText());
        workspace().tell(tr("Copied."));
    });
    layout->addWidget(text, 1);
    layout->addWidget(copy);
    pages_->addTab(page, title);
    pages_->setTabToolTip(pages_->count() - 1, tip);
    return text;
}

void ReproducePanel::renew() { session_changed(); }

void ReproducePanel::forget() {
    for (QPlainTextEdit* text : {commands_, program_, session_}) text->clear();
}

void ReproducePanel::session_changed() {
    const Session& session = workspace().session();
    const std::shared_ptr<const Document> current = workspace().document();
    if (current == nullptr) return;
    const QSize pixels = canvas_pixels();
    const std::shared_ptr<const Document> shown = workspace().shown();
    Seen seen{.session = shown ? in_array(*shown, session) : session,
              .image = current->info(),
              .shown = document()->info(subresource().plane),
              .planar = current->is_planar(),
              .width = pixels.width(),
              .height = pixels.height()};
    for (std::size_t i = 0; i < session.images.size(); ++i) {
        if (const auto document = workspace().document(i)) seen.session.images[i] = document->read_source();
    }
    if (current->whole().levels > 1) {
        seen.session.images[session.current].options.first_level += current->halvings();
    } else {
        seen.halvings = current->halvings();
    }
    const std::array texts{std::pair(commands_, with_notes(command_lines(seen))),
                           std::pair(program_, QString::fromStdString(cpp_program(seen))),
                           std::pair(session_, QString::fromStdString(to_json(session)))};
    for (const auto& [edit, text] : texts) {
        if (edit->toPlainText() != text) edit->setPlainText(text);  // keeps the selection of an unchanged text
    }
}

}  // namespace texton::viewer
