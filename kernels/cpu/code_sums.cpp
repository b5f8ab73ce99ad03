#include "kernels/cpu/code_sums.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/code_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// Some targets have no vectors (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR
SumRowsAsCodes sum_rows_as_codes_for() { return nullptr; }
const FusedSums* fused_sums_for() { return nullptr; }
#else
namespace {

#include "arrays/cpu/pixel_codes.h"

constexpr std::size_t kVectors = 4;  // vectors at a time: each becomes one byte of a word
constexpr std::size_t kAtOnce = kVectors * hn::MaxLanes(kFloat);

// Reorders the bytes of words that each contain one code of four vectors to the order of these vectors.
HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, Word>> in_turns(hn::Vec<Word> words) {
    constexpr std::size_t kBlocks = hn::MaxLanes(kWord) / 4;
    HWY_ALIGN static constexpr std::uint8_t kOfVector[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    HWY_ALIGN std::int32_t lanes[hn::MaxLanes(kWord)];
    for (std::size_t i = 0; i < 4 * kBlocks; ++i) lanes[i] = static_cast<std::int32_t>(i % kBlocks * 4 + i / kBlocks);
    const hn::Repartition<std::uint8_t, Word> bytes;
    const auto by_vector = hn::TableLookupBytes(hn::BitCast(bytes, words), hn::LoadDup128(bytes, kOfVector));
    return hn::BitCast(bytes, hn::TableLookupLanes(hn::BitCast(kWord, by_vector), hn::SetTableIndices(kWord, lanes)));
}

// Stores the lowest bytes of four vectors, one vector after the other.
HWY_INLINE void store_codes(const hn::Vec<Word> (&code)[kVectors], unsigned char* codes) {
    const auto low = hn::Or(code[0], hn::ShiftLeft<8>(code[1]));
    const auto high = hn::Or(code[2], hn::ShiftLeft<8>(code[3]));
    const hn::Repartition<std::uint8_t, Word> bytes;
    hn::StoreU(in_turns(hn::Or(low, hn::ShiftLeft<16>(high))), bytes, codes);
}

HWY_INLINE void sum_block(const float* const* rows, const float* weights, std::size_t row_count, std::size_t at,
                          unsigned char* codes) {
    FloatVector sum[kVectors];
    for (FloatVector& part : sum) part = hn::Zero(kFloat);
    for (std::size_t i = 0; i < row_count; ++i) {
        const FloatVector weight = hn::Set(kFloat, weights[i]);
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[v] = hn::Add(sum[v], hn::Mul(hn::LoadU(kFloat, rows[i] + at + v * hn::Lanes(kFloat)), weight));
    }
    hn::Vec<Word> code[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) code[v] = hn::BitCast(kWord, unorm_of_float<255>(sum[v]));
    store_codes(code, codes + at);
}

void sum_rows_as_codes(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                       unsigned char* codes) {
    static_assert(kAtOnce <= kMinCodeSums);
    std::size_t at = 0;
    for (; at + kAtOnce <= count; at += kAtOnce) sum_block(rows, weights, row_count, at, codes);
    if (at < count) sum_block(rows, weights, row_count, count - kAtOnce, codes);  // computes some codes twice
}

// --- fused -----------------------------------------------------------------------------------------------------------

static_assert(FusedSums::kBlock % kAtOnce == 0);

void widen_codes(const unsigned char* codes, std::size_t count, float* values) {
    const hn::Rebind<std::uint8_t, Float> bytes;
    std::size_t i = 0;
    for (; i + hn::Lanes(kFloat) <= count; i += hn::Lanes(kFloat))
        hn::StoreU(hn::ConvertTo(kFloat, hn::PromoteTo(kInt, hn::LoadU(bytes, codes + i))), kFloat, values + i);
    for (; i < count; ++i) values[i] = codes[i];
}

// Adds the weighted rows to `sum`. `row_at(i)` returns the address of the first value of row i.
template <class RowAt>
HWY_INLINE void add_fused(const RowAt& row_at, const float* weights, std::size_t row_count,
                          FloatVector (&sum)[kVectors]) {
    const std::size_t lanes = hn::Lanes(kFloat);
    for (std::size_t i = 0; i < row_count; ++i) {
        const FloatVector weight = hn::Set(kFloat, weights[i]);
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[v] = hn::MulAdd(hn::LoadU(kFloat, row_at(i) + v * lanes), weight, sum[v]);
    }
}

void sum_down(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums) {
    for (std::size_t at = 0; at < count; at += kAtOnce) {
        FloatVector sum[kVectors];
        for (FloatVector& part : sum) part = hn::Zero(kFloat);
        add_fused([&](std::size_t i) { return rows[i] + at; }, weights, row_count, sum);
        for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], kFloat, sums + at + v * hn::Lanes(kFloat));
    }
}

// Adds sums in 65536ths to one half plus `doubt`. The upper half of each word is then the code, unless the lower half
// is so small that the correct code may be the previous one. Returns a bit for each of these sums.
HWY_INLINE std::uint64_t sum_across_at_once(const float* sums, const float* weights, std::size_t taps,
                                            std::uint16_t doubt, unsigned char* codes) {
    using Half = hn::Repartition<std::uint16_t, Word>;
    constexpr Half kHalf;
    FloatVector sum[kVectors];
    for (FloatVector& part : sum) part = hn::Set(kFloat, 32768.0f + doubt);
    add_fused([&](std::size_t i) { return sums + 4 * i; }, weights, taps, sum);
    hn::Vec<Word> word[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) word[v] = hn::BitCast(kWord, whole_part(sum[v]));

    const auto halves = [](hn::Vec<Word> words) HWY_ATTR { return hn::BitCast(Half(), words); };
    const auto upper = [&](std::size_t v)
                           HWY_ATTR { return hn::OddEven(halves(word[v + 2]), halves(hn::ShiftRight<16>(word[v]))); };
    const auto lower = [&](std::size_t v)
                           HWY_ATTR { return hn::OddEven(halves(hn::ShiftLeft<16>(word[v + 2])), halves(word[v])); };
    const hn::Repartition<std::uint8_t, Word> bytes;
    hn::StoreU(in_turns(hn::BitCast(kWord, hn::Or(upper(0), hn::ShiftLeft<8>(upper(1))))), bytes, codes);

    const auto limit = static_cast<std::uint16_t>(2 * doubt);
    if (hn::AllFalse(kHalf, hn::Lt(hn::Min(lower(0), lower(1)), hn::Set(kHalf, limit)))) return 0;
    std::uint64_t doubtful = 0;
    for (std::size_t v = 0; v < kVectors; ++v) {
        const auto low = hn::BitCast(kInt, hn::And(word[v], hn::Set(kWord, 0xffff)));
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(kInt, hn::Lt(low, hn::Set(kInt, limit)), bits);
        std::uint64_t of_vector;
        std::memcpy(&of_vector, bits, sizeof of_vector);
        doubtful |= of_vector << v * hn::Lanes(kFloat);
    }
    return doubtful;
}

void sum_across(const float* sums, const float* weights, std::size_t taps, std::size_t count, std::uint16_t doubt,
                unsigned char* codes, std::uint64_t* doubtful) {
    for (std::size_t block = 0; block < count; block += FusedSums::kBlock) {
        const std::size_t at = std::min(block, count - FusedSums::kBlock);
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < FusedSums::kBlock; i += kAtOnce)
            bits |= sum_across_at_once(sums + at + i, weights, taps, doubt, codes + at + i) << i;
        *doubtful++ = bits;
    }
}

constexpr FusedSums kFusedSums{widen_codes, sum_down, sum_across};

}  // namespace

SumRowsAsCodes sum_rows_as_codes_for() { return sum_rows_as_codes; }
const FusedSums* fused_sums_for() { return &kFusedSums; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(sum_rows_as_codes_for);
HWY_EXPORT(fused_sums_for);

SumRowsAsCodes row_sums_as_codes() { return HWY_DYNAMIC_DISPATCH(sum_rows_as_codes_for)(); }

const FusedSums* fused_sums() { return HWY_DYNAMIC_DISPATCH(fused_sums_for)(); }

}  // namespace texton::detail
#endif
