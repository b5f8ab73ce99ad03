#pragma once
// A pyramid that is shown although it does not fit into memory: its tiles are read where it is seen.
//
// Two textures hold the tiles. The overview has all levels that the device supports, from first_level() on. Finer
// levels exist only as a window: a second texture over the region of these levels that is seen. It is replaced when the
// view leaves it. A thread of the object requests tiles, copies them to the device and evicts others, so that no caller
// waits for files.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <texton/device.h>
#include <texton/streamed_texture.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Options of a StreamedImage.
struct StreamedImageOptions {
    std::size_t budget = std::size_t{256} << 20;  ///< maximum bytes of all tiles on the device
    /// Maximum width and height of level 0 of the overview. 0: the limit of the device.
    std::size_t max_side = 0;
    /// Width and height of the window: a power of two, at least 1024. The view should be at most half as large.
    std::size_t window_side = 16384;
    int threads = 2;  ///< number of threads that read tiles of each texture
};

/// Texels of a level of the pyramid that are seen.
struct StreamedPart {
    int level = 0;
    std::size_t layer = 0;
    TexelBox box;
    bool operator==(const StreamedPart&) const = default;
};

/// A tile of the visible level.
struct StreamedTile {
    int level = 0;
    std::size_t layer = 0;
    TexelBox box;         ///< texels of the level
    int shown_level = 0;  ///< the finest resident level at its center; equal to `level` if the tile is resident
    bool failed = false;  ///< it could not be read

    /// Returns true if the tile shows its own texels.
    bool is_resident() const noexcept { return shown_level == level; }
};

/// What a StreamedImage holds and does now.
struct StreamedStatus {
    std::size_t budget = 0;
    StreamingStatistics counts;              ///< of both textures, including former windows
    std::optional<StreamedPart> window;      ///< the region of the window, if it exists
    std::vector<StreamedTile> tiles;         ///< tiles of the visible parts
    std::vector<StreamingFailure> failures;  ///< boxes in texels of the pyramid
    std::size_t unfit = 0;                   ///< visible tiles for which the budget is too small
    bool settled = true;                     ///< nothing is being read for the view
    std::string problem;                     ///< error of the device that ended streaming; usually empty
};

/// The tiles of an image that was opened as a pyramid. All member functions are thread-safe. None waits for files.
class StreamedImage {
public:
    /// Creates the overview, which reads its smallest levels on the calling thread. Throws the errors of
    /// StreamedTexture, and Error{bad_argument} if the budget is too small for the levels that are always resident.
    StreamedImage(Device device, TilePyramid pyramid, const StreamedImageOptions& options = {});
    /// Stops reading. Waits until the callbacks of the pyramid have returned.
    ~StreamedImage();
    StreamedImage(const StreamedImage&) = delete;
    StreamedImage& operator=(const StreamedImage&) = delete;

    const ArrayInfo& info() const noexcept { return pyramid_.info; }  ///< Returns the description of the pyramid.
    int first_level() const noexcept { return first_level_; }         ///< Returns the first level of the overview.
    const Extent& tile() const noexcept { return tile_; }             ///< Returns the size of a tile in texels.

    /// Sets what is seen, instead of the parts of the previous call. Without parts, all tiles lose their memory.
    void look(std::vector<StreamedPart> parts);
    /// Returns the packed texels of a box if all of them are resident, otherwise nothing. In block-compressed formats,
    /// the box must consist of whole blocks or end at the edge. Throws the errors of copy().
    std::optional<std::vector<std::byte>> texels(const StreamedPart& part) const;
    /// Returns true if the part is seen and further waiting changes none of its texels.
    bool is_final(const StreamedPart& part) const;
    /// Returns true if nothing is being read for the parts of the last look(), and the function of on_change() was
    /// called for the last change.
    bool settled() const;

    /// Returns a number that increases when texels have become resident or the view is settled.
    std::uint64_t revision() const noexcept { return revision_; }
    /// Sets a function that is called on a thread of the object after revision() has increased. When this function
    /// returns, the function before is not called any more.
    void on_change(std::function<void()> changed);

    StreamedStatus status() const;  ///< Returns what is resident now.

private:
    /// A texture over a region of the finer levels.
    struct Window {
        StreamedPart region;      // texels of its finest level
        StreamedTexture texture;  // level 0 is region.level
    };
    /// Where a part of a level is held.
    struct Held {
        const StreamedTexture* texture;
        StreamedView view;
    };

    /// Result of an update of both textures.
    struct Step {
        bool changed = false;  // tiles became resident or lost their memory
        bool settled = false;  // nothing more happens for the view
    };

    void run(const std::stop_token& stop);
    void work(const std::stop_token& stop);
    void request(const std::vector<StreamedPart>& parts);
    StreamedPart window_region(const StreamedPart& part) const;
    void open_window(const StreamedPart& part);
    void close_window();
    void share_budget(const StreamedPart* finer, bool resting);
    std::optional<Held> held(const StreamedPart& part) const;
    Step update(const Stream& stream, bool resting);
    void tell();
    StreamedTile tile_at(const StreamedPart& part, const TexelBox& box) const;

    const Device device_;
    const TilePyramid pyramid_;
    const StreamedImageOptions options_;
    int first_level_ = 0;
    Extent tile_;

    mutable std::shared_mutex textures_;  // exclusive while tiles are mapped, copied or evicted
    std::optional<StreamedTexture> overview_;
    std::unique_ptr<Window> window_;
    StreamingStatistics former_;                     // of closed windows
    std::vector<StreamingFailure> window_failures_;  // of windows that could not be opened
    std::size_t unfit_ = 0;

    mutable std::mutex view_;
    std::condition_variable_any asked_;
    std::vector<StreamedPart> parts_;
    std::string problem_;
    bool is_new_ = false;     // the thread has not seen parts_
    bool is_done_ = false;    // nothing more happens for parts_
    bool is_settled_ = true;  // so, and this was reported; or look() was never called

    std::atomic<std::uint64_t> revision_ = 1;
    std::mutex telling_;
    std::function<void()> changed_;

    std::jthread thread_;  // last member: it uses the others
};

/// Returns the layer of a pyramid for a subresource of an image: the faces of cubemaps are layers.
[[nodiscard]] std::size_t streamed_layer(const ArrayInfo& image, const SubresourceIndex& subresource);

}  // namespace texton::viewer
