#pragma once
// The journal of a batch: which inputs were done or failed, so that the same command does only what is left.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/json_object.h"

namespace texton::batch {

/// What identifies the contents of an input.
struct Contents {
    std::uint64_t bytes = 0;
    std::int64_t nanoseconds = 0;  ///< time of the last change
    std::string sha256{};          ///< empty unless it was requested
    bool operator==(const Contents&) const = default;
};

/// Returns the contents of a file, or nothing if it cannot be read.
[[nodiscard]] std::optional<Contents> contents_of(const std::filesystem::path& file, bool with_checksum);

/// What the journal says about an input.
struct Entry {
    std::filesystem::path input{};  ///< absolute
    Contents contents{};
    std::vector<std::filesystem::path> outputs{};  ///< absolute; empty if the input failed
    std::string cause{};                           ///< empty if the input is done
    std::int64_t when = 0;                         ///< nanoseconds since 1970

    bool is_done() const noexcept { return cause.empty(); }
};

/// The journal in a folder. Each shard appends to a file of its own, and reads the files of all shards. A line that was
/// not written completely is ignored.
class Journal {
public:
    /// Reads the journal, but creates nothing. `work` describes what is done with each input: a journal of other work is
    /// refused with Error{bad_argument}. Throws Error{io} if the journal cannot be read.
    Journal(std::filesystem::path folder, std::string work);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Returns what was written last about an input, or null.
    const Entry* find(const std::filesystem::path& input) const;

    /// Creates the folder and opens the file of a shard for writing. Throws Error{io}.
    void open(const std::string& shard);
    /// Appends entries, and returns after the system has stored them. Throws Error{io}.
    void append(const std::vector<Entry>& entries);

    const std::filesystem::path& folder() const noexcept { return folder_; }

private:
    void read(const std::filesystem::path& file);
    void write(const std::string& text);

    std::filesystem::path folder_;
    std::string work_;
    std::map<std::filesystem::path, Entry> entries_;
    std::filesystem::path file_name_;
    int file_ = -1;
};

/// Returns after the system has stored the contents and the names of files. Returns the first error number, or 0. A file
/// that does not exist any more is left out.
[[nodiscard]] int synchronize(const std::vector<std::filesystem::path>& files);

}  // namespace texton::batch
