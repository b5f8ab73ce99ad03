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
/// Every format that arrays have: all but the planar ones.
[[nodiscard]] std::span<const Format> array_formats();
/// One format for each size of texel (1, 2, 4, 8 and 16 bytes) and of block (8 and 16), the packed one and an sRGB one.
[[nodiscard]] std::span<const Format> formats_of_every_size();
[[nodiscard]] bool is_block_compressed(Format format);

/// How CUDA makes arrays of the format at all: block-compressed ones have rows and columns of blocks, so not in 1D.
[[nodiscard]] bool has_arrays(ArrayKind kind, Format format);

/// "layered_2d rgba8_unorm 13 x 7, 3 layers, 4 levels": for SCOPED_TRACE.
[[nodiscard]] std::string describe(const ArrayInfo& info);

/// A small array of the kind with odd sides, several layers and a whole chain of levels.
[[nodiscard]] ArrayInfo small_info(ArrayKind kind, Format format);
/// The same with one level.
[[nodiscard]] ArrayInfo flat_info(ArrayKind kind, Format format);
/// A few more: one texel, a thin one, sides of powers of two, sides of whole and of broken blocks; with all levels, with some.
[[nodiscard]] std::vector<ArrayInfo> example_infos(ArrayKind kind, Format format);

/// Extent of a level as copies see it: depth counts slices, layers or faces. Worked out here, not asked of Texton.
[[nodiscard]] Extent level_box(const ArrayInfo& info, int level);
/// Bytes of a box of texels packed; blocks that are cut by the edge count whole.
[[nodiscard]] std::size_t box_bytes(Format format, Extent extent);

/// Random numbers that are the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    /// 0 to count - 1.
    std::size_t below(std::size_t count) { return engine_() % count; }
    /// First to last, both included.
    std::size_t between(std::size_t first, std::size_t last) { return first + below(last - first + 1); }
    bool coin() { return (engine_() & 1) != 0; }
    /// 0 to 1, in 2^24 steps.
    float unit() { return static_cast<float>(engine_() >> 40) / 16777216.0f; }
    template <class T>
    const T& of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// A box inside `extent`: block-compressed formats get whole blocks, or such as end at the edge.
[[nodiscard]] Region random_region(Random& random, Format format, Extent extent);
/// A box of a given size, somewhere inside.
[[nodiscard]] Region random_region(Random& random, Format format, Extent extent, Extent size);

/// Texels that are safe to compare after sampling: floats are finite and not denormal, the rest is any bits.
[[nodiscard]] Bytes random_texels(Random& random, Format format, std::size_t bytes);

/// What an array must hold: a vector of bytes for each level, and loops that move one texel (or block) after the other.
class ReferenceArray {
public:
    ReferenceArray(const ArrayInfo& info, unsigned seed);

    const ArrayInfo& info() const noexcept { return info_; }
    Extent extent(int level) const { return level_box(info_, level); }
    const Bytes& level(int index) const { return levels_.at(static_cast<std::size_t>(index)); }

    /// The region's texels, packed.
    Bytes read(int level, const Region& region) const;
    void write(int level, const Region& region, std::span<const std::byte> texels);
    void fill(int level, const Region& region, std::span<const std::byte> texel);

private:
    template <class Visit>
    void each_texel(int level, const Region& region, Visit visit) const;

    ArrayInfo info_;
    std::vector<Bytes> levels_;
};

/// All levels of the reference into the array, and the other way: what the array holds must be the reference's.
void upload(const Array& array, const ReferenceArray& reference);
[[nodiscard]] testing::AssertionResult holds(const Array& array, const ReferenceArray& reference);

}  // namespace texton::test
