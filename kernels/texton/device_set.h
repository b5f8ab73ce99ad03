#pragma once
// Kernels over images whose rows are split over several devices.
//
//     const texton::DeviceSet set = texton::DeviceSet::all(texton::DeviceKind::cuda);
//     const texton::SplitImage image = set.split(texton::host_view(texels, format, extent));
//     const texton::Kernel& kernel = texton::kernel_named("gaussian");
//     const texton::Arguments arguments(kernel.info, {{"sigma", 3.0}});
//     const texton::SplitImage blurred = set.apply(kernel, arguments, {{image}});
//     set.join(texton::host_view(result, format, extent), blurred);
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <texton/array.h>
#include <texton/device.h>
#include <texton/kernel.h>
#include <texton/sampler.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

namespace detail {
struct DeviceSetState;
struct SplitState;
}  // namespace detail

/// Consecutive rows of an image that one device holds.
struct SplitRows {
    std::size_t device = 0;                             ///< index of the device in DeviceSet::devices()
    std::size_t first = 0;                              ///< first row
    std::size_t count = 0;                              ///< number of rows
    bool operator==(const SplitRows&) const = default;  ///< Returns true if all members are equal.
};

/// An image whose rows are distributed over the devices of a DeviceSet, or of which each device has a copy.
///
/// A handle that is cheap to copy: copies refer to the same image. A default-constructed object is empty; DeviceSet
/// refuses it with Error{released}. DeviceSet states which threads may use it.
class SplitImage {
public:
    SplitImage() = default;  ///< Creates an empty object.

    /// Returns the size in pixels, with the number of slices, and the format.
    ImageShape shape() const;
    /// Returns which device holds which rows, in the order of the rows. Empty if each device has a copy.
    std::vector<SplitRows> rows() const;

    /// For internal use.
    explicit SplitImage(std::shared_ptr<detail::SplitState> state) noexcept : state_(std::move(state)) {}
    const std::shared_ptr<detail::SplitState>& state() const noexcept { return state_; }  ///< For internal use.

private:
    std::shared_ptr<detail::SplitState> state_;
};

/// An input of a kernel: an image, and how its texels are sampled.
struct SplitInput {
    SplitImage image;   ///< the image; one of split() has the kind array_2d and one level
    Sampler sampler{};  ///< the sampler of the textures
};

/// Devices of one kind that compute images together.
///
/// Each device holds some rows of an image and computes some rows of a result. Kernels see textures and images of full
/// size, so the pixels have the bits that a single device computes. A device gets the rows of others that a kernel
/// reads (for a filter, as many as its radius) by copies between the devices. It keeps these rows until the image is
/// written again, so a second kernel copies only what is missing. If the rows that a kernel reads do not follow from
/// its parameters, each device gets all rows. The devices wait for each other's copies; the host only enqueues. For CPU
/// devices, the host waits for earlier work of the set.
///
/// Rows without a use take no memory on a device if the device can map memory to arrays in parts (SparseArray). The set
/// keeps the memory of GPUs for its next images; it frees it if an image needs other memory, and at its end. Copies
/// between memory and such arrays pass through host memory if width or height are not multiples of the tile of the
/// format; then apply() waits for them.
///
/// If a device has too little memory for its part, the other devices get its rows. If CUDA becomes unusable, functions
/// throw Error{device_lost}, whose message contains the rows that are complete.
///
/// A handle that is cheap to copy: copies refer to the same devices and streams. The functions must not be called by
/// several threads at once for the same set.
class DeviceSet {
public:
    /// Creates a set. A device may be given twice: then it computes two parts on two streams.
    ///
    /// Throws Error{bad_argument} if there is no device, and Error{wrong_device} if they are not of one kind.
    explicit DeviceSet(std::vector<Device> devices);
    /// Returns a set of all devices of a kind. Throws Error{bad_argument}, with the reason, if there is none.
    [[nodiscard]] static DeviceSet all(DeviceKind kind);

    const std::vector<Device>& devices() const noexcept;  ///< Returns the devices.

    /// Creates an image from texels in host memory and distributes its rows. Returns when they are copied.
    ///
    /// Throws Error{bad_argument} if the view is empty or has several slices, Error{unsupported} for block-compressed
    /// formats, Error{overflow} if the size exceeds the limits of textures, and Error{out_of_memory} if all devices
    /// together have too little memory.
    [[nodiscard]] SplitImage split(const ConstView& texels) const;
    /// Creates an image of which each device has a copy: a table, a volume, or an image with levels. The array can
    /// belong to any device. Returns when it is copied. Throws the errors of the constructor of Array and of copy().
    [[nodiscard]] SplitImage share(const Array& array) const;
    /// Creates an image with undefined pixels for results of kernels. Throws Error{bad_argument} for a dimension of 0
    /// and for formats that kernels cannot write, and Error{out_of_memory} like split().
    [[nodiscard]] SplitImage create(const ImageShape& shape) const;

    /// Enqueues a kernel of the registry on all devices. `result` keeps its memory, so repeated calls allocate nothing.
    /// Its previous pixels are replaced.
    ///
    /// Throws
    /// - Error{bad_argument} if an image belongs to another set, if the number or a kind of the inputs does not match,
    ///   or if an input is the result,
    /// - Error{unsupported} for kernels that write several images or need all texels at once (statistics), for inputs
    ///   of several slices that were not shared, and on CUDA devices for kernels that compute mirrored rows together,
    /// - Error{out_of_memory} if all devices together have too little memory,
    /// - the errors of the kernel's own function.
    ///
    /// After an exception the pixels of `result` are undefined.
    void apply(const Kernel& kernel, const Arguments& arguments, std::span<const SplitInput> inputs,
               const SplitImage& result) const;
    /// Does the same with a new result, whose shape is that of shapes().
    [[nodiscard]] SplitImage apply(const Kernel& kernel, const Arguments& arguments,
                                   const std::vector<SplitInput>& inputs) const;

    /// Enqueues one launch on a device: calls launch() or a kernel's function for `image` and `textures`, once, on
    /// `stream`. The image has full size, but only the rows that the device computes are written.
    using Enqueue = std::function<void(const Stream& stream, const View& image, std::span<const Texture> textures)>;
    /// Enqueues a functor of the caller on all devices: calls `enqueue` once for each. The functor must read at most
    /// `apron` rows above and below its pixel from each split input of the result's height. Devices get all rows of
    /// split inputs of other heights. Throws the same errors as for kernels of the registry.
    void apply(std::size_t apron, const Enqueue& enqueue, std::span<const SplitInput> inputs,
               const SplitImage& result) const;

    /// Copies an image to memory of the host, or to any other memory that copy() accepts from these devices. Returns
    /// when it is complete. Throws Error{bad_argument} if the extent or the texel size differs or if each device has a
    /// copy, and the errors of copy().
    void join(const View& destination, const SplitImage& image) const;
    /// Blocks until all work that was enqueued on the devices is done.
    void synchronize() const;

private:
    std::shared_ptr<detail::DeviceSetState> state_;
};

}  // namespace texton
