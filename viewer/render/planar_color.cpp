#include "viewer/render/planar_color.h"

#include <mutex>
#include <utility>
#include <vector>

#include <texton/stream.h>

namespace texton::viewer {
namespace {

constexpr std::pair<const char*, ChromaSiting> kSitings[] = {
    {"left", ChromaSiting::left}, {"center", ChromaSiting::center}, {"top_left", ChromaSiting::top_left}};
constexpr std::pair<const char*, CodeRange> kRanges[] = {{"limited", CodeRange::limited}, {"full", CodeRange::full}};

std::shared_ptr<const Document> made_of(const Document& planar) {
    const bool wide = info(planar.info(0).format).bits == 16;
    Array array(planar.device(), {.format = wide ? Format::rgba16_unorm : Format::rgba8_unorm,
                                  .extent = planar.info(0).extent,
                                  .usage = {.surface = true}});
    const Texture luma(planar.array(0));
    const Texture chroma(planar.array(1), Sampler{.filter = Filter::linear});
    Stream stream(planar.device());
    to_rgb(stream, array.view(), luma, chroma, planar_options(planar));
    stream.synchronize();
    return Document::of(std::move(array), planar.title(), &planar);
}

}  // namespace

PlanarOptions planar_options(const Document& planar) {
    PlanarOptions options{.format = planar.file().info().format};
    for (const ImageAttribute& attribute : planar.file().metadata().attributes) {
        for (const auto& [name, siting] : kSitings)
            if (attribute.name == "chroma_siting" && attribute.value == name) options.siting = siting;
        for (const auto& [name, range] : kRanges)
            if (attribute.name == "code_range" && attribute.value == name) options.range = range;
    }
    return options;
}

std::shared_ptr<const Document> color_of(const std::shared_ptr<const Document>& planar) {
    struct Made {
        std::weak_ptr<const Document> of;
        std::shared_ptr<const Document> color;
    };
    static std::mutex mutex;
    static std::vector<Made> all;
    const std::scoped_lock lock(mutex);
    std::erase_if(all, [](const Made& made) { return made.of.expired(); });
    for (const Made& made : all) {
        if (made.of.lock() == planar) return made.color;
    }
    all.push_back({planar, made_of(*planar)});
    return all.back().color;
}

}  // namespace texton::viewer
