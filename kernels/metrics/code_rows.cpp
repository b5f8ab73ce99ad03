#include "kernels/metrics/code_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/metrics/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/code_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

std::uint32_t add_row(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::size_t channels,
                      std::size_t compared, CodeDistances& sums, std::uint32_t* distances) {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < count * channels; i += channels) {
        std::uint32_t of_texel = 0;
        for (std::size_t c = 0; c < channels; ++c) {
            const std::uint32_t distance = c >= compared         ? 0
                                           : a[i + c] < b[i + c] ? b[i + c] - a[i + c]
                                                                 : a[i + c] - b[i + c];
            distances[i + c] = distance;
            of_texel |= distance;
            sums.differing[c] += distance != 0 ? 1 : 0;
            sums.sum[c] += distance;
            sums.squares[c] += std::uint64_t{distance} * distance;
            if (distance > sums.largest[c]) sums.largest[c] = distance;
            if (distance > largest) largest = distance;
            for (std::size_t bit = 0; distance >> bit != 0; ++bit) ++sums.at_least[bit];
        }
        sums.texels += of_texel != 0 ? 1 : 0;
    }
    return largest;
}

std::size_t value_row(const StoredValues&, const std::byte*, std::size_t, std::span<float* const>) { return 0; }

#else

using Tag = hn::ScalableTag<std::uint32_t>;
using Wide = hn::Repartition<std::uint64_t, Tag>;
using Vector = hn::Vec<Tag>;

// A vector has the channels of whole texels, so a lane always has the same channel: its number modulo `channels`.
class Distances {
public:
    Distances(std::size_t channels, std::size_t compared) : channels_(channels) {
        HWY_ALIGN std::uint32_t keep[hn::MaxLanes(Tag())];
        for (std::size_t lane = 0; lane < hn::Lanes(tag_); ++lane)
            keep[lane] = lane % channels < compared ? 0xffffffffU : 0;
        keep_ = hn::Load(tag_, keep);
    }

    Vector add(const std::uint32_t* a, const std::uint32_t* b) {
        const Vector first = hn::LoadU(tag_, a), second = hn::LoadU(tag_, b);
        const Vector distance = hn::And(keep_, hn::Sub(hn::Max(first, second), hn::Min(first, second)));
        const Vector square = hn::Mul(distance, distance);
        differing_ = hn::Sub(differing_, nonzero(distance));
        sum_ = hn::Add(sum_, distance);
        lower_squares_ = hn::Add(lower_squares_, hn::PromoteTo(wide_, hn::LowerHalf(square)));
        upper_squares_ = hn::Add(upper_squares_, hn::PromoteTo(wide_, hn::UpperHalf(half_, square)));
        largest_ = hn::Max(largest_, distance);
        Vector of_texel = distance;
        if (channels_ >= 2) of_texel = hn::Or(of_texel, hn::Shuffle2301(of_texel));
        if (channels_ == 4) of_texel = hn::Or(of_texel, hn::Shuffle1032(of_texel));
        texels_ = hn::Sub(texels_, nonzero(of_texel));
        return distance;
    }

    // Adds the sums of all lanes, and returns the largest distance.
    std::uint32_t add_to(CodeDistances& sums) const {
        constexpr std::size_t kMax = hn::MaxLanes(Tag());
        HWY_ALIGN std::uint32_t differing[kMax], sum[kMax], largest[kMax], texels[kMax];
        HWY_ALIGN std::uint64_t squares[kMax];
        const std::size_t lanes = hn::Lanes(tag_);
        hn::Store(differing_, tag_, differing);
        hn::Store(sum_, tag_, sum);
        hn::Store(largest_, tag_, largest);
        hn::Store(texels_, tag_, texels);
        hn::Store(lower_squares_, wide_, squares);
        hn::Store(upper_squares_, wide_, squares + lanes / 2);
        std::uint32_t largest_of_all = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t channel = lane % channels_;
            sums.differing[channel] += differing[lane];
            sums.sum[channel] += sum[lane];
            sums.squares[channel] += squares[lane];
            if (largest[lane] > sums.largest[channel]) sums.largest[channel] = largest[lane];
            if (largest[lane] > largest_of_all) largest_of_all = largest[lane];
            if (channel == 0) sums.texels += texels[lane];
        }
        return largest_of_all;
    }

private:
    // Returns -1, as an unsigned number, in the lanes that are not 0.
    Vector nonzero(Vector values) const { return hn::VecFromMask(tag_, hn::Ne(values, hn::Zero(tag_))); }

    static constexpr Tag tag_{};
    static constexpr Wide wide_{};
    static constexpr hn::Half<Tag> half_{};
    std::size_t channels_;
    Vector keep_;
    Vector differing_ = hn::Zero(tag_), sum_ = hn::Zero(tag_), largest_ = hn::Zero(tag_), texels_ = hn::Zero(tag_);
    hn::Vec<Wide> lower_squares_ = hn::Zero(wide_), upper_squares_ = hn::Zero(wide_);
};

std::uint32_t add_row(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::size_t channels,
                      std::size_t compared, CodeDistances& sums, std::uint32_t* distances) {
    const Tag tag;
    const std::size_t lanes = hn::Lanes(tag), values = count * channels;
    Distances row(channels, compared);
    std::size_t i = 0;
    for (; i + lanes <= values; i += lanes) hn::StoreU(row.add(a + i, b + i), tag, distances + i);
    if (i < values) {
        HWY_ALIGN std::uint32_t rest[3][hn::MaxLanes(Tag())] = {};
        std::memcpy(rest[0], a + i, (values - i) * sizeof *a);
        std::memcpy(rest[1], b + i, (values - i) * sizeof *b);
        hn::Store(row.add(rest[0], rest[1]), tag, rest[2]);
        std::memcpy(distances + i, rest[2], (values - i) * sizeof *distances);
    }
    const std::uint32_t largest = row.add_to(sums);
    const hn::RebindToSigned<Tag> numbers;
    for (std::size_t bit = 0; largest >> bit != 0; ++bit) {
        const std::uint32_t least = std::uint32_t{1} << bit;
        const auto below = hn::Set(numbers, static_cast<std::int32_t>(least) - 1);
        std::uint64_t found = 0;
        for (i = 0; i + lanes <= values; i += lanes)
            found += hn::CountTrue(numbers, hn::Gt(hn::BitCast(numbers, hn::LoadU(tag, distances + i)), below));
        for (; i < values; ++i) found += distances[i] >= least ? 1 : 0;
        sums.at_least[bit] += found;
    }
    return largest;
}

// The stored bits of the channels of as many texels as a vector has lanes.
template <int bits>
class StoredBits {
public:
    StoredBits(const std::byte* texels, std::size_t channels) {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(texels);
        switch (channels * bits) {
            case 8: words_[0] = promoted<std::uint8_t>(texels); break;
            case 16: words_[0] = promoted<std::uint16_t>(texels); break;
            case 32: words_[0] = hn::LoadU(tag_, words); break;
            case 64: hn::LoadInterleaved2(tag_, words, words_[0], words_[1]); break;
            default: hn::LoadInterleaved4(tag_, words, words_[0], words_[1], words_[2], words_[3]);
        }
    }

    Vector operator[](std::size_t channel) const {
        if constexpr (bits == 32) {
            return words_[channel];
        } else {
            constexpr std::size_t kInWord = 32 / bits;
            const Vector shifted =
                hn::ShiftRightSame(words_[channel / kInWord], static_cast<int>(channel % kInWord * bits));
            return hn::And(shifted, hn::Set(tag_, (1u << bits) - 1));
        }
    }

private:
    template <class T>
    static Vector promoted(const std::byte* texels) {
        const hn::Rebind<T, Tag> stored;
        return hn::PromoteTo(tag_, hn::LoadU(stored, reinterpret_cast<const T*>(texels)));
    }

    static constexpr Tag tag_{};
    Vector words_[4];
};

// Writes value_of(bits of a channel, channel) of vectors of texels. The last vector may overlap the one before it.
template <int bits, class ValueOf>
HWY_INLINE std::size_t value_vectors(const StoredValues& stored, const std::byte* texels, std::size_t count,
                                     std::span<float* const> values, const ValueOf& value_of) {
    const hn::RebindToFloat<Tag> floats;
    const std::size_t lanes = hn::Lanes(Tag()), texel_bytes = stored.channels * bits / 8;
    if (count < lanes) return 0;
    for (std::size_t i = 0; i < count; i += lanes) {
        i = std::min(i, count - lanes);
        const StoredBits<bits> channels(texels + i * texel_bytes, stored.channels);
        for (std::size_t c = 0; c < values.size(); ++c) hn::StoreU(value_of(channels[c], c), floats, values[c] + i);
    }
    return count;
}

template <int bits>
std::size_t integer_values(const StoredValues& stored, const std::byte* texels, std::size_t count,
                           std::span<float* const> values) {
    const Tag tag;
    const hn::RebindToSigned<Tag> numbers;
    const hn::RebindToFloat<Tag> floats;
    // See ordered_code(): codes of signed numbers have another first bit, and both codes of -1 become 1.
    const bool is_signed = stored.kind == FormatKind::sint || stored.kind == FormatKind::snorm;
    const auto flipped = hn::Set(tag, is_signed ? 1u << (bits - 1) : 0);
    const auto least = hn::Set(numbers, stored.kind == FormatKind::snorm ? 1 : 0);
    return value_vectors<bits>(stored, texels, count, values, [&](Vector channel, std::size_t c) HWY_ATTR {
        const auto code = hn::Max(hn::BitCast(numbers, hn::Xor(channel, flipped)), least);
        const auto distance = hn::Sub(code, hn::Set(numbers, stored.zeros[c]));
        return hn::Mul(hn::ConvertTo(floats, distance), hn::Set(floats, stored.factors[c]));
    });
}

template <int bits>
std::size_t float_values(const StoredValues& stored, const std::byte* texels, std::size_t count,
                         std::span<float* const> values) {
    const Tag tag;
    const hn::RebindToSigned<Tag> numbers;
    const hn::RebindToFloat<Tag> floats;
    const hn::Repartition<double, Tag> doubles;
    const hn::Half<decltype(floats)> half;
    constexpr std::uint32_t kSign = 1u << (bits - 1);
    const auto infinity = hn::Set(numbers, bits == 16 ? 0x7c00 : 0x7f800000);
    const auto scale = hn::Set(doubles, stored.scale), far_out = hn::Set(doubles, kFarOut);
    const auto scaled = [&](auto value) HWY_ATTR {
        const auto product = hn::Mul(hn::PromoteTo(doubles, value), scale);
        return hn::DemoteTo(half, hn::Min(hn::Max(product, hn::Neg(far_out)), far_out));
    };
    return value_vectors<bits>(stored, texels, count, values, [&](Vector channel, std::size_t) HWY_ATTR {
        const auto magnitude = hn::And(channel, hn::Set(tag, kSign - 1));
        const auto sign = hn::ShiftLeft<32 - bits>(hn::And(channel, hn::Set(tag, kSign)));
        auto value = hn::BitCast(floats, magnitude);
        if constexpr (bits == 16)  // the exponent of a float is biased by 112 more; the product is exact
            value = hn::Mul(hn::BitCast(floats, hn::ShiftLeft<13>(magnitude)), hn::Set(floats, 0x1p112f));
        value = hn::Or(value, hn::BitCast(floats, sign));
        const auto is_finite = hn::Lt(hn::BitCast(numbers, magnitude), infinity);
        value = hn::IfThenElseZero(hn::RebindMask(floats, is_finite), value);
        return hn::Combine(floats, scaled(hn::UpperHalf(half, value)), scaled(hn::LowerHalf(half, value)));
    });
}

std::size_t value_row(const StoredValues& stored, const std::byte* texels, std::size_t count,
                      std::span<float* const> values) {
    const bool is_float = stored.kind == FormatKind::floating;
    if (stored.bits == 8) return integer_values<8>(stored, texels, count, values);
    if (stored.bits == 16 && !is_float) return integer_values<16>(stored, texels, count, values);
    if (stored.bits == 16) return float_values<16>(stored, texels, count, values);
    return float_values<32>(stored, texels, count, values);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(add_row);
HWY_EXPORT(value_row);

std::uint32_t add_distances(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::size_t channels,
                            std::size_t compared, CodeDistances& sums, std::uint32_t* distances) {
    return HWY_DYNAMIC_DISPATCH(add_row)(a, b, count, channels, compared, sums, distances);
}

std::size_t values_of_texels(const StoredValues& stored, const std::byte* texels, std::size_t count,
                             std::span<float* const> values) {
    return HWY_DYNAMIC_DISPATCH(value_row)(stored, texels, count, values);
}

}  // namespace texton::detail
#endif
