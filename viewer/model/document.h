#pragma once
// An image that was loaded on a device, as an array of any kind. This header does not depend on widgets.
//
// If the device cannot hold the image of the files, the array contains a reduced image. Subresources and positions
// always refer to the files, so views, pins and sessions mean the same on every device. in_array() in
// viewer/model/positions.h converts them to the array. as_loaded() returns the array as a document of its own, for
// computations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/device.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/planar_array.h>
#include <texton/texture.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/frames.h"
#include "viewer/model/session.h"

namespace texton::viewer {

class FileTexels;
class StreamedImage;

/// When an image is streamed, so that only the tiles that are seen are in memory. It must be a file with levels that
/// can be read in any order, and be too large otherwise.
struct StreamingOptions {
    std::size_t budget = std::size_t{256} << 20;  ///< maximum device memory of the tiles of an image, in bytes
    /// Images with more bytes are streamed, and all that do not fit the device. Unset: half of the memory of the
    /// device.
    std::optional<std::size_t> max_loaded{};
};

/// An image of a session and its array on a device. Immutable: several threads may use it at once.
class Document : public std::enable_shared_from_this<Document> {
public:
    /// Reads the files and uploads the image. Blocks. If the image is too large for the device, it is reduced, as far
    /// as possible (see reduced_image.h). Throws the errors of open_image() and load(), and Canceled if `progress`
    /// returns false.
    ///
    /// With `streaming`, images that are large enough get a streamed() image, and their array has a coarse level only.
    static std::shared_ptr<const Document> open(const Source& source, const Device& device,
                                                const OnImageProgress& progress = {},
                                                const std::optional<StreamingOptions>& streaming = {});
    /// Creates a document from an existing array, for example the result of a kernel. If `like` is reduced and its
    /// array has the same extent, the result refers to the same positions as `like`.
    static std::shared_ptr<const Document> of(Array array, std::string title, const Document* like = nullptr);
    /// Creates a document from a frame of a running program. `number` is at least 1.
    static std::shared_ptr<const Document> of_frame(Array array, std::string title, std::uint64_t number);
    /// Creates a document from a frame of a running program whose texels, in packed rows of host memory, are copied to
    /// the array when that is needed for the first time. `owner` keeps the texels, which must not change. The array
    /// must be 2D, without levels.
    static std::shared_ptr<const Document> of_frame(Array array, std::span<const std::byte> texels,
                                                    std::shared_ptr<const void> owner, std::string title,
                                                    std::uint64_t number);

    /// Returns the title for the window: the name of the file.
    const std::string& title() const noexcept { return title_; }
    /// Returns the files and options. It has no paths if the document was created from an array.
    const Source& source() const noexcept { return source_; }
    /// Returns source() with the files that were read: of numbered files the one of the frame.
    const Source& read_source() const noexcept { return files_.source; }
    /// Returns true if source() names numbered files, which are the frames.
    bool is_numbered() const noexcept { return files_.frames > 0; }
    /// Returns the number of frames of the video file or the numbered files; 1 for other images.
    std::size_t frames() const { return is_numbered() ? files_.frames : file_.metadata().frames; }
    /// Returns the number of the frame if it is one of a running program, else 0.
    std::uint64_t live_frame() const noexcept { return live_frame_; }
    /// Returns the image whose texels the array contains: that of the files, or the reduced image.
    const ImageFile& image() const noexcept { return image_; }
    /// Returns the image of the files at full size, or the array if there are no files.
    const ImageFile& file() const noexcept { return file_; }
    /// Returns the description of an array that holds the full-size image, or a plane of a planar image.
    const ArrayInfo& whole(int plane = 0) const { return is_planar() && plane == 1 ? whole_chroma_ : whole_; }
    /// Returns how many times width, height and depth were halved to fit the device. 0 means that the image is not
    /// reduced. In an image with levels this is the number of omitted levels.
    int halvings() const noexcept { return halvings_; }
    /// Returns how many times a subresource of the files is halved in the array. 0 means that the array contains its
    /// texels.
    int halvings(const SubresourceIndex& subresource) const noexcept {
        return std::max(0, halvings_ - subresource.level);
    }
    /// Returns the tiles of the levels that are finer than the array, or null if the image is not streamed.
    const std::shared_ptr<StreamedImage>& streamed() const noexcept { return streamed_; }
    /// Returns why the image was not streamed although it is large enough; usually empty.
    const std::string& streaming_problem() const noexcept { return streaming_problem_; }
    /// Returns the array as a document that is not reduced.
    std::shared_ptr<const Document> as_loaded() const { return as_loaded_ ? as_loaded_ : shared_from_this(); }
    const Device& device() const noexcept { return device_; }      ///< Returns the device of the array.
    const LoadTiming& timing() const noexcept { return timing_; }  ///< Returns the times of the load.
    bool is_planar() const noexcept { return planes_ == 2; }       ///< Returns true if the format is planar.
    int planes() const noexcept { return planes_; }                ///< Returns the number of planes: 1 or 2.

    /// Returns the array. For a planar image it is the array of a plane: r8 and rg8, or r16 and rg16. Throws the errors
    /// of copy() if the texels of a frame are copied to it by this call.
    const Array& array(int plane = 0) const;
    /// Returns the description of the array.
    const ArrayInfo& info(int plane = 0) const { return array_of(plane).info(); }

    /// Returns the nearest subresource that exists in the files.
    SubresourceIndex clamped(const SubresourceIndex& subresource) const;
    /// Returns the width and height of a subresource of the files.
    Extent extent(const SubresourceIndex& subresource) const;
    /// Returns the subresource of the array for a subresource of the files.
    SubresourceIndex in_array(const SubresourceIndex& subresource) const;
    /// Returns the part of the array for a subresource of the files: one slice.
    Subresource part(const SubresourceIndex& subresource) const;
    /// Returns the texels of a box of the files at full resolution, in packed rows. They are copied from the array if
    /// it contains them. Otherwise they are read from the files, which can take a long time. In block-compressed
    /// formats the box must consist of whole blocks or end at the edge. Throws the errors of copy() and of
    /// FileTexels::read().
    std::vector<std::byte> texels(const SubresourceIndex& subresource, const TexelBox& box,
                                  const CancellationToken& token = {}) const;
    /// Returns true if texels() reads files for this subresource.
    bool is_finer_in_files(const SubresourceIndex& subresource) const;
    /// Returns the same texels if no file must be read for them, and otherwise nothing.
    std::optional<std::vector<std::byte>> texels_at_hand(const SubresourceIndex& subresource,
                                                         const TexelBox& box) const;

    /// Returns the default sampler.
    Sampler standard_sampler(int plane = 0) const;
    /// Returns a texture of the whole array. Throws the errors of Texture.
    Texture texture(const Sampler& sampler, int plane = 0) const;

private:
    static std::shared_ptr<Document> open_halved(const Source& source, const FrameFiles& files, const Device& device,
                                                 const ImageFile& whole, int halvings, const OnImageProgress& progress);
    static std::shared_ptr<Document> open_streamed(const Source& source, const FrameFiles& files, const Device& device,
                                                   const ImageFile& whole, const StreamingOptions& streaming,
                                                   const OnImageProgress& progress);
    Document(Source source, std::string title, ImageFile image, Device device)
        : source_(std::move(source)),
          title_(std::move(title)),
          image_(std::move(image)),
          file_(image_),
          device_(std::move(device)) {}
    void halve(int times);
    const Array& array_of(int plane) const;
    std::vector<std::byte> array_texels(const SubresourceIndex& subresource, const TexelBox& box) const;

    Source source_;
    FrameFiles files_;
    std::string title_;
    ImageFile image_;
    ImageFile file_;
    Device device_;
    LoadTiming timing_;
    Array array_;
    PlanarArray planar_;
    int planes_ = 1;
    int halvings_ = 0;
    std::uint64_t live_frame_ = 0;
    struct HostTexels;
    std::shared_ptr<HostTexels> host_texels_;  // null: the array has the texels
    ArrayInfo whole_;
    ArrayInfo whole_chroma_;
    std::shared_ptr<const FileTexels> file_texels_;  // null if the array is not reduced
    std::shared_ptr<const Document> as_loaded_;      // null: this document
    std::shared_ptr<StreamedImage> streamed_;
    std::string streaming_problem_;
};

/// Returns a notice that the document is reduced or streamed, and why. Empty if it is
/// not reduced.
[[nodiscard]] std::string halving_text(const Document& document);
/// Returns the title of a source: "a.png" or "a.png and 5 more".
[[nodiscard]] std::string title_of(const Source& source);

/// Returns the device with a name: "cpu", "cpu:1", "cuda" or "cuda:0". An empty name selects the best device. Throws
/// Error{bad_argument} for any other text, and the errors of Device if the device does not exist.
[[nodiscard]] Device device_named(const std::string& name);

}  // namespace texton::viewer
