// texton compare, run through a shell.
#include <cmath>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>

#include "tests/support/command_line.h"
#include "tests/support/configured_path.h"
#include "tests/support/image_folder.h"
#include "tests/support/texels.h"
#include "tests/support/zstd.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using test::Bytes;
using test::Ended;
using testing::HasSubstr;

class CliCompareTest : public test::CommandLine {
protected:
    /// Returns a 20 x 10 image of gray 100, including alpha if the format has it.
    Bytes gray(Format format = Format::rgba8_unorm) const {
        return Bytes(packed_bytes(format, kExtent), std::byte{100});
    }
    void write(const std::string& name, const Bytes& texels, Format format = Format::rgba8_unorm,
               Extent extent = kExtent) const {
        write_image(at(name), format, extent, texels);
    }
    void SetUp() override {
        CommandLine::SetUp();
        write("a.png", gray());
        Bytes other = gray();
        other[4 * (20 * 3 + 7) + 1] = std::byte{104};  // green at (7, 3)
        other[4 * (20 * 9 + 19)] = std::byte{99};      // red at (19, 9)
        write("b.png", other);
    }

    static constexpr Extent kExtent{20, 10};
};

TEST_F(CliCompareTest, EqualImagesExitWithStatusZero) {
    const Ended result = run("compare a.png a.png");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("a.png is 20 x 10 of rgba8_srgb"));
    EXPECT_THAT(result.out, HasSubstr("0 of 200 texels differ"));
    EXPECT_TRUE(result.err.empty()) << result.err;  // no progress bar without a terminal
}

TEST_F(CliCompareTest, DifferingTexelsArePrintedWithPositionAndValues) {
    const Ended result = run("compare a.png b.png");
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.out, HasSubstr("2 of 200 texels differ"));
    EXPECT_THAT(result.out, HasSubstr("\n4 to 7"));
    EXPECT_THAT(result.out, HasSubstr("\n7, 3         4    0.0156863   0.392157 0.392157 0.392157 0.392157  "
                                      "0.392157 0.407843 0.392157 0.392157\n19, 9        1    0.00392157"));
}

TEST_F(CliCompareTest, JsonContainsAllMetrics) {
    const Ended result = run("compare --json a.png b.png");
    EXPECT_EQ(result.status, 1) << result.err;
    const json out = json::parse(result.out);
    EXPECT_EQ(out["a"],
              (json{{"path", "a.png"}, {"format", "rgba8_srgb"}, {"width", 20}, {"height", 10}, {"depth", 1}}));
    EXPECT_EQ(out["equal"], false);
    EXPECT_EQ(out["good"], false);
    EXPECT_EQ(out["all"]["differing"], 2);
    EXPECT_EQ(out["all"]["max_ulp"], 4);
    EXPECT_EQ(out["channels"]["r"]["max_ulp"], 1);
    EXPECT_EQ(out["channels"]["g"]["differing"], 1);
    EXPECT_NEAR(out["channels"]["g"]["mse"].get<double>(), 16 / (255.0 * 255) / 200, 1e-15);
    EXPECT_NEAR(out["channels"]["g"]["psnr"].get<double>(), 10 * std::log10(255.0 * 255 * 200 / 16), 1e-9);
    EXPECT_TRUE(out["channels"]["b"]["psnr"].is_null());  // infinite
    EXPECT_LT(out["all"]["ssim"].get<double>(), 1);
    EXPECT_GT(out["flip"]["mean"].get<double>(), 0);
    EXPECT_EQ(out["ulp_histogram"], json::parse(R"([{"from":0,"to":0,"count":798},{"from":1,"to":1,"count":1},
                                                    {"from":4,"to":7,"count":1}])"));
    ASSERT_EQ(out["worst"].size(), 2U);
    EXPECT_EQ(out["worst"][0]["x"], 7);
    EXPECT_EQ(out["worst"][0]["y"], 3);
    EXPECT_EQ(out["worst"][0]["b"][1], 104 / 255.0);
    EXPECT_EQ(out["limits"], json::array());
}

TEST_F(CliCompareTest, LimitsDecideTheExitStatus) {
    EXPECT_EQ(run("compare a.png b.png --max-ulp 4").status, 0);
    EXPECT_EQ(run("compare a.png b.png --max-ulp 3").status, 1);
    EXPECT_EQ(run("compare a.png b.png --min-psnr 60").status, 0);
    EXPECT_EQ(run("compare a.png b.png --min-psnr 90").status, 1);
    EXPECT_EQ(run("compare a.png b.png --min-ssim 0.9").status, 0);
    EXPECT_EQ(run("compare a.png b.png --min-ssim 1").status, 1);
    EXPECT_EQ(run("compare a.png b.png --max-flip 0.01").status, 0);
    EXPECT_EQ(run("compare a.png b.png --max-flip 0").status, 1);
    EXPECT_EQ(run("compare a.png a.png --max-ulp 0 --min-psnr 1000 --min-ssim 1 --max-flip 0").status, 0);
    const Ended both = run("compare a.png b.png --max-ulp 4 --min-psnr 90");
    EXPECT_EQ(both.status, 1);
    EXPECT_THAT(both.out, HasSubstr("max_ulp 4: passed with 4\nmin_psnr 90: failed with "));
    const json limits = json::parse(run("compare a.png b.png --max-ulp 3 --metric ulp --json").out)["limits"];
    EXPECT_EQ(limits, json::parse(R"([{"limit":"max_ulp","allowed":3.0,"found":4.0,"held":false}])"));
}

TEST_F(CliCompareTest, OnlyRequestedMetricsAreShown) {
    const json some = json::parse(run("compare a.png b.png --json --metric psnr,ulp --metric worst --worst 1").out);
    EXPECT_EQ(some["all"].size(), 2U);
    EXPECT_EQ(some["worst"].size(), 1U);
    EXPECT_FALSE(some.contains("flip"));
    EXPECT_FALSE(some.contains("ulp_histogram"));
    const Ended text = run("compare a.png b.png --metric ssim");
    EXPECT_THAT(text.out, HasSubstr("SSIM"));
    EXPECT_THAT(text.out, testing::Not(HasSubstr("PSNR")));
    EXPECT_EQ(run("compare a.png b.png --metric beauty").status, 2);
}

TEST_F(CliCompareTest, CostlyMetricsOfLargeImagesAreComputedOnRequest) {
    const Extent extent{8192, 2049};
    write("large.tif", Bytes(packed_bytes(Format::r8_unorm, extent)), Format::r8_unorm, extent);
    const json usual = json::parse(run("compare large.tif large.tif --json").out);
    EXPECT_FALSE(usual.contains("flip"));
    EXPECT_FALSE(usual["all"].contains("ssim"));
    EXPECT_TRUE(usual["all"].contains("psnr"));
    ASSERT_EQ(usual["notes"].size(), 1u);
    EXPECT_THAT(usual["notes"][0].get<std::string>(), HasSubstr("--metric all computes them"));
    for (const char* option : {"--metric all", "--max-flip 0", "--min-ssim 1"}) {
        const json out = json::parse(run(std::string("compare large.tif large.tif --json ") + option).out);
        EXPECT_TRUE(out.contains("flip")) << option;
        EXPECT_EQ(out["all"]["ssim"], 1) << option;
        EXPECT_EQ(out["notes"], json::array()) << option;
    }
}

TEST_F(CliCompareTest, MapsMarkTheDifferingTexels) {
    const Ended result = run("compare a.png b.png --ulp-map ulp.png --heat-map seen.png --metric ulp");
    EXPECT_EQ(result.status, 1) << result.err;
    const Image ulp = read_image(at("ulp.png")), seen = read_image(at("seen.png"));
    ASSERT_EQ(ulp.extent, kExtent);
    ASSERT_EQ(seen.extent, kExtent);
    for (std::size_t i = 0; i < 200; ++i)
        EXPECT_EQ(ulp.texels[4 * i] != std::byte{0}, i == 20 * 3 + 7 || i == 20 * 9 + 19) << i;
    EXPECT_EQ(run("compare a.png b.png --heat-map nofolder/x.png").status, 2);
}

TEST_F(CliCompareTest, AlphaMissingFromTheFileIsNotCounted) {
    write("gray.tif", gray(Format::r32_float), Format::r32_float);
    const json gray_file = json::parse(run("compare gray.tif gray.tif --json").out);
    EXPECT_EQ(gray_file["channels"].size(), 1U);
    std::ofstream(at("one.ppm"), std::ios::binary) << "P6\n1 1\n255\n"
                                                   << "\x10\x20\x30";
    std::ofstream(at("two.ppm"), std::ios::binary) << "P6\n1 1\n255\n"
                                                   << "\x10\x20\x33";
    const json rgb = json::parse(run("compare one.ppm two.ppm --json").out);
    EXPECT_EQ(rgb["channels"].size(), 3U);
    EXPECT_NEAR(rgb["all"]["mse"].get<double>(), 9 / (255.0 * 255) / 3, 1e-15);
}

TEST_F(CliCompareTest, DifferentFormatsAreRefusedOrComparedByDecodedValues) {
    std::vector<float> values(4 * 200, 100 / 255.0f);
    const auto bytes = std::as_bytes(std::span(values));
    write("a.exr", Bytes(bytes.begin(), bytes.end()), Format::rgba32_float);
    const Ended refused = run("compare a.png a.exr");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("a.png is 20 x 10 of rgba8_srgb, but a.exr is 20 x 10 of rgba32_float"));
    EXPECT_THAT(refused.err, HasSubstr("--as-values"));
    const Ended good = run("compare a.png a.exr --as-values");
    EXPECT_EQ(good.status, 0) << good.out;
    EXPECT_THAT(good.out, HasSubstr("compared by decoded values: rgba32_float"));
    write("wide.png", Bytes(4 * 21), Format::rgba8_unorm, {21, 1});
    const Ended sizes = run("compare a.png wide.png --as-values");
    EXPECT_EQ(sizes.status, 2);
    EXPECT_THAT(sizes.err, HasSubstr("21 x 1"));
}

TEST_F(CliCompareTest, FormatsAreThoseThatInfoPrints) {
    ASSERT_EQ(run("convert a.png linear.tif --color linear").status, 0);
    ASSERT_EQ(run("convert a.png a.dds").status, 0);
    for (const std::string name : {"a.png", "linear.tif", "a.dds"}) {
        const json described = json::parse(run("info --json " + name).out)["files"][0];
        const json out = json::parse(run("compare --json " + name + " " + name).out);
        EXPECT_EQ(out["a"]["format"], described["format"]) << name;
        EXPECT_EQ(out["compared_as"], described["format"]) << name;
        EXPECT_EQ(out["notes"], json::array()) << name;
    }
}

TEST_F(CliCompareTest, FilesThatDifferOnlyInTheirEncodingAreNamed) {
    ASSERT_EQ(run("convert a.png linear.dds --color linear").status, 0);
    const Ended result = run("compare a.png linear.dds");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("The encodings differ: a.png is sRGB, linear.dds is linear. The stored values "
                                      "are compared, not the colors.\n"));
    EXPECT_THAT(result.out, HasSubstr("a: a.png is 20 x 10 of rgba8_srgb\nb: linear.dds is 20 x 10 of rgba8_unorm\n"));
    EXPECT_THAT(result.out, HasSubstr("0 of 200 texels differ"));
    const json out = json::parse(run("compare --json a.png linear.dds").out);
    EXPECT_EQ(out["compared_as"], "rgba8_unorm");
    EXPECT_EQ(out["notes"].size(), 1u);
}

TEST_F(CliCompareTest, BlocksEqualTheImageThatConvertDecodesThemTo) {
    const std::string assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/";
    for (const std::string name : {"bc1", "bc2", "bc3", "bc4", "bc7"}) {
        for (const std::string kind : {".dds", ".ktx2"}) {
            ASSERT_EQ(run("convert '" + assets + name + ".dds' blocks" + kind + " --levels 1").status, 0);
            ASSERT_EQ(run("convert blocks" + kind + " plain.png").status, 0);
            const Ended result = run("compare blocks" + kind + " plain.png");
            EXPECT_EQ(result.status, 0) << name << kind << result.out << result.err;
        }
    }
}

TEST_F(CliCompareTest, FormatOfDecodedBlocksIsPrinted) {
    const std::string blocks = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/bc7.dds";
    ASSERT_EQ(run("convert '" + blocks + "' one.dds --levels 1 --format bc7_srgb").status, 0);
    EXPECT_THAT(run("compare one.dds one.dds").out, HasSubstr(" of bc7_srgb, decoded to rgba8_srgb\n"));
    ASSERT_EQ(run("convert '" + blocks + "' levels.ktx2 --format bc7_srgb").status, 0);
    EXPECT_THAT(run("compare levels.ktx2 levels.ktx2").out, HasSubstr(" of bc7_srgb, decoded to rgba8_srgb\n"));
}

TEST_F(CliCompareTest, UnreadableFilesAndInvalidArgumentsAreErrors) {
    const Ended gone = run("compare a.png gone.png");
    EXPECT_EQ(gone.status, 2);
    EXPECT_THAT(gone.err, HasSubstr("gone.png"));
    std::ofstream(at("broken.png")) << "no image";
    EXPECT_EQ(run("compare broken.png a.png").status, 2);
    EXPECT_EQ(run("compare a.png").status, 2);
    EXPECT_EQ(run("compare a.png b.png --max-ulp -1").status, 2);
    EXPECT_EQ(run("compare a.png b.png --pixels-per-degree 0").status, 2);
}

// --- files of several images -----------------------------------------------------------------------------------------

class CliCompareFilesTest : public CliCompareTest {
protected:
    /// `first` and `second` are equal except for texel (7, 3) of the image `name`.
    void expect_difference(const std::string& first, const std::string& second, const std::string& name,
                           std::size_t images) const {
        const Ended equal = run("compare " + first + " " + first + " --json");
        EXPECT_EQ(equal.status, 0) << equal.err;
        EXPECT_EQ(json::parse(equal.out)["images"].size(), images);
        const Ended result = run("compare " + first + " " + second);
        EXPECT_EQ(result.status, 1) << result.out << result.err;
        EXPECT_THAT(result.out, HasSubstr("a: " + first + ", " + name + ", is "));
        const Ended as_json = run("compare " + first + " " + second + " --json --max-ulp 4");
        EXPECT_EQ(as_json.status, 0) << as_json.err;
        const json out = json::parse(as_json.out);
        EXPECT_EQ(out["equal"], false);
        EXPECT_EQ(out["images"][out["image"].get<std::size_t>()]["name"], name);
        EXPECT_EQ(out["all"]["differing"], 1);
        EXPECT_EQ(out["limits"][0]["found"], 4);
        EXPECT_EQ(run("compare " + first + " " + second + " --max-ulp 3").status, 1);
        EXPECT_EQ(run("compare " + first + " " + second + " --first-image").status, 0);
    }
};

TEST_F(CliCompareFilesTest, PartsLayersAndFacesAreCompared) {
    Bytes other = gray();
    other[4 * (20 * 3 + 7) + 1] = std::byte{104};
    write("other.png", other);
    for (const char* name : {"a.png", "other.png"}) ASSERT_EQ(run(std::string("info ") + name).status, 0);
    ASSERT_EQ(run("convert a.png a.png a.png first.tif --kind layered_2d").status, 0);
    ASSERT_EQ(run("convert a.png other.png a.png second.tif --kind layered_2d").status, 0);
    expect_difference("first.tif", "second.tif", "part 1", 3);
    ASSERT_EQ(run("convert a.png a.png first.dds --kind layered_2d").status, 0);
    ASSERT_EQ(run("convert a.png other.png second.dds --kind layered_2d").status, 0);
    expect_difference("first.dds", "second.dds", "layer 1", 2);
    const Ended structure = run("compare first.tif first.dds");
    EXPECT_EQ(structure.status, 2);
    EXPECT_THAT(structure.err, HasSubstr("first.tif has 3 images, 3 parts, but first.dds has 2 images, 2 layers"));
    EXPECT_THAT(structure.err, HasSubstr("--first-image"));
    EXPECT_EQ(run("compare first.tif first.dds --first-image").status, 0);
}

TEST_F(CliCompareFilesTest, NumberedFilesAreComparedInTheOrderOfTheirNumbers) {
    Bytes other = gray();
    other[4 * (20 * 3 + 7) + 1] = std::byte{104};
    for (const char* name : {"a_9.png", "a_10.png", "a_11.png", "b_5.png", "b_6.png"}) write(name, gray());
    write("b_7.png", other);
    const Ended result = run("compare a_%d.png b_%d.png");
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.out, HasSubstr("a: a_11.png is 20 x 10 of rgba8_srgb\nb: b_7.png is"));
    const json out = json::parse(run("compare a_%d.png b_%d.png --json").out);
    ASSERT_EQ(out["images"].size(), 3u);
    EXPECT_EQ(out["images"][0]["name"], "a_9.png");
    EXPECT_EQ(out["images"][1]["differing"], 0);
    EXPECT_EQ(out["images"][2]["name"], "a_11.png");
    EXPECT_EQ(out["images"][2]["differing"], 1);
    EXPECT_EQ(run("compare a_%d.png a_%d.png").status, 0);

    const Ended fewer = run("compare a_%d.png a.png");
    EXPECT_EQ(fewer.status, 2);
    EXPECT_THAT(fewer.err, HasSubstr("A stands for 3 files, but B for 1"));
    const Ended overwriting = run("compare a_%d.png b_%d.png --ulp-map b_6.png");
    EXPECT_EQ(overwriting.status, 2);
    EXPECT_THAT(overwriting.err, HasSubstr("--ulp-map would overwrite"));
}

TEST_F(CliCompareFilesTest, LevelsAreCompared) {
    const test::StoredImage chain = test::stored_chain(32, 16, 4, OIIO::TypeDesc::FLOAT, 1, 16);
    test::StoredImage other = chain;
    std::byte& lowest = other.levels[1][16 * (16 * 3 + 7)];  // of the red channel of (7, 3)
    lowest = static_cast<std::byte>(std::to_integer<int>(lowest) ^ 1);
    test::store(at("first.exr"), {chain});
    test::store(at("second.exr"), {other});
    EXPECT_EQ(run("compare first.exr first.exr").status, 0);
    const Ended result = run("compare first.exr second.exr");
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("a: first.exr, level 1, is 16 x 8 of rgba32_float"));
    EXPECT_THAT(result.out, HasSubstr("1 of 128 texels differ"));
    EXPECT_EQ(run("compare first.exr second.exr --first-image").status, 0);
}

TEST_F(CliCompareFilesTest, BlockCompressedLevelsAreDecodedAndCompared) {
    const fs::path assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
    for (const std::string name : {"bc1.dds", "bc4.dds", "bc5_snorm.dds", "bc6h.dds", "bc7.dds"}) {
        test::Bytes file = test::file_bytes(assets / name);
        test::write_bytes(at("first.dds"), file);
        EXPECT_EQ(run("compare first.dds first.dds").status, 0) << name;
        const std::size_t block = name == "bc1.dds" || name == "bc4.dds" ? 8 : 16;
        std::fill(file.end() - static_cast<std::ptrdiff_t>(block), file.end(), std::byte{0x15});  // the smallest level
        test::write_bytes(at("second.dds"), file);
        const Ended result = run("compare first.dds second.dds");
        EXPECT_EQ(result.status, 1) << name << result.out << result.err;
        EXPECT_THAT(result.out, HasSubstr(", decoded to ")) << name;
    }
}

TEST_F(CliCompareFilesTest, ImagesOfKtx2AreCompared) {
    const fs::path assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
    for (const std::string name : {"bc1.dds", "layers.dds", "card.png"}) {
        const std::string file = "'" + (assets / name).string() + "'";
        EXPECT_EQ(run("convert " + file + " all.ktx2").status, 0) << name;
        EXPECT_EQ(run("convert all.ktx2 again.ktx2 --compression " + std::string(test::zstd_if_built())).status, 0)
            << name;
        EXPECT_EQ(run("compare all.ktx2 again.ktx2").status, 0) << name;
        EXPECT_EQ(run("compare again.ktx2 " + file).status, 0) << name;
    }
    for (const std::string from : {"bc1.dds' --levels 1", "phantom.dds'"}) {  // one image of blocks, and a volume
        EXPECT_EQ(run("convert '" + (assets / from).string() + " one.ktx2").status, 0);
        EXPECT_EQ(run("compare one.ktx2 one.ktx2").status, 0);
    }
}

TEST_F(CliCompareFilesTest, ChannelsThatAreNotComparedAreNamed) {
    const test::StoredImage six = test::stored_image(4, 3, 6, OIIO::TypeDesc::FLOAT, 1);
    test::store(at("six.exr"), {six});
    const Ended result = run("compare six.exr six.exr");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out,
                HasSubstr("six.exr: Only 4 of 6 channels are read: R, G, B, A. --channels selects others."));
}

}  // namespace
}  // namespace texton
