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

#include "arrays/files/alpha.h"
#include "arrays/files/decoded_blocks.h"
#include "arrays/files/stored_texels.h"
#include "arrays/files/texel_values.h"
#include "core/file_error.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";

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
    /// `by_value`: the numeric values are converted; otherwise the bits of channels are kept.
    Converted(ImageSourcePtr file, Format to, bool srgb, bool by_value, bool has_alpha)
        : ImageSource(to, srgb, file->levels()),
          file_(std::move(file)),
          by_value_(by_value),
          sources_(sources_of_channels(info(file_->format()).channels, info(to).channels, has_alpha)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const Format from = file_->format();
        if (!by_value_ && info(from).channels == info(format()).channels) {
            file_->read(level, box, packed);
            return;
        }
        const auto texels = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(from, box.extent));
        file_->read(level, box, texels.get());
        const std::size_t count = box.extent.width * box.extent.height * box.extent.depth;
        run_in_parallel((count + kGrain - 1) / kGrain, [&](std::size_t part) {
            const std::size_t first = part * kGrain, texels_here = std::min(kGrain, count - first);
            const std::byte* here = texels.get() + first * info(from).bytes;
            std::byte* there = packed + first * info(format()).bytes;
            by_value_ ? convert(here, there, texels_here) : spread_codes(here, there, texels_here);
        });
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const std::size_t share = max_bytes * info(file_->format()).bytes / info(format()).bytes;
        return file_->boxes(level, std::min(max_bytes, std::max<std::size_t>(share, 1)));
    }
    ImageAccess access(int level) const override { return file_->access(level); }

private:
    static constexpr std::size_t kGrain = 16384;

    void convert(const std::byte* from, std::byte* to, std::size_t count) const {
        const auto from_channels = static_cast<std::size_t>(info(file_->format()).channels);
        const auto to_channels = static_cast<std::size_t>(info(format()).channels);
        std::vector<float> values(count * from_channels);
        to_floats(file_->format(), file_->srgb() && !srgb(), from, values);
        if (from_channels != to_channels) {
            std::vector<float> spread(count * to_channels);
            spread_channels(values.data(), spread.data(), count, 1.0f);
            values = std::move(spread);
        }
        store_floats(values, format(), srgb() && !file_->srgb(), to);
    }

    void spread_codes(const std::byte* from, std::byte* to, std::size_t count) const {
        std::array<std::byte, 16> one{};
        set_alpha_to_one(with_channels(format(), 4), std::span(one).first(info(with_channels(format(), 4)).bytes));
        const auto spread = [&](auto code) {
            std::memcpy(&code, &one[3 * sizeof(code)], sizeof(code));
            spread_channels(from, to, count, code);
        };
        switch (info(format()).bits) {
            case 8: return spread(std::uint8_t{});
            case 16: return spread(std::uint16_t{});
            default: return spread(std::uint32_t{});
        }
    }

    template <class Channel>
    void spread_channels(const void* from, void* to, std::size_t count, Channel one) const {
        const auto from_channels = static_cast<std::size_t>(info(file_->format()).channels);
        const auto to_channels = static_cast<std::size_t>(info(format()).channels);
        const auto* source = static_cast<const std::byte*>(from);
        auto* target = static_cast<std::byte*>(to);
        for (std::size_t texel = 0; texel < count; ++texel) {
            for (std::size_t c = 0; c < to_channels; ++c, target += sizeof(Channel)) {
                Channel value = sources_[c] == kOne ? one : Channel{};
                if (sources_[c] >= 0) {
                    const std::size_t channel = texel * from_channels + static_cast<std::size_t>(sources_[c]);
                    std::memcpy(&value, source + channel * sizeof(Channel), sizeof(Channel));
                }
                std::memcpy(target, &value, sizeof(Channel));
            }
        }
    }

    ImageSourcePtr file_;
    bool by_value_;
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

// Says which values the target cannot hold.
void say_clamped(FormatKind from, FormatKind to, std::vector<std::string>& sentences) {
    const bool has_sign = to == FormatKind::floating || to == FormatKind::snorm;
    if (from == FormatKind::floating && to == FormatKind::snorm) {
        sentences.emplace_back("Values below -1 and above 1 are clamped.");
    } else if (from == FormatKind::floating && !has_sign) {
        sentences.emplace_back("Values below 0 and above 1 are clamped.");
    } else if (from == FormatKind::snorm && !has_sign) {
        sentences.emplace_back("Values below 0 are clamped.");
    }
}

[[noreturn]] void refuse(Format from, Format to, const std::string& name) {
    fail_file(kOpen, name,
              fmt::format("contains {}, which cannot be converted to {}", texton::name(from), texton::name(to)),
              block_side(to) > 1
                  ? "Blocks are decoded, but images are not encoded to blocks: request a format without compression."
                  : "Request a format whose channels have the same number of bits. Values are converted between unorm, "
                    "snorm, srgb and float formats only.",
              ErrorCode::unsupported);
}

ImageSourcePtr converted_channels(ImageSourcePtr file, Format to, bool by_value, bool has_alpha,
                                  std::vector<std::string>& sentences) {
    const Format from = file->format();
    const bool is_float = info(to).kind == FormatKind::floating;
    const bool srgb = info(to).kind == FormatKind::srgb || (file->srgb() && !(by_value && is_float));
    if (by_value) {
        if (file->srgb() && !srgb) sentences.emplace_back("sRGB is decoded to linear values.");
        if (!file->srgb() && srgb) sentences.emplace_back("Linear values are encoded as sRGB.");
    }
    say_channels(info(from).channels, info(to).channels, has_alpha, sentences);
    return std::make_shared<Converted>(std::move(file), to, srgb, by_value, has_alpha);
}

ImageSourcePtr converted_blocks(ImageSourcePtr file, Format to, BlockDecoding decoding, bool has_alpha,
                                const std::string& name, std::vector<std::string>& sentences) {
    const Format from = file->format();
    ImageSourcePtr decoded = decoded_blocks(std::move(file), decoding);
    const bool exact = decoded->format() != decoded_format(from);
    const Conversion how = conversion(decoded->format(), to);
    if (how == Conversion::impossible || (exact && !has_values(to))) refuse(from, to, name);
    sentences.push_back(exact ? fmt::format("Blocks of {} are decoded with the exact fractions.", texton::name(from))
                              : fmt::format("Blocks of {} are decoded to {}, as a GPU decodes them.",
                                            texton::name(from), texton::name(decoded->format())));
    if (info(from).channels == 3) sentences.emplace_back("Three channels are widened to four, with alpha 1.");
    if (!exact) return converted(std::move(decoded), to, decoding, has_alpha, name, sentences);
    say_clamped(info(from).kind, info(to).kind, sentences);
    return converted_channels(std::move(decoded), to, true, has_alpha, sentences);
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
    if (old.layout != target.layout && (!has_values(from) || !has_values(to))) return Conversion::impossible;
    if (old.layout == FormatLayout::block || old.layout == FormatLayout::planar) {
        return family(from) == family(to) ? Conversion::none : Conversion::impossible;
    }
    const auto is_float = [](const FormatInfo& row) { return row.kind == FormatKind::floating; };
    const bool is_signed = old.kind == FormatKind::snorm;
    const bool loses_sign = is_signed && (target.kind == FormatKind::unorm || target.kind == FormatKind::srgb);
    const bool alike = old.layout == target.layout && old.bits == target.bits && is_float(old) == is_float(target);
    if (alike && !loses_sign) return Conversion::none;
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

ImageSourcePtr converted(ImageSourcePtr file, Format to, BlockDecoding decoding, bool has_alpha,
                         const std::string& name, std::vector<std::string>& sentences) {
    const Format from = file->format();
    if (from == to) return file;
    if (block_side(from) > 1 && family(from) != family(to)) {
        return converted_blocks(std::move(file), to, decoding, has_alpha, name, sentences);
    }
    const Conversion how = conversion(from, to);
    if (how == Conversion::impossible) refuse(from, to, name);
    if (how == Conversion::values) {
        sentences.push_back(fmt::format("Channels are converted from {} bits to {} bits{}.", info(from).bits,
                                        info(to).bits, info(to).kind == FormatKind::floating ? " (float)" : ""));
        say_clamped(info(from).kind, info(to).kind, sentences);
    } else if (info(from).kind != info(to).kind) {
        sentences.push_back(fmt::format("The stored bits are reinterpreted as {}.", texton::name(to)));
    }
    return converted_channels(std::move(file), to, how == Conversion::values, has_alpha, sentences);
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
