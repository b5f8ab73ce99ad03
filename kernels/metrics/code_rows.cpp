#include "kernels/metrics/code_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/metrics/codes.h"
#include "kernels/metrics/difference_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/code_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::uint32_t code_of_channel(FormatKind kind, int bits, const std::byte* channel) {
    std::uint32_t stored = 0;
    std::memcpy(&stored, channel, static_cast<std::size_t>(bits) / 8);
    return ordered_code(kind, stored, bits);
}

std::uint32_t magnitude_of_code(std::uint32_t code, int bits) {
    const std::uint32_t zero = std::uint32_t{1} << (bits - 1);
    return code < zero ? zero - code : code - zero;
}

std::uint32_t infinity_of(int bits) { return bits == 16 ? 0x7c00 : 0x7f800000; }

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

LargestDifference difference_row(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, int bits,
                                 std::size_t channels, std::size_t compared, FloatDifferences& sums,
                                 double* differences, double* squares, std::uint32_t* distances) {
    LargestDifference largest{};
    for (std::size_t i = 0; i < count * channels; i += channels) {
        std::uint32_t of_texel = 0;
        for (std::size_t c = 0; c < channels; ++c) {
            const std::uint32_t first = a[i + c], second = b[i + c];
            const std::uint32_t distance = c >= compared ? 0 : first < second ? second - first : first - second;
            distances[i + c] = distance;
            if (distance == 0) continue;
            const double apart = std::abs(double{float_of_code(first, bits)} - double{float_of_code(second, bits)});
            const std::size_t lane = (i + c) % (kSegmentLanes * channels);
            differences[lane] += apart;
            squares[lane] += apart * apart;
            ++sums.differing[c];
            ++sums.histogram[static_cast<std::size_t>(std::bit_width(distance))];
            sums.largest[c] = std::max(sums.largest[c], distance);
            sums.max[c] = std::max(sums.max[c], apart);
            of_texel = std::max(of_texel, distance);
            largest.difference = std::max(largest.difference, apart);
        }
        sums.texels += of_texel != 0 ? 1 : 0;
        largest.ulp = std::max(largest.ulp, of_texel);
    }
    return largest;
}

bool finite_row(const std::uint32_t* codes, std::size_t count, int bits) {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, magnitude_of_code(codes[i], bits));
    return largest < infinity_of(bits);
}

void code_row(FormatKind kind, int bits, const std::byte* channels, std::size_t count, std::uint32_t* codes) {
    for (std::size_t i = 0; i < count; ++i, channels += static_cast<std::size_t>(bits) / 8)
        codes[i] = code_of_channel(kind, bits, channels);
}

std::size_t value_row(const StoredValues&, const std::byte*, std::size_t, std::span<float* const>) { return 0; }

#else

using Tag = hn::ScalableTag<std::uint32_t>;
using Wide = hn::Repartition<std::uint64_t, Tag>;
using Vector = hn::Vec<Tag>;

// Returns all bits of the lanes whose channels are compared.
HWY_INLINE Vector bits_of_compared(std::size_t channels, std::size_t compared) {
    HWY_ALIGN std::uint32_t keep[hn::MaxLanes(Tag())];
    for (std::size_t lane = 0; lane < hn::Lanes(Tag()); ++lane)
        keep[lane] = lane % channels < compared ? 0xffffffffU : 0;
    return hn::Load(Tag(), keep);
}

HWY_INLINE Vector distance_of(Vector a, Vector b) { return hn::Sub(hn::Max(a, b), hn::Min(a, b)); }

// Returns -1, as an unsigned number, in the lanes that are not 0.
HWY_INLINE Vector nonzero(Vector values) { return hn::VecFromMask(Tag(), hn::Ne(values, hn::Zero(Tag()))); }

// Returns a number that is not 0 in the lanes of texels in which any lane is not 0.
HWY_INLINE Vector over_texel(Vector values, std::size_t channels) {
    if (channels >= 2) values = hn::Or(values, hn::Shuffle2301(values));
    if (channels == 4) values = hn::Or(values, hn::Shuffle1032(values));
    return values;
}

// A vector has the channels of whole texels, so a lane always has the same channel: its number modulo `channels`.
class Distances {
public:
    Distances(std::size_t channels, std::size_t compared)
        : channels_(channels), keep_(bits_of_compared(channels, compared)) {}

    Vector add(const std::uint32_t* a, const std::uint32_t* b) {
        const Vector first = hn::LoadU(tag_, a), second = hn::LoadU(tag_, b);
        const Vector distance = hn::And(keep_, distance_of(first, second));
        const Vector square = hn::Mul(distance, distance);
        differing_ = hn::Sub(differing_, nonzero(distance));
        sum_ = hn::Add(sum_, distance);
        lower_squares_ = hn::Add(lower_squares_, hn::PromoteTo(wide_, hn::LowerHalf(square)));
        upper_squares_ = hn::Add(upper_squares_, hn::PromoteTo(wide_, hn::UpperHalf(half_, square)));
        largest_ = hn::Max(largest_, distance);
        texels_ = hn::Sub(texels_, nonzero(over_texel(distance, channels_)));
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

using Doubles = hn::Repartition<double, Tag>;

// Differences of vectors of finite floats, of which the lower and the upper half are added apart.
template <int bits>
class DifferencesOfFloats {
public:
    explicit DifferencesOfFloats(std::size_t channels) : channels_(channels) {}

    void add(Vector a, Vector b, Vector distance, double* differences, double* squares) {
        const auto first = values(a), second = values(b);
        differing_ = hn::Sub(differing_, nonzero(distance));
        largest_ = hn::Max(largest_, distance);
        texels_ = hn::Sub(texels_, nonzero(over_texel(distance, channels_)));
        const auto kept = hn::RebindMask(floats_, hn::Ne(distance, hn::Zero(tag_)));
        const auto one = hn::IfThenElseZero(kept, first), other = hn::IfThenElseZero(kept, second);
        add(hn::LowerHalf(half_, one), hn::LowerHalf(half_, other), 0, differences, squares);
        add(hn::UpperHalf(half_, one), hn::UpperHalf(half_, other), 1, differences, squares);
    }

    // Adds the sums of all lanes, and returns the largest difference.
    double add_to(FloatDifferences& sums) const {
        constexpr std::size_t kMax = hn::MaxLanes(Tag());
        HWY_ALIGN std::uint32_t differing[kMax], largest[kMax], texels[kMax];
        HWY_ALIGN double max[kMax];
        hn::Store(differing_, tag_, differing);
        hn::Store(largest_, tag_, largest);
        hn::Store(texels_, tag_, texels);
        hn::Store(max_[0], doubles_, max);
        hn::Store(max_[1], doubles_, max + hn::Lanes(doubles_));
        double largest_of_all = 0;
        for (std::size_t lane = 0; lane < hn::Lanes(tag_); ++lane) {
            const std::size_t channel = lane % channels_;
            sums.differing[channel] += differing[lane];
            sums.largest[channel] = std::max(sums.largest[channel], largest[lane]);
            sums.max[channel] = std::max(sums.max[channel], max[lane]);
            largest_of_all = std::max(largest_of_all, max[lane]);
            if (channel == 0) sums.texels += texels[lane];
        }
        return largest_of_all;
    }

private:
    // The same as float_of_code().
    static auto values(Vector codes) {
        const auto from_zero = hn::BitCast(numbers_, hn::Sub(codes, hn::Set(tag_, 1u << (bits - 1))));
        const auto sign = hn::And(hn::BitCast(tag_, from_zero), hn::Set(tag_, 0x80000000u));
        const auto magnitude = hn::BitCast(tag_, hn::Abs(from_zero));
        if constexpr (bits == 32) {
            return hn::BitCast(floats_, hn::Or(sign, magnitude));
        } else {
            const auto value = hn::BitCast(floats_, hn::Or(sign, hn::ShiftLeft<13>(magnitude)));
            return hn::Mul(value, hn::Set(floats_, 0x1p112f));
        }
    }

    template <class Half>
    void add(Half one, Half other, std::size_t which, double* differences, double* squares) {
        const auto apart = hn::Abs(hn::Sub(hn::PromoteTo(doubles_, one), hn::PromoteTo(doubles_, other)));
        const std::size_t at = which * hn::Lanes(doubles_);
        hn::StoreU(hn::Add(hn::LoadU(doubles_, differences + at), apart), doubles_, differences + at);
        hn::StoreU(hn::Add(hn::LoadU(doubles_, squares + at), hn::Mul(apart, apart)), doubles_, squares + at);
        max_[which] = hn::Max(max_[which], apart);
    }

    static constexpr Tag tag_{};
    static constexpr Doubles doubles_{};
    static constexpr hn::RebindToSigned<Tag> numbers_{};
    static constexpr hn::RebindToFloat<Tag> floats_{};
    static constexpr hn::Half<hn::RebindToFloat<Tag>> half_{};
    std::size_t channels_;
    Vector differing_ = hn::Zero(tag_), largest_ = hn::Zero(tag_), texels_ = hn::Zero(tag_);
    hn::Vec<Doubles> max_[2] = {hn::Zero(doubles_), hn::Zero(doubles_)};
};

// Counts values that are not 0 by their bits. Returns the largest.
HWY_INLINE std::uint32_t count_by_bits(const std::uint32_t* values, std::size_t count,
                                       std::array<std::uint64_t, 33>& histogram) {
    const Tag tag;
    const std::size_t lanes = hn::Lanes(tag);
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < count; i += lanes) {
        std::uint8_t bytes[8] = {};  // one bit for each lane
        hn::StoreMaskBits(tag, hn::Ne(hn::LoadU(tag, values + i), hn::Zero(tag)), bytes);
        std::uint64_t is_counted;
        std::memcpy(&is_counted, bytes, sizeof is_counted);
        for (; is_counted != 0; is_counted &= is_counted - 1) {
            const std::uint32_t value = values[i + static_cast<std::size_t>(std::countr_zero(is_counted))];
            ++histogram[static_cast<std::size_t>(std::bit_width(value))];
            largest = std::max(largest, value);
        }
    }
    return largest;
}

template <int bits>
LargestDifference differences_of_floats(const std::uint32_t* a, const std::uint32_t* b, std::size_t count,
                                        std::size_t channels, std::size_t compared, FloatDifferences& sums,
                                        double* differences, double* squares, std::uint32_t* distances) {
    const Tag tag;
    const std::size_t lanes = hn::Lanes(tag), values = count * channels, segment = kSegmentLanes * channels;
    const Vector keep = bits_of_compared(channels, compared);
    DifferencesOfFloats<bits> row(channels);
    for (std::size_t begin = 0; begin < values; begin += segment) {
        for (std::size_t lane = 0; lane < segment; lane += lanes) {
            const std::size_t i = begin + lane;
            const Vector one = hn::LoadU(tag, a + i), other = hn::LoadU(tag, b + i);
            const Vector distance = hn::And(keep, distance_of(one, other));
            hn::StoreU(distance, tag, distances + i);
            if (hn::AllTrue(tag, hn::Eq(distance, hn::Zero(tag)))) continue;
            row.add(one, other, distance, differences + lane, squares + lane);
        }
    }
    const double difference = row.add_to(sums);
    return {count_by_bits(distances, values, sums.histogram), difference};
}

LargestDifference difference_row(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, int bits,
                                 std::size_t channels, std::size_t compared, FloatDifferences& sums,
                                 double* differences, double* squares, std::uint32_t* distances) {
    const auto add = bits == 16 ? &differences_of_floats<16> : &differences_of_floats<32>;
    return add(a, b, count, channels, compared, sums, differences, squares, distances);
}

bool finite_row(const std::uint32_t* codes, std::size_t count, int bits) {
    const Tag tag;
    const hn::RebindToSigned<Tag> numbers;
    const auto zero = hn::Set(tag, 1u << (bits - 1));
    const std::size_t lanes = hn::Lanes(tag);
    Vector largest_of_lanes = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto from_zero = hn::BitCast(numbers, hn::Sub(hn::LoadU(tag, codes + i), zero));
        largest_of_lanes = hn::Max(largest_of_lanes, hn::BitCast(tag, hn::Abs(from_zero)));
    }
    HWY_ALIGN std::uint32_t magnitudes[hn::MaxLanes(Tag())];
    hn::Store(largest_of_lanes, tag, magnitudes);
    std::uint32_t largest = *std::max_element(magnitudes, magnitudes + lanes);
    for (; i < count; ++i) largest = std::max(largest, magnitude_of_code(codes[i], bits));
    return largest < infinity_of(bits);
}

// Writes the ordered codes of channels. The last vector may overlap the one before it.
template <class Stored, class CodeOf>
HWY_INLINE std::size_t code_vectors(const std::byte* channels, std::size_t count, std::uint32_t* codes,
                                    const CodeOf& code_of) {
    const Tag tag;
    const hn::Rebind<Stored, Tag> stored;
    const std::size_t lanes = hn::Lanes(tag);
    if (count < lanes) return 0;
    const auto* const from = reinterpret_cast<const Stored*>(channels);
    for (std::size_t i = 0; i < count; i += lanes) {
        i = std::min(i, count - lanes);
        if constexpr (sizeof(Stored) == sizeof(std::uint32_t))
            hn::StoreU(code_of(hn::LoadU(tag, from + i)), tag, codes + i);
        else
            hn::StoreU(code_of(hn::PromoteTo(tag, hn::LoadU(stored, from + i))), tag, codes + i);
    }
    return count;
}

template <class Stored>
HWY_INLINE std::size_t code_vectors(FormatKind kind, const std::byte* channels, std::size_t count,
                                    std::uint32_t* codes) {
    const Tag tag;
    constexpr int kBits = 8 * sizeof(Stored);
    const auto zero = hn::Set(tag, 1u << (kBits - 1));
    switch (kind) {
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb:
            return code_vectors<Stored>(channels, count, codes, [](Vector bits) HWY_ATTR { return bits; });
        case FormatKind::sint:
            return code_vectors<Stored>(channels, count, codes,
                                        [=](Vector bits) HWY_ATTR { return hn::Xor(bits, zero); });
        case FormatKind::snorm:
            return code_vectors<Stored>(channels, count, codes, [=](Vector bits) HWY_ATTR {
                return hn::Max(hn::Xor(bits, zero), hn::Set(tag, 1));
            });
        case FormatKind::floating: break;
    }
    const hn::RebindToSigned<Tag> numbers;
    const auto infinity = hn::Set(numbers, static_cast<std::int32_t>(infinity_of(kBits)));
    return code_vectors<Stored>(channels, count, codes, [=](Vector bits) HWY_ATTR {
        const auto magnitude = hn::AndNot(zero, bits);
        const auto is_negative = hn::Ne(hn::And(bits, zero), hn::Zero(tag));
        const auto code = hn::IfThenElse(is_negative, hn::Sub(zero, magnitude), hn::Add(zero, magnitude));
        const auto is_nan = hn::Gt(hn::BitCast(numbers, magnitude), infinity);
        return hn::IfThenElse(hn::RebindMask(tag, is_nan), hn::Set(tag, kNanCode), code);
    });
}

void code_row(FormatKind kind, int bits, const std::byte* channels, std::size_t count, std::uint32_t* codes) {
    const std::size_t done = bits == 8    ? code_vectors<std::uint8_t>(kind, channels, count, codes)
                             : bits == 16 ? code_vectors<std::uint16_t>(kind, channels, count, codes)
                                          : code_vectors<std::uint32_t>(kind, channels, count, codes);
    for (std::size_t i = done; i < count; ++i)
        codes[i] = code_of_channel(kind, bits, channels + i * static_cast<std::size_t>(bits) / 8);
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
HWY_EXPORT(difference_row);
HWY_EXPORT(finite_row);
HWY_EXPORT(code_row);
HWY_EXPORT(value_row);

std::uint32_t add_distances(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::size_t channels,
                            std::size_t compared, CodeDistances& sums, std::uint32_t* distances) {
    return HWY_DYNAMIC_DISPATCH(add_row)(a, b, count, channels, compared, sums, distances);
}

LargestDifference add_differences(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, int bits,
                                  std::size_t channels, std::size_t compared, FloatDifferences& sums,
                                  double* differences, double* squares, std::uint32_t* distances) {
    return HWY_DYNAMIC_DISPATCH(difference_row)(a, b, count, bits, channels, compared, sums, differences, squares,
                                                distances);
}

bool are_finite(const std::uint32_t* codes, std::size_t count, int bits) {
    return HWY_DYNAMIC_DISPATCH(finite_row)(codes, count, bits);
}

void codes_of_channels(FormatKind kind, int bits, const std::byte* channels, std::size_t count, std::uint32_t* codes) {
    HWY_DYNAMIC_DISPATCH(code_row)(kind, bits, channels, count, codes);
}

std::size_t values_of_texels(const StoredValues& stored, const std::byte* texels, std::size_t count,
                             std::span<float* const> values) {
    return HWY_DYNAMIC_DISPATCH(value_row)(stored, texels, count, values);
}

}  // namespace texton::detail
#endif
