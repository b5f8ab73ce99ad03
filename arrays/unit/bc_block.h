// bc_block.h: what the block decoders read and give.
#pragma once
#include <cstdint>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Normalized: 1/65535 or 1/32767. BC6H: bits of a float16. Channels that the format lacks are 0, alpha is 1.
struct BlockTexel {
    std::int32_t channel[4];
};

/// The 128 (BC1, BC4: 64) bits of a block, read from the lowest up.
class BlockBits {
public:
    TEXTON_HD BlockBits(const unsigned char* block, int bytes) {
        for (int i = 0; i < bytes; ++i) word_[i >> 3] |= static_cast<std::uint64_t>(block[i]) << (8 * (i & 7));
    }
    TEXTON_HD std::uint32_t at(int position, int count) const {
        const int word = position >> 6;
        const int shift = position & 63;
        std::uint64_t bits = word_[word] >> shift;
        if (shift + count > 64 && word == 0) bits |= word_[1] << (64 - shift);
        return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
    }
    TEXTON_HD std::uint32_t next(int count) {
        const std::uint32_t bits = at(position_, count);
        position_ += count;
        return bits;
    }
    TEXTON_HD int position() const { return position_; }

private:
    std::uint64_t word_[2] = {0, 0};
    int position_ = 0;
};

}  // namespace texton::detail
