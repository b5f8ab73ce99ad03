// What Texton does with the claims of an image header: windows, tiles, levels, parts, types, orientation, cube layouts.
// The input describes them. A reader that this target adds to OpenImageIO returns them without a decoder.
#include <OpenImageIO/imageio.h>

#include <texton/image_file.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 18;  // bytes of texels that are read

struct Claims {
    std::vector<std::vector<OIIO::ImageSpec>> parts;  // each with its levels
};
Claims claims;

class Reader final : public OIIO::ImageInput {
public:
    const char* format_name() const override { return "texton_fuzz"; }
    int supports(OIIO::string_view) const override { return true; }
    bool open(const std::string&, OIIO::ImageSpec& spec) override {
        const bool good = seek_subimage(0, 0);
        spec = m_spec;
        return good;
    }
    bool close() override { return true; }
    int current_subimage() const override { return part_; }
    int current_miplevel() const override { return level_; }
    bool seek_subimage(int part, int level) override {
        if (part < 0 || part >= static_cast<int>(claims.parts.size())) return false;
        const auto& levels = claims.parts[static_cast<std::size_t>(part)];
        if (level < 0 || level >= static_cast<int>(levels.size())) return false;
        part_ = part;
        level_ = level;
        m_spec = levels[static_cast<std::size_t>(level)];
        return true;
    }
    bool read_native_scanline(int, int, int y, int, void* data) override {
        std::memset(data, y & 0x3f, m_spec.scanline_bytes(true));
        return true;
    }
    bool read_native_tile(int, int, int x, int y, int, void* data) override {
        std::memset(data, (x ^ y) & 0x3f, m_spec.tile_bytes(true));
        return true;
    }

private:
    int part_ = 0, level_ = 0;
};

OIIO::ImageInput* make_reader() { return new Reader; }

OIIO::ImageSpec spec_of(fuzz::Numbers& numbers) {
    constexpr OIIO::TypeDesc::BASETYPE kTypes[] = {
        OIIO::TypeDesc::UINT8,  OIIO::TypeDesc::UINT16, OIIO::TypeDesc::HALF,
        OIIO::TypeDesc::FLOAT,  OIIO::TypeDesc::INT8,   OIIO::TypeDesc::INT16,
        OIIO::TypeDesc::UINT32, OIIO::TypeDesc::INT32,  OIIO::TypeDesc::DOUBLE};
    OIIO::ImageSpec spec(numbers.hostile_as<int>(), numbers.hostile_as<int>(), static_cast<int>(numbers.below(9)),
                         kTypes[numbers.below(std::size(kTypes))]);
    const auto extras = numbers.take<std::uint8_t>();
    if (extras & 1) {
        spec.x = numbers.hostile_as<int>();
        spec.y = numbers.hostile_as<int>();
        spec.z = numbers.hostile_as<int>();
    }
    if (extras & 2) {
        spec.full_x = numbers.hostile_as<int>();
        spec.full_y = numbers.hostile_as<int>();
        spec.full_width = numbers.hostile_as<int>();
        spec.full_height = numbers.hostile_as<int>();
    }
    if (extras & 4) {
        spec.tile_width = numbers.hostile_as<int>();
        spec.tile_height = numbers.hostile_as<int>();
        spec.tile_depth = numbers.hostile_as<int>();
    }
    if (extras & 8) spec.depth = numbers.hostile_as<int>();
    if (extras & 16) spec.attribute("Orientation", numbers.hostile_as<int>());
    if (extras & 32) spec.attribute("tiff:RowsPerStrip", numbers.hostile_as<int>());
    if (extras & 64) spec.attribute("oiio:ColorSpace", numbers.flag() ? "sRGB" : "ACEScg");
    if (extras & 128) spec.attribute("textureformat", numbers.flag() ? "CubeFace Environment" : "LatLong Environment");
    if (numbers.below(16) == 15) spec.deep = true;
    return spec;
}

// The readers of OpenImageIO refuse sizes whose bytes do not fit in 64 bits, and so must this one.
bool is_possible(const OIIO::ImageSpec& spec) {
    return spec.image_bytes(true) < std::uint64_t{1} << 40 && spec.tile_bytes(true) < std::uint64_t{1} << 30 &&
           spec.scanline_bytes(true) < std::uint64_t{1} << 32;
}

bool are_small(const Claims& all) {
    for (const auto& levels : all.parts)
        for (const OIIO::ImageSpec& spec : levels)
            if (spec.image_bytes(true) > kLargest || spec.tile_bytes(true) > kLargest) return false;
    return true;
}

ImageOptions options_of(fuzz::Numbers& numbers) {
    ImageOptions options;
    if (numbers.flag()) options.kind = static_cast<ArrayKind>(numbers.below(7));
    if (numbers.flag()) options.format = numbers.format();
    options.color = static_cast<ImageColor>(numbers.below(3));
    options.window = static_cast<ImageWindow>(numbers.below(2));
    options.upright = numbers.flag();
    if (numbers.flag()) options.cube = static_cast<CubeLayout>(numbers.below(8));
    if (numbers.flag()) options.cube_side = numbers.hostile_as<std::size_t>();
    if (numbers.flag()) options.part = numbers.hostile_as<int>();
    if (numbers.flag()) options.first_level = numbers.hostile_as<int>();
    if (numbers.flag()) options.levels = numbers.hostile_as<int>();
    if (numbers.flag()) options.layer = numbers.hostile_as<std::size_t>();
    if (numbers.flag()) options.face = numbers.hostile_as<int>();
    return options;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    static const char* extensions[] = {"textonfuzz", nullptr};
    OIIO::declare_imageio_format("texton_fuzz", make_reader, extensions, nullptr, nullptr, "none");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".textonfuzz");
    if (size == 0) return 0;
    fuzz::Numbers numbers({data, size});
    const ImageOptions options = options_of(numbers);
    claims.parts.clear();
    for (std::size_t part = numbers.below(4) + 1; part > 0; --part) {
        std::vector<OIIO::ImageSpec>& levels = claims.parts.emplace_back();
        for (std::size_t level = numbers.below(4) + 1; level > 0; --level) {
            levels.push_back(spec_of(numbers));
            if (!is_possible(levels.back())) return 0;
        }
    }
    const auto& path = file.with({data, size});
    const auto image = fuzz::accepted([&] { return open_image(path, options); });
    if (!image) return 0;
    const ArrayInfo& info = image->info();
    fuzz::require(info.levels >= 1 && info.levels <= full_levels(info), "the image has possible levels");
    if (packed_bytes(info) > kLargest || !are_small(claims)) return 0;
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        extent.depth = slice_count(info, level);
        std::vector<std::byte> texels(packed_bytes(info.format, extent));
        (void)fuzz::accepted([&] { return image->read({.level = level}, texels), true; });
        (void)image->access(level);
    }
    return 0;
}
