#pragma once
// A session with the processes that read one file.
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays/files/isolated/helper.h"
#include "arrays/files/isolated/limits.h"
#include "arrays/files/isolated/message.h"

namespace texton::detail {

/// Sends requests about one file to the process that reads it, and starts the process when it is needed: at the first
/// request, after it ended, and after sessions of other files took its place, because a stack can consist of more files
/// than a machine should have processes. With ReadOptions::reuses_process, sessions share the processes: each request
/// is sent to a process that waits, if possible the one that has opened the file. After a failure, a session has a
/// process of its own, too. Several threads may call the member functions at once; requests are answered one after the
/// other.
///
/// The member functions throw the Error of the reader. Throws Error{io}, which names the file, if the reader ends
/// without a reply, exceeds the limit of time, or sends a reply that it must not send, and Error{out_of_memory} if it
/// exceeds the limit of memory.
class ReaderSession {
public:
    /// If texels are read, `are_read` becomes true, unless it is null.
    ReaderSession(std::filesystem::path path, const ReadOptions& options,
                  std::shared_ptr<std::atomic<bool>> are_read = nullptr);
    ~ReaderSession();
    ReaderSession(const ReaderSession&) = delete;
    ReaderSession& operator=(const ReaderSession&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }

    /// Asks for the description of a source, and adds its texels to those that the limits follow from. The description
    /// contains the texels of the first level if they have at most `texels` bytes.
    Description open(const char* object, const SourceKey& source, std::uint64_t texels);
    /// Throws Error{io} if the file is too small for its texels, and Error{out_of_memory} if those of a box that are
    /// decoded together exceed the limit of memory. The caller must call it before it reads texels without read().
    void require_possible(const char* object, const Description& opened, int level, const Region& box);
    /// Reads a box of a level, and copies its texels to `packed`, which has their size. Throws the errors of
    /// require_possible() before they are decoded.
    void read(const char* object, const SourceKey& source, const Description& opened, int level, const Region& box,
              std::span<std::byte> packed);

    /// Sends the request of open() to a process that may have to answer other requests first. Returns false if it
    /// cannot.
    bool send_ahead(const char* object, const SourceKey& source, std::uint64_t texels, ReaderConnection& process);
    /// Receives the reply, which must be the next one of the process. Returns nothing if there is none, if it is an
    /// error, or if the file has changed since. Then the process must not be used again, and open() repeats the request
    /// in another one.
    std::optional<Description> receive_ahead(const char* object, std::optional<ReaderConnection>& process);

    /// The caller reads texels that open() returned.
    void note_read() noexcept {
        if (are_read_ != nullptr) are_read_->store(true, std::memory_order_relaxed);
    }

    /// Throws Error{io}: the reader sent a reply whose `what` is wrong.
    [[noreturn]] void refuse_reply(const char* object, const std::string& what);

    /// Ends the process unless it is answering a request. Returns false if it is.
    bool end_if_idle() noexcept;

private:
    struct Asked;
    class Turn;
    bool shares() const noexcept { return options_.reuses_process && !failed_; }
    std::vector<std::byte> exchange(const Asked& asked);
    std::optional<std::vector<std::byte>> attempt(const Asked& asked);
    std::optional<std::vector<std::byte>> receive(const Asked& asked, std::uint64_t number);
    Description described(const Asked& asked, const std::vector<std::byte>& bytes);
    void moved_to(const std::shared_ptr<ReaderConnection::Process>& process) noexcept;
    void connect(const char* object);
    void release(const Asked& asked) noexcept;
    bool can_repeat() noexcept;
    void grow(ReaderConnection& process, const Asked& asked);
    void copy(const Asked& asked, std::uint64_t offset, std::span<std::byte> to);
    [[noreturn]] void no_memory(const Asked& asked, std::uint64_t bytes);
    [[noreturn]] void fail(const Asked& asked, const std::string& why, std::string remedy,
                           ErrorCode code = ErrorCode::io, std::vector<ErrorNumber> numbers = {});
    [[noreturn]] void invalid(const Asked& asked, const std::string& what);
    Asked asked(const char* object, Request request) const;
    std::uint64_t memory() const;
    void require_possible(const char* object, const Description& opened, std::uint64_t largest) const;
    [[noreturn]] void late(const Asked& asked);
    [[noreturn]] void ended(const Asked& asked, int status);
    bool was_taken(std::uint64_t number) const noexcept;
    bool add(const Asked& asked, std::uint64_t bytes, std::span<const std::byte> part,
             std::vector<std::byte>& contents);

    const std::filesystem::path path_;
    const ReadOptions options_;
    const std::uint64_t number_;  // of the file
    const std::shared_ptr<std::atomic<bool>> are_read_;
    std::mutex mutex_;
    Claim claim_;
    FileIdentity file_;                                   // when the last source was opened
    std::optional<ReaderConnection> connection_;          // of an own process, or during a request
    std::weak_ptr<ReaderConnection::Process> opened_in_;  // the process that answered the last request
    std::uint64_t ahead_ = 0;                             // number of the request that was sent ahead
    bool failed_ = false;                                 // a request failed, so that the process must not be shared
};

using ReaderSessionPtr = std::shared_ptr<ReaderSession>;

}  // namespace texton::detail
