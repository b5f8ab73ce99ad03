#include "viewer/render/planar_color.h"

#include <mutex>
#include <vector>

#include <texton/planar.h>
#include <texton/stream.h>

namespace texton::viewer {
namespace {

Format planar_format(const Document& planar) {
    if (planar.info(0).extent.height == planar.info(1).extent.height) return Format::nv16;
    return info(planar.info(0).format).bits == 8 ? Format::nv12 : Format::p016;
}

std::shared_ptr<const Document> made_of(const Document& planar) {
    const bool wide = info(planar.info(0).format).bits == 16;
    Array array(planar.device(), {.format = wide ? Format::rgba16_unorm : Format::rgba8_unorm,
                                  .extent = planar.info(0).extent,
                                  .usage = {.surface = true}});
    const Texture luma(planar.array(0));
    const Texture chroma(planar.array(1), Sampler{.filter = Filter::linear});
    Stream stream(planar.device());
    to_rgb(stream, array.view(), luma, chroma, {.format = planar_format(planar)});
    stream.synchronize();
    return Document::of(std::move(array), planar.title(), &planar);
}

}  // namespace

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
