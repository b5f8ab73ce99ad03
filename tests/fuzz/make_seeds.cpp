// Writes the seeds of the fuzz targets whose inputs are binary: texton-fuzz-seeds FOLDER creates FOLDER/TARGET/*. Files
// come from the library's own writers. Each hostile variant changes a few bytes of one of them. Seeds that are texts are
// in tests/fuzz/seeds.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <texton/copy.h>
#include <texton/image.h>
#include <texton/image_save.h>
#include <texton/recording.h>

#include "core/show/protocol.h"
#include "tests/support/icc_profile.h"
#include "tests/support/ktx2_file.h"
#include "tests/support/zstd.h"

namespace {

using namespace texton;
namespace fs = std::filesystem;
using Bytes = std::vector<unsigned char>;

Bytes read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A value of 32 bits at a position in a file.
struct Word {
    std::size_t at;
    std::uint32_t value;
};

void write_changed(const fs::path& path, Bytes bytes, std::initializer_list<Word> words) {
    for (const Word& word : words)
        if (word.at + 4 <= bytes.size()) std::memcpy(bytes.data() + word.at, &word.value, 4);
    write(path, bytes);
}

std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> texels(bytes);
    for (std::size_t i = 0; i < bytes; ++i) texels[i] = static_cast<std::byte>(i * 37 + i / 7);
    return texels;
}

Array array_of(const ArrayInfo& info) {
    Array array(Device::cpu(), info);
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        extent.depth = slice_count(info, level);
        const auto texels = pattern(packed_bytes(info.format, extent));
        copy(array.view({.level = level}), host_view(texels.data(), info.format, extent));
    }
    return array;
}

ArrayInfo small(ArrayKind kind, Format format, int levels = 2) {
    ArrayInfo info{.format = format, .extent = {8, 8, 1}, .kind = kind, .levels = levels};
    if (is_flat(kind)) info.extent.height = 1;
    if (kind == ArrayKind::array_3d) info.extent.depth = 4;
    if (is_layered(kind)) info.layers = 2;
    return info;
}

constexpr ArrayKind kKinds[] = {ArrayKind::array_1d,       ArrayKind::array_2d,   ArrayKind::array_3d,
                                ArrayKind::layered_1d,     ArrayKind::layered_2d, ArrayKind::cubemap,
                                ArrayKind::cubemap_layered};

void make_dds(const fs::path& folder) {
    for (const FormatInfo& row : formats()) {
        const bool stored =
            row.layout != FormatLayout::planar && row.format != Format::r8_srgb && row.format != Format::rg8_srgb;
        const fs::path path = folder / (std::string(row.name) + ".dds");
        if (stored) save(path, array_of(small(ArrayKind::array_2d, row.format)));
    }
    for (const ArrayKind kind : kKinds)
        save(folder / (std::string(name(kind)) + ".dds"), array_of(small(kind, Format::rgba8_unorm, 1)));

    // Positions in the header: 4 size, 12 height, 16 width, 24 depth, 28 levels, 76 pixel size, 80 pixel flags, 84 code, 88 bits, 92 masks,
    // 112 caps2, 128 DXGI format, 132 dimension, 136 flags, 140 layers, 144 alpha.
    const Bytes file = read(folder / "layered_2d.dds");
    write_changed(folder / "levels.dds", file, {{28, 64}});
    write_changed(folder / "wide.dds", file, {{16, 0xffffffff}});
    write_changed(folder / "half_of_32_bits.dds", file, {{12, 0x80000000}, {16, 0x80000000}});
    write_changed(folder / "layers.dds", file, {{140, 0xffffffff}});
    write_changed(folder / "no_texels.dds", file, {{12, 0}, {140, 0}});
    write_changed(folder / "cube_of_layers.dds", file, {{136, 4}, {140, 0x2aaaaaab}});
    write_changed(folder / "line.dds", file, {{132, 2}});
    write_changed(folder / "volume.dds", file, {{132, 4}, {24, 0xffffffff}});
    write_changed(folder / "premultiplied.dds", file, {{144, 2}});
    write_changed(folder / "rgb24.dds", file,
                  {{80, 0x40}, {88, 24}, {92, 0xff0000}, {96, 0xff00}, {100, 0xff}, {104, 0}});
    write_changed(folder / "bgrx.dds", file,
                  {{80, 0x40}, {88, 32}, {92, 0xff0000}, {96, 0xff00}, {100, 0xff}, {104, 0}});
    write_changed(folder / "luminance.dds", file, {{80, 0x20000}, {88, 8}, {92, 0xff}, {96, 0}, {100, 0}, {104, 0}});
    write_changed(folder / "dxt1_cube.dds", file, {{84, 0x31545844}, {112, 0xfe00}});
    write_changed(folder / "old_volume.dds", file, {{84, 0x35545844}, {112, 0x200000}, {24, 2}});
    struct Masks {
        const char* name;
        std::uint32_t flags, bits, red, green, blue, alpha;
    };
    constexpr Masks kMasks[] = {{"b5g6r5", 0x40, 16, 0xf800, 0x7e0, 0x1f, 0},
                                {"b5g5r5a1", 0x41, 16, 0x7c00, 0x3e0, 0x1f, 0x8000},
                                {"b4g4r4a4", 0x41, 16, 0xf00, 0xf0, 0xf, 0xf000},
                                {"r3g3b2", 0x40, 8, 0xe0, 0x1c, 0x3, 0},
                                {"b10g10r10a2", 0x41, 32, 0x3ff00000, 0xffc00, 0x3ff, 0xc0000000},
                                {"a8", 0x2, 8, 0, 0, 0, 0xff},
                                {"a16", 0x2, 16, 0, 0, 0, 0xffff},
                                {"l8a8", 0x20001, 16, 0xff, 0, 0, 0xff00},
                                {"l12", 0x20000, 16, 0xfff, 0, 0, 0},
                                {"rgb_of_gray", 0x40, 8, 0xff, 0xff, 0xff, 0},
                                {"snorm_bgr", 0x80000, 32, 0xff0000, 0xff00, 0xff, 0},
                                {"no_flags", 0, 32, 0xff0000, 0xff00, 0xff, 0xff000000}};
    for (const Masks& masks : kMasks) {
        write_changed(folder / (std::string(masks.name) + ".dds"), file,
                      {{80, masks.flags},
                       {84, 0},
                       {88, masks.bits},
                       {92, masks.red},
                       {96, masks.green},
                       {100, masks.blue},
                       {104, masks.alpha}});
    }
    for (const std::uint32_t number : {6u, 25u, 26u, 65u, 67u, 85u, 86u, 115u, 191u})
        write_changed(folder / ("dxgi_" + std::to_string(number) + ".dds"), file, {{12, 4}, {128, number}, {140, 1}});
    for (const std::uint32_t number : {103u, 104u, 105u, 130u})
        write_changed(folder / ("planar_" + std::to_string(number) + ".dds"), file, {{128, number}, {140, 1}});
    for (const std::uint32_t number : {68U, 69U, 100U, 101U, 102U, 107U})
        write_changed(folder / ("pairs_" + std::to_string(number) + ".dds"), file, {{128, number}, {140, 1}});
    for (const std::uint32_t code : {0x47424752U, 0x42475247U, 0x32595559U, 0x59565955U, 0x56555941U, 0x30313459U,
                                     0x36313459U})  // RGBG to AYUV, Y410, Y416
        write_changed(folder / ("code_" + std::to_string(code) + ".dds"), file, {{84, code}});
    Bytes indices = file;
    indices.resize(128 + 1024 + 256, 7);
    write_changed(folder / "indices.dds", indices, {{12, 16}, {16, 16}, {80, 0x20}, {84, 0}, {88, 8}});
    indices.resize(128 + 1000);
    write_changed(folder / "short_palette.dds", indices, {{12, 16}, {16, 16}, {80, 0x20}, {84, 0}, {88, 8}});
    write_changed(folder / "size_24.dds", file, {{4, 24}, {76, 24}, {84, 0x31545844}, {28, 9}});
    write_changed(folder / "no_layers.dds", file, {{140, 0}});
    write_changed(folder / "counted_faces.dds", read(folder / "cubemap.dds"), {{140, 6}});
    for (std::uint32_t kind = 1; kind <= 7;
         ++kind)  // position 32: color, kind, format and more that dds_fuzz.cpp requests
        write_changed(folder / ("as_" + std::to_string(kind) + ".dds"), file, {{32, kind << 8 | 23u << 16}});
    write_changed(folder / "exact_blocks.dds", read(folder / "bc3_unorm.dds"), {{32, 23u << 16 | 1u << 24}});
    write_changed(folder / "one_face.dds", read(folder / "cubemap_layered.dds"), {{32, 23u << 16}, {36, 0x04010101}});
    write(folder / "header_alone.dds", Bytes(file.begin(), file.begin() + 128));
}

void make_ktx2(const fs::path& folder) {
    const auto seed = [&](const std::string& name, const ArrayInfo& info, const std::string& compression) {
        save(folder / (name + ".ktx2"), array_of(info), {.compression = compression});
    };
    for (const FormatInfo& row : formats())
        if (row.layout != FormatLayout::planar) seed(std::string(row.name), small(ArrayKind::array_2d, row.format), "");
    for (const ArrayKind kind : kKinds) {
        seed(std::string(name(kind)), small(kind, Format::rgba8_unorm, 1), "");
        seed(std::string(name(kind)) + "_zstd", small(kind, Format::rgba8_unorm, 2), test::zstd_if_built());
    }

    // Positions in the header: 12 format, 16 type size, 20 width, 24 height, 28 depth, 32 layers, 36 faces, 40 levels,
    // 44 compression, 48 descriptor, 56 keys and values, 80 location of level 0, 104 data format descriptor.
    const Bytes file = read(folder / "layered_2d.ktx2"), compressed = read(folder / "array_2d_zstd.ktx2");
    write_changed(folder / "levels.ktx2", file, {{40, 64}});
    write_changed(folder / "levels_to_compute.ktx2", file, {{40, 0}});
    write_changed(folder / "wide.ktx2", file, {{20, 0xffffffff}});
    write_changed(folder / "half_of_32_bits.ktx2", file, {{20, 0x80000000}, {24, 0x80000000}});
    write_changed(folder / "layers.ktx2", file, {{32, 0xffffffff}});
    write_changed(folder / "no_texels.ktx2", file, {{20, 0}, {24, 0}});
    write_changed(folder / "cube.ktx2", file, {{36, 6}});
    write_changed(folder / "volume.ktx2", file, {{28, 2}, {32, 0}});
    write_changed(folder / "line.ktx2", file, {{24, 0}, {32, 16}});
    write_changed(folder / "bgra.ktx2", file, {{12, 44}});
    write_changed(folder / "bgr10a2.ktx2", file, {{12, 58}});
    write_changed(folder / "rgb.ktx2", file, {{12, 23}, {20, 4}, {24, 4}, {32, 1}, {88, 48}});
    write_changed(folder / "rgb16.ktx2", file, {{12, 84}, {20, 4}, {24, 4}, {32, 1}, {88, 96}});
    write_changed(folder / "basis.ktx2", file, {{12, 0}, {44, 1}});
    write_changed(folder / "srgb_and_premultiplied.ktx2", file, {{116, 0x01020401}});
    write_changed(folder / "frame_of_another_size.ktx2", compressed, {{20, 9}});
    write_changed(folder / "level_outside.ktx2", file, {{84, 0x80000000}});
    for (std::uint32_t kind = 1; kind <= 7; ++kind)  // color, kind and format that ktx2_fuzz.cpp requests
        write_changed(folder / ("as_" + std::to_string(kind) + ".ktx2"), file, {{16, kind << 8 | 23u << 16}});
    test::Ktx2File zlib{.width = 4, .height = 4, .scheme = 3};
    zlib.levels = {test::zlib_stream_of(std::vector<std::byte>(64, std::byte{7}))};
    zlib.uncompressed_bytes = {64};
    const auto write_zlib = [&](const char* name) {
        Bytes bytes;
        for (const std::byte byte : zlib.bytes()) bytes.push_back(std::to_integer<unsigned char>(byte));
        write(folder / name, bytes);
    };
    write_zlib("zlib.ktx2");
    zlib.levels[0][7] ^= std::byte{1};  // a wrong checksum
    write_zlib("damaged_zlib.ktx2");
    zlib.levels = {test::zlib_stream_of(std::vector<std::byte>(32, std::byte{7}))};
    write_zlib("short_zlib.ktx2");
    write(folder / "header_alone.ktx2", Bytes(file.begin(), file.begin() + 80));
}

void make_recordings(const fs::path& folder) {
    constexpr FetchOperation kOperations[] = {FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients};
    constexpr Format kFormats[] = {Format::rgba8_unorm, Format::r32_float, Format::bc1_unorm, Format::rgb10a2_unorm};
    constexpr std::size_t kLargest = 4096;
    std::uint64_t seed = 1;
    const auto make = [&](const RecordingChoice& choice) {
        const fs::path path = folder / (std::to_string(seed) + ".cap");
        for (int tries = 0; tries < 20; ++tries) {  // textures have random sizes
            Recording recording = random_recording(seed++, choice);
            recording.results = replay(recording);
            write_recording(path, recording);
            if (fs::file_size(path) <= kLargest) return;
        }
        fs::remove(path);
    };
    for (const ArrayKind kind : kKinds)
        for (const FetchOperation operation : kOperations) make({.kind = kind, .operation = operation, .points = 4});
    for (const Format format : kFormats) make({.format = format, .points = 4});
    make({.kind = ArrayKind::array_2d, .operation = FetchOperation::gather, .points = 4});
}

// Numbers::hostile() of the targets reads a byte below 192 as itself.
void make_raw_frames(const fs::path& folder) {
    for (unsigned char format = 0; format < 4; ++format) {
        Bytes bytes{format, 4, 4, 0, 0, 0};
        bytes.resize(bytes.size() + 96, format);  // 4, 2, 2 and 3 frames
        write(folder / std::to_string(format), bytes);
        bytes[5] = 1;  // separate planes
        write(folder / (std::to_string(format) + "_planes"), bytes);
    }
    write(folder / "height_of_2_to_63", {0, 4, 193, 63, 0, 0, 0, 1, 2, 3});
}

// The first byte is the index of the frame.
void make_y4m(const fs::path& folder) {
    const auto make = [&](const char* name, unsigned char frame, const std::string& header, std::size_t frames,
                          std::size_t bytes, const std::string& line) {
        std::string text = header;
        for (std::size_t i = 0; i < frames; ++i) text += line + std::string(bytes, static_cast<char>('a' + i));
        Bytes file{frame};
        file.insert(file.end(), text.begin(), text.end());
        write(folder / name, file);
    };
    make("plain", 0, "YUV4MPEG2 W4 H2\n", 1, 12, "FRAME\n");
    make("second", 1, "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n", 3, 12, "FRAME\n");
    make("parameters", 2, "YUV4MPEG2 H2 W4 C420mpeg2\n", 3, 12, "FRAME Ip\n");
    make("ten_bits", 0, "YUV4MPEG2 W2 H2 C420p10\n", 2, 12, "FRAME\n");
    make("nv16", 0, "YUV4MPEG2 W2 H2 C422\n", 2, 8, "FRAME\n");
    make("truncated", 0, "YUV4MPEG2 W64 H2 XYSCSS=420JPEG\n", 2, 12, "FRAME\n");
}

void make_image_files(const fs::path& folder) {
    constexpr Extent kExtent{4, 4, 1};
    const auto make = [&](const char* ending, Format format) {
        write_image(folder / (std::string(name(format)) + ending), format, kExtent,
                    pattern(packed_bytes(format, kExtent)));
    };
    for (const Format format : {Format::rgba8_unorm, Format::r16_unorm}) {
        make(".png", format);
        make(".tif", format);
    }
    for (const Format format : {Format::r16_float, Format::rgba32_float}) make(".exr", format);
    make(".tif", Format::r32_float);
    for (const char* ending : {".tif", ".exr"}) {
        save(folder / (std::string("levels") + ending), array_of(small(ArrayKind::array_2d, Format::rgba32_float, 4)));
        save(folder / (std::string("cube") + ending), array_of(small(ArrayKind::cubemap, Format::rgba32_float, 1)));
        save(folder / (std::string("layers") + ending),
             array_of(small(ArrayKind::layered_2d, Format::rgba32_float, 1)));
    }
}

// The first eight bytes are a box.
void make_tiff(const fs::path& folder) {
    constexpr Extent kExtent{40, 37};
    const auto make = [&](const char* name, Format format, const SaveOptions& options) {
        const fs::path path = folder / (std::string(name) + ".tif");
        save(path, array_of({.format = format, .extent = kExtent}), options);
        Bytes file{3, 0, 5, 0, 20, 0, 30, 0};
        const Bytes stored = read(path);
        file.insert(file.end(), stored.begin(), stored.end());
        fs::remove(path);
        write(folder / name, file);
    };
    make("rgba8", Format::rgba8_unorm, {});
    make("rgb8", Format::rgba8_unorm, {.alpha = SavedAlpha::dropped});
    make("r8", Format::r8_unorm, {});
    make("rg16", Format::rg16_unorm, {});
    make("tiles_of_r8", Format::r8_unorm, {.tile = Extent{16, 32}});
    make("tiles_of_rgba16", Format::rgba16_unorm, {.tile = Extent{32, 16}});
    make("lzw", Format::rgba8_unorm, {.compression = "lzw"});
    make("stored", Format::r8_unorm, {.compression = "none"});
    make("tiles_of_rgba32f", Format::rgba32_float, {.tile = Extent{32, 16}});
}

void make_jpeg(const fs::path& folder) {
    const auto make = [&](const char* name, Format format, Extent extent) {
        Array array(Device::cpu(), {.format = format, .extent = extent});
        const auto texels = pattern(packed_bytes(format, extent));
        copy(array.view(), host_view(texels.data(), format, extent));
        save(folder / name, array, {.alpha = SavedAlpha::dropped});
    };
    make("colors.jpg", Format::rgba8_unorm, {33, 18, 1});
    make("gray.jpg", Format::r8_unorm, {32, 32, 1});
    const Bytes colors = read(folder / "colors.jpg");
    write(folder / "cut.jpg", Bytes(colors.begin(), colors.end() - static_cast<std::ptrdiff_t>(colors.size() / 3)));
}

// The order of the numbers is that of options_of(), the number of parts and levels, and spec_of() in image_spec_fuzz.cpp.
void make_image_specs(const fs::path& folder) {
    const Bytes options{0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    const auto make = [&](const char* name, const Bytes& chosen, std::initializer_list<unsigned char> specs) {
        Bytes bytes = chosen;
        bytes.insert(bytes.end(), specs);
        write(folder / name, bytes);
    };
    make("plain", options, {0, 0, 8, 4, 4, 0, 0, 0});
    make("levels", options, {0, 2, 8, 8, 4, 2, 4, 4, 4, 1, 0, 4, 4, 4, 2, 4, 4, 4, 1, 0, 2, 2, 4, 2, 4, 4, 4, 1, 0});
    make("tiles_without_depth", {0, 0, 0, 1, 1, 0, 0, 0, 0, 0xfe, 0xff}, {0, 0, 8, 4, 2, 4, 4, 4});
    make("strips_without_rows", {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}, {0, 0, '0', '0', '0', '0', '0', 0});
    make("windows", options, {0, 0, 8, 4, 3, 3, 3, 1, 2, 0, 0, 0, 16, 16, 0});
    make("turned", options, {0, 0, 8, 4, 1, 1, 16, 6, 0});
    make("cube", {1, 5, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0}, {0, 0, 4, 24, 4, 0, 0, 0});
    make("around", {1, 5, 0, 0, 0, 1, 1, 5, 1, 4, 0, 0, 0}, {0, 0, 16, 8, 4, 2, 0, 0});
    make("parts", {1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0}, {1, 0, 4, 4, 1, 3, 0, 0, 0, 4, 4, 1, 3, 0, 0});
}

// The first byte selects a tensor or an array, the second the number of axes; each axis has a length and a stride.
void make_exchanges(const fs::path& folder) {
    write(folder / "tensor", {1, 2, 4, 8, 8, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
    write(folder / "tensor_with_channels", {1, 3, 4, 32, 8, 4, 4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0});
    write(folder / "axes_that_the_shape_lacks", {1, 1, 4, 1, 0, 1, 0, 7, 0, 193, 15, 1, 0, 0, 0, 0, 0, 0});
    write(folder / "array", {0, 2, 4, 8, 0, 0, 0, 0, 0});
    write(folder / "array_with_strides", {0, 2, 4, 8, 1, 2, 16, 1, 0, 0, 0, 0});
}

void make_imports(const fs::path& folder) {
    write(folder / "pointer", {1, 0, 0, 100});
    write(folder / "changed_offset", {1, 1, 3, 200, 21, 0, 100});
    write(folder / "pool", {0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    write(folder / "memory", {0, 0, 0, 2, 0, 100, 0});
}

// Bytes of packets of tev's protocol.
class Packet {
public:
    explicit Packet(int type) : bytes_(4) { byte(type); }
    Packet& byte(int value) {
        bytes_.push_back(static_cast<unsigned char>(value));
        return *this;
    }
    Packet& text(const std::string& value) {
        bytes_.insert(bytes_.end(), value.c_str(), value.c_str() + value.size() + 1);
        return *this;
    }
    template <class Number>
    Packet& numbers(std::initializer_list<Number> values) {
        for (const Number value : values) {
            const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
            bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
        }
        return *this;
    }
    Bytes bytes() const {
        Bytes packet = bytes_;
        const auto length = static_cast<std::uint32_t>(packet.size());
        std::memcpy(packet.data(), &length, sizeof(length));
        return packet;
    }

private:
    Bytes bytes_;
};

void make_tev(const fs::path& folder) {
    const auto create = Packet(4).byte(1).text("i").numbers({3, 2, 3}).text("R").text("G").text("B").bytes();
    const auto join = [&](const Packet& packet) {
        Bytes all = create;
        const Bytes more = packet.bytes();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    write(folder / "create", create);
    write(folder / "layers", Packet(4)
                                 .byte(0)
                                 .text("l")
                                 .numbers({2, 1, 5})
                                 .text("a.Y")
                                 .text("b.R")
                                 .text("b.G")
                                 .text("b.B")
                                 .text("b.A")
                                 .bytes());
    write(folder / "update", join(Packet(3).byte(0).text("i").text("G").numbers({1, 1, 2, 1}).numbers({1.f, 2.f})));
    write(folder / "update_2", join(Packet(5)
                                        .byte(0)
                                        .text("i")
                                        .numbers({2})
                                        .text("R")
                                        .text("B")
                                        .numbers({0, 0, 1, 2})
                                        .numbers({1.f, 2.f, 3.f, 4.f})));
    const Packet strided = Packet(6)
                               .byte(0)
                               .text("i")
                               .numbers({2})
                               .text("R")
                               .text("G")
                               .numbers({0, 0, 2, 1})
                               .numbers<std::int64_t>({0, 1, 2, 2})
                               .numbers({1.f, 2.f, 3.f, 4.f});
    write(folder / "update_3", join(strided));
    write_changed(folder / "huge_offset", strided.bytes(), {{35, 0xFFFFFFFF}, {39, 0x7FFFFFFF}});
    write(folder / "open", Packet(0).byte(1).text("a.exr:R").bytes());
    write(folder / "open_2", Packet(7).byte(1).text("a.exr").text("R").bytes());
    write(folder / "reload", Packet(1).byte(1).text("a").bytes());
    write(folder / "close", Packet(2).text("a").bytes());
    write(folder / "graphics", Packet(8)
                                   .byte(0)
                                   .text("i")
                                   .byte(1)
                                   .numbers({3})
                                   .byte(10)
                                   .numbers({1.f, 2.f})
                                   .byte(21)
                                   .numbers({3.f, 4.f})
                                   .text("t")
                                   .byte(5)
                                   .bytes());
    write_changed(folder / "many_commands", Packet(8).byte(0).text("i").byte(1).numbers({3}).bytes(),
                  {{9, 0x7FFFFFFF}});
}

void make_show_messages(const fs::path& folder) {
    detail::ShowMessage message{
        .kind = detail::ShowMessageKind::image, .image = 1, .width = 4, .height = 3, .depth = 2};
    std::strcpy(message.format.data(), "rgba32_float");
    std::strcpy(message.name.data(), "image");
    const auto* bytes = reinterpret_cast<const unsigned char*>(&message);
    const Bytes image(bytes, bytes + sizeof(message));
    write(folder / "image", image);
    write_changed(folder / "frame", image, {{8, 2}});
    write_changed(folder / "huge", image, {{36, 0xFFFFFFFF}, {44, 0xFFFFFFFF}});
}

void make_icc_profiles(const fs::path& folder) {
    using namespace test;
    constexpr std::size_t kTags = 128;  // the number of tags, then 12 bytes for each: name, offset, size
    const Bytes srgb = icc_profile(kSrgbColorants, kSrgbCurve);
    write(folder / "srgb", srgb);
    write(folder / "gamma", icc_profile(kDisplayP3Colorants, {2.2}));
    write(folder / "three_parameters", icc_profile(kSrgbColorants, {2.2, 0.9, 0.1}));
    write(folder / "seven_parameters", icc_profile(kSrgbColorants, {2.4, 0.9, 0.1, 0.08, 0.04, 0.01, 0.02}));
    write(folder / "gray", icc_profile(kSrgbColorants, {1}, "GRAY"));
    write_changed(folder / "many_tags", srgb, {{kTags, 0xffffffff}});
    write_changed(folder / "tag_outside", srgb, {{kTags + 8, 0xfffffff0}});
    // A curve of 0, 1 and 3 values in place of the parameters of red.
    const std::size_t tag = kTags + 4 + 3 * 12 + 4;
    const std::size_t curve = static_cast<std::size_t>(srgb[tag + 2]) << 8 | srgb[tag + 3];
    for (const std::uint32_t count : {0U, 1U, 3U, 0xffffffU}) {
        Bytes sampled = srgb;
        const unsigned char begin[] = {'c',
                                       'u',
                                       'r',
                                       'v',
                                       0,
                                       0,
                                       0,
                                       0,
                                       static_cast<unsigned char>(count >> 24),
                                       static_cast<unsigned char>(count >> 16),
                                       static_cast<unsigned char>(count >> 8),
                                       static_cast<unsigned char>(count)};
        std::copy(std::begin(begin), std::end(begin), sampled.begin() + static_cast<std::ptrdiff_t>(curve));
        write(folder / ("curve_of_" + std::to_string(count)), sampled);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: texton-fuzz-seeds FOLDER\n", stderr);
        return 2;
    }
    const std::pair<const char*, void (*)(const fs::path&)> targets[] = {{"dds", make_dds},
                                                                         {"ktx2", make_ktx2},
                                                                         {"recording", make_recordings},
                                                                         {"raw_frames", make_raw_frames},
                                                                         {"y4m", make_y4m},
                                                                         {"image_file", make_image_files},
                                                                         {"image_spec", make_image_specs},
                                                                         {"jpeg", make_jpeg},
                                                                         {"tiff", make_tiff},
                                                                         {"exchange", make_exchanges},
                                                                         {"tev", make_tev},
                                                                         {"show_message", make_show_messages},
                                                                         {"import", make_imports},
                                                                         {"icc_profile", make_icc_profiles}};
    try {
        for (const auto& [name, make] : targets) {
            const fs::path folder = fs::path(argv[1]) / name;
            fs::remove_all(folder);
            fs::create_directories(folder);
            make(folder);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "texton-fuzz-seeds: %s\n", error.what());
        return 1;
    }
    return 0;
}
