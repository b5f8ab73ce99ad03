#include "kernels/cpu_code_sums.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu_code_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// As cpu_rows_simd.cpp: there are targets without vectors.
#if HWY_TARGET == HWY_SCALAR
SumRowsAsCodes sum_rows_as_codes_for() { return nullptr; }
#else
namespace {

#include "arrays/cpu_pixel_codes.h"

constexpr std::size_t kVectors = 4;  // at a time: a byte each of a word

// The bytes of words that hold a code of each of four vectors, in the order of these vectors.
HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, Word>> in_turns(hn::Vec<Word> words) {
    constexpr std::size_t kBlocks = hn::MaxLanes(kWord) / 4;
    HWY_ALIGN static constexpr std::uint8_t kOfVector[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    HWY_ALIGN std::int32_t lanes[hn::MaxLanes(kWord)];
    for (std::size_t i = 0; i < 4 * kBlocks; ++i) lanes[i] = static_cast<std::int32_t>(i % kBlocks * 4 + i / kBlocks);
    const hn::Repartition<std::uint8_t, Word> bytes;
    const auto by_vector = hn::TableLookupBytes(hn::BitCast(bytes, words), hn::LoadDup128(bytes, kOfVector));
    return hn::BitCast(bytes, hn::TableLookupLanes(hn::BitCast(kWord, by_vector), hn::SetTableIndices(kWord, lanes)));
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
    const auto code = [&](std::size_t v) HWY_ATTR { return hn::BitCast(kWord, unorm_of_float<255>(sum[v])); };
    const auto low = hn::Or(code(0), hn::ShiftLeft<8>(code(1)));
    const auto high = hn::Or(code(2), hn::ShiftLeft<8>(code(3)));
    const hn::Repartition<std::uint8_t, Word> bytes;
    hn::StoreU(in_turns(hn::Or(low, hn::ShiftLeft<16>(high))), bytes, codes + at);
}

void sum_rows_as_codes(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                       unsigned char* codes) {
    constexpr std::size_t kBlock = kVectors * hn::MaxLanes(kFloat);
    static_assert(kBlock <= kLeastCodeSums);
    std::size_t at = 0;
    for (; at + kBlock <= count; at += kBlock) sum_block(rows, weights, row_count, at, codes);
    if (at < count) sum_block(rows, weights, row_count, count - kBlock, codes);  // some once more
}

}  // namespace

SumRowsAsCodes sum_rows_as_codes_for() { return sum_rows_as_codes; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(sum_rows_as_codes_for);

SumRowsAsCodes row_sums_as_codes() { return HWY_DYNAMIC_DISPATCH(sum_rows_as_codes_for)(); }

}  // namespace texton::detail
#endif
