#include "viewer/verify/pattern_image.h"

#include <cstdio>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/source.h"

namespace texton::verify {
namespace {

constexpr const char* kObject = "texton::verify::pattern_image";

class DrawnImage final : public detail::ImageSource {
public:
    DrawnImage(const Pattern& pattern, Format format, Extent extent)
        : ImageSource(format, info(format).kind == FormatKind::srgb, {extent}), pattern_(pattern) {}

    void read(int, const Region& box, std::byte* packed) const override {
        draw_part(pattern_, format(), level(0), box, packed);
    }
    std::vector<Region> boxes(int, std::size_t max_bytes) const override {
        return detail::cut(format(), detail::whole(level(0)), {level(0).width, 1, 1}, max_bytes);
    }
    ImageAccess access(int) const override { return {{1, 1, 1}}; }

private:
    const Pattern pattern_;
};

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kObject, .problem = std::move(problem), .remedy = std::move(remedy)});
}

}  // namespace

ImageFile pattern_image(const Pattern& pattern, Format format, Extent extent) {
    if (!detail::is_possible(extent) || !detail::is_possible(format, extent)) {
        refuse(ErrorCode::overflow, fmt::format("an image of {} texels was requested", to_string(extent)),
               "Use sides from 1 to 2^31 - 1, and less than 1 TiB.");
    }
    std::byte texel[64];
    draw_part(pattern, format, extent, {{}, {1, 1, 1}}, texel);  // throws for formats that cannot be drawn
    auto state = std::make_shared<detail::ImageState>();
    state->info = {.format = format, .extent = extent};
    state->name = "the pattern";
    state->file = std::make_shared<DrawnImage>(pattern, format, extent);
    if (state->file->srgb()) state->metadata.color_space = "sRGB";
    if (info(format).channels == 4) state->metadata.alpha = ImageAlpha::straight;
    state->metadata.file_kind = "memory";
    state->metadata.data = state->metadata.display = detail::frame_of(kObject, extent);
    return ImageFile(std::move(state));
}

ImageFile pattern_image(const std::string& text, Format format) {
    const std::size_t colon = text.find(':');
    const std::optional<PatternKind> kind = pattern_named(text.substr(0, colon));
    if (!kind) refuse(ErrorCode::bad_argument, fmt::format("'{}' does not begin with a pattern", text), kPatternNames);
    std::size_t width = 0, height = 0;
    std::uint32_t seed = 1;
    int used = 0, all = 0;
    const std::string size = colon == std::string::npos ? std::string() : text.substr(colon + 1);
    const int found = std::sscanf(size.c_str(), "%10zux%10zu%n:%10u%n", &width, &height, &used, &seed, &all);
    const std::size_t end = found == 3 ? static_cast<std::size_t>(all) : static_cast<std::size_t>(used);
    if (found < 2 || end != size.size() || size.find_first_of("+- ") != std::string::npos) {
        refuse(ErrorCode::bad_argument, fmt::format("'{}' has no size", text),
               "Use PATTERN:WIDTHxHEIGHT or PATTERN:WIDTHxHEIGHT:SEED, for example smooth:20000x10000.");
    }
    return pattern_image({.kind = *kind, .seed = seed}, format, {width, height});
}

}  // namespace texton::verify
