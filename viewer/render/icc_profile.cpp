// Reads the tags of ICC.1:2022 that a profile of RGB with a matrix and curves has. OpenColorIO 2.1 reads profiles too,
// but from files only, and without most of the parametric curves.
#include "viewer/render/icc_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kHeader = 128;
constexpr std::size_t kCurve = 4096;  // minimum size of a curve

std::string_view text_at(Bytes bytes, std::size_t offset) {
    return {reinterpret_cast<const char*>(bytes.data()) + offset, 4};
}

std::uint32_t number_at(Bytes bytes, std::size_t offset, std::size_t size) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number = number << 8 | bytes[offset + i];
    return number;
}

double fixed_at(Bytes bytes, std::size_t offset) {
    return static_cast<double>(static_cast<std::int32_t>(number_at(bytes, offset, 4))) / 65536;
}

// Returns the data of a tag; empty if the profile has no such tag, or if it is not inside the profile.
Bytes tag(Bytes profile, std::string_view name) {
    constexpr std::size_t kEntry = 12;
    const std::size_t count =
        std::min<std::size_t>(number_at(profile, kHeader, 4), (profile.size() - kHeader - 4) / kEntry);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t entry = kHeader + 4 + i * kEntry;
        if (text_at(profile, entry) != name) continue;
        const std::size_t offset = number_at(profile, entry + 4, 4), size = number_at(profile, entry + 8, 4);
        return offset <= profile.size() && size <= profile.size() - offset ? profile.subspan(offset, size) : Bytes{};
    }
    return {};
}

// Values of a curve at equal distances, from 0 to 1.
using Table = std::vector<double>;

std::optional<Table> sampled_curve(Bytes data) {
    constexpr std::size_t kEntries = 12;
    const std::uint32_t count = number_at(data, 8, 4);
    if (count == 0) return Table{0, 1};
    if (count > (data.size() - kEntries) / 2) return std::nullopt;
    if (count == 1) {
        const double gamma = number_at(data, kEntries, 2) / 256.0;
        Table power(kCurve);
        for (std::size_t i = 0; i < kCurve; ++i) power[i] = std::pow(static_cast<double>(i) / (kCurve - 1), gamma);
        return power;
    }
    Table table(count);
    for (std::size_t i = 0; i < count; ++i) table[i] = number_at(data, kEntries + 2 * i, 2) / 65535.0;
    return table;
}

std::optional<Table> parametric_curve(Bytes data) {
    // Number of parameters of each type, in the order g a b c d e f.
    constexpr std::array<std::size_t, 5> kParameters{1, 3, 4, 5, 7};
    constexpr std::size_t kFirst = 12;
    const std::uint32_t type = number_at(data, 8, 2);
    if (type >= kParameters.size() || data.size() < kFirst + 4 * kParameters[type]) return std::nullopt;
    std::array<double, 7> p{1, 1, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < kParameters[type]; ++i) p[i] = fixed_at(data, kFirst + 4 * i);
    auto [g, a, b, c, d, e, f] = p;
    if (type == 1 || type == 2) {
        if (a == 0) return std::nullopt;
        e = f = type == 2 ? c : 0;
        c = 0;
        d = -b / a;
    }
    Table table(kCurve);
    for (std::size_t i = 0; i < kCurve; ++i) {
        const double x = static_cast<double>(i) / (kCurve - 1);
        table[i] = x >= d ? std::pow(std::max(a * x + b, 0.0), g) + e : c * x + f;
        if (!std::isfinite(table[i])) return std::nullopt;
    }
    return table;
}

std::optional<Table> curve_of(Bytes data) {
    if (data.size() < 12) return std::nullopt;
    if (text_at(data, 0) == "curv") return sampled_curve(data);
    return text_at(data, 0) == "para" ? parametric_curve(data) : std::nullopt;
}

std::vector<float> resized(const Table& table, std::size_t size) {
    std::vector<float> out(size);
    for (std::size_t i = 0; i < size; ++i) {
        const double at =
            static_cast<double>(i) / static_cast<double>(size - 1) * static_cast<double>(table.size() - 1);
        const std::size_t first = std::min(static_cast<std::size_t>(at), table.size() - 2);
        out[i] = static_cast<float>(std::lerp(table[first], table[first + 1], at - static_cast<double>(first)));
    }
    return out;
}

}  // namespace

RgbProfile rgb_profile(const IccProfile& profile, std::string& problem) {
    RgbProfile out;
    if (profile.size() < kHeader + 4 || text_at(profile, 36) != "acsp") {
        problem = "is damaged";
        return out;
    }
    if (const std::string_view space = text_at(profile, 16); space != "RGB ") {
        const bool is_text = std::ranges::all_of(space, [](char c) { return c >= ' ' && c <= '~'; });
        problem = is_text ? fmt::format("has the color space {}", space.substr(0, space.find(' ')))
                          : "has an unknown color space";
        return out;
    }
    std::array<Table, 3> tables;
    std::size_t size = kCurve;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string channel(1, "rgb"[i]);
        const Bytes color = tag(profile, channel + "XYZ");
        const std::optional<Table> curve = curve_of(tag(profile, channel + "TRC"));
        if (color.size() < 20 || !curve) {
            problem = "has no matrix and curves that can be read";
            return out;
        }
        for (std::size_t c = 0; c < 3; ++c) out.colorants[i][c] = fixed_at(color, 8 + 4 * c);
        tables[i] = *curve;
        size = std::max(size, tables[i].size());
    }
    for (std::size_t i = 0; i < 3; ++i) out.curves[i] = resized(tables[i], size);
    return out;
}

}  // namespace texton::viewer
