// bc_block.h: input and output of the decoders of compressed blocks.
#pragma once
#include <cstdint>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// A decoded texel. Normalized channels are in 1/65535 or 1/32767; channels of BC6H are the bits of a float16. A
/// channel that the format lacks is 0, a missing alpha is 1.
struct BlockTexel {
    std::int32_t channel[4];
};

/// Reads the bits of a block, beginning with the lowest: 64 bits for BC1 and BC4, 128 for the other formats.
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
