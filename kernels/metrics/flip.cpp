// FLIP, after Andersson, Nilsson, Akenine-Moller, Oskarsson, Astrom and Fairchild, 2020, and for high dynamic range
// after Andersson, Nilsson, Shirley and Akenine-Moller, 2021. For each tile of both images:
//
//   linear RGB -> YCxCz -> contrast sensitivity filters -> linear RGB, clamped -> L*a*b*, Hunt effect -> HyAB distance
//                  Y    -> first and second derivatives of a Gaussian -> edges and points -> their difference
//
// The error is the color difference raised to the power of 1 - the feature difference. All filters are sums of
// separable filters. High dynamic range is tone-mapped at several exposures, and the result is the largest error.
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/metrics/filter.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kTileWidth = 128, kTileHeight = 64;

using Rgb = std::array<float, 3>;
using Planes = std::array<std::vector<float>, 3>;

// --- color ----------------------------------------------------------------------------------------------------------

// Linear sRGB -> XYZ, with the primaries and the white point D65 of IEC 61966-2-1.
constexpr std::array<std::array<double, 3>, 3> kXyz{
    {{10135552.0 / 24577794, 8788810.0 / 24577794, 4435075.0 / 24577794},
     {2613072.0 / 12288897, 8788810.0 / 12288897, 887015.0 / 12288897},
     {1425312.0 / 73733382, 8788810.0 / 73733382, 70074185.0 / 73733382}}};

struct Matrix {
    float at[3][3];
    Rgb operator*(const Rgb& v) const {
        Rgb out;
        for (std::size_t i = 0; i < 3; ++i) out[i] = at[i][0] * v[0] + at[i][1] * v[1] + at[i][2] * v[2];
        return out;
    }
};

constexpr Matrix from_white_xyz() {
    // Inverts the matrix by cofactors.
    double m[3][3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        const double white = kXyz[i][0] + kXyz[i][1] + kXyz[i][2];
        for (std::size_t j = 0; j < 3; ++j) m[i][j] = kXyz[i][j] / white;
    }
    const auto minor = [&](std::size_t i, std::size_t j) {
        const std::size_t r = (i + 1) % 3, s = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        return m[r][c] * m[s][d] - m[r][d] * m[s][c];
    };
    const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    Matrix out{};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) out.at[i][j] = static_cast<float>(minor(j, i) / determinant);
    }
    return out;
}

constexpr Matrix to_white_xyz() {
    Matrix out{};
    for (std::size_t i = 0; i < 3; ++i) {
        const double white = kXyz[i][0] + kXyz[i][1] + kXyz[i][2];
        for (std::size_t j = 0; j < 3; ++j) out.at[i][j] = static_cast<float>(kXyz[i][j] / white);
    }
    return out;
}

constexpr Matrix kToXyz = to_white_xyz(), kFromXyz = from_white_xyz();

float light_of_srgb(double encoded) {
    const double light = encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
    return static_cast<float>(light);
}

/// Returns the cube root of a positive normal number, with an error of at most 4 ulp. std::cbrt() takes four times as
/// long.
float cube_root(float t) {
    constexpr std::uint32_t kThirdOfBias = 0x2a5137a0;  // dividing the exponent by 3 gives a root within 4 %
    float root = std::bit_cast<float>(std::bit_cast<std::uint32_t>(t) / 3 + kThirdOfBias);
    for (int step = 0; step < 2; ++step) {  // of Halley's method, which triples the correct digits
        const float cube = root * root * root;
        root *= (cube + 2 * t) / (2 * cube + t);
    }
    return root;
}

/// Returns L*a*b* of linear RGB, with a* and b* multiplied by 0.01 L* (Hunt effect: dark colors look less colorful).
Rgb hunt_lab(const Rgb& rgb) {
    constexpr float kEdge = 6.0f / 29;
    const auto bent = [](float t) {
        return t > kEdge * kEdge * kEdge ? cube_root(t) : t / (3 * kEdge * kEdge) + 4.0f / 29;
    };
    const Rgb xyz = kToXyz * rgb;
    const float x = bent(xyz[0]), y = bent(xyz[1]), z = bent(xyz[2]);
    const float lightness = 116 * y - 16;
    return {lightness, 0.01f * lightness * 500 * (x - y), 0.01f * lightness * 200 * (y - z)};
}

float hyab(const Rgb& one, const Rgb& other) {
    const float a = one[1] - other[1], b = one[2] - other[2];
    return std::abs(one[0] - other[0]) + std::sqrt(a * a + b * b);
}

/// Maps a color distance to 0 to 1. Distances up to the knee, which are the common ones, use 0 to 0.95.
class ColorError {
public:
    float operator()(float distance) const {
        const float power = std::pow(distance, kPower);
        if (power < knee_) return kAtKnee / knee_ * power;
        return std::min(kAtKnee + (power - knee_) / (largest_ - knee_) * (1 - kAtKnee), 1.0f);
    }

private:
    static constexpr float kPower = 0.7f, kKnee = 0.4f, kAtKnee = 0.95f;
    float largest_ = std::pow(hyab(hunt_lab({0, 1, 0}), hunt_lab({0, 0, 1})), kPower);
    float knee_ = kKnee * largest_;
};

// --- filters --------------------------------------------------------------------------------------------------------

using Taps = std::vector<float>;

std::vector<double> gaussian(double variance, int radius) {
    std::vector<double> taps;
    for (int i = -radius; i <= radius; ++i) taps.push_back(std::exp(-i * i / (2 * variance)));
    return taps;
}

Taps scaled(const std::vector<double>& taps, double factor) {
    Taps out;
    for (const double tap : taps) out.push_back(static_cast<float>(tap * factor));
    return out;
}

double sum_of(const std::vector<double>& taps) {
    double sum = 0;
    for (const double tap : taps) sum += tap;
    return sum;
}

/// Returns the taps scaled so that the positive ones add up to 1 and the negative ones to -1.
Taps balanced(const std::vector<double>& taps) {
    double positive = 0, negative = 0;
    for (const double tap : taps) (tap > 0 ? positive : negative) += std::abs(tap);
    Taps out;
    for (const double tap : taps) out.push_back(static_cast<float>(tap / (tap > 0 ? positive : negative)));
    return out;
}

/// The filters of contrast sensitivity for luminance, red-green and blue-yellow: a * sqrt(pi / b) * exp(-pi^2 x^2 / b),
/// with x in degrees. Blue-yellow is the sum of two such terms. Also the filters of the features.
struct Filters {
    explicit Filters(double pixels_per_degree) {
        struct Part {
            double a, b;
        };
        constexpr Part kParts[4] = {{1, 0.0047}, {1, 0.0053}, {34.1, 0.04}, {13.5, 0.025}};
        constexpr double kWidest = 0.04, kFeatureDegrees = 0.082;
        const auto radius = static_cast<int>(std::ceil(3 * std::sqrt(kWidest / (2 * kPi * kPi)) * pixels_per_degree));
        std::array<std::vector<double>, 4> taps;
        std::array<double, 4> total{};  // sums over both axes
        for (std::size_t i = 0; i < 4; ++i) {
            taps[i] = gaussian(kParts[i].b * pixels_per_degree * pixels_per_degree / (2 * kPi * kPi), radius);
            total[i] = kParts[i].a * std::sqrt(kPi / kParts[i].b) * sum_of(taps[i]) * sum_of(taps[i]);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            across[i] = scaled(taps[i], 1 / sum_of(taps[i]));
            const double share = i < 2 ? 1 : total[i] / (total[2] + total[3]);
            down[i] = scaled(taps[i], share / sum_of(taps[i]));
        }
        sensitivity_radius = static_cast<std::size_t>(radius);

        const double deviation = 0.5 * kFeatureDegrees * pixels_per_degree;
        const auto feature = static_cast<int>(std::ceil(3 * deviation));
        const std::vector<double> bell = gaussian(deviation * deviation, feature);
        std::vector<double> slope = bell, bend = bell;
        for (int i = -feature; i <= feature; ++i) {
            const auto at = static_cast<std::size_t>(i + feature);
            slope[at] *= -i;
            bend[at] *= i * i / (deviation * deviation) - 1;
        }
        smooth = scaled(bell, 1 / sum_of(bell));
        edge = balanced(slope);
        point = balanced(bend);
        feature_radius = static_cast<std::size_t>(feature);
        radius_of_all = std::max(sensitivity_radius, feature_radius);
    }

    std::array<Taps, 4> across, down;
    Taps smooth, edge, point;
    std::size_t sensitivity_radius, feature_radius, radius_of_all;
};

// --- exposures ------------------------------------------------------------------------------------------------------

// Narkowicz's fit of the ACES curve, with an exposure factor of 0.6 multiplied into the coefficients.
constexpr double kTop2 = 2.51 * 0.36, kTop1 = 0.03 * 0.6, kBottom2 = 2.43 * 0.36, kBottom1 = 0.59 * 0.6,
                 kBottom0 = 0.14;

float tone_mapped(float light) {
    constexpr auto a = static_cast<float>(kTop2), b = static_cast<float>(kTop1), c = static_cast<float>(kBottom2),
                   d = static_cast<float>(kBottom1), e = static_cast<float>(kBottom0);
    constexpr float kBright = 1e6f;  // far beyond the light that maps to 1; squares stay finite
    const float x = std::min(light, kBright);
    return std::clamp(x * (a * x + b) / (x * (c * x + d) + e), 0.0f, 1.0f);
}

/// Returns the light that tone mapping maps to 0.85.
double light_of_85_percent() {
    constexpr double t = 0.85;
    constexpr double a = kTop2 - t * kBottom2, b = kTop1 - t * kBottom1, c = -t * kBottom0;
    return (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
}

constexpr float kInfiniteLight = 0x1p120f;

/// Returns the light clamped to 0 to kInfiniteLight; 0 for NaN.
float light_of(double value) {
    if (!(value > 0)) return 0;
    return static_cast<float>(std::min(value, double{kInfiniteLight}));
}

double median(std::vector<float>& values) {
    const auto center = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), center, values.end());
    if (values.size() % 2 != 0) return *center;
    return (double{*center} + *std::max_element(values.begin(), center)) / 2;
}

// --- a tile ---------------------------------------------------------------------------------------------------------

struct Scratch {
    std::vector<std::uint32_t> codes;
    std::array<Planes, 2> light;  // with a border as wide as the filters' radius
    Planes opponent;              // YCxCz
    std::array<std::vector<float>, 4> sensitivity;
    std::array<std::vector<float>, 3> feature;  // smooth, edge and point along the rows
    std::array<Planes, 2> lab;
    std::array<std::array<std::vector<float>, 2>, 2> strength;  // of edges and points
    std::array<std::vector<float>, 4> row;
};

class Pass {
public:
    Pass(const TexelReader& a, const TexelReader& b, double pixels_per_degree, const Flip& flip)
        : readers_{&a, &b}, filters_(pixels_per_degree), flip_(flip) {
        const std::uint32_t largest = a.largest(0);
        if (a.is_float() || largest > 0xffff) return;
        for (std::uint32_t code = 0; code <= largest; ++code) light_of_code_.push_back(decoded(code));
    }

    /// Writes the errors of the tile's texels.
    void operator()(Scratch& scratch, const Tile& tile, std::vector<float>& errors) const {
        const Extent extent = readers_[0]->extent();
        const Tile seen = surroundings(tile);
        if (same_bytes(*readers_[0], *readers_[1], seen)) return;  // errors are initialized with 0
        for (std::size_t image = 0; image < 2; ++image) load(scratch, image, tile);
        for (int i = 0; i < flip_.exposures; ++i) {
            for (std::size_t image = 0; image < 2; ++image) {
                see(scratch, image, tile, exposure(i));
                find_colors(scratch, image, tile);
                find_features(scratch, image, tile);
            }
            for (std::size_t y = 0; y < tile.height; ++y) {
                const std::size_t row = (tile.at.z * extent.height + tile.at.y + y) * extent.width + tile.at.x;
                compare_row(scratch, y * tile.width, tile.width, errors.data() + row);
            }
        }
        if (readers_[0]->is_float()) mark_unlike(scratch, tile, errors);
    }

private:
    // Returns the light of a code: its value divided by the largest value, clamped to 0 to 1, and decoded as sRGB.
    float decoded(std::uint32_t code) const {
        const TexelReader& reader = *readers_[0];
        const double largest = reader.value(reader.largest(0), 0);
        return light_of_srgb(std::clamp(reader.value(code, 0) / largest, 0.0, 1.0));
    }

    float exposure(int i) const {
        if (flip_.exposures == 1) return 1;
        const double share = static_cast<double>(i) / (flip_.exposures - 1);
        return static_cast<float>(
            std::exp2(flip_.first_exposure + share * (flip_.last_exposure - flip_.first_exposure)));
    }

    // Returns the part of the image that the filters read for this tile.
    Tile surroundings(const Tile& tile) const {
        const Extent extent = readers_[0]->extent();
        const std::size_t rim = filters_.radius_of_all;
        const auto first = [&](std::size_t at) { return at - std::min(at, rim); };
        const Offset at{first(tile.at.x), first(tile.at.y), tile.at.z};
        return {at, std::min(tile.at.x + tile.width + rim, extent.width) - at.x,
                std::min(tile.at.y + tile.height + rim, extent.height) - at.y};
    }

    std::size_t padded_width(const Tile& tile) const { return tile.width + 2 * filters_.radius_of_all; }
    std::size_t padded_height(const Tile& tile) const { return tile.height + 2 * filters_.radius_of_all; }

    // Loads the linear light of the tile and of a border around it. Texels beyond the image repeat its edge.
    void load(Scratch& scratch, std::size_t image, const Tile& tile) const {
        const TexelReader& reader = *readers_[image];
        const std::size_t rim = filters_.radius_of_all, width = padded_width(tile), channels = reader.channels();
        const Tile seen = surroundings(tile);
        const std::size_t left = rim + seen.at.x - tile.at.x;  // column of the padded row at which the image begins
        scratch.codes.resize(seen.width * channels);
        for (auto& plane : scratch.light[image]) plane.resize(width * padded_height(tile));
        for (std::size_t y = 0; y < padded_height(tile); ++y) {
            const std::size_t shifted = tile.at.y + y;  // the row of the image plus `rim`
            const std::size_t row = shifted < rim ? 0 : std::min(shifted - rim, reader.extent().height - 1);
            reader.read({seen.at.x, row, tile.at.z}, seen.width, scratch.codes.data());
            for (std::size_t c = 0; c < 3; ++c) {
                float* out = scratch.light[image][c].data() + y * width;
                light_row(reader, scratch.codes.data(), c, seen.width, out + left);
                std::fill(out, out + left, out[left]);
                std::fill(out + left + seen.width, out + width, out[left + seen.width - 1]);
            }
        }
    }

    void light_row(const TexelReader& reader, const std::uint32_t* codes, std::size_t color, std::size_t count,
                   float* out) const {
        const std::size_t channels = reader.channels();
        const std::size_t channel = channels == 1 ? 0 : color;
        for (std::size_t x = 0; x < count; ++x) {
            if (channel >= channels) {
                out[x] = 0;
                continue;
            }
            const std::uint32_t code = codes[x * channels + channel];
            if (reader.is_float())
                out[x] = light_of(reader.value(code, channel));
            else
                out[x] = light_of_code_.empty() ? decoded(code) : light_of_code_[code];
        }
    }

    void see(Scratch& scratch, std::size_t image, const Tile& tile, float exposure) const {
        const Planes& light = scratch.light[image];
        const std::size_t size = padded_width(tile) * padded_height(tile);
        const bool float_light = readers_[0]->is_float();
        for (auto& plane : scratch.opponent) plane.resize(size);
        for (std::size_t i = 0; i < size; ++i) {
            Rgb rgb{light[0][i], light[1][i], light[2][i]};
            if (float_light) {
                for (float& channel : rgb) channel = tone_mapped(channel * exposure);
            }
            const Rgb xyz = kToXyz * rgb;
            scratch.opponent[0][i] = 116 * xyz[1] - 16;
            scratch.opponent[1][i] = 500 * (xyz[0] - xyz[1]);
            scratch.opponent[2][i] = 200 * (xyz[1] - xyz[2]);
        }
    }

    void find_colors(Scratch& scratch, std::size_t image, const Tile& tile) const {
        const std::size_t rim = filters_.radius_of_all, reach = filters_.sensitivity_radius;
        const std::size_t width = padded_width(tile), height = padded_height(tile);
        for (std::size_t i = 0; i < 4; ++i) {
            const std::vector<float>& plane = scratch.opponent[std::min<std::size_t>(i, 2)];
            scratch.sensitivity[i].resize(tile.width * height);
            for (std::size_t y = rim - reach; y < height - rim + reach; ++y) {
                filter(plane.data() + y * width + rim - reach, 1, filters_.across[i], tile.width,
                       scratch.sensitivity[i].data() + y * tile.width);
            }
        }
        for (auto& plane : scratch.lab[image]) plane.resize(tile.width * tile.height);
        for (auto& row : scratch.row) row.resize(tile.width);
        for (std::size_t y = 0; y < tile.height; ++y) {
            for (std::size_t i = 0; i < 4; ++i) {
                filter(scratch.sensitivity[i].data() + (y + rim - reach) * tile.width, tile.width, filters_.down[i],
                       tile.width, scratch.row[i].data());
            }
            for (std::size_t x = 0; x < tile.width; ++x) {
                const float luminance = (scratch.row[0][x] + 16) / 116;
                const float red_green = scratch.row[1][x] / 500;
                const float blue_yellow = (scratch.row[2][x] + scratch.row[3][x]) / 200;
                Rgb rgb = kFromXyz * Rgb{luminance + red_green, luminance, luminance - blue_yellow};
                for (float& channel : rgb) channel = std::clamp(channel, 0.0f, 1.0f);
                const Rgb lab = hunt_lab(rgb);
                for (std::size_t c = 0; c < 3; ++c) scratch.lab[image][c][y * tile.width + x] = lab[c];
            }
        }
    }

    void find_features(Scratch& scratch, std::size_t image, const Tile& tile) const {
        const std::size_t rim = filters_.radius_of_all, reach = filters_.feature_radius;
        const std::size_t width = padded_width(tile), height = padded_height(tile);
        std::vector<float>& luminance = scratch.opponent[0];
        for (float& value : luminance) value = (value + 16) / 116;
        const std::array<const Taps*, 3> along{&filters_.smooth, &filters_.edge, &filters_.point};
        for (std::size_t i = 0; i < 3; ++i) {
            scratch.feature[i].resize(tile.width * height);
            for (std::size_t y = rim - reach; y < height - rim + reach; ++y) {
                filter(luminance.data() + y * width + rim - reach, 1, *along[i], tile.width,
                       scratch.feature[i].data() + y * tile.width);
            }
        }
        for (std::size_t kind = 0; kind < 2; ++kind) {  // edges, points
            std::vector<float>& strength = scratch.strength[image][kind];
            strength.resize(tile.width * tile.height);
            for (std::size_t y = 0; y < tile.height; ++y) {
                const std::size_t from = (y + rim - reach) * tile.width;
                filter(scratch.feature[kind + 1].data() + from, tile.width, filters_.smooth, tile.width,
                       scratch.row[0].data());
                filter(scratch.feature[0].data() + from, tile.width, *along[kind + 1], tile.width,
                       scratch.row[1].data());
                for (std::size_t x = 0; x < tile.width; ++x) {
                    const float across = scratch.row[0][x], down = scratch.row[1][x];
                    strength[y * tile.width + x] = std::sqrt(across * across + down * down);
                }
            }
        }
    }

    // Raises the errors of a row to the errors at this exposure where these are larger.
    void compare_row(const Scratch& scratch, std::size_t first, std::size_t count, float* errors) const {
        for (std::size_t x = 0; x < count; ++x) {
            const std::size_t i = first + x;
            const auto lab = [&](std::size_t image) {
                const Planes& planes = scratch.lab[image];
                return Rgb{planes[0][i], planes[1][i], planes[2][i]};
            };
            const auto unlike = [&](std::size_t kind) {
                return std::abs(scratch.strength[0][kind][i] - scratch.strength[1][kind][i]);
            };
            const float color = color_error_(hyab(lab(0), lab(1)));
            const float feature = std::sqrt(std::max(unlike(0), unlike(1)) / std::numbers::sqrt2_v<float>);
            errors[x] = std::max(errors[x], std::pow(color, 1 - feature));
        }
    }

    // Sets the error to 1 where NaN or infinity is compared with a different value.
    void mark_unlike(Scratch& scratch, const Tile& tile, std::vector<float>& errors) const {
        const TexelReader& a = *readers_[0];
        const std::size_t channels = a.channels(), colors = std::min<std::size_t>(channels, 3);
        const std::size_t count = tile.width * channels;
        scratch.codes.resize(2 * count);
        for (std::size_t y = 0; y < tile.height; ++y) {
            const Offset at{tile.at.x, tile.at.y + y, tile.at.z};
            for (std::size_t image = 0; image < 2; ++image)
                readers_[image]->read(at, tile.width, scratch.codes.data() + image * count);
            const std::size_t row = (at.z * a.extent().height + at.y) * a.extent().width + at.x;
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t one = scratch.codes[i], other = scratch.codes[count + i];
                const bool finite = a.is_finite(one) && a.is_finite(other);
                if (!finite && one != other && i % channels < colors) errors[row + i / channels] = 1;
            }
        }
    }

    std::array<const TexelReader*, 2> readers_;
    Filters filters_;
    const Flip& flip_;
    ColorError color_error_;
    std::vector<float> light_of_code_;
};

}  // namespace

Flip flip_exposures(const TexelReader& a) {
    Flip flip;
    if (!a.is_float()) return flip;
    const Extent extent = a.extent();
    const std::size_t channels = a.channels();
    std::vector<float> luminances;
    std::vector<std::uint32_t> codes(extent.width * channels);
    for (std::size_t row = 0; row < extent.height * extent.depth; ++row) {
        a.read({0, row % extent.height, row / extent.height}, extent.width, codes.data());
        for (std::size_t x = 0; x < extent.width; ++x) {
            double luminance = 0;
            bool finite = true;
            for (std::size_t c = 0; c < 3; ++c) {
                const std::size_t channel = channels == 1 ? 0 : c;
                if (channel >= channels) continue;
                const std::uint32_t code = codes[x * channels + channel];
                finite = finite && a.is_finite(code);
                luminance += kXyz[1][c] * light_of(a.value(code, channel));
            }
            if (finite) luminances.push_back(static_cast<float>(luminance));
        }
    }
    if (luminances.empty()) return flip;
    constexpr double kDarkest = std::numeric_limits<float>::epsilon();
    const double brightest = std::max<double>(*std::max_element(luminances.begin(), luminances.end()), kDarkest);
    const double center = std::max(median(luminances), kDarkest);
    flip.first_exposure = std::log2(light_of_85_percent() / brightest);
    flip.last_exposure = std::log2(light_of_85_percent() / center);
    flip.exposures = std::max(2, static_cast<int>(std::ceil(flip.last_exposure - flip.first_exposure)));
    return flip;
}

void measure_flip(const TexelReader& a, const TexelReader& b, double pixels_per_degree, Progress& progress,
                  Flip& flip) {
    const Extent extent = a.extent();
    const Pass pass(a, b, pixels_per_degree, flip);
    const std::vector<Tile> tiles = tiles_of(extent, kTileWidth, kTileHeight);
    std::vector<float> errors(extent.width * extent.height * extent.depth);
    for_each_piece<Scratch>(tiles.size(), progress, kFlipWork * flip.exposures,
                            [&](Scratch& scratch, std::size_t i) { pass(scratch, tiles[i], errors); });
    double sum = 0;
    for (const float error : errors) {
        sum += error;
        flip.max = std::max<double>(flip.max, error);
    }
    flip.mean = sum / static_cast<double>(errors.size());
    flip.errors = std::move(errors);
}

}  // namespace texton::detail
