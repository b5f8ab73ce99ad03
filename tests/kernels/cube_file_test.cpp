// Color tables in .cube text files.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <texton/cube_file.h>
#include <texton/sample.h>

#include "tests/support/colors.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/temporary_files.h"

namespace texton {
namespace {

using test::expect_error;

/// A temporary folder, deleted at the end of the test.
class CubeFolder {
public:
    CubeFolder() {
        std::string name = (test::temporary_files() / "texton-cube-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~CubeFolder() { std::filesystem::remove_all(path_); }
    CubeFolder(const CubeFolder&) = delete;
    CubeFolder& operator=(const CubeFolder&) = delete;
    std::filesystem::path file(std::string_view name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

CubeLut random_lut(int dimensions, std::size_t size) {
    test::Random random(size);
    CubeLut lut{
        .title = "as it comes", .dimensions = dimensions, .size = size, .domain = {{-1, 0, 0.1f}, {1, 2, 0.3f}}};
    lut.entries.resize(3 * (dimensions == 1 ? size : size * size * size));
    for (float& number : lut.entries) number = random.unit() * 3 - 1;
    lut.entries[0] = 1e-30f;
    lut.entries[1] = -3.4028235e38f;
    lut.entries[2] = std::numeric_limits<float>::denorm_min();
    return lut;
}

constexpr const char* kSquare =
    "# made by hand\r\n"
    "\r\n"
    "TITLE \"two # by two\"\r\n"
    "  LUT_3D_SIZE\t2  \r\n"
    "DOMAIN_MAX 2 2 4.5\r\n"
    "DOMAIN_MIN 0 -1 0\r\n"
    "0 0 0\r\n"
    "1 0 0\r\n"
    "# between\r\n"
    "0 1 0\r\n"
    "   +1e0 1.0 0\r\n"
    "0 0 .5\r\n"
    "1 0 5E-1\r\n"
    "\r\n"
    "0 1 0.5\r\n"
    "1 1 0.5";

// --- reading ---------------------------------------------------------------------------------------------------------

TEST(CubeFileTest, KeywordsCommentsBlanksAndLineEndsAreParsed) {
    const CubeLut lut = parse_cube(kSquare, "square");
    const CubeLut expected{
        .title = "two # by two",
        .dimensions = 3,
        .size = 2,
        .domain = {{0, -1, 0}, {2, 2, 4.5f}},
        .entries = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0.5f, 1, 0, 0.5f, 0, 1, 0.5f, 1, 1, 0.5f}};
    EXPECT_EQ(lut, expected);
}

TEST(CubeFileTest, TheDefaultsAreADomainFromZeroToOneAndNoTitle) {
    const CubeLut lut = parse_cube("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n", "line");
    EXPECT_EQ(lut, (CubeLut{.dimensions = 1, .size = 2, .entries = {0, 0, 0, 1, 1, 1}}));
}

TEST(CubeFileTest, NumbersBelowTheFloatRangeBecomeZero) {
    EXPECT_EQ(parse_cube("LUT_1D_SIZE 2\n1e-60 -1e-60 0\n1 1 1\n", "line").entries[0], 0);
}

TEST(CubeFileTest, EveryParseErrorNamesTheFileAndTheLine) {
    const auto refused = [](std::string_view text, std::string_view line,
                            std::initializer_list<std::string_view> fragments) {
        const Error error =
            expect_error([&] { (void)parse_cube(text, "some.cube"); }, ErrorCode::io, "texton::parse_cube", fragments);
        EXPECT_NE(std::string_view(error.problem()).find("some.cube, line " + std::string(line) + ":"),
                  std::string_view::npos)
            << error.what();
    };
    refused("", "0", {"LUT_1D_SIZE"});
    refused("# nothing\n\n", "2", {"LUT_3D_SIZE"});
    refused("LUT_1D_SIZE 1\n", "1", {"'1'", "2 to 65536"});
    refused("LUT_1D_SIZE 65537\n", "1", {"65537"});
    refused("LUT_3D_SIZE 257\n", "1", {"257", "2 to 256"});
    refused("LUT_3D_SIZE -2\n", "1", {"-2"});
    refused("LUT_3D_SIZE 2.5\n", "1", {"2.5"});
    refused("LUT_3D_SIZE 99999999999999999999\n", "1", {"99999999999999999999"});
    refused("LUT_3D_SIZE\n", "1", {"''"});
    refused("\nLUT_1D_SIZE 2\nLUT_3D_SIZE 2\n", "3", {"second"});
    refused("LUT_1D_SIZE 2\nLUT_1D_SIZE 2\n", "2", {"LUT_1D_SIZE", "second"});
    refused("TITLE untold\n", "1", {"quotes"});
    refused("TITLE \"\n", "1", {"quotes"});
    refused("TITLE \"a \"quoted\" word\"\n", "1", {"quote"});
    refused("TITLE \"a\rb\"\n", "1", {"line end"});
    refused("SHAPER 2\n", "1", {"'SHAPER'"});
    refused("0 0 0\n", "1", {"before"});
    refused("LUT_1D_SIZE 2\n0 0\n1 1 1\n", "2", {"'0 0'"});
    refused("LUT_1D_SIZE 2\n0 0 0 0\n1 1 1\n", "2", {"'0 0 0 0'"});
    refused("LUT_1D_SIZE 2\n0 0 x\n", "2", {"'0 0 x'"});
    refused("LUT_1D_SIZE 2\n0 0 nan\n", "2", {"nan"});
    refused("LUT_1D_SIZE 2\n0 0 1e60\n", "2", {"1e60"});
    refused("LUT_1D_SIZE 2\ninf 0 0\n", "2", {"'inf'"});
    refused("LUT_1D_SIZE 2\n0 0 0\nTITLE \"late\"\n", "3", {"TITLE", "first"});
    refused("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n2 2 2\n", "4", {"more", "2"});
    refused("LUT_1D_SIZE 3\n0 0 0\n1 1 1\n", "3", {"2 of 3"});
    refused("DOMAIN_MIN 0 0\nLUT_1D_SIZE 2\n", "1", {"'0 0'"});
    refused("DOMAIN_MIN 0 1 0\nLUT_1D_SIZE 2\n0 0 0\n1 1 1\n", "1", {"from 1 to 1"});
}

// Each text is refused with the name and the line, or gives a table that can be written.
void expect_error_or_table(std::string_view text) {
    try {
        const CubeFolder folder;
        write_cube_file(folder.file("lut.cube"), parse_cube(text, "damaged.cube"));
    } catch (const Error& error) {
        test::expect_well_formed(error);
        EXPECT_NE(std::string_view(error.problem()).find("damaged.cube, line "), std::string_view::npos)
            << error.what();
    }
}

TEST(CubeFileTest, TextsWithDamageGiveAnErrorOrATable) {
    const std::string whole = kSquare;
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        expect_error_or_table(std::string_view(whole).substr(0, bytes));
        for (const char byte : {'\0', '\n', '"', '9', '\xff'}) {
            std::string text = whole;
            text[bytes] = byte;
            expect_error_or_table(text);
        }
    }
}

TEST(CubeFileTest, AMissingFileIsNamed) {
    const CubeFolder folder;
    for (const char* name : {"missing.cube", "."}) {
        const std::string path = folder.file(name).string();
        expect_error([&] { (void)read_cube_file(path); }, ErrorCode::io, "texton::read_cube_file", {path});
    }
    std::ofstream(folder.file("bad.cube")) << "LUT_1D_SIZE 2\n\nx\n";
    expect_error([&] { (void)read_cube_file(folder.file("bad.cube")); }, ErrorCode::io, "texton::read_cube_file",
                 {folder.file("bad.cube").string(), "line 3"});
}

// --- writing ---------------------------------------------------------------------------------------------------------

TEST(CubeFileTest, WrittenTablesRoundTripBitForBit) {
    const CubeFolder folder;
    for (const CubeLut& lut : {random_lut(1, 2), random_lut(1, 1000), random_lut(3, 2), random_lut(3, 9)}) {
        write_cube_file(folder.file("lut.cube"), lut);
        EXPECT_EQ(read_cube_file(folder.file("lut.cube")), lut);
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("lut.cube.part")));
}

TEST(CubeFileTest, InvalidTablesAreRefusedAndNamed) {
    const CubeFolder folder;
    const auto refused = [&](const CubeLut& lut, std::initializer_list<std::string_view> fragments) {
        expect_error([&] { write_cube_file(folder.file("lut.cube"), lut); }, ErrorCode::bad_argument,
                     "texton::write_cube_file", fragments);
        EXPECT_FALSE(std::filesystem::exists(folder.file("lut.cube")));
    };
    const CubeLut good = random_lut(1, 4);
    CubeLut lut = good;
    lut.dimensions = 2;
    refused(lut, {"dimensions", "2"});
    lut = good;
    lut.size = 1;
    refused(lut, {"size", "1"});
    lut = good;
    lut.entries.pop_back();
    refused(lut, {"11", "12"});
    lut = good;
    lut.entries[5] = std::numeric_limits<float>::infinity();
    refused(lut, {"entries", "inf"});
    lut = good;
    lut.domain.high[2] = lut.domain.low[2];
    refused(lut, {"domain", "0.1"});
    lut = good;
    lut.title = "two\nlines";
    refused(lut, {"title"});
    expect_error([&] { write_cube_file(folder.file("no/such/folder.cube"), good); }, ErrorCode::io,
                 "texton::write_cube_file", {"folder.cube"});
}

// --- conversion to a table -------------------------------------------------------------------------------------------

class CubeArrayTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CubeArrayTest, test::every_device(), test::device_label);

TEST_P(CubeArrayTest, TheArrayHoldsTheEntriesInFileOrder) {
    for (const CubeLut& lut : {random_lut(1, 5), random_lut(3, 4)}) {
        const Array table = cube_array(device(), lut);
        const bool flat = lut.dimensions == 1;
        EXPECT_EQ(table.info().kind, flat ? ArrayKind::array_1d : ArrayKind::array_3d);
        EXPECT_EQ(table.info().extent, flat ? Extent{5} : (Extent{4, 4, 4}));
        const test::Colors texels = test::colors_of(table.view());
        for (std::size_t i = 0; i < texels.size(); ++i) {
            const float* entry = &lut.entries[3 * i];
            EXPECT_EQ(texels[i], (Float4{entry[0], entry[1], entry[2], 1}));
        }
    }
}

TEST_P(CubeArrayTest, ACubeFileChangesTheColorsOfAnImage) {
    const CubeLut lut = parse_cube(kSquare, "square");
    const test::Colors colors{{0, 0, 0, 1}, {2, 2, 4.5f, 0.5f}, {1, 0.5f, 2.25f, 0}};
    const Texture texture(test::color_array(device(), {3}, colors));
    const Texture table(cube_array(device(), lut), {.filter = Filter::linear});
    const test::Colors is = test::made_colors(device(), {3}, [&](const Stream& stream, const View& image) {
        lut_3d(stream, image, texture, table, {lut.domain});
    });
    const test::Colors expected{{0, 1.0f / 3, 0, 1}, {1, 1, 0.5f, 0.5f}, {0.5f, 0.5f, 0.25f, 0}};
    EXPECT_TRUE(test::near_colors(is, expected, 1.0 / 512));
}

TEST_P(CubeArrayTest, EntriesAreRoundedToTheRequestedFormat) {
    CubeLut lut = random_lut(3, 4);
    lut.entries[1] = 2;  // inside the range of float16
    for (const auto& [format, step] : {std::pair{Format::rgba16_float, 1.0 / 1024},
                                       {Format::rgba16_unorm, 1.0 / 65535},
                                       {Format::rgba8_unorm, 1.0 / 255},
                                       {Format::rgb10a2_unorm, 1.0 / 1023}}) {
        SCOPED_TRACE(name(format));
        const Texture table(cube_array(device(), lut, format));
        EXPECT_EQ(table.format(), format);
        std::vector<FetchPoint> points;
        for (int i = 0; i < 64; ++i)
            points.push_back({.x = static_cast<float>(i % 4) + 0.5f,
                              .y = static_cast<float>(i / 4 % 4) + 0.5f,
                              .z = static_cast<float>(i / 16) + 0.5f});
        const std::vector<Texel> texels = sample(table, points).texels;
        for (std::size_t i = 0; i < points.size(); ++i) {
            for (int c = 0; c < 3; ++c) {
                const float entry = lut.entries[3 * i + static_cast<std::size_t>(c)];
                const bool is_float = format == Format::rgba16_float;
                const double expected = is_float ? entry : std::clamp(entry, 0.0f, 1.0f);
                EXPECT_NEAR(texels[i].as_float(c), expected, step * (is_float ? std::abs(entry) : 0.5) + 1e-7);
            }
            EXPECT_EQ(texels[i].as_float(3), 1);
        }
    }
    expect_error([&] { (void)cube_array(device(), lut, Format::rg16_float); }, ErrorCode::bad_argument,
                 "texton::cube_array", {"rg16_float", "four channels"});
    expect_error([&] { (void)cube_array(device(), lut, Format::rgba8_srgb); }, ErrorCode::bad_argument,
                 "texton::cube_array", {"rgba8_srgb"});
}

TEST_P(CubeArrayTest, AnInconsistentTableIsRefusedAndNamed) {
    CubeLut lut = random_lut(3, 4);
    lut.entries.resize(9);
    expect_error([&] { (void)cube_array(device(), lut); }, ErrorCode::bad_argument, "texton::cube_array", {"9", "192"});
}

}  // namespace
}  // namespace texton
