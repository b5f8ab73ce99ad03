#include "viewer/render/color_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/lut.h>
#include <texton/pitched.h>
#include <texton/stream.h>

namespace texton::viewer {
namespace {

constexpr float kOffset = 1.0f / 64;
constexpr int kFirstOctave = -7;  // the binary logarithm of kMinLevel + kOffset
constexpr std::size_t kEntriesPerOctave = 8;
constexpr std::size_t kScratchSide = 256;  // a tile of the canvas is converted at once
constexpr LutDomain kDomain{
    .low = {ColorTables::kMinLevel, ColorTables::kMinLevel, ColorTables::kMinLevel},
    .high = {ColorTables::kMaxLevel, ColorTables::kMaxLevel, ColorTables::kMaxLevel},
};

// The inverse of the sRGB transfer curve. Negative values are on its linear part, as OpenColorIO encodes them.
float light_of(float encoded) {
    return encoded <= 0.04045f ? encoded / 12.92f : std::pow((encoded + 0.055f) / 1.055f, 2.4f);
}

// Returns the code value from 0 to 255 of linear light, without rounding.
float code_of(float light) {
    const float inside = light > 0 ? std::min(light, 1.0f) : 0;
    return 255 * (inside <= 0.0031308f ? inside * 12.92f : 1.055f * std::pow(inside, 1 / 2.4f) - 0.055f);
}

// Returns colors between the entries of a table, more of them dark. They are the same ones on each call.
std::vector<Color> colors_between_entries() {
    std::minstd_rand random(1);
    const auto share = [&random] { return static_cast<float>(random()) / static_cast<float>(std::minstd_rand::max()); };
    std::vector<Color> out(kScratchSide * kScratchSide);
    for (Color& color : out) {
        const float brightest = std::exp2(12 * share() - 8);
        color = {brightest * share(), brightest * share(), brightest * share(), 1};
    }
    return out;
}

void decode(std::span<Color> colors) {
    for (Color& color : colors)
        for (std::size_t c = 0; c < 3; ++c) color[c] = light_of(color[c]);
}

std::vector<Color> entries_of(const ColorTransform& transform) {
    std::array<float, ColorTables::kEntries> levels{};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const float share = static_cast<float>(i % kEntriesPerOctave) / kEntriesPerOctave;
        levels[i] = std::ldexp(1 + share, kFirstOctave + static_cast<int>(i / kEntriesPerOctave)) - kOffset;
    }
    std::vector<Color> out;
    out.reserve(levels.size() * levels.size() * levels.size());
    for (const float blue : levels)
        for (const float green : levels)
            for (const float red : levels) out.push_back({red, green, blue, 1});
    transform.apply(out);
    decode(out);
    return out;
}

Array table_of(const Device& device, const ColorTransform& transform) {
    constexpr Extent kExtent{ColorTables::kEntries, ColorTables::kEntries, ColorTables::kEntries};
    const std::vector<Color> entries = entries_of(transform);
    Array out(device, {.format = Format::rgba32_float, .extent = kExtent, .kind = ArrayKind::array_3d});
    copy(out.view(), host_view(entries.data(), Format::rgba32_float, kExtent));
    return out;
}

bool is_in_range(const Color& color) {
    return std::all_of(color.begin(), color.begin() + 3,
                       [](float level) { return level >= ColorTables::kMinLevel && level <= ColorTables::kMaxLevel; });
}

}  // namespace

struct ColorTables::Scratch {
    explicit Scratch(const Device& device)
        : stream(device),
          colors(device, Format::rgba32_float, {kScratchSide, kScratchSide}),
          converted(device, Format::rgba32_float, {kScratchSide, kScratchSide}) {}

    Stream stream;
    Pitched2D colors;
    Pitched2D converted;
};

ColorTables::ColorTables(const Device& device, std::shared_ptr<const ColorTransform> transform)
    : device_(device), transform_(std::move(transform)), table_(table_of(device, *transform_)) {}

ColorTables::~ColorTables() = default;

float ColorTables::error() const {
    std::vector<Color> converted = colors_between_entries();
    std::vector<Color> exact = converted;
    apply(converted);
    transform_->apply(exact);
    decode(exact);
    float out = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
            out = std::max(out, std::abs(code_of(converted[i][c]) - code_of(exact[i][c])));
    return out;
}

std::unique_ptr<ColorTables::Scratch> ColorTables::take_scratch() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>(device_);
    std::unique_ptr<Scratch> out = std::move(idle_.back());
    idle_.pop_back();
    return out;
}

void ColorTables::apply(std::span<Color> colors) const {
    std::unique_ptr<Scratch> scratch = take_scratch();
    std::vector<std::size_t> outside;
    std::vector<Color> exact;
    for (std::size_t i = 0; i < colors.size(); ++i) {
        if (is_in_range(colors[i])) continue;
        outside.push_back(i);
        exact.push_back(colors[i]);
    }
    // Whole rows. A single row would be a 1D texture.
    std::span<Color> left = colors;
    while (left.size() >= 2 * kScratchSide) {
        const Region region{.offset = {}, .extent = {kScratchSide, std::min(left.size() / kScratchSide, kScratchSide)}};
        const View view = host_view(left.data(), Format::rgba32_float, region.extent);
        const View source = scratch->colors.view().region(region);
        const View converted = scratch->converted.view().region(region);
        copy(source, view, scratch->stream);
        lut_3d(scratch->stream, converted, Texture(source), table_,
               {.domain = kDomain, .filter = LutFilter::exact, .octave_offset = kOffset});
        copy(view, converted, scratch->stream);
        left = left.subspan(region.extent.width * region.extent.height);
    }
    transform_->apply(left);
    decode(left);
    scratch->stream.synchronize();
    if (!exact.empty()) {
        transform_->apply(exact);
        decode(exact);
        for (std::size_t i = 0; i < outside.size(); ++i) colors[outside[i]] = exact[i];
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
}

std::shared_ptr<const ColorTables> ColorTableCache::tables(const Device& device,
                                                           const std::shared_ptr<const ColorTransform>& transform) {
    const std::lock_guard lock(mutex_);
    if (transform_ == transform && device_ == device) return tables_;
    transform_.reset();
    tables_.reset();
    auto made = std::make_shared<const ColorTables>(device, transform);
    error_ = made->error();
    if (ColorTableError{transform, error_}.is_used()) tables_ = std::move(made);
    transform_ = transform;
    device_ = device;
    return tables_;
}

std::optional<ColorTableError> ColorTableCache::last_error() const {
    const std::lock_guard lock(mutex_);
    if (!transform_) return {};
    return ColorTableError{transform_, error_};
}

}  // namespace texton::viewer
