#include "viewer/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/error.h>

namespace texton::viewer {
namespace {

Image flat_picture(const std::filesystem::path& path) {
    Image image = read_image(path);
    if (image.extent.depth != 1) {
        throw Error({.code = ErrorCode::io,
                     .object = "texton::viewer::Document",
                     .problem = fmt::format("{} is a volume of {}", path.string(), to_string(image.extent)),
                     .remedy = "Open a flat picture."});
    }
    return image;
}

Array uploaded(const Device& device, const Image& image) {
    Array array(device, {.format = image.format, .extent = image.extent});
    copy(array.view(), host_view(image.texels.data(), image.format, image.extent));
    return array;
}

float srgb_encoded(float linear) {
    if (!(linear > 0)) return 0;  // NaN as well
    if (linear >= 1) return 1;
    return linear <= 0.0031308f ? 12.92f * linear : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f;
}

}  // namespace

Document::Document(const std::filesystem::path& path, const Device& device)
    : Document(path, device, flat_picture(path)) {}

Document::Document(const std::filesystem::path& path, const Device& device, const Image& image)
    : path_(path),
      device_(device),
      format_(image.format),
      extent_(image.extent),
      file_channels_(image.file_channels),
      texture_(uploaded(device, image)) {}

std::vector<Colour> Document::sample(std::span<const Point2> points) const { return texton::sample(texture_, points); }

void Document::to_display(std::span<Colour> texels) const {
    const FormatInfo& row = info(format_);
    const bool is_integer = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    const bool is_linear = row.kind == FormatKind::floating || row.kind == FormatKind::srgb;
    const float scale = is_integer ? 1 / std::ldexp(1.0f, row.bits - (row.kind == FormatKind::sint ? 1 : 0)) : 1;
    for (Colour& texel : texels) {
        for (std::size_t i = 0; i < 3; ++i) {
            texel[i] = is_linear ? srgb_encoded(texel[i]) : texel[i] * scale;
        }
        if (row.channels == 1) texel[1] = texel[2] = texel[0];
        // Widened integers have alpha 1, which is no share of their range.
        texel[3] = row.channels < 4 || is_integer ? 1 : std::clamp(texel[3], 0.0f, 1.0f);
    }
}

std::string Document::describe(std::size_t x, std::size_t y) const {
    const Point2 point{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f};
    const Colour texel = sample(std::span(&point, 1)).front();
    const FormatInfo& row = info(format_);
    const bool is_integer = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    std::string out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::min<int>(row.channels, std::max(file_channels_, 1)));
         ++i) {
        out += fmt::format(fmt::runtime(is_integer ? "{}{:.0f}" : "{}{:.4f}"), i == 0 ? "" : "  ", texel[i]);
    }
    return out;
}

Device device_named(const std::string& name) {
    if (name.empty()) return Device::best();
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::string_view kind = std::string_view(name).substr(0, colon);
    int index = 0;
    bool good = kind == "cpu" || kind == "cuda";
    if (colon < name.size()) {
        const char* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
        good = good && error == std::errc{} && stop == end && index >= 0;
    }
    if (!good) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = fmt::format("'{}' names no device", name),
                     .remedy = "Use cpu, cpu:N, cuda or cuda:N."});
    }
    return kind == "cpu" ? Device::cpu(index) : Device::cuda(index);
}

}  // namespace texton::viewer
