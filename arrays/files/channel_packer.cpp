#include "arrays/files/channel_packer.h"

#include <cstdint>
#include <cstring>

#include "arrays/files/alpha.h"

namespace texton::detail {
namespace {

// Adds alpha to texels of three bytes.
void widen(const std::byte* stored, std::size_t texels, std::byte* packed) {
    constexpr std::uint32_t kAlpha = 0xff000000;  // little-endian, as on all platforms of CUDA
    std::size_t i = 0;
    for (; i + 4 <= texels; i += 4) {
        std::uint32_t from[3];
        std::memcpy(from, stored + i * 3, sizeof(from));
        const std::uint32_t to[4] = {from[0] | kAlpha, from[0] >> 24 | from[1] << 8 | kAlpha,
                                     from[1] >> 16 | from[2] << 16 | kAlpha, from[2] >> 8 | kAlpha};
        std::memcpy(packed + i * 4, to, sizeof(to));
    }
    for (; i < texels; ++i) {
        std::memcpy(packed + i * 4, stored + i * 3, 3);
        packed[i * 4 + 3] = std::byte{0xff};
    }
}

}  // namespace

std::vector<ChannelRun> runs_of(std::span<const std::size_t> channels) {
    std::vector<ChannelRun> runs;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const int channel = static_cast<int>(channels[i]);
        if (runs.empty() || runs.back().end != channel) runs.push_back({channel, channel, i});
        runs.back().end = channel + 1;
    }
    return runs;
}

ChannelPacker::ChannelPacker(Format format, int file_channels, std::span<const std::size_t> channels)
    : format_(format), file_channels_(file_channels), runs_(runs_of(channels)), adds_alpha_(channels.size() == 3) {}

void ChannelPacker::pack(const std::byte* stored, std::size_t texels, std::byte* packed) const {
    const std::size_t channel = info(format_).bits / 8, texel = info(format_).bytes;
    const std::size_t stored_texel = static_cast<std::size_t>(file_channels_) * channel;
    const bool has_all = runs_.size() == 1 && runs_.front().begin == 0 && runs_.front().end == file_channels_;
    if (has_all && !adds_alpha_) {
        std::memcpy(packed, stored, texels * texel);
    } else if (has_all && channel == 1) {
        widen(stored, texels, packed);
    } else {
        for (const ChannelRun& run : runs_) {
            const auto begin = static_cast<std::size_t>(run.begin) * channel;
            const std::size_t bytes = static_cast<std::size_t>(run.end) * channel - begin;
            for (std::size_t i = 0; i < texels; ++i)
                std::memcpy(packed + i * texel + run.to * channel, stored + i * stored_texel + begin, bytes);
        }
        if (adds_alpha_) set_alpha_to_one(format_, {packed, texels * texel});
    }
}

}  // namespace texton::detail
