#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/image.h>
#include <texton/image_file.h>

namespace texton::viewer {

/// Returns the sRGB format of a unorm format, or the unorm format of an sRGB format, whose texels have the same bits.
/// Returns other formats unchanged.
[[nodiscard]] Format with_srgb(Format format, bool srgb);

/// The images of a file that are compared.
struct ComparedImages {
    bool all_parts = true;    ///< all parts; false: only ImageOptions::part
    bool all_frames = true;   ///< all frames of a video file; false: only ImageOptions::frame
    bool only_first = false;  ///< only the first image at full size
};

/// A file that is compared as a whole: its parts, and their levels, layers and faces, or the planes of its frames. Each
/// image is read when it is needed, and in its stored values: neither sRGB nor the orientation is converted.
class ComparedFile {
public:
    /// Opens the file. Throws the errors of open_image().
    explicit ComparedFile(std::string path, const ImageOptions& options = {}, const ComparedImages& images = {});

    const std::string& path() const noexcept { return path_; }
    /// Returns the number of images.
    std::size_t size() const noexcept { return frames_ > 0 ? 2 * frames_ : images_.size(); }
    /// Returns the name of an image, for example "layer 1, level 0". Empty if the file has one image.
    std::string name(std::size_t index) const;
    /// Returns which images the file has: "2 parts, 5 levels".
    std::string text() const;
    /// Returns what is not compared, in full sentences.
    const std::vector<std::string>& notes() const noexcept { return notes_; }
    /// Returns the format of an image in the file, as `texton info` prints it.
    Format format(std::size_t index) const;
    /// Returns the color space that the file states for an image. Empty if it states none.
    const std::string& color_space(std::size_t index) const;
    /// Returns the number of texels of the largest image.
    std::size_t max_texels() const;
    /// Reads an image. The texels of sRGB formats get the unorm format with the same bits. Block-compressed images are
    /// decoded, without loss. Throws the errors of open_image() and ImageFile::read().
    Image read(std::size_t index) const;

private:
    struct Index {
        std::size_t part = 0;  ///< index in parts_
        int level = 0;
        std::optional<std::size_t> layer{};
        std::optional<int> face{};
        std::size_t frame = 0;
        std::optional<int> plane{};
    };

    ImageFile open(int part) const;
    ImageFile open_frame(std::size_t frame) const;
    ImageFile decoded(std::size_t part) const;
    void add_part(const ImageFile& file);
    Index at(std::size_t index) const;

    std::string path_;
    ImageOptions options_;
    std::vector<ImageFile> parts_;
    std::vector<Index> images_;  ///< empty for frames
    std::size_t first_frame_ = 0;
    std::size_t frames_ = 0;
    std::vector<std::string> notes_;
};

}  // namespace texton::viewer
