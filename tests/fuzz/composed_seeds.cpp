// Seeds of image files that OpenImageIO cannot write: GIF, PSD, Softimage PIC and Cineon, and variants of BMP, PNG, TGA.
#include <span>
#include <string>

#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/png_chunks.h"

namespace texton::fuzz {

// In container_seeds.cpp.
void add_dicom(std::vector<ImageSeed>& seeds);
void add_raw(std::vector<ImageSeed>& seeds);
void add_movies(std::vector<ImageSeed>& seeds, const std::filesystem::path& folder);
void add_openvdb(std::vector<ImageSeed>& seeds);

namespace {

// --- BMP ---

// Returns a file with a header of 40 bytes, 8 texels wide and 4 high.
Input bmp(unsigned bits, unsigned compression, const Input& after_header, const Input& texels) {
    FileBytes file;
    const std::size_t offset = 14 + 40 + after_header.size();
    file.text("BM").le32(offset + texels.size()).le32(0).le32(offset);
    file.le32(40).le32(8).le32(4).le16(1).le16(bits).le32(compression).le32(texels.size()).le32(2835).le32(2835);
    return file.le32(bits <= 8 ? after_header.size() / 4 : 0).le32(0).add(after_header).add(texels).bytes;
}

void add_bmp(std::vector<ImageSeed>& seeds) {
    const auto bytes = [](std::size_t count) { return FileBytes().pattern(count).bytes; };
    seeds.push_back({"palette1.bmp", bmp(1, 0, bytes(2 * 4), bytes(4 * 4))});
    seeds.push_back({"palette4.bmp", bmp(4, 0, bytes(16 * 4), Input(4 * 4, 0x5a))});
    seeds.push_back({"palette8.bmp", bmp(8, 0, bytes(256 * 4), bytes(4 * 8))});
    seeds.push_back({"555.bmp", bmp(16, 0, {}, bytes(4 * 16))});
    seeds.push_back({"masks.bmp", bmp(16, 3, FileBytes().le32(0xf800).le32(0x7e0).le32(0x1f).bytes, bytes(4 * 16))});
    // Two runs, four single texels, a skip of texels and rows, and the end.
    const Input runs8 = {8, 3, 0, 0, 4, 1, 0, 4, 1, 2, 3, 4, 0, 0, 0, 2, 1, 1, 3, 2, 0, 1};
    seeds.push_back({"rle8.bmp", bmp(8, 1, bytes(256 * 4), runs8)});
    const Input runs4 = {8, 0x34, 0, 0, 4, 0x11, 0, 4, 0x12, 0x34, 0, 0, 0, 2, 1, 1, 3, 0x22, 0, 1};
    seeds.push_back({"rle4.bmp", bmp(4, 2, bytes(16 * 4), runs4)});
    FileBytes old;  // the header of OS/2, 12 bytes
    old.text("BM").le32(26 + 96).le32(0).le32(26).le32(12).le16(8).le16(4).le16(1).le16(24).pattern(96);
    seeds.push_back({"os2.bmp", old.bytes});
}

// --- PNG ---

// Returns a zlib stream with one block that is not compressed.
Input stored_zlib(const Input& data) {
    std::uint32_t low = 1, high = 0;
    for (const std::uint8_t byte : data) {
        low = (low + byte) % 65521;
        high = (high + low) % 65521;
    }
    FileBytes stream;
    stream.u8(0x78).u8(1).u8(1).le16(data.size()).le16(~data.size()).add(data);
    return stream.be32(high << 16 | low).bytes;
}

Input png(unsigned depth, unsigned color, bool interlaced, const Input& chunks, const Input& rows) {
    const Input header = FileBytes().be32(8).be32(8).u8(depth).u8(color).u8(0).u8(0).u8(interlaced ? 1 : 0).bytes;
    FileBytes file;
    file.u8(0x89).text("PNG\r\n\x1a\n").add(png_chunk("IHDR", header)).add(chunks);
    return file.add(png_chunk("IDAT", stored_zlib(rows))).add(png_chunk("IEND", {})).bytes;
}

// Returns rows with filter `filter`. `bits` is the size of a texel.
Input png_rows(unsigned bits, bool interlaced, unsigned filter) {
    struct Pass {
        unsigned width, rows;
    };
    constexpr Pass kPasses[] = {{1, 1}, {1, 1}, {2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}};
    constexpr Pass kWhole[] = {{8, 8}};
    FileBytes rows;
    for (const Pass& pass : interlaced ? std::span<const Pass>(kPasses) : std::span<const Pass>(kWhole)) {
        for (unsigned row = 0; row < pass.rows; ++row) rows.u8(filter).pattern((pass.width * bits + 7) / 8);
    }
    return rows.bytes;
}

void add_png(std::vector<ImageSeed>& seeds) {
    const auto chunk = [](std::string_view kind, const FileBytes& data) { return png_chunk(kind, data.bytes); };
    const Input palette = chunk("PLTE", FileBytes().pattern(256 * 3));
    const Input transparent = FileBytes().add(palette).add(chunk("tRNS", FileBytes().pattern(16))).bytes;
    for (const unsigned depth : {1U, 2U, 4U, 8U}) {
        const Input colors = chunk("PLTE", FileBytes().pattern((std::size_t{1} << depth) * 3));
        seeds.push_back(
            {"palette" + std::to_string(depth) + ".png", png(depth, 3, false, colors, png_rows(depth, false, 0))});
        seeds.push_back({"gray" + std::to_string(depth) + ".png", png(depth, 0, true, {}, png_rows(depth, true, 0))});
    }
    seeds.push_back({"palette-alpha.png", png(8, 3, true, transparent, png_rows(8, true, 1))});
    seeds.push_back({"interlaced.png", png(8, 6, true, {}, png_rows(32, true, 4))});
    seeds.push_back({"interlaced16.png", png(16, 2, true, {}, png_rows(48, true, 3))});
    FileBytes chunks;
    chunks.add(chunk("gAMA", FileBytes().be32(45455)));
    chunks.add(chunk(
        "cHRM",
        FileBytes().be32(31270).be32(32900).be32(64000).be32(33000).be32(30000).be32(60000).be32(15000).be32(6000)));
    chunks.add(chunk("sBIT", FileBytes().u8(5).u8(6).u8(5)));
    chunks.add(chunk("bKGD", FileBytes().be16(1).be16(2).be16(3)));
    chunks.add(chunk("tRNS", FileBytes().be16(7).be16(14).be16(21)));
    chunks.add(chunk("pHYs", FileBytes().be32(2835).be32(2835).u8(1)));
    chunks.add(chunk("tIME", FileBytes().be16(2000).u8(1).u8(1).u8(0).u8(0).u8(0)));
    chunks.add(chunk("tEXt", FileBytes().text("Author").u8(0).text("nobody")));
    chunks.add(chunk("zTXt", FileBytes().text("Comment").u8(0).u8(0).add(stored_zlib({'t', 'e', 'x', 't'}))));
    chunks.add(chunk("iTXt", FileBytes().text("XML:com.adobe.xmp").zeros(5).text("<x/>")));
    chunks.add(chunk(
        "eXIf", FileBytes().text("MM").be16(42).be32(8).be16(1).be16(0x112).be16(3).be32(1).be32(0x10000).be32(0)));
    seeds.push_back({"chunks.png", png(8, 2, false, chunks.bytes, png_rows(24, false, 2))});
}

// --- TGA ---

Input targa(unsigned kind, unsigned bits, const Input& palette, const Input& texels) {
    FileBytes file;
    file.u8(0).u8(palette.empty() ? 0 : 1).u8(kind).le16(0).le16(palette.size() / 3).u8(palette.empty() ? 0 : 24);
    return file.le16(0).le16(0).le16(8).le16(4).u8(bits).u8(0x20).add(palette).add(texels).bytes;
}

void add_targa(std::vector<ImageSeed>& seeds) {
    const Input palette = FileBytes().pattern(64 * 3).bytes, texels(32, 11);
    seeds.push_back({"palette.tga", targa(1, 8, palette, texels)});
    seeds.push_back({"palette-rle.tga", targa(9, 8, palette, {0x87, 3, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0x8f, 60})});
    seeds.push_back({"16.tga", targa(2, 16, {}, FileBytes().pattern(64).bytes)});
    seeds.push_back({"16-rle.tga", targa(10, 16, {}, {0x9e, 3, 7, 0, 1, 2})});
}

// --- GIF (OpenImageIO's writer leaves bytes undefined) ---

// Returns one image with codes of 8 bits: no code stands for several texels.
Input gif_image(unsigned x, unsigned y, unsigned width, unsigned height, bool interlaced, const Input& palette) {
    constexpr unsigned kClear = 128, kEnd = 129;
    FileBytes codes;
    codes.u8(kClear);
    for (unsigned i = 0; i < width * height; ++i) codes.u8(i * 3 % kClear);
    codes.u8(kEnd);
    FileBytes image;
    image.u8(0x2c).le16(x).le16(y).le16(width).le16(height);
    image.u8((interlaced ? 0x40U : 0U) | (palette.empty() ? 0U : 0x86U)).add(palette);
    return image.u8(7).u8(static_cast<unsigned>(codes.bytes.size())).add(codes.bytes).u8(0).bytes;
}

Input gif(std::string_view version, bool palette, const Input& images) {
    FileBytes file;
    file.text(version).le16(9).le16(7).u8(palette ? 0xf6 : 0x70).u8(1).u8(0).pattern(palette ? 128 * 3 : 0);
    return file.add(images).u8(0x3b).bytes;
}

void add_gif(std::vector<ImageSeed>& seeds) {
    const Input palette = FileBytes().pattern(128 * 3).bytes;
    const auto control = [](unsigned disposal, bool transparent) {
        return FileBytes().u8(0x21).u8(0xf9).u8(4).u8(disposal << 2 | (transparent ? 1 : 0)).le16(5).u8(3).u8(0).bytes;
    };
    seeds.push_back({"87a.gif", gif("GIF87a", true, gif_image(0, 0, 9, 7, false, {}))});
    seeds.push_back({"interlaced.gif", gif("GIF89a", true, gif_image(0, 0, 9, 7, true, {}))});
    seeds.push_back({"local.gif", gif("GIF89a", false, gif_image(2, 1, 6, 5, false, palette))});
    const Input transparent = FileBytes().add(control(1, true)).add(gif_image(0, 0, 9, 7, false, {})).bytes;
    seeds.push_back({"transparent.gif", gif("GIF89a", true, transparent)});
    FileBytes movie;
    movie.u8(0x21).u8(0xff).u8(11).text("NETSCAPE2.0").u8(3).u8(1).le16(2).u8(0);
    movie.u8(0x21).u8(0xfe).u8(4).text("seed").u8(0).add(control(1, false)).add(gif_image(0, 0, 9, 7, false, {}));
    movie.add(control(2, true)).add(gif_image(3, 2, 4, 4, false, {}));
    movie.add(control(3, true)).add(gif_image(0, 0, 5, 6, true, palette));
    seeds.push_back({"movie.gif", gif("GIF89a", true, movie.bytes)});
}

// --- PSD ---

enum class PsdMode : std::uint16_t { bitmap = 0, gray = 1, indexed = 2, rgb = 3, cmyk = 4, multichannel = 7, lab = 9 };

struct Psd {
    PsdMode mode = PsdMode::rgb;
    unsigned channels = 3;
    unsigned depth = 8;
    bool large = false;  // PSB
    bool runs = false;   // texels are run-length coded
    bool resources = false;
    bool layer = false;
};

constexpr unsigned kPsdWidth = 8, kPsdHeight = 6;

// Returns the texels of planes with rows of this many bytes, after the number of the compression.
Input psd_texels(const Psd& psd, unsigned planes, std::size_t row) {
    FileBytes bytes;
    bytes.be16(psd.runs ? 1 : 0);
    if (!psd.runs) return bytes.pattern(planes * kPsdHeight * row).bytes;
    for (unsigned i = 0; i < planes * kPsdHeight; ++i) bytes.be(i % 2 == 0 ? row + 1 : 2, psd.large ? 4 : 2);
    for (unsigned i = 0; i < planes * kPsdHeight; ++i) {
        if (i % 2 == 0) {
            bytes.u8(static_cast<unsigned>(row - 1)).pattern(row);
        } else {
            bytes.u8(static_cast<unsigned>(257 - row)).u8(i * 5);
        }
    }
    return bytes.bytes;
}

Input psd_resources() {
    FileBytes bytes;
    const auto add = [&bytes](unsigned number, const FileBytes& data) {
        bytes.text("8BIM").be16(number).be16(0).be32(data.bytes.size()).add(data.bytes).zeros(data.bytes.size() % 2);
    };
    add(1005, FileBytes().be32(72 << 16).be16(1).be16(1).be32(72 << 16).be16(1).be16(1));  // resolution
    add(1039, FileBytes().be32(132).text("none").pad_to(36).text("acsp").pad_to(132));     // profile
    add(1060, FileBytes().text("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF/></x:xmpmeta>"));
    add(1064, FileBytes().be32(1).be(0x3ff0000000000000, 8));  // aspect of a pixel
    add(1047, FileBytes().be16(3));                            // transparent index
    add(1058, FileBytes().text("MM").be16(42).be32(8).be16(0).be32(0));
    return bytes.bytes;
}

// Returns one layer, which is as large as the image.
Input psd_layers(const Psd& psd) {
    const unsigned size = psd.large ? 8 : 4;
    const std::size_t row = kPsdWidth * psd.depth / 8;
    const Input plane = psd_texels(psd, 1, row);
    FileBytes layers;
    layers.be16(1).be32(0).be32(0).be32(kPsdHeight).be32(kPsdWidth).be16(psd.channels + 1);
    for (unsigned channel = 0; channel <= psd.channels; ++channel) {
        layers.be16(channel == psd.channels ? 0xffff : channel).be(plane.size(), size);
    }
    FileBytes extra;  // no mask, no ranges, a name, and an additional block
    extra.be32(0).be32(0).u8(3).text("one").text("8BIM").text("lyid").be32(4).be32(1);
    layers.text("8BIM").text("norm").u8(255).u8(0).u8(8).u8(0).be32(extra.bytes.size()).add(extra.bytes);
    for (unsigned channel = 0; channel <= psd.channels; ++channel) layers.add(plane);
    layers.zeros(layers.bytes.size() % 2);
    FileBytes all;
    all.be(size + layers.bytes.size() + 4, size).be(layers.bytes.size(), size).add(layers.bytes).be32(0);
    return all.bytes;
}

Input file_of(const Psd& psd) {
    FileBytes file;
    file.text("8BPS").be16(psd.large ? 2 : 1).zeros(6).be16(psd.channels).be32(kPsdHeight).be32(kPsdWidth);
    file.be16(psd.depth).be16(static_cast<std::uint16_t>(psd.mode));
    const Input palette = psd.mode == PsdMode::indexed ? FileBytes().pattern(768).bytes : Input();
    file.be32(palette.size()).add(palette);
    const Input resources = psd.resources ? psd_resources() : Input();
    file.be32(resources.size()).add(resources);
    if (psd.layer) {
        file.add(psd_layers(psd));
    } else {
        file.be(0, psd.large ? 8 : 4);
    }
    const std::size_t row = (kPsdWidth * psd.depth + 7) / 8;
    return file.add(psd_texels(psd, psd.channels, row)).bytes;
}

void add_psd(std::vector<ImageSeed>& seeds) {
    const auto add = [&seeds](const char* name, const Psd& psd) { seeds.push_back({name, file_of(psd)}); };
    add("rgb.psd", {});
    add("rgb-rle.psd", {.runs = true});
    add("rgba.psd", {.channels = 4, .runs = true});
    add("rgb16.psd", {.depth = 16});
    add("rgb16-rle.psd", {.depth = 16, .runs = true});
    add("rgb32.psd", {.depth = 32});
    add("gray.psd", {.mode = PsdMode::gray, .channels = 1, .runs = true});
    add("bitmap.psd", {.mode = PsdMode::bitmap, .channels = 1, .depth = 1});
    add("indexed.psd", {.mode = PsdMode::indexed, .channels = 1, .resources = true});
    add("cmyk.psd", {.mode = PsdMode::cmyk, .channels = 4, .runs = true});
    add("multichannel.psd", {.mode = PsdMode::multichannel, .channels = 3});
    add("large.psb", {.large = true, .runs = true});
    add("large-layer.psb", {.large = true, .runs = true, .layer = true});
    add("layer.psd", {.runs = true, .layer = true});
    add("layer16.psd", {.depth = 16, .layer = true});
    add("resources.psd", {.resources = true});
}

// --- Softimage PIC ---

Input softimage(unsigned coding, bool alpha, const Input& texels) {
    FileBytes file;
    file.be32(0x5380f634).be32(0x40600000).text("seed").pad_to(88).text("PICT").be16(6).be16(4).be32(0x3f800000);
    file.be16(3).be16(0).u8(alpha ? 1 : 0).u8(8).u8(coding).u8(0xe0);
    if (alpha) file.u8(0).u8(8).u8(coding).u8(0x10);
    return file.add(texels).bytes;
}

void add_softimage(std::vector<ImageSeed>& seeds) {
    FileBytes mixed, mixed_alpha;  // coding 1, runs alone, is no seed: the decoder of OpenImageIO 2.4 crashed on it
    for (unsigned row = 0; row < 4; ++row) {
        mixed.u8(2).pattern(9).u8(0x82).pattern(3);  // three texels, and a run of three
        mixed_alpha.u8(2).pattern(9).u8(0x80).be16(3).pattern(3).u8(0x85).u8(row);
    }
    seeds.push_back({"raw.pic", softimage(0, false, FileBytes().pattern(72).bytes)});
    seeds.push_back({"mixed.pic", softimage(2, false, mixed.bytes)});
    seeds.push_back({"alpha.pic", softimage(2, true, mixed_alpha.bytes)});
}

// --- Cineon ---

constexpr unsigned kCineonWidth = 8, kCineonHeight = 4;

Input cineon(unsigned channels, unsigned bits, unsigned packing, std::size_t bytes) {
    FileBytes file;
    file.be32(0x802a5fd7).be32(2048).be32(1024).be32(1024).be32(0).be32(2048 + bytes).text("V4.5").pad_to(32);
    file.text("seed.cin").pad_to(132).text("2000:01:01").pad_to(144).text("00:00:00GMT").pad_to(192);
    file.u8(0).u8(channels).zeros(2);
    for (unsigned channel = 0; channel < channels; ++channel) {
        file.u8(0).u8(channels == 1 ? 0 : channel + 1).u8(bits).u8(0).be32(kCineonWidth).be32(kCineonHeight);
        file.be32(0).be32(0).be32(0x447fc000).be32(0x40000000);
    }
    file.pad_to(680).u8(0).u8(packing).pad_to(1024);
    return file.pad_to(2048).pattern(bytes).bytes;
}

void add_cineon(std::vector<ImageSeed>& seeds) {
    constexpr std::size_t kTexels = std::size_t{kCineonWidth} * kCineonHeight;
    constexpr unsigned kFilled = 5;
    seeds.push_back({"10.cin", cineon(3, 10, kFilled, kTexels * 4)});
    seeds.push_back({"10-gray.cin", cineon(1, 10, kFilled, kTexels * 4)});
    seeds.push_back({"8.cin", cineon(3, 8, 0, kTexels * 3)});
    seeds.push_back({"12.cin", cineon(3, 12, 0, kTexels * 6)});
    seeds.push_back({"16.cin", cineon(3, 16, 0, kTexels * 6)});
}

}  // namespace

void add_composed_seeds(std::vector<ImageSeed>& seeds, std::string_view kind, const std::filesystem::path& folder) {
    constexpr std::pair<std::string_view, void (*)(std::vector<ImageSeed>&)> kKinds[] = {
        {"bmp", add_bmp},        {"gif", add_gif},     {"png", add_png},
        {"targa", add_targa},    {"psd", add_psd},     {"softimage", add_softimage},
        {"cineon", add_cineon},  {"dicom", add_dicom}, {"raw", add_raw},
        {"openvdb", add_openvdb}};
    for (const auto& [name, add] : kKinds) {
        if (name == kind) add(seeds);
    }
    if (kind == "ffmpeg") add_movies(seeds, folder);
}

}  // namespace texton::fuzz
