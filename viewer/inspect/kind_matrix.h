#pragma once
// Uploads the same texels to every kind of array and memory, and measures memory, upload time and kernel time. Reports
// why a kind or a sampler is not possible.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Result of creating a texture with one sampler.
struct SamplerVerdict {
    std::string_view name;
    std::string obstacle{};  ///< message of the library's error; empty if the sampler is valid
};

/// Measurements of one kind of array or memory.
struct KindRow {
    std::string_view name;
    std::string obstacle{};         ///< why the kind cannot contain the texels; then the members below are empty
    std::size_t bytes = 0;          ///< bytes of memory, with padding; 0 for planar arrays
    std::size_t alignment = 0;      ///< required alignment of the start, in bytes; 0 for planar arrays
    std::size_t copied = 0;         ///< bytes of texels that were uploaded
    double upload = 0;              ///< milliseconds from pageable memory; minimum of three uploads
    std::string kernel{};           ///< name of the kernel that read the texels
    double kernel_time = 0;         ///< milliseconds by the clock of the device; minimum of three runs
    std::string kernel_obstacle{};  ///< why no kernel could read the texels; empty if one did
    std::vector<SamplerVerdict> samplers{};  ///< of all samplers that are tested
};

/// Packed texels of a 2D image in host memory.
struct KindTexels {
    Format format = Format::r8_uint;
    Extent extent;
    std::vector<std::byte> texels{};
    bool whole = true;  ///< false: these are only the first rows of the image
};

/// Returns the texels of one level, layer, face and slice, with as many rows as fit in `max_bytes` but at least one
/// row of texels or blocks. Blocks until they are copied. Throws the errors of copy().
[[nodiscard]] KindTexels texels_of(const Array& array, const SubresourceIndex& subresource, std::size_t max_bytes);

/// Returns the names of the kinds: arrays (also sparse, deferred and planar ones), then kinds of memory.
[[nodiscard]] std::span<const std::string_view> kind_rows();

/// Measures one kind; `row` is an index into kind_rows(). Creates it, uploads the texels, runs a kernel and releases
/// the memory. Errors of the library are reported in the result. Throws Canceled if `token` is canceled.
[[nodiscard]] KindRow measure_kind(const Device& device, const KindTexels& texels, std::size_t row,
                                   const CancellationToken& token = {});

}  // namespace texton::viewer
