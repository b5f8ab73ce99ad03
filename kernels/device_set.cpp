// apply() first allocates everything on all devices. If a device has too little memory, it leaves the plan, and the
// others get its rows. Only then is work enqueued.
#include <texton/device_set.h>

#include <algorithm>
#include <exception>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/copy.h>
#include <texton/error.h>

#include "core/request.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/rows_read.h"
#include "kernels/launch/split_parts.h"

namespace texton {
namespace detail {
namespace {

constexpr const char* kDeviceSet = "texton::DeviceSet";

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kDeviceSet, .problem = std::move(problem), .remedy = std::move(remedy)});
}

/// Lets a GPU access the memory of another one, so that copies between them do not pass through host memory.
void access(const Device& device, const Device& peer) {
    if (device.kind() == DeviceKind::cuda && device != peer && device.can_access(peer)) device.enable_access(peer);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

/// Work on all devices.
struct SplitWork {
    /// Returns the rows of an input that rows of the result need, or nothing if these may be any.
    std::function<std::optional<RowRange>(std::span<const Texture> textures, std::size_t input, RowRange rows)> reads;
    DeviceSet::Enqueue enqueue;
    bool is_checked = false;  // fetches may read any rows, which read as 0 if the device does not have them
};

SplitState& live(const std::shared_ptr<DeviceSetState>& set, const SplitImage& image) {
    if (image.state() == nullptr) refuse(ErrorCode::released, "the image is empty", "Pass an image of this set.");
    if (image.state()->set != set)
        refuse(ErrorCode::bad_argument, "the image belongs to another set of devices", "Pass an image of this set.");
    return *image.state();
}

Texture texture_of(const SplitInput& input, std::size_t device, bool is_checked = false) {
    SplitState& image = *input.image.state();
    if (!image.shared) make_texels(image, device);
    const SplitPart& part = image.parts[device];
    const Array& split = is_checked ? part.texels.checked_array() : part.texels.array();
    return Texture(image.shared ? part.whole : split, input.sampler);
}

/// Returns the number of rows that devices have. It is smaller than the height if a call that should have written the
/// image failed.
std::size_t complete_rows(const SplitState& image) {
    std::size_t rows = 0;
    for (const SplitPart& part : image.parts) rows += part.band.count();
    return rows;
}

void check_complete(const SplitState& image) {
    const std::size_t rows = complete_rows(image);
    if (image.shared || rows == image.shape.extent.height) return;
    refuse(ErrorCode::bad_argument,
           fmt::format("the image has {} of {} rows, because a kernel that should have written it failed", rows,
                       image.shape.extent.height),
           "Apply a kernel to it first.");
}

void check_inputs(const std::shared_ptr<DeviceSetState>& set, std::span<const SplitInput> inputs) {
    for (const SplitInput& input : inputs) {
        const SplitState& image = live(set, input.image);
        check_complete(image);
        if (!image.shared && image.shape.extent.depth != 1)
            refuse(ErrorCode::unsupported,
                   fmt::format("an input has {} slices, which are split over the devices", image.shape.extent.depth),
                   "Copy the image to a layered array with join(), and use share().");
    }
}

/// Returns the rows of an image whose device finished its work, as text.
std::string finished_rows(const SplitState& image, const std::vector<bool>& finished) {
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < image.parts.size(); ++i) {
        const RowRange& band = image.parts[i].band;
        if (finished[i] && band.count() != 0) rows.push_back(fmt::format("{} to {}", band.first, band.end - 1));
    }
    return rows.empty() ? "no rows are complete" : fmt::format("rows {} are complete", fmt::join(rows, ", "));
}

/// Throws the error of a lost device again, with the rows that are complete.
[[noreturn]] void refuse_lost(const SplitState& image, std::size_t device, const Error& error,
                              const std::vector<bool>& finished) {
    throw Error({.code = ErrorCode::device_lost,
                 .object = kDeviceSet,
                 .problem = fmt::format("{} (device {} of the set) was lost: {}; of the image, {}",
                                        image.set->devices[device].name(), device, error.problem(),
                                        finished_rows(image, finished)),
                 .remedy = "Start a new process for the other rows. " + error.remedy(),
                 .numbers = error.numbers(),
                 .call = error.call(),
                 .cuda_name = error.cuda_name()});
}

/// Waits for the devices on which work was enqueued. Returns those that finished it.
std::vector<bool> finish(const DeviceSetState& set, std::size_t enqueued) {
    std::vector<bool> finished(set.size());
    for (std::size_t i = 0; i < enqueued; ++i) {
        try {
            set.streams[i].synchronize();
            finished[i] = true;
        } catch (const Error&) {  // the error of the lost device is thrown
        }
    }
    return finished;
}

void enqueue_part(SplitState& result, std::size_t device, const SplitWork& work, std::span<const Texture> textures) {
    SplitPart& part = result.parts[device];
    MemoryLocation location = in_memory(result, part, part.band).location();
    location.address -= part.band.first * result.pitch();
    location.extent = result.shape.extent;
    const ImageRows rows{location.address, part.band.first, part.band.count()};
    const Stream& stream = result.set->streams[device];
    const View image(std::move(location));
    {
        const bool is_whole = rows.count == result.shape.extent.height;
        const ImageRowsScope scope({&rows, is_whole ? std::size_t{0} : 1});
        work.enqueue(stream, image, textures);
    }
    part.ready.record(stream);
}

void apply_work(const std::shared_ptr<DeviceSetState>& set, const SplitWork& work, std::span<const SplitInput> inputs,
                const SplitImage& to) {
    SplitState& result = live(set, to);
    if (result.shared)
        refuse(ErrorCode::bad_argument, "the result is an image of which each device has a copy",
               "Pass an image of create().");
    for (const SplitInput& input : inputs) {
        if (input.image.state() == to.state())
            refuse(ErrorCode::bad_argument, "an input is the result, whose rows other devices read",
                   "Pass another image of create().");
    }
    const std::size_t height = result.shape.extent.height;
    std::vector<std::vector<Texture>> textures(set->size());
    std::vector<std::vector<RowRange>> needed(set->size(), std::vector<RowRange>(inputs.size()));
    std::vector<RowRange> bands;
    for (const SplitPart& part : result.parts) bands.push_back(part.band);
    if (complete_rows(result) != height)  // the last kernel that should have written it failed
        bands = divided(height, std::vector<bool>(set->size(), true));
    bands = prepare_bands(*set, std::move(bands), height, [&](std::size_t device, const RowRange& band) {
        SplitPart& part = result.parts[device];
        textures[device].clear();
        for (const SplitInput& input : inputs) textures[device].push_back(texture_of(input, device, work.is_checked));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            SplitState& image = *inputs[i].image.state();
            if (image.shared) continue;
            const RowRange all{0, image.shape.extent.height};
            needed[device][i] = work.reads(textures[device], i, band).value_or(all);
            reserve_rows(image, device, needed[device][i]);
        }
        part.loaded = {};
        allocate_band(result, device, band);
    });
    release_others(result, bands);
    for (std::size_t device = 0; device < set->size(); ++device) {
        if (bands[device].count() == 0) continue;
        try {
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                SplitState& image = *inputs[i].image.state();
                if (!image.shared) load_rows(image, device, needed[device][i]);
            }
            enqueue_part(result, device, work, textures[device]);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::device_lost) throw;
            refuse_lost(result, device, error, finish(*set, device));
        }
    }
}

/// Calls `work` for each device with a band, each on a thread of its own if possible. Waits for all, then throws the
/// first error.
template <class Work>
void on_each_part(const SplitState& image, const Work& work) {
    constexpr auto kPolicy = std::launch::async | std::launch::deferred;  // deferred if there are no more threads
    std::vector<std::future<void>> running(image.parts.size());
    for (std::size_t i = 0; i < running.size(); ++i) {
        if (image.parts[i].band.count() != 0) running[i] = std::async(kPolicy, [&work, i] { work(i); });
    }
    std::vector<bool> finished(running.size());
    std::vector<std::exception_ptr> errors(running.size());
    for (std::size_t i = 0; i < running.size(); ++i) {
        if (!running[i].valid()) continue;
        try {
            running[i].get();
            finished[i] = true;
        } catch (...) {
            errors[i] = std::current_exception();
        }
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (errors[i] == nullptr) continue;
        try {
            std::rethrow_exception(errors[i]);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::device_lost) throw;
            refuse_lost(image, i, error, finished);
        }
    }
}

}  // namespace
}  // namespace detail

using detail::RowRange;
using detail::SplitState;

ImageShape SplitImage::shape() const {
    if (state_ == nullptr) detail::refuse(ErrorCode::released, "the image is empty", "Create it with a DeviceSet.");
    return state_->shape;
}

std::vector<SplitRows> SplitImage::rows() const try {
    if (state_ == nullptr) detail::refuse(ErrorCode::released, "the image is empty", "Create it with a DeviceSet.");
    std::vector<SplitRows> all;
    for (std::size_t i = 0; i < state_->parts.size(); ++i) {
        const RowRange& band = state_->parts[i].band;
        if (band.count() != 0) all.push_back({i, band.first, band.count()});
    }
    return all;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

DeviceSet::DeviceSet(std::vector<Device> devices) try {
    if (devices.empty()) detail::refuse(ErrorCode::bad_argument, "no devices were given", "Pass at least one device.");
    for (const Device& device : devices) {
        if (device.kind() != devices.front().kind())
            detail::refuse(ErrorCode::wrong_device,
                           fmt::format("{} and {} are of different kinds", devices.front().name(), device.name()),
                           "Pass CUDA devices or CPU devices.");
    }
    state_ = std::make_shared<detail::DeviceSetState>();
    for (const Device& device : devices) {
        state_->streams.emplace_back(device);
        const bool has_tiles = device.kind() == DeviceKind::cuda && device.properties().virtual_memory;
        state_->pools.push_back(has_tiles ? std::optional(TilePool(device)) : std::nullopt);
        for (const Device& peer : devices) detail::access(device, peer);
    }
    state_->devices = std::move(devices);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

DeviceSet DeviceSet::all(DeviceKind kind) {
    std::vector<Device> devices = Device::list(kind);
    if (devices.empty())
        detail::refuse(ErrorCode::bad_argument, fmt::format("there is no CUDA device: {}", Device::why_no_cuda()),
                       "Use DeviceKind::cpu.");
    return DeviceSet(std::move(devices));
}

const std::vector<Device>& DeviceSet::devices() const noexcept { return state_->devices; }

SplitImage DeviceSet::split(const ConstView& texels) const try {
    const Extent& extent = texels.extent();
    if (extent.width == 0 || extent.height == 0 || extent.depth != 1)
        detail::refuse(ErrorCode::bad_argument, fmt::format("a view of {} texels was given", to_string(extent)),
                       "Pass a view of one slice; share() accepts arrays of all kinds.");
    if (info(texels.format()).layout == FormatLayout::block || info(texels.format()).layout == FormatLayout::planar)
        detail::refuse(ErrorCode::unsupported, fmt::format("the rows of {} cannot be split", name(texels.format())),
                       "Use share() for an array of this format.");
    auto image = std::make_shared<SplitState>(state_, ImageShape{extent, texels.format()});
    const std::vector<bool> all(state_->size(), true);
    const std::vector<RowRange> bands = detail::prepare_bands(
        *state_, detail::divided(extent.height, all), extent.height, [&](std::size_t device, const RowRange& band) {
            detail::make_texels(*image, device);
            image->parts[device].texels.keep(band, state_->streams[device]);
        });
    for (std::size_t i = 0; i < bands.size(); ++i) image->parts[i].band = image->parts[i].loaded = bands[i];
    detail::release_others(*image, bands);
    detail::on_each_part(*image, [&](std::size_t i) {
        const RowRange& rows = bands[i];
        const Stream& stream = state_->streams[i];
        copy(image->parts[i].texels.view(rows), texels.region({{0, rows.first, 0}, {extent.width, rows.count(), 1}}),
             stream);
        image->parts[i].ready.record(stream);
        stream.synchronize();
    });
    return SplitImage(std::move(image));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

SplitImage DeviceSet::share(const Array& array) const try {
    const ArrayInfo& info = array.info();
    Extent extent = info.extent;
    extent.depth = slice_count(info, 0);
    auto image = std::make_shared<SplitState>(state_, ImageShape{extent, info.format});
    image->shared = true;
    for (std::size_t i = 0; i < state_->size(); ++i) {
        image->parts[i].whole = Array(state_->devices[i], info);
        for (int level = 0; level < info.levels; ++level)
            copy(image->parts[i].whole.view({.level = level}), array.view({.level = level}));
    }
    return SplitImage(std::move(image));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

SplitImage DeviceSet::create(const ImageShape& shape) const try {
    const Extent& extent = shape.extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        detail::refuse(ErrorCode::bad_argument, fmt::format("an image of {} pixels was requested", to_string(extent)),
                       "Use at least one pixel.");
    const FormatLayout layout = info(shape.format).layout;
    if (layout != FormatLayout::plain && layout != FormatLayout::packed)
        detail::refuse(ErrorCode::bad_argument, fmt::format("kernels cannot write {}", name(shape.format)),
                       "Use a plain or packed format.");
    auto image = std::make_shared<SplitState>(state_, shape);
    const std::vector<bool> all(state_->size(), true);
    const std::vector<RowRange> bands = detail::prepare_bands(
        *state_, detail::divided(extent.height, all), extent.height,
        [&](std::size_t device, const RowRange& band) { detail::allocate_band(*image, device, band); });
    detail::release_others(*image, bands);
    return SplitImage(std::move(image));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

void DeviceSet::apply(const Kernel& kernel, const Arguments& arguments, std::span<const SplitInput> inputs,
                      const SplitImage& result) const try {
    detail::check_inputs(state_, inputs);
    if (const char* why = detail::why_not_in_rows(kernel, arguments))
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::" + kernel.info.name,
                     .problem = fmt::format("the image cannot be split over devices: {} {}", kernel.info.name, why),
                     .remedy = "Run the kernel on one device."});
    const Extent extent = detail::live(state_, result).shape.extent;
    detail::apply_work(state_,
                       {[&](std::span<const Texture> textures, std::size_t input, RowRange rows) {
                            return detail::rows_read(kernel, arguments, textures, input, extent, rows);
                        },
                        [&](const Stream& stream, const View& image, std::span<const Texture> textures) {
                            enqueue(kernel, stream, {&image, 1}, arguments, textures);
                        }},
                       inputs, result);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

SplitImage DeviceSet::apply(const Kernel& kernel, const Arguments& arguments,
                            const std::vector<SplitInput>& inputs) const try {
    detail::check_inputs(state_, inputs);
    std::vector<Texture> textures;
    for (const SplitInput& input : inputs) textures.push_back(detail::texture_of(input, 0));
    const std::vector<ImageShape> made = shapes(kernel, arguments, textures);
    const SplitImage result = create(made.front());
    apply(kernel, arguments, inputs, result);
    return result;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

void DeviceSet::apply(std::size_t apron, const Enqueue& enqueue, std::span<const SplitInput> inputs,
                      const SplitImage& result) const try {
    detail::check_inputs(state_, inputs);
    const Extent extent = detail::live(state_, result).shape.extent;
    detail::apply_work(state_,
                       {[&](std::span<const Texture> textures, std::size_t input, RowRange rows) {
                            return detail::rows_around(textures[input], apron, extent, rows);
                        },
                        enqueue, true},
                       inputs, result);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

void DeviceSet::join(const View& destination, const SplitImage& image) const try {
    const SplitState& from = detail::live(state_, image);
    const Extent& extent = from.shape.extent;
    if (from.shared)
        detail::refuse(ErrorCode::bad_argument, "each device has a copy of the image", "Copy the array instead.");
    detail::check_complete(from);
    if (destination.extent() != extent)
        detail::refuse(ErrorCode::bad_argument,
                       fmt::format("an image of {} pixels was to be copied to a view of {}", to_string(extent),
                                   to_string(destination.extent())),
                       "Pass a view of the same extent.");
    detail::on_each_part(from, [&](std::size_t i) {
        const detail::SplitPart& part = from.parts[i];
        const Stream& stream = state_->streams[i];
        const View to = destination.region({{0, part.band.first, 0}, {extent.width, part.band.count(), extent.depth}});
        copy(to, part.memory.bytes() != 0 ? detail::in_memory(from, part, part.band) : part.texels.view(part.band),
             stream);
        stream.synchronize();
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kDeviceSet);
}

void DeviceSet::synchronize() const { detail::wait_for_all(*state_); }

}  // namespace texton
