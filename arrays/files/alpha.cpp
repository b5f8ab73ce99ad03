#include "arrays/files/alpha.h"

#include <cstdint>
#include <cstring>

#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

// Returns the code value of 1 in a channel of the format.
std::uint32_t one(Format format) {
    const FormatInfo& row = info(format);
    if (row.kind == FormatKind::unorm || row.kind == FormatKind::srgb) return row.bits == 8 ? 0xffu : 0xffffu;
    if (row.kind == FormatKind::snorm) return row.bits == 8 ? 0x7fu : 0x7fffu;
    if (row.kind == FormatKind::floating) return row.bits == 16 ? 0x3c00u : 0x3f800000u;
    return 1;
}

// Calls call.template operator()<Channel>() with the unsigned integer that has the size of a channel, so that compilers
// know the size.
template <class Call>
auto with_channel_of(Format format, const Call& call) {
    switch (info(format).bytes / 4) {
        case 1: return call.template operator()<std::uint8_t>();
        case 2: return call.template operator()<std::uint16_t>();
        default: return call.template operator()<std::uint32_t>();
    }
}

}  // namespace

void set_alpha_to_one(Format format, std::span<std::byte> texels) {
    with_channel_of(format, [&]<class Channel>() {
        const auto value = static_cast<Channel>(one(format));
        for (std::size_t at = 3 * sizeof(Channel); at < texels.size(); at += 4 * sizeof(Channel))
            std::memcpy(texels.data() + at, &value, sizeof(Channel));
    });
}

bool has_alpha_of_one(Format format, std::span<const std::byte> texels) {
    return with_channel_of(format, [&]<class Channel>() {
        const auto value = static_cast<Channel>(one(format_of(channel_type(format)).value_or(format)));
        Channel alpha;
        for (std::size_t at = 3 * sizeof(Channel); at < texels.size(); at += 4 * sizeof(Channel)) {
            std::memcpy(&alpha, texels.data() + at, sizeof(Channel));
            if (alpha != value) return false;
        }
        return true;
    });
}

void copy_colors(Format format, std::span<const std::byte> texels, std::byte* colors) {
    with_channel_of(format, [&]<class Channel>() {
        constexpr std::size_t kKept = 3 * sizeof(Channel);
        for (std::size_t at = 0; at < texels.size(); at += 4 * sizeof(Channel), colors += kKept)
            std::memcpy(colors, texels.data() + at, kKept);
    });
}

}  // namespace texton::detail
