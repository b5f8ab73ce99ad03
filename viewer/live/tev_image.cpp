#include "viewer/live/tev_image.h"

#include <algorithm>
#include <new>
#include <optional>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer::tev {
namespace {

constexpr std::size_t kComponents = 4;

// Returns 0 to 3 for R, G, B and A in upper or lower case.
std::optional<std::size_t> color_of(std::string_view name) {
    if (name.size() != 1) return std::nullopt;
    const std::size_t index = std::string_view("RGBArgba").find(name.front());
    return index == std::string_view::npos ? std::nullopt : std::optional(index % kComponents);
}

struct Layer {
    std::string name;
    std::vector<std::size_t> channels;  // indices of the packet
};

std::string_view suffix_of(const std::string& channel) {
    const std::size_t dot = channel.rfind('.');
    return std::string_view(channel).substr(dot == std::string::npos ? 0 : dot + 1);
}

// Returns the layers in the order of their first channels.
std::vector<Layer> layers_of(const std::vector<std::string>& channels) {
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const std::string name = channels[i].substr(0, channels[i].size() - suffix_of(channels[i]).size());
        const auto found = std::ranges::find_if(
            layers, [&](const Layer& each) { return each.name == name && each.channels.size() < kComponents; });
        if (found != layers.end()) {
            found->channels.push_back(i);
        } else {
            layers.push_back({name, {i}});
        }
    }
    return layers;
}

}  // namespace

Image::Image(const CreateImage& packet, std::size_t max_bytes) {
    const std::vector<Layer> layers = layers_of(packet.channels);
    std::vector<bool> lacks_alpha;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        std::vector<std::size_t> sorted = layers[l].channels;
        const auto color = [&](std::size_t channel) { return color_of(suffix_of(packet.channels[channel])); };
        const bool colors =
            std::ranges::all_of(sorted, [&](std::size_t channel) { return color(channel).has_value(); });
        if (colors) std::ranges::stable_sort(sorted, {}, [&](std::size_t channel) { return *color(channel); });
        for (std::size_t i = 0; i < sorted.size(); ++i) channels_.push_back({packet.channels[sorted[i]], l, i});
        components_ = std::max(components_, sorted.size());
        lacks_alpha.push_back(sorted.size() < kComponents);
    }
    if (components_ == 3) components_ = kComponents;
    format_ = with_channels(Format::r32_float, static_cast<int>(components_));
    extent_ = {packet.width, packet.height, layers.size()};
    const std::size_t bytes = packed_bytes(format_, extent_);
    const auto refuse = [&] {
        throw Error({.code = ErrorCode::out_of_memory,
                     .object = "texton-view",
                     .problem = fmt::format("the image {} of {} texels needs {} bytes, but live images may use {} more",
                                            packet.name, to_string(extent_), bytes, max_bytes),
                     .remedy = "Close other live images, or start texton-view with more --live-memory.",
                     .numbers = {{"bytes", bytes}, {"free", max_bytes}}});
    };
    if (bytes > max_bytes) refuse();
    try {
        texels_ = std::make_shared<std::vector<float>>(bytes / sizeof(float));
    } catch (const std::bad_alloc&) {
        refuse();
    }
    if (components_ < kComponents) return;
    const std::size_t values = extent_.width * extent_.height * kComponents;  // of a layer
    for (std::size_t i = kComponents - 1; i < texels_->size(); i += kComponents)
        if (lacks_alpha[i / values]) (*texels_)[i] = 1;
}

void Image::update(const UpdateImage& packet) {
    if (!contains(extent_, {{packet.x, packet.y, 0}, {packet.width, packet.height, 1}})) {
        throw Error(
            {.code = ErrorCode::out_of_bounds,
             .object = "texton-view",
             .problem = fmt::format("an update of {} x {} texels at ({}, {}) exceeds the image {} of {} texels",
                                    packet.width, packet.height, packet.x, packet.y, packet.name, to_string(extent_)),
             .remedy = "Update texels of the image.",
             .numbers = {{"x", packet.x}, {"y", packet.y}, {"width", packet.width}, {"height", packet.height}}});
    }
    std::vector<const Place*> places;
    for (const UpdateImage::Channel& each : packet.channels) {
        const auto found = std::ranges::find(channels_, each.name, &Place::name);
        if (found == channels_.end()) {
            throw Error({.code = ErrorCode::bad_argument,
                         .object = "texton-view",
                         .problem = fmt::format("the image {} has no channel '{}'", packet.name, each.name),
                         .remedy = "Name it when you create the image."});
        }
        places.push_back(&*found);
    }
    if (texels_.use_count() > 1) texels_ = std::make_shared<std::vector<float>>(*texels_);
    for (std::size_t c = 0; c < places.size(); ++c) {
        for (std::size_t y = 0; y < packet.height; ++y) {
            const std::size_t row = (places[c]->layer * extent_.height + packet.y + y) * extent_.width + packet.x;
            float* to = texels_->data() + row * components_ + places[c]->component;
            for (std::size_t x = 0; x < packet.width; ++x)
                to[x * components_] = packet.value(packet.channels[c], y * packet.width + x);
        }
    }
}

}  // namespace texton::viewer::tev
