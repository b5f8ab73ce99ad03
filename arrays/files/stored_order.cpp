#include "arrays/files/stored_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <texton/channel_codes.h>

#include "arrays/files/alpha.h"

// Channels whose bytes have the format's width are moved. All others are looked up: each channel has a table from the
// stored code to the format's code, in which a channel that the file lacks has one entry.

namespace texton::detail {
namespace {

constexpr std::string_view kLetters = "RGBA";

std::uint64_t largest(unsigned bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

unsigned format_bits(Format format, std::size_t channel) noexcept {
    return channel_bits(format, static_cast<int>(channel)).count;
}

bool has_width_of_format(const StoredField& field, Format format, std::size_t channel) noexcept {
    return field.count == 0 || field.count == format_bits(format, channel);
}

bool has_widths_of_format(const StoredOrder& order, Format format) noexcept {
    for (std::size_t c = 0; c < order.channels.size(); ++c) {
        if (!has_width_of_format(order.channels[c], format, c)) return false;
    }
    return true;
}

bool is_of_bytes(const StoredOrder& order, Format format) noexcept {
    return info(format).layout == FormatLayout::plain && has_widths_of_format(order, format) &&
           std::ranges::all_of(order.channels, [](const StoredField& field) { return field.first % 8 == 0; });
}

// Returns the letters of the format's colors that the file lacks.
std::string lacking_colors(const StoredOrder& order, Format format) {
    std::string letters;
    for (std::size_t c = 0; c < std::min<std::size_t>(info(format).channels, 3); ++c) {
        if (order.channels[c].count == 0) letters += kLetters[c];
    }
    return letters;
}

template <class Code>
void move_channels(const StoredOrder& order, Format format, std::span<const std::byte> stored, std::byte* texels) {
    const std::size_t channels = info(format).channels, texel = info(format).bytes, count = stored.size() / order.bytes;
    if (!lacking_colors(order, format).empty()) std::memset(texels, 0, count * texel);
    for (std::size_t c = 0; c < channels; ++c) {
        if (order.channels[c].count == 0) continue;
        const std::byte* from = stored.data() + order.channels[c].first / 8;
        std::byte* to = texels + c * sizeof(Code);
        for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * texel, from + i * order.bytes, sizeof(Code));
    }
    if (channels == 4 && order.channels[3].count == 0) set_alpha_to_one(format, {texels, count * texel});
}

// Returns the code of the format for each stored code.
std::vector<std::uint16_t> table_of(const StoredField& field, Format format, std::size_t channel) {
    const unsigned bits = format_bits(format, channel);
    const bool normalized = info(format).kind == FormatKind::unorm || info(format).kind == FormatKind::srgb;
    if (field.count == 0) {
        const std::uint64_t one = normalized ? largest(bits) : 1;
        return {static_cast<std::uint16_t>(channel == 3 ? one : 0)};
    }
    const std::uint64_t most = largest(field.count);
    std::vector<std::uint16_t> codes;
    for (std::uint64_t code = 0; code <= most; ++code) {
        const std::uint64_t scaled = normalized ? (code * largest(bits) + most / 2) / most : code;
        codes.push_back(static_cast<std::uint16_t>(scaled));
    }
    return codes;
}

template <std::size_t bytes>
void look_up(const StoredOrder& order, Format format, std::span<const std::byte> stored, std::byte* texels) {
    struct Channel {
        std::vector<std::uint16_t> codes;
        unsigned from, to;  // lowest bits
    };
    std::vector<Channel> channels;
    for (std::size_t c = 0; c < info(format).channels; ++c) {
        channels.push_back({table_of(order.channels[c], format, c), order.channels[c].first,
                            channel_bits(format, static_cast<int>(c)).first});
    }
    const std::size_t texel = info(format).bytes;
    for (std::size_t i = 0; i < stored.size() / bytes; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, stored.data() + i * bytes, bytes);
        std::uint64_t packed = 0;
        for (const Channel& channel : channels) {
            const std::size_t code = word >> channel.from & (channel.codes.size() - 1);
            packed |= std::uint64_t{channel.codes[code]} << channel.to;
        }
        std::memcpy(texels + i * texel, &packed, texel);
    }
}

void unpack_fields(const StoredOrder& order, Format format, std::span<const std::byte> stored, std::byte* texels) {
    if (is_of_bytes(order, format)) {
        switch (info(format).bits) {
            case 8: return move_channels<std::uint8_t>(order, format, stored, texels);
            case 16: return move_channels<std::uint16_t>(order, format, stored, texels);
            default: return move_channels<std::uint32_t>(order, format, stored, texels);
        }
    }
    switch (order.bytes) {
        case 1: return look_up<1>(order, format, stored, texels);
        case 2: return look_up<2>(order, format, stored, texels);
        case 3: return look_up<3>(order, format, stored, texels);
        default: return look_up<4>(order, format, stored, texels);
    }
}

template <class Halves>
void unpack_floats(std::span<const std::byte> stored, std::byte* texels, const Halves& halves_of) {
    for (std::size_t i = 0; i < stored.size() / 4; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, stored.data() + i * 4, 4);
        const std::array<std::uint16_t, 4> halves = halves_of(word);
        std::memcpy(texels + i * sizeof(halves), halves.data(), sizeof(halves));
    }
}

constexpr std::uint16_t kHalfOne = 0x3c00;

std::array<std::uint16_t, 4> halves_of_small_floats(std::uint32_t word) noexcept {
    const auto half = [](std::uint32_t code) { return static_cast<std::uint16_t>(code); };
    return {half((word & 0x7ff) << 4), half((word >> 11 & 0x7ff) << 4), half((word >> 22) << 5), kHalfOne};
}

std::array<std::uint16_t, 4> halves_of_shared_exponent(std::uint32_t word) noexcept {
    const int exponent = static_cast<int>(word >> 27) - 24;  // the bias 15, and 9 digits
    const auto half = [&](std::uint32_t digits) {
        return static_cast<std::uint16_t>(half_code_of(std::ldexp(static_cast<float>(digits & 0x1ff), exponent)));
    };
    return {half(word), half(word >> 9), half(word >> 18), kHalfOne};
}

// Returns the letters of the channels from the lowest bit on, with their bits if they differ from the format's: B5G6R5.
std::string letters_of(const StoredOrder& order, Format format) {
    std::vector<std::size_t> present;
    for (std::size_t c = 0; c < order.channels.size(); ++c) {
        if (order.channels[c].count != 0) present.push_back(c);
    }
    std::ranges::sort(present, {}, [&](std::size_t c) { return order.channels[c].first; });
    const bool widths = !has_widths_of_format(order, format);
    std::string text;
    for (const std::size_t c : present) {
        text += kLetters[c];
        if (widths) text += std::to_string(order.channels[c].count);
    }
    return text;
}

bool is_exact(const StoredOrder& order, Format format) noexcept {
    if (info(format).kind == FormatKind::uint) return true;
    for (std::size_t c = 0; c < order.channels.size(); ++c) {
        const unsigned count = order.channels[c].count;
        if (count != 0 && largest(format_bits(format, c)) % largest(count) != 0) return false;
    }
    return true;
}

std::string conversion_of_fields(const StoredOrder& order, Format format) {
    const std::string letters = letters_of(order, format);
    if (!has_widths_of_format(order, format)) {
        return fmt::format("{} is converted to {}{}.", letters, name(format),
                           is_exact(order, format) ? ", which holds all values" : ": values become the nearest code");
    }
    if (std::ranges::is_sorted(letters, {}, [](char letter) { return kLetters.find(letter); })) return "";
    std::string sorted = letters;
    std::ranges::sort(sorted, {}, [](char letter) { return kLetters.find(letter); });
    return fmt::format("{} is reordered to {}.", letters, sorted);
}

}  // namespace

std::size_t stored_bytes(Format format, const StoredOrder& order) noexcept {
    return order.coding == StoredOrder::Coding::as_format ? info(format).bytes : order.bytes;
}

StoredOrder simplified(const StoredOrder& order, Format format) noexcept {
    if (order.coding != StoredOrder::Coding::fields || order.bytes != info(format).bytes) return order;
    for (std::size_t c = 0; c < order.channels.size(); ++c) {
        const ChannelBits bits = channel_bits(format, static_cast<int>(c));
        if (order.channels[c] != StoredField{bits.first, bits.count}) return order;
    }
    return StoredOrder::same;
}

void unpack(const StoredOrder& order, Format format, std::span<const std::byte> stored, std::byte* texels) {
    switch (order.coding) {
        case StoredOrder::Coding::as_format: std::memcpy(texels, stored.data(), stored.size()); break;
        case StoredOrder::Coding::fields: unpack_fields(order, format, stored, texels); break;
        case StoredOrder::Coding::small_floats: unpack_floats(stored, texels, halves_of_small_floats); break;
        case StoredOrder::Coding::shared_exponent: unpack_floats(stored, texels, halves_of_shared_exponent); break;
    }
}

std::vector<std::string> conversions_of(const StoredOrder& order, Format format) {
    std::vector<std::string> sentences;
    switch (order.coding) {
        case StoredOrder::Coding::as_format: return {};
        case StoredOrder::Coding::small_floats:
            sentences.push_back(fmt::format("R11G11B10 is converted to {}, which holds all values.", name(format)));
            break;
        case StoredOrder::Coding::shared_exponent:
            sentences.push_back(fmt::format("R9G9B9E5 is converted to {}, which holds all values.", name(format)));
            break;
        case StoredOrder::Coding::fields:
            if (std::string text = conversion_of_fields(order, format); !text.empty()) sentences.push_back(text);
            break;
    }
    const std::string lacking = lacking_colors(order, format);
    const bool lacks_alpha = info(format).channels == 4 && order.channels[3].count == 0;
    if (lacking == "RGB") {
        sentences.emplace_back("Alpha is widened to four channels, with colors 0.");
    } else if (!lacking.empty()) {
        sentences.push_back(fmt::format("Colors that the file lacks become 0: {}.", lacking));
        if (lacks_alpha) sentences.emplace_back("Alpha becomes 1.");
    } else if (lacks_alpha) {
        sentences.emplace_back("Three channels are widened to four, with alpha 1.");
    }
    return sentences;
}

}  // namespace texton::detail
