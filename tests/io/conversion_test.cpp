#include <cmath>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Conversions by value of formats that only some kinds of file store, and the selection of layers and faces.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using Sentences = std::vector<std::string>;

template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
    Bytes bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

template <class Value>
std::vector<Value> values_of(const Bytes& bytes) {
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

class ConversionTest : public testing::Test {
protected:
    fs::path stored(Format format, const Bytes& texels) const {
        const fs::path path = folder_.at("a.dds");
        save(path, host_view(texels.data(), format, {texels.size() / info(format).bytes, 1}));
        return path;
    }
    Bytes converted(Format from, const Bytes& texels, Format to) const {
        return read_part(open_image(stored(from, texels), {.format = to}));
    }
    test::ImageFolder folder_;
};

// --- snorm ---

const std::vector<std::int8_t> kSigned8{0, 1, 64, 127, -1, -64, -127, -128};

TEST_F(ConversionTest, SnormBecomesFloats) {
    std::vector<float> expected;
    for (const std::int8_t code : kSigned8) expected.push_back(std::max(static_cast<float>(code) / 127, -1.0f));
    EXPECT_EQ(values_of<float>(converted(Format::r8_snorm, bytes_of(kSigned8), Format::r32_float)), expected);
    const std::vector<std::int16_t> wide{0, 1, 32767, -1, -32767, -32768};
    EXPECT_EQ(values_of<float>(converted(Format::r16_snorm, bytes_of(wide), Format::r32_float)),
              (std::vector<float>{0, 1 / 32767.0f, 1, -1 / 32767.0f, -1, -1}));
}

TEST_F(ConversionTest, SnormChangesItsWidth) {
    EXPECT_EQ(values_of<std::int16_t>(converted(Format::r8_snorm, bytes_of(kSigned8), Format::r16_snorm)),
              (std::vector<std::int16_t>{0, 258, 16513, 32767, -258, -16513, -32767, -32767}));
    const std::vector<std::int16_t> wide{129, 130, 32767, -129, -130, -32768};
    EXPECT_EQ(values_of<std::int8_t>(converted(Format::r16_snorm, bytes_of(wide), Format::r8_snorm)),
              (std::vector<std::int8_t>{0, 1, 127, 0, -1, -127}));
}

TEST_F(ConversionTest, SnormReadAsUnormIsClamped) {
    EXPECT_EQ(values_of<std::uint8_t>(converted(Format::r8_snorm, bytes_of(kSigned8), Format::r8_unorm)),
              (std::vector<std::uint8_t>{0, 2, 129, 255, 0, 0, 0, 0}));
    EXPECT_EQ(open_image(folder_.at("a.dds"), {.format = Format::r8_unorm}).conversions(),
              (Sentences{"Channels are converted from 8 bits to 8 bits.", "Values below 0 are clamped."}));
    EXPECT_EQ(open_image(folder_.at("a.dds"), {.format = Format::r8_sint}).conversions(),
              Sentences{"The stored bits are reinterpreted as r8_sint."});
}

TEST_F(ConversionTest, FloatsBecomeSnormWithHalvesAwayFromZero) {
    const std::vector<float> values{0, 0.5f, 1, 2, -0.5f, -1, -2, NAN, 0.4f / 127, 0.6f / 127, -0.6f / 127};
    EXPECT_EQ(values_of<std::int8_t>(converted(Format::r32_float, bytes_of(values), Format::r8_snorm)),
              (std::vector<std::int8_t>{0, 64, 127, 127, -64, -127, -127, 0, 0, 1, -1}));
    EXPECT_EQ(
        open_image(folder_.at("a.dds"), {.format = Format::r8_snorm}).conversions(),
        (Sentences{"Channels are converted from 32 bits to 8 bits.", "Values below -1 and above 1 are clamped."}));
}

// --- rgb10a2 ---

TEST_F(ConversionTest, Rgb10a2IsConvertedToAndFromOtherFormats) {
    const std::vector<std::uint32_t> words{0, 1023u | 512u << 10 | 1u << 20 | 1u << 30, 0xffffffff};
    std::vector<float> floats;
    std::vector<std::uint16_t> wide;
    for (const std::uint32_t word : words) {
        for (unsigned c = 0; c < 4; ++c) {
            const unsigned most = c < 3 ? 1023 : 3, code = word >> (10 * c) & most;
            floats.push_back(static_cast<float>(code) / static_cast<float>(most));
            wide.push_back(static_cast<std::uint16_t>(std::lround(code * 65535.0 / most)));
        }
    }
    EXPECT_EQ(values_of<float>(converted(Format::rgb10a2_unorm, bytes_of(words), Format::rgba32_float)), floats);
    EXPECT_EQ(values_of<std::uint16_t>(converted(Format::rgb10a2_unorm, bytes_of(words), Format::rgba16_unorm)), wide);
    for (const auto& [format, texels] :
         {std::pair(Format::rgba32_float, bytes_of(floats)), {Format::rgba16_unorm, bytes_of(wide)}}) {
        EXPECT_EQ(values_of<std::uint32_t>(converted(format, texels, Format::rgb10a2_unorm)), words);
    }
    EXPECT_EQ(
        open_image(stored(Format::rgb10a2_unorm, bytes_of(words)), {.format = Format::rgba16_unorm}).conversions(),
        Sentences{"Channels are converted from 10 bits to 16 bits."});
    // Gray becomes colors.
    EXPECT_EQ(values_of<std::uint32_t>(converted(Format::r8_unorm, Bytes(1, std::byte{255}), Format::rgb10a2_unorm)),
              std::vector<std::uint32_t>{0xffffffff});
}

// --- unorm and floats ---

TEST_F(ConversionTest, FloatsAndCodesGoThereAndBack) {
    std::vector<std::uint16_t> codes(65536);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
    const Bytes floats = converted(Format::r16_unorm, bytes_of(codes), Format::r32_float);
    EXPECT_TRUE(same_bytes(converted(Format::r32_float, floats, Format::r16_unorm), bytes_of(codes)));
    const Bytes eight = converted(Format::r16_unorm, bytes_of(codes), Format::r8_unorm);
    for (std::size_t i = 0; i < codes.size(); ++i)
        ASSERT_EQ(static_cast<long>(eight[i]), std::lround(static_cast<double>(i) / 257)) << i;
    const Bytes halves = converted(Format::r8_unorm, eight, Format::r16_float);
    EXPECT_TRUE(same_bytes(converted(Format::r16_float, halves, Format::r8_unorm), eight));
    // The nearest half float, with ties to the even code.
    const std::vector<float> ties{1 + 1.0f / 2048, 1 + 3.0f / 2048, 65519, 65520};
    EXPECT_EQ(values_of<std::uint16_t>(converted(Format::r32_float, bytes_of(ties), Format::r16_float)),
              (std::vector<std::uint16_t>{0x3c00, 0x3c02, 0x7bff, 0x7c00}));
}

// --- layers and faces ---

class LayerSelectionTest : public ConversionTest {
protected:
    // Writes an array in which texels differ, and returns its levels.
    std::vector<Bytes> stored_array(const ArrayInfo& info) const {
        const Array array(Device::cpu(), info);
        std::vector<Bytes> levels;
        for (int level = 0; level < info.levels; ++level) {
            const View view = array.view({.level = level});
            levels.push_back(test::pattern(packed_bytes(view.format(), view.extent()), static_cast<unsigned>(level)));
            test::upload(view, levels.back());
        }
        save(path(), array);
        return levels;
    }
    fs::path path() const { return folder_.at("a.dds"); }
    // Expects the part `index` of `count` equal parts of each level.
    void expect_part(const ImageFile& image, const ArrayInfo& expected, const std::vector<Bytes>& levels,
                     std::size_t index, std::size_t count) const {
        EXPECT_EQ(image.info(), expected);
        for (int level = 0; level < expected.levels; ++level) {
            const Bytes& all = levels[static_cast<std::size_t>(level)];
            const std::size_t bytes = all.size() / count;
            EXPECT_TRUE(same_bytes(read_part(image, {.level = level}), std::span(all).subspan(index * bytes, bytes)));
        }
    }
};

TEST_F(LayerSelectionTest, OneLayerIsAnImageWithItsLevels) {
    const auto levels = stored_array(
        {.format = Format::rgba8_unorm, .extent = {12, 8}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 3});
    const ImageFile image = open_image(path(), {.layer = 2});
    expect_part(image, {.format = Format::rgba8_unorm, .extent = {12, 8}, .levels = 3}, levels, 2, 3);
    EXPECT_EQ(image.conversions(), Sentences{"Only layer 2 of 3 layers is read."});
    const auto rows =
        stored_array({.format = Format::r8_unorm, .extent = {9}, .kind = ArrayKind::layered_1d, .layers = 4});
    expect_part(open_image(path(), {.layer = 1}),
                {.format = Format::r8_unorm, .extent = {9}, .kind = ArrayKind::array_1d}, rows, 1, 4);
}

TEST_F(LayerSelectionTest, OneSliceOfAVolumeIsAnImage) {
    const auto levels =
        stored_array({.format = Format::bc4_unorm, .extent = {12, 8, 5}, .kind = ArrayKind::array_3d, .levels = 2});
    expect_part(open_image(path(), {.layer = 3}), {.format = Format::bc4_unorm, .extent = {12, 8}}, levels, 3, 5);
}

TEST_F(LayerSelectionTest, CubesAndFacesAreSelected) {
    const auto levels = stored_array(
        {.format = Format::bc1_unorm, .extent = {8, 8}, .kind = ArrayKind::cubemap_layered, .layers = 2, .levels = 4});
    expect_part(open_image(path(), {.layer = 1}),
                {.format = Format::bc1_unorm, .extent = {8, 8}, .kind = ArrayKind::cubemap, .levels = 4}, levels, 1, 2);
    expect_part(open_image(path(), {.layer = 1, .face = 4}),
                {.format = Format::bc1_unorm, .extent = {8, 8}, .levels = 4}, levels, 10, 12);
    test::expect_error([&] { (void)open_image(path(), {.face = 4}); }, ErrorCode::unsupported, "texton::open_image",
                       {"a.dds", "2 cubes", "ImageOptions::layer"});
    const auto cube = stored_array({.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::cubemap});
    expect_part(open_image(path(), {.face = 5}), {.format = Format::r8_unorm, .extent = {4, 4}}, cube, 5, 6);
}

TEST_F(LayerSelectionTest, MissingLayersAndFacesAreRefused) {
    stored_array({.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = 3});
    test::expect_error([&] { (void)open_image(path(), {.layer = 3}); }, ErrorCode::out_of_bounds, "texton::open_image",
                       {"a.dds", "3 layers", "layer 3"});
    test::expect_error([&] { (void)open_image(path(), {.face = 0}); }, ErrorCode::unsupported, "texton::open_image",
                       {"a.dds", "layered_2d", "no faces"});
    stored_array({.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::cubemap});
    for (const int face : {-1, 6}) {
        test::expect_error([&] { (void)open_image(path(), {.face = face}); }, ErrorCode::out_of_bounds,
                           "texton::open_image", {"a.dds", "face " + std::to_string(face)});
    }
}

}  // namespace
}  // namespace texton
