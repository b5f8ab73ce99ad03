#pragma once
// The same texels in every kind of array and of memory: what it takes, and what reads it; or why not.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// What one way to read a kind came to.
struct SamplerVerdict {
    std::string_view name;
    std::string obstacle{};  ///< the library's words; empty: it is legal
};

struct KindRow {
    std::string_view name;
    std::string obstacle{};         ///< why the kind does not take these texels; what follows is empty then
    std::size_t bytes = 0;          ///< that the device gives for it, padding included
    std::size_t alignment = 0;      ///< of its start, as the device demands it
    std::size_t copied = 0;         ///< bytes of texels
    double upload = 0;              ///< milliseconds from pageable memory; the best of three
    std::string kernel{};           ///< that read it
    double kernel_time = 0;         ///< milliseconds, as the device counts; the best of three
    std::string kernel_obstacle{};  ///< why none did
    std::vector<SamplerVerdict> samplers{};
};

/// A picture without levels, layers and slices, packed.
struct KindTexels {
    Format format = Format::r8_uint;
    Extent extent;
    std::vector<std::byte> texels{};
    bool whole = true;  ///< false: the first rows of a larger one
};

/// What is at the place, with as many rows as `most_bytes` hold.
[[nodiscard]] KindTexels texels_of(const Array& array, const Place& place, std::size_t most_bytes);

/// The kinds of arrays, with tiles and deferred memory, then the kinds of memory.
[[nodiscard]] std::span<const std::string_view> kind_rows();
/// The ways to read that are tried.
[[nodiscard]] std::span<const std::string_view> sampler_names();

/// Makes the kind of that row, uploads, reads, and gives all of it back. What the library refuses is said in the row.
/// Throws Cancelled.
[[nodiscard]] KindRow measure_kind(const Device& device, const KindTexels& texels, std::size_t row,
                                   const StillWanted& wanted = {});

}  // namespace texton::viewer
