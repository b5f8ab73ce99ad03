// show(): finds the window, takes a slot of the memory that both processes share, copies the texels and tells the window.
//
// A lock guards the names and the connection, but no copy: threads copy at the same time, each to its own slot. The
// state is never destroyed, because work of streams can use it until the process ends. Memory that is no longer used is
// released by a later call, never by a function on a stream, which must not call CUDA.
#include <texton/show.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/registered.h>

#include "core/block.h"
#include "core/parallel.h"
#include "core/show/connection.h"
#include "core/show/frame_memory.h"
#include "core/transfer.h"

namespace texton {
namespace {

using detail::FrameMemory;
using detail::ShowConnection;
using Clock = std::chrono::steady_clock;

constexpr const char* kShow = "texton::show";
constexpr auto kBetweenAttempts = std::chrono::milliseconds(100);
constexpr std::size_t kParallelBytes = std::size_t{1} << 20;  // for fewer bytes, threads take longer to start

// An image that was announced to the window.
struct Image {
    Image(Format format, Extent extent, std::uint64_t number)
        : format(format), extent(extent), number(number), memory(packed_bytes(format, extent)) {}

    View slot_view(std::size_t slot) const { return host_view(memory.slot(slot), format, extent); }

    Format format;
    Extent extent;
    std::uint64_t number;
    FrameMemory memory;
    bool announced = false;
    std::optional<Registered> registered{};
    std::atomic<bool> lost_slot{false};  // true: a copy to a slot may never be finished
    std::atomic<int> pending{0};         // copies that streams still make
};

struct Name {
    std::shared_ptr<Image> image;
    std::uint64_t frames = 0;
    std::uint64_t dropped = 0;
};

struct State {
    std::binary_semaphore lock{1};  // a debugger may try it in the thread that holds it
    const unsigned forks = detail::fork_count();
    std::shared_ptr<ShowConnection> connection;
    Clock::time_point next_attempt;
    std::map<std::string, Name, std::less<>> names;
    std::vector<std::shared_ptr<Image>> retired;  // images that streams may still write
    std::uint64_t images = 0;
};

class Lock {
public:
    explicit Lock(State& state) : state_(state) { state_.lock.acquire(); }
    ~Lock() { state_.lock.release(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    State& state_;
};

// A child that was forked has a state of its own: the connection is the parent's.
State& state() {
    static std::atomic<State*> current{new State};
    State* found = current.load(std::memory_order_acquire);
    if (found->forks == detail::fork_count()) return *found;
    auto fresh = std::make_unique<State>();
    State* expected = found;
    if (current.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    return *expected;
}

void retire(State& state, Name& name) {
    if (name.image != nullptr) state.retired.push_back(std::move(name.image));
    name.image = nullptr;
}

// Returns false if no window listens.
bool connect(State& state) {
    if (state.connection != nullptr && !state.connection->is_open()) {
        for (auto& [name, shown] : state.names) retire(state, shown);
        state.connection = nullptr;
    }
    std::erase_if(state.retired, [](const auto& each) { return each->pending.load(std::memory_order_acquire) == 0; });
    if (state.connection != nullptr) return true;
    const Clock::time_point now = Clock::now();
    if (now < state.next_attempt) return false;
    state.connection = ShowConnection::open();
    if (state.connection == nullptr) state.next_attempt = now + kBetweenAttempts;
    return state.connection != nullptr;
}

bool announce(const ShowConnection& connection, const Image& image, std::string_view name, std::uint64_t frames) {
    detail::ShowMessage message{.kind = detail::ShowMessageKind::image,
                                .image = image.number,
                                .frames = frames,
                                .width = image.extent.width,
                                .height = image.extent.height,
                                .depth = image.extent.depth};
    const std::string_view format = info(image.format).name;
    std::ranges::copy(format, message.format.begin());
    std::ranges::copy(name, message.name.begin());
    return connection.send(message, image.memory.descriptor());
}

// A slot that was taken for a frame.
struct Frame {
    std::shared_ptr<Image> image;
    std::shared_ptr<ShowConnection> connection;
    std::size_t slot = 0;
    std::uint64_t number = 0;

    View view() const { return image->slot_view(slot); }
    void publish() const noexcept {
        image->memory.publish(slot, number);
        // If the window has not read the messages so far, it will find the newest frame without this one.
        (void)connection->send({.kind = detail::ShowMessageKind::frame, .image = image->number});
    }
};

void check_name(std::string_view name) {
    if (!name.empty() && name.size() <= detail::kMaxShownName && name.find('\0') == std::string_view::npos) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kShow,
                 .problem = name.empty() ? "the name of the image is empty"
                            : name.size() <= detail::kMaxShownName
                                ? "the name of the image contains a zero byte"
                                : fmt::format("the name of the image has {} bytes", name.size()),
                 .remedy = fmt::format("Pass a name of 1 to {} bytes.", detail::kMaxShownName),
                 .numbers = {{"bytes", name.size()}}});
}

// Takes a slot for the next frame of the name. Without one, `result` says why.
std::optional<Frame> take_slot(State& state, const detail::MemoryLocation& texels, std::string_view name,
                               ShowResult& result) {
    if (!connect(state)) return std::nullopt;
    auto found = state.names.find(name);
    if (found == state.names.end()) found = state.names.emplace(std::string(name), Name{}).first;
    Name& shown = found->second;
    if (shown.image != nullptr &&
        (shown.image->format != texels.format || shown.image->extent != texels.extent || shown.image->lost_slot))
        retire(state, shown);
    if (shown.image == nullptr) shown.image = std::make_shared<Image>(texels.format, texels.extent, ++state.images);
    Image& image = *shown.image;
    if (!image.announced) image.announced = announce(*state.connection, image, name, shown.frames);
    result.outcome = ShowOutcome::dropped;
    result.frame = ++shown.frames;
    const auto claim = image.announced ? image.memory.begin_write(result.frame) : std::nullopt;
    if (!claim || claim->replaced) ++shown.dropped;
    result.dropped = shown.dropped;
    if (!claim) return std::nullopt;
    result.outcome = ShowOutcome::shown;
    return Frame{shown.image, state.connection, claim->slot, result.frame};
}

// Copies host memory to packed rows. Each thread gets one long contiguous piece, because the C library writes long pieces
// past the caches.
void copy_rows(std::byte* to, const detail::MemoryLocation& from, bool in_parallel) {
    const detail::Box box = detail::box_of(from);
    const std::size_t total = box.row_bytes * box.rows * box.slices;
    const auto run = [&](std::size_t begin, std::size_t end) {  // bytes, counted through all rows
        while (begin < end) {
            const std::size_t row = begin / box.row_bytes, byte = begin % box.row_bytes;
            const std::size_t count = std::min(end - begin, box.row_bytes - byte);
            const std::byte* source =
                from.address + row / box.rows * from.slice_pitch + row % box.rows * from.pitch + byte;
            std::memcpy(to + begin, source, count);
            begin += count;
        }
    };
    const std::size_t pieces = in_parallel && total >= kParallelBytes ? detail::cpu_cores() : 1;
    if (pieces == 1) return run(0, total);
    const std::size_t piece = (total / pieces + 64) / 64 * 64;
    detail::run_in_parallel(pieces,
                            [&](std::size_t i) { run(std::min(i * piece, total), std::min((i + 1) * piece, total)); });
}

// Write-combined memory is refused by copy().
bool is_host_memory(const detail::MemoryLocation& location) {
    return location.address != nullptr && detail::home(location) == nullptr &&
           (location.owner == nullptr || !location.owner->host_reads_slowly);
}

// Enqueues the copy, and then the message to the window. image->pending was incremented, so the state keeps the image.
void enqueue(const Frame& frame, const ConstView& view, const Stream& stream) {
    Image* const image = frame.image.get();
    const auto done = [image, connection = frame.connection, slot = frame.slot, number = frame.number] {
        image->memory.publish(slot, number);
        (void)connection->send({.kind = detail::ShowMessageKind::frame, .image = image->number});
        image->pending.fetch_sub(1, std::memory_order_release);
    };
    bool copies = false;
    try {
        if (is_host_memory(view.location())) {
            detail::MemoryLocation from = view.location();
            from.owner = nullptr;  // it could not be freed by a function on a stream
            stream.run([to = image->memory.slot(frame.slot), from, done] {
                copy_rows(to, from, false);
                done();
            });
            return;
        }
        { const detail::Transfer checked(frame.view(), view); }  // throws before anything is enqueued
        copies = true;
        copy(frame.view(), view, stream);
        stream.run(done);
    } catch (...) {
        if (copies) {
            try {
                stream.synchronize();  // the copy may be enqueued
            } catch (...) {
                image->lost_slot = true;  // it may write at any time, so nothing else may ever write the slot
                throw;
            }
        }
        image->memory.release(frame.slot);
        image->pending.fetch_sub(1, std::memory_order_release);
        throw;
    }
}

// Takes a slot for work of a stream.
std::optional<Frame> take_slot_for(State& state, const ConstView& view, std::string_view name, const Stream& stream,
                                   ShowResult& result) {
    std::optional<Frame> frame = take_slot(state, view.location(), name, result);
    if (!frame) return frame;
    Image& image = *frame->image;
    try {
        // The device could not copy to pageable memory without waiting.
        if (!is_host_memory(view.location()) && !image.registered) {
            const std::span<std::byte> slots = image.memory.slots();
            image.registered.emplace(stream.device(), slots.data(), slots.size(), RegisterOptions{.portable = true});
        }
    } catch (...) {
        image.memory.release(frame->slot);
        throw;
    }
    image.pending.fetch_add(1, std::memory_order_relaxed);
    return frame;
}

void check(const ConstView& view, std::string_view name) {
    check_name(name);
    detail::check_live(view.location(), kShow);
}

void refuse_capture(const Stream& stream) {
    if (!stream.capturing()) return;
    throw Error({.code = ErrorCode::capturing,
                 .object = kShow,
                 .problem = "the stream is captured into a graph, whose launches would all write the same frame",
                 .remedy = "Call show() after each launch of the graph."});
}

// --- debuggers -------------------------------------------------------------------------------------------------------

constexpr auto kDebuggerWaits = std::chrono::milliseconds(200);

bool is_gpu_memory(const detail::MemoryLocation& location) {
    const detail::Backend* device = detail::home(location);
    return device != nullptr && device->properties().kind == DeviceKind::cuda;
}

// Copies memory of a GPU to a slot, if the GPU does it at once.
std::string show_gpu_memory(State& state, const ConstView& view, std::string_view name, ShowResult& result) {
    const Device device = *view.device();
    if (!device.backend().stream_idle(nullptr)) return "the GPU is busy. Let its work finish, then show the view again";
    const Stream stream(device);
    const std::optional<Frame> frame = take_slot_for(state, view, name, stream, result);
    if (!frame) return {};
    enqueue(*frame, view, stream);
    const Clock::time_point end = Clock::now() + kDebuggerWaits;
    while (frame->image->pending.load(std::memory_order_acquire) > 0) {
        if (Clock::now() > end)
            return "the GPU did not copy at once, because a kernel runs or is halted. The frame appears when it has "
                   "ended";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

// Returns the reason for which nothing was shown, or an empty text.
std::string show_at_stop(State& state, const ConstView& view, std::string_view name, ShowResult& result) {
    check(view, name);
    state.next_attempt = {};
    if (is_gpu_memory(view.location())) return show_gpu_memory(state, view, name, result);
    const std::optional<Frame> frame = take_slot(state, view.location(), name, result);
    if (!frame) return {};
    try {
        if (view.location().address != nullptr) {
            copy_rows(frame->image->memory.slot(frame->slot), view.location(), false);
        } else {  // not ordered after the default stream, which may contain the work that has stopped
            copy(frame->view(), view, Stream(*view.device()));
        }
    } catch (...) {
        frame->image->memory.release(frame->slot);
        throw;
    }
    frame->publish();
    return {};
}

std::string text_of(const ShowResult& result, std::string_view name) {
    switch (result.outcome) {
        case ShowOutcome::shown: return fmt::format("{} is shown as frame {}", name, result.frame);
        case ShowOutcome::dropped: return fmt::format("{} was dropped: the window still reads older frames", name);
        case ShowOutcome::no_window: break;
    }
    const auto window = detail::show_address();
    return window ? fmt::format("no window listens at {}. Start texton-view", window->text)
                  : std::string("TEXTON_SHOW is empty or too long, so nothing is shown");
}

// Returns text in static memory. `make_view` may throw.
template <class MakeView>
const char* show_for_debugger(const MakeView& make_view, const char* name) noexcept {
    static std::array<char, 512> said;
    std::string text;
    try {
        const std::string_view named = name != nullptr ? name : "";
        State& shown = state();
        if (!shown.lock.try_acquire()) {
            text = "a thread has stopped inside texton::show(). Let it return, then try again";
        } else {
            try {
                ShowResult result;
                text = show_at_stop(shown, make_view(), named, result);
                if (text.empty()) text = text_of(result, named);
            } catch (const std::exception& error) {
                text = error.what();
            }
            shown.lock.release();
        }
    } catch (const std::exception&) {
        text.clear();  // too little memory for the text
    }
    said[text.copy(said.data(), said.size() - 1)] = '\0';
    return said.data();
}

}  // namespace

ShowResult show(const ConstView& view, std::string_view name) try {
    check(view, name);
    State& shown = state();
    ShowResult result;
    std::optional<Frame> frame;
    {
        const Lock lock(shown);
        frame = take_slot(shown, view.location(), name, result);
    }
    if (!frame) return result;
    try {
        if (is_host_memory(view.location())) {
            copy_rows(frame->image->memory.slot(frame->slot), view.location(), true);
        } else {
            copy(frame->view(), view);
        }
    } catch (...) {
        frame->image->memory.release(frame->slot);
        throw;
    }
    frame->publish();
    return result;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kShow);
}

ShowResult show(const ConstView& view, std::string_view name, const Stream& stream) try {
    check(view, name);
    detail::check_stream(stream, detail::home(view.location()), nullptr, kShow);
    refuse_capture(stream);
    State& shown = state();
    ShowResult result;
    std::optional<Frame> frame;
    {
        const Lock lock(shown);
        frame = take_slot_for(shown, view, name, stream, result);
    }
    if (frame) enqueue(*frame, view, stream);
    return result;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kShow);
}

}  // namespace texton

const char* texton_show_pointer(const void* data, const char* format, std::size_t width, std::size_t height,
                                const char* name) {
    return texton::show_for_debugger(
        [&] {
            const std::string_view named = format != nullptr ? format : "";
            const std::optional<texton::Format> found = texton::format_named(named);
            if (!found) {
                throw texton::Error({.code = texton::ErrorCode::bad_argument,
                                     .object = texton::kShow,
                                     .problem = fmt::format("there is no format '{}'", named),
                                     .remedy = "Use a name such as rgba32_float."});
            }
            return texton::host_view(data, *found, {width, height});
        },
        name);
}

const char* texton_show_view(const texton::ConstView* view, const char* name) {
    return texton::show_for_debugger([&] { return view != nullptr ? *view : texton::ConstView(); }, name);
}
