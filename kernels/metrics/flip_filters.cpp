#include "kernels/metrics/flip_filters.h"

#include <algorithm>
#include <limits>
#include <numbers>

namespace texton::detail {
namespace {

constexpr double kPi = std::numbers::pi;

// Linear sRGB -> XYZ, with the primaries and the white point D65 of IEC 61966-2-1.
constexpr std::array<std::array<double, 3>, 3> kXyz{
    {{10135552.0 / 24577794, 8788810.0 / 24577794, 4435075.0 / 24577794},
     {2613072.0 / 12288897, 8788810.0 / 12288897, 887015.0 / 12288897},
     {1425312.0 / 73733382, 8788810.0 / 73733382, 70074185.0 / 73733382}}};

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

/// Returns the light that tone mapping maps to 0.85.
double light_of_85_percent() {
    constexpr double t = 0.85;
    constexpr double a = kTop2 - t * kBottom2, b = kTop1 - t * kBottom1, c = -t * kBottom0;
    return (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
}

}  // namespace

FlipFilters::FlipFilters(double pixels_per_degree) {
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
    for (std::size_t k = 0; k < edge.size() / 2; ++k) edge[edge.size() - 1 - k] = -edge[k];  // to the last bit
    point = balanced(bend);
    feature_radius = static_cast<std::size_t>(feature);
    radius_of_all = std::max(sensitivity_radius, feature_radius);
}

FlipColors flip_colors() {
    FlipColors colors{to_white_xyz(), from_white_xyz()};
    const float largest = FlipColors::hyab(colors.hunt_lab({0, 1, 0}), colors.hunt_lab({0, 0, 1}));
    colors.scale.largest = std::pow(largest, ColorScale::kPower);
    colors.scale.knee = ColorScale::kKnee * colors.scale.largest;
    return colors;
}

LuminanceWeights luminance_weights() { return {{kXyz[1][0], kXyz[1][1], kXyz[1][2]}}; }

std::vector<float> light_of_codes(const CodeFormat& format) {
    std::vector<float> lights(format.largest(0) + std::size_t{1});
    for (std::uint32_t code = 0; code < lights.size(); ++code) lights[code] = light_of_code(format, code);
    return lights;
}

Flip exposures_of(double brightest, double median) {
    constexpr double kDarkest = std::numeric_limits<float>::epsilon();
    Flip flip;
    flip.first_exposure = std::log2(light_of_85_percent() / std::max(brightest, kDarkest));
    flip.last_exposure = std::log2(light_of_85_percent() / std::max(median, kDarkest));
    flip.exposures = std::max(2, static_cast<int>(std::ceil(flip.last_exposure - flip.first_exposure)));
    return flip;
}

float exposure_of(const Flip& flip, int i) {
    if (flip.exposures == 1) return 1;
    const double share = static_cast<double>(i) / (flip.exposures - 1);
    return static_cast<float>(std::exp2(flip.first_exposure + share * (flip.last_exposure - flip.first_exposure)));
}

}  // namespace texton::detail
