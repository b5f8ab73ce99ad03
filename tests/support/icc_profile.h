#pragma once
// ICC profiles made for tests.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace texton::test {

/// Returns a profile of RGB with a matrix and curves. `columns` are the colorants as CIE XYZ with the white point D50.
/// `curve` has the parameters of a parametric curve in the order g, a, b, c, d, e, f: 1, 3, 4, 5 or 7 numbers for the
/// types 0 to 4.
inline std::vector<std::uint8_t> icc_profile(const std::array<std::array<double, 3>, 3>& columns,
                                             const std::vector<double>& curve, std::string_view color_space = "RGB ") {
    using Bytes = std::vector<std::uint8_t>;
    const auto put32 = [](Bytes& out, std::uint32_t number) {
        for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(number >> shift));
    };
    const auto put_fixed = [&](Bytes& out, double number) {
        put32(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(number * 65536))));
    };
    const auto put_text = [](Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); };
    const auto xyz = [&](const std::array<double, 3>& color) {
        Bytes out;
        put_text(out, std::string_view("XYZ \0\0\0\0", 8));
        for (const double each : color) put_fixed(out, each);
        return out;
    };
    Bytes parametric;
    put_text(parametric, std::string_view("para\0\0\0\0", 8));
    constexpr std::size_t kParameters[] = {1, 3, 4, 5, 7};  // of each type
    const auto* const type = std::find(std::begin(kParameters), std::end(kParameters), curve.size());
    put32(parametric, static_cast<std::uint32_t>(type - std::begin(kParameters)) << 16);
    for (const double each : curve) put_fixed(parametric, each);
    const std::array<double, 3> white{0.9642, 1, 0.8249};
    const std::pair<std::string_view, Bytes> tags[] = {
        {"rXYZ", xyz(columns[0])}, {"gXYZ", xyz(columns[1])}, {"bXYZ", xyz(columns[2])}, {"rTRC", parametric},
        {"gTRC", parametric},      {"bTRC", parametric},      {"wtpt", xyz(white)}};
    Bytes table, data;
    const std::size_t begin = 128 + 4 + 12 * std::size(tags);
    for (const auto& [name, bytes] : tags) {
        put_text(table, name);
        put32(table, static_cast<std::uint32_t>(begin + data.size()));
        put32(table, static_cast<std::uint32_t>(bytes.size()));
        data.insert(data.end(), bytes.begin(), bytes.end());
    }
    Bytes out;
    put32(out, static_cast<std::uint32_t>(begin + data.size()));
    put_text(out, "none");
    put32(out, 0x04000000);
    put_text(out, "mntr");
    put_text(out, color_space);
    put_text(out, "XYZ ");
    out.resize(36);
    put_text(out, "acsp");
    out.resize(68);
    for (const double each : white) put_fixed(out, each);
    out.resize(128);
    put32(out, static_cast<std::uint32_t>(std::size(tags)));
    out.insert(out.end(), table.begin(), table.end());
    out.insert(out.end(), data.begin(), data.end());
    return out;
}

/// Returns the value of the attribute ICCProfile that holds these bytes.
inline std::string attribute_text(const std::vector<std::uint8_t>& bytes) {
    return fmt::format("{}", fmt::join(bytes, ", "));
}

/// Colorants and curve of sRGB, and colorants of Display P3, which has the same curve.
inline constexpr std::array<std::array<double, 3>, 3> kSrgbColorants{
    {{0.436065, 0.222488, 0.013916}, {0.385147, 0.716873, 0.097076}, {0.143066, 0.060608, 0.714096}}};
inline constexpr std::array<std::array<double, 3>, 3> kDisplayP3Colorants{
    {{0.515102, 0.241182, -0.001050}, {0.291965, 0.692236, 0.041881}, {0.157153, 0.066582, 0.784378}}};
inline const std::vector<double> kSrgbCurve{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};

}  // namespace texton::test
