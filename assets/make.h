// Canvas, labels and file writers of the programs that make the images of this folder.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <OpenImageIO/imageio.h>

namespace assets {

using Rgb = std::array<float, 3>;

/// Colors from 0 to 1, or linear light above 1; top row first.
struct Canvas {
    Canvas(int width, int height, Rgb fill = {}) : width(width), height(height), texels(count(width, height), fill) {}
    Rgb& at(int x, int y) { return texels[count(y, width) + static_cast<std::size_t>(x)]; }
    const Rgb& at(int x, int y) const { return texels[count(y, width) + static_cast<std::size_t>(x)]; }

    int width;
    int height;
    std::vector<Rgb> texels;

private:
    static std::size_t count(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }
};

/// Returns a fully saturated color for an angle in turns.
Rgb hue(float turns);
/// Draws text in the center of the canvas, as large as fits. Supports digits, X, Y, Z, + and -.
void label(Canvas& canvas, std::string_view text, Rgb color);

/// Converts 0 to 1 to 8 bits.
std::uint8_t byte_of(float value);
/// Converts to red, green, blue and alpha 255.
std::vector<std::uint8_t> rgba8(const Canvas& canvas);

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
    return Bytes(first, first + values.size() * sizeof(T));
}

/// Fixed creation time, so that the same bytes are written each time.
inline constexpr const char* kDateTime = "2000:01:01 00:00:00";

/// Writes a file with OpenImageIO. The file stores texels in the type of `spec`.
void write(const std::string& path, OIIO::ImageSpec spec, OIIO::TypeDesc type, const void* data);
/// Writes 8 bits per channel, or half floats if the path ends in .exr.
void write(const std::string& path, const Canvas& canvas);
void write_bytes(const std::string& path, const Bytes& bytes);

// --- DDS, with the DX10 header --------------------------------------------------------------------------------------

/// Values of DXGI_FORMAT.
enum class Dxgi : std::uint32_t {
    rgba8_unorm = 28,
    r16_unorm = 56,
    bc1_unorm = 71,
    bc2_unorm = 74,
    bc3_unorm = 77,
    bc4_unorm = 80,
    bc5_snorm = 84,
    bc6h_ufloat = 95,
    bc7_unorm = 98
};

struct Dds {
    Dxgi format;
    int width;
    int height;
    int depth = 1;   ///< depth of a volume
    int layers = 1;  ///< number of layers; for cubes the number of cubes with six faces each
    bool cube = false;
    /// Levels of each layer or face.
    std::vector<std::vector<Bytes>> parts;
};
void write_dds(const std::string& path, const Dds& dds);

// --- blocks of 4 x 4 texels -----------------------------------------------------------------------------------------

/// Red, green, blue and alpha, 0 to 255. BC5 uses the first two channels, -127 to 127; BC6H the first three, as bits of
/// half floats.
using BlockTexels = std::array<std::array<int, 4>, 16>;

Bytes encode_bc1(const BlockTexels& texels);
Bytes encode_bc2(const BlockTexels& texels);
Bytes encode_bc3(const BlockTexels& texels);
Bytes encode_bc4(const BlockTexels& texels);
Bytes encode_bc5_snorm(const BlockTexels& texels);
Bytes encode_bc6h(const BlockTexels& texels);
Bytes encode_bc7(const BlockTexels& texels);

// --- images; each function writes to a folder ------------------------------------------------------------------------

void make_card(const std::string& folder);
void make_flat_images(const std::string& folder);
void make_special_images(const std::string& folder);
void make_cubes_and_layers(const std::string& folder);
void make_levels(const std::string& folder);
void make_blocks(const std::string& folder);
void make_volumes(const std::string& folder);
void make_frames(const std::string& folder);

}  // namespace assets
