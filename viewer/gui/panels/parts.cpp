#include "viewer/gui/panels/parts.h"

#include <QPointer>
#include <algorithm>

#include <fmt/ranges.h>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "parts";
constexpr int kPart = Qt::UserRole, kGroup = Qt::UserRole + 1;  // indices

// Returns "diffuse  R G B".
QString text_of(const ChannelGroup& group) {
    QStringList names;
    const qsizetype prefix = group.layer.empty() ? 0 : static_cast<qsizetype>(group.layer.size()) + 1;
    for (const std::string& channel : group.channels) names.append(QString::fromStdString(channel).mid(prefix));
    const QString layer = QString::fromStdString(group.layer);
    return layer.isEmpty() ? names.join(' ') : layer + "  " + names.join(' ');
}

}  // namespace

PartsPanel::PartsPanel(Workspace& workspace)
    : LivePanel(workspace), tree_(new QTreeWidget), note_(new CalmText(tr("Note on the parts"))) {
    tree_->setAccessibleName(tr("Parts and layers"));
    tree_->setToolTip(tr("Shows the selected layer of the file"));
    tree_->setHeaderHidden(true);
    tree_->setUniformRowHeights(true);
    auto* column = new QVBoxLayout;
    column->addWidget(note_);
    column->addWidget(tree_, 1);
    lay_out(column);
    connect(tree_, &QTreeWidget::currentItemChanged, this, &PartsPanel::choose_current);
}

void PartsPanel::refresh() {
    const Session& session = workspace().session();
    if (session.images.empty() || Workspace::is_made(session.images[session.current])) {
        workspace().jobs().drop(kTag);
        listed_.reset();
        list({});
        return note_->say(session.images.empty() ? tr("No image is open.") : tr("The image is not in a file."));
    }
    Listed file{session.images[session.current], {}};
    file.source.options.channels.clear();
    file.source.options.part = 0;
    file.source.options.part_name.clear();
    std::error_code error;
    file.time = std::filesystem::last_write_time(file.source.paths.front(), error);
    if (listed_ == file) return mark_current();
    listed_ = file;
    list({});
    note_->say(tr("Reading the parts of the file."));
    read(file);
}

void PartsPanel::read(const Listed& file) {
    const QPointer<PartsPanel> self(this);
    workspace().jobs().start(kTag, [self, file](const CancellationToken& token) -> Jobs::Finish {
        std::vector<ImagePart> parts;
        QString problem;
        try {
            parts = parts_of(file.source, token);
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error_text(error));
        }
        return [self, file, parts, problem] {
            if (!self || self->listed_ != file) return;
            self->list(parts);
            self->note_->say(problem);
        };
    });
}

void PartsPanel::list(const std::vector<ImagePart>& parts) {
    refreshing_ = true;
    parts_ = parts;
    tree_->clear();
    tree_->setVisible(!parts.empty());
    tree_->setRootIsDecorated(parts.size() > 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        QTreeWidgetItem* above = tree_->invisibleRootItem();
        if (parts.size() > 1) {
            const QString name = parts[i].name.empty() ? tr("Part %1").arg(i) : QString::fromStdString(parts[i].name);
            above = new QTreeWidgetItem(tree_,
                                        {tr("%1  %2").arg(name, QString::fromStdString(to_string(parts[i].extent)))});
            above->setFlags(Qt::ItemIsEnabled);
            above->setExpanded(true);
        }
        for (std::size_t group = 0; group < parts[i].groups.size(); ++group) {
            auto* item = new QTreeWidgetItem(above, {text_of(parts[i].groups[group])});
            item->setData(0, kPart, static_cast<int>(i));
            item->setData(0, kGroup, static_cast<int>(group));
            item->setToolTip(
                0, QString::fromStdString(fmt::format("{}", fmt::join(parts[i].groups[group].channels, ", "))));
        }
    }
    refreshing_ = false;
    mark_current();
}

// Selects the layer that is shown, without showing it again. Selects nothing if the channels are not one of the layers.
void PartsPanel::mark_current() {
    const std::shared_ptr<const Document> shown = workspace().document();
    if (!shown || parts_.empty()) return;
    const ImageOptions& options = workspace().session().images[workspace().session().current].options;
    const std::vector<std::string>& channels =
        options.channels.empty() ? shown->file().metadata().read_channels : options.channels;
    QTreeWidgetItem* current = nullptr;
    for (QTreeWidgetItemIterator each(tree_); *each != nullptr; ++each) {
        if (!(*each)->data(0, kGroup).isValid()) continue;
        const ImagePart& part = parts_[static_cast<std::size_t>((*each)->data(0, kPart).toInt())];
        const bool is_part = options.part_name.empty() ? part.index == options.part : part.name == options.part_name;
        if (is_part && part.groups[static_cast<std::size_t>((*each)->data(0, kGroup).toInt())].channels == channels)
            current = *each;
    }
    refreshing_ = true;
    tree_->setCurrentItem(current);
    refreshing_ = false;
}

void PartsPanel::choose_current() {
    const QTreeWidgetItem* item = tree_->currentItem();
    if (refreshing_ || item == nullptr || !item->data(0, kGroup).isValid()) return;
    const ImagePart& part = parts_[static_cast<std::size_t>(item->data(0, kPart).toInt())];
    const ChannelGroup& group = part.groups[static_cast<std::size_t>(item->data(0, kGroup).toInt())];
    workspace().change(
        tr("Layer"), [&](Session& session) { choose(session.images[session.current], part, group); }, "layer of file");
}

}  // namespace texton::viewer
