// Seeds that the writers of OpenImageIO and Texton make: one row of a table for each file.
#include <OpenImageIO/imageio.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <texton/copy.h>
#include <texton/image_save.h>

#include "arrays/files/zstd_frames.h"
#include "tests/fuzz/image_seeds.h"

namespace texton::fuzz {
namespace {

namespace fs = std::filesystem;
using OIIO::ImageOutput;
using OIIO::ImageSpec;
using OIIO::TypeDesc;

// A file to write. `attributes` is a list "name=value;name=value"; digits make an integer. The word "metadata" adds a
// profile of colors and attributes that become Exif, IPTC and XMP.
struct Variant {
    const char* kind;
    const char* name;
    int width;
    int height;
    int channels;
    TypeDesc::BASETYPE type;
    const char* attributes = "";
    int tile = 0;
    int levels = 1;
    int parts = 1;
};

constexpr auto kU8 = TypeDesc::UINT8, kU16 = TypeDesc::UINT16, kU32 = TypeDesc::UINT32, kS16 = TypeDesc::INT16,
               kS32 = TypeDesc::INT32, kS8 = TypeDesc::INT8, kHalf = TypeDesc::HALF, kFloat = TypeDesc::FLOAT;

constexpr Variant kVariants[] = {
    {"openexr", "none.exr", 9, 7, 4, kHalf, "compression=none"},
    {"openexr", "rle.exr", 9, 7, 3, kHalf, "compression=rle"},
    {"openexr", "zip.exr", 16, 20, 4, kFloat, "compression=zip"},
    {"openexr", "zips.exr", 9, 7, 1, kHalf, "compression=zips"},
    {"openexr", "piz.exr", 16, 33, 3, kHalf, "compression=piz"},
    {"openexr", "pxr24.exr", 9, 7, 3, kFloat, "compression=pxr24"},
    {"openexr", "b44.exr", 9, 9, 4, kHalf, "compression=b44"},
    {"openexr", "b44a.exr", 8, 8, 4, kHalf, "compression=b44a"},
    {"openexr", "dwaa.exr", 16, 16, 4, kHalf, "compression=dwaa"},
    {"openexr", "dwab.exr", 16, 16, 3, kHalf, "compression=dwab"},
    {"openexr", "uint.exr", 5, 4, 1, kU32, "compression=zip"},
    {"openexr", "many.exr", 5, 4, 7, kHalf, "compression=zip"},
    {"openexr", "tiles.exr", 20, 12, 4, kHalf, "compression=zip", 8},
    {"openexr", "mips.exr", 16, 16, 4, kHalf, "compression=none;textureformat=Plain Texture", 8, 5},
    {"openexr", "mips-piz.exr", 16, 16, 3, kFloat, "compression=piz;textureformat=Plain Texture", 8, 5},
    {"openexr", "parts.exr", 6, 5, 3, kHalf, "compression=zip", 0, 1, 2},
    {"openexr", "cube.exr", 4, 24, 3, kHalf, "compression=rle;textureformat=CubeFace Environment", 4, 5},
    {"openexr", "metadata.exr", 4, 4, 3, kHalf, "metadata;compression=zip;openexr:lineOrder=decreasingY"},
    {"tiff", "none.tif", 9, 7, 3, kU8, "compression=none"},
    {"tiff", "lzw.tif", 9, 7, 4, kU8, "compression=lzw"},
    {"tiff", "zip.tif", 9, 7, 3, kU16, "compression=zip"},
    {"tiff", "packbits.tif", 9, 7, 1, kU8, "compression=packbits"},
    {"tiff", "fax.tif", 32, 7, 1, kU8, "compression=ccittrle;oiio:BitsPerSample=1"},
    {"tiff", "bits1.tif", 19, 7, 1, kU8, "compression=none;oiio:BitsPerSample=1"},
    {"tiff", "bits4.tif", 9, 7, 1, kU8, "compression=none;oiio:BitsPerSample=4"},
    {"tiff", "bits12.tif", 9, 7, 3, kU16, "compression=none;oiio:BitsPerSample=12"},
    {"tiff", "half.tif", 9, 7, 3, kHalf, "compression=zip"},
    {"tiff", "float.tif", 9, 7, 4, kFloat, "compression=zip"},
    {"tiff", "lzw-float.tif", 9, 7, 1, kFloat, "compression=lzw"},
    {"tiff", "uint.tif", 5, 4, 1, kU32, "compression=none"},
    {"tiff", "int16.tif", 5, 4, 2, kS16, "compression=zip"},
    {"tiff", "int8.tif", 5, 4, 2, kS8, "compression=zip"},
    {"tiff", "separate.tif", 9, 7, 3, kU8, "compression=lzw;planarconfig=separate"},
    {"tiff", "tiles.tif", 20, 20, 3, kU8, "compression=zip", 16},
    {"tiff", "tiles-separate.tif", 20, 20, 2, kU8, "compression=packbits;planarconfig=separate", 16},
    {"tiff", "mips.tif", 32, 32, 3, kU8, "compression=zip;textureformat=Plain Texture", 16, 2},
    {"tiff", "parts.tif", 6, 5, 3, kU8, "compression=none", 0, 1, 3},
    {"tiff", "jpeg.tif", 16, 16, 3, kU8, "compression=jpeg"},
    {"tiff", "strips.tif", 6, 20, 3, kU8, "compression=lzw;tiff:RowsPerStrip=3"},
    {"tiff", "metadata.tif", 4, 4, 3, kU8, "metadata;compression=zip"},
    {"jpeg", "baseline.jpg", 17, 11, 3, kU8, "compression=jpeg:70"},
    {"jpeg", "gray.jpg", 17, 11, 1, kU8, "compression=jpeg:90"},
    {"jpeg", "progressive.jpg", 17, 11, 3, kU8, "compression=jpeg:70;jpeg:progressive=1"},
    {"jpeg", "progressive-gray.jpg", 17, 11, 1, kU8, "compression=jpeg:70;jpeg:progressive=1"},
    {"jpeg", "full.jpg", 17, 11, 3, kU8, "compression=jpeg:80;jpeg:subsampling=4:4:4"},
    {"jpeg", "half.jpg", 34, 18, 3, kU8, "compression=jpeg:40;jpeg:subsampling=4:2:2"},
    {"jpeg", "metadata.jpg", 9, 9, 3, kU8, "metadata;compression=jpeg:50"},
    {"bmp", "rgb.bmp", 9, 7, 3, kU8},
    {"bmp", "rgba.bmp", 9, 7, 4, kU8},
    {"bmp", "gray.bmp", 9, 7, 1, kU8},
    {"dpx", "8.dpx", 9, 7, 3, kU8},
    {"dpx", "10.dpx", 9, 7, 3, kU16, "oiio:BitsPerSample=10;dpx:Packing=Filled, method A"},
    {"dpx", "10-packed.dpx", 9, 7, 3, kU16, "oiio:BitsPerSample=10;dpx:Packing=Packed"},
    {"dpx", "12.dpx", 9, 7, 3, kU16, "oiio:BitsPerSample=12;dpx:Packing=Packed"},
    {"dpx", "16.dpx", 9, 7, 4, kU16, "oiio:Endian=little"},
    {"dpx", "gray.dpx", 9, 7, 1, kU8},
    {"fits", "8.fits", 9, 7, 1, kU8},
    {"fits", "16.fits", 9, 7, 1, kS16},
    {"fits", "32.fits", 9, 7, 1, kS32},
    {"fits", "float.fits", 9, 7, 1, kFloat},
    {"heif", "rgb.heic", 16, 16, 3, kU8, "compression=heic:30"},
    {"heif", "rgba.heic", 16, 16, 4, kU8, "compression=heic:30"},
    {"heif", "metadata.heic", 16, 16, 3, kU8, "metadata;compression=heic:30"},
    {"hdr", "rgb.hdr", 9, 7, 3, kFloat},
    {"hdr", "long.hdr", 20, 9, 3, kFloat},
    {"hdr", "turned.hdr", 9, 5, 3, kFloat, "Orientation=6;metadata"},
    {"ico", "rgba.ico", 16, 16, 4, kU8},
    {"ico", "png.ico", 32, 16, 4, kU8, "ico:PNG=1"},
    {"ico", "sizes.ico", 8, 8, 4, kU8, "", 0, 1, 2},
    {"iff", "rgb.iff", 20, 12, 3, kU8, "compression=rle", 64},
    {"iff", "rgba.iff", 20, 12, 4, kU8, "compression=none", 64},
    {"iff", "rgb16.iff", 20, 12, 3, kU16, "compression=rle", 64},
    {"jpeg2000", "rgb.jp2", 40, 33, 3, kU8},
    {"jpeg2000", "rgba16.jp2", 33, 32, 4, kU16},
    {"jpeg2000", "gray.j2k", 40, 33, 1, kU8},
    {"png", "gray.png", 9, 7, 1, kU8},
    {"png", "gray-alpha.png", 9, 7, 2, kU8},
    {"png", "rgb.png", 9, 7, 3, kU8},
    {"png", "rgba.png", 9, 7, 4, kU8},
    {"png", "rgba16.png", 9, 7, 4, kU16},
    {"png", "stored.png", 9, 7, 3, kU8, "png:compressionLevel=0;png:filter=0"},
    {"png", "filtered.png", 9, 7, 3, kU8, "png:compressionLevel=0;png:filter=248"},
    {"png", "metadata.png", 9, 7, 3, kU8, "metadata"},
    {"pnm", "gray.pgm", 9, 7, 1, kU8},
    {"pnm", "rgb.ppm", 9, 7, 3, kU8},
    {"pnm", "rgb16.ppm", 9, 7, 3, kU16},
    {"pnm", "text.ppm", 9, 7, 3, kU8, "pnm:binary=0"},
    {"pnm", "text.pgm", 9, 7, 1, kU8, "pnm:binary=0"},
    {"pnm", "bits.pbm", 19, 7, 1, kU8, "oiio:BitsPerSample=1"},
    {"pnm", "text.pbm", 19, 7, 1, kU8, "oiio:BitsPerSample=1;pnm:binary=0"},
    {"rla", "8.rla", 9, 7, 3, kU8},
    {"rla", "rgba.rla", 9, 7, 4, kU8},
    {"rla", "16.rla", 9, 7, 4, kU16},
    {"rla", "float.rla", 9, 7, 3, kFloat},
    {"rla", "metadata.rla", 9, 7, 1, kU8, "metadata"},
    {"sgi", "gray.sgi", 9, 7, 1, kU8, "compression=none"},
    {"sgi", "rgb.sgi", 9, 7, 3, kU8, "compression=rle"},
    {"sgi", "rgba.sgi", 9, 7, 4, kU8, "compression=rle"},
    {"sgi", "rgb16.sgi", 9, 7, 3, kU16, "compression=rle"},
    {"sgi", "rgba16.sgi", 9, 7, 4, kU16, "compression=none"},
    {"targa", "gray.tga", 9, 7, 1, kU8, "compression=none"},
    {"targa", "gray-alpha.tga", 9, 7, 2, kU8, "compression=rle"},
    {"targa", "rgb.tga", 9, 7, 3, kU8, "compression=none"},
    {"targa", "rgba.tga", 9, 7, 4, kU8, "compression=rle"},
    {"targa", "rgb-rle.tga", 9, 7, 3, kU8, "compression=rle"},
    {"targa", "metadata.tga", 9, 7, 3, kU8, "metadata;compression=rle"},
    {"webp", "lossy.webp", 20, 12, 3, kU8, "compression=webp:60"},
    {"webp", "lossy-alpha.webp", 20, 12, 4, kU8, "compression=webp:60"},
    {"webp", "lossless.webp", 20, 12, 3, kU8, "compression=lossless"},
    {"webp", "lossless-alpha.webp", 20, 12, 4, kU8, "compression=lossless"},
    {"zfile", "depth.zfile", 9, 7, 1, kFloat},
};

void add_metadata(ImageSpec& spec) {
    constexpr float kNumbers[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    spec.attribute("Artist", "A. Writer");
    spec.attribute("ImageDescription", "a seed");
    spec.attribute("Copyright", "none");
    spec.attribute("Keywords", "one; two");
    spec.attribute("DocumentName", "seed");
    spec.attribute("XResolution", 72.0F);
    spec.attribute("YResolution", 72.0F);
    spec.attribute("ResolutionUnit", "in");
    spec.attribute("PixelAspectRatio", 1.0F);
    spec.attribute("Exif:FocalLength", 35.0F);
    spec.attribute("Exif:UserComment", "comment");
    spec.attribute("Exif:ExposureProgram", 2);
    spec.attribute("GPS:Altitude", 12.5F);
    spec.attribute("IPTC:City", "Here");
    spec.attribute("IPTC:Caption", "caption");
    spec.attribute("dc:format", "image");
    spec.attribute("xmp:Rating", 3);
    spec.attribute("worldtocamera", TypeDesc(TypeDesc::FLOAT, TypeDesc::MATRIX44), kNumbers);
    FileBytes profile;  // a header of ICC with an empty table of tags
    profile.be32(132).text("none").be32(0x02400000).text("mntrRGB XYZ ").zeros(12).text("acsp");
    profile.pad_to(68).be32(0xf6d6).be32(0x10000).be32(0xd32d).pad_to(132);  // the illuminant D50
    spec.attribute("ICCProfile", TypeDesc(TypeDesc::UINT8, static_cast<int>(profile.bytes.size())),
                   profile.bytes.data());
}

void add_attributes(ImageSpec& spec, std::string_view list) {
    while (!list.empty()) {
        const std::string entry(list.substr(0, list.find(';')));
        list.remove_prefix(std::min(list.size(), entry.size() + 1));
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos) {
            add_metadata(spec);
            continue;
        }
        const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
        if (std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; })) {
            spec.attribute(name, std::atoi(value.c_str()));
        } else {
            spec.attribute(name, value);
        }
    }
}

ImageSpec spec_of(const Variant& variant) {
    ImageSpec spec(variant.width, variant.height, variant.channels, TypeDesc(variant.type));
    if (variant.tile != 0) {
        spec.tile_width = spec.tile_height = variant.tile;
        spec.tile_depth = 1;
    }
    // Writers add the present time where these are missing.
    spec.attribute("DateTime", "2000:01:01 00:00:00");
    spec.attribute("capDate", "2000:01:01 00:00:00");
    spec.attribute("Software", "Texton");
    spec.attribute("oiio:UnassociatedAlpha", 1);
    add_attributes(spec, variant.attributes);
    return spec;
}

// Smooth values with an edge, so that lossy and lossless coders use all their codes.
std::vector<std::uint8_t> texels_of(const ImageSpec& spec, unsigned seed) {
    std::vector<std::uint8_t> texels;
    for (int y = 0; y < spec.height; ++y) {
        for (int x = 0; x < spec.width; ++x) {
            for (int c = 0; c < spec.nchannels; ++c) {
                const int value = x > spec.width / 2 ? 200 - 20 * c : x * 13 + y * 5 + c * 40;
                texels.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(value) + seed));
            }
        }
    }
    return texels;
}

// Removes the path of the file, and the gap before the texels, so that more mutations hit numbers that matter.
void shorten_dpx(Input& file) {
    constexpr std::size_t kOffset = 4, kName = 36, kNameEnd = 136, kPlane = 808, kHeader = 2048, kTexels = 8192;
    const bool big_endian = file[0] == 'S';
    const Input offset = (big_endian ? FileBytes().be32(kHeader) : FileBytes().le32(kHeader)).bytes;
    std::ranges::copy(offset, file.begin() + kOffset);
    std::ranges::copy(offset, file.begin() + kPlane);
    std::fill(file.begin() + kName, file.begin() + kNameEnd, std::uint8_t{0});
    file.erase(file.begin() + kHeader, file.begin() + kTexels);
}

// The writer of SGI leaves the name of the image undefined.
void clear_name_of_sgi(Input& file) { std::fill(file.begin() + 20, file.begin() + 104, std::uint8_t{0}); }

Input contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    Input bytes{std::istreambuf_iterator<char>(file), {}};
    fs::remove(path);
    return bytes;
}

ImageSeed encoded(const Variant& variant, const fs::path& folder) {
    const std::string path = (folder / variant.name).string();
    auto out = ImageOutput::create(path);
    const auto require = [&](bool good) {
        if (!good)
            throw std::runtime_error(std::string(variant.name) + ": " + (out ? out->geterror() : OIIO::geterror()));
    };
    require(out != nullptr);
    const std::vector<ImageSpec> specs(static_cast<std::size_t>(variant.parts), spec_of(variant));
    const bool all_at_once =
        variant.parts > 1 && out->supports("multiimage") && out->format_name() == std::string("openexr");
    unsigned seed = 0;
    for (int part = 0; part < variant.parts; ++part) {
        ImageSpec spec = specs.front();
        for (int level = 0; level < variant.levels; ++level) {
            if (level > 0) {
                spec.width = spec.full_width = std::max(1, spec.width / 2);
                spec.height = spec.full_height = std::max(1, spec.height / 2);
            }
            if (part > 0) {
                require(out->open(path, spec, ImageOutput::AppendSubimage));
            } else if (level > 0) {
                require(out->open(path, spec,
                                  out->supports("mipmap") ? ImageOutput::AppendMIPLevel : ImageOutput::AppendSubimage));
            } else {
                require(all_at_once ? out->open(path, variant.parts, specs.data()) : out->open(path, spec));
            }
            require(out->write_image(TypeDesc(TypeDesc::UINT8), texels_of(spec, seed++).data()));
        }
    }
    require(out->close());
    out.reset();  // OpenEXR writes the levels on destruction
    ImageSeed made{variant.name, contents(path)};
    if (variant.kind == std::string_view("dpx")) shorten_dpx(made.bytes);
    if (variant.kind == std::string_view("sgi")) clear_name_of_sgi(made.bytes);
    return made;
}

// Adds files of DDS or KTX2.
void add_containers(std::vector<ImageSeed>& seeds, const std::string& kind, const fs::path& folder) {
    const auto add = [&](const std::string& name, const ArrayInfo& info, const std::string& compression = {}) {
        Array array(Device::cpu(), info);
        for (int level = 0; level < info.levels; ++level) {
            Extent extent = level_extent(info, level);
            extent.depth = slice_count(info, level);
            FileBytes texels;
            texels.pattern(packed_bytes(info.format, extent));
            copy(array.view({.level = level}), host_view(texels.bytes.data(), info.format, extent));
        }
        const fs::path path = folder / (name + "." + kind);
        save(path, array, {.compression = compression});
        seeds.push_back({path.filename(), contents(path)});
    };
    for (const FormatInfo& row : formats()) {
        const bool lacking = kind == "dds" && (row.format == Format::r8_srgb || row.format == Format::rg8_srgb);
        if (row.layout == FormatLayout::planar || lacking) continue;
        add(std::string(row.name), {.format = row.format, .extent = {8, 8, 1}, .levels = 2});
    }
    add("cube", {.format = Format::rgba8_unorm, .extent = {8, 8, 1}, .kind = ArrayKind::cubemap, .levels = 4});
    add("layers", {.format = Format::bc7_unorm, .extent = {8, 8, 1}, .kind = ArrayKind::layered_2d, .layers = 3});
    add("volume", {.format = Format::r16_float, .extent = {8, 8, 4}, .kind = ArrayKind::array_3d, .levels = 2});
    if (kind != "ktx2" || !detail::has_zstd()) return;
    add("zstd", {.format = Format::rgba8_unorm, .extent = {16, 16, 1}, .levels = 5}, "zstd");
    add("zstd_cube", {.format = Format::bc1_unorm, .extent = {8, 8, 1}, .kind = ArrayKind::cubemap}, "zstd:19");
}

}  // namespace

void add_encoded_seeds(std::vector<ImageSeed>& seeds, std::string_view kind, const fs::path& folder) {
    for (const Variant& variant : kVariants) {
        if (variant.kind == kind) seeds.push_back(encoded(variant, folder));
    }
    if (kind == "dds" || kind == "ktx2") add_containers(seeds, std::string(kind), folder);
}

std::vector<ImageSeed> image_seeds(std::string_view kind, const fs::path& folder) {
    OIIO::attribute("debug", 0);  // no messages about attributes that a kind of file does not have
    std::vector<ImageSeed> seeds;
    add_encoded_seeds(seeds, kind, folder);
    add_composed_seeds(seeds, kind, folder);
    return seeds;
}

}  // namespace texton::fuzz
