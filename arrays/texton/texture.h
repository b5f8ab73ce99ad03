#pragma once
#include <memory>
#include <optional>

#include <texton/array.h>
#include <texton/sampler.h>

namespace texton {

namespace detail {
struct TextureState;
}

/// The part of an array that a texture reads, and the format in which it reads the texels.
struct TextureRange {
    /// Another format with the same number of bits, for example rgba8_srgb for rgba8_unorm or r32_uint for rgba8_uint.
    /// Arrays of floats and of 32-bit integers cannot be read as 8-bit or 16-bit integer, unorm or snorm channels. Of
    /// the block-compressed formats, unorm can be read as srgb. Without a value, the format of the array is used.
    std::optional<Format> format{};
    int first_level = 0;  ///< the first level to read
    /// Number of levels; 0 means all remaining levels. Unnormalized coordinates need exactly one level, and a layered
    /// array must have only one level then. Textures of block-compressed and packed arrays read the whole array; if it
    /// has no layers and faces, they may read one level.
    int levels = 0;
    std::size_t first_layer = 0;                           ///< the first layer to read, of a layered array
    std::size_t layers = 0;                                ///< number of layers; 0 means all remaining layers
    bool operator==(const TextureRange&) const = default;  ///< Returns true if all members are equal.
};

/// The memory that a texture reads.
enum class TextureSource : std::uint8_t {
    array,   ///< an array
    linear,  ///< one row of memory
    pitched  ///< rows of memory
};

/// Texels of an array or of memory, as kernels read them. Unorm, snorm and sRGB formats return floats; sRGB returns
/// linear light. Integer formats return integers.
///
/// Copies are cheap and refer to the same texture, which keeps its source alive if Texton owns the source. Textures are
/// cached: a second Texture with the same source, sampler and range refers to the same texture object. The source keeps
/// this object, also if no Texture refers to it. When a source has 256 texture objects, or later twice the number that
/// was in use at the last cleanup, the creation of another one destroys the objects to which no Texture refers and that
/// are in no graph. On a CUDA device it first waits for the work of all streams, which can use these objects.
/// Textures of memory that Texton does not own (borrowed_view(), symbols) are not cached: each call creates a new
/// object.
///
/// Several threads may create and use textures at once. The caller must order reads after pending writes to the texels
/// on other streams (also the default stream). If a constructor throws, the cache is unchanged.
class Texture {
public:
    /// Creates a texture of an array, or finds it in the cache.
    ///
    /// Throws
    /// - Error{bad_argument} if the format or the kind does not support a member of the sampler, which the message
    ///   names, or if the format of the range has another layout,
    /// - Error{out_of_bounds} if a level or layer of the range does not exist,
    /// - Error{unsupported} if CUDA cannot read this part or plane of the array, or cannot read it in this format,
    /// - Error{released} if the array is empty,
    /// - Error{capturing} while the calling thread records a graph, unless the texture is in the cache.
    explicit Texture(const Array& array, const Sampler& sampler = {}, const TextureRange& range = {});
    /// Creates a texture of memory, or finds it in the cache. The memory must not be host memory (pageable, pinned or
    /// registered), and its format must be plain or packed. A view of one row is read with FetchOperation::texel; a
    /// view of several rows is read as a 2D texture. The address of the first texel must be a multiple of
    /// limits().texture_alignment, and the pitch a multiple of limits().texture_pitch_alignment.
    ///
    /// Throws
    /// - Error{bad_argument} if the view is an array, host memory or several slices, if its alignment does not fit, or
    ///   if the sampler is not supported; a row supports only point filtering and unnormalized coordinates,
    /// - Error{overflow} if the size exceeds the limits of the device,
    /// - Error{unsupported} if the format is block-compressed or planar,
    /// - Error{released} if the memory was freed,
    /// - Error{capturing} while the calling thread records a graph, unless the texture is in the cache.
    explicit Texture(const ConstView& memory, const Sampler& sampler = {});
    // There are no move operations, so a Texture is never empty.
    Texture(const Texture&) = default;             ///< Creates another handle of the same texture.
    Texture& operator=(const Texture&) = default;  ///< Refers to the same texture as the other handle.

    TextureSource source() const noexcept;    ///< Returns the kind of memory that the texture reads.
    ArrayKind kind() const noexcept;          ///< Returns the kind of texture; array_1d or array_2d for memory.
    Format format() const noexcept;           ///< Returns the format in which the texels are read.
    const Sampler& sampler() const noexcept;  ///< Returns the sampler.
    Extent extent() const noexcept;           ///< Returns the size of a layer or face at the first level that is read.
    int levels() const noexcept;              ///< Returns the number of levels that are read.
    std::size_t layers() const noexcept;  ///< Returns the number of layers that are read; of cubemap_layered: cubes.
    Device device() const;                ///< Returns the device that reads the texels.

    /// Returns the handle for kernels, a cudaTextureObject_t on a CUDA device. A copy of the Texture must exist until
    /// the kernel has finished, because the cache may destroy unused texture objects. On the CPU device the number is
    /// unique, but no kernel accepts it. If the mapping of a sparse or deferred array is still changing, the call waits
    /// for it. Throws Error{released} if the memory was freed or unmapped, and Error{not_mapped} for a deferred array
    /// without memory.
    std::uint64_t handle() const;

    /// Returns true if both handles refer to the same texture object.
    bool operator==(const Texture& other) const noexcept { return state_ == other.state_; }

    /// Returns the internal state. For internal use.
    const std::shared_ptr<detail::TextureState>& state() const noexcept { return state_; }
    /// Creates an object from its internal state. For internal use.
    explicit Texture(std::shared_ptr<detail::TextureState> state) noexcept : state_(std::move(state)) {}

private:
    std::shared_ptr<detail::TextureState> state_;
};

}  // namespace texton
