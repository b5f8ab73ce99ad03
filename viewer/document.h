#pragma once
// A picture on a device: read from a file, uploaded to a 2D array, sampled back. Knows no widgets.
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <texton/device.h>
#include <texton/image.h>
#include <texton/sample.h>
#include <texton/texture.h>

namespace texton::viewer {

using Colour = std::array<float, 4>;

class Document {
public:
    /// Throws Error, naming the file, if it cannot be read or is no flat picture, or if the device cannot hold it.
    Document(const std::filesystem::path& path, const Device& device);

    const std::filesystem::path& path() const noexcept { return path_; }
    const Device& device() const noexcept { return device_; }
    Format format() const noexcept { return format_; }
    Extent extent() const noexcept { return extent_; }
    int file_channels() const noexcept { return file_channels_; }

    /// The texels that hold the points, as the device's texture unit returns them; clamped to the edge outside.
    std::vector<Colour> sample(std::span<const Point2> points) const;
    /// What `texels` look like on a screen, 0 to 1, alpha kept: floats are taken for linear light and get the sRGB
    /// curve, integers are spread over the range of their type, one channel becomes grey.
    void to_display(std::span<Colour> texels) const;
    /// The texel at (x, y) in words: "0.502 0.000 1.000 1.000", or integers as they are.
    std::string describe(std::size_t x, std::size_t y) const;

private:
    Document(const std::filesystem::path& path, const Device& device, const Image& image);

    std::filesystem::path path_;
    Device device_;
    Format format_;
    Extent extent_;
    int file_channels_;
    Texture texture_;
};

/// "cpu", "cpu:1", "cuda" or "cuda:0"; empty for the best. Throws Error{bad_argument} for any other text or where there
/// is no such device.
[[nodiscard]] Device device_named(const std::string& name);

}  // namespace texton::viewer
