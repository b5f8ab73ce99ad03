#include "arrays/files/channels.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays/files/alpha.h"
#include "arrays/files/convert.h"
#include "core/file_error.h"

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";

// Returns a sentence with the channels of a layer of an OpenEXR file, or an empty text if there is no such layer.
std::string channels_of_layer(std::span<const std::string> names, const std::string& layer) {
    std::string list;
    for (const std::string& name : names)
        if (name.starts_with(layer + ".")) list += (list.empty() ? "" : ",") + name;
    return list.empty() ? "" : fmt::format("It is a layer, whose channels are {}. ", list);
}

std::size_t index_of(const std::filesystem::path& path, std::span<const std::string> names, const std::string& asked) {
    if (const auto named = std::ranges::find(names, asked); named != names.end())
        return static_cast<std::size_t>(named - names.begin());
    std::size_t index = 0;
    const char* const end = asked.data() + asked.size();
    const auto [rest, error] = std::from_chars(asked.data(), end, index);
    if (rest == end && error == std::errc() && index < names.size()) return index;
    const std::string layer = channels_of_layer(names, asked);
    fail_file(kOpen, path, "has no channel " + detail::quoted(asked),
              layer.empty() ? names_to_use("channels", asked, names) : layer + "Name those to read.");
}

class ChosenChannels : public ImageSource {
public:
    ChosenChannels(ImageSourcePtr file, Format format, bool srgb, std::vector<std::size_t> channels)
        : ImageSource(format, srgb, file->levels()), file_(std::move(file)), channels_(std::move(channels)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const std::size_t bytes = packed_bytes(file_->format(), box.extent);
        const auto texels = std::make_unique_for_overwrite<std::byte[]>(bytes);
        file_->read(level, box, texels.get());
        const std::size_t from = info(file_->format()).bytes, to = info(format()).bytes;
        const std::size_t channel = info(format()).bits / 8;
        const std::size_t count = bytes / from;
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const std::byte* source = texels.get() + channels_[c] * channel;
            std::byte* target = packed + c * channel;
            for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * to, source + i * from, channel);
        }
        if (channels_.size() == 3) set_alpha_to_one(format(), {packed, count * to});
    }
    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const Extent extent = this->level(level), granule = access(level).granule;
        return cut(format(), whole(extent), {extent.width, granule.height, granule.depth}, max_bytes);
    }
    ImageAccess access(int level) const override { return file_->access(level); }

private:
    ImageSourcePtr file_;
    std::vector<std::size_t> channels_;
};

}  // namespace

std::vector<std::size_t> channels_to_read(const std::filesystem::path& path, std::span<const std::string> names,
                                          std::span<const std::string> requested) {
    std::vector<std::size_t> channels(std::min(names.size(), kMaxChannels));
    std::iota(channels.begin(), channels.end(), std::size_t{0});
    if (requested.empty()) return channels;
    if (requested.size() > kMaxChannels) {
        fail_file(kOpen, path, fmt::format("was to be read with {} channels", requested.size()),
                  fmt::format("A texel has at most {} channels.", kMaxChannels), ErrorCode::bad_argument,
                  {{"channels", requested.size()}});
    }
    channels.clear();
    for (const std::string& asked : requested) channels.push_back(index_of(path, names, asked));
    return channels;
}

bool are_first(std::span<const std::size_t> channels) noexcept {
    for (std::size_t i = 0; i < channels.size(); ++i)
        if (channels[i] != i) return false;
    return true;
}

bool are_alpha(std::span<const std::size_t> channels, std::size_t alpha) noexcept {
    return std::ranges::all_of(channels, [alpha](std::size_t channel) { return channel == alpha; });
}

void describe_channels(OpenedImage& opened, std::span<const std::size_t> channels, bool requested, std::size_t alpha) {
    ImageMetadata& metadata = opened.metadata;
    for (const std::size_t channel : channels) metadata.read_channels.push_back(metadata.channels[channel]);
    const bool has_alpha = requested ? channels.size() % 2 == 0 && channels.back() == alpha
                                     : std::ranges::find(channels, alpha) != channels.end();
    if (!has_alpha) metadata.alpha = ImageAlpha::none;
    const std::string names = fmt::format("{}", fmt::join(metadata.read_channels, ", "));
    const std::size_t all = metadata.channels.size();
    std::vector<std::size_t> stored(channels.begin(), channels.end());
    std::ranges::sort(stored);
    stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
    if (stored.size() < all) {
        opened.conversions.push_back(fmt::format("Only {} of {} channels {} read: {}.{}", stored.size(), all,
                                                 stored.size() == 1 ? "is" : "are", names,
                                                 requested ? "" : " ImageOptions::channels selects others."));
    } else if (!are_first(channels)) {
        opened.conversions.push_back(fmt::format("The channels are read in the order {}.", names));
    }
}

ImageSourcePtr with_channels_of(ImageSourcePtr file, std::vector<std::size_t> channels, std::size_t alpha) {
    const bool srgb = file->srgb() && !are_alpha(channels, alpha);
    Format format = with_channels(file->format(), static_cast<int>(channels.size()));
    if (!srgb) format = with_srgb(format, false);
    return std::make_shared<ChosenChannels>(std::move(file), format, srgb, std::move(channels));
}

void choose_channels(const std::filesystem::path& path, OpenedImage& opened, std::span<const std::string> requested) {
    const std::vector<std::string>& names = opened.metadata.channels;
    const std::vector<std::size_t> channels = channels_to_read(path, names, requested);
    const std::size_t alpha = opened.metadata.alpha != ImageAlpha::none ? names.size() - 1 : names.size();
    if (channels.size() != names.size() || !are_first(channels)) {
        const FormatInfo& row = info(opened.file->format());
        if (row.layout != FormatLayout::plain) {
            fail_file(kOpen, path, fmt::format("contains {}, whose channels are not stored separately", row.name),
                      "Read all channels, and choose some of the decoded texels.", ErrorCode::unsupported);
        }
        opened.file = with_channels_of(std::move(opened.file), channels, alpha);
        if (channels.size() == 3) opened.conversions.emplace_back("Three channels are widened to four, with alpha 1.");
    }
    describe_channels(opened, channels, !requested.empty(), alpha);
}

}  // namespace texton::detail
