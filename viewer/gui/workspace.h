#pragma once
#include <QColor>
#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "viewer/model/document.h"
#include "viewer/model/history.h"
#include "viewer/model/jobs.h"
#include "viewer/model/session.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Texels of a place that are outlined on the canvas, with a word beside them where there is room.
struct Outline {
    Place place;
    double x = 0;
    double y = 0;
    double width = 1;
    double height = 1;
    QColor colour = Qt::white;
    QString label;
};

/// What the window and its panels share: the session and how it is changed, the documents that it names, and work beside the window.
/// Everything is called on the window's thread.
class Workspace : public QObject {
    Q_OBJECT

public:
    explicit Workspace(const Session& session, QObject* parent = nullptr);
    ~Workspace() override;

    const Session& session() const noexcept { return session_; }
    /// Every change of the session goes through here: it can be undone, as `what`. Changes of one tag that follow each other fast
    /// (a slider, a drag) are undone together.
    void change(const QString& what, const std::function<void(Session&)>& edit, const QString& tag = {});
    /// Of what is no decision of a person: pan and zoom, a fitted view. Not undone by itself.
    void look(const std::function<void(Session&)>& edit);
    void replace(const QString& what, const Session& session);
    void undo();
    void redo();
    const History& history() const noexcept { return history_; }

    /// Adds pictures and shows the first of them. One picture each; together: they are layers, faces or slices of one.
    void open(const std::vector<Source>& sources);
    void reload(std::size_t index);
    void close(std::size_t index);
    /// Writes all texels of what is shown to a file, one at a time.
    void export_texels(const QString& path);
    bool is_exporting() const;
    /// Stops what is being loaded or exported.
    void cancel_files();

    /// Null while it loads, or if it cannot be shown: problem() says why.
    std::shared_ptr<const Document> document(std::size_t index) const;
    std::shared_ptr<const Document> document() const { return document(session_.current); }
    QString problem(std::size_t index) const;
    bool is_loading(std::size_t index) const;

    /// The current document, or what the session's kernel made of it; null while there is none. kernel_problem() says why.
    std::shared_ptr<const Document> shown() const;
    QString kernel_problem() const { return kernel_problem_; }
    double kernel_milliseconds() const noexcept { return kernel_milliseconds_; }
    /// What it is held against; null without.
    std::shared_ptr<const Document> against() const;
    /// For a canvas of so many pixels.
    Scene scene(int width, int height) const;

    const Device& device() const noexcept { return device_; }
    /// CUDA where `device` is a CPU and there is a GPU, and the reverse.
    std::optional<Device> other_device() const;

    Jobs& jobs() noexcept { return *jobs_; }
    /// Waits until nothing is left to do, serving events: for tests and screenshots.
    void settle();

    /// The texel under the mouse.
    const std::optional<SeenTexel>& hovered() const noexcept { return hovered_; }
    void hover(const std::optional<SeenTexel>& texel);
    /// The last pin, else what is hovered.
    std::optional<SeenTexel> pointed() const;
    /// The same in the array, for panels that compute with it.
    std::optional<SeenTexel> inspected() const;
    /// Texels of the files along a side of one of the array's that is shown.
    double texel_side() const;
    /// What of the files a texel of the array that is shown stands for.
    SeenTexel in_files(const SeenTexel& of_array) const;

    /// What a panel points at on the canvas, in texels of the array; each call replaces what the same owner had.
    void outline(const QString& owner, std::vector<Outline> outlines);
    /// In texels of the files.
    std::vector<Outline> outlines() const;

    /// A calm line in the window for a moment.
    void tell(const QString& text);

Q_SIGNALS:
    void changed(const texton::viewer::Session& before);
    /// A document came, went or failed, or the kernel's result did.
    void documents_changed();
    void hover_changed();
    void outlines_changed();
    /// 0 to 1 of the picture that is loaded or exported; negative: none is.
    void progressed(double share, QString what);
    void told(QString text);

private:
    struct Entry {
        Source source{};
        std::shared_ptr<const Document> document{};
        QString problem{};
        bool loading = false;
        bool lacks_memory = false;
    };

    void set_session(Session session);
    /// By their keys, what is looked at now.
    std::map<std::string, std::pair<Source, Device>> wanted() const;
    void load_missing();
    void load(const std::string& key, const Source& source, const Device& device);
    /// Lets documents go that are not looked at, if a picture of so many bytes could be finer with their memory; false if not. They
    /// are loaded again when they are looked at.
    bool drop_unseen(const Device& device, std::size_t bytes);
    void run_kernel();
    /// Why the kernel's further inputs are not there; empty while they load.
    QString kernel_obstacle() const;
    static std::string key_of(const Source& source, const Device& device);
    const Entry* entry(std::size_t index, const Device& device) const;

    Session session_;
    History history_;
    Device device_;
    std::map<std::string, Entry> entries_;  // by source and device
    std::shared_ptr<const Document> kernel_result_;
    std::string kernel_key_;
    QString kernel_problem_;
    double kernel_milliseconds_ = 0;
    std::optional<SeenTexel> hovered_;
    std::map<QString, std::vector<Outline>> outlines_;
    std::unique_ptr<Jobs> jobs_;  // last: it ends before what its jobs use
};

}  // namespace texton::viewer
