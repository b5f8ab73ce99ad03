#include <algorithm>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>

#include "core/block.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "core/request.h"
#include "kernels/cuda/device_comparison.h"
#include "kernels/cuda/kernels.h"

namespace texton::detail {
namespace {

constexpr std::uint64_t kMaxTexels = std::uint64_t{1} << 32;

ComparedImage compared(const MemoryLocation& image) { return {image.address, image.pitch, image.slice_pitch}; }

const CudaBackend& backend_of(const Stream& stream) {
    return static_cast<const CudaBackend&>(stream.device().backend());
}

}  // namespace

DeviceComparison::DeviceComparison(const ImagePair& pair, std::size_t channels)
    : pair_(pair),
      images_{compared(pair.a),
              compared(pair.b),
              pair.format,
              pair.a.extent.width,
              pair.a.extent.height,
              pair.a.extent.depth,
              static_cast<unsigned>(channels)} {
    if (images_.texels() < kMaxTexels) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = pair.object,
                 .problem = fmt::format("the images have {} texels", images_.texels()),
                 .remedy = "Compare them in parts of less than 2^32 texels.",
                 .numbers = {{"texels", images_.texels()}}});
}

unsigned DeviceComparison::blocks_for(std::uint64_t pieces, unsigned of_multiprocessor) const {
    const auto multiprocessors = static_cast<unsigned>(backend_of(pair_.stream).properties().multiprocessors);
    return static_cast<unsigned>(std::min<std::uint64_t>(pieces, multiprocessors * of_multiprocessor));
}

Linear DeviceComparison::allocate(std::size_t bytes) const { return Linear::async(bytes, pair_.stream); }

Linear DeviceComparison::allocate_zeros(std::size_t bytes) const {
    Linear cleared = allocate(bytes);
    fill(cleared.view(), std::uint32_t{0}, pair_.stream);
    return cleared;
}

Linear DeviceComparison::allocate_copy(std::span<const std::byte> bytes) const {
    Linear copies = allocate(bytes.size());
    copy(copies.view(), host_view(static_cast<const void*>(bytes.data()), Format::r8_uint, {bytes.size()}),
         pair_.stream);
    return copies;
}

void DeviceComparison::read_bytes(const Linear& memory, std::span<std::byte> bytes) const {
    const Extent extent{bytes.size()};
    copy(host_view(static_cast<void*>(bytes.data()), Format::r8_uint, extent), memory.view(Format::r8_uint, extent),
         pair_.stream);
    pair_.stream.synchronize();
}

void DeviceComparison::launch(const void* kernel, const std::array<unsigned, 3>& blocks, unsigned threads,
                              void** arguments, unsigned shared_bytes) const {
    Backend& backend = pair_.stream.device().backend();
    request(&backend, pair_.object, {{"width", images_.width}, {"height", images_.height}}, [&] {
        const DeviceScope scope(backend_of(pair_.stream).ordinal());
        if (shared_bytes != 0)
            call<cudaFuncSetAttribute>(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes));
        call<cudaLaunchKernel>(kernel, dim3{blocks[0], blocks[1], blocks[2]}, dim3{threads, 1, 1}, arguments,
                               std::size_t{shared_bytes}, native(pair_.stream.state()->handle));
    });
}

bool CudaKernels::compare(const ImagePair& images, const ComparisonOptions& options,
                          const std::function<void(double)>& report, Comparison& result) const {
    const DeviceComparison comparison(images, result.channels.size());
    measure_differences(comparison, options.worst, result);
    if (options.ssim) measure_ssim(comparison, result);
    if (options.flip) measure_flip(comparison, options, report, result);
    if (report) report(1);
    return true;
}

}  // namespace texton::detail
