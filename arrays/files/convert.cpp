#include "arrays/files/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <span>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";

bool has_values(Format format) noexcept {
    const FormatInfo& row = info(format);
    const bool number =
        row.kind == FormatKind::unorm || row.kind == FormatKind::srgb || row.kind == FormatKind::floating;
    return row.layout == FormatLayout::plain && number;
}

float linear_of(float encoded) noexcept {
    const double value = encoded;
    return static_cast<float>(value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
}

float encoded_of(float linear) noexcept {
    const double value = linear;
    return static_cast<float>(value <= 0.0031308 ? value * 12.92 : 1.055 * std::pow(value, 1 / 2.4) - 0.055);
}

// The last of two or four channels is alpha, which is never sRGB-encoded.
void change_colors(std::span<float> values, int channels, float (*change)(float) noexcept) {
    const auto count = static_cast<std::size_t>(channels);
    for (std::size_t at = 0; at < values.size(); ++at) {
        const bool alpha = count % 2 == 0 && at % count == count - 1;
        if (!alpha) values[at] = change(values[at]);
    }
}

template <class Code>
void from_unorm(const std::byte* texels, std::span<float> values) noexcept {
    for (std::size_t at = 0; at < values.size(); ++at) {
        Code stored;
        std::memcpy(&stored, texels + at * sizeof(Code), sizeof(Code));
        values[at] = static_cast<float>(stored) / static_cast<float>(std::numeric_limits<Code>::max());
    }
}

// Rounds halves up. NaN becomes 0.
template <class Code>
void to_unorm(std::span<const float> values, std::byte* texels) noexcept {
    constexpr double kMax = std::numeric_limits<Code>::max();
    for (std::size_t at = 0; at < values.size(); ++at) {
        const double value = values[at] > 0 ? std::min(1.0, static_cast<double>(values[at])) : 0.0;
        const auto stored = static_cast<Code>(std::floor(value * kMax + 0.5));
        std::memcpy(texels + at * sizeof(Code), &stored, sizeof(Code));
    }
}

// Converts values between float and another type of floats. OpenImageIO counts in int.
void convert_floats(OIIO::TypeDesc from_type, const void* from, OIIO::TypeDesc to_type, void* to, std::size_t count) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (std::size_t at = 0; at < count; at += kPiece) {
        OIIO::convert_pixel_values(from_type, static_cast<const std::byte*>(from) + at * from_type.size(), to_type,
                                   static_cast<std::byte*>(to) + at * to_type.size(),
                                   static_cast<int>(std::min(kPiece, count - at)));
    }
}

void to_floats(Format format, bool decode, const std::byte* texels, std::span<float> values) {
    if (info(format).kind == FormatKind::floating) {
        convert_floats(channel_type(format), texels, OIIO::TypeDesc::FLOAT, values.data(), values.size());
    } else if (info(format).bits == 8) {
        from_unorm<std::uint8_t>(texels, values);
    } else {
        from_unorm<std::uint16_t>(texels, values);
    }
    if (decode) change_colors(values, info(format).channels, linear_of);
}

// Changes the values.
void store_floats(std::span<float> values, Format format, bool encode, std::byte* texels) {
    if (encode) change_colors(values, info(format).channels, encoded_of);
    if (info(format).kind == FormatKind::floating) {
        convert_floats(OIIO::TypeDesc::FLOAT, values.data(), channel_type(format), texels, values.size());
    } else if (info(format).bits == 8) {
        to_unorm<std::uint8_t>(values, texels);
    } else {
        to_unorm<std::uint16_t>(values, texels);
    }
}

// Source channel of each target channel, or a constant: kZero is 0, kOne is 1.
constexpr int kZero = -1, kOne = -2;
std::array<int, 4> sources_of_channels(int from, int to, bool has_alpha) noexcept {
    if (from == 1 && to == 4) return {0, 0, 0, kOne};
    if (from == 1 && to == 2) return {0, kOne, 0, 0};
    if (from == 2 && to == 4) {
        if (has_alpha) return {0, 0, 0, 1};
        return {0, 1, kZero, kOne};
    }
    return {0, 1, 2, 3};
}

class Converted : public ImageSource {
public:
    Converted(ImageSourcePtr file, Format to, bool srgb, bool has_alpha)
        : ImageSource(to, srgb, file->levels()),
          file_(std::move(file)),
          by_value_(is_by_value(file_->format(), to)),
          center_(by_value_ ? with_channels(to, info(file_->format()).channels) : file_->format()),
          sources_(sources_of_channels(info(center_).channels, info(to).channels, has_alpha)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const Format from = file_->format();
        const std::size_t count = box.extent.width * box.extent.height * box.extent.depth;
        if (!by_value_ && info(from).channels == info(format()).channels) {
            file_->read(level, box, packed);
            return;
        }
        auto texels = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(from, box.extent));
        file_->read(level, box, texels.get());
        if (by_value_) {
            auto converted = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(center_, box.extent));
            run_in_parallel((count + kGrain - 1) / kGrain, [&](std::size_t part) {
                const std::size_t first = part * kGrain;
                std::vector<float> values(std::min(kGrain, count - first) *
                                          static_cast<std::size_t>(info(from).channels));
                to_floats(from, file_->srgb() && !srgb(), texels.get() + first * info(from).bytes, values);
                store_floats(values, center_, srgb() && !file_->srgb(), converted.get() + first * info(center_).bytes);
            });
            texels = std::move(converted);
        }
        if (info(center_).channels == info(format()).channels) {
            std::memcpy(packed, texels.get(), packed_bytes(center_, box.extent));
        } else {
            spread(texels.get(), packed, count);
        }
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const std::size_t share = max_bytes * info(file_->format()).bytes / info(format()).bytes;
        return file_->boxes(level, std::min(max_bytes, std::max<std::size_t>(share, 1)));
    }
    ImageAccess access(int level) const override { return file_->access(level); }

private:
    static constexpr std::size_t kGrain = 16384;

    static bool is_by_value(Format from, Format to) noexcept { return conversion(from, to) == Conversion::values; }

    void spread(const std::byte* texels, std::byte* packed, std::size_t count) const {
        const auto from_channels = static_cast<std::size_t>(info(center_).channels);
        const auto to_channels = static_cast<std::size_t>(info(format()).channels);
        const std::size_t channel = info(format()).bytes / to_channels;
        std::vector<std::byte> one(channel * 4);
        set_alpha_to_one(with_channels(format(), 4), one);
        for (std::size_t at = 0; at < count; ++at) {
            for (std::size_t to = 0; to < to_channels; ++to) {
                std::byte* target = packed + (at * to_channels + to) * channel;
                const int source = sources_[to];
                if (source == kZero) {
                    std::memset(target, 0, channel);
                } else if (source == kOne) {
                    std::memcpy(target, one.data() + 3 * channel, channel);
                } else {
                    std::memcpy(target, texels + (at * from_channels + static_cast<std::size_t>(source)) * channel,
                                channel);
                }
            }
        }
    }

    ImageSourcePtr file_;
    bool by_value_;
    Format center_;  // type of the target with the number of channels of the file
    std::array<int, 4> sources_;
};

std::string_view family(Format format) noexcept {
    const std::string_view all = name(format);
    return all.substr(0, all.find('_'));
}

void say_channels(int from, int to, bool has_alpha, std::vector<std::string>& sentences) {
    if (from == to) return;
    if (from > to) {
        sentences.push_back(
            fmt::format("The image has {} channels, of which the first {} kept.", from, to == 1 ? "is" : "two are"));
    } else if (to == 2) {
        sentences.emplace_back("One channel is widened to two; the second channel is 1.");
    } else if (from == 2 && !has_alpha) {
        sentences.emplace_back("Two channels are widened to four, with blue 0 and alpha 1.");
    } else {
        sentences.push_back(
            fmt::format("Gray is widened to red, green and blue{}.", from == 1 ? ", with alpha 1" : ""));
    }
}

class FacesAround : public ImageSource {
public:
    FacesAround(ImageSourcePtr image, CubeLayout layout, std::size_t side)
        : ImageSource(image->format(), image->srgb(), {{side, side, 6}}),
          image_(std::move(image)),
          openexr_(layout == CubeLayout::openexr_latlong),
          extent_(image_->level(0)) {}

    void read(int, const Region& box, std::byte* packed) const override {
        // While this thread waits for tasks of the decoder, it must not start another task that reads this image.
        std::call_once(decoded_, [this] { tbb::this_task_arena::isolate([this] { decode(); }); });
        const auto channels = static_cast<std::size_t>(info(format()).channels);
        const std::size_t row = row_bytes(format(), box.extent.width);
        run_in_parallel(box.extent.height * box.extent.depth, [&](std::size_t line) {
            const std::size_t y = box.offset.y + line % box.extent.height;
            const std::size_t face = box.offset.z + line / box.extent.height;
            std::vector<float> values(box.extent.width * channels);
            for (std::size_t x = 0; x < box.extent.width; ++x) {
                blend(face, box.offset.x + x, y, &values[x * channels], channels);
            }
            store_floats(values, format(), srgb(), packed + line * row);
        });
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        return cut(format(), whole(this->level(level)), {this->level(level).width, 1, 1}, max_bytes);
    }

private:
    // The values are allocated at once, but they take memory only as they are written.
    void decode() const {
        const auto channels = static_cast<std::size_t>(info(format()).channels);
        auto values = std::make_unique_for_overwrite<float[]>(packed_bytes(Format::r32_float, extent_) * channels /
                                                              sizeof(float));
        for (const Region& box : image_->boxes(0, kBandBytes)) {
            if (box.offset.z > 0) continue;  // only the first slice has faces
            const auto texels = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(format(), box.extent));
            image_->read(0, box, texels.get());
            const std::size_t row = box.extent.width * channels;
            for (std::size_t y = 0; y < box.extent.height; ++y) {
                to_floats(format(), srgb(), texels.get() + row_bytes(format(), box.extent.width) * y,
                          {&values[((box.offset.y + y) * extent_.width + box.offset.x) * channels], row});
            }
        }
        values_ = std::move(values);
    }

    struct Direction {
        double x, y, z;
    };
    static Direction direction(std::size_t face, double s, double t) noexcept {
        switch (face) {
            case 0: return {1, -t, -s};
            case 1: return {-1, -t, s};
            case 2: return {s, 1, t};
            case 3: return {s, -1, -t};
            case 4: return {s, -t, 1};
            default: return {-s, -t, -1};
        }
    }

    void blend(std::size_t face, std::size_t i, std::size_t j, float* out, std::size_t channels) const {
        const auto side = static_cast<double>(level(0).width);
        const Direction at = direction(face, 2 * (static_cast<double>(i) + 0.5) / side - 1,
                                       2 * (static_cast<double>(j) + 0.5) / side - 1);
        const auto width = static_cast<double>(extent_.width);
        const auto height = static_cast<double>(extent_.height);
        const double around = std::atan2(at.x, at.z) / (2 * std::numbers::pi);
        const double down = std::acos(at.y / std::sqrt(at.x * at.x + at.y * at.y + at.z * at.z)) / std::numbers::pi;
        const double x = openexr_ ? (0.5 - around) * (width - 1) : (0.5 + around) * width - 0.5;
        const double y = openexr_ ? down * (height - 1) : down * height - 0.5;
        const double left = std::floor(x);
        const double top = std::floor(y);
        const std::size_t columns[] = {wrapped(left), wrapped(left + 1)};
        const std::size_t rows[] = {clamped(top), clamped(top + 1)};
        const double across[] = {1 - (x - left), x - left};
        const double below[] = {1 - (y - top), y - top};
        for (std::size_t channel = 0; channel < channels; ++channel) {
            double sum = 0;
            for (std::size_t v = 0; v < 2; ++v) {
                for (std::size_t u = 0; u < 2; ++u) {
                    const std::size_t texel = rows[v] * extent_.width + columns[u];
                    sum += below[v] * across[u] * static_cast<double>(values_[texel * channels + channel]);
                }
            }
            out[channel] = static_cast<float>(sum);
        }
    }

    std::size_t wrapped(double column) const noexcept {
        const auto width = static_cast<std::ptrdiff_t>(extent_.width);
        return static_cast<std::size_t>((static_cast<std::ptrdiff_t>(column) + width) % width);
    }
    std::size_t clamped(double row) const noexcept {
        return static_cast<std::size_t>(std::clamp(row, 0.0, static_cast<double>(extent_.height - 1)));
    }

    ImageSourcePtr image_;
    bool openexr_;
    Extent extent_;
    mutable std::once_flag decoded_;
    mutable std::unique_ptr<float[]> values_;  // linear values, with the channels of the format
};

}  // namespace

Conversion conversion(Format from, Format to) noexcept {
    const FormatInfo& old = info(from);
    const FormatInfo& target = info(to);
    if (old.layout != target.layout) return Conversion::impossible;
    if (old.layout != FormatLayout::plain) {
        return family(from) == family(to) ? Conversion::none : Conversion::impossible;
    }
    const auto is_float = [](const FormatInfo& row) { return row.kind == FormatKind::floating; };
    if (old.bits == target.bits && is_float(old) == is_float(target)) return Conversion::none;
    return has_values(from) && has_values(to) ? Conversion::values : Conversion::impossible;
}

Format with_srgb(Format format, bool srgb) noexcept {
    const FormatKind from = srgb ? FormatKind::unorm : FormatKind::srgb;
    if (info(format).kind != from) return format;
    const std::string found = std::string(family(format)) + (srgb ? "_srgb" : "_unorm");
    return format_named(found).value_or(format);
}

void describe_colors(Format format, bool srgb, ImageColor color, const std::string& space,
                     std::vector<std::string>& sentences) {
    const bool encoded = info(format).kind == FormatKind::srgb;
    if (srgb && !encoded) {
        sentences.push_back(
            fmt::format("Values are sRGB and are not converted: the texture unit does not decode {}.", name(format)));
    } else if (color == ImageColor::by_metadata && !srgb && !space.empty() && space != "Linear") {
        sentences.push_back(fmt::format("Values are not converted from the color space {}.", space));
    }
}

ImageSourcePtr converted(ImageSourcePtr file, Format to, bool has_alpha, const std::string& name,
                         std::vector<std::string>& sentences) {
    const Format from = file->format();
    if (from == to) return file;
    const Conversion how = conversion(from, to);
    if (how == Conversion::impossible) {
        fail_file(kOpen, name,
                  fmt::format("contains {}, which cannot be converted to {}", texton::name(from), texton::name(to)),
                  "Request a format whose channels have the same number of bits. Values are converted between unorm, "
                  "srgb and float formats only.",
                  ErrorCode::unsupported);
    }
    const bool to_srgb = info(to).kind == FormatKind::srgb;
    const bool by_value = how == Conversion::values;
    const bool srgb = to_srgb || (file->srgb() && !(by_value && info(to).kind == FormatKind::floating));
    if (by_value) {
        sentences.push_back(fmt::format("Channels are converted from {} bits to {} bits{}.", info(from).bits,
                                        info(to).bits, info(to).kind == FormatKind::floating ? " (float)" : ""));
        if (info(from).kind == FormatKind::floating && info(to).kind != FormatKind::floating) {
            sentences.emplace_back("Values below 0 and above 1 are clamped.");
        }
        if (file->srgb() && !srgb) sentences.emplace_back("sRGB is decoded to linear values.");
        if (!file->srgb() && srgb) sentences.emplace_back("Linear values are encoded as sRGB.");
    } else if (info(from).kind != info(to).kind) {
        sentences.push_back(fmt::format("The stored bits are reinterpreted as {}.", texton::name(to)));
    }
    say_channels(info(from).channels, info(to).channels, has_alpha, sentences);
    return std::make_shared<Converted>(std::move(file), to, srgb, has_alpha);
}

ImageSourcePtr faces_around(ImageSourcePtr image, CubeLayout layout, std::size_t side, const std::string& name) {
    const Extent extent = image->level(0);
    if (!has_values(image->format())) {
        fail_file(kOpen, name, fmt::format("contains {}, which cannot be interpolated", texton::name(image->format())),
                  "Store the image in a unorm or float format.", ErrorCode::unsupported);
    }
    if (side == 0) side = std::max<std::size_t>(1, extent.width / 4);
    return std::make_shared<FacesAround>(std::move(image), layout, side);
}

}  // namespace texton::detail
