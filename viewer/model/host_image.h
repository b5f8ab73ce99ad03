#pragma once
// Pictures and arrays in host memory, tightly packed.
#include <cstddef>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/picture.h>
#include <texton/view.h>

namespace texton::verify {

/// What a kernel made.
struct HostPicture {
    Format format = Format::rgba8_unorm;
    Extent extent;
    std::vector<std::byte> texels;

    HostPicture() = default;
    /// Texels of 0.
    HostPicture(Format format, Extent extent);
    View view() { return host_view(texels.data(), format, extent); }
    ConstView view() const { return host_view(static_cast<const void*>(texels.data()), format, extent); }
    /// "32 x 32 of rgba8_unorm".
    std::string words() const;
    bool operator==(const HostPicture&) const = default;
};

/// What a kernel reads: a picture for each level, whose slices are layers and faces.
struct HostArray {
    ArrayInfo info;
    std::vector<HostPicture> levels;

    HostArray() = default;
    /// Texels of 0.
    explicit HostArray(const ArrayInfo& info);
    /// Of the info and all texels.
    std::string sha256() const;
};

/// What an array is made for that kernels are to read: gathers too, where the device has such arrays of that size.
[[nodiscard]] ArrayUsage usage_for_kernels(const Device& device, const ArrayInfo& array);
[[nodiscard]] HostArray read_array(const Picture& picture);
/// The same of what lies in an array of the CPU device.
[[nodiscard]] HostArray read_array(const Array& array);
[[nodiscard]] Array upload(const Device& device, const HostArray& array);

}  // namespace texton::verify
