// bc_partitioned.h: decodes one texel of a BC6H or BC7 block, bit-exact to the specification of these formats.
// Recordings: rand_bc6hs_f0, rand_bc7_f0.
#pragma once
#include <cstdint>

#include "arrays/unit/bc_block.h"
#include "arrays/unit/bc_tables.h"

namespace texton::detail {

// --- BC7 -------------------------------------------------------------------------------------------------------------

/// Returns the index of the subset that contains a texel.
TEXTON_HD inline int subset_of(int subsets, int partition, int texel) {
    if (subsets == 2) return bc_partition2(partition) >> texel & 1;
    if (subsets == 3) return static_cast<int>(bc_partition3(partition) >> (2 * texel) & 3);
    return 0;
}

/// Returns the anchor of a subset: the texel whose index has one bit less.
TEXTON_HD inline int anchor_of(int subsets, int partition, int subset) {
    if (subset == 0) return 0;
    if (subsets == 2) return bc_anchor2(partition);
    return bc_anchor3(partition, subset);
}

/// Returns the index of `texel` from a list of `width`-bit indices that starts at bit `base`. Indices of anchors have
/// one bit less.
TEXTON_HD inline int read_index(const BlockBits& bits, int base, int width, int subsets, int partition, int texel) {
    int position = base;
    for (int i = 0; i < texel; ++i) position += width;
    bool is_anchor = false;
    for (int s = 0; s < subsets; ++s) {
        const int anchor = anchor_of(subsets, partition, s);
        if (anchor < texel) --position;
        if (anchor == texel) is_anchor = true;
    }
    return static_cast<int>(bits.at(position, is_anchor ? width - 1 : width));
}

TEXTON_HD inline int bc7_blend(int low, int high, int index, int width) {
    return ((64 - bc_weight(index, width)) * low + bc_weight(index, width) * high + 32) >> 6;
}

TEXTON_HD inline int bc7_widen(int value, int bits) {
    const int top = value << (8 - bits);
    return top | top >> bits;
}

TEXTON_HD inline BlockTexel decode_bc7(BlockBits bits, int texel) {
    int mode = 0;
    while (mode < 8 && bits.next(1) == 0) ++mode;
    if (mode == 8) return {{0, 0, 0, 0}};
    const Bc7Mode m = bc7_mode(mode);
    const int partition = static_cast<int>(bits.next(m.partition_bits));
    const int rotation = static_cast<int>(bits.next(m.rotation_bits));
    const int index_selection = static_cast<int>(bits.next(m.index_selection_bits));
    const int subset = subset_of(m.subsets, partition, texel);
    int ends[2][4];
    const int end_count = 2 * m.subsets;
    for (int c = 0; c < 4; ++c) {
        const int width = c < 3 ? m.color_bits : m.alpha_bits;
        for (int e = 0; e < end_count; ++e) {
            const int value = static_cast<int>(bits.next(width));
            if (e >> 1 == subset) ends[e & 1][c] = width ? value : 255;
        }
    }
    int p[2] = {0, 0};
    for (int e = 0; e < end_count && m.p_bits_each; ++e) {
        const int bit = static_cast<int>(bits.next(1));
        if (e >> 1 == subset) p[e & 1] = bit;
    }
    for (int s = 0; s < m.subsets && m.p_bits_shared; ++s) {
        const int bit = static_cast<int>(bits.next(1));
        if (s == subset) p[0] = p[1] = bit;
    }
    const int has_p = m.p_bits_each | m.p_bits_shared;
    for (int e = 0; e < 2; ++e) {
        for (int c = 0; c < 4; ++c) {
            const int width = c < 3 ? m.color_bits : m.alpha_bits;
            if (width == 0) continue;
            const int value = has_p ? ends[e][c] << 1 | p[e] : ends[e][c];
            ends[e][c] = bc7_widen(value, width + has_p);
        }
    }
    const int base = bits.position();
    const int first = read_index(bits, base, m.index_bits, m.subsets, partition, texel);
    int color_index = first, color_width = m.index_bits, alpha_index = first, alpha_width = m.index_bits;
    if (m.second_index_bits) {
        const int second_base = base + 16 * m.index_bits - m.subsets;
        const int second = read_index(bits, second_base, m.second_index_bits, 1, 0, texel);
        alpha_index = second;
        alpha_width = m.second_index_bits;
        if (index_selection) {
            color_index = second;
            color_width = m.second_index_bits;
            alpha_index = first;
            alpha_width = m.index_bits;
        }
    }
    BlockTexel result;
    for (int c = 0; c < 3; ++c) result.channel[c] = bc7_blend(ends[0][c], ends[1][c], color_index, color_width);
    result.channel[3] = bc7_blend(ends[0][3], ends[1][3], alpha_index, alpha_width);
    if (rotation) {
        const std::int32_t alpha = result.channel[3];
        result.channel[3] = result.channel[rotation - 1];
        result.channel[rotation - 1] = alpha;
    }
    return result;
}

// --- BC6H ------------------------------------------------------------------------------------------------------------

TEXTON_HD inline int bc6h_sign_extend(int value, int bits) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << (32 - bits)) >> (32 - bits);
}

TEXTON_HD inline int bc6h_unquantize(int value, int bits, bool is_signed) {
    if (is_signed) {
        if (bits >= 16) return value;
        const int magnitude = value < 0 ? -value : value;
        int wide = magnitude == 0                       ? 0
                   : magnitude >= (1 << (bits - 1)) - 1 ? 0x7fff
                                                        : ((magnitude << 15) + 0x4000) >> (bits - 1);
        return value < 0 ? -wide : wide;
    }
    if (bits >= 15 || value == 0) return value;
    if (value == (1 << bits) - 1) return 0xffff;
    return ((value << 16) + 0x8000) >> bits;
}

TEXTON_HD inline std::int32_t bc6h_finish(int value, bool is_signed) {
    if (!is_signed) return (value * 31) >> 6;
    return value < 0 ? ((-value * 31) >> 5) | 0x8000 : (value * 31) >> 5;
}

TEXTON_HD inline BlockTexel decode_bc6h(const BlockBits& bits, int texel, bool is_signed) {
    const int code =
        static_cast<int>(bits.at(0, 2)) < 2 ? static_cast<int>(bits.at(0, 2)) : static_cast<int>(bits.at(0, 5));
    const Bc6hMode m = bc6h_mode(code);
    if (m.end_bits == 0) return {{0, 0, 0, 0x3c00}};  // reserved modes decode to opaque black
    int ends[4][3] = {};
    int position = m.code_bits;
    for (int i = 0; i < m.run_count; ++i) {
        const Bc6hRun run = bc6h_run(m.first_run + i);
        for (int b = 0; b < run.count; ++b) {
            const int shift = run.downward ? run.first - b : run.first + b;
            ends[run.end][run.channel] |= static_cast<int>(bits.at(position++, 1)) << shift;
        }
    }
    const int subsets = m.subsets;
    const int partition = subsets == 2 ? static_cast<int>(bits.at(77, 5)) : 0;
    const int index_base = subsets == 2 ? 82 : 65;
    const int index_width = subsets == 2 ? 3 : 4;
    const int subset = subset_of(subsets, partition, texel);
    const int weight = bc_weight(read_index(bits, index_base, index_width, subsets, partition, texel), index_width);
    BlockTexel result{{0, 0, 0, 0x3c00}};
    for (int c = 0; c < 3; ++c) {
        int base = ends[0][c];
        if (is_signed) base = bc6h_sign_extend(base, m.end_bits);
        int pair[2];
        for (int e = 0; e < 2; ++e) {
            const int which = 2 * subset + e;
            int value = ends[which][c];
            if (which == 0) {
                value = base;
            } else if (m.transformed) {
                value = (base + bc6h_sign_extend(value, m.delta_bits[c])) & ((1 << m.end_bits) - 1);
                if (is_signed) value = bc6h_sign_extend(value, m.end_bits);
            } else if (is_signed) {
                value = bc6h_sign_extend(value, m.end_bits);
            }
            pair[e] = bc6h_unquantize(value, m.end_bits, is_signed);
        }
        result.channel[c] = bc6h_finish((pair[0] * (64 - weight) + pair[1] * weight + 32) >> 6, is_signed);
    }
    return result;
}

}  // namespace texton::detail
