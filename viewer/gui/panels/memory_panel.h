#pragma once
#include <QLabel>
#include <QPointer>
#include <QScrollArea>
#include <QString>
#include <QVBoxLayout>
#include <functional>
#include <initializer_list>
#include <memory>

#include "viewer/gui/live_panel.h"
#include "viewer/model/cancellation.h"

namespace texton::viewer {

/// A panel about memory: it makes something of each document that is shown, works on it beside the window, and says calmly why
/// there is nothing to see.
class MemoryPanel : public LivePanel {
    Q_OBJECT

public:
    /// Whether a level, layer, face, slice or plane alone is looked at, or the whole picture.
    enum class LooksAt : std::uint8_t { place, picture };

protected:
    /// `id` is the tag of its jobs, and the owner of its outlines.
    MemoryPanel(Workspace& workspace, QString id, LooksAt looks_at, QWidget* parent = nullptr);
    ~MemoryPanel() override;

    /// Another document or place is there to be looked at, and the panel is seen.
    virtual void renew() = 0;
    /// Nothing is there any more: let go of what was made of it.
    virtual void forget() = 0;
    /// Another layout, size or sampler, perhaps.
    virtual void session_changed() {}

    const QString& id() const noexcept { return id_; }
    /// What is looked at, as the device has it (Document::as_loaded()); null: nothing.
    const std::shared_ptr<const Document>& document() const noexcept { return document_; }
    const Place& place() const noexcept { return place_; }
    /// The one that is shown now, whatever is looked at.
    Place place_now() const;

    /// Where a panel puts its widgets.
    QVBoxLayout* content() const noexcept { return content_; }
    /// Words above the widgets, which are hidden as long as `instead`. Empty: none.
    void say(const QString& text, bool instead = true);

    using Finish = std::function<void()>;
    using Work = std::function<Finish(const StillWanted& wanted)>;
    /// Runs `work` beside the window, and what it returns on the window's thread while the panel is there. Drops older work of
    /// the same `part`. What it throws is said.
    void work(Work work, const QString& part = {});
    void stop(const QString& part = {});

    void refresh() final;
    void let_go() final;
    void hideEvent(QHideEvent* event) override;

private:
    void look();
    std::string tag(const QString& part) const { return (id_ + part).toStdString(); }

    QString id_;
    LooksAt looks_at_;
    std::shared_ptr<const Document> document_;
    Place place_;
    QLabel* words_;
    QScrollArea* area_;
    QVBoxLayout* content_;
};

/// True if the event asks whether a key of these is the widget's own: it is accepted then, and no shortcut of the window has it.
[[nodiscard]] bool claims_key(QEvent* event, std::initializer_list<Qt::Key> keys);

/// "1,234,567" as a person's language has it.
[[nodiscard]] QString number_words(std::size_t number);
/// "1.21 MiB".
[[nodiscard]] QString byte_words(std::size_t bytes);
/// A colour for data on the palette's background: of the hue (0 to 359), light on dark and dark on light.
[[nodiscard]] QColor data_colour(const QPalette& palette, int hue);

}  // namespace texton::viewer
