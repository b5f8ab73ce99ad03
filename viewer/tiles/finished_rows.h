#pragma once
// The rows of an image that were computed, in a file beside the output, so that a later process continues with them if
// this one is killed.
//
// OUT.rows has the texels of the rows, from the first one on. OUT.rows.json has one JSON object for each line: first
// the description of the image, then the number of rows that the disk has stored. Rows are stored in groups: the texels
// first, and then the line that counts them, so a count never includes texels that a crash can lose.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>

#include <texton/image_file.h>

#include "arrays/files/descriptor.h"
#include "viewer/model/json_object.h"

namespace texton::tiles {

class FinishedRows {
public:
    /// Opens the files for an output, or creates them. `description` describes everything that the texels depend on.
    ///
    /// Throws Error{bad_argument} if the files belong to an image with another description, and names what differs.
    /// Throws Error{io} if they cannot be read or written, if another process uses them, or if the disk has too little
    /// space for the rows that are left: the message contains both sizes.
    FinishedRows(const std::filesystem::path& output, const verify::Json& description, std::size_t row_bytes,
                 std::size_t rows);

    /// Returns the number of finished rows.
    std::size_t count() const noexcept { return count_; }
    /// Returns the bytes of all rows on the disk.
    std::size_t disk_bytes() const noexcept { return row_bytes_ * rows_; }
    /// Reads finished rows. Throws Error{io}.
    void read(std::size_t first, std::size_t rows, std::byte* texels) const;
    /// Appends rows. Throws Error{io}.
    void append(std::size_t rows, const std::byte* texels);
    /// Stores the rows that were appended. Throws Error{io}.
    void store();
    /// Removes the files.
    void remove() noexcept;

private:
    using Clock = std::chrono::steady_clock;

    void open();
    void begin(const verify::Json& description);
    void resume(const std::string& lines, const verify::Json& description);
    void check_space() const;
    void write_line(const verify::Json& line);
    [[noreturn]] void fail(const std::filesystem::path& path, int error) const;

    std::filesystem::path texels_path_;
    std::filesystem::path lines_path_;
    std::size_t row_bytes_;
    std::size_t rows_;
    detail::OwnedDescriptor texels_;
    detail::OwnedDescriptor lines_;
    std::size_t count_ = 0;
    std::size_t stored_ = 0;  // of count_
    Clock::time_point stored_at_ = Clock::now();
};

/// Returns the same image. Rows that are finished are not computed again, and rows that are read become finished. The
/// image must have one slice and one level.
[[nodiscard]] ImageFile with_finished_rows(const ImageFile& image, std::shared_ptr<FinishedRows> rows);

}  // namespace texton::tiles
