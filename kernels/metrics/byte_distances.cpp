#include "kernels/metrics/byte_distances.h"

#include <algorithm>
#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/byte_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

std::uint32_t byte_row(FormatKind kind, const std::byte* a, const std::byte* b, std::size_t count, std::size_t channels,
                       std::size_t compared, CodeDistances& sums) {
    std::array<std::uint32_t, 4 * kMaxDistances> codes_a, codes_b, distances;
    codes_of_channels(kind, 8, a, count * channels, codes_a.data());
    codes_of_channels(kind, 8, b, count * channels, codes_b.data());
    return add_distances(codes_a.data(), codes_b.data(), count, channels, compared, sums, distances.data());
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Byte = hn::ScalableTag<std::uint8_t>;
using Short = hn::Repartition<std::uint16_t, Byte>;
using Word = hn::Repartition<std::uint32_t, Byte>;
using Bytes = hn::Vec<Byte>;

constexpr Byte kByte;
constexpr Short kShort;
constexpr Word kWord;
constexpr std::size_t kMaxVectors = 255;  // that one lane of 8 bits counts

// Sums of at most kMaxVectors vectors of distances. A lane always has the same channel.
class ByteSums {
public:
    explicit ByteSums(std::size_t channels) : channels_(channels) {}

    void add(Bytes distances) {
        differing_ = hn::Add(differing_, hn::Min(distances, hn::Set(kByte, 1)));
        largest_ = hn::Max(largest_, distances);
        const auto even = hn::And(hn::BitCast(kShort, distances), hn::Set(kShort, 0xff));
        const auto odd = hn::ShiftRight<8>(hn::BitCast(kShort, distances));
        sums_[0] = hn::Add(sums_[0], even);
        sums_[1] = hn::Add(sums_[1], odd);
        add_squares(even, 0);
        add_squares(odd, 1);
        if (channels_ == 4) texels_ += hn::CountTrue(kWord, hn::Ne(hn::BitCast(kWord, distances), hn::Zero(kWord)));
        if (channels_ == 2) texels_ += hn::CountTrue(kShort, hn::Ne(hn::BitCast(kShort, distances), hn::Zero(kShort)));
    }

    // Adds the sums of all lanes, and returns the largest distance.
    std::uint8_t add_to(CodeDistances& sums) const {
        constexpr std::size_t kMax = hn::MaxLanes(kByte);
        HWY_ALIGN std::uint8_t differing[kMax], largest[kMax];
        HWY_ALIGN std::uint16_t of_channel[2][kMax / 2];
        HWY_ALIGN std::uint32_t squares[4][kMax / 4];
        hn::Store(differing_, kByte, differing);
        hn::Store(largest_, kByte, largest);
        for (std::size_t i = 0; i < 2; ++i) hn::Store(sums_[i], kShort, of_channel[i]);
        for (std::size_t i = 0; i < 4; ++i) hn::Store(squares_[i], kWord, squares[i]);
        sums.texels += texels_;
        for (std::size_t lane = 0; lane < hn::Lanes(kByte); ++lane) {
            const std::size_t channel = lane % channels_;
            sums.differing[channel] += differing[lane];
            sums.sum[channel] += of_channel[lane % 2][lane / 2];
            sums.squares[channel] += squares[lane % 4][lane / 4];
            sums.largest[channel] = std::max<std::uint32_t>(sums.largest[channel], largest[lane]);
            if (channels_ == 1) sums.texels += differing[lane];
        }
        return *std::max_element(largest, largest + hn::Lanes(kByte));
    }

private:
    // Adds the squares of every second byte from byte `first` on.
    void add_squares(hn::Vec<Short> distances, std::size_t first) {
        const auto squares = hn::BitCast(kWord, hn::Mul(distances, distances));
        squares_[first] = hn::Add(squares_[first], hn::And(squares, hn::Set(kWord, 0xffff)));
        squares_[first + 2] = hn::Add(squares_[first + 2], hn::ShiftRight<16>(squares));
    }

    std::size_t channels_;
    std::uint64_t texels_ = 0;
    Bytes differing_ = hn::Zero(kByte), largest_ = hn::Zero(kByte);
    hn::Vec<Short> sums_[2] = {hn::Zero(kShort), hn::Zero(kShort)};
    hn::Vec<Word> squares_[4] = {hn::Zero(kWord), hn::Zero(kWord), hn::Zero(kWord), hn::Zero(kWord)};
};

// Distances of the codes of bytes.
class Distances {
public:
    Distances(FormatKind kind, std::size_t channels, std::size_t compared) {
        // See ordered_code(): codes of signed numbers have another first bit, and both codes of -1 become 1.
        const bool is_signed = kind == FormatKind::sint || kind == FormatKind::snorm;
        flipped_ = hn::Set(kByte, is_signed ? 0x80 : 0);
        least_ = hn::Set(kByte, kind == FormatKind::snorm ? 1 : 0);
        HWY_ALIGN std::uint8_t keep[hn::MaxLanes(kByte)];
        for (std::size_t lane = 0; lane < hn::Lanes(kByte); ++lane) keep[lane] = lane % channels < compared ? 0xff : 0;
        keep_ = hn::Load(kByte, keep);
    }

    Bytes operator()(const std::uint8_t* a, const std::uint8_t* b) const {
        const Bytes one = code(hn::LoadU(kByte, a)), other = code(hn::LoadU(kByte, b));
        return hn::And(keep_, hn::Or(hn::SaturatedSub(one, other), hn::SaturatedSub(other, one)));
    }

private:
    Bytes code(Bytes stored) const { return hn::Max(hn::Xor(stored, flipped_), least_); }

    Bytes flipped_;
    Bytes least_;
    Bytes keep_;
};

std::uint64_t count_at_least(std::uint8_t least, const std::uint8_t* distances, std::size_t count) {
    const Bytes minimum = hn::Set(kByte, least);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; i += hn::Lanes(kByte)) {
        const Bytes each = hn::Load(kByte, distances + i);
        found += hn::CountTrue(kByte, hn::Eq(hn::Max(each, minimum), each));
    }
    return found;
}

std::uint32_t byte_row(FormatKind kind, const std::byte* a, const std::byte* b, std::size_t count, std::size_t channels,
                       std::size_t compared, CodeDistances& sums) {
    const std::size_t lanes = hn::Lanes(kByte), bytes = count * channels;
    const auto* one = reinterpret_cast<const std::uint8_t*>(a);
    const auto* other = reinterpret_cast<const std::uint8_t*>(b);
    const Distances distances_of(kind, channels, compared);
    HWY_ALIGN std::uint8_t distances[4 * kMaxDistances];
    for (std::size_t i = 0; i + lanes <= bytes; i += lanes)
        hn::Store(distances_of(one + i, other + i), kByte, distances + i);
    const std::size_t whole = bytes / lanes * lanes, all = (bytes + lanes - 1) / lanes * lanes;
    if (whole < bytes) {
        std::uint8_t rest[2][hn::MaxLanes(kByte)] = {};
        std::memcpy(rest[0], one + whole, bytes - whole);
        std::memcpy(rest[1], other + whole, bytes - whole);
        hn::Store(distances_of(rest[0], rest[1]), kByte, distances + whole);
    }
    std::uint8_t largest = 0;
    for (std::size_t begin = 0; begin < all; begin += kMaxVectors * lanes) {
        ByteSums row(channels);
        for (std::size_t i = begin; i < std::min(all, begin + kMaxVectors * lanes); i += lanes)
            row.add(hn::Load(kByte, distances + i));
        largest = std::max(largest, row.add_to(sums));
    }
    for (std::size_t bit = 0; largest >> bit != 0; ++bit)
        sums.at_least[bit] += count_at_least(static_cast<std::uint8_t>(1 << bit), distances, all);
    return largest;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(byte_row);

std::uint32_t add_byte_distances(FormatKind kind, const std::byte* a, const std::byte* b, std::size_t count,
                                 std::size_t channels, std::size_t compared, CodeDistances& sums) {
    return HWY_DYNAMIC_DISPATCH(byte_row)(kind, a, b, count, channels, compared, sums);
}

}  // namespace texton::detail
#endif
