#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>

#include "tests/support/texels.h"

namespace texton::test {

[[nodiscard]] std::span<const ArrayKind> all_kinds();
/// All formats that arrays can have: every format except the planar ones.
[[nodiscard]] std::span<const Format> array_formats();
/// One format for each texel size (1, 2, 4, 8 and 16 bytes), each block size (8 and 16 bytes), a packed format and an
/// sRGB format.
[[nodiscard]] std::span<const Format> formats_of_every_size();
[[nodiscard]] bool is_block_compressed(Format format);

/// True if CUDA can create arrays of this kind and format. Block-compressed formats need rows and columns of blocks, so
/// they have no 1D arrays.
[[nodiscard]] bool has_arrays(ArrayKind kind, Format format);

/// Describes an array for SCOPED_TRACE, for example "layered_2d rgba8_unorm 13 x 7, 3 layers, 4 levels".
[[nodiscard]] std::string describe(const ArrayInfo& info);

/// Describes a small array with odd dimensions, several layers and a complete mip chain.
[[nodiscard]] ArrayInfo small_info(ArrayKind kind, Format format);
/// Describes the same array with one level.
[[nodiscard]] ArrayInfo flat_info(ArrayKind kind, Format format);
/// More shapes: one texel, a thin array, powers of two, dimensions that are and are not multiples of a block, with all
/// levels and with some.
[[nodiscard]] std::vector<ArrayInfo> example_infos(ArrayKind kind, Format format);

/// Returns the extent of a level as copies see it: depth counts slices, layers or faces. Computed here, independently
/// of Texton.
[[nodiscard]] Extent level_box(const ArrayInfo& info, int level);
/// Returns the packed size of a box of texels in bytes. A block that the edge cuts counts as a whole block.
[[nodiscard]] std::size_t box_bytes(Format format, Extent extent);

/// Random numbers that are the same on every platform.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    /// Returns a number from 0 to count - 1.
    std::size_t below(std::size_t count) { return engine_() % count; }
    /// Returns a number from `first` to `last`, both included.
    std::size_t between(std::size_t first, std::size_t last) { return first + below(last - first + 1); }
    bool coin() { return (engine_() & 1) != 0; }
    /// Returns a number from 0 to 1 in steps of 2^-24.
    float unit() { return static_cast<float>(engine_() >> 40) / 16777216.0f; }
    template <class T>
    const T& of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// Returns a box inside `extent`. In block-compressed formats it consists of whole blocks, except at the edge of
/// `extent`.
[[nodiscard]] Region random_region(Random& random, Format format, Extent extent);
/// Returns a box of the given size at a random position.
[[nodiscard]] Region random_region(Random& random, Format format, Extent extent, Extent size);

/// Returns texels whose samples can be compared: floats are finite and not denormal, all other formats have random
/// bits.
[[nodiscard]] Bytes random_texels(Random& random, Format format, std::size_t bytes);

/// Reference implementation of an array: one vector of bytes per level, moved texel by texel (or block by block) in
/// plain loops.
class ReferenceArray {
public:
    ReferenceArray(const ArrayInfo& info, unsigned seed);

    const ArrayInfo& info() const noexcept { return info_; }
    Extent extent(int level) const { return level_box(info_, level); }
    const Bytes& level(int index) const { return levels_.at(static_cast<std::size_t>(index)); }

    /// Returns the texels of the region, packed.
    Bytes read(int level, const Region& region) const;
    void write(int level, const Region& region, std::span<const std::byte> texels);
    void fill(int level, const Region& region, std::span<const std::byte> texel);

private:
    template <class Visit>
    void each_texel(int level, const Region& region, Visit visit) const;

    ArrayInfo info_;
    std::vector<Bytes> levels_;
};

/// Copies all levels of the reference to the array.
void upload(const Array& array, const ReferenceArray& reference);
[[nodiscard]] testing::AssertionResult holds(const Array& array, const ReferenceArray& reference);

}  // namespace texton::test
