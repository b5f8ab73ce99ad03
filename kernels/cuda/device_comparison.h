#pragma once
// What the metrics of compare() on CUDA devices have in common, for host code.
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <texton/linear.h>
#include <texton/metrics.h>

#include "kernels/cuda/comparison.h"
#include "kernels/metrics/image_pair.h"

namespace texton::detail {

/// Two images that the device of a stream compares, and the memory and the launches that this needs. All work is
/// enqueued on the stream.
class DeviceComparison {
public:
    /// Compares the first `channels` channels. Throws Error{overflow} for images of 2^32 texels or more.
    DeviceComparison(const ImagePair& pair, std::size_t channels);

    const ComparedImages& images() const { return images_; }
    const CodeFormat& format() const { return images_.format; }
    /// Returns the number of blocks that process `pieces` pieces, with at most this many blocks for each
    /// multiprocessor.
    unsigned blocks_for(std::uint64_t pieces, unsigned of_multiprocessor) const;

    /// Allocates memory for values of type T.
    template <class T>
    Linear memory(std::size_t count) const {
        return allocate(count * sizeof(T));
    }
    /// Allocates memory and fills it with zero bytes.
    template <class T>
    Linear zeros(std::size_t count) const {
        return allocate_zeros(count * sizeof(T));
    }
    /// Allocates memory with copies of the values.
    template <class T>
    Linear copied(const std::vector<T>& values) const {
        return allocate_copy(std::as_bytes(std::span(values)));
    }
    /// Copies values to the host, after the work that is enqueued.
    template <class T>
    void read(const Linear& memory, std::span<T> values) const {
        read_bytes(memory, std::as_writable_bytes(values));
    }
    /// Returns values, after the work that is enqueued.
    template <class T>
    std::vector<T> read(const Linear& memory, std::size_t count) const {
        std::vector<T> values(count);
        read(memory, std::span(values));
        return values;
    }
    template <class T>
    static T* address(const Linear& memory) {
        return reinterpret_cast<T*>(memory.data());
    }

    /// Launches a kernel with blocks of `threads` threads and `shared_bytes` of dynamic shared memory.
    void launch(const void* kernel, const std::array<unsigned, 3>& blocks, unsigned threads, void** arguments,
                unsigned shared_bytes = 0) const;

private:
    Linear allocate(std::size_t bytes) const;
    Linear allocate_zeros(std::size_t bytes) const;
    Linear allocate_copy(std::span<const std::byte> bytes) const;
    void read_bytes(const Linear& memory, std::span<std::byte> bytes) const;

    const ImagePair& pair_;
    ComparedImages images_;
};

/// Writes everything except SSIM and FLIP. `worst` is the maximum number of worst texels.
void measure_differences(const DeviceComparison& comparison, std::size_t worst, Comparison& result);
/// Writes SSIM. Expects that measure_differences() has written its part of the result.
void measure_ssim(const DeviceComparison& comparison, Comparison& result);
/// Writes FLIP. `report` gets the completed fraction.
void measure_flip(const DeviceComparison& comparison, const ComparisonOptions& options,
                  const std::function<void(double)>& report, Comparison& result);

}  // namespace texton::detail
