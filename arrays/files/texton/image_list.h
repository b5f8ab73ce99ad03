#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include <texton/image_file.h>

namespace texton {

/// Files that are opened one after the other, each as an image of its own.
///
/// With ReadOptions::isolated and ReadOptions::reuses_process, a separate process opens the next files while the caller
/// uses the current one, and decodes small images, too, if the caller has read texels of earlier ones. Small files then
/// cost about as much as in the process of the caller. A file that changes before open_next() is opened again.
/// Otherwise the class is the same as calls of open_image(). Move-only. Only one thread may use an object at the same
/// time.
class ImageList {
public:
    /// Opens no file. All files are opened with the same options.
    explicit ImageList(std::span<const std::filesystem::path> paths, const ImageOptions& options = {},
                       const ReadOptions& reading = {});
    ~ImageList();
    ImageList(ImageList&&) noexcept;             ///< The other list then has no files.
    ImageList& operator=(ImageList&&) noexcept;  ///< The other list then has no files.

    /// Returns the number of files that were not opened yet.
    std::size_t left() const noexcept;
    /// Opens the next file. Throws the errors of open_image(); the file then counts as opened. Throws
    /// Error{out_of_bounds} if no file is left. Relative paths refer to the current folder of the first call.
    ImageFile open_next();

private:
    struct State;
    std::unique_ptr<State> state_;  // null after a move
};

}  // namespace texton
