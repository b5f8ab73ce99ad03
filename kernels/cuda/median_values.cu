// Medians of texels whose format is that of the pixels, in one CUDA kernel that neither uses the texture unit nor
// shared memory.
//
// Warps process strips (kernels/cuda/value_strips.h). A thread keeps the rows of texels around a pixel in registers. It
// sorts the columns of its own texels, and gets the sorted columns beside them from other threads. Values of 8 and 16
// bits have the order of codes, two of which are compared by one instruction.
#include "kernels/cuda/median_values.h"

#include <optional>
#include <type_traits>

#include "kernels/cuda/value_strips.h"

namespace texton::filters {
namespace {

using detail::kValues;

// --- kinds of values -------------------------------------------------------------------------------------------------
//
// The four values of a thread are kept in kItems items, each of which has one or two values. Item n of a thread `lanes`
// to the right of this one is number n + lanes * kItems. The values `shift` to the right of those of an item are in one
// item, or in the upper half of one and the lower half of another one.

struct Halves {
    int low;  // number of the item; of the only one if both are equal
    int high;
};

/// Compares the upper and the lower halves of words separately.
struct ByCode {
    __device__ unsigned lower(unsigned first, unsigned second) const { return __vminu2(first, second); }
    __device__ unsigned higher(unsigned first, unsigned second) const { return __vmaxu2(first, second); }
};

TEXTON_HD constexpr int floor_half(int number) { return (number - (number & 1)) / 2; }

struct Codes8 {
    using Order = ByCode;
    using Format = detail::Unorm8;
    using Item = unsigned;
    static constexpr int kItems = 2;  // values 0 and 2, values 1 and 3

    TEXTON_HD static constexpr int item_of(int value) { return floor_half(floor_half(value)) * kItems + (value & 1); }
    TEXTON_HD static constexpr Halves beside(int item, int shift) {
        const int value = item + shift;  // the other one is value + 2
        return {item_of(value), item_of(value + 2)};
    }
    __device__ static void unpack(const unsigned (&words)[1], Item (&items)[kItems]) {
        items[0] = words[0] & 0x00ff00ff;
        items[1] = __byte_perm(words[0], 0, 0x4341);
    }
    __device__ static void pack(const Item (&items)[kItems], unsigned char (&results)[kValues]) {
        const unsigned word = items[0] | items[1] << 8;
        ::memcpy(results, &word, sizeof word);
    }
};

struct Codes16 {
    using Order = ByCode;
    using Format = detail::Unorm16;
    using Item = unsigned;
    static constexpr int kItems = 2;  // values 0 and 1, values 2 and 3

    TEXTON_HD static constexpr Halves beside(int item, int shift) {
        const int value = 2 * item + shift;  // the other one is value + 1
        return {floor_half(value), floor_half(value + 1)};
    }
    __device__ static void unpack(const unsigned (&words)[2], Item (&items)[kItems]) {
        items[0] = words[0];
        items[1] = words[1];
    }
    __device__ static void pack(const Item (&items)[kItems], unsigned short (&results)[kValues]) {
        ::memcpy(results, items, sizeof results);
    }
};

/// Values that are floats in registers.
template <class FormatOf>
struct Floats {
    using Order = ByMinimum;
    using Format = FormatOf;
    using Item = float;
    static constexpr int kItems = 4;

    TEXTON_HD static constexpr Halves beside(int item, int shift) { return {item + shift, item + shift}; }
    __device__ static void unpack(const unsigned (&words)[Format::kWords], Item (&items)[kItems]) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) items[i] = Format::value(words, i);
    }
    __device__ static void pack(const Item (&items)[kItems], typename Format::Stored (&results)[kValues]) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) results[i] = Format::stored(items[i], i);
    }
    __device__ static bool has_special(const Item (&items)[kItems]) {
        bool special = false;
#pragma unroll
        for (int i = 0; i < kItems; ++i) special |= is_special(items[i]);
        return special;
    }
};

/// Values of float16, as codes that have their order: the sign bit is flipped, and of negative values all bits.
struct Codes16OfFloats {
    using Order = ByCode;
    using Format = detail::Float16;
    using Item = unsigned;
    static constexpr int kItems = 2;

    TEXTON_HD static constexpr Halves beside(int item, int shift) { return Codes16::beside(item, shift); }
    __device__ static void unpack(const unsigned (&words)[2], Item (&items)[kItems]) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) items[i] = words[i] ^ flipped(words[i] >> 15);
    }
    /// Writes the bits of the values.
    __device__ static void restore(const Item (&items)[kItems], unsigned (&words)[2]) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) words[i] = items[i] ^ flipped(~items[i] >> 15);
    }
    __device__ static void pack(const Item (&items)[kItems], unsigned short (&results)[kValues]) {
        unsigned words[2];
        restore(items, words);
        ::memcpy(results, words, sizeof results);
    }
    /// NaNs have the highest and the lowest codes, and a negative zero has the code 0x7fff.
    __device__ static bool has_special(const Item (&items)[kItems]) {
        bool special = false;
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
            special |= __vmaxu2(items[i], 0xfc00fc00) != 0xfc00fc00 || __vminu2(items[i], 0x03ff03ff) != 0x03ff03ff ||
                       __vminu2(items[i] ^ 0x7fff7fff, 0x00010001) != 0x00010001;
        }
        return special;
    }

private:
    // The lowest bits of both halves are 1 where the value is negative.
    __device__ static unsigned flipped(unsigned is_negative) {
        return (is_negative & 0x00010001) * 0x7fff | 0x80008000;
    }
};

/// Some values do not have the order Values::Order.
template <class Values>
constexpr bool kHasSpecial = std::is_same_v<typename Values::Format, detail::Float16> ||
                             std::is_same_v<typename Values::Format, detail::Float32>;

/// Returns true if the values of a thread depend on the item of another one.
template <class Values, int channels, int radius>
TEXTON_HD constexpr bool is_needed(int number) {
    for (int item = 0; item < Values::kItems; ++item) {
        for (int tap = -radius; tap <= radius; ++tap) {
            const Halves halves = Values::beside(item, tap * channels);
            if (halves.low == number || halves.high == number) return true;
        }
    }
    return false;
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <class Values, int channels, int radius>
struct Rows {
    static constexpr int kSide = 2 * radius + 1;
    static constexpr int kItems = Values::kItems;
    static constexpr int kBeside = detail::threads_with(radius * channels);
    using Item = typename Values::Item;

    Item items[kSide][kItems];

    template <class Order>
    __device__ void find_medians(std::int32_t lane, const Order& order, Item (&results)[kItems]) const {
        constexpr unsigned kAll = 0xffffffff;
        Item columns[2 * kBeside + 1][kItems][kSide];
#pragma unroll
        for (int item = 0; item < kItems; ++item) {
            Item column[kSide];
#pragma unroll
            for (int row = 0; row < kSide; ++row) column[row] = items[row][item];
            sort(column, order);
#pragma unroll
            for (int row = 0; row < kSide; ++row) columns[kBeside][item][row] = column[row];
        }
        detail::repeat<(2 * kBeside + 1) * kItems>([&]<int number>() {
            constexpr int lanes = number / kItems - kBeside;
            constexpr int item = number % kItems;
            if constexpr (lanes != 0 && is_needed<Values, channels, radius>(lanes * kItems + item)) {
#pragma unroll
                for (int row = 0; row < kSide; ++row) {
                    columns[kBeside + lanes][item][row] = __shfl_sync(kAll, columns[kBeside][item][row], lane + lanes);
                }
            }
        });
        detail::repeat<kItems>([&]<int item>() {
            Item square[kSide][kSide];
            detail::repeat<kSide>([&]<int tap>() {
                constexpr Halves halves = Values::beside(item, (tap - radius) * channels);
                constexpr int low = halves.low + kBeside * kItems;
                constexpr int high = halves.high + kBeside * kItems;
#pragma unroll
                for (int row = 0; row < kSide; ++row) {
                    square[tap][row] = columns[low / kItems][low % kItems][row];
                    if constexpr (low != high) {
                        square[tap][row] =
                            __byte_perm(square[tap][row], columns[high / kItems][high % kItems][row], 0x5432);
                    }
                }
            });
            results[item] = median_of_columns(square, order);
        });
    }
};

/// Returns true if the warp has a value that Values::Order does not order.
template <class Values>
__device__ bool warp_has_special(const typename Values::Item (&items)[Values::kItems]) {
    if constexpr (kHasSpecial<Values>) return __any_sync(0xffffffff, Values::has_special(items)) != 0;
    return false;
}

/// Finds medians that include special values.
template <int channels, int radius>
__device__ void find_special(const Rows<Floats<detail::Float32>, channels, radius>& rows, std::int32_t lane,
                             float (&medians)[kValues]) {
    rows.find_medians(lane, ByComparison{}, medians);
}
/// Not inlined, so that the kernel does not need the registers of the floats.
template <int channels, int radius>
__device__ __noinline__ void find_special(Rows<Codes16OfFloats, channels, radius> rows, std::int32_t lane,
                                          unsigned (&medians)[2]) {
    using Values = Floats<detail::Float16>;
    Rows<Values, channels, radius> floats;
#pragma unroll
    for (int row = 0; row < 2 * radius + 1; ++row) {
        unsigned words[2];
        Codes16OfFloats::restore(rows.items[row], words);
        Values::unpack(words, floats.items[row]);
    }
    float found[kValues];
    floats.find_medians(lane, ByComparison{}, found);
    unsigned short stored[kValues];
    Values::pack(found, stored);
    unsigned words[2];
    ::memcpy(words, stored, sizeof words);
    Codes16OfFloats::unpack(words, medians);
}

template <class Values, int channels, int radius>
__global__ void __launch_bounds__(detail::kStripLanes* detail::kStripWarps)
    find_medians(const __grid_constant__ detail::ValueStrips strips) {
    using Format = typename Values::Format;
    using Stored = typename Format::Stored;
    using Rows = Rows<Values, channels, radius>;
    using Item = typename Values::Item;
    constexpr int kSide = Rows::kSide;
    const detail::ValueStrip<channels, Rows::kBeside> strip(strips);
    if (strip.y >= strip.end) return;

    Rows rows;                       // around the next pixel
    unsigned special = 0;            // bit n: the nth row before the newest one has special values
    unsigned words[Format::kWords];  // of the row after the newest one
    const auto load = [&](std::int32_t row) { strips.load<Format, channels>(strip.x, row, strip.z, words); };
    const auto add_row = [&](std::int32_t next) {
#pragma unroll
        for (int row = 1; row < kSide; ++row) {
#pragma unroll
            for (int item = 0; item < Values::kItems; ++item) rows.items[row - 1][item] = rows.items[row][item];
        }
        Values::unpack(words, rows.items[kSide - 1]);
        load(next);  // is not needed before the medians of this row are found
        special = special << 1 | static_cast<unsigned>(warp_has_special<Values>(rows.items[kSide - 1]));
    };
    load(strip.y - radius);
    for (std::int32_t row = strip.y - radius; row < strip.y + radius; ++row) add_row(row + 1);
    std::byte* to = strip.template address<Stored>(strips.target);
#pragma unroll 1
    for (std::int32_t row = strip.y; row < strip.end; ++row, to += strips.target.pitch) {
        add_row(row + radius + 1);
        Item medians[Values::kItems];
        const typename Values::Order order{};
        if constexpr (kHasSpecial<Values>) {
            if ((special & ((1u << kSide) - 1)) == 0) {
                rows.find_medians(strip.lane, order, medians);
            } else {
                find_special(rows, strip.lane, medians);
            }
        } else {
            rows.find_medians(strip.lane, order, medians);
        }
        Stored results[kValues];
        Values::pack(medians, results);
        strip.template store<typename Format::Words>(to, results);
    }
}

template <class Values, int radius>
bool enqueue(const detail::Launch& launch, detail::ValueStrips strips) {
    using Format = typename Values::Format;
    if (!detail::has_aligned_values<Format>(strips.texels)) return false;
    const auto with_channels = [&]<int channels>(std::integral_constant<int, channels>) {
        using Strip = detail::ValueStrip<channels, detail::threads_with(radius * channels)>;
        detail::launch_strips<Strip, channels>(
            launch, reinterpret_cast<const void*>(&find_medians<Values, channels, radius>), strips, strips,
            radius > 1                             ? 32
            : sizeof(typename Format::Stored) == 1 ? 16
                                                   : 8);
    };
    switch (strips.target.format.stored.channels) {
        case 1: with_channels(std::integral_constant<int, 1>{}); break;
        case 2: with_channels(std::integral_constant<int, 2>{}); break;
        default: with_channels(std::integral_constant<int, 4>{}); break;
    }
    return true;
}

}  // namespace

template <int side>
bool enqueue_values(const detail::Launch& launch, const Median<side>&) {
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips) return false;
    // sRGB values have the order of their codes too.
    if (strips->target.format.stored.encoding == detail::Encoding::srgb)
        return enqueue<Codes8, side / 2>(launch, *strips);
    return detail::with_stored_values(strips->target.format.stored, [&]<class Format, int channels>() {
        if constexpr (std::is_base_of_v<detail::Unorm8, Format>) return enqueue<Codes8, side / 2>(launch, *strips);
        if constexpr (std::is_same_v<Format, detail::Unorm16>) return enqueue<Codes16, side / 2>(launch, *strips);
        if constexpr (std::is_same_v<Format, detail::Float16>)
            return enqueue<Codes16OfFloats, side / 2>(launch, *strips);
        if constexpr (std::is_same_v<Format, detail::Float32>)
            return enqueue<Floats<Format>, side / 2>(launch, *strips);
    });
}

template bool enqueue_values(const detail::Launch& launch, const Median<3>& filter);
template bool enqueue_values(const detail::Launch& launch, const Median<5>& filter);

}  // namespace texton::filters
