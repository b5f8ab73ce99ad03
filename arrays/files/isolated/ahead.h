#pragma once
// Files that a process opens before they are needed.
#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "arrays/files/isolated/session.h"

namespace texton::detail {

/// A file that a process has opened, or failed to open.
struct OpenedAhead {
    ReaderSessionPtr session;
    std::optional<Description> description;  ///< unset: the session can open the file, and throws the error
};

/// Opens the files of a list in their order, in processes that are some files ahead of the caller. A request and its
/// reply then overlap with the work on other files, so that no process waits for another. Small images are decoded,
/// too, if the caller reads the texels of files of the list. Long lists are divided among several processes: each opens
/// every n-th file.
class AheadOpener {
public:
    /// All files are opened as `source`. `are_read`: the caller will open all files and then read their texels.
    AheadOpener(std::vector<std::filesystem::path> paths, const SourceKey& source, const ReadOptions& options,
                bool are_read);
    ~AheadOpener();
    AheadOpener(const AheadOpener&) = delete;
    AheadOpener& operator=(const AheadOpener&) = delete;

    /// Returns the next file of the list, or nothing if it is another one. Throws the errors of connect_reader().
    std::optional<OpenedAhead> next(const char* object, const std::filesystem::path& path, const SourceKey& source);

private:
    /// A process, and the sessions of the files that it was asked to open.
    struct Lane {
        std::deque<ReaderSessionPtr> sent;
        std::optional<ReaderConnection> process;
    };

    void send(const char* object);
    bool ask(const char* object, Lane& lane, std::size_t file);
    std::size_t next_of(std::size_t lane) const noexcept;

    const std::vector<std::filesystem::path> paths_;
    const SourceKey source_;
    const ReadOptions options_;
    const bool opens_all_;
    const std::shared_ptr<std::atomic<bool>> are_read_;
    std::size_t received_ = 0;          // files whose reply was received
    std::uint64_t received_bytes_ = 0;  // of texels
    std::vector<Lane> lanes_;
};

}  // namespace texton::detail
