#pragma once
// Textures of pyramids that do not fit into memory: tiles are read when they are needed.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <texton/fetch.h>
#include <texton/sparse_array.h>
#include <texton/stream.h>
#include <texton/streamed_feedback.h>
#include <texton/texture.h>

namespace texton {

namespace detail {
class StreamedState;
}

/// The texels that a callback of a TilePyramid reads: a box of one level and layer. The box is inside the level.
struct PyramidBox {
    int level = 0;                                       ///< level of the pyramid
    std::size_t layer = 0;                               ///< layer of a layered_2d
    Region region;                                       ///< texels; z counts the slices of a volume
    bool operator==(const PyramidBox&) const = default;  ///< Returns true if all members are equal.
};

/// A pyramid of levels from which a StreamedTexture reads tiles.
struct TilePyramid {
    /// Description of all levels. The kind is array_2d, layered_2d or array_3d.
    ArrayInfo info{};
    /// Reads texels, tightly packed: x changes fastest, then y, then z. In block-compressed formats, boxes consist of
    /// whole blocks, except at the edges of the level.
    ///
    /// Several threads call the function at once. It may take any time. An exception makes the tile fail: see
    /// StreamedTexture::failures(). When the token requests a stop, nobody needs the texels, and the function should
    /// return or throw soon.
    std::function<void(const PyramidBox& box, std::span<std::byte> texels, const std::stop_token& stop)> read{};
    /// Maximum number of neighboring tiles in a row that one call of read() reads, 1 to 32. For sources in memory, which
    /// need no longer for a tile than its mapping takes, use 32: the tiles of a call have one copy to the device. For
    /// slower sources use 1: then several threads read neighbors at once, and a tile does not wait for others. If a
    /// call for several tiles fails, each tile is read again by a call of its own.
    int tiles_per_read = 1;
};

/// Options of a StreamedTexture.
struct StreamedTextureInfo {
    Sampler sampler{};                            ///< how the texture is read; mip_min is the minimum of all clamps
    std::size_t budget = std::size_t{256} << 20;  ///< maximum bytes of all tiles, including the resident levels
    /// Level of the pyramid that becomes level 0 of the texture. Unset: the first level that the device supports.
    std::optional<int> first_level = 0;
    int threads = 2;           ///< number of threads that read tiles, 1 to 256
    std::size_t staging = 64;  ///< maximum number of tiles that are read but not yet copied, 1 to 65536
    /// Number of requests that the motion of a view is extrapolated: tiles that the view will reach are read when
    /// nothing else is, and never take the memory of requested tiles. 0: no prefetch. 0 to 64.
    int prefetch = 4;
    /// Maximum number of distinct tiles that the launches between two updates can request, and of other tiles that they
    /// can report as used; 1 to 2^20. See feedback().
    std::size_t feedback_tiles = 4096;
};

/// A part of a level that is needed, for StreamedTexture::request().
struct StreamedView {
    int level = 0;                   ///< level of the texture
    std::size_t layer = 0;           ///< layer of a layered_2d
    std::optional<Region> region{};  ///< texels of the level; unset: the whole level
    float weight = 1;                ///< views with a higher weight are read first; must be finite and at least 0
};

/// The result of StreamedTexture::update(), in tiles.
struct StreamingProgress {
    std::size_t loaded = 0;    ///< became resident in this call
    std::size_t evicted = 0;   ///< lost their memory in this call
    std::size_t missing = 0;   ///< requested, but not resident
    std::size_t pending = 0;   ///< being read, or waiting to be read; includes coarser tiles that show until then
    std::size_t failed = 0;    ///< requested, but could not be read: see StreamedTexture::failures()
    std::size_t unfit = 0;     ///< requested, but the budget is too small for them
    std::size_t overflow = 0;  ///< distinct tiles that launches reported beyond feedback_tiles; report them again

    /// Returns true if all requested tiles are resident.
    bool complete() const noexcept { return missing == 0; }
    /// Returns true if further updates change nothing until something else is requested.
    bool settled() const noexcept { return pending == 0; }
};

/// A tile that could not be read.
struct StreamingFailure {
    PyramidBox box;       ///< level of the pyramid, layer and texels
    std::string message;  ///< text of the exception
};

/// Counts since the creation of a StreamedTexture.
struct StreamingStatistics {
    std::size_t resident_tiles = 0;       ///< tiles with memory now, without the levels that are always resident
    std::size_t resident_bytes = 0;       ///< bytes of all tiles with memory now
    std::size_t held_bytes = 0;           ///< device memory that is allocated for tiles, in pieces of 2 MiB
    std::size_t queued = 0;               ///< tiles that wait to be read now
    std::size_t reading = 0;              ///< tiles that are being read now
    std::uint64_t hits = 0;               ///< requested tiles that were resident when they were requested
    std::uint64_t misses = 0;             ///< requested tiles that were not
    std::uint64_t loaded_tiles = 0;       ///< tiles that became resident
    std::uint64_t loaded_bytes = 0;       ///< bytes of texels that were copied to the device
    std::uint64_t evicted_tiles = 0;      ///< tiles whose memory was taken for others
    std::uint64_t failed_reads = 0;       ///< reads that threw an exception
    std::uint64_t discarded_reads = 0;    ///< reads whose texels were no longer needed, or were invalidated
    std::uint64_t feedback_overflow = 0;  ///< sum of StreamingProgress::overflow
    double seconds = 0;                   ///< time since the creation
    /// Returns the average number of tiles that became resident per second.
    double tiles_per_second() const noexcept { return seconds > 0 ? static_cast<double>(loaded_tiles) / seconds : 0; }
};

/// The results of StreamedTexture::sample().
struct StreamedSamples {
    std::vector<Texel> texels;  ///< one result for each point
    /// For each point the minimum level of detail that the fetch used. 0: all texels of the fetch were resident.
    std::vector<std::uint8_t> clamps;
};

/// A texture of a pyramid of which only the needed tiles have memory.
///
/// The texture is a SparseArray with levels. Its smallest levels, from resident_level() on, are always resident. A
/// fetch never returns texels that are not resident: it returns what a fetch with clamp c returns, that is with
/// Sampler::mip_min raised to c, where c is the smallest whole number for which all texels are resident whose weight is
/// not rounded to 0. So the image is never wrong, only coarser, and it is exact when the needed tiles are resident
/// (c = 0). texture(c) is the texture with clamp c.
///
/// Each frame, a program requests what it needs, calls update() and enqueues work that reads the texture. update()
/// reads no tiles itself: threads of the object do. Requested tiles are read in this order: higher weight first, then
/// coarser levels, then tiles near the center of their view. Coarser tiles over missing tiles are read too. If the
/// budget is used up, tiles that are not requested lose their memory, least recently requested first. If the requested
/// tiles alone exceed the budget, coarser levels keep their memory.
///
/// Work that reads the texture must be enqueued on the stream of update(), or be ordered after update() with
/// Stream::wait(). Later changes of the mapping wait for this work, as for any SparseArray, without blocking the host.
///
/// The destructor stops reads in progress through their stop token, and waits until the callbacks have returned: a
/// callback that never returns and ignores its token blocks the destructor. All member functions are thread-safe.
/// Move-only; a moved-from object can only be destroyed or assigned.
class StreamedTexture {
public:
    /// Creates the array and reads the levels that are always resident, on the calling thread.
    ///
    /// Throws
    /// - Error{bad_argument} if an option is invalid, if the pyramid has no callback, or if the budget is less than the
    ///   levels need that are always resident; the message has the required bytes,
    /// - Error{overflow} if level 0 exceeds the limits of the device; the message names the first level that fits,
    /// - Error{unsupported} for kinds that cannot be sparse: describe a cubemap as a layered_2d with six layers, and a
    ///   1D array as an array_2d,
    /// - Error{io} if the callback throws for one of the levels that are always resident; the message names the level,
    /// - the errors of SparseArray, TilePool and Texture.
    StreamedTexture(const Device& device, TilePyramid pyramid, const StreamedTextureInfo& options = {});
    ~StreamedTexture();
    StreamedTexture(StreamedTexture&& other) noexcept;             ///< Moves the texture.
    StreamedTexture& operator=(StreamedTexture&& other) noexcept;  ///< Destroys this texture and moves the other one.

    const ArrayInfo& info() const noexcept;     ///< Returns the description of the array.
    int first_level() const noexcept;           ///< Returns the level of the pyramid that is level 0 of the array.
    int resident_level() const noexcept;        ///< Returns the first level that is always resident.
    const SparseArray& array() const noexcept;  ///< Returns the array. Do not map or unmap tiles.
    /// Returns the texture whose level of detail is at least `clamp`. The texture for resident_level() is resident in
    /// all its texels. Throws Error{out_of_bounds} if `clamp` is not in 0 to resident_level().
    const Texture& texture(int clamp = 0) const;

    /// Replaces the views of the previous call: these views are needed until the next call. Tiles that sample() and
    /// kernels have requested remain needed until others are requested in this way, or until eight more calls of
    /// request(). A view that has the level, layer and position in `views` of a view of the
    /// previous call, but another region, has moved: see StreamedTextureInfo::prefetch.
    ///
    /// Throws Error{out_of_bounds} if a level, layer or region does not exist, Error{bad_argument} for an invalid
    /// weight, and Error{overflow} if the views have more than 2^20 tiles. If it throws, earlier requests remain.
    void request(std::span<const StreamedView> views);
    /// Copies tiles that were read to the device, evicts others, and starts further reads. Enqueues this work on
    /// `stream`. Returns after about `limit` at the latest, also if there is more to do; a call handles at least a few
    /// tiles. Does not wait for reads, nor for work of the device.
    ///
    /// Throws Error{wrong_device} if the stream belongs to another device, and Error{capturing} while the calling
    /// thread records a graph or if the stream is being captured. Errors of the device leave the texture valid.
    StreamingProgress update(const Stream& stream, std::chrono::microseconds limit = std::chrono::milliseconds(2));
    /// Waits until a read has finished that update() has not seen, or nothing is being read, or `limit` has passed.
    void wait_for_reads(std::chrono::microseconds limit) const;

    /// Fetches all points and returns when the results are complete. Waits for the work of update() and for the default
    /// stream, but not for other streams; calls of other threads wait for it. Tiles of points whose clamp is not 0 are
    /// requested by the next update(), as if a kernel had fetched them; tiles of the other points count as requested
    /// too.
    ///
    /// `operation` is lod or gradients: other fetches always read level 0. Throws Error{bad_argument} for them, and the
    /// errors of texton::sample().
    [[nodiscard]] StreamedSamples sample(std::span<const FetchPoint> points,
                                         FetchOperation operation = FetchOperation::lod);

    /// Returns the textures for launch(): texture(c) for each clamp c. The rest of the array repeats the last of them.
    std::array<Texture, StreamedFeedback::kMaxLevels> clamps() const;
    /// Returns the memory in which a launch notes the tiles that it needs: see <texton/streamed_source.h>. Call it for
    /// each launch. The update() after the launch collects the tiles on its stream, and a later one, when they have
    /// arrived, makes them the tiles that are needed now, in place of those of earlier launches. The memory must not be
    /// used after the texture is destroyed. `pixels` is the number of pixels that the launch computes: of many, some
    /// note the resident tiles that they use, in turns from launch to launch. All of them note the tiles that are
    /// missing.
    ///
    /// A launch requests tiles of one level more for each fetch: launch and update() are repeated until
    /// StreamingProgress::settled(). Tiles beyond StreamedTextureInfo::feedback_tiles are counted, and requested by
    /// later launches. Throws Error{out_of_memory} if the device has too little memory, and Error{capturing} at the
    /// first call if the calling thread records a graph.
    StreamedFeedback feedback(std::size_t pixels = 0);

    std::size_t budget() const;          ///< Returns the maximum bytes of all tiles.
    std::size_t minimum_budget() const;  ///< Returns the bytes of the levels that are always resident.
    /// Changes the maximum bytes of all tiles. The next updates evict tiles that exceed it, each within its limit, and
    /// free their memory when earlier work on them is done. With minimum_budget() only the levels that are always
    /// resident remain. Throws Error{bad_argument} for less.
    void set_budget(std::size_t bytes);

    /// Reads a part again, because the pyramid has changed. Its tiles lose their memory in the next update(), and
    /// failures are forgotten. Levels that are always resident keep their old texels until the new ones are read.
    /// Without a level, all levels are invalidated. Throws the errors of request().
    void invalidate(const StreamedView& view);
    void invalidate();  ///< Invalidates all levels and layers.
    /// Stops all reads through their tokens and forgets all requests. Does not wait for the callbacks. Tiles that are
    /// resident remain so.
    void abort();

    /// Returns the tiles that could not be read. They are not read again until invalidate().
    std::vector<StreamingFailure> failures() const;
    StreamingStatistics statistics() const;  ///< Returns counts.

    /// Returns the internal state. For internal use.
    detail::StreamedState& state() const noexcept { return *state_; }

private:
    std::unique_ptr<detail::StreamedState> state_;
};

}  // namespace texton
