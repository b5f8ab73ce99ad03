// Seeds of files that hold images beside much else: DICOM, DNG (a camera raw), AVI and OpenVDB.
#include <array>
#include <string>

#include "tests/fuzz/image_seeds.h"
#include "tests/support/avi_file.h"

namespace texton::fuzz {
namespace {

// --- DICOM ---

// Appends an element in the explicit little-endian syntax.
void dicom_element(FileBytes& file, unsigned group, unsigned number, std::string_view type, const Input& value) {
    file.le16(group).le16(number).text(type);
    const std::size_t size = value.size() + value.size() % 2;
    if (type == "OB" || type == "OW") {
        file.le16(0).le32(size);
    } else {
        file.le16(size);
    }
    file.add(value).zeros(value.size() % 2);
}

struct Dicom {
    std::string_view colors = "MONOCHROME2";
    unsigned samples = 1;
    unsigned bits = 8;
    unsigned frames = 1;
    unsigned palette = 0;  // entries of each table of colors
};

constexpr unsigned kDicomSide = 6;

Input file_of(const Dicom& dicom) {
    const auto text = [](std::string_view value) { return Input(value.begin(), value.end()); };
    const auto number = [](std::uint64_t value) { return FileBytes().le16(value).bytes; };
    constexpr std::string_view kClass = "1.2.840.10008.5.1.4.1.1.7", kInstance = "1.2.3.4";
    FileBytes meta;
    dicom_element(meta, 2, 1, "OB", {0, 1});
    dicom_element(meta, 2, 2, "UI", text(kClass));
    dicom_element(meta, 2, 3, "UI", text(kInstance));
    dicom_element(meta, 2, 0x10, "UI", text("1.2.840.10008.1.2.1"));
    dicom_element(meta, 2, 0x12, "UI", text("1.2.3"));
    FileBytes file;
    file.zeros(128).text("DICM");
    dicom_element(file, 2, 0, "UL", FileBytes().le32(meta.bytes.size()).bytes);
    file.add(meta.bytes);
    dicom_element(file, 8, 0x16, "UI", text(kClass));
    dicom_element(file, 8, 0x18, "UI", text(kInstance));
    dicom_element(file, 8, 0x60, "CS", text("OT"));
    dicom_element(file, 0x10, 0x10, "PN", text("Seed"));
    dicom_element(file, 0x28, 2, "US", number(dicom.samples));
    dicom_element(file, 0x28, 4, "CS", text(dicom.colors));
    if (dicom.samples > 1) dicom_element(file, 0x28, 6, "US", number(0));
    if (dicom.frames > 1) dicom_element(file, 0x28, 8, "IS", text(std::to_string(dicom.frames)));
    dicom_element(file, 0x28, 0x10, "US", number(kDicomSide));
    dicom_element(file, 0x28, 0x11, "US", number(kDicomSide));
    dicom_element(file, 0x28, 0x100, "US", number(dicom.bits));
    dicom_element(file, 0x28, 0x101, "US", number(dicom.bits));
    dicom_element(file, 0x28, 0x102, "US", number(dicom.bits - 1));
    dicom_element(file, 0x28, 0x103, "US", number(0));
    for (unsigned color = 0; color < 3 && dicom.palette != 0; ++color) {
        dicom_element(file, 0x28, 0x1101 + color, "US", FileBytes().le16(dicom.palette).le16(0).le16(16).bytes);
    }
    for (unsigned color = 0; color < 3 && dicom.palette != 0; ++color) {
        dicom_element(file, 0x28, 0x1201 + color, "OW", FileBytes().pattern(std::size_t{dicom.palette} * 2).bytes);
    }
    const std::size_t bytes = std::size_t{kDicomSide} * kDicomSide * dicom.samples * dicom.frames * dicom.bits / 8;
    dicom_element(file, 0x7fe0, 0x10, "OW", FileBytes().pattern(bytes).bytes);
    return file.bytes;
}

// --- DNG ---

// An entry of the directory of a TIFF.
struct DngTag {
    unsigned tag;
    unsigned type;  // 1 byte, 2 text, 3 short, 4 long, 5 rational, 10 signed rational
    unsigned count;
    Input value;
};

Input dng_of(unsigned bits, unsigned samples) {
    constexpr unsigned kSide = 32, kColors = 32803, kLinear = 34892;
    const auto number = [](std::uint64_t value) { return FileBytes().le32(value).bytes; };
    const auto text = [](std::string_view value) { return FileBytes().text(value).u8(0).bytes; };
    const auto fractions = [](std::initializer_list<int> values) {
        FileBytes bytes;
        for (const int value : values) bytes.le32(static_cast<std::uint32_t>(value)).le32(10);
        return bytes.bytes;
    };
    const std::size_t texels = std::size_t{kSide} * kSide * bits / 8 * samples;
    std::vector<DngTag> tags = {
        {254, 4, 1, number(0)},
        {256, 4, 1, number(kSide)},
        {257, 4, 1, number(kSide)},
        {258, 3, samples, samples == 1 ? number(bits) : FileBytes().le16(bits).le16(bits).le16(bits).bytes},
        {259, 3, 1, number(1)},
        {262, 3, 1, number(samples == 1 ? kColors : kLinear)},
        {271, 2, 7, text("Camera")},
        {272, 2, 6, text("Model")},
        {273, 4, 1, number(0)},  // the position of the texels, below
        {274, 3, 1, number(1)},
        {277, 3, 1, number(samples)},
        {278, 4, 1, number(kSide)},
        {279, 4, 1, number(texels)},
        {33421, 3, 2, FileBytes().le16(2).le16(2).bytes},
        {33422, 1, 4, {0, 1, 1, 2}},
        {50706, 1, 4, {1, 4, 0, 0}},
        {50708, 2, 13, text("Camera Model")},
        {50714, 3, 1, number(0)},
        {50717, 3, 1, number((1U << bits) - 1)},
        {50721, 10, 9, fractions({10, 0, 0, 0, 10, 0, 0, 0, 10})},
        {50728, 5, 3, fractions({10, 10, 10})},
        {50778, 3, 1, number(21)}};
    FileBytes directory, values;
    const std::size_t values_at = 8 + 2 + tags.size() * 12 + 4;
    std::size_t values_bytes = 0;
    for (const DngTag& tag : tags) values_bytes += tag.value.size() > 4 ? tag.value.size() + tag.value.size() % 2 : 0;
    for (DngTag& tag : tags) {
        if (tag.tag == 273) tag.value = number(values_at + values_bytes);
        directory.le16(tag.tag).le16(tag.type).le32(tag.count);
        if (tag.value.size() > 4) {
            directory.le32(values_at + values.bytes.size());
            values.add(tag.value).zeros(tag.value.size() % 2);
        } else {
            directory.add(tag.value).zeros(4 - tag.value.size());
        }
    }
    FileBytes file;
    file.text("II").le16(42).le32(8).le16(tags.size()).add(directory.bytes).le32(0).add(values.bytes);
    return file.pattern(texels).bytes;
}

// --- OpenVDB ---

FileBytes& vdb_text(FileBytes& file, std::string_view text) { return file.le32(text.size()).text(text); }

// Appends the shape of a grid with one leaf: the root, two nodes with 32 and 16 children a side, and the leaf. Inactive
// values are not stored.
void vdb_leaf_grid(FileBytes& file, unsigned value_bytes) {
    const auto node = [&file](std::size_t children) {
        file.u8(1).zeros(children / 8 - 1);  // the first child exists
        file.zeros(children / 8);            // no active values
        file.u8(0);                          // all inactive values are the background
    };
    file.le32(1).zeros(value_bytes).le32(0).le32(1);  // one buffer; background, tiles, children
    file.zeros(12);                                   // origin of the child
    node(32 * 32 * 32);
    node(16 * 16 * 16);
    file.u8(0xff).zeros(63);  // topology: a row of active values
}

void vdb_leaf_values(FileBytes& file, unsigned value_bytes) { file.u8(0xff).zeros(63).u8(0).pattern(8 * value_bytes); }

Input openvdb(std::string_view type, unsigned value_bytes) {
    constexpr std::size_t kPositions = 3 * 8;
    FileBytes file;
    file.le(0x56444220, 8).le32(224).le32(10).le32(0).u8(1).text("01234567-89ab-cdef-0123-456789abcdef");
    file.le32(0).le32(1);  // no metadata, one grid
    vdb_text(vdb_text(vdb_text(file, "density"), type), "");
    const std::size_t positions = file.bytes.size();
    FileBytes grid;
    const std::size_t grid_at = positions + kPositions;
    grid.le32(2).le32(1);  // only active values are stored; one attribute
    vdb_text(vdb_text(grid, "class"), "string");
    vdb_text(grid, "fog volume");
    vdb_text(grid, "UniformScaleMap");
    for (int number = 0; number < 15; ++number) grid.le(0x3ff0000000000000, 8);
    vdb_leaf_grid(grid, value_bytes);
    const std::size_t values_at = grid_at + grid.bytes.size();
    vdb_leaf_values(grid, value_bytes);
    file.le(grid_at, 8).le(values_at, 8).le(grid_at + grid.bytes.size(), 8);
    return file.add(grid.bytes).bytes;
}

}  // namespace

void add_dicom(std::vector<ImageSeed>& seeds) {
    seeds.push_back({"gray8.dcm", file_of(Dicom{})});
    seeds.push_back({"gray16.dcm", file_of(Dicom{.bits = 16})});
    seeds.push_back({"inverse.dcm", file_of(Dicom{.colors = "MONOCHROME1"})});
    seeds.push_back({"rgb.dcm", file_of(Dicom{.colors = "RGB", .samples = 3})});
    seeds.push_back({"ycbcr.dcm", file_of(Dicom{.colors = "YBR_FULL", .samples = 3})});
    seeds.push_back({"palette.dcm", file_of(Dicom{.colors = "PALETTE COLOR", .palette = 16})});
    seeds.push_back({"frames.dcm", file_of(Dicom{.frames = 3})});
}

void add_raw(std::vector<ImageSeed>& seeds) {
    seeds.push_back({"colors16.dng", dng_of(16, 1)});
    seeds.push_back({"colors8.dng", dng_of(8, 1)});
    seeds.push_back({"linear8.dng", dng_of(8, 3)});
}

// Beside frames without coding, movies of JPEG and PNG images reach other decoders.
void add_movies(std::vector<ImageSeed>& seeds, const std::filesystem::path& folder) {
    const Input frame = FileBytes().pattern(16 * 8 * 3).bytes;
    seeds.push_back({"raw.avi", test::avi_file(16, 8, "", {frame, frame})});
    std::vector<ImageSeed> images;
    add_encoded_seeds(images, "jpeg", folder);
    seeds.push_back({"jpeg.avi", test::avi_file(17, 11, "MJPG", {images.front().bytes, images.front().bytes})});
    images.clear();
    add_encoded_seeds(images, "png", folder);
    seeds.push_back({"png.avi", test::avi_file(9, 7, "MPNG", {images[2].bytes, images[2].bytes})});
}

void add_openvdb(std::vector<ImageSeed>& seeds) {
    constexpr std::string_view kFloats = "Tree_float_5_4_3", kVectors = "Tree_vec3s_5_4_3";
    seeds.push_back({"leaf.vdb", openvdb(kFloats, 4)});
    seeds.push_back({"vectors.vdb", openvdb(kVectors, 12)});
}

}  // namespace texton::fuzz
