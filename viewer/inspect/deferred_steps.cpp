#include "viewer/inspect/deferred_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/sample.h>

namespace texton::viewer {
namespace {

// Samples the center of the array: of layer 0, and of face +x of a cubemap.
Texel center_of(const Array& array) {
    const Texture texture(array, {.normalized_coordinates = true});
    const FetchPoint point = is_cube(array.info().kind) ? FetchPoint{.x = 1, .y = 0.01f, .z = 0.01f}
                                                        : FetchPoint{.x = 0.5f, .y = 0.5f, .z = 0.5f};
    return sample(texture, {&point, 1}).texels.front();
}

std::string words_of(const Texel& texel, const FormatInfo& format) {
    std::string out;
    for (int i = 0; i < format.channels; ++i) {
        if (i > 0) out += "  ";
        switch (format.kind) {
            case FormatKind::uint: out += fmt::format("{}", texel.channel[i]); break;
            case FormatKind::sint: out += fmt::format("{}", static_cast<std::int32_t>(texel.channel[i])); break;
            case FormatKind::floating:
            case FormatKind::unorm:
            case FormatKind::snorm:
            case FormatKind::srgb: out += fmt::format("{:.5g}", texel.as_float(i)); break;
        }
    }
    return out;
}

}  // namespace

std::string_view name(DeferredStep step) noexcept {
    switch (step) {
        case DeferredStep::create: return "create";
        case DeferredStep::requirements: return "requirements";
        case DeferredStep::back: return "back";
        case DeferredStep::upload: return "upload";
        case DeferredStep::sample: return "sample";
        case DeferredStep::move: return "move";
        case DeferredStep::unmap: return "unmap";
    }
    return "";
}

DeferredSteps::DeferredSteps(Array image)
    : image_(std::move(image)),
      pool_(image_.device(), {.chunk_bytes = std::size_t{2} << 20}),
      stream_(image_.device()) {}

std::string DeferredSteps::obstacle(DeferredStep step) const {
    if (step == DeferredStep::create) return array_ ? "The array exists already." : "";
    if (!array_) return "The array does not exist yet. Create it first.";
    if (step == DeferredStep::requirements) return "";
    if (step == DeferredStep::back && !requirements_)
        return "The memory size is not known yet. Query the requirements first.";
    if (mapped() || step == DeferredStep::back) return "";
    // Without memory, the library rejects the following calls before they change anything. Its message is the reason.
    try {
        switch (step) {
            case DeferredStep::upload: copy(array_->array().view(), image_.view()); break;
            case DeferredStep::sample: (void)center_of(array_->array()); break;
            case DeferredStep::move: array_->move(tiles(), stream_); break;
            case DeferredStep::unmap: return "The array has no memory to unmap.";
            case DeferredStep::create:
            case DeferredStep::requirements:
            case DeferredStep::back: break;
        }
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

bool DeferredSteps::run(DeferredStep step) {
    try {
        if (const std::string why = obstacle(step); !why.empty()) {
            log_.push_back({step, why, true});
            return false;
        }
        std::string text = done(step);
        log_.push_back({step, std::move(text), false});
        return true;
    } catch (const Error& error) {
        log_.push_back({step, error.what(), true});
        return false;
    }
}

Tiles DeferredSteps::tiles() const { return pool_.allocate_bytes(array_->requirements().bytes); }

std::string DeferredSteps::done(DeferredStep step) {
    switch (step) {
        case DeferredStep::create:
            array_ = std::make_unique<DeferredArray>(image_.device(), image_.info());
            return fmt::format("created an array of {} {}, without memory", to_string(image_.info().extent),
                               texton::name(image_.info().format));
        case DeferredStep::requirements:
            requirements_ = array_->requirements();
            return fmt::format("{} bytes ({} tiles of 64 KiB), alignment {} bytes", requirements_->bytes,
                               requirements_->bytes / kTileBytes, requirements_->alignment);
        case DeferredStep::back: {
            const bool again = mapped();
            array_->map(tiles(), stream_);
            stream_.synchronize();
            holds_image_ = false;
            const TilePoolUsage pool = pool_.usage();
            return fmt::format("{}; the pool uses {} of {} slots",
                               again ? "mapped to other memory, with undefined contents" : "mapped", pool.used,
                               pool.held);
        }
        case DeferredStep::upload: return upload();
        case DeferredStep::sample: return sample();
        case DeferredStep::move: {
            array_->move(tiles(), stream_);
            stream_.synchronize();
            return fmt::format("moved to other memory with the texels; the center is {}",
                               words_of(center_of(array_->array()), info(image_.info().format)));
        }
        case DeferredStep::unmap:
            array_->unmap(stream_);
            stream_.synchronize();
            holds_image_ = false;
            return fmt::format("unmapped; the pool uses {} slots", pool_.usage().used);
    }
    return "";
}

std::string DeferredSteps::upload() {
    std::size_t bytes = 0;
    for (int level = 0; level < image_.info().levels; ++level) {
        const View to = array_->array().view({.level = level});
        copy(to, image_.view({.level = level}), stream_);
        bytes += packed_bytes(to.format(), to.extent());
    }
    stream_.synchronize();
    holds_image_ = true;
    return fmt::format("uploaded {} bytes in {} levels", bytes, image_.info().levels);
}

std::string DeferredSteps::sample() const {
    const Texel texel = center_of(array_->array());
    const std::string text = words_of(texel, info(image_.info().format));
    if (!holds_image_) return fmt::format("{}: undefined contents, because nothing was uploaded", text);
    return fmt::format("{}: {}", text, texel == center_of(image_) ? "same as the image" : "DIFFERENT from the image");
}

}  // namespace texton::viewer
