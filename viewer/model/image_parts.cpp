#include "viewer/model/image_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "viewer/model/file_reading.h"
#include "viewer/model/frames.h"

namespace texton::viewer {
namespace {

constexpr std::array<std::string_view, 5> kSets{"RGBA", "RGB", "XYZ", "UV", "YA"};  // longer sets first

// Returns the part of a name after the layer and the dot.
std::string_view last_part(std::string_view name) { return name.substr(name.find_last_of('.') + 1); }

std::string layer_of(const std::string& name) {
    const std::size_t dot = name.find_last_of('.');
    return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

// Moves the channels of the set from `from` to a group. Returns no channels if one is missing.
std::vector<std::string> taken(std::vector<std::string>& from, std::string_view set) {
    std::vector<std::string> out;
    for (const char letter : set) {
        const auto found = std::ranges::find_if(from, [letter](const std::string& name) {
            const std::string_view last = last_part(name);
            return last.size() == 1 && std::toupper(static_cast<unsigned char>(last[0])) == letter;
        });
        if (found == from.end()) return {};
        out.push_back(*found);
    }
    std::erase_if(from, [&](const std::string& name) { return std::ranges::find(out, name) != out.end(); });
    return out;
}

}  // namespace

std::vector<ChannelGroup> channel_groups(const std::vector<std::string>& channels) {
    std::vector<ChannelGroup> out;
    std::vector<std::string> layers;
    for (const std::string& channel : channels) {
        const std::string layer = layer_of(channel);
        if (std::ranges::find(layers, layer) != layers.end()) continue;
        layers.push_back(layer);
        std::vector<std::string> left;
        for (const std::string& each : channels) {
            if (layer_of(each) == layer && std::ranges::find(left, each) == left.end()) left.push_back(each);
        }
        for (const std::string_view set : kSets) {
            std::vector<std::string> group = taken(left, set);
            if (!group.empty()) out.push_back({layer, std::move(group)});
        }
        for (const std::string& single : left) out.push_back({layer, {single}});
    }
    return out;
}

std::vector<ImagePart> parts_of(const Source& source, const CancellationToken& token) {
    const Source files = files_of(source).source;
    ImageOptions options = files.options;
    options.channels.clear();
    options.part_name.clear();
    options.part = 0;
    std::vector<ImagePart> out;
    const bool is_together =
        options.kind && *options.kind != ArrayKind::array_1d && *options.kind != ArrayKind::array_2d;
    std::size_t parts = 1;
    for (; std::cmp_less(options.part, parts); ++options.part) {
        throw_if_canceled(token);
        const ImageFile image = open_image(files.paths, options, file_reading());
        const ImageMetadata& metadata = image.metadata();
        if (files.paths.size() == 1 && !is_together) parts = metadata.parts;
        ImagePart part{options.part, {}, image.info().extent, channel_groups(metadata.channels)};
        for (const ImageAttribute& attribute : metadata.attributes) {
            if (attribute.name == "oiio:subimagename") part.name = attribute.value;
        }
        out.push_back(std::move(part));
    }
    return out;
}

void choose(Source& source, const ImagePart& part, const ChannelGroup& group) {
    source.options.part = part.index;
    source.options.part_name.clear();
    source.options.channels = group.channels;
}

}  // namespace texton::viewer
