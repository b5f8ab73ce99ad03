#pragma once
// The parts of images whose rows are split over devices.
//
// Each device of a set has a stream, on which all work on its parts runs. A part of an image consists of
//     memory  the pixels of the device's rows, which kernels write
//     texels  an array of full size, of which kernels read rows: those of the device and those that it got from others
// An image that was created from host memory is in `texels` at once. The result of a kernel is copied from `memory` to
// `texels` when another kernel reads it for the first time.
//
// Rows of another device pass through linear memory of both devices, since copies between two devices and sparse arrays
// are not reliable for all sizes. The streams order these copies with events, so the host does not wait.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <texton/array.h>
#include <texton/device_set.h>
#include <texton/error.h>
#include <texton/linear.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

#include "arrays/mapped_rows.h"
#include "arrays/row_range.h"

namespace texton::detail {

struct DeviceSetState {
    std::vector<Device> devices;
    std::vector<Stream> streams;                 // of each device
    std::vector<std::optional<TilePool>> pools;  // of each device; they keep the memory of textures for further images

    std::size_t size() const noexcept { return devices.size(); }
};

/// The part of an image that a device has.
struct SplitPart {
    explicit SplitPart(const Device& device) : ready(device, EventTiming::off) {}

    RowRange band;      // rows that the device provides to others
    Linear memory;      // pixels of the band, packed; empty for images from host memory
    MappedRows texels;  // empty until a kernel reads the image
    RowRange loaded;    // rows of `texels` that are valid
    Array whole;        // of a shared image
    Event ready;        // the end of the work that wrote the band
    Linear sent;        // rows of `texels` on their way to other devices
    Linear received;    // rows of other devices on their way to `texels`
};

struct SplitState {
    SplitState(std::shared_ptr<DeviceSetState> of, const ImageShape& shape) : set(std::move(of)), shape(shape) {
        for (const Device& device : set->devices) parts.emplace_back(device);
    }

    /// Returns the bytes of a row.
    std::size_t pitch() const { return row_bytes(shape.format, shape.extent.width); }

    std::shared_ptr<DeviceSetState> set;
    ImageShape shape;
    bool shared = false;
    std::vector<SplitPart> parts;  // of each device
};

/// Divides rows among the devices that take part. Bands begin at multiples of kRowAlignment.
[[nodiscard]] std::vector<RowRange> divided(std::size_t height, const std::vector<bool>& takes_part);

/// Returns a view of rows of the band in memory, in all slices.
[[nodiscard]] View in_memory(const SplitState& image, const SplitPart& part, const RowRange& rows);

/// Creates the array that kernels read, without rows, unless it exists.
void make_texels(SplitState& image, std::size_t device);
/// Allocates the memory of a band. Does nothing if the band has the size that it had before.
void allocate_band(SplitState& image, std::size_t device, const RowRange& band);
/// Frees what devices without a band have.
void release_others(SplitState& image, const std::vector<RowRange>& bands);

/// Allocates what load_rows() needs.
void reserve_rows(SplitState& image, std::size_t device, const RowRange& rows);
/// Makes rows of `texels` valid: enqueues copies from the bands of all devices.
void load_rows(SplitState& image, std::size_t device, const RowRange& rows);

/// Waits for all work of the devices.
void wait_for_all(const DeviceSetState& set);

/// Calls `prepare` for each device that has a band, until all calls succeed. A device with too little memory gets no
/// band then. Throws Error{out_of_memory} if no device is left.
///
/// Work on a CPU device that failed for lack of memory is reported by the next call that waits for its stream. It must
/// not be mistaken for a failure of `prepare`.
template <class Prepare>
std::vector<RowRange> prepare_bands(const DeviceSetState& set, std::vector<RowRange> bands, std::size_t height,
                                    const Prepare& prepare) {
    if (set.devices.front().kind() == DeviceKind::cpu) wait_for_all(set);
    std::vector<bool> takes_part(set.size());
    for (std::size_t i = 0; i < set.size(); ++i) takes_part[i] = bands[i].count() != 0;
    for (std::size_t i = 0; i < set.size();) {
        try {
            if (bands[i].count() != 0) prepare(i, bands[i]);
            ++i;
        } catch (const Error& error) {
            takes_part[i] = false;
            if (error.code() != ErrorCode::out_of_memory || std::ranges::count(takes_part, true) == 0) throw;
            bands = divided(height, takes_part);
            i = 0;
            wait_for_all(set);
        }
    }
    return bands;
}

}  // namespace texton::detail
