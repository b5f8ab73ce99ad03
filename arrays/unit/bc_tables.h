// bc_tables.h: tables of the specifications of BC6H and BC7: modes, partitions, anchors and weights.
#pragma once
#include <cstdint>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Returns a partition of a block into two subsets. Bit i is the subset of texel i.
TEXTON_HD inline std::uint32_t bc_partition2(int partition) {
    static constexpr std::uint16_t kSubsets[64] = {
        0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
        0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
        0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
        0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
        0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};
    return kSubsets[partition];
}

/// Returns a partition of a block into three subsets. Bits 2 i and 2 i + 1 are the subset of texel i.
TEXTON_HD inline std::uint32_t bc_partition3(int partition) {
    static constexpr std::uint32_t kSubsets[64] = {
        0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
        0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
        0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
        0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
        0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
        0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
        0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
        0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};
    return kSubsets[partition];
}

/// Returns the anchor of the second of two subsets: the texel whose index has one bit less.
TEXTON_HD inline int bc_anchor2(int partition) {
    static constexpr std::uint8_t kTexel[64] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                                15, 2,  8,  2,  2,  8,  8,  15, 2,  8,  2,  2,  8,  8,  2,  2,
                                                15, 15, 6,  8,  2,  8,  15, 15, 2,  8,  2,  2,  2,  15, 15, 6,
                                                6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2,  15};
    return kTexel[partition];
}

/// Returns the anchor of the second (`subset` is 1) or third (`subset` is 2) of three subsets.
TEXTON_HD inline int bc_anchor3(int partition, int subset) {
    static constexpr std::uint8_t kSecond[64] = {3, 3,  15, 15, 8, 3,  15, 15, 8,  8,  6,  6,  6,  5,  3,  3,
                                                 3, 3,  8,  15, 3, 3,  6,  10, 5,  8,  8,  6,  8,  5,  15, 15,
                                                 8, 15, 3,  5,  6, 10, 8,  15, 15, 3,  15, 5,  15, 15, 15, 15,
                                                 3, 15, 5,  5,  5, 8,  5,  10, 5,  10, 8,  13, 15, 12, 3,  3};
    static constexpr std::uint8_t kThird[64] = {15, 8, 8,  3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,
                                                15, 8, 15, 3,  15, 8,  15, 8,  3,  15, 6,  10, 15, 15, 10, 8,
                                                15, 3, 15, 10, 10, 8,  9,  10, 6,  15, 8,  15, 3,  6,  6,  8,
                                                15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8};
    return subset == 1 ? kSecond[partition] : kThird[partition];
}

/// Returns the weight of the second endpoint in 1/64. `width` is the size of the index: 2, 3 or 4 bits.
TEXTON_HD inline int bc_weight(int index, int width) {
    static constexpr std::uint8_t kWeights[28] = {0, 21, 43, 64, 0,  9,  18, 27, 37, 46, 55, 64, 0,  4,
                                                  9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};
    return kWeights[(1 << width) - 4 + index];
}

/// Layout of the BC7 blocks of one mode. Sizes are in bits.
struct Bc7Mode {
    std::uint8_t subsets;
    std::uint8_t partition_bits;
    std::uint8_t rotation_bits;
    std::uint8_t index_selection_bits;
    std::uint8_t color_bits;
    std::uint8_t alpha_bits;  ///< 0 if alpha is not stored; it is 255 then
    std::uint8_t p_bits_each;
    std::uint8_t p_bits_shared;
    std::uint8_t index_bits;
    std::uint8_t second_index_bits;
};

TEXTON_HD inline Bc7Mode bc7_mode(int mode) {
    static constexpr Bc7Mode kModes[8] = {{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
                                          {3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
                                          {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
                                          {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};
    return kModes[mode];
}

/// Layout of the BC6H blocks of one mode. Sizes are in bits.
struct Bc6hMode {
    std::uint8_t code_bits;
    std::uint8_t subsets;
    std::uint8_t end_bits;  ///< 0 for a reserved mode
    std::uint8_t delta_bits[3];
    bool transformed;  ///< the other endpoints are stored as differences from the first
    std::uint8_t first_run;
    std::uint8_t run_count;
};

/// Returns the mode for a code. The code is the low 2 bits of a block if they are below 2, otherwise the low 5 bits.
TEXTON_HD inline Bc6hMode bc6h_mode(int code) {
    switch (code) {
        case 0: return {2, 2, 10, {5, 5, 5}, true, 0, 19};
        case 1: return {2, 2, 7, {6, 6, 6}, true, 19, 23};
        case 2: return {5, 2, 11, {5, 4, 4}, true, 42, 18};
        case 6: return {5, 2, 11, {4, 5, 4}, true, 60, 20};
        case 10: return {5, 2, 11, {4, 4, 5}, true, 80, 20};
        case 14: return {5, 2, 9, {5, 5, 5}, true, 100, 19};
        case 18: return {5, 2, 8, {6, 5, 5}, true, 119, 19};
        case 22: return {5, 2, 8, {5, 6, 5}, true, 138, 21};
        case 26: return {5, 2, 8, {5, 5, 6}, true, 159, 21};
        case 30: return {5, 2, 6, {6, 6, 6}, false, 180, 23};
        case 3: return {5, 1, 10, {10, 10, 10}, false, 203, 6};
        case 7: return {5, 1, 11, {9, 9, 9}, true, 209, 9};
        case 11: return {5, 1, 12, {8, 8, 8}, true, 218, 9};
        case 15: return {5, 1, 16, {4, 4, 4}, true, 227, 9};
    }
    return {};
}

/// A run of adjacent bits of a block that belong to one channel of one endpoint.
struct Bc6hRun {
    std::uint8_t end;
    std::uint8_t channel;
    std::uint8_t first;  ///< position of the run's first bit in the endpoint
    std::uint8_t count;
    bool downward;
};

/// Returns a run of the table that contains the runs of all modes. Bc6hMode::first_run is the index of a mode's first
/// run.
TEXTON_HD inline Bc6hRun bc6h_run(int index) {
    static constexpr Bc6hRun kRuns[236] = {
        {2, 1, 4, 1, false},  {2, 2, 4, 1, false},  {3, 2, 4, 1, false},  {0, 0, 0, 10, false}, {0, 1, 0, 10, false},
        {0, 2, 0, 10, false}, {1, 0, 0, 5, false},  {3, 1, 4, 1, false},  {2, 1, 0, 4, false},  {1, 1, 0, 5, false},
        {3, 2, 0, 1, false},  {3, 1, 0, 4, false},  {1, 2, 0, 5, false},  {3, 2, 1, 1, false},  {2, 2, 0, 4, false},
        {2, 0, 0, 5, false},  {3, 2, 2, 1, false},  {3, 0, 0, 5, false},  {3, 2, 3, 1, false},  {2, 1, 5, 1, false},
        {3, 1, 4, 1, false},  {3, 1, 5, 1, false},  {0, 0, 0, 7, false},  {3, 2, 0, 1, false},  {3, 2, 1, 1, false},
        {2, 2, 4, 1, false},  {0, 1, 0, 7, false},  {2, 2, 5, 1, false},  {3, 2, 2, 1, false},  {2, 1, 4, 1, false},
        {0, 2, 0, 7, false},  {3, 2, 3, 1, false},  {3, 2, 5, 1, false},  {3, 2, 4, 1, false},  {1, 0, 0, 6, false},
        {2, 1, 0, 4, false},  {1, 1, 0, 6, false},  {3, 1, 0, 4, false},  {1, 2, 0, 6, false},  {2, 2, 0, 4, false},
        {2, 0, 0, 6, false},  {3, 0, 0, 6, false},  {0, 0, 0, 10, false}, {0, 1, 0, 10, false}, {0, 2, 0, 10, false},
        {1, 0, 0, 5, false},  {0, 0, 10, 1, false}, {2, 1, 0, 4, false},  {1, 1, 0, 4, false},  {0, 1, 10, 1, false},
        {3, 2, 0, 1, false},  {3, 1, 0, 4, false},  {1, 2, 0, 4, false},  {0, 2, 10, 1, false}, {3, 2, 1, 1, false},
        {2, 2, 0, 4, false},  {2, 0, 0, 5, false},  {3, 2, 2, 1, false},  {3, 0, 0, 5, false},  {3, 2, 3, 1, false},
        {0, 0, 0, 10, false}, {0, 1, 0, 10, false}, {0, 2, 0, 10, false}, {1, 0, 0, 4, false},  {0, 0, 10, 1, false},
        {3, 1, 4, 1, false},  {2, 1, 0, 4, false},  {1, 1, 0, 5, false},  {0, 1, 10, 1, false}, {3, 1, 0, 4, false},
        {1, 2, 0, 4, false},  {0, 2, 10, 1, false}, {3, 2, 1, 1, false},  {2, 2, 0, 4, false},  {2, 0, 0, 4, false},
        {3, 2, 0, 1, false},  {3, 2, 2, 1, false},  {3, 0, 0, 4, false},  {2, 1, 4, 1, false},  {3, 2, 3, 1, false},
        {0, 0, 0, 10, false}, {0, 1, 0, 10, false}, {0, 2, 0, 10, false}, {1, 0, 0, 4, false},  {0, 0, 10, 1, false},
        {2, 2, 4, 1, false},  {2, 1, 0, 4, false},  {1, 1, 0, 4, false},  {0, 1, 10, 1, false}, {3, 2, 0, 1, false},
        {3, 1, 0, 4, false},  {1, 2, 0, 5, false},  {0, 2, 10, 1, false}, {2, 2, 0, 4, false},  {2, 0, 0, 4, false},
        {3, 2, 1, 1, false},  {3, 2, 2, 1, false},  {3, 0, 0, 4, false},  {3, 2, 4, 1, false},  {3, 2, 3, 1, false},
        {0, 0, 0, 9, false},  {2, 2, 4, 1, false},  {0, 1, 0, 9, false},  {2, 1, 4, 1, false},  {0, 2, 0, 9, false},
        {3, 2, 4, 1, false},  {1, 0, 0, 5, false},  {3, 1, 4, 1, false},  {2, 1, 0, 4, false},  {1, 1, 0, 5, false},
        {3, 2, 0, 1, false},  {3, 1, 0, 4, false},  {1, 2, 0, 5, false},  {3, 2, 1, 1, false},  {2, 2, 0, 4, false},
        {2, 0, 0, 5, false},  {3, 2, 2, 1, false},  {3, 0, 0, 5, false},  {3, 2, 3, 1, false},  {0, 0, 0, 8, false},
        {3, 1, 4, 1, false},  {2, 2, 4, 1, false},  {0, 1, 0, 8, false},  {3, 2, 2, 1, false},  {2, 1, 4, 1, false},
        {0, 2, 0, 8, false},  {3, 2, 3, 1, false},  {3, 2, 4, 1, false},  {1, 0, 0, 6, false},  {2, 1, 0, 4, false},
        {1, 1, 0, 5, false},  {3, 2, 0, 1, false},  {3, 1, 0, 4, false},  {1, 2, 0, 5, false},  {3, 2, 1, 1, false},
        {2, 2, 0, 4, false},  {2, 0, 0, 6, false},  {3, 0, 0, 6, false},  {0, 0, 0, 8, false},  {3, 2, 0, 1, false},
        {2, 2, 4, 1, false},  {0, 1, 0, 8, false},  {2, 1, 5, 1, false},  {2, 1, 4, 1, false},  {0, 2, 0, 8, false},
        {3, 1, 5, 1, false},  {3, 2, 4, 1, false},  {1, 0, 0, 5, false},  {3, 1, 4, 1, false},  {2, 1, 0, 4, false},
        {1, 1, 0, 6, false},  {3, 1, 0, 4, false},  {1, 2, 0, 5, false},  {3, 2, 1, 1, false},  {2, 2, 0, 4, false},
        {2, 0, 0, 5, false},  {3, 2, 2, 1, false},  {3, 0, 0, 5, false},  {3, 2, 3, 1, false},  {0, 0, 0, 8, false},
        {3, 2, 1, 1, false},  {2, 2, 4, 1, false},  {0, 1, 0, 8, false},  {2, 2, 5, 1, false},  {2, 1, 4, 1, false},
        {0, 2, 0, 8, false},  {3, 2, 5, 1, false},  {3, 2, 4, 1, false},  {1, 0, 0, 5, false},  {3, 1, 4, 1, false},
        {2, 1, 0, 4, false},  {1, 1, 0, 5, false},  {3, 2, 0, 1, false},  {3, 1, 0, 4, false},  {1, 2, 0, 6, false},
        {2, 2, 0, 4, false},  {2, 0, 0, 5, false},  {3, 2, 2, 1, false},  {3, 0, 0, 5, false},  {3, 2, 3, 1, false},
        {0, 0, 0, 6, false},  {3, 1, 4, 1, false},  {3, 2, 0, 1, false},  {3, 2, 1, 1, false},  {2, 2, 4, 1, false},
        {0, 1, 0, 6, false},  {2, 1, 5, 1, false},  {2, 2, 5, 1, false},  {3, 2, 2, 1, false},  {2, 1, 4, 1, false},
        {0, 2, 0, 6, false},  {3, 1, 5, 1, false},  {3, 2, 3, 1, false},  {3, 2, 5, 1, false},  {3, 2, 4, 1, false},
        {1, 0, 0, 6, false},  {2, 1, 0, 4, false},  {1, 1, 0, 6, false},  {3, 1, 0, 4, false},  {1, 2, 0, 6, false},
        {2, 2, 0, 4, false},  {2, 0, 0, 6, false},  {3, 0, 0, 6, false},  {0, 0, 0, 10, false}, {0, 1, 0, 10, false},
        {0, 2, 0, 10, false}, {1, 0, 0, 10, false}, {1, 1, 0, 10, false}, {1, 2, 0, 10, false}, {0, 0, 0, 10, false},
        {0, 1, 0, 10, false}, {0, 2, 0, 10, false}, {1, 0, 0, 9, false},  {0, 0, 10, 1, false}, {1, 1, 0, 9, false},
        {0, 1, 10, 1, false}, {1, 2, 0, 9, false},  {0, 2, 10, 1, false}, {0, 0, 0, 10, false}, {0, 1, 0, 10, false},
        {0, 2, 0, 10, false}, {1, 0, 0, 8, false},  {0, 0, 11, 2, true},  {1, 1, 0, 8, false},  {0, 1, 11, 2, true},
        {1, 2, 0, 8, false},  {0, 2, 11, 2, true},  {0, 0, 0, 10, false}, {0, 1, 0, 10, false}, {0, 2, 0, 10, false},
        {1, 0, 0, 4, false},  {0, 0, 15, 6, true},  {1, 1, 0, 4, false},  {0, 1, 15, 6, true},  {1, 2, 0, 4, false},
        {0, 2, 15, 6, true}};
    return kRuns[index];
}

}  // namespace texton::detail
