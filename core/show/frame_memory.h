#pragma once
// Memory that a program and the window share: some slots, each for one frame of an image.
//
// Each slot has an atomic word: its state, and the number of its frame. The program takes a free slot, or else the one
// with the oldest frame that is ready, writes the frame and marks it ready. The window takes the newest ready frame,
// frees older ones, and frees the slot when it has read it. Nobody waits for the other process, and a slot that is
// written is never read.
//
// Neither side trusts the other one: sizes come from messages that were checked, and the words select only slots.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace texton::detail {

/// Shared memory of the frames of an image. Thread-safe.
class FrameMemory {
public:
    static constexpr std::size_t kSlots = 4;

    /// Creates memory for frames of this size, at least 1 byte: for the program. The system adds pages when they are
    /// written. Throws Error{overflow} and Error{out_of_memory}.
    explicit FrameMemory(std::size_t frame_bytes);
    /// Maps the memory of a program for frames of this size: for the window. The descriptor can be closed afterwards.
    /// Throws Error{bad_argument} if the memory is smaller or could shrink, and Error{out_of_memory}.
    FrameMemory(int descriptor, std::size_t frame_bytes);
    ~FrameMemory();
    FrameMemory(const FrameMemory&) = delete;
    FrameMemory& operator=(const FrameMemory&) = delete;

    int descriptor() const noexcept { return descriptor_; }  ///< -1 in the window
    std::size_t frame_bytes() const noexcept { return frame_bytes_; }
    /// Returns the bytes of all slots for frames of this size. Throws Error{overflow}.
    static std::size_t bytes_for(std::size_t frame_bytes);
    /// Returns all slots. Writable in the program only.
    std::span<std::byte> slots() const noexcept { return {texels_, slots_bytes_}; }
    std::byte* slot(std::size_t index) const noexcept { return texels_ + index * (slots_bytes_ / kSlots); }

    /// A slot, and whether a frame that was not read was dropped for it.
    struct Claim {
        std::size_t slot = 0;
        bool replaced = false;
    };
    /// Takes a slot for writing. Returns nullopt if all are being written or read.
    std::optional<Claim> begin_write(std::uint64_t frame) noexcept;
    /// Makes a written slot ready.
    void publish(std::size_t slot, std::uint64_t frame) noexcept;
    /// Frees a slot, written or read.
    void release(std::size_t slot) noexcept;

    /// A frame that is ready.
    struct Ready {
        std::size_t slot = 0;
        std::uint64_t frame = 0;
    };
    /// Takes the newest ready frame for reading, and frees older ones. Returns nullopt if none is ready.
    std::optional<Ready> begin_read() noexcept;

private:
    using Word = std::atomic<std::uint64_t>;
    static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

    std::size_t frame_bytes_;
    std::size_t slots_bytes_;
    int descriptor_ = -1;
    Word* words_ = nullptr;
    std::byte* texels_ = nullptr;
};

}  // namespace texton::detail
