#pragma once
// Shows texels of the running program in texton-view. Linux only.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// What show() did with a frame.
enum class ShowOutcome : std::uint8_t {
    shown,     ///< the frame was, or will be, passed to the window
    dropped,   ///< the window still reads older frames, so this one was not copied
    no_window  ///< no window listens; nothing was copied
};

/// Result of show().
struct ShowResult {
    ShowOutcome outcome = ShowOutcome::no_window;  ///< what was done
    std::uint64_t frame = 0;    ///< number of the frame, counted from 1 for each name; 0 without a window
    std::uint64_t dropped = 0;  ///< frames of this name so far that were not copied, or replaced before they were read
};

/// Passes a frame to texton-view, where it appears or updates as the image `name`.
///
/// The texels are copied once, to memory that this process shares with the window. The call never waits for the window:
/// the newest frame wins, and older ones that the window has not read are dropped. The window never shows parts of two
/// frames. Without a window the call tries to connect, at most once every 100 ms, and copies nothing. After the window
/// was closed and opened again, the next call connects.
///
/// Texels of host memory are copied at once. For memory of a device, the copy is ordered and done as copy() without a
/// stream. An array is passed as the view of a level: `show(array.view({.level = 1}), "level 1")`. A frame with another
/// size or format than the last one of the same name replaces the image.
///
/// The window is found by a Unix domain socket: the one that the environment variable TEXTON_SHOW names, or else
/// `texton-show` in $XDG_RUNTIME_DIR, or else the abstract name `@texton-show-UID`. If TEXTON_SHOW is empty, nothing is
/// ever shown. Only a window of the same user is accepted. Several threads may call this function at once. A child that
/// was forked has its own connection.
///
/// Throws
/// - Error{bad_argument} if the view is empty, or if the name is empty, has more than 200 bytes or contains a zero byte,
/// - Error{overflow} if the frames do not fit in the address space,
/// - Error{out_of_memory} if the system has too little memory for the frames,
/// - the errors of copy(), if there is a window.
ShowResult show(const ConstView& view, std::string_view name);
/// Enqueues the copy on a stream, and returns without waiting for it. Otherwise like show() without a stream.
///
/// The caller must keep the memory until the copy is done; this includes pageable host memory. The first call with a
/// size or format registers the shared memory with the device, which can take some milliseconds.
///
/// Throws the errors of show() without a stream, Error{wrong_device} if the stream belongs to another device than the
/// memory, and Error{capturing} if the stream is captured into a graph.
ShowResult show(const ConstView& view, std::string_view name, const Stream& stream);

}  // namespace texton

extern "C" {

/// For debuggers: shows texels in host memory, in packed rows. `format` is the name of a format, such as "rgba32_float".
/// Returns what was done, or why not, as text that stays valid until the next call. Never throws.
/// Without debug information of Texton, gdb needs the type of the function:
///
///     (gdb) print texton_show_pointer(pixels, "rgba32_float", 640, 480, "pixels")
///     (gdb) print ((const char*(*)())texton_show_pointer)(pixels, "rgba32_float", 640, 480, "pixels")
const char* texton_show_pointer(const void* data, const char* format, std::size_t width, std::size_t height,
                                const char* name);
/// For debuggers: shows the texels of a texton::View or texton::ConstView of any memory. Otherwise like
/// texton_show_pointer().
///
/// Texels of host memory and of the CPU device are copied as they are, also while the device works. Texels of a GPU are
/// copied only if the GPU is idle; otherwise the function returns at once and says so.
///
///     (gdb) print texton_show_view(&view, "view")
const char* texton_show_view(const texton::ConstView* view, const char* name);

}  // extern "C"
