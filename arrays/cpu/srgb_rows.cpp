#include "arrays/cpu/srgb_rows.h"

#include <algorithm>
#include <iterator>

#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/texel_decode.h"

namespace texton::detail {
namespace {

// Returns the bits of the first of the floats [first, end) whose code is larger than that of `first`, or `end`.
std::uint32_t first_of_next_code(std::uint32_t first, std::uint32_t end) {
    const std::uint32_t code = srgb_code_of(float_of(first));
    std::uint32_t low = first, high = end;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (srgb_code_of(float_of(middle)) == code ? low : high) = middle;
    }
    return high;
}

std::uint32_t step_of_interval(std::uint32_t first) {
    const std::uint32_t end = first + 0x10000U;
    return (srgb_code_of(float_of(first)) << 16) + (end - first_of_next_code(first, end));
}

void find_steps(SrgbRowTables& tables) {
    constexpr std::uint32_t kFirst = SrgbRowTables::kFirstBits;
    constexpr std::uint32_t kUnit = 1U << SrgbRowTables::kUnitBits;
    for (std::size_t i = 0; i < std::size(tables.steps); ++i)
        tables.steps[i] = step_of_interval(kFirst + (static_cast<std::uint32_t>(i) << 16));
    std::uint32_t bits = kFirst;
    for (std::size_t code = 0; code < 255; ++code) {
        bits = first_of_next_code(bits, bits_of(SrgbRowTables::kLast));
        const std::uint32_t lower = (bits - kFirst) % kUnit;
        tables.next_units[code] = static_cast<std::uint16_t>((bits - kFirst + kUnit - 1) / kUnit);
        tables.next_bits[code] = static_cast<std::uint16_t>(lower == 0 ? kUnit : lower);
    }
    tables.next_units[255] = 0xffff;
    tables.next_bits[255] = kUnit;
}

// Returns the code of a unit in 1/256, between the units where codes begin.
std::int32_t code_between(const SrgbRowTables& tables, std::int32_t unit) {
    const auto code = std::ranges::upper_bound(tables.next_units, unit) - tables.next_units;
    if (code == 255) return 255 * 256;
    const std::int32_t begin = code == 0 ? 0 : tables.next_units[code - 1];
    return static_cast<std::int32_t>(code) * 256 + (unit - begin) * 256 / (tables.next_units[code] - begin);
}

void find_lines(SrgbRowTables& tables) {
    constexpr std::int32_t kBelow = 64;  // in 1/256: the codes are between units, so the curve is not quite even
    for (std::int32_t i = 0; i < 64; ++i) {
        const std::int32_t first = code_between(tables, 256 * i), next = code_between(tables, 256 * (i + 1));
        tables.first_codes[i] = static_cast<std::uint16_t>(std::max(first - kBelow, 0));
        tables.more_codes[i] = static_cast<std::uint16_t>(next - first);
    }
}

struct Parabola {
    std::uint16_t code, slope, curve;
};

// Fitted to the units where codes begin. The curve of codes is smooth within a power of two, which has four parabolas.
constexpr Parabola kParabolas[] = {
    {220, 37, 0},       {256, 3, 0},        {264, 14, 0},       {284, 26, 0},       {316, 37, 0},
    {358, 49, 0},       {413, 60, 0},       {484, 61, 0},       {556, 83, 0},       {644, 94, 0},
    {744, 112, 5},      {856, 117, 0},      {952, 205, 0},      {1158, 205, 0},     {1363, 206, 0},
    {1569, 206, 0},     {1775, 412, 0},     {2184, 422, 7},     {2602, 409, 12},    {3001, 385, 16},
    {3371, 707, 41},    {4038, 615, 25},    {4627, 562, 24},    {5165, 515, 21},    {5661, 942, 56},
    {6547, 835, 43},    {7337, 749, 32},    {8053, 686, 26},    {8718, 1242, 61},   {9898, 1118, 60},
    {10954, 1001, 44},  {11910, 914, 35},   {12790, 1680, 97},  {14371, 1486, 76},  {15780, 1333, 57},
    {17056, 1225, 51},  {18234, 2243, 133}, {20345, 1976, 98},  {22224, 1777, 73},  {23927, 1628, 60},
    {25501, 2985, 168}, {28318, 2642, 136}, {30824, 2373, 98},  {33100, 2173, 85},  {35193, 4001, 239},
    {38954, 3533, 181}, {42308, 3170, 141}, {45339, 2909, 121}, {48132, 5357, 330}, {53163, 4701, 236},
    {57628, 4228, 174}, {61682, 3871, 141}, {65280, 0, 0}};

void copy_parabolas(SrgbRowTables& tables) {
    for (std::size_t i = 0; i < std::size(kParabolas); ++i) {
        tables.parabola_codes[i] = kParabolas[i].code;
        tables.parabola_slopes[i] = kParabolas[i].slope;
        tables.parabola_curves[i] = kParabolas[i].curve;
    }
}

SrgbRowTables make_tables() {
    SrgbRowTables tables{};
    const TexelDecoder decode = texel_decoder({Encoding::srgb, Packing::plain, 1, 8, 1});
    for (std::uint32_t code = 0; code < 256; ++code) {
        const auto byte = static_cast<unsigned char>(code);
        const std::uint32_t color = decode(&byte).channel[0];
        tables.colors[code] = color;
        tables.upper_halves[code] = static_cast<std::uint16_t>(color >> 16);
        const Lane lane = lane_of_srgb(code);
        const int marked = lane.exponent + 7;
        const auto word = static_cast<std::uint32_t>((2 * lane.mantissa) | 1) << marked;
        tables.filter_words[code] = static_cast<std::uint16_t>(word ^ 0x8000);
    }
    find_steps(tables);
    find_lines(tables);
    copy_parabolas(tables);
    return tables;
}

}  // namespace

const SrgbRowTables& srgb_row_tables() {
    static const SrgbRowTables tables = make_tables();
    return tables;
}

}  // namespace texton::detail
