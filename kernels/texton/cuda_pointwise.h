#pragma once
// The CUDA kernel of a pointwise functor whose texels and pixels have at most 4 bytes. A thread loads, computes and
// stores four adjacent ones at once, since single ones would be limited by instructions, and the texture unit is free
// for other fetches.
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_pixels.h>
#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>

namespace texton::detail {

inline constexpr unsigned kPieceTexels = 4;    ///< texels of a row that a thread loads at once: a piece of the row
inline constexpr unsigned kPointwiseRows = 4;  ///< rows of a thread

/// The source of a texture whose texel at the position of the pixel is known.
class KnownTexelSource : public Fetches<KnownTexelSource> {
public:
    __device__ KnownTexelSource(const HardwareSource& source, const Float4& texel)
        : Fetches(source), source_(source), texel_(texel) {}

    using Fetches::at_texel;
    TEXTON_HD Float4 at_texel(float, float) const { return texel_; }
    TEXTON_HD Float4 layer_at_texel(int, float, float) const { return texel_; }

    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words(const FetchPoint& at, int component = 0) const {
        return source_.template words<operation, kind>(at, component);
    }

private:
    HardwareSource source_;
    Float4 texel_;
};

/// The channels of the texels or pixels of a piece.
template <int channels>
struct PieceValues {
    float of[kPieceTexels * channels];

    /// Returns a texel. Channels that the format lacks are 0.
    __device__ Float4 color(int i) const {
        float all[4] = {};
#pragma unroll
        for (int c = 0; c < channels; ++c) all[c] = of[i * channels + c];
        return {all[0], all[1], all[2], all[3]};
    }
    __device__ void set(int i, const Float4& color) {
        const float all[] = {color.x, color.y, color.z, color.w};
#pragma unroll
        for (int c = 0; c < channels; ++c) of[i * channels + c] = all[c];
    }
};

/// The stored words of a piece in several rows.
struct PieceRows {
    uint4 of[kPointwiseRows];

    /// Returns the words of a row. Its number need not be a constant.
    __device__ uint4 row(unsigned number) const {
        uint4 words = of[0];
#pragma unroll
        for (unsigned i = 1; i < kPointwiseRows; ++i) {
            if (number == i) words = of[i];
        }
        return words;
    }
};

/// Loads a piece of `bytes` bytes from several rows. No branch is between the loads, so that they do not wait for each
/// other.
template <StoredIn in>
__device__ PieceRows rows_in(const PixelTarget& texels, unsigned bytes, unsigned piece, unsigned first, unsigned z) {
    PieceRows rows{};
    const auto load = [&](const auto& words_of) {
#pragma unroll
        for (unsigned i = 0; i < kPointwiseRows; ++i) {
            const unsigned y = first + i * kTileThreadRows;
            if (y < texels.height) rows.of[i] = words_of(y);
        }
    };
    if (bytes == 4) {
        load([&](unsigned y) { return make_uint4(stored<in, unsigned>(texels, piece * 4, y, z), 0, 0, 0); });
    } else if (bytes == 8) {
        load([&](unsigned y) {
            const uint2 words = stored<in, uint2>(texels, piece * 8, y, z);
            return make_uint4(words.x, words.y, 0, 0);
        });
    } else {
        load([&](unsigned y) { return stored<in, uint4>(texels, piece * 16, y, z); });
    }
    return rows;
}

__device__ inline PieceRows rows_of_piece(const PixelTarget& texels, unsigned bytes, unsigned piece, unsigned first,
                                          unsigned z) {
    switch (stored_in(texels)) {
        case StoredIn::memory: return rows_in<StoredIn::memory>(texels, bytes, piece, first, z);
        case StoredIn::plane: return rows_in<StoredIn::plane>(texels, bytes, piece, first, z);
        case StoredIn::layers: return rows_in<StoredIn::layers>(texels, bytes, piece, first, z);
    }
    return {};
}

/// Stores the four pixels of a piece of `bytes` bytes one by one. Not inlined, since most images have aligned rows.
__device__ __noinline__ inline void store_pixels_of_piece(std::byte* to, unsigned bytes, uint4 codes) {
    const unsigned words[] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
    for (unsigned i = 0; i < kPieceTexels; ++i) {
        if (bytes == 4) to[i] = static_cast<std::byte>(words[0] >> i * 8);
        if (bytes == 8)
            reinterpret_cast<unsigned short*>(to)[i] = static_cast<unsigned short>(words[i / 2] >> i % 2 * 16);
        if (bytes == 16) reinterpret_cast<unsigned*>(to)[i] = words[i];
    }
}

/// Stores the first `bytes` bytes of the words, which are the pixels of a piece: 4, 8 or 16. The address must be a
/// multiple of the size of a pixel.
__device__ inline void store_piece(std::byte* to, unsigned bytes, const unsigned (&words)[4]) {
    // A remainder by a number that is not known when the kernel is compiled would take a division.
    if ((reinterpret_cast<std::uintptr_t>(to) & (bytes - 1)) != 0)
        return store_pixels_of_piece(to, bytes, make_uint4(words[0], words[1], words[2], words[3]));
    if (bytes == 4) *reinterpret_cast<unsigned*>(to) = words[0];
    if (bytes == 8) *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
    if (bytes == 16) *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

// How pieces of some formats are loaded, decoded and stored. A class has these members:
//     Texels           the texels of a piece, with the function Float4 color(int i)
//     Pixels           the pixels of a piece, with the function void set(int i, const Float4& color)
//     PieceRows load(const PixelTarget& texels, unsigned piece, unsigned first, unsigned z)
//     Texels texels(const TexelFormat& format, uint4 words)
//     void store(const PixelTarget& target, unsigned piece, unsigned y, unsigned z, const Pixels& pixels)

/// Channels of 8 bits, unorm. Texels are decoded when they are needed, so that few registers are needed.
template <int channels>
struct Unorm8Pieces {
    static constexpr unsigned kBytes = kPieceTexels * channels;

    struct Texels {
        unsigned words[4];

        /// Channels that the format lacks are 0.
        __device__ Float4 color(int i) const {
            float all[4] = {};
#pragma unroll
            for (int c = 0; c < channels; ++c)
                all[c] = share_of_byte(words[(i * channels + c) / 4], (i * channels + c) % 4) * kOfShare;
            return {all[0], all[1], all[2], all[3]};
        }
    };
    struct Pixels {
        unsigned words[4] = {};

        /// The codes are in bits 8 to 15; see unorm8_bits_of().
        __device__ void set(int i, const Float4& color) {
            unsigned& word = words[i * channels / 4];
            const unsigned x = unorm8_bits_of(color.x);
            if constexpr (channels == 1) {
                word = __byte_perm(word, x, i == 0 ? 0x3215 : i == 1 ? 0x3250 : i == 2 ? 0x3510 : 0x5210);
            } else {
                const unsigned low = __byte_perm(x, unorm8_bits_of(color.y), 0x0051);
                if constexpr (channels == 2) {
                    word = __byte_perm(word, low, i % 2 == 0 ? 0x3254 : 0x5410);
                } else {
                    const unsigned high = __byte_perm(unorm8_bits_of(color.z), unorm8_bits_of(color.w), 0x0051);
                    word = __byte_perm(low, high, 0x5410);
                }
            }
        }
    };

    __device__ static PieceRows load(const PixelTarget& texels, unsigned piece, unsigned first, unsigned z) {
        return rows_of_piece(texels, kBytes, piece, first, z);
    }
    __device__ static Texels texels(const TexelFormat&, uint4 words) { return {{words.x, words.y, words.z, words.w}}; }
    __device__ static void store(const PixelTarget& target, unsigned piece, unsigned y, unsigned z,
                                 const Pixels& pixels) {
        std::byte* const row = target.address + z * target.slice_pitch + y * target.pitch;
        store_piece(row + piece * kBytes, kBytes, pixels.words);
    }
};

/// Returns the values of the float16 codes in the first words, with the bits of fetches.
template <int channels>
__device__ __noinline__ PieceValues<channels> values_of_halves(uint4 codes) {
    const unsigned words[] = {codes.x, codes.y, codes.z, codes.w};
    PieceValues<channels> values;
#pragma unroll
    for (int i = 0; i < 4 * channels; ++i) values.of[i] = float_of_half(words[i / 2] >> i % 2 * 16 & 0xffff);
    return values;
}

/// Returns the values of stored codes, as fetches return them. A branch that all threads take together selects the
/// format; a call would cost as much as the conversion.
template <int channels>
__device__ PieceValues<channels> values_of_any_piece(const TexelFormat& format, uint4 codes) {
    const unsigned words[] = {codes.x, codes.y, codes.z, codes.w};
    PieceValues<channels> values;
    const auto read = [&](const auto& value_of) {
#pragma unroll
        for (int i = 0; i < 4 * channels; ++i) values.of[i] = value_of(i);
    };
    const auto word16 = [&](int i) { return i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16; };
    if (format.bits == 8) {
        read([&](int i) { return share_of_byte(words[i / 4], i % 4) * kOfShare; });
    } else if (format.bits == 32) {
        if constexpr (channels == 1) read([&](int i) { return float_of(words[i]); });
    } else if (format.encoding == Encoding::unorm) {
        read([&](int i) { return share_of_code16(word16(i)); });
    } else {
        read([&](int i) { return float_of_number(word16(i)); });
        bool has_nan = false;
#pragma unroll
        for (int i = 0; i < 4 * channels; ++i) has_nan |= values.of[i] != values.of[i];
        if (has_nan) return values_of_halves<channels>(codes);
    }
    return values;
}

template <int channels>
__device__ void store_any_piece(const PixelTarget& target, unsigned piece, unsigned y, unsigned z,
                                const PieceValues<channels>& values) {
    constexpr int kCount = kPieceTexels * channels;
    const TexelFormat& format = target.format.stored;
    unsigned words[4] = {};
    if (format.bits == 8) {
        const auto code = [&](int i) { return unorm8_bits_of(values.of[i]); };
#pragma unroll
        for (int i = 0; i < kCount; i += 4)
            words[i / 4] = __byte_perm(__byte_perm(code(i), code(i + 1), 0x0051),
                                       __byte_perm(code(i + 2), code(i + 3), 0x0051), 0x5410);
    } else if (format.bits == 32) {
        if constexpr (channels == 1) {
#pragma unroll
            for (int i = 0; i < kCount; ++i) words[i] = plain_bits_of(values.of[i]);
        }
    } else if (format.encoding == Encoding::unorm) {
        const auto code = [&](int i) { return unorm16_bits_of(bits_of(values.of[i])); };
#pragma unroll
        for (int i = 0; i < kCount; i += 2) words[i / 2] = __byte_perm(code(i), code(i + 1), 0x5410);
    } else {
#pragma unroll
        for (int i = 0; i < kCount; i += 2) words[i / 2] = half_pair_of_floats(values.of[i], values.of[i + 1]);
    }
    store_piece(pixel_address(target, kPieceTexels * piece, y, z), kPieceTexels * static_cast<unsigned>(format.bytes),
                words);
}

/// One or two channels of up to 4 bytes, unorm or floating.
template <int channels>
struct NarrowPieces {
    using Texels = PieceValues<channels>;
    using Pixels = PieceValues<channels>;

    __device__ static PieceRows load(const PixelTarget& texels, unsigned piece, unsigned first, unsigned z) {
        return rows_of_piece(texels, kPieceTexels * static_cast<unsigned>(texels.format.stored.bytes), piece, first, z);
    }
    __device__ static Texels texels(const TexelFormat& format, uint4 words) {
        return values_of_any_piece<channels>(format, words);
    }
    __device__ static void store(const PixelTarget& target, unsigned piece, unsigned y, unsigned z,
                                 const Pixels& pixels) {
        store_any_piece<channels>(target, piece, y, z, pixels);
    }
};

template <class Functor, std::size_t count, class PiecesOf>
struct PointwiseJob {
    using Pieces = PiecesOf;

    PixelTarget target;
    Functor functor;
    HardwareSource sources[count];
    PixelTarget texels[count];  ///< the stored texels; the width is 0 if the texture unit fetches from this texture

    /// Computes the pixels of a piece in several rows. All texels are loaded before the first pixel is stored.
    __device__ void make(unsigned piece, unsigned first, unsigned z) const {
        PieceRows own[count];
#pragma unroll
        for (std::size_t i = 0; i < count; ++i) {
            if (texels[i].width != 0) own[i] = Pieces::load(texels[i], piece, first, texels[i].depth > 1 ? z : 0);
        }
        // Code that is repeated for each row would be a large part of the program.
#pragma unroll 1
        for (unsigned row = 0; row < kPointwiseRows; ++row) {
            const unsigned y = first + row * kTileThreadRows;
            if (y < target.height) make_row(own, row, piece, y, z);
        }
    }

    /// Computes a pixel after the last whole piece, in several rows. The texture unit fetches its texels.
    __device__ void make_rest(unsigned x, unsigned first, unsigned z) const {
#pragma unroll 1
        for (unsigned y = first; y < target.height && y < first + kPointwiseRows * kTileThreadRows;
             y += kTileThreadRows) {
            const PixelPosition at{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y),
                                   static_cast<std::int32_t>(z)};
            store_pixel(target, x, y, z, packed(fetched(at, std::make_index_sequence<count>{})));
        }
    }

private:
    using Texels = typename Pieces::Texels;

    __device__ void make_row(const PieceRows (&own)[count], unsigned row, unsigned piece, unsigned y,
                             unsigned z) const {
        Texels piece_texels[count];
#pragma unroll
        for (std::size_t i = 0; i < count; ++i) {
            if (texels[i].width != 0) piece_texels[i] = Pieces::texels(texels[i].format.stored, own[i].row(row));
        }
        typename Pieces::Pixels pixels;
#pragma unroll
        for (int i = 0; i < static_cast<int>(kPieceTexels); ++i) {
            const PixelPosition at{static_cast<std::int32_t>(piece * kPieceTexels) + i, static_cast<std::int32_t>(y),
                                   static_cast<std::int32_t>(z)};
            pixels.set(i, call(at, piece_texels, i, std::make_index_sequence<count>{}));
        }
        Pieces::store(target, piece, y, z, pixels);
    }
    template <std::size_t... index>
    __device__ Float4 call(PixelPosition at, const Texels (&own)[count], int i, std::index_sequence<index...>) const {
        return functor(at, KnownTexelSource(sources[index], own[index].color(i))...);
    }
    template <std::size_t... index>
    __device__ Float4 fetched(PixelPosition at, std::index_sequence<index...>) const {
        return functor(at, sources[index]...);
    }
};

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z.
template <class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pointwise_pixel(const __grid_constant__ Job job, unsigned first_row) {
    const unsigned piece = blockIdx.x * kTileWidth + threadIdx.x;
    const unsigned y = (first_row + blockIdx.y) * (kTileThreadRows * kPointwiseRows) + threadIdx.y;
    if (piece < job.target.width / kPieceTexels && y < job.target.height) job.make(piece, y, blockIdx.z);
    // Each of the first threads of a row of tiles also computes one of the pixels after the last whole piece.
    if (piece < job.target.width % kPieceTexels)
        job.make_rest(job.target.width / kPieceTexels * kPieceTexels + piece, y, blockIdx.z);
}

inline constexpr BlockTile kPointwiseTile{kTileWidth * kPieceTexels, kTileThreadRows* kPointwiseRows, 1};

}  // namespace texton::detail
