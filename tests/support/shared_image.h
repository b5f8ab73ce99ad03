#pragma once
// What a test and the program shared_image exchange: images that one process shares and the other samples. Header-only,
// because the program includes it too.
#include <array>
#include <cstdint>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/physical.h>
#include <texton/sample.h>
#include <texton/shared_texels.h>
#include <texton/texture.h>

#include "tests/support/socket.h"

namespace texton::test {

/// What the test asks the program to do.
enum class SharedImageAction : std::uint8_t {
    sample,         ///< import the image, sample it and reply
    sample_always,  ///< the same, and then sample it until the program is killed
    share,          ///< make an image in the memory that SharedTexels::memory names and send it; keep it until the end
    stop            ///< end the program
};

struct SharedImageRequest {
    SharedImageAction action = SharedImageAction::sample;
    SharedTexels texels{};
    ShareableHandle handle{};  ///< the descriptor of the receiving process comes with the message
};

struct SharedImageReply {
    std::array<Texel, 128> fetched{};
    ErrorCode code{};               ///< of the error, if there was one
    std::array<char, 500> error{};  ///< text of the exception; empty if there was none
};

constexpr Extent kSharedExtent{77, 53};
constexpr std::size_t kSharedOffset = 4096;  // a multiple of the alignment of textures

/// Returns packed texels that depend on their position, with a finite number in each 32-bit float.
inline std::vector<std::byte> shared_pattern(Format format) {
    std::vector<std::byte> bytes(packed_bytes(format, kSharedExtent));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto value = static_cast<std::uint8_t>(i * 73 + (i >> 8) * 29);
        bytes[i] = std::byte{static_cast<std::uint8_t>(i % 4 == 3 ? value % 0x50 : value)};
    }
    return bytes;
}

/// Returns where a shared image lies in its memory: behind other bytes, with a pitch that is longer than needed.
inline TexelLayout shared_layout(const Device& device, Format format) {
    TexelLayout layout = texture_layout(device, format, kSharedExtent);
    layout.offset = kSharedOffset;
    layout.pitch += device.limits().texture_pitch_alignment;
    return layout;
}

/// Fetches between the texels and across all edges.
inline std::array<Texel, 128> fetched(const ConstView& view) {
    std::vector<FetchPoint> points(128);
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].x = static_cast<float>(i * 37 % 128) / 64 - 0.5f;
        points[i].y = static_cast<float>(i * 91 % 128) / 64 - 0.5f;
    }
    const bool floats = info(view.format()).kind != FormatKind::uint && info(view.format()).kind != FormatKind::sint;
    Sampler sampler{.filter = floats ? Filter::linear : Filter::point, .normalized_coordinates = true};
    sampler.address[0] = AddressMode::wrap;
    sampler.address[1] = AddressMode::mirror;
    const Samples samples = sample(Texture(view, sampler), points);
    std::array<Texel, 128> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = samples.texels[i];
    return out;
}

/// An image in memory that can be shared, with the texels of shared_pattern().
class SharedImage {
public:
    SharedImage(const Device& device, SharedMemory memory, Format format) {
        const TexelLayout layout = shared_layout(device, format);
        if (memory == SharedMemory::pool) {
            const Stream stream(device);
            view_ = texel_view(
                Pool(device, {.handle = HandleType::file_descriptor}).allocate(layout_bytes(layout), stream).view(),
                layout);
            stream.synchronize();
        } else {
            const PhysicalInfo info{.handle = HandleType::file_descriptor};
            const std::size_t unit = Physical::granularity(device, info);
            const std::size_t bytes = (layout_bytes(layout) + unit - 1) / unit * unit;
            AddressRange range(device, bytes);
            range.map(0, Physical(device, bytes, info));
            range.set_access();
            view_ = texel_view(range.view(Format::r8_uint, {bytes}), layout);
        }
        const std::vector<std::byte> texels = shared_pattern(format);
        copy(view_, host_view(texels.data(), format, kSharedExtent));
    }
    const View& view() const { return view_; }

private:
    View view_;
};

}  // namespace texton::test
