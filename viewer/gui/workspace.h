#pragma once
#include <QColor>
#include <QObject>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/live/tev_packet.h"
#include "viewer/model/document.h"
#include "viewer/model/history.h"
#include "viewer/model/jobs.h"
#include "viewer/model/session.h"
#include "viewer/render/color_tables.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Texels of a subresource that the canvas outlines, with a label where there is room.
struct Outline {
    SubresourceIndex subresource;
    double x = 0;
    double y = 0;
    double width = 1;
    double height = 1;
    QColor color = Qt::white;
    QString label;
};

class AnnotationTool;
class SuiteReview;
class StreamedImage;
struct StreamedPart;

/// Memory of images from files.
struct ImageMemory {
    /// Maximum bytes of all images that were loaded, and of an image that is not streamed. Unset: half of the memory of
    /// the device.
    std::optional<std::size_t> loaded{};
    std::size_t streamed = StreamingOptions{}.budget;  ///< maximum bytes of the tiles of each streamed image
};

/// The state that the window and its panels share: the session with its undo history, the loaded documents, and the
/// jobs on worker threads. For the GUI thread only; all signals are emitted there.
class Workspace : public QObject {
    Q_OBJECT

public:
    explicit Workspace(const Session& session, QObject* parent = nullptr) : Workspace(session, ImageMemory{}, parent) {}
    Workspace(const Session& session, const ImageMemory& memory, QObject* parent = nullptr);
    ~Workspace() override;

    const Session& session() const noexcept { return session_; }
    /// Changes the session and adds the change to the undo history as `what`. Consecutive changes with the same tag
    /// (from a slider or a drag) that follow within a second are undone together. An edit that changes nothing has no
    /// effect.
    void change(const QString& what, const std::function<void(Session&)>& edit, const QString& tag = {});
    /// Changes the session without an entry in the undo history: for panning, zooming and other changes of the view.
    void look(const std::function<void(Session&)>& edit);
    void replace(const QString& what, const Session& session);
    void undo();
    void redo();
    const History& history() const noexcept { return history_; }

    /// Adds one image per source and shows the first of them. The files of a source are the layers, faces or slices of
    /// its image.
    void open(const std::vector<Source>& sources);
    /// Makes the document of an image that is in no file. Called on worker threads.
    using ImageMaker = std::function<std::shared_ptr<const Document>(const Source&, const Device&)>;
    /// Sets the function that makes all images for which is_made() is true, except live images.
    void make_images_by(ImageMaker maker) { maker_ = std::move(maker); }
    /// Sets the function that makes all images for which is_live() is true.
    void make_live_images_by(ImageMaker maker) { live_maker_ = std::move(maker); }
    /// Begin of the paths of images that are in no file.
    static constexpr const char* kMadeImages = "review:";
    static constexpr const char* kLiveImages = "live:";
    /// Returns true for images that are in no file.
    static bool is_made(const Source& source);
    /// Returns true for images of running programs.
    static bool is_live(const Source& source);
    /// Returns true if the image is shown, compared with, or an input of the kernel.
    bool is_needed(const Source& source) const;
    /// Replaces the document of an open image, on device(). Documents on other devices are made anew when needed.
    void put(const Source& source, std::shared_ptr<const Document> document);
    /// Replaces the vector graphics over the current image.
    void draw(std::vector<tev::Command> commands);
    const std::vector<tev::Command>& drawing() const noexcept { return drawing_; }

    /// The review of a suite that the window shows, or null. It is set before the window is created, and must outlive
    /// the window.
    SuiteReview* review() const noexcept { return review_; }
    void set_review(SuiteReview* review) noexcept { review_ = review; }

    /// Returns the tool that makes and edits annotations.
    AnnotationTool& annotation_tool() const noexcept { return *annotation_tool_; }

    /// What the window shows while no image is open, instead of its usual text. Not shown if the headline is empty.
    struct Notice {
        QString headline;
        QString details;
    };
    const Notice& notice() const noexcept { return notice_; }
    void set_notice(const Notice& notice);

    /// Whether the reference is shown beside the current image.
    bool is_side_by_side() const noexcept { return side_by_side_; }
    void show_side_by_side(bool shown);

    void reload(std::size_t index);
    /// Shows another frame of a video file or of numbered files, in place of the image's present frame. Consecutive
    /// calls are undone together. Does nothing if there is no such frame.
    void show_frame(std::size_t frame);
    /// Shows frames that were loaded already, in place of the present frames of images with these indices. This is not
    /// added to the undo history.
    void show_loaded(const std::vector<std::pair<std::size_t, std::shared_ptr<const Document>>>& frames);
    /// Returns the number of frames of the current image; 1 if it has no frames or is not loaded.
    std::size_t frames() const;
    /// Returns the name of an image: that of its file, or of the file that is shown of numbered files, with its
    /// index: "frame_003.png (frame 2 of 24)".
    QString title(std::size_t index) const;
    void close(std::size_t index);
    /// Starts writing all texels of the shown image to a file. Does nothing but show a message if an export is running
    /// already.
    void export_texels(const QString& path);
    bool is_exporting() const;
    /// Cancels all loading and the export.
    void cancel_files();

    /// Returns null while the image is loading and if it could not be loaded; problem() then returns the reason. While
    /// another frame is loading, the frame before it is returned.
    std::shared_ptr<const Document> document(std::size_t index) const;
    std::shared_ptr<const Document> document() const { return document(session_.current); }
    QString problem(std::size_t index) const;
    bool is_loading(std::size_t index) const;

    /// Returns the current document, or the result of the session's kernel for it. If the kernel cannot run on it,
    /// returns the document, and kernel_problem() returns the reason. Returns null if there is none yet.
    std::shared_ptr<const Document> shown() const;
    QString kernel_problem() const { return kernel_problem_; }
    double kernel_milliseconds() const noexcept { return kernel_milliseconds_; }
    /// Returns the document that shown() is compared with, or null.
    std::shared_ptr<const Document> against() const;
    /// Returns the scene for a canvas with this size in screen pixels.
    Scene scene(int width, int height) const;

    const Device& device() const noexcept { return device_; }
    /// Returns the CPU device if device() is a GPU, otherwise the GPU. Returns nullopt if there is no GPU.
    std::optional<Device> other_device() const;

    Jobs& jobs() noexcept { return *jobs_; }
    /// Processes events until all jobs are done: for tests and screenshots.
    void settle();

    /// The texel under the mouse.
    const std::optional<SeenTexel>& hovered() const noexcept { return hovered_; }
    void hover(const std::optional<SeenTexel>& texel);
    /// Returns the last pin, or the hovered texel without pins. Positions are in texels of the files.
    std::optional<SeenTexel> pointed() const;
    /// Returns the same texel with its position in the loaded array, which may be smaller than the image in the files.
    std::optional<SeenTexel> inspected() const;
    /// Returns the width of a texel of the loaded array, in texels of the files.
    double texel_side() const;
    /// Converts a position in the loaded array to one in the files.
    SeenTexel in_files(const SeenTexel& of_array) const;

    /// Sets the outlines of an owner, usually a panel, in texels of the loaded array. Replaces the previous outlines of
    /// this owner.
    void outline(const QString& owner, std::vector<Outline> outlines);
    /// Returns the outlines of all owners, in texels of the files.
    std::vector<Outline> outlines() const;

    /// Sets the maximum memory of all images that were loaded, in bytes. Images that are not needed now are released,
    /// the least recently shown ones first, and read again when they are needed. The default is half of the memory of
    /// the device.
    void set_image_memory(std::size_t bytes);

    /// Parts of a streamed image that a canvas shows.
    struct Seen {
        std::shared_ptr<StreamedImage> image;
        std::vector<StreamedPart> parts;
    };
    /// Sets what a canvas shows of streamed images, in place of what it showed before. Images that no canvas shows
    /// release their tiles.
    void see(const QObject* canvas, std::vector<Seen> seen);

    /// Sets the error of the tables that convert the colors of the canvas. Nullopt: there are none.
    void set_color_table(const std::optional<ColorTableError>& table);
    const std::optional<ColorTableError>& color_table() const noexcept { return color_table_; }

    /// Shows a message in the status bar for some seconds.
    void tell(const QString& text);

Q_SIGNALS:
    void changed(const texton::viewer::Session& before);
    /// A document or the kernel's result was added or removed, or failed.
    void documents_changed();
    void hover_changed();
    /// The outlines or the vector graphics have changed.
    void outlines_changed();
    /// Texels of streamed images have become resident, or nothing more is being read for them.
    void texels_arrived();
    /// Progress of loading, reading or exporting `what`, from 0 to 1. Negative: finished.
    void progressed(double share, QString what);
    void told(QString text);
    void color_table_changed();

private:
    struct Entry {
        Source source{};
        std::shared_ptr<const Document> document{};
        QString problem{};
        bool loading = false;
        bool lacks_memory = false;
        std::uint64_t used = 0;  // value of uses_ when the session last needed the image
    };

    void set_session(Session session);
    /// Returns the images that the session needs now, by their keys.
    std::map<std::string, std::pair<Source, Device>> needed_documents() const;
    void load_missing();
    /// `former` is shown until the image is loaded; it can be null.
    void load(const std::string& key, const Source& source, const Device& device,
              std::shared_ptr<const Document> former);
    /// Releases the documents on the device that the session does not need now, if their memory allows loading an image
    /// at a higher resolution than its present `bytes`. Returns whether documents were released. They are loaded again
    /// when they are needed.
    bool drop_unseen(const Device& device, std::size_t bytes);
    void release_oldest();
    void run_kernel();
    /// Returns why the kernel's additional inputs are missing; empty while they load.
    QString kernel_obstacle() const;
    static std::string key_of(const Source& source, const Device& device);
    const Entry* entry(std::size_t index, const Device& device) const;
    /// Returns true if nothing is being read for the streamed images that are shown.
    bool streams_settled() const;

    Session session_;
    History history_;
    Device device_;
    std::map<std::string, Entry> entries_;  // by source and device
    ImageMemory memory_;
    struct Arrivals;
    std::shared_ptr<Arrivals> arrivals_;  // also used by the threads of streamed images
    std::map<const QObject*, std::vector<Seen>> seen_;
    std::uint64_t uses_ = 0;
    std::shared_ptr<const Document> kernel_result_;
    std::string kernel_key_;
    QString kernel_problem_;
    double kernel_milliseconds_ = 0;
    std::optional<SeenTexel> hovered_;
    std::map<QString, std::vector<Outline>> outlines_;
    ImageMaker maker_;
    ImageMaker live_maker_;
    std::vector<tev::Command> drawing_;
    SuiteReview* review_ = nullptr;
    AnnotationTool* annotation_tool_;  // a child of this object
    Notice notice_;
    std::optional<ColorTableError> color_table_;
    bool side_by_side_ = false;
    std::unique_ptr<Jobs> jobs_;  // last member: destroyed before the members that the jobs use
};

}  // namespace texton::viewer
