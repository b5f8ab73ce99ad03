// pixel_vectors.h: what vectors of pixels share: the one NaN of images, and stores past caches.
//
// Included by sources of vectors once for each instruction set, in its namespace: there is no guard.

// plain_bits_of(): kNanBits in place of any NaN.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> with_one_nan(D d, hwy::HWY_NAMESPACE::Vec<D> value) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::RebindToSigned<D> bits;
    const auto nan = hn::BitCast(d, hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(kNanBits)));
    return hn::IfThenElse(hn::IsNaN(value), nan, value);
}

// Whether whole vectors from `to` on can be stored past caches.
template <class D>
HWY_INLINE bool begins_vector(D d, const void* to) {
    return reinterpret_cast<std::uintptr_t>(to) %
               (hwy::HWY_NAMESPACE::Lanes(d) * sizeof(hwy::HWY_NAMESPACE::TFromD<D>)) ==
           0;
}

// A vector, written to memory without being read before if it goes past caches, which needs begins_vector(). Whoever does so
// calls hwy::FlushStream() before others read it: for_each_tile() does.
template <bool past_caches, class D>
HWY_INLINE void store_vector_to(hwy::HWY_NAMESPACE::Vec<D> value, D d, hwy::HWY_NAMESPACE::TFromD<D>* to) {
    if constexpr (past_caches) {
        hwy::HWY_NAMESPACE::Stream(value, d, to);
    } else {
        hwy::HWY_NAMESPACE::StoreU(value, d, to);
    }
}
