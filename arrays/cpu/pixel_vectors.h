// pixel_vectors.h: functions shared by vectorized sources: the canonical NaN of images, the whole part of numbers, and
// stores that bypass the caches.
//
// Included by vectorized sources once for each instruction set, inside its namespace. So there is no include guard.

// Replaces every NaN by kNanBits, as plain_bits_of() does.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> with_one_nan(D d, hwy::HWY_NAMESPACE::Vec<D> value) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::RebindToSigned<D> bits;
    const auto nan = hn::BitCast(d, hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(kNanBits)));
    return hn::IfThenElse(hn::IsNaN(value), nan, value);
}

// Returns the whole part of numbers. If it does not fit 32 bits, the result can be any number. Highway's conversions
// check that, which takes three instructions.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::RebindToSigned<D>> whole_part(D,
                                                                                     hwy::HWY_NAMESPACE::Vec<D> value) {
    namespace hn = hwy::HWY_NAMESPACE;
    using Whole = hn::RebindToSigned<D>;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    if constexpr (hn::MaxLanes(D()) == 16) return hn::Vec<Whole>{_mm512_cvttps_epi32(value.raw)};
#elif HWY_TARGET == HWY_AVX2
    if constexpr (hn::MaxLanes(D()) == 8) return hn::Vec<Whole>{_mm256_cvttps_epi32(value.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
    if constexpr (hn::MaxLanes(D()) == 4) return hn::Vec<Whole>{_mm_cvttps_epi32(value.raw)};
#endif
    return hn::ConvertTo(Whole(), value);
}

// Returns whether vectors can be stored from `to` on with stores that bypass the caches, which must be aligned.
template <class D>
HWY_INLINE bool begins_vector(D d, const void* to) {
    return reinterpret_cast<std::uintptr_t>(to) %
               (hwy::HWY_NAMESPACE::Lanes(d) * sizeof(hwy::HWY_NAMESPACE::TFromD<D>)) ==
           0;
}

// Stores a vector. A store that bypasses the caches does not read the memory first; it requires begins_vector(). After
// such stores, the caller must call hwy::FlushStream() before others read the memory. for_each_tile() does so.
template <bool past_caches, class D>
HWY_INLINE void store_vector_to(hwy::HWY_NAMESPACE::Vec<D> value, D d, hwy::HWY_NAMESPACE::TFromD<D>* to) {
    if constexpr (past_caches) {
        hwy::HWY_NAMESPACE::Stream(value, d, to);
    } else {
        hwy::HWY_NAMESPACE::StoreU(value, d, to);
    }
}
