#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include <texton/image_file.h>

namespace texton {

/// Returns true if the extension of a path is that of a video file that FrameWriter writes.
[[nodiscard]] bool is_video_name(const std::filesystem::path& path);

/// Writes planar frames of one format and size to a video file, one after the other. The extension of the path selects
/// the kind of file:
///
/// - .y4m has a header with the size, the format and the attributes of the first frame: "y4m:frame_rate"
///   ("30000:1001"), "y4m:interlacing", "y4m:pixel_aspect", "chroma_siting" ("left", "center" or "top_left") and
///   "code_range" ("full" or "limited"). An unknown frame rate is written as 0:0.
/// - .yuv, .raw and the formats of raw_frames_of() have no header. The samples have the layout that the name of the
///   file describes (raw_frames_in_name()), else RawLayout::interleaved.
///
/// The file is written as by save(): an existing file is unchanged until complete() is called, and without that call
/// the destructor removes what was written. Objects must not be used by several threads at once. A moved-from object
/// can only be destroyed or assigned.
///
/// Example:
/// ```
/// texton::FrameWriter clip("clip.y4m", {{.name = "y4m:frame_rate", .value = "25:1"}});
/// for (const texton::PlanarArray& frame : frames) clip.write(texton::image_of(frame));
/// clip.complete();
/// ```
class FrameWriter {
public:
    /// Creates the temporary file. `attributes` replace those of the first frame. Throws Error{bad_argument}
    /// if the extension is not that of a video file, and Error{io} if the file cannot be written.
    explicit FrameWriter(const std::filesystem::path& path, const std::vector<ImageAttribute>& attributes = {});
    ~FrameWriter();
    FrameWriter(FrameWriter&& other) noexcept;             ///< The other object must then only be destroyed.
    FrameWriter& operator=(FrameWriter&& other) noexcept;  ///< The other object must then only be destroyed.

    /// Appends a frame. The caller must wait for pending writes to its texels before the call. Throws
    /// Error{bad_argument} if format or size differ from those of the first frame or from those that the name of the
    /// file describes, or if an attribute cannot be written. Throws Error{io} if the image is not planar or the file
    /// cannot be written, Canceled if the callback returns false, the callback's exceptions unchanged, and the errors
    /// of ImageFile::read(). After an error the file can no longer be completed.
    void write(const ImageFile& frame, const OnImageProgress& progress = {});
    /// Gives the file its name. Throws Error{bad_argument} if no frame was written or a write failed, and Error{io}.
    void complete();

private:
    class File;
    std::unique_ptr<File> file_;
};

}  // namespace texton
