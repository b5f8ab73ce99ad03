#pragma once
#include <QLabel>
#include <QPointer>
#include <QString>
#include <QVBoxLayout>
#include <functional>
#include <initializer_list>
#include <memory>

#include "viewer/gui/live_panel.h"
#include "viewer/model/cancellation.h"

namespace texton::viewer {

/// Base class of panels about memory. Such a panel creates objects for the shown document, works on them on worker
/// threads, and shows a message if there is nothing to display. For the GUI thread only.
class MemoryPanel : public LivePanel {
    Q_OBJECT

public:
    /// Subject of the panel: the current level, layer, face, slice and plane, or the whole image.
    enum class LooksAt : std::uint8_t { subresource, image };

protected:
    /// `id` becomes the object name, the tag of the jobs and the owner of the outlines.
    MemoryPanel(Workspace& workspace, QString id, LooksAt looks_at, QWidget* parent = nullptr);
    ~MemoryPanel() override;

    /// Called on a visible panel when document() or subresource() changed. With LooksAt::image, of the subresource only the plane
    /// counts.
    virtual void renew() = 0;
    /// Releases everything that was created for the document. Called before document() changes.
    virtual void forget() = 0;
    /// Called at every refresh with a document: the session may have changed, for example layout, pins or sampler.
    virtual void session_changed() {}

    const QString& id() const noexcept { return id_; }
    /// Returns the loaded array of the shown image (Document::as_loaded()), or null.
    const std::shared_ptr<const Document>& document() const noexcept { return document_; }
    /// Returns the subresource at the last renew(), in the loaded array.
    const SubresourceIndex& subresource() const noexcept { return subresource_; }
    /// Returns the subresource that the canvas shows now, in the loaded array.
    SubresourceIndex subresource_now() const;

    /// Returns the layout for the widgets of the panel.
    QVBoxLayout* content() const noexcept { return content_; }
    /// Shows a message above the widgets. If `instead` is true, the message replaces the widgets. An empty text removes
    /// the message and shows the widgets.
    void say(const QString& text, bool instead = true);

    using Finish = std::function<void()>;
    using Work = std::function<Finish(const CancellationToken& token)>;
    /// Cancels the job of the same `part` and runs `work` on a worker thread. Then runs the function that `work`
    /// returns on the GUI thread if the panel still exists. If `work` throws, the panel shows the error; Canceled is
    /// ignored.
    void work(Work work, const QString& part = {});
    /// Cancels the job of a part.
    void stop(const QString& part = {});

    void refresh() final;
    void let_go() final;
    void hideEvent(QHideEvent* event) override;

private:
    // Updates document() and subresource(), and calls forget() and renew() if they changed.
    void look();
    std::string tag(const QString& part) const { return (id_ + part).toStdString(); }

    QString id_;
    LooksAt looks_at_;
    std::shared_ptr<const Document> document_;
    SubresourceIndex subresource_;
    QLabel* text_;
    QWidget* inside_;
    QVBoxLayout* content_;
};

/// Returns true and accepts the event if it is a ShortcutOverride of one of the keys without modifiers (Shift and the
/// keypad are allowed). The widget then gets the key instead of a shortcut of the window.
[[nodiscard]] bool claims_key(QEvent* event, std::initializer_list<Qt::Key> keys);

/// Returns a number in the format of the user's locale, for example "1,234,567".
[[nodiscard]] QString number_text(std::size_t number);
/// Returns a number of bytes with a binary unit, for example "1.21 MiB".
[[nodiscard]] QString byte_text(std::size_t bytes);
/// Returns a color of the hue (0 to 359) that is readable on the background of the palette.
[[nodiscard]] QColor data_color(const QPalette& palette, int hue);

}  // namespace texton::viewer
