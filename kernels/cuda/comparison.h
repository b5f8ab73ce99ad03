#pragma once
// The CUDA kernels of compare(), declared for the code that launches them, which the host compiler compiles.
#include "kernels/metrics/difference_sums.h"
#include "kernels/metrics/similarity.h"

namespace texton::detail {

/// An image in memory that the device reads.
struct ComparedImage {
    const std::byte* texels;
    std::uint64_t pitch;
    std::uint64_t slice_pitch;

    TEXTON_HD const std::byte* at(const CodeFormat& format, std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
        return texels + z * slice_pitch + y * pitch + x * format.texel_bytes();
    }
};

/// The images that a kernel compares.
struct ComparedImages {
    ComparedImage a;
    ComparedImage b;
    CodeFormat format;
    std::uint64_t width;
    std::uint64_t height;
    std::uint64_t depth;
    unsigned channels;  ///< number of channels to compare

    TEXTON_HD std::uint64_t texels() const { return width * height * depth; }
};

/// What the blocks add up, with atomic operations: counts and sums of all segments. Zero bytes are the sums of no texels.
struct SharedSums {
    unsigned long long differing[4];
    unsigned long long differences[4];  ///< sums of short codes
    unsigned long long squares[4];
    unsigned long long max_bits[4];  ///< the largest difference of values of float formats, as bits
    unsigned long long nans[2][4];
    unsigned long long infinities[2][4];
    unsigned long long texels;
    unsigned long long histogram[33];
    unsigned max_ulp[4];
};

/// The difference of a texel, or of the worst texel of a segment.
struct TexelDifference {
    double difference;
    std::uint32_t ulp;  ///< 0 if the texel, or no texel of the segment, differs
    std::uint32_t at;   ///< position in the image
};

/// A texel of both images.
struct TexelPair {
    std::uint32_t at;  ///< position in the image
    std::byte a[16];
    std::byte b[16];
};

struct DifferenceBlocks {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kSegments = kThreads / 32;  ///< of a block at a time: one for each warp
    static constexpr unsigned kSelectingThreads = 1024;
};

/// Returns the CUDA kernel that compares texels of the format. Texels must be aligned to their size. Its parameters are
/// ComparedImages, a bool (whether it finds the worst texels), SharedSums*, TexelDifference* (one for each segment) and
/// RoundedSums* (likewise, not for short codes).
[[nodiscard]] const void* differences_kernel(const CodeFormat& format);
/// Returns the CUDA kernel that selects the worst of `n` differences. Its parameters are const TexelDifference*, n and
/// the number to select (unsigned), and unsigned* for the numbers of the selected differences, worst first. If fewer
/// texels differ, the last numbers are kNoneSelected. It needs a single block.
[[nodiscard]] const void* select_worst_kernel();
inline constexpr unsigned kNoneSelected = 0xffffffffu;
/// Returns the CUDA kernel that compares the texels of selected segments. Its parameters are ComparedImages, the numbers
/// of the segments (const unsigned*) and TexelDifference*. Block i compares the segment of number i.
[[nodiscard]] const void* segment_differences_kernel();
/// Returns the CUDA kernel that copies selected texels. Its parameters are ComparedImages, const TexelDifference*, the
/// numbers of differences (const unsigned*), their count (unsigned) and TexelPair*. Each thread copies a texel.
[[nodiscard]] const void* copy_texels_kernel();

/// The weights of SSIM along both axes of an image, and the planes to compare.
struct SsimWeights {
    float across[kSsimWindow];
    float down[kSsimWindow];
    unsigned across_count;
    unsigned down_count;
    double scale;
    unsigned planes[kSsimPlanes];  ///< channels, or kSsimLuma
};

struct SsimBlocks {
    static constexpr unsigned kThreads = 288;
};

/// Returns the CUDA kernel that adds up SSIM. Its parameters are ComparedImages, SsimWeights and unsigned long long*, the
/// sums of the planes. Block (i, j) processes tile i of plane j of SsimWeights::planes. If `has_full_windows`, windows
/// must have kSsimWindow texels along both axes, and pitches must have at most 32 bits.
[[nodiscard]] const void* similarity_kernel(const CodeFormat& format, bool has_full_windows);
/// Returns the dynamic shared memory of a block.
[[nodiscard]] unsigned similarity_bytes(bool has_full_windows);

}  // namespace texton::detail
