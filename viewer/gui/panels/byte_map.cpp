#include "viewer/gui/panels/byte_map.h"

#include <QFontDatabase>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <algorithm>

namespace texton::viewer {
namespace {

constexpr std::size_t kShearedBytes = std::size_t{16} << 20;  // limit for the image that is read with a different pitch
constexpr int kShearedSide = 210;                             // in pixels; fits into a narrow dock

const QString kValues = "-values";
const QString kSheared = "-sheared";

QString use_text(ByteUse use) {
    switch (use) {
        case ByteUse::payload: return ByteMap::tr("texels");
        case ByteUse::padding: return ByteMap::tr("row padding");
        case ByteUse::gap: return ByteMap::tr("gap between slices");
    }
    return {};
}

}  // namespace

ByteMap::ByteMap(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "byte-map", LooksAt::subresource, parent),
      bytes_(new BytesView),
      summary_(new QLabel),
      legend_(new QLabel),
      byte_(new QLineEdit),
      selected_(new QLabel),
      pitch_slider_(new QSlider(Qt::Horizontal)),
      pitch_(new QSpinBox),
      sheared_(new QLabel) {
    make_widgets();
    connect(bytes_, &BytesView::seen_changed, this, [this] { read_seen(); });
    connect(bytes_, &BytesView::selected_by_person, this, [this](qulonglong byte) { select(byte); });
    connect(byte_, &QLineEdit::editingFinished, this, [this] { select_typed(); });
    for (QSpinBox* box : texel_) connect(box, &QSpinBox::valueChanged, this, [this] { select_texel(); });
    connect(pitch_slider_, &QSlider::valueChanged, pitch_, [this](int step) {
        if (memory_ != nullptr) pitch_->setValue(pitch_->minimum() + step * pitch_->singleStep());
    });
    connect(pitch_, &QSpinBox::valueChanged, this, [this] { read_sheared(); });
}

void ByteMap::make_widgets() {
    const QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    for (QLabel* label : {summary_, selected_, legend_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    summary_->setObjectName("summary");
    selected_->setObjectName("selected");
    selected_->setAccessibleName(tr("Selected byte"));
    byte_->setObjectName("byte");
    byte_->setFont(fixed);
    byte_->setAccessibleName(tr("Byte"));
    byte_->setToolTip(tr("Offset of the byte from the start of the memory, for example 1924 or 0x784"));
    content()->addWidget(summary_);
    content()->addWidget(legend_);
    content()->addWidget(bytes_, 1);

    auto* form = new QGridLayout;
    form->setColumnStretch(1, 1);
    auto* byte_label = new QLabel(tr("B&yte"));
    byte_label->setBuddy(byte_);
    form->addWidget(byte_label, 0, 0);
    form->addWidget(byte_, 0, 1);
    auto* texel = new QHBoxLayout;
    const std::array names{tr("x"), tr("y"), tr("slice")};
    for (std::size_t i = 0; i < texel_.size(); ++i) {
        texel_[i] = new QSpinBox;
        texel_[i]->setObjectName("texel-" + names[i]);
        texel_[i]->setFont(fixed);
        texel_[i]->setAccessibleName(tr("Texel %1").arg(names[i]));
        texel_[i]->setToolTip(names[i]);
        texel_[i]->setKeyboardTracking(false);
        texel_[i]->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        texel_[i]->setMinimumWidth(texel_[i]->fontMetrics().horizontalAdvance("0000000"));
        texel->addWidget(texel_[i], 1);
    }
    auto* label = new QLabel(tr("Texel"));
    form->addWidget(label, 1, 0);
    form->addLayout(texel, 1, 1);
    content()->addLayout(form);
    content()->addWidget(selected_);

    auto* group = new QGroupBox(tr("Read with a different pitch"));
    auto* inside = new QVBoxLayout(group);
    auto* line = new QHBoxLayout;
    pitch_slider_->setObjectName("pitch-slider");
    pitch_slider_->setAccessibleName(tr("Pitch"));
    pitch_->setObjectName("pitch");
    pitch_->setFont(fixed);
    pitch_->setAccessibleName(tr("Pitch in bytes"));
    pitch_->setToolTip(
        tr("Distance between rows that is used for reading. Only the pitch of the memory shows the image correctly."));
    pitch_->setKeyboardTracking(false);
    line->addWidget(pitch_slider_, 1);
    line->addWidget(pitch_);
    inside->addLayout(line);
    sheared_->setObjectName("sheared");
    sheared_->setAlignment(Qt::AlignCenter);
    sheared_->setWordWrap(true);
    sheared_->setMinimumHeight(kShearedSide / 2);
    sheared_->setAccessibleName(tr("Image read with this pitch"));
    inside->addWidget(sheared_);
    content()->addWidget(group);
}

void ByteMap::renew() {
    say(tr("Copying the image to pitched memory..."));
    struct Made {
        std::shared_ptr<const PitchedCopy> memory;
        CanaryReport report;
    };
    work([this, document = document(), subresource = subresource()](const CancellationToken& token) -> Finish {
        Made made;
        made.memory = std::make_shared<const PitchedCopy>(document->array(subresource.plane), subresource, token);
        made.report = made.memory->check(token);
        return [this, made] {
            memory_ = made.memory;
            say({});
            show_summary(made.report);
            bytes_->show_memory(memory_);
            bytes_->mark_overwritten(made.report.subresources);
            const PitchedLayout& layout = memory_->layout();
            const std::array sides{layout.extent.width, layout.extent.height, layout.extent.depth};
            for (std::size_t i = 0; i < texel_.size(); ++i) {
                const QSignalBlocker quiet(texel_[i]);
                texel_[i]->setRange(0, static_cast<int>(std::min<std::size_t>(sides[i] - 1, 1 << 30)));
                texel_[i]->setEnabled(sides[i] > 1);
            }
            const auto step = static_cast<int>(info(layout.format).bytes);
            const auto minimum = static_cast<int>(std::min<std::size_t>(layout.row_bytes(), 1 << 29));
            const QSignalBlocker quiet_slider(pitch_slider_);
            const QSignalBlocker quiet(pitch_);
            pitch_->setRange(minimum, minimum * 2 + static_cast<int>(std::min<std::size_t>(layout.pitch, 1 << 29)));
            pitch_->setSingleStep(step);
            pitch_->setValue(static_cast<int>(layout.pitch));
            pitch_slider_->setRange(0, (pitch_->maximum() - minimum) / step);
            pitch_slider_->setValue((pitch_->value() - minimum) / step);
            read_sheared();
            const Offset first{0, 0, layout.extent.depth > 1 ? this->subresource().slice : 0};
            bytes_->select(layout.byte_of(first));
            select(layout.byte_of(first));
        };
    });
}

void ByteMap::forget() {
    stop();
    stop(kValues);
    stop(kSheared);
    memory_.reset();
    bytes_->show_memory(nullptr);
    workspace().outline(id(), {});
}

void ByteMap::session_changed() {
    if (workspace().session().pins == pins_) return;
    pins_ = workspace().session().pins;
    const std::optional<SeenTexel> pin = workspace().inspected();
    if (memory_ == nullptr || pins_.empty() || !pin) return;
    const Extent extent = memory_->layout().extent;
    const auto inside = [](double at, std::size_t side) {
        return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(side - 1)));
    };
    const std::size_t byte =
        memory_->layout().byte_of({inside(pin->at.x, extent.width), inside(pin->at.y, extent.height),
                                   extent.depth > 1 ? subresource().slice : 0});
    bytes_->select(byte);
    select(byte);
}

void ByteMap::show_summary(const CanaryReport& report) {
    const PitchedLayout& layout = memory_->layout();
    QString text =
        tr("%1, %2: %3 bytes of texels per row, pitch %4 bytes, %5 in total.")
            .arg(QString::fromUtf8(name(layout.format).data()), QString::fromStdString(to_string(layout.extent)),
                 number_text(layout.row_bytes()), number_text(layout.pitch), byte_text(layout.bytes()));
    text += ' ';
    if (report.checked == 0) {
        text += tr("The memory has no padding.");
    } else if (report.overwritten == 0) {
        text += tr("%1 bytes of padding and gaps were filled with a pattern before the upload; none was overwritten.")
                    .arg(number_text(report.checked));
    } else {
        text += tr("%1 of %2 bytes of padding and gaps were overwritten, the first at offset %3.")
                    .arg(number_text(report.overwritten), number_text(report.checked),
                         number_text(report.subresources.front()));
    }
    summary_->setText(text);
    const auto patch = [this](int hue, const QString& text) {
        return QString("<span style='color:%1'>&#9632;</span>&nbsp;%2").arg(data_color(palette(), hue).name(), text);
    };
    legend_->setText(patch(210, tr("texels")) + "  " + patch(40, tr("padding")) + "  " + patch(285, tr("slice gap")) +
                     "  " + patch(0, tr("overwritten")));
}

void ByteMap::read_seen() {
    const QRect box = bytes_->seen();
    if (memory_ == nullptr || box.isEmpty()) return;
    work(
        [this, memory = memory_, box](const CancellationToken&) -> Finish {
            const std::size_t first =
                static_cast<std::size_t>(box.y()) * memory->layout().pitch + static_cast<std::size_t>(box.x());
            auto values =
                memory->read_box(first, static_cast<std::size_t>(box.width()), static_cast<std::size_t>(box.height()));
            return [this, memory, box, values = std::move(values)] {
                if (memory == memory_) bytes_->set_values(box, values);
            };
        },
        kValues);
}

void ByteMap::select(std::size_t byte) {
    const PitchedLayout& layout = memory_->layout();
    const std::optional<Offset> texel = layout.texel_of(byte);
    const std::byte value = memory_->read(byte, 1).front();
    byte_->setText(QString("0x%1").arg(static_cast<qulonglong>(byte), 0, 16));
    QString text =
        tr("Byte %1, value 0x%2: ").arg(number_text(byte)).arg(std::to_integer<int>(value), 2, 16, QChar('0'));
    std::vector<Outline> outlines;
    if (texel) {
        const Region block = layout.texels_with(*texel);
        const std::size_t of_texel = byte - layout.byte_of(*texel);
        const QString where = layout.extent.depth > 1
                                  ? QString("(%1, %2, %3)").arg(texel->x).arg(texel->y).arg(texel->z)
                                  : QString("(%1, %2)").arg(texel->x).arg(texel->y);
        text += block_side(layout.format) > 1 ? tr("byte %1 of the block at %2").arg(of_texel).arg(where)
                                              : tr("byte %1 of texel %2").arg(of_texel).arg(where);
        SubresourceIndex there = subresource();
        there.slice = layout.extent.depth > 1 ? texel->z : there.slice;
        outlines.push_back({there, static_cast<double>(block.offset.x), static_cast<double>(block.offset.y),
                            static_cast<double>(block.extent.width), static_cast<double>(block.extent.height),
                            data_color(palette(), 210), QString("0x%1").arg(static_cast<qulonglong>(byte), 0, 16)});
        const std::array sides{texel->x, texel->y, texel->z};
        for (std::size_t i = 0; i < texel_.size(); ++i) {
            const QSignalBlocker quiet(texel_[i]);
            texel_[i]->setValue(static_cast<int>(sides[i]));
        }
    } else {
        text += use_text(layout.use_of(byte));
    }
    selected_->setText(text + '.');
    workspace().outline(id(), std::move(outlines));
}

void ByteMap::select_texel() {
    if (memory_ == nullptr) return;
    const auto at = [this](std::size_t i) { return static_cast<std::size_t>(texel_[i]->value()); };
    const std::size_t byte = memory_->layout().byte_of({at(0), at(1), at(2)});
    bytes_->select(byte);
    select(byte);
}

void ByteMap::select_typed() {
    if (memory_ == nullptr) return;
    bool good = false;
    const qulonglong byte = byte_->text().trimmed().toULongLong(&good, 0);
    if (!good || byte >= memory_->layout().bytes()) {
        selected_->setText(tr("'%1' is not a byte of this memory. Enter an offset from 0 to %2.")
                               .arg(byte_->text(), number_text(memory_->layout().bytes() - 1)));
        return;
    }
    if (bytes_->selected() == byte) return;
    bytes_->select(byte);
    select(byte);
}

void ByteMap::read_sheared() {
    if (memory_ == nullptr) return;
    {
        const QSignalBlocker quiet(pitch_slider_);
        pitch_slider_->setValue((pitch_->value() - pitch_->minimum()) / pitch_->singleStep());
    }
    const double ratio = devicePixelRatioF();
    const int side = static_cast<int>(kShearedSide * ratio);
    const std::size_t slice = memory_->layout().extent.depth > 1 ? subresource().slice : 0;
    Session session;
    session.display = workspace().session().display;
    work(
        [this, memory = memory_, pitch = static_cast<std::size_t>(pitch_->value()), slice, side, ratio,
         session = std::move(session)](const CancellationToken&) mutable -> Finish {
            const auto read = Document::of(memory->read_with_pitch(pitch, slice, kShearedBytes), {});
            const Extent extent = read->extent({});
            const double shrink = std::min(1.0, static_cast<double>(extent.height) / static_cast<double>(extent.width));
            const int height = std::max(static_cast<int>(side * shrink), 24);
            session.view = fitted(extent, side, height);
            const std::vector<std::uint32_t> pixels =
                viewer::render({session, read, nullptr, side, height}, {0, 0, side, height});
            QImage image(side, height, QImage::Format_RGB32);
            for (int y = 0; y < height; ++y)
                std::copy_n(pixels.data() + static_cast<std::ptrdiff_t>(y) * side, side,
                            reinterpret_cast<std::uint32_t*>(image.scanLine(y)));
            image.setDevicePixelRatio(ratio);
            return [this, image] { sheared_->setPixmap(QPixmap::fromImage(image)); };
        },
        kSheared);
}

}  // namespace texton::viewer
