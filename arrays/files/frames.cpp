#include "arrays/files/frames.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/file_error.h"

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";

std::size_t sample_bytes(Format format) noexcept { return format == Format::p010 || format == Format::p016 ? 2 : 1; }

Extent plane_extent(Format format, Extent extent, int plane) {
    const PlaneInfo part = plane_info(format, plane);
    return {extent.width / part.divide_width, extent.height / part.divide_height};
}

// Moves the bits of samples of two bytes to the upper or the lower bits.
void shift_up(std::byte* samples, std::size_t count, int shift) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t value;
        std::memcpy(&value, samples + 2 * i, 2);
        value = static_cast<std::uint16_t>(value << shift);
        std::memcpy(samples + 2 * i, &value, 2);
    }
}
void shift_down(std::byte* samples, std::size_t count, int shift) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t value;
        std::memcpy(&value, samples + 2 * i, 2);
        value = static_cast<std::uint16_t>(value >> shift);
        std::memcpy(samples + 2 * i, &value, 2);
    }
}

// Copies `count` samples that are `from_step` and `to_step` bytes apart.
template <std::size_t bytes>
void copy_samples(std::byte* to, std::size_t to_step, const std::byte* from, std::size_t from_step, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, bytes);
}
void copy_samples(std::size_t bytes, std::byte* to, std::size_t to_step, const std::byte* from, std::size_t from_step,
                  std::size_t count) {
    bytes == 1 ? copy_samples<1>(to, to_step, from, from_step, count)
               : copy_samples<2>(to, to_step, from, from_step, count);
}

// A plane of the image whose channels are separate planes of the file.
class SeparateChannels : public ImageSource {
public:
    SeparateChannels(Format format, Extent extent, std::vector<ImageSourcePtr> channels, int shift)
        : ImageSource(format, false, {extent}), channels_(std::move(channels)), shift_(shift) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const std::size_t bytes = packed_bytes(channels_.front()->format(), box.extent);
        const std::size_t sample = info(format()).bits / 8;
        const std::size_t texel = info(format()).bytes;
        if (channels_.size() == 1) {
            channels_.front()->read(level, box, packed);
        } else {
            const auto samples = std::make_unique_for_overwrite<std::byte[]>(bytes);
            for (std::size_t c = 0; c < channels_.size(); ++c) {
                channels_[c]->read(level, box, samples.get());
                copy_samples(sample, packed + c * sample, texel, samples.get(), sample, bytes / sample);
            }
        }
        if (shift_ > 0) shift_up(packed, bytes * channels_.size() / 2, shift_);
    }
    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        return channels_.front()->boxes(level, max_bytes / channels_.size());
    }
    ImageAccess access(int level) const override { return channels_.front()->access(level); }

private:
    std::vector<ImageSourcePtr> channels_;
    int shift_;
};

}  // namespace

SampleOrder order_of(Format format, RawLayout layout) noexcept {
    return {layout, format == Format::p010 ? 10 : static_cast<int>(sample_bytes(format)) * 8};
}

bool is_possible_frame(Format format, Extent extent) noexcept {
    const bool even = extent.width % 2 == 0 && extent.height % 2 == 0;
    return info(format).layout == FormatLayout::planar && even && is_possible(extent) && extent.depth == 1;
}

void require_frame(const std::filesystem::path& path, std::size_t frame, std::uint64_t count) {
    if (frame < count) return;
    fail_file(kOpen, path, fmt::format("has {} frames, but frame {} was requested", count, frame),
              "The first frame is 0.", ErrorCode::out_of_bounds, {{"frame", frame}, {"count", count}});
}

OpenedFrame frame_at(const std::filesystem::path& path, const FileIdentity& identity, Format format, Extent extent,
                     SampleOrder order, std::uint64_t first) {
    OpenedFrame opened;
    opened.format = format;
    std::uint64_t next = first;
    const auto stored = [&](Format texels, Extent size) {
        const std::uint64_t bytes = packed_bytes(texels, size);
        const std::uint64_t begin = std::exchange(next, next + bytes);
        return stored_file(path, identity, texels, false, StoredOrder::same, {{size, begin, bytes}});
    };
    const Extent chroma = plane_extent(format, extent, 1);
    const Format pairs = plane_info(format, 1).format;
    opened.luma = stored(plane_info(format, 0).format, extent);
    if (order.layout == RawLayout::interleaved) {
        opened.chroma = stored(pairs, chroma);
    } else {
        const int shift = static_cast<int>(sample_bytes(format)) * 8 - order.bits;
        const Format samples = opened.luma->format();
        const ImageSourcePtr cb = stored(samples, chroma), cr = stored(samples, chroma);
        opened.chroma = std::make_shared<SeparateChannels>(pairs, chroma, std::vector{cb, cr}, shift);
        if (shift > 0)
            opened.luma = std::make_shared<SeparateChannels>(samples, extent, std::vector{opened.luma}, shift);
        opened.conversions.emplace_back("The planes of Cb and Cr are read as one plane.");
        if (shift > 0)
            opened.conversions.push_back(fmt::format("The {} bits of a sample become the upper of 16.", order.bits));
    }
    opened.metadata.channels = opened.metadata.read_channels = {"Y", "Cb", "Cr"};
    opened.metadata.data = opened.metadata.display = frame_of(kOpen, extent);
    return opened;
}

void write_samples(NewFile& file, const ImageState& image, SampleOrder order, const OnImageProgress& progress) {
    ImageBands bands(image, packed_bytes(image.info.format, image.info.extent), progress);
    const bool separate = order.layout == RawLayout::planes;
    const std::size_t sample = sample_bytes(image.info.format);
    const int shift = separate ? static_cast<int>(sample) * 8 - order.bits : 0;
    std::vector<std::byte> samples;
    const auto write_plane = [&](const ImageSource& plane, std::size_t channel, std::size_t channels) {
        const Extent extent = plane.level(0);
        const std::size_t texel = info(plane.format()).bytes;
        for (const Region& box : cut(plane.format(), whole(extent), {extent.width, 1, 1}, kBandBytes)) {
            const std::span<const std::byte> texels = bands.read(plane, 0, box);
            if (channels == 1 && shift == 0) {
                file.write(texels);
            } else {
                samples.resize(texels.size() / channels);
                copy_samples(sample, samples.data(), sample, texels.data() + channel * sample, texel,
                             samples.size() / sample);
                if (shift > 0) shift_down(samples.data(), samples.size() / sample, shift);
                file.write(samples);
            }
            bands.report(texels.size() / channels);
        }
    };
    const ImageSource &luma = *image.planes[0].state()->file, &chroma = *image.planes[1].state()->file;
    write_plane(luma, 0, 1);
    if (!separate) return write_plane(chroma, 0, 1);
    for (const std::size_t channel : {std::size_t{0}, std::size_t{1}}) write_plane(chroma, channel, 2);
}

}  // namespace texton::detail
