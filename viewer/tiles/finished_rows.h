#pragma once
// The rows of an image that were computed, in a file beside the output, so that a later process continues with them if
// this one is killed.
//
// OUT.rows has the texels of the image, compressed (row_file.h); rows that are not finished are undefined.
// OUT.rows.json has one JSON object for each line: first the description of the image, then ranges of rows that the
// disk has stored. Rows are stored in groups: the texels first, and then the line that names them, so a line never
// includes texels that a crash can lose.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>

#include <texton/image_file.h>

#include "arrays/files/descriptor.h"
#include "viewer/model/json_object.h"
#include "viewer/tiles/row_file.h"
#include "viewer/tiles/row_set.h"

namespace texton::tiles {

class FinishedRows {
public:
    /// Opens the files for an output, or creates them. `description` describes everything that the texels depend on.
    ///
    /// Throws Error{bad_argument} if the files belong to an image with another description, and names what differs.
    /// Throws Error{io} if they cannot be read or written, or if another process uses them.
    FinishedRows(const std::filesystem::path& output, const verify::Json& description, RowLayout layout);
    /// Creates a file without a name in the folder of the output. No other process continues with its rows. Throws
    /// Error{io} likewise.
    FinishedRows(const std::filesystem::path& output, RowLayout layout);

    /// Returns true if a later process can continue with the rows.
    bool is_kept() const noexcept { return lines_.number() >= 0; }
    const RowSet& rows() const noexcept { return finished_; }
    /// Returns the texels. Other threads and processes may write rows that are not finished.
    const RowFile& texels() const noexcept { return texels_; }
    /// Writes rows of all slices, which are finished then. Throws Error{io}.
    void write(Rows rows, const std::byte* texels);
    /// Makes rows finished that another process of this machine, or a process that has synchronized the file, has
    /// written to texels() in one call.
    void add(Rows rows);
    /// Stores the finished rows if they are many, or if some time has passed since the last call. Throws Error{io}.
    void store_if_due();
    /// Stores the finished rows. Throws Error{io}.
    void store();
    /// Says that the rows are now read from the first to the last one, and not again. If they are not kept and the
    /// image has one slice, the disk space of what was read is freed from then on.
    void begin_last_reading() noexcept { frees_rows_ = !is_kept() && texels_.layout().slices == 1; }
    /// Says that a part of the image was read whose first row is `row`.
    void has_read_from(std::size_t row) {
        if (frees_rows_) texels_.free_before(row);
    }
    /// Removes the files.
    void remove() noexcept;

private:
    using Clock = std::chrono::steady_clock;

    detail::OwnedDescriptor open_lines() const;
    void begin(const verify::Json& description);
    void resume(const std::string& lines, const verify::Json& description);
    void finish(Rows rows);
    void write_line(const verify::Json& line) const;

    std::filesystem::path lines_path_;
    detail::OwnedDescriptor lines_;  // none if the rows are not kept
    RowFile texels_;
    RowSet finished_;
    RowSet unstored_;  // of the finished ones
    std::atomic<bool> frees_rows_{false};
    Clock::time_point stored_at_ = Clock::now();
};

/// Returns the same image. Rows that are finished are not computed again, and rows that are read become finished. The
/// image must have one slice and one level.
[[nodiscard]] ImageFile with_finished_rows(const ImageFile& image, std::shared_ptr<FinishedRows> rows);

}  // namespace texton::tiles
