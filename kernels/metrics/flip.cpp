// FLIP, after Andersson, Nilsson, Akenine-Moller, Oskarsson, Astrom and Fairchild, 2020, and for high dynamic range
// after Andersson, Nilsson, Shirley and Akenine-Moller, 2021. For each tile of both images:
//
//   linear RGB -> YCxCz -> contrast sensitivity filters -> linear RGB, clamped -> L*a*b*, Hunt effect -> HyAB distance
//                  Y    -> first and second derivatives of a Gaussian -> edges and points -> their difference
//
// The error is the color difference raised to the power of 1 - the feature difference. All filters are sums of
// separable filters. High dynamic range is tone-mapped at several exposures, and the result is the largest error.
#include <cmath>
#include <cstdint>

#include "kernels/metrics/filter.h"
#include "kernels/metrics/flip_filters.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

constexpr std::size_t kTileWidth = 128, kTileHeight = 64;

using Planes = std::array<std::vector<float>, 3>;

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
        if (a.has_short_codes()) light_of_code_ = light_of_codes(a);
    }

    /// Writes the errors of the tile's texels.
    void operator()(Scratch& scratch, const Tile& tile, std::vector<float>& errors) const {
        const Extent extent = readers_[0]->extent();
        const Tile seen = surroundings(tile);
        if (same_bytes(*readers_[0], *readers_[1], seen)) return;  // errors are initialized with 0
        for (std::size_t image = 0; image < 2; ++image) load(scratch, image, tile);
        for (int i = 0; i < flip_.exposures; ++i) {
            for (std::size_t image = 0; image < 2; ++image) {
                see(scratch, image, tile, exposure_of(flip_, i));
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
                out[x] = light_of_code_.empty() ? light_of_code(reader, code) : light_of_code_[code];
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
                for (std::size_t c = 0; c < 3; ++c) rgb[c] = tone_mapped(rgb[c] * exposure);
            }
            const Rgb opponent = colors_.opponent(rgb);
            for (std::size_t c = 0; c < 3; ++c) scratch.opponent[c][i] = opponent[c];
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
                const Rgb lab =
                    colors_.lab({scratch.row[0][x], scratch.row[1][x], scratch.row[2][x] + scratch.row[3][x]});
                for (std::size_t c = 0; c < 3; ++c) scratch.lab[image][c][y * tile.width + x] = lab[c];
            }
        }
    }

    void find_features(Scratch& scratch, std::size_t image, const Tile& tile) const {
        const std::size_t rim = filters_.radius_of_all, reach = filters_.feature_radius;
        const std::size_t width = padded_width(tile), height = padded_height(tile);
        std::vector<float>& luminance = scratch.opponent[0];
        for (float& value : luminance) value = FlipColors::luminance_of(value);
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
            errors[x] = std::max(errors[x], colors_.error(lab(0), lab(1), unlike(0), unlike(1)));
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
    FlipFilters filters_;
    const Flip& flip_;
    FlipColors colors_ = flip_colors();
    std::vector<float> light_of_code_;
};

}  // namespace

Flip flip_exposures(const TexelReader& a) {
    Flip flip;
    if (!a.is_float()) return flip;
    const Extent extent = a.extent();
    const std::size_t channels = a.channels();
    const LuminanceWeights weights = luminance_weights();
    std::vector<float> luminances;
    std::vector<std::uint32_t> codes(extent.width * channels);
    for (std::size_t row = 0; row < extent.height * extent.depth; ++row) {
        a.read({0, row % extent.height, row / extent.height}, extent.width, codes.data());
        for (std::size_t x = 0; x < extent.width; ++x) {
            const std::uint32_t* const texel = codes.data() + x * channels;
            const bool finite = std::all_of(texel, texel + std::min<std::size_t>(channels, 3),
                                            [&](std::uint32_t code) { return a.is_finite(code); });
            const float luminance =
                luminance_of_light(weights, channels, [&](std::size_t c) { return a.value(texel[c], c); });
            if (finite) luminances.push_back(luminance);
        }
    }
    if (luminances.empty()) return flip;
    const double brightest = *std::max_element(luminances.begin(), luminances.end());
    return exposures_of(brightest, median(luminances));
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
