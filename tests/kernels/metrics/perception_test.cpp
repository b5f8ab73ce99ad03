// Compares SSIM and FLIP with their definitions in double precision, window by window and texel by texel.
#include <texton/metrics.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>

#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;

constexpr double kPi = std::numbers::pi;

struct Plane {
    int width;
    int height;
    std::vector<double> values;
    double at(int x, int y) const {
        x = std::clamp(x, 0, width - 1);
        y = std::clamp(y, 0, height - 1);
        return values[static_cast<std::size_t>(y * width + x)];
    }
};

using Color = std::array<double, 3>;
using ImageFile = std::array<Plane, 3>;

// Returns smooth blobs, edges and noise as rgba8.
Bytes scene(int width, int height, unsigned seed) {
    const Bytes noise = test::pattern(static_cast<std::size_t>(4 * width * height), 9);
    Bytes out;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < 4; ++c) {
                const double wave = std::sin(0.07 * x * (c + 1) + 0.05 * y) + ((x / 9 + y / 7) % 2 != 0 ? 0.5 : -0.5);
                const auto grain = std::to_integer<int>(noise[out.size()]) % (1 + 12 * static_cast<int>(seed));
                out.push_back(static_cast<std::byte>(std::clamp(static_cast<int>(110 + 60 * wave) + grain, 0, 255)));
            }
        }
    }
    return out;
}

Plane channel(const Bytes& rgba8, int width, int height, std::size_t c) {
    Plane plane{width, height, {}};
    for (std::size_t i = c; i < rgba8.size(); i += 4) plane.values.push_back(std::to_integer<int>(rgba8[i]) / 255.0);
    return plane;
}

ConstView view(const Bytes& texels, Format format, int width, int height) {
    return host_view(static_cast<const void*>(texels.data()), format,
                     {static_cast<std::size_t>(width), static_cast<std::size_t>(height)});
}

// --- SSIM -----------------------------------------------------------------------------------------------------------

std::vector<double> bell(int side, double deviation) {
    std::vector<double> out;
    double sum = 0;
    for (int i = 0; i < side; ++i) {
        out.push_back(std::exp(-std::pow(i - (side - 1) / 2.0, 2) / (2 * deviation * deviation)));
        sum += out.back();
    }
    for (double& each : out) each /= sum;
    return out;
}

double expected_ssim(const Plane& a, const Plane& b) {
    const std::vector<double> across = bell(std::min(a.width, 11), 1.5), down = bell(std::min(a.height, 11), 1.5);
    const int wide = static_cast<int>(across.size()), high = static_cast<int>(down.size());
    double sum = 0;
    int count = 0;
    for (int y = 0; y + high <= a.height; ++y) {
        for (int x = 0; x + wide <= a.width; ++x, ++count) {
            const auto mean = [&](auto value) {
                double out = 0;
                for (int j = 0; j < high; ++j) {
                    for (int i = 0; i < wide; ++i)
                        out += across[static_cast<std::size_t>(i)] * down[static_cast<std::size_t>(j)] *
                               value(a.at(x + i, y + j), b.at(x + i, y + j));
                }
                return out;
            };
            const double mean_a = mean([](double p, double) { return p; });
            const double mean_b = mean([](double, double q) { return q; });
            const double variance_a = mean([&](double p, double) { return (p - mean_a) * (p - mean_a); });
            const double variance_b = mean([&](double, double q) { return (q - mean_b) * (q - mean_b); });
            const double covariance = mean([&](double p, double q) { return (p - mean_a) * (q - mean_b); });
            sum += (2 * mean_a * mean_b + 1e-4) * (2 * covariance + 9e-4) /
                   ((mean_a * mean_a + mean_b * mean_b + 1e-4) * (variance_a + variance_b + 9e-4));
        }
    }
    return sum / count;
}

TEST(MetricsPerceptionTest, SsimMatchesItsDefinition) {
    for (const auto& [width, height] : {std::pair{61, 43}, {300, 90}, {11, 11}, {10, 12}, {3, 2}, {1, 30}}) {
        SCOPED_TRACE(testing::Message() << width << " x " << height);
        const Bytes a = scene(width, height, 0), b = scene(width, height, 2);
        const Comparison result =
            compare(view(a, Format::rgba8_unorm, width, height), view(b, Format::rgba8_unorm, width, height));
        Plane luma_a = channel(a, width, height, 0), luma_b = channel(b, width, height, 0);
        for (std::size_t c = 0; c < 4; ++c) {
            const Plane one = channel(a, width, height, c), other = channel(b, width, height, c);
            EXPECT_NEAR(*result.channels[c].ssim, expected_ssim(one, other), 2e-6);
            if (c == 3) continue;
            constexpr std::array kWeights{0.299, 0.587, 0.114};
            for (std::size_t i = 0; i < one.values.size(); ++i) {
                luma_a.values[i] = (c == 0 ? 0 : luma_a.values[i]) + kWeights[c] * one.values[i];
                luma_b.values[i] = (c == 0 ? 0 : luma_b.values[i]) + kWeights[c] * other.values[i];
            }
        }
        EXPECT_NEAR(*result.all.ssim, expected_ssim(luma_a, luma_b), 2e-6);
        EXPECT_LT(*result.all.ssim, 0.999);
    }
}

TEST(MetricsPerceptionTest, SsimAndPsnrMatchScikitImage) {
    // Values of scikit-image 0.19.3: structural_similarity() with gaussian_weights=True, sigma=1.5,
    // use_sample_covariance=False and data_range=255, and peak_signal_noise_ratio().
    struct Expected {
        int width, height;
        unsigned seed_a, seed_b;
        std::array<double, 4> ssim, psnr;
        double ssim_of_luma, psnr_of_all;
    };
    const Expected all[] = {{150,
                             70,
                             0,
                             1,
                             {0.983371855, 0.985097666, 0.986569636, 0.988095519},
                             {31.264202627, 31.209706855, 31.275083650, 31.211564533},
                             0.992078625,
                             31.240037458},
                            {150,
                             70,
                             0,
                             3,
                             {0.884487277, 0.894342452, 0.903224722, 0.913510692},
                             {21.762093960, 21.807018456, 21.750742072, 21.790569594},
                             0.939730232,
                             21.777548597},
                            {300,
                             200,
                             1,
                             2,
                             {0.932948073, 0.939433410, 0.945775919, 0.952243974},
                             {27.967004858, 28.003494037, 27.936239716, 27.963679891},
                             0.968472632,
                             27.967538818}};
    for (const Expected& expected : all) {
        const int width = expected.width, height = expected.height;
        const Bytes a = scene(width, height, expected.seed_a), b = scene(width, height, expected.seed_b);
        const Comparison result =
            compare(view(a, Format::rgba8_unorm, width, height), view(b, Format::rgba8_unorm, width, height));
        for (std::size_t c = 0; c < 4; ++c) {
            EXPECT_NEAR(*result.channels[c].ssim, expected.ssim[c], 3e-7);
            EXPECT_NEAR(result.channels[c].psnr, expected.psnr[c], 1e-9);
        }
        EXPECT_NEAR(*result.all.ssim, expected.ssim_of_luma, 3e-7);
        EXPECT_NEAR(result.all.psnr, expected.psnr_of_all, 1e-9);
    }
}

TEST(MetricsPerceptionTest, SsimOfUniformImagesDependsOnlyOnTheirMeans) {
    const Bytes a(400, std::byte{100}), b(400, std::byte{50});
    const double p = 100 / 255.0, q = 50 / 255.0;
    const Comparison result = compare(view(a, Format::r8_unorm, 20, 20), view(b, Format::r8_unorm, 20, 20));
    EXPECT_NEAR(*result.all.ssim, (2 * p * q + 1e-4) / (p * p + q * q + 1e-4), 5e-6);
}

TEST(MetricsPerceptionTest, SsimDoesNotDependOnTheScaleOfTheFormat) {
    const Bytes a = scene(40, 40, 0), b = scene(40, 40, 1);
    const auto ssim = [&](Format format) {
        return *compare(view(a, format, 40, 40), view(b, format, 40, 40)).all.ssim;
    };
    EXPECT_NEAR(ssim(Format::rgba8_uint), ssim(Format::rgba8_unorm), 1e-6);
    EXPECT_EQ(ssim(Format::rgba8_srgb), ssim(Format::rgba8_unorm));
}

// --- FLIP -----------------------------------------------------------------------------------------------------------

constexpr double kXyz[3][3] = {{10135552.0 / 24577794, 8788810.0 / 24577794, 4435075.0 / 24577794},
                               {2613072.0 / 12288897, 8788810.0 / 12288897, 887015.0 / 12288897},
                               {1425312.0 / 73733382, 8788810.0 / 73733382, 70074185.0 / 73733382}};

Color white_xyz(const Color& rgb) {
    Color out{};
    for (std::size_t i = 0; i < 3; ++i) {
        double white = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            out[i] += kXyz[i][j] * rgb[j];
            white += kXyz[i][j];
        }
        out[i] /= white;
    }
    return out;
}

// Solves white_xyz(rgb) = xyz by Cramer's rule.
Color from_white_xyz(const Color& xyz) {
    const std::array<Color, 3> columns{white_xyz({1, 0, 0}), white_xyz({0, 1, 0}), white_xyz({0, 0, 1})};
    const auto volume = [](const Color& a, const Color& b, const Color& c) {
        return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    };
    const double all = volume(columns[0], columns[1], columns[2]);
    return {volume(xyz, columns[1], columns[2]) / all, volume(columns[0], xyz, columns[2]) / all,
            volume(columns[0], columns[1], xyz) / all};
}

Color hunt(const Color& rgb) {
    Color f = white_xyz(rgb);
    for (double& t : f) t = t > 216.0 / 24389 ? std::cbrt(t) : t * 841 / 108 + 4.0 / 29;
    const double lightness = 116 * f[1] - 16;
    return {lightness, 0.01 * lightness * 500 * (f[0] - f[1]), 0.01 * lightness * 200 * (f[1] - f[2])};
}

double hyab(const Color& a, const Color& b) { return std::abs(a[0] - b[0]) + std::hypot(a[1] - b[1], a[2] - b[2]); }

// A two-dimensional filter over a square of texels.
struct Square {
    int radius;
    std::vector<double> weights;
    template <class Weight>
    Square(int reach, Weight weight) : radius(reach) {
        for (int y = -radius; y <= radius; ++y) {
            for (int x = -radius; x <= radius; ++x) weights.push_back(weight(x, y));
        }
    }
    /// Scales positive weights to a sum of 1 and negative weights to a sum of -1.
    Square& normalize() {
        double positive = 0, negative = 0;
        for (const double each : weights) (each > 0 ? positive : negative) += std::abs(each);
        for (double& each : weights) each /= each > 0 ? positive : negative;
        return *this;
    }
    double operator()(const Plane& plane, int x, int y) const {
        double sum = 0;
        std::size_t i = 0;
        for (int dy = -radius; dy <= radius; ++dy) {
            for (int dx = -radius; dx <= radius; ++dx) sum += weights[i++] * plane.at(x + dx, y + dy);
        }
        return sum;
    }
};

// Returns the errors of two images in linear light, from 0 to 1.
std::vector<double> expected_flip(const ImageFile& a, const ImageFile& b, double pixels_per_degree) {
    const int width = a[0].width, height = a[0].height;
    std::array<ImageFile, 2> opponent{a, b};
    for (ImageFile& image : opponent) {
        for (std::size_t i = 0; i < image[0].values.size(); ++i) {
            const Color xyz = white_xyz({image[0].values[i], image[1].values[i], image[2].values[i]});
            image[0].values[i] = 116 * xyz[1] - 16;
            image[1].values[i] = 500 * (xyz[0] - xyz[1]);
            image[2].values[i] = 200 * (xyz[1] - xyz[2]);
        }
    }
    const int radius = static_cast<int>(std::ceil(3 * std::sqrt(0.04 / (2 * kPi * kPi)) * pixels_per_degree));
    const auto sensitivity = [&](double a1, double b1, double a2, double b2) {
        return Square(radius,
                      [=](int x, int y) {
                          const double squared = (x * x + y * y) / (pixels_per_degree * pixels_per_degree);
                          return a1 * std::sqrt(kPi / b1) * std::exp(-kPi * kPi * squared / b1) +
                                 a2 * std::sqrt(kPi / b2) * std::exp(-kPi * kPi * squared / b2);
                      })
            .normalize();
    };
    const std::array<Square, 3> seen{sensitivity(1, 0.0047, 0, 1), sensitivity(1, 0.0053, 0, 1),
                                     sensitivity(34.1, 0.04, 13.5, 0.025)};
    const double deviation = 0.5 * 0.082 * pixels_per_degree;
    const int reach = static_cast<int>(std::ceil(3 * deviation));
    const auto derivative = [&](bool second, bool down) {
        return Square(reach,
                      [=](int x, int y) {
                          const double along = down ? y : x;
                          const double shape = second ? along * along / (deviation * deviation) - 1 : -along;
                          return shape * std::exp(-(x * x + y * y) / (2 * deviation * deviation));
                      })
            .normalize();
    };
    const std::array<std::array<Square, 2>, 2> features{
        {{derivative(false, false), derivative(false, true)}, {derivative(true, false), derivative(true, true)}}};
    const double maximum = std::pow(hyab(hunt({0, 1, 0}), hunt({0, 0, 1})), 0.7);
    std::vector<double> errors;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            std::array<Color, 2> lab;
            double feature = 0;
            std::array<std::array<double, 2>, 2> strength{};
            for (std::size_t p = 0; p < 2; ++p) {
                const double f = (seen[0](opponent[p][0], x, y) + 16) / 116;
                Color rgb = from_white_xyz(
                    {f + seen[1](opponent[p][1], x, y) / 500, f, f - seen[2](opponent[p][2], x, y) / 200});
                for (double& each : rgb) each = std::clamp(each, 0.0, 1.0);
                lab[p] = hunt(rgb);
                Plane luminance = opponent[p][0];
                for (std::size_t kind = 0; kind < 2; ++kind) {
                    strength[p][kind] =
                        std::hypot(features[kind][0](luminance, x, y) / 116, features[kind][1](luminance, x, y) / 116);
                }
            }
            for (std::size_t kind = 0; kind < 2; ++kind)
                feature = std::max(feature, std::abs(strength[0][kind] - strength[1][kind]));
            double color = std::pow(hyab(lab[0], lab[1]), 0.7);
            color = color < 0.4 * maximum ? 0.95 / (0.4 * maximum) * color
                                          : 0.95 + (color - 0.4 * maximum) / (0.6 * maximum) * 0.05;
            errors.push_back(std::pow(color, 1 - std::sqrt(feature / std::numbers::sqrt2)));
        }
    }
    return errors;
}

ImageFile light_of_srgb(const Bytes& rgba8, int width, int height) {
    ImageFile out{channel(rgba8, width, height, 0), channel(rgba8, width, height, 1), channel(rgba8, width, height, 2)};
    for (Plane& plane : out) {
        for (double& each : plane.values) each = each <= 0.04045 ? each / 12.92 : std::pow((each + 0.055) / 1.055, 2.4);
    }
    return out;
}

void expect_errors(const Flip& flip, const std::vector<double>& expected) {
    ASSERT_EQ(flip.errors.size(), expected.size());
    double sum = 0, max = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(flip.errors[i], expected[i], 1e-3) << i;
        sum += expected[i];
        max = std::max(max, expected[i]);
    }
    EXPECT_NEAR(flip.mean, sum / static_cast<double>(expected.size()), 1e-4);
    EXPECT_NEAR(flip.max, max, 1e-3);
}

TEST(MetricsPerceptionTest, FlipMatchesItsDefinition) {
    for (const auto& [width, height, pixels_per_degree] :
         {std::tuple{150, 70, 67.0206}, {40, 9, 67.0206}, {1, 1, 67.0206}, {3, 2, 20.0}, {30, 30, 130.0}}) {
        SCOPED_TRACE(testing::Message() << width << " x " << height << " at " << pixels_per_degree);
        const Bytes a = scene(width, height, 0), b = scene(width, height, 3);
        const Comparison result =
            compare(view(a, Format::rgba8_unorm, width, height), view(b, Format::rgba8_unorm, width, height),
                    {.ssim = false, .flip = true, .pixels_per_degree = pixels_per_degree});
        EXPECT_EQ(result.all.ssim, std::nullopt);
        EXPECT_EQ(result.flip->exposures, 1);
        expect_errors(*result.flip, expected_flip(light_of_srgb(a, width, height), light_of_srgb(b, width, height),
                                                  pixels_per_degree));
    }
}

TEST(MetricsPerceptionTest, FlipMatchesItsPublishedImplementation) {
    // Values of FLIP.h of github.com/NVlabs/flip, commit 1eb247c, of scenes with the seeds 0 and `seed`.
    struct Expected {
        unsigned seed;
        float pixels_per_degree;
        double mean, max, error_at_1234;
    };
    for (const Expected& expected : {Expected{1, 67.0206f, 0.148218976, 0.233757481, 0.1537831},
                                     {3, 67.0206f, 0.327116449, 0.460931480, 0.3622806},
                                     {3, 20, 0.366970846, 0.678746641, 0.4326531}}) {
        const Bytes a = scene(150, 70, 0), b = scene(150, 70, expected.seed);
        const Comparison result = compare(view(a, Format::rgba8_unorm, 150, 70), view(b, Format::rgba8_unorm, 150, 70),
                                          {.flip = true, .pixels_per_degree = double{expected.pixels_per_degree}});
        EXPECT_NEAR(result.flip->mean, expected.mean, 1e-7);
        EXPECT_NEAR(result.flip->max, expected.max, 1e-6);
        EXPECT_NEAR(result.flip->errors[1234], expected.error_at_1234, 1e-5);
    }
}

TEST(MetricsPerceptionTest, FlipOfFloatsIsTheMaximumErrorOverExposures) {
    constexpr int kWidth = 45, kHeight = 33;
    constexpr std::size_t kCount = kWidth * kHeight;
    const Bytes a = scene(kWidth, kHeight, 0), b = scene(kWidth, kHeight, 3);
    std::array<std::vector<float>, 2> light;
    std::array<ImageFile, 2> linear{light_of_srgb(a, kWidth, kHeight), light_of_srgb(b, kWidth, kHeight)};
    for (std::size_t p = 0; p < 2; ++p) {
        for (std::size_t i = 0; i < kCount; ++i) {
            // From 0.001 to 30, increasing to the right.
            const double scale = 0.01 * std::pow(3000, static_cast<double>(i % kWidth) / kWidth);
            for (std::size_t c = 0; c < 3; ++c) {
                linear[p][c].values[i] = static_cast<float>(linear[p][c].values[i] * scale);
                light[p].push_back(static_cast<float>(linear[p][c].values[i]));
            }
            light[p].push_back(1);
        }
    }
    std::vector<double> luminance;
    for (std::size_t i = 0; i < kCount; ++i) {
        luminance.push_back(kXyz[1][0] * linear[0][0].values[i] + kXyz[1][1] * linear[0][1].values[i] +
                            kXyz[1][2] * linear[0][2].values[i]);
    }
    std::sort(luminance.begin(), luminance.end());
    const auto curve = [](double x) {
        return std::clamp((0.36 * 2.51 * x * x + 0.6 * 0.03 * x) / (0.36 * 2.43 * x * x + 0.6 * 0.59 * x + 0.14), 0.0,
                          1.0);
    };
    double bright = 0;  // the value that the tone curve maps to 0.85, found by bisection
    for (double step = 64; step > 1e-12; step /= 2) bright += curve(bright + step) < 0.85 ? step : 0;
    const double first = std::log2(bright / luminance.back()), last = std::log2(bright / luminance[kCount / 2]);
    const int exposures = std::max(2, static_cast<int>(std::ceil(last - first)));

    const auto bytes = [](const std::vector<float>& values) {
        return host_view(static_cast<const void*>(values.data()), Format::rgba32_float, {kWidth, kHeight});
    };
    const Comparison result = compare(bytes(light[0]), bytes(light[1]), {.flip = true});
    EXPECT_GT(exposures, 3);
    EXPECT_EQ(result.flip->exposures, exposures);
    EXPECT_NEAR(result.flip->first_exposure, first, 1e-5);
    EXPECT_NEAR(result.flip->last_exposure, last, 1e-5);
    std::vector<double> expected(kCount);
    for (int i = 0; i < exposures; ++i) {
        std::array<ImageFile, 2> mapped = linear;
        for (ImageFile& image : mapped) {
            for (Plane& plane : image) {
                for (double& each : plane.values)
                    each = curve(each * std::exp2(first + (last - first) * i / (exposures - 1)));
            }
        }
        const std::vector<double> errors = expected_flip(mapped[0], mapped[1], 67.0206);
        for (std::size_t k = 0; k < kCount; ++k) expected[k] = std::max(expected[k], errors[k]);
    }
    expect_errors(*result.flip, expected);
    // Values of the published implementation. It finds the exposures with another precision.
    EXPECT_NEAR(result.flip->first_exposure, -2.312407, 1e-4);
    EXPECT_NEAR(result.flip->last_exposure, 5.171317, 1e-4);
    EXPECT_NEAR(result.flip->mean, 0.386568027, 1e-6);
    EXPECT_NEAR(result.flip->max, 0.764408052, 1e-6);
}

TEST(MetricsPerceptionTest, FlipIsOneBetweenOppositeColors) {
    // Green and blue have the maximum color difference; the images have no edges.
    Bytes green, blue;
    for (int i = 0; i < 100; ++i) {
        for (const int channel : {0, 255, 0, 255}) green.push_back(static_cast<std::byte>(channel));
        for (const int channel : {0, 0, 255, 255}) blue.push_back(static_cast<std::byte>(channel));
    }
    const Comparison result =
        compare(view(green, Format::rgba8_unorm, 10, 10), view(blue, Format::rgba8_unorm, 10, 10), {.flip = true});
    EXPECT_NEAR(result.flip->mean, 1, 1e-5);
    EXPECT_LE(result.flip->max, 1);
}

TEST(MetricsPerceptionTest, FlipTreatsASingleChannelAsGray) {
    const Bytes rgba = scene(30, 20, 0), other = scene(30, 20, 3);
    const auto gray = [&](const Bytes& texels, std::size_t channels) {
        Bytes out;
        for (std::size_t i = 0; i < texels.size(); i += 4) out.insert(out.end(), channels, texels[i]);
        return out;
    };
    const Bytes a1 = gray(rgba, 1), b1 = gray(other, 1), a4 = gray(rgba, 4), b4 = gray(other, 4);
    const ComparisonOptions options{.flip = true};
    const Comparison one = compare(view(a1, Format::r8_unorm, 30, 20), view(b1, Format::r8_unorm, 30, 20), options);
    const Comparison four =
        compare(view(a4, Format::rgba8_unorm, 30, 20), view(b4, Format::rgba8_unorm, 30, 20), options);
    EXPECT_EQ(one.flip, four.flip);
}

TEST(MetricsPerceptionTest, MoreNoiseGivesWorseMetrics) {
    const Bytes a = scene(64, 64, 0), b = scene(64, 64, 1), c = scene(64, 64, 4);
    const auto flip = [&](const Bytes& other) {
        return compare(view(a, Format::rgba8_unorm, 64, 64), view(other, Format::rgba8_unorm, 64, 64), {.flip = true});
    };
    const Comparison small = flip(b), large = flip(c);
    EXPECT_GT(small.flip->mean, 0);
    EXPECT_LT(small.flip->mean, large.flip->mean);
    EXPECT_GT(*small.all.ssim, *large.all.ssim);
    EXPECT_GT(small.all.psnr, large.all.psnr);
}

}  // namespace
}  // namespace texton
