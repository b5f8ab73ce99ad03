#include "core/show/frame_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

constexpr const char* kShow = "texton::show";
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHeader = kPage;  // the words
constexpr int kTries = 16;              // the words of a faulty process could change for ever

enum State : std::uint64_t { free_slot, writing, ready, reading };  // the two lowest bits of a word

constexpr std::uint64_t word_of(std::uint64_t frame, State state) { return frame << 2 | state; }
constexpr State state_of(std::uint64_t word) { return static_cast<State>(word & 3); }
constexpr std::uint64_t frame_of(std::uint64_t word) { return word >> 2; }

[[noreturn]] void refuse_memory(const char* what, std::size_t bytes) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = kShow,
                 .problem = fmt::format("{} of {} bytes failed: {}", what, bytes, std::strerror(errno)),
                 .remedy = "Show smaller images, or fewer of them.",
                 .numbers = {{"bytes", bytes}}});
}

}  // namespace

std::size_t FrameMemory::bytes_for(std::size_t frame_bytes) {
    constexpr auto kLargest = static_cast<std::size_t>(std::numeric_limits<off_t>::max()) / 2 / kSlots;
    if (frame_bytes > kLargest) {
        throw Error({.code = ErrorCode::overflow,
                     .object = kShow,
                     .problem = fmt::format("{} frames of {} bytes exceed the address space", kSlots, frame_bytes),
                     .remedy = "Show a smaller region.",
                     .numbers = {{"bytes", frame_bytes}}});
    }
    return (frame_bytes + kPage - 1) / kPage * kPage * kSlots;
}

FrameMemory::FrameMemory(std::size_t frame_bytes) : frame_bytes_(frame_bytes), slots_bytes_(bytes_for(frame_bytes)) {
    const std::size_t bytes = kHeader + slots_bytes_;
    const int descriptor = ::memfd_create("texton-show", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) refuse_memory("shared memory", bytes);
    void* memory = MAP_FAILED;
    // Sealed, so that the window can read it without a check of the size before each access.
    int sized = 0;
    do {
        sized = ::ftruncate(descriptor, static_cast<off_t>(bytes));
    } while (sized != 0 && errno == EINTR);
    if (sized == 0 && ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        const int why = errno;
        ::close(descriptor);
        errno = why;
        refuse_memory("shared memory", bytes);
    }
    descriptor_ = descriptor;
    words_ = static_cast<Word*>(memory);
    texels_ = static_cast<std::byte*>(memory) + kHeader;
}

FrameMemory::FrameMemory(int descriptor, std::size_t frame_bytes)
    : frame_bytes_(frame_bytes), slots_bytes_(bytes_for(frame_bytes)) {
    const std::size_t bytes = kHeader + slots_bytes_;
    struct stat status {};
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &status) != 0 ||
        std::cmp_less(status.st_size, bytes)) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kShow,
             .problem = fmt::format("the memory of the program has {} bytes and {}, but frames need {}", status.st_size,
                                    seals >= 0 && (seals & F_SEAL_SHRINK) != 0 ? "is sealed" : "could shrink", bytes),
             .remedy = "Use programs that call texton::show() of the same version.",
             .numbers = {{"bytes", bytes}}});
    }
    void* words = ::mmap(nullptr, kHeader, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (words == MAP_FAILED) refuse_memory("mapping the memory of a program", bytes);
    void* texels = ::mmap(nullptr, slots_bytes_, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(kHeader));
    if (texels == MAP_FAILED) {
        const int why = errno;
        ::munmap(words, kHeader);
        errno = why;
        refuse_memory("mapping the memory of a program", bytes);
    }
    words_ = static_cast<Word*>(words);
    texels_ = static_cast<std::byte*>(texels);
}

FrameMemory::~FrameMemory() {
    ::munmap(words_, kHeader);
    ::munmap(texels_, slots_bytes_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<FrameMemory::Claim> FrameMemory::begin_write(std::uint64_t frame) noexcept {
    for (int tries = 0; tries < kTries; ++tries) {
        std::optional<std::size_t> oldest;
        std::uint64_t oldest_word = 0;
        for (std::size_t i = 0; i < kSlots; ++i) {
            std::uint64_t word = words_[i].load(std::memory_order_acquire);
            if (state_of(word) == free_slot &&
                words_[i].compare_exchange_strong(word, word_of(frame, writing), std::memory_order_acq_rel))
                return Claim{i, false};
            if (state_of(word) == ready && (!oldest || word < oldest_word)) {
                oldest = i;
                oldest_word = word;
            }
        }
        if (!oldest) return std::nullopt;
        if (words_[*oldest].compare_exchange_strong(oldest_word, word_of(frame, writing), std::memory_order_acq_rel))
            return Claim{*oldest, true};
    }
    return std::nullopt;
}

void FrameMemory::publish(std::size_t slot, std::uint64_t frame) noexcept {
    words_[slot].store(word_of(frame, ready), std::memory_order_release);
}

void FrameMemory::release(std::size_t slot) noexcept {
    words_[slot].store(word_of(0, free_slot), std::memory_order_release);
}

std::optional<FrameMemory::Ready> FrameMemory::begin_read() noexcept {
    for (int tries = 0; tries < kTries; ++tries) {
        std::optional<std::size_t> newest;
        std::uint64_t newest_word = 0;
        for (std::size_t i = 0; i < kSlots; ++i) {
            const std::uint64_t word = words_[i].load(std::memory_order_acquire);
            if (state_of(word) == ready && (!newest || word > newest_word)) {
                newest = i;
                newest_word = word;
            }
        }
        if (!newest) return std::nullopt;
        const std::uint64_t frame = frame_of(newest_word);
        if (!words_[*newest].compare_exchange_strong(newest_word, word_of(frame, reading), std::memory_order_acq_rel))
            continue;
        for (std::size_t i = 0; i < kSlots; ++i) {
            std::uint64_t word = words_[i].load(std::memory_order_acquire);
            if (state_of(word) == ready && frame_of(word) < frame)
                words_[i].compare_exchange_strong(word, word_of(0, free_slot), std::memory_order_acq_rel);
        }
        return Ready{*newest, frame};
    }
    return std::nullopt;
}

}  // namespace texton::detail
