#pragma once
// Images and arrays in host memory. Texels are tightly packed.
#include <cstddef>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/image_file.h>
#include <texton/view.h>

namespace texton::verify {

/// An image: the result of a kernel, or an image of a file.
struct HostImage {
    Format format = Format::rgba8_unorm;
    Extent extent;
    std::vector<std::byte> texels;
    std::string name{};     ///< name among the images of a case; empty for results of kernels
    int file_channels = 0;  ///< channels of the file, if `format` has more of them; otherwise 0

    HostImage() = default;
    /// Creates an image whose texels are 0. Throws Error{out_of_memory} if they do not fit in the free memory.
    HostImage(Format format, Extent extent);
    /// Returns a view of the texels. It does not keep the image alive.
    View view() { return host_view(texels.data(), format, extent); }
    /// Returns a read-only view of the texels. It does not keep the image alive.
    ConstView view() const { return host_view(static_cast<const void*>(texels.data()), format, extent); }
    /// Returns a description: "32 x 32 of rgba8_unorm" or "32 x 32 of rgba8_unorm, 3 channels".
    std::string text() const;
    bool operator==(const HostImage&) const = default;
};

/// The input of a kernel: one image per level, whose slices are layers and faces.
struct HostArray {
    ArrayInfo info;
    std::vector<HostImage> levels;

    HostArray() = default;
    /// Creates an array whose texels are 0. Throws the errors of HostImage.
    explicit HostArray(const ArrayInfo& info);
    /// Returns the SHA-256 hash of the description and all texels.
    std::string sha256() const;
};

/// Returns the usage of an array that kernels read. It includes gather if the device supports that for the kind, size
/// and format.
[[nodiscard]] ArrayUsage usage_for_kernels(const Device& device, const ArrayInfo& array);
/// Reads a part of an image. `extent` is its size. The memory for the texels grows while they are read, because
/// the header of a damaged file can specify any size. Throws the errors of ImageFile::read().
[[nodiscard]] std::vector<std::byte> read_texels(const ImageFile& image, const Subresource& part, const Extent& extent);
/// Reads all levels of an image. Throws the errors of ImageFile::read().
[[nodiscard]] HostArray read_array(const ImageFile& image);
/// Copies all levels of an array. Throws the errors of copy().
[[nodiscard]] HostArray read_array(const Array& array);
/// Creates an array on the device and copies all levels to it. Throws the errors of Array and of copy().
[[nodiscard]] Array upload(const Device& device, const HostArray& array);

}  // namespace texton::verify
