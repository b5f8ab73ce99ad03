#pragma once
// Packs the channels that are read from texels with all channels of a file.
#include <cstddef>
#include <span>
#include <vector>

#include <texton/format.h>

namespace texton::detail {

/// Consecutive channels of the file, which are read together.
struct ChannelRun {
    int begin;
    int end;
    std::size_t to;  ///< position of the first one in a texel
};
[[nodiscard]] std::vector<ChannelRun> runs_of(std::span<const std::size_t> channels);

class ChannelPacker {
public:
    /// `channels` are those that are read. The texels of the format have as many, or four if three are read: the fourth
    /// one is then an alpha of 1.
    ChannelPacker(Format format, int file_channels, std::span<const std::size_t> channels);

    std::span<const ChannelRun> runs() const noexcept { return runs_; }
    bool adds_alpha() const noexcept { return adds_alpha_; }
    void pack(const std::byte* stored, std::size_t texels, std::byte* packed) const;

private:
    Format format_;
    int file_channels_;
    std::vector<ChannelRun> runs_;
    bool adds_alpha_;
};

}  // namespace texton::detail
