#pragma once
// A session with the process that reads one file.
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

/// Sends requests to the process that reads one file, and starts the process when it is needed: at the first request,
/// after it ended, and after sessions of other files took its place, because a stack can consist of more files than
/// a machine should have processes. With ReadOptions::reuses_process, a process can have read other files before. Several
/// threads may call the member functions at once; requests are answered one
/// after the other.
///
/// The member functions throw the Error of the reader. Throws Error{io}, which names the file, if the reader ends
/// without a reply, exceeds the limit of time, or sends a reply that it must not send, and Error{out_of_memory} if it
/// exceeds the limit of memory.
class ReaderSession {
public:
    ReaderSession(std::filesystem::path path, const ReadOptions& options);
    ~ReaderSession();
    ReaderSession(const ReaderSession&) = delete;
    ReaderSession& operator=(const ReaderSession&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }

    /// Sends a request and returns the bytes of the result. This function sets the object, the path and the limits of
    /// the request.
    std::vector<std::byte> ask(const char* object, Request request);
    /// Asks for the description of a source, and adds its texels to those that the limits follow from.
    Description open(const char* object, const SourceKey& source);
    /// Sends a request for texels, and copies them to `packed`, which has their size. Throws Error{io} if the file is too
    /// small for its texels, and Error{out_of_memory} before they are decoded if they exceed the limit of memory.
    void read(const char* object, Request request, std::span<std::byte> packed);

    /// Throws Error{io}: the reader sent a reply whose `what` is wrong.
    [[noreturn]] void refuse_reply(const char* object, const std::string& what);

    /// Ends the process unless it is answering a request. Returns false if it is.
    bool end_if_idle() noexcept;

private:
    struct Asked;
    class Turn;
    // Differs if the file was replaced or written.
    struct FileState {
        std::uint64_t bytes = 0;  // 0 also if the path is not a regular file
        std::filesystem::file_time_type written{};
        bool operator==(const FileState&) const = default;
    };
    static FileState state_of(const std::filesystem::path& path);
    std::uint64_t exchange(const Asked& asked);
    std::optional<std::uint64_t> attempt(const Asked& asked);
    bool connected(const char* object);
    void connect(const char* object);
    bool can_repeat() noexcept;
    void grow(const Asked& asked);
    [[noreturn]] void fail(const Asked& asked, const std::string& why, std::string remedy,
                           ErrorCode code = ErrorCode::io, std::vector<ErrorNumber> numbers = {});
    [[noreturn]] void invalid(const Asked& asked, const std::string& what);
    Asked asked(const char* object, Request request, std::uint64_t capacity) const;
    [[noreturn]] void late(const Asked& asked);
    [[noreturn]] void ended(const Asked& asked, int status);
    std::vector<std::byte> contents(const Asked& asked, std::uint64_t bytes);

    const std::filesystem::path path_;
    const ReadOptions options_;
    std::mutex mutex_;
    Claim claim_;
    FileState state_;  // when the last source was opened
    std::optional<ReaderConnection> connection_;
    std::uint64_t memory_bytes_ = 0;  // size of the shared memory
    bool is_reused_ = false;          // the process has read other files
    bool failed_ = false;             // a request failed, so that the process must not read other files
};

using ReaderSessionPtr = std::shared_ptr<ReaderSession>;

}  // namespace texton::detail
