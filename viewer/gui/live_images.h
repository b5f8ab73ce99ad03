#pragma once
#include <QObject>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "viewer/gui/workspace.h"
#include "viewer/live/live_server.h"

namespace texton::viewer {

/// Shows images of running programs in a workspace, which must outlive the object. Each live image is an image of the
/// session; only those that are needed are copied to the device. For the GUI thread only.
///
/// A frame is copied while the canvas still shows the one before, and replaces it when the canvas has painted that one.
/// Frames that arrive in the meantime are dropped.
class LiveImages : public QObject {
    Q_OBJECT

public:
    LiveImages(Workspace& workspace, const LiveServer::Options& options, QObject* parent = nullptr);
    ~LiveImages() override;

    LiveServer& server() noexcept { return server_; }
    /// The canvas has painted a frame, so the next one can replace it.
    void frame_painted();
    /// Sets a function that returns true while the canvas has not rendered all of its image yet. The next frame then
    /// waits, however long it takes.
    void wait_while(std::function<bool()> canvas_renders) { canvas_renders_ = std::move(canvas_renders); }

private:
    struct Image {
        std::string name;
        Source source;
        std::uint64_t creation = 0;
        std::uint64_t version = 0;                         // of the frame that was copied or is being copied
        bool copies = false;                               // while a job copies a frame
        bool is_closed = false;                            // by the user
        std::vector<Array> arrays;                         // of documents, to be used again
        std::vector<std::weak_ptr<const LiveFrame>> held;  // of documents that have not copied them
        std::shared_ptr<const Document> next;              // waits until the canvas has painted the one before
    };

    void update();
    void add_new_images(const std::vector<LiveImage>& images);
    void forget_closed_images(const std::vector<LiveImage>& images);
    void copy_newest(Image& image, const LiveImage& state);
    void put(Image& image);
    void answer(const LiveRequest& request);
    void draw();
    bool is_open(const Source& source) const;
    bool is_current(const Image& image) const;
    std::size_t index_of(const std::string& name) const;

    Workspace& workspace_;
    std::map<std::string, Image> images_;  // by name
    std::uint64_t next_source_ = 0;
    bool waits_for_canvas_ = false;
    QTimer patience_;  // for a canvas that is not visible
    std::function<bool()> canvas_renders_;
    /// The newest frames that were taken, by the paths of the sources of their images. Jobs use it, and can outlive this object.
    struct Shown {
        std::mutex mutex;
        std::map<std::string, std::shared_ptr<const LiveFrame>> frames;
    };
    static std::shared_ptr<const Document> make(Shown& shown, const Source& source, const Device& device);
    const std::shared_ptr<Shown> shown_ = std::make_shared<Shown>();
    LiveServer server_;  // last member: its thread ends first
};

}  // namespace texton::viewer
