#pragma once
// The CUDA kernels of a functor whose results are functions of one channel, for texels and pixels with 8 or 16 bits per
// channel: it computes channels separately, or the texels have a single channel. Each block computes the results for
// all codes and looks them up for its pixels.
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_pixels.h>
#include <texton/cuda_pointwise.h>
#include <texton/cuda_stored_texels.h>
#include <texton/functor_traits.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>

namespace texton::detail {

inline constexpr unsigned kCodes = 256;  ///< of 8 bits; also the number of threads of a block

/// The codes of the results. Byte b of a word of the image has the table b, since images have 1, 2 or 4 channels.
struct CodeTables {
    unsigned char of_byte[4][kCodes];

    /// Returns the results for the four bytes of a word.
    __device__ unsigned operator()(unsigned word) const {
        const unsigned low = of_byte[0][word & 0xff] | of_byte[1][word >> 8 & 0xff] << 8;
        const unsigned high = of_byte[2][word >> 16 & 0xff] | of_byte[3][word >> 24] << 8;
        return low | high << 16;
    }
};

/// Returns the stored codes of a color. Not inlined, since the code for all encodings is large.
__device__ __noinline__ inline unsigned codes_of(const PixelFormat& format, float4 color) {
    return encode_pixel(texel_of({color.x, color.y, color.z, color.w}, format.stored), format).word[0];
}

/// Returns the Piece that starts `byte` bytes after the start of a row of texels.
template <class Piece>
__device__ Piece load_piece(const PixelTarget& texels, unsigned byte, unsigned y, unsigned z) {
    switch (stored_in(texels)) {
        case StoredIn::memory: return stored<StoredIn::memory, Piece>(texels, byte, y, z);
        case StoredIn::plane: return stored<StoredIn::plane, Piece>(texels, byte, y);
        case StoredIn::layers: return stored<StoredIn::layers, Piece>(texels, byte, y, z);
    }
    return {};
}

/// The first texture is the image; the others are tables.
template <class Functor, std::size_t count>
struct CodeTableJob {
    static constexpr bool kByChannel = is_by_channel<Functor>();
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count];
    PixelTarget texels;  ///< the stored texels of the first texture
    unsigned rows;       ///< of a thread

    __device__ void compute(CodeTables& tables, unsigned code) const {
        const TexelFormat& stored = texels.format.stored;
        const float share = share_of_byte(code, 0) * kOfShare;
        const float value = stored.encoding == Encoding::srgb ? value_of_srgb(code) : share;
        const float green = is_linear_channel(stored, 1) ? share : value;
        Float4 texel{value, 0, 0, 0};
        if constexpr (kByChannel) texel = {value, green, value, share};
        const Float4 color = call(texel, std::make_index_sequence<count>{});
        const unsigned word = codes_of(target.format, packed(color));
        const unsigned last = target.format.stored.channels - 1u;
#pragma unroll
        for (unsigned byte = 0; byte < 4; ++byte)
            tables.of_byte[byte][code] = static_cast<unsigned char>(word >> (byte & last) * 8);
    }

    /// Computes the bytes of a piece of a row, in several rows.
    template <class Piece>
    __device__ void make(const CodeTables& tables, unsigned byte, unsigned first, unsigned z) const {
        const unsigned layer = texels.depth > 1 ? z : 0;
#pragma unroll 4
        for (unsigned row = 0; row < rows; ++row) {
            const unsigned y = first + row * kTileThreadRows;
            if (y >= target.height) return;
            std::byte* const to = target.address + z * target.slice_pitch + y * target.pitch + byte;
            store(to, mapped(tables, byte, load_piece<Piece>(texels, byte, y, layer)));
        }
    }

private:
    template <std::size_t first, std::size_t... index>
    __device__ Float4 call(const Float4& texel, std::index_sequence<first, index...>) const {
        return functor(PixelPosition{}, KnownTexelSource(sources[first], texel),
                       KnownTexelSource(sources[index], Float4{})...);
    }
    template <class Piece>
    __device__ static void store(std::byte* to, const Piece& codes) {
        *reinterpret_cast<Piece*>(to) = codes;
    }
    /// The address need not be a multiple of 4.
    __device__ static void store(std::byte* to, unsigned codes) {
        if (reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
            *reinterpret_cast<unsigned*>(to) = codes;
        } else {
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(codes >> i * 8);
        }
    }
    __device__ static unsigned mapped(const CodeTables& tables, unsigned, unsigned word) { return tables(word); }
    __device__ static uint4 mapped(const CodeTables& tables, unsigned, const uint4& words) {
        return make_uint4(tables(words.x), tables(words.y), tables(words.z), tables(words.w));
    }
    __device__ static unsigned char mapped(const CodeTables& tables, unsigned byte, unsigned char code) {
        return tables.of_byte[byte % 4][code];
    }
};

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z. A tile is 32 pieces wide.
template <class Piece, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_code(const __grid_constant__ Job job, unsigned first_row) {
    static_assert(kTileWidth * kTileThreadRows == kCodes);
    __shared__ CodeTables tables;
    job.compute(tables, threadIdx.y * kTileWidth + threadIdx.x);
    __syncthreads();
    const unsigned end = job.target.width * job.target.format.stored.channels;
    const unsigned begin = (blockIdx.x * kTileWidth + threadIdx.x) * sizeof(Piece);
    const unsigned y = (first_row + blockIdx.y) * kTileThreadRows * job.rows + threadIdx.y;
    if (begin + sizeof(Piece) <= end) {
        job.template make<Piece>(tables, begin, y, blockIdx.z);
    } else {  // the last piece of a row
        for (unsigned byte = begin; byte < end; ++byte) job.template make<unsigned char>(tables, byte, y, blockIdx.z);
    }
}

// --- codes of 16 bits ------------------------------------------------------------------------------------------------

inline constexpr unsigned kWideCodes = 65536;
inline constexpr unsigned kWideThreads = 1024;  ///< of a block

/// A job of a functor with kSameForColors. The first texture is the image; the others are tables.
template <class Functor, std::size_t count>
struct WideTableJob {
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count];
    PixelTarget texels;  ///< the stored texels of the first texture

    __device__ unsigned short result(unsigned code) const {
        const float value =
            texels.format.stored.encoding == Encoding::unorm ? share_of_code16(code) : float_of_half(code);
        const Float4 color = call({value, value, value, value}, std::make_index_sequence<count>{});
        return static_cast<unsigned short>(codes_of(target.format, packed(color)));
    }
    /// Returns the code of alpha in the image for the code of a texel. Both have the same format.
    __device__ unsigned alpha(unsigned code) const {
        const bool is_nan = target.format.stored.encoding == Encoding::floating && (code & 0x7fffu) > 0x7c00u;
        return is_nan ? kHalfNanBits : code;
    }

private:
    template <std::size_t first, std::size_t... index>
    __device__ Float4 call(const Float4& texel, std::index_sequence<first, index...>) const {
        return functor(PixelPosition{}, KnownTexelSource(sources[first], texel),
                       KnownTexelSource(sources[index], Float4{})...);
    }
};

/// Computes the results of all codes in shared memory, before all threads of the block continue. The blocks of a
/// cluster compute a part each, and copy the others.
template <class Job>
__device__ void compute_wide_codes(const Job& job, unsigned short* codes) {
    unsigned part = kWideCodes, first = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned blocks = __clusterSizeInBlocks(), own = __clusterRelativeBlockRank();
    part /= blocks;
    first = own * part;
#endif
    for (unsigned code = threadIdx.x; code < part; code += kWideThreads) codes[first + code] = job.result(first + code);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const auto wait_for_cluster = [] {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    };
    wait_for_cluster();
    for (unsigned i = 1; i < blocks; ++i) {
        const unsigned other = (own + i) % blocks;
        auto* const to = reinterpret_cast<uint4*>(codes + other * part);
        const auto* const from = static_cast<const uint4*>(__cluster_map_shared_rank(to, other));
        for (unsigned k = threadIdx.x; k < part * sizeof(*codes) / sizeof(*to); k += kWideThreads) to[k] = from[k];
    }
    wait_for_cluster();  // the memory of a block exists until the block ends
#else
    __syncthreads();
#endif
}

/// A tile is kWideAcross pieces of 16 bytes wide, with one thread for each piece. A block processes several tiles at
/// once.
inline constexpr unsigned kWideAcross = 32;

template <class Job>
__global__ void __launch_bounds__(kWideThreads) for_each_wide_code(const __grid_constant__ Job job) {
    extern __shared__ __align__(sizeof(uint4)) unsigned short wide_codes[];
    compute_wide_codes(job, wide_codes);
    constexpr unsigned kAtOnce = 4;
    constexpr unsigned kRows = kWideThreads / kWideAcross;
    constexpr unsigned kOfPiece = sizeof(uint4) / 2;                              // codes
    const unsigned codes = job.target.width * job.target.format.stored.channels;  // of a row
    const bool has_alpha = job.target.format.stored.channels == 4;
    const unsigned across = (codes + kOfPiece * kWideAcross - 1) / (kOfPiece * kWideAcross);
    const unsigned tiles = across * ((job.target.height + kRows - 1) / kRows);
    const unsigned layer = job.texels.depth > 1 ? blockIdx.z : 0;
    for (unsigned first = blockIdx.x; first < tiles; first += kAtOnce * gridDim.x) {
        uint4 words[kAtOnce];
        unsigned byte[kAtOnce], y[kAtOnce];
        bool is_whole[kAtOnce];
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
            const unsigned tile = first + i * gridDim.x;
            byte[i] = (tile % across * kWideAcross + threadIdx.x % kWideAcross) * static_cast<unsigned>(sizeof(uint4));
            y[i] = tile < tiles ? tile / across * kRows + threadIdx.x / kWideAcross : job.target.height;
            is_whole[i] = byte[i] + sizeof(uint4) <= 2 * codes && y[i] < job.target.height;
            if (is_whole[i]) words[i] = load_piece<uint4>(job.texels, byte[i], y[i], layer);
        }
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
            std::byte* const to =
                job.target.address + blockIdx.z * job.target.slice_pitch + y[i] * job.target.pitch + byte[i];
            if (is_whole[i]) {
                const auto pair = [&](unsigned word, bool second_is_alpha) {
                    const unsigned second = second_is_alpha ? job.alpha(word >> 16) : wide_codes[word >> 16];
                    return wide_codes[word & 0xffff] | second << 16;
                };
                *reinterpret_cast<uint4*>(to) = make_uint4(pair(words[i].x, false), pair(words[i].y, has_alpha),
                                                           pair(words[i].z, false), pair(words[i].w, has_alpha));
            } else if (y[i] < job.target.height) {  // the last piece of a row
                for (unsigned at = byte[i]; at < 2 * codes; at += 2) {
                    const unsigned code = load_piece<unsigned short>(job.texels, at, y[i], layer);
                    const bool is_alpha = has_alpha && at / 2 % 4 == 3;
                    *reinterpret_cast<unsigned short*>(to + (at - byte[i])) =
                        static_cast<unsigned short>(is_alpha ? job.alpha(code) : wide_codes[code]);
                }
            }
        }
    }
}

}  // namespace texton::detail
