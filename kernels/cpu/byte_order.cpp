#include "kernels/cpu/byte_order.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <texton/channel_codes.h>

#include "arrays/cpu/stores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/byte_order.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
ReorderBytes reorderer_for(const TexelFormat&, StoredFloats) { return nullptr; }
#else
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "arrays/cpu/pixel_vectors.h"

// Memory access dominates: vectors of 64 bytes took 1.5 times as long.
using Byte = hn::CappedTag<std::uint8_t, 32>;
using Float = hn::Repartition<float, Byte>;
constexpr Byte kByte;
constexpr Float kFloat;

using Half = hn::Repartition<std::int16_t, Byte>;
constexpr Half kHalf;

// The canonical NaN of float16 images is what that of float32 images is narrowed to.
HWY_INLINE hn::Vec<Half> with_one_half_nan(hn::Vec<Half> values) {
    const auto magnitude = hn::And(values, hn::Set(kHalf, 0x7fff));
    return hn::IfThenElse(hn::Gt(magnitude, hn::Set(kHalf, 0x7c00)), hn::Set(kHalf, kHalfNanBits), values);
}

HWY_INLINE hn::Vec<Half> with_positive_zeros(hn::Vec<Half> values) {
    return hn::IfThenZeroElse(hn::Eq(values, hn::Set(kHalf, INT16_MIN)), values);
}

template <StoredFloats floats>
HWY_INLINE hn::Vec<Half> stored_halves(hn::Vec<Half> values) {
    values = with_one_half_nan(values);
    return floats == StoredFloats::positive_zeros ? with_positive_zeros(values) : values;
}

template <StoredFloats floats>
HWY_INLINE hn::Vec<Float> stored_floats(hn::Vec<Float> values) {
    values = with_one_nan(kFloat, values);
    if constexpr (floats == StoredFloats::positive_zeros) return hn::Add(values, hn::Zero(kFloat));
    if constexpr (floats == StoredFloats::no_denormals) {
        const auto is_small = hn::Lt(hn::Abs(values), hn::Set(kFloat, std::numeric_limits<float>::min()));
        return hn::IfThenElse(is_small, hn::And(values, hn::Set(kFloat, -0.0f)), values);
    }
    return values;
}

// `float_bits`: of the floats that the bytes are, or 0.
template <int float_bits, StoredFloats floats = StoredFloats::keep>
void reorder(const ByteOrder& order, const unsigned char* from, std::size_t count, unsigned char* to,
             bool past_caches) {
    const auto positions = hn::LoadDup128(kByte, order.from);
    const auto set = hn::LoadDup128(kByte, order.set);
    const auto reordered = [&](const unsigned char* bytes) HWY_ATTR {
        const auto result = hn::Or(hn::TableLookupBytesOr0(hn::LoadU(kByte, bytes), positions), set);
        if constexpr (float_bits == 0) return result;
        if constexpr (float_bits == 16) return hn::BitCast(kByte, stored_halves<floats>(hn::BitCast(kHalf, result)));
        return hn::BitCast(kByte, stored_floats<floats>(hn::BitCast(kFloat, result)));
    };
    const std::size_t lanes = hn::Lanes(kByte);
    std::size_t i = 0;
    if (past_caches && from != to && begins_vector(kByte, to)) {
        for (; i + lanes <= count; i += lanes) store_vector_to<true>(reordered(from + i), kByte, to + i);
    }
    for (; i + lanes <= count; i += lanes) {
        prefetch_for_stores(to + std::min(i + kStoresAhead, count - 1));
        store_vector_to<false>(reordered(from + i), kByte, to + i);
    }
    if (i == count) return;
    unsigned char last[32] = {};
    std::memcpy(last, from + i, count - i);
    hn::StoreU(reordered(last), kByte, last);
    std::memcpy(to + i, last, count - i);
}

}  // namespace

ReorderBytes reorderer_for(const TexelFormat& format, StoredFloats floats) {
    if (format.encoding != Encoding::floating) return reorder<0>;
    const bool halves = format.bits == 16;
    switch (floats) {
        case StoredFloats::keep: return halves ? reorder<16> : reorder<32>;
        case StoredFloats::positive_zeros:
            return halves ? reorder<16, StoredFloats::positive_zeros> : reorder<32, StoredFloats::positive_zeros>;
        case StoredFloats::no_denormals: return halves ? reorder<16> : reorder<32, StoredFloats::no_denormals>;
    }
    return nullptr;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(reorderer_for);

ReorderBytes byte_reorderer(const TexelFormat& format, StoredFloats floats) {
    return HWY_DYNAMIC_DISPATCH(reorderer_for)(format, floats);
}

}  // namespace texton::detail
#endif
