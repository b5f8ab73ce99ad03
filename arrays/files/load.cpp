#include <texton/image_load.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/pinned.h>
#include <texton/stream.h>

#include "arrays/files/oiio.h"
#include "arrays/files/source.h"
#include "arrays/files/stored_texels.h"

// A load decodes the image box by box on the calling thread, in the order of the file. Each box is decoded into the
// next of three pinned buffers, and its copy to the array is enqueued. The copies run while later boxes are decoded. A
// buffer is reused when its copy is done. A box that is larger than a buffer is decoded in pageable memory first.

namespace texton {
namespace {

using Clock = std::chrono::steady_clock;
using detail::ImageState;

constexpr const char* kLoad = "texton::load";
constexpr std::size_t kBuffers = 3;

// A box of one level of an array. A planar image has two arrays.
struct Step {
    std::size_t array;
    int level;
    Region box;
    std::size_t bytes;
};

std::vector<Step> steps_of(std::span<const ImageState* const> images) {
    std::vector<Step> steps;
    for (std::size_t array = 0; array < images.size(); ++array) {
        const ImageState& image = *images[array];
        for (int level = 0; level < image.info.levels; ++level) {
            for (const Region& box : image.file->boxes(level, detail::kBandBytes)) {
                steps.push_back({array, level, box, packed_bytes(image.info.format, box.extent)});
            }
        }
    }
    return steps;
}

// A pinned buffer with an event that completes when the last copy from the buffer is done.
class Buffer {
public:
    Buffer(const Device& device, std::size_t bytes) : memory_(device, bytes), free_(device, EventTiming::off) {}
    std::byte* wait() const {
        free_.synchronize();
        return memory_.data();
    }
    View view(Format format, Extent extent) const { return memory_.view(format, extent); }
    void used_on(const Stream& stream) const { free_.record(stream); }

private:
    Pinned memory_;
    Event free_;
};

// Waits for the copies before their buffers are freed, also after an exception.
class Copies {
public:
    // A load has no stream, so its copies are ordered after the default stream.
    explicit Copies(const Device& device) : stream_(device) {
        const Event earlier(device, EventTiming::off);
        earlier.record(Stream::default_of(device));
        stream_.wait(earlier);
    }
    ~Copies() {
        try {
            stream_.synchronize();
        } catch (const std::exception&) {
            // A destructor must not throw.
        }
    }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;
    const Stream& stream() const noexcept { return stream_; }

private:
    Stream stream_;
};

class Timer {
public:
    Timer(LoadTiming* timing, const Device& device, const Stream& stream)
        : timing_(timing), device_(device), stream_(stream), begin_(Clock::now()) {
        if (timing_ == nullptr) return;
        *timing_ = {};
        origin_.emplace(device_);
        origin_->record(stream_);
        origin_->synchronize();  // the device has recorded its time origin
        begin_ = Clock::now();
    }

    template <class Decode>
    void decode(std::size_t bytes, Decode decode) {
        if (timing_ == nullptr) return decode();
        LoadStep step{.bytes = bytes, .decode_begin = now()};
        const double read_before = detail::FileReading::milliseconds();
        decode();
        step.decode_end = now();
        const double read = detail::FileReading::milliseconds() - read_before;
        step.convert = std::max(0.0, step.decode_end - step.decode_begin - read);
        timing_->steps.push_back(step);
    }

    template <class Copy>
    void copy(Copy copy) {
        if (timing_ == nullptr) return copy();
        marks_.push_back({Event(device_), Event(device_)});
        marks_.back()[0].record(stream_);
        copy();
        marks_.back()[1].record(stream_);
    }

    void finish(std::size_t buffers) {
        if (timing_ == nullptr) return;
        timing_->total = now();
        timing_->peak = buffers;
        const auto since_origin = [this](const Event& mark) {
            return static_cast<double>(mark.milliseconds_since(*origin_));
        };
        // The time origin of the device is slightly earlier than that of the host. If the last copy seems to end after
        // the load, the difference is at least as large as the excess.
        const double early = marks_.empty() ? 0 : std::max(0.0, since_origin(marks_.back()[1]) - timing_->total);
        for (std::size_t step = 0; step < marks_.size(); ++step) {
            timing_->steps[step].copy_begin = since_origin(marks_[step][0]) - early;
            timing_->steps[step].copy_end = since_origin(marks_[step][1]) - early;
        }
    }

private:
    double now() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }

    LoadTiming* timing_;
    Device device_;
    const Stream& stream_;
    Clock::time_point begin_;
    std::optional<Event> origin_;
    std::vector<std::array<Event, 2>> marks_;
};

void report(const ImageState& image, const OnImageProgress& progress, std::size_t done, std::size_t total) {
    if (!progress || detail::call_back([&] { return progress({done, total}); })) return;
    throw Canceled({.code = ErrorCode::io,
                    .object = kLoad,
                    .problem = fmt::format("loading {} was canceled after {} of {} bytes", image.name, done, total),
                    .remedy = "The progress callback canceled the operation.",
                    .numbers = {{"done", done}, {"total", total}}});
}

// Decodes a box that is larger than a buffer. Its pieces are copied to the buffers.
class LargeBox {
public:
    LargeBox(const ImageState& image, const Step& step)
        : image_(image),
          step_(step),
          pieces_(detail::cut(image.info.format, step.box, smallest(image.info.format), detail::kBandBytes)) {}

    const std::vector<Region>& pieces() const noexcept { return pieces_; }
    // Decodes the box on the first call. The memory is pageable, so that a size that a damaged file claims takes none.
    void read(const Region& piece, std::byte* to) {
        if (texels_ == nullptr) {
            auto texels = std::make_unique_for_overwrite<std::byte[]>(step_.bytes);
            detail::read_named(image_.name, *image_.file, step_.level, step_.box, texels.get());
            texels_ = std::move(texels);
        }
        const Offset &at = piece.offset, &from = step_.box.offset;
        detail::copy_box(image_.info.format, to, piece.extent, {}, texels_.get(), step_.box.extent,
                         {at.x - from.x, at.y - from.y, at.z - from.z}, piece.extent);
    }

private:
    static Extent smallest(Format format) { return {block_side(format), block_side(format), 1}; }

    const ImageState& image_;
    const Step& step_;
    std::vector<Region> pieces_;
    std::unique_ptr<std::byte[]> texels_;
};

// Calls `array_of(n)` for the first time after the first box was decoded.
template <class ArrayOf>
void stream_in(const Device& device, std::span<const ImageState* const> images, const LoadOptions& options,
               ArrayOf array_of) {
    const std::vector<Step> steps = steps_of(images);
    std::size_t total = 0, largest = 0;
    for (const Step& step : steps) {
        total += step.bytes;
        largest = std::max(largest, std::min(step.bytes, detail::kBandBytes));
    }
    std::vector<Buffer> buffers;
    const Copies copies(device);
    Timer timer(options.timing, device, copies.stream());
    std::size_t done = 0, turn = 0;
    // Fills the next buffer and enqueues its copy to the array.
    const auto stage = [&](const Step& step, const Region& box, const auto& fill) {
        const ImageState& image = *images[step.array];
        const std::size_t bytes = packed_bytes(image.info.format, box.extent);
        if (turn < kBuffers) buffers.emplace_back(device, largest);
        const Buffer& buffer = buffers[turn++ % kBuffers];
        timer.decode(bytes, [&] { fill(buffer.wait()); });
        const Array& array = array_of(step.array);
        timer.copy([&] {
            copy(array.view({.level = step.level, .region = box}), buffer.view(image.info.format, box.extent),
                 copies.stream());
        });
        buffer.used_on(copies.stream());
        done += bytes;
        report(image, options.progress, done, total);
    };
    for (const Step& step : steps) {
        const ImageState& image = *images[step.array];
        if (step.bytes <= detail::kBandBytes) {
            stage(step, step.box,
                  [&](std::byte* to) { detail::read_named(image.name, *image.file, step.level, step.box, to); });
            continue;
        }
        LargeBox large(image, step);
        for (const Region& piece : large.pieces()) stage(step, piece, [&](std::byte* to) { large.read(piece, to); });
    }
    copies.stream().synchronize();
    timer.finish(buffers.size() * largest);
}

const ImageState& plain(const ImageFile& image) {
    (void)image.info();
    if (image.state()->file != nullptr) return *image.state();
    throw Error(
        {.code = ErrorCode::bad_argument,
         .object = kLoad,
         .problem = fmt::format("{} is a planar image of format {}", image.state()->name, name(image.info().format)),
         .remedy = "Use load_planar(), or load one of its planes."});
}

std::array<const ImageState*, 2> planes(const ImageFile& image) {
    return {image.plane(0).state().get(), image.plane(1).state().get()};
}

// Adds the name of the image to the errors of creating its array.
template <class Make>
auto made_for(const ImageState& image, Make make) {
    try {
        return make();
    } catch (const Error& error) {
        throw detail::renamed(error, kLoad, image.name + ": ");
    }
}

std::string described(const ArrayInfo& info) {
    return fmt::format("{} of {} texels of {}, {} layers, {} levels", name(info.kind), to_string(info.extent),
                       name(info.format), info.layers, info.levels);
}

[[noreturn]] void unlike(const ImageState& image, const std::string& there) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kLoad,
                 .problem = fmt::format("{} is {}, but the array is {}", image.name, described(image.info), there),
                 .remedy = "Create the array with the info() of the image.",
                 .numbers = {{"width", image.info.extent.width}, {"height", image.info.extent.height}}});
}

}  // namespace

Array load(const Device& device, const ImageFile& image, const LoadOptions& options) {
    const ImageState& state = plain(image);
    return detail::guarded(kLoad, state.name, [&] {
        ArrayInfo info = state.info;
        info.usage = options.usage;
        std::optional<Array> array;
        const ImageState* images[] = {&state};
        stream_in(device, images, options, [&](std::size_t) -> const Array& {
            if (!array) array = made_for(state, [&] { return Array(device, info); });
            return *array;
        });
        return std::move(*array);
    });
}

PlanarArray load_planar(const Device& device, const ImageFile& image, const LoadOptions& options) {
    const auto images = planes(image);
    return detail::guarded(kLoad, image.state()->name, [&] {
        const ArrayInfo& info = image.info();
        std::optional<PlanarArray> array;
        stream_in(device, images, options, [&](std::size_t plane) -> const Array& {
            if (!array) array = made_for(*image.state(), [&] { return PlanarArray(device, info.format, info.extent); });
            return array->plane(static_cast<int>(plane));
        });
        return std::move(*array);
    });
}

void load(const Array& array, const ImageFile& image, const LoadOptions& options) {
    const ImageState& state = plain(image);
    detail::guarded(kLoad, state.name, [&] {
        const Device device = array.device();
        ArrayInfo there = array.info();
        there.usage = {};
        if (there != state.info) unlike(state, described(there));
        const ImageState* images[] = {&state};
        stream_in(device, images, options, [&](std::size_t) -> const Array& { return array; });
    });
}

void load(const PlanarArray& array, const ImageFile& image, const LoadOptions& options) {
    const auto images = planes(image);
    detail::guarded(kLoad, image.state()->name, [&] {
        const Device device = array.device();
        if (array.format() != image.info().format || array.extent() != image.info().extent) {
            unlike(*image.state(), fmt::format("{} texels of {}", to_string(array.extent()), name(array.format())));
        }
        stream_in(device, images, options,
                  [&](std::size_t plane) -> const Array& { return array.plane(static_cast<int>(plane)); });
    });
}

std::string to_string(const LoadTiming& timing) {
    const auto rate = [](std::size_t bytes, double milliseconds) {
        return milliseconds > 0 ? static_cast<double>(bytes) / milliseconds / 1e6 : 0.0;
    };
    std::string text = "   step        bytes   decode begin and end (ms)     copy begin and end (ms)\n";
    std::size_t bytes = 0;
    double decoding = 0, converting = 0, copying = 0, covered = 0;
    for (std::size_t index = 0; index < timing.steps.size(); ++index) {
        const LoadStep& step = timing.steps[index];
        text += fmt::format("{:7}  {:11}   {:11.3f}  {:11.3f}   {:11.3f}  {:11.3f}\n", index, step.bytes,
                            step.decode_begin, step.decode_end, step.copy_begin, step.copy_end);
        bytes += step.bytes;
        decoding += step.decode_end - step.decode_begin;
        converting += step.convert;
        copying += step.copy_end - step.copy_begin;
        for (const LoadStep& other : timing.steps) {
            covered += std::max(
                0.0, std::min(step.copy_end, other.decode_end) - std::max(step.copy_begin, other.decode_begin));
        }
    }
    const double share = copying > 0 ? 100 * covered / copying : 0.0;
    return text +
           fmt::format(
               "{} bytes in {:.3f} ms: decoded at {:.2f} GB/s, of which {:.3f} ms were conversions, copied at {:.2f} "
               "GB/s; {:.0f} % of the copying time overlapped with decoding\n",
               bytes, timing.total, rate(bytes, decoding), converting, rate(bytes, copying), share);
}

}  // namespace texton
