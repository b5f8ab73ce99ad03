#pragma once
#include <memory>
#include <optional>

#include <texton/array.h>
#include <texton/sampler.h>

namespace texton {

namespace detail {
struct TextureState;
}

/// Which part of an array a texture reads, and as what.
struct TextureRange {
    /// Another format with the same bits: rgba8_srgb for rgba8_unorm, r32_uint for rgba8_uint. Arrays of 32-bit integers and
    /// floats are not read as 8- or 16-bit channels, block-compressed ones only unorm as srgb.
    std::optional<Format> format{};
    int first_level = 0;
    /// 0: all from the first on; a single one, not of a layered array, may be read in texels. Block-compressed and packed
    /// arrays are read as a whole, or one level of those without layers and faces.
    int levels = 0;
    std::size_t first_layer = 0;
    std::size_t layers = 0;  ///< of a layered array; 0: all from the first on
    bool operator==(const TextureRange&) const = default;
};

/// What a texture reads from.
enum class TextureSource : std::uint8_t { array, linear, pitched };

/// Texels as kernels read them. Unorm, snorm and sRGB formats read as floats, sRGB as linear light; integers as integers.
///
/// A cheap handle, which keeps what it reads. The same source with the same sampler and range is the same texture object,
/// which lives as long as the source; where one has more than 256, those that no handle names are dropped as more are made.
/// Memory that Texton does not own (borrowed_view, symbols) has no such: each texture of it is an object of its own.
class Texture {
public:
    /// Errors name the field of the sampler that the format or the kind does not take: bad_argument. released, unsupported
    /// (a format or view that the device refuses), out_of_bounds (levels or layers). While a graph is recorded one that is
    /// there is found, but none made: Error{capturing}.
    explicit Texture(const Array& array, const Sampler& sampler = {}, const TextureRange& range = {});
    /// A row of memory (any but the host's; plain or packed texels), read with FetchOperation::texel; or rows a pitch apart,
    /// read as a 2D texture. The first texel must lie at a multiple of limits().texture_alignment, rows at one of
    /// texture_pitch_alignment.
    explicit Texture(const ConstView& memory, const Sampler& sampler = {});
    // No moves: a handle always names its texture.
    Texture(const Texture&) = default;
    Texture& operator=(const Texture&) = default;

    TextureSource source() const noexcept;
    ArrayKind kind() const noexcept;
    Format format() const noexcept;  ///< as it is read
    const Sampler& sampler() const noexcept;
    /// Of one layer or face at the first level that it reads.
    Extent extent() const noexcept;
    int levels() const noexcept;
    std::size_t layers() const noexcept;
    Device device() const;

    /// For kernels: cudaTextureObject_t on a CUDA device, where the source must outlive the kernel; on the CPU device a number
    /// that no kernel takes. Error{not_mapped} for an array without memory.
    std::uint64_t handle() const;

    bool operator==(const Texture& other) const noexcept { return state_ == other.state_; }

    const std::shared_ptr<detail::TextureState>& state() const noexcept { return state_; }  ///< for Texton's own parts
    explicit Texture(std::shared_ptr<detail::TextureState> state) noexcept : state_(std::move(state)) {}

private:
    std::shared_ptr<detail::TextureState> state_;
};

}  // namespace texton
