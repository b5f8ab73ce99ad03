#include "viewer/gui/panels/kind_matrix.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLocale>
#include <array>

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

enum Column : int { kBytes, kAlignment, kUpload, kKernel, kSamplers, kColumns };

QString text(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<int>(text.size())); }

QString milliseconds(double value) { return QLocale().toString(value, 'f', value < 10 ? 3 : 1); }

}  // namespace

KindMatrixPanel::KindMatrixPanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "kinds", LooksAt::subresource, parent),
      table_(new QTableWidget(static_cast<int>(kind_rows().size()), kColumns)),
      run_(new QPushButton),
      progress_(new QProgressBar),
      details_(new QLabel) {
    table_->setObjectName("table");
    table_->setAccessibleName(tr("Kinds of arrays and memory"));
    table_->setHorizontalHeaderLabels(
        {tr("Bytes"), tr("Alignment"), tr("Upload (ms)"), tr("Kernel (ms)"), tr("Samplers")});
    QStringList names;
    for (const std::string_view name : kind_rows()) names.push_back(text(name));
    table_->setVerticalHeaderLabels(names);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setTabKeyNavigation(false);
    table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->setMinimumHeight(table_->fontMetrics().height() * 5);
    run_->setObjectName("run");
    progress_->setObjectName("progress");
    QSizePolicy policy = progress_->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    progress_->setSizePolicy(policy);
    progress_->setAccessibleName(tr("Measured kinds"));
    progress_->setRange(0, static_cast<int>(kind_rows().size()));
    progress_->setFormat("%v / %m");
    details_->setObjectName("details");
    details_->setWordWrap(true);
    details_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* line = new QHBoxLayout;
    line->addWidget(run_);
    line->addWidget(progress_, 1);
    content()->addLayout(line);
    content()->addWidget(table_, 1);
    content()->addWidget(details_);
    connect(run_, &QPushButton::clicked, this, [this] { running_ ? cancel() : start(); });
    connect(table_, &QTableWidget::currentCellChanged, this, [this] { explain(); });
    show_running(false);
}

void KindMatrixPanel::renew() {
    say({});
    table_->clearContents();
    progress_->setValue(0);
    details_->setText(
        tr("Choose Measure to upload the image to every kind of array and memory and to read it with a kernel."));
}

void KindMatrixPanel::forget() { cancel(); }

void KindMatrixPanel::start() {
    if (document() == nullptr) return;
    table_->clearContents();
    progress_->setValue(0);
    details_->clear();
    show_running(true);
    work([this, document = document(), subresource = subresource()](const CancellationToken&) -> Finish {
        const auto texels =
            std::make_shared<const KindTexels>(texels_of(document->array(subresource.plane), subresource, kMaxBytes));
        return [this, texels] {
            texels_ = texels;
            if (!texels_->whole)
                details_->setText(
                    tr("Measured with the first %1 of the image.").arg(byte_text(texels_->texels.size())));
            measure(0);
        };
    });
}

void KindMatrixPanel::cancel() {
    stop();
    texels_.reset();
    show_running(false);
}

void KindMatrixPanel::measure(std::size_t row) {
    if (row == kind_rows().size()) return cancel();
    work([this, device = document()->device(), texels = texels_, row](const CancellationToken& token) -> Finish {
        KindRow measured = measure_kind(device, *texels, row, token);
        return [this, row, measured = std::move(measured)] {
            show_row(row, measured);
            progress_->setValue(static_cast<int>(row) + 1);
            measure(row + 1);
        };
    });
}

void KindMatrixPanel::show_row(std::size_t row, const KindRow& measured) {
    std::array<QString, kColumns> cells;
    QStringList refused;
    if (measured.obstacle.empty()) {
        cells[kBytes] = number_text(measured.bytes);
        cells[kAlignment] = number_text(measured.alignment);
        cells[kUpload] = milliseconds(measured.upload);
        cells[kKernel] = measured.kernel_obstacle.empty() ? milliseconds(measured.kernel_time) : QString("-");
        QStringList legal;
        for (const SamplerVerdict& verdict : measured.samplers) {
            if (verdict.obstacle.empty()) {
                legal.push_back(text(verdict.name));
            } else {
                refused.push_back(text(verdict.name) + ": " + text(verdict.obstacle));
            }
        }
        cells[kSamplers] = legal.isEmpty() ? QString("-") : legal.join(' ');
    } else {
        cells.fill("-");
    }
    QStringList details;
    if (!measured.obstacle.empty()) details.push_back(text(measured.obstacle));
    if (measured.obstacle.empty() && measured.kernel_obstacle.empty())
        details.push_back(
            tr("Kernel: %1. Uploaded %2 bytes at %3 GB/s.")
                .arg(text(measured.kernel), number_text(measured.copied))
                .arg(static_cast<double>(measured.copied) / std::max(measured.upload, 1e-6) / 1e6, 0, 'f', 2));
    if (!measured.kernel_obstacle.empty()) details.push_back(tr("No kernel: %1").arg(text(measured.kernel_obstacle)));
    details += refused;
    for (int column = 0; column < kColumns; ++column) {
        auto* item = new QTableWidgetItem(cells[static_cast<std::size_t>(column)]);
        item->setTextAlignment(column == kSamplers ? Qt::AlignLeft | Qt::AlignVCenter
                                                   : Qt::AlignRight | Qt::AlignVCenter);
        item->setData(Qt::UserRole, details.join('\n'));
        item->setToolTip(details.join('\n'));
        if (!measured.obstacle.empty()) item->setForeground(palette().color(QPalette::PlaceholderText));
        table_->setItem(static_cast<int>(row), column, item);
    }
    if (table_->currentRow() == static_cast<int>(row)) explain();
}

void KindMatrixPanel::show_running(bool running) {
    running_ = running;
    progress_->setVisible(running);
    run_->setText(running ? tr("&Stop") : tr("&Measure"));
    run_->setToolTip(running ? tr("Stops the measurement")
                             : tr("Uploads the image to every kind and measures the times"));
}

void KindMatrixPanel::explain() {
    const QTableWidgetItem* item = table_->currentRow() >= 0 ? table_->item(table_->currentRow(), 0) : nullptr;
    if (item != nullptr) details_->setText(item->data(Qt::UserRole).toString());
}

}  // namespace texton::viewer
