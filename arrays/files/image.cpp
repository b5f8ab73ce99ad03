#include <texton/image.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include <texton/error.h>

#include "arrays/files/oiio.h"

namespace texton {
namespace {

using detail::fail_file;

constexpr const char* kRead = "texton::read_image";
constexpr const char* kWrite = "texton::write_image";
constexpr std::size_t kBandBytes = std::size_t{16} << 20;

// A part of an image that is read with one call: rows of one slice, or of as many slices as a tile has.
struct Band {
    int first_row, end_row;
    int first_slice, end_slice;
};

bool read_band(OIIO::ImageInput& input, const Band& band, int channels, Image& image) {
    const OIIO::ImageSpec& spec = input.spec();
    const OIIO::TypeDesc type = detail::channel_type(image.format);
    const auto texel = static_cast<OIIO::stride_t>(info(image.format).bytes);
    const OIIO::stride_t row = texel * spec.width;
    const OIIO::stride_t slice = row * spec.height;
    std::byte* texels = image.texels.data() + band.first_slice * slice + band.first_row * row;
    const int top = spec.y + band.first_row;
    const int bottom = spec.y + band.end_row;
    if (spec.tile_width == 0) {
        return input.read_scanlines(0, 0, top, bottom, spec.z + band.first_slice, 0, channels, type, texels, texel,
                                    row);
    }
    return input.read_tiles(0, 0, spec.x, spec.x + spec.width, top, bottom, spec.z + band.first_slice,
                            spec.z + band.end_slice, 0, channels, type, texels, texel, row, slice);
}

// Memory is allocated as texels are read, because the header of a damaged file can specify any size.
void read_bands(OIIO::ImageInput& input, const std::filesystem::path& path, int channels, Image& image) {
    const OIIO::ImageSpec& spec = input.spec();
    const std::size_t all = packed_bytes(image.format, image.extent);
    const std::size_t row = row_bytes(image.format, image.extent.width);
    const std::size_t slice = row * image.extent.height;
    const int tile_rows = std::max(spec.tile_height, 1);
    const int slices = std::max(spec.tile_depth, 1);
    const std::size_t tile_bytes = row * static_cast<std::size_t>(tile_rows) * static_cast<std::size_t>(slices);
    const int rows = tile_rows * static_cast<int>(std::max<std::size_t>(1, kBandBytes / tile_bytes));
    const int height = spec.height;
    const int depth = std::max(spec.depth, 1);
    for (int z = 0; z < depth; z += slices) {
        for (int y = 0; y < height;) {
            const Band band{y, rows < height - y ? y + rows : height, z, std::min(z + slices, depth)};
            const auto last = static_cast<std::size_t>(band.end_slice - 1);
            image.texels.resize(
                std::max(image.texels.size(), last * slice + static_cast<std::size_t>(band.end_row) * row));
            detail::require_read(kRead, path, input, read_band(input, band, channels, image));
            if (y == 0 && z == 0) image.texels.reserve(all);
            y = band.end_row;
        }
    }
}

}  // namespace

Image read_image(const std::filesystem::path& path) {
    const auto input = detail::open_input(kRead, path);
    const OIIO::ImageSpec& spec = input->spec();
    Image image;
    image.file_channels = spec.nchannels;
    const int channels = std::min(spec.nchannels, 4);
    image.format = with_channels(detail::channel_format(kRead, path, spec), channels);
    image.extent = {static_cast<std::size_t>(spec.width), static_cast<std::size_t>(spec.height),
                    static_cast<std::size_t>(std::max(spec.depth, 1))};
    const auto too_large = [&] {
        fail_file(kRead, path, "has a size of " + to_string(image.extent) + ", which does not fit in memory",
                  "The file may be damaged. Otherwise reduce its size.");
    };
    try {
        read_bands(*input, path, channels, image);
    } catch (const std::bad_alloc&) {
        too_large();
    } catch (const std::length_error&) {
        too_large();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::overflow) throw;
        too_large();
    }
    if (channels == 3) detail::set_alpha_to_one(image.format, image.texels);
    return image;
}

void write_image(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels) {
    const FormatInfo& row = info(format);
    if (row.oiio.empty()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::string(row.name) + " cannot be stored in image files",
                     .remedy = "Convert the texels to a plain format first."});
    }
    constexpr auto kLongest = static_cast<std::size_t>(std::numeric_limits<int>::max());
    const bool empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
    const bool huge = extent.width > kLongest || extent.height > kLongest || extent.depth > kLongest;
    if (empty || huge || texels.size() != packed_bytes(format, extent)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::to_string(texels.size()) + " bytes do not match " + to_string(extent) +
                                " texels of " + std::string(row.name),
                     .remedy = "Pass tightly packed rows and dimensions of at least 1.",
                     .numbers = {{"bytes", texels.size()}, {"width", extent.width}, {"height", extent.height}}});
    }

    detail::ImageFileOutput output(kWrite, path);
    OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), row.channels,
                         detail::channel_type(format));
    spec.depth = static_cast<int>(extent.depth);
    spec.full_depth = spec.depth;
    spec.attribute("oiio:UnassociatedAlpha", 1);
    if (row.kind == FormatKind::srgb) spec.attribute("oiio:ColorSpace", "sRGB");
    if (spec.depth > 1 && !output->supports("volumes")) {
        fail_file(kWrite, path, "is of a kind that cannot hold volumes", "Write each slice to its own file.");
    }
    // OpenImageIO drops the channels silently if the kind of file does not support them.
    if (row.channels != 1 && !output->supports("alpha") && !output->supports("nchannels")) {
        fail_file(kWrite, path, "is of a kind that cannot hold " + std::string(row.name),
                  "Use .png, .tif or .exr, or convert the texels to another format first.");
    }
    output.open({&spec, 1});
    if (output->spec().format != spec.format || output->spec().nchannels != spec.nchannels) {
        fail_file(kWrite, path, "is of a kind that cannot hold " + std::string(row.name),
                  "Use .tif or .exr, or convert the texels to another format first.");
    }
    output.require_written(output->write_image(spec.format, texels.data()));
    output.complete();
}

}  // namespace texton
