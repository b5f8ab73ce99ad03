#pragma once
// Strips of an image whose pixels have the format of the texels. For code that nvcc compiles.
//
// A row is a sequence of stored values, with the channels of a texel after one another. A warp processes adjacent
// values of the image from top to bottom, four for each thread. A thread loads four values of a row, and gets the
// values beside them from the other threads of the warp. The threads at both ends of the warp only load values.
#include <optional>
#include <utility>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/stored_values.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {

inline constexpr int kStripLanes = 32;
inline constexpr int kStripWarps = 8;             // of a block
inline constexpr int kMaxValuesBefore = 1 << 24;  // before the first value of a row, that threads may load

/// Words that a function returns.
template <int count>
struct LoadedWords {
    unsigned of[count];
};

/// Part of the argument of a kernel.
struct ValueStrips {
    PixelTarget texels;
    PixelTarget target;
    StoredIn in;  // the texels
    bool layered;
    std::int32_t rows;  // that a warp processes
    bool has_pairs;     // two groups of kValues values, from a multiple of 2 * kValues on, can be loaded at once
    bool stores_words;  // the values of a thread can be stored at once

    /// Loads `groups` groups of kValues values of a row from `first` on, a multiple of kValues. Values beyond the edges
    /// are those of the texels at the edges.
    template <class Format, int channels, int groups = 1>
    __device__ void load(std::int32_t first, std::int32_t row, unsigned z,
                         unsigned (&words)[groups * Format::kWords]) const {
        const std::int32_t end = static_cast<std::int32_t>(texels.width) * channels;
        const auto y = static_cast<unsigned>(::min(::max(row, 0), static_cast<std::int32_t>(texels.height) - 1));
        const unsigned layer = layered ? z : 0;
        if constexpr (groups == 2) {
            if (has_pairs && (end % (2 * kValues) == 0 || ::max(first, 0) + 2 * kValues <= end)) {
                using Pair = std::conditional_t<sizeof(typename Format::Words) < sizeof(uint4),
                                                PairOfWords<typename Format::Words>, typename Format::Words>;
                load_inside<Pair, Format, channels, groups>(first, end, y, layer, words);
                return;
            }
            const LoadedWords<2 * Format::kWords> apart = load_apart<Format, channels>(*this, first, row, z);
            ::memcpy(words, apart.of, sizeof apart.of);
        } else if (end % kValues == 0 || ::max(first, 0) + kValues <= end) {
            load_inside<typename Format::Words, Format, channels, 1>(first, end, y, layer, words);
        } else {
            const LoadedWords<Format::kWords> values = load_end<Format, channels>(in, texels, first, y, layer);
            ::memcpy(words, values.of, sizeof values.of);
        }
    }

private:
    // Loads groups that are inside the row or completely beyond an edge.
    template <class Loaded, class Format, int channels, int groups>
    __device__ void load_inside(std::int32_t first, std::int32_t end, unsigned y, unsigned layer,
                                unsigned (&words)[groups * Format::kWords]) const {
        const std::int32_t at = ::min(::max(first, 0), end - groups * kValues);
        constexpr int kLoads = sizeof words / sizeof(Loaded);
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            const auto loaded = load_stored<Loaded>(
                in, texels, static_cast<unsigned>(at) * sizeof(typename Format::Stored) + i * sizeof(Loaded), y, layer);
            ::memcpy(words + i * (sizeof(Loaded) / sizeof(unsigned)), &loaded, sizeof loaded);
        }
        if (at == first) return;
        const bool is_after = at < first;
        if constexpr (groups == 2) {
#pragma unroll
            for (int word = 0; word < Format::kWords; ++word) {
                const unsigned at_edge = is_after ? words[Format::kWords + word] : words[word];
                words[word] = words[Format::kWords + word] = at_edge;
            }
        }
#pragma unroll
        for (int group = 0; group < groups; ++group)
            Format::template repeat<channels>(words + group * Format::kWords, is_after);
    }

    // The next two functions are rarely called. They are not inlined, because large kernels are slow.

    // Loads two groups, each by itself.
    template <class Format, int channels>
    __device__ __noinline__ static LoadedWords<2 * Format::kWords> load_apart(const ValueStrips& strips,
                                                                              std::int32_t first, std::int32_t row,
                                                                              unsigned z) {
        unsigned group[2][Format::kWords];
        strips.load<Format, channels>(first, row, z, group[0]);
        strips.load<Format, channels>(first + kValues, row, z, group[1]);
        LoadedWords<2 * Format::kWords> words;
        ::memcpy(words.of, group, sizeof group);
        return words;
    }

    // Loads a group that begins inside the row or after it, value by value.
    template <class Format, int channels>
    __device__ __noinline__ static LoadedWords<Format::kWords> load_end(StoredIn in, const PixelTarget& texels,
                                                                        std::int32_t first, unsigned y,
                                                                        unsigned layer) {
        using Stored = typename Format::Stored;
        using Code = std::conditional_t<sizeof(Stored) == 4, unsigned, Stored>;
        constexpr int kOfWord = sizeof(unsigned) / sizeof(Code);
        const std::int32_t end = static_cast<std::int32_t>(texels.width) * channels;
        Code codes[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) {
            const std::int32_t channel = (first + i + kMaxValuesBefore) % channels;
            const std::int32_t at = ::min(::max(first + i, channel), end - channels + channel);
            codes[i] = load_stored<Code>(in, texels, static_cast<unsigned>(at) * sizeof(Code), y, layer);
        }
        LoadedWords<Format::kWords> words{};
#pragma unroll
        for (int i = 0; i < kValues; ++i)
            words.of[i / kOfWord] |= static_cast<unsigned>(codes[i])
                                     << (i % kOfWord * 8 * static_cast<int>(sizeof(Code)));
        return words;
    }
};

/// Returns how many threads have `values` adjacent values, of which each has `of_thread`.
TEXTON_HD constexpr int threads_with(int values, int of_thread = kValues) {
    return (values + of_thread - 1) / of_thread;
}

/// Calls a function with each number from 0 to count - 1 as its template argument.
template <int count, class Call>
__device__ void repeat(const Call& call) {
    [&]<int... i>(std::integer_sequence<int, i...>) { (call.template operator()<i>(), ...); }
    (std::make_integer_sequence<int, count>{});
}

/// The `count` values that a thread processes. It needs the values of `beside` threads on both sides.
template <int channels, int beside, int count = kValues>
struct ValueStrip {
    static constexpr int kBeside = beside;
    static constexpr int kAcross = (kStripLanes - 2 * kBeside) * count;  // values of a warp

    std::int32_t lane;
    std::int32_t x;  // first value of the thread
    std::int32_t y;  // first row of the warp
    std::int32_t end;
    unsigned z;
    std::int32_t left;  // values of the image from x on
    bool stores;
    bool stores_words;

    __device__ explicit ValueStrip(const ValueStrips& strips) : lane(static_cast<std::int32_t>(threadIdx.x)) {
        const auto values = static_cast<std::int32_t>(strips.target.width) * channels;
        const auto blocks_across = static_cast<unsigned>((values + kAcross - 1) / kAcross);
        x = static_cast<std::int32_t>(blockIdx.x % blocks_across) * kAcross + (lane - kBeside) * count;
        y = static_cast<std::int32_t>(blockIdx.x / blocks_across * kStripWarps + threadIdx.y) * strips.rows;
        end = ::min(y + strips.rows, static_cast<std::int32_t>(strips.target.height));
        z = blockIdx.z;
        left = values - x;
        stores = lane >= kBeside && lane < kStripLanes - kBeside && left > 0;
        stores_words = strips.stores_words && left >= count;
    }

    /// Returns the address of the first value in the first row.
    template <class Stored>
    __device__ std::byte* address(const PixelTarget& target) const {
        return target.address + z * target.slice_pitch + static_cast<unsigned>(y) * target.pitch +
               static_cast<std::int64_t>(x) * static_cast<std::int64_t>(sizeof(Stored));
    }
    /// Stores the values that are inside the image.
    template <class Words, class Stored>
    __device__ void store(std::byte* to, const Stored (&results)[count]) const {
        if (!stores) return;
        if (stores_words) {
            Words packed;
            ::memcpy(&packed, results, sizeof packed);
            *reinterpret_cast<Words*>(to) = packed;
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                if (i < left) reinterpret_cast<Stored*>(to)[i] = results[i];
            }
        }
    }
};

/// Returns the strips of a launch with one texture, without the rows. Returns nothing if the formats of the texture and
/// the image differ, if a sampler does not clamp coordinates, or if texels cannot be read as they are stored.
[[nodiscard]] std::optional<ValueStrips> value_strips(const Launch& launch);

/// Enqueues a kernel whose only argument is `job`, which contains `strips`. A warp processes `wanted_rows` rows if the
/// image is large.
template <class Strip, int channels, class Job>
void launch_strips(const Launch& launch, const void* kernel, Job& job, ValueStrips& strips, unsigned wanted_rows) {
    constexpr unsigned kAcross = Strip::kAcross;
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const PixelTarget& target = strips.target;
    const unsigned across = parts(target.width * channels, kAcross);
    const unsigned rows = rows_of_runs(launch, {across * target.depth, target.height, kStripWarps, wanted_rows});
    strips.rows = static_cast<std::int32_t>(rows);
    const unsigned blocks = across * parts(target.height, rows * kStripWarps);
    void* arguments[] = {&job};
    launch_blocks({&launch, 1}, kernel, arguments, {{blocks, 1, target.depth}, {kStripLanes, kStripWarps}});
}

}  // namespace texton::detail
