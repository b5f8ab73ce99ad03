// texton info, run, convert and mips, run through a shell.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_save.h>
#include <texton/kernel.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"
#include "tests/support/zstd.h"

namespace texton {
namespace {

using nlohmann::json;
using test::Bytes;
using test::Ended;
using testing::HasSubstr;

class CliRunTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("a.png", Format::rgba8_unorm, {20, 10});
    }
    Bytes write(const std::string& name, Format format, Extent extent) const {
        Bytes texels = test::pattern(packed_bytes(format, extent), 7);
        if (info(format).channels == 4)  // files may drop the color of texels with alpha 0
            for (std::size_t i = 3; i < texels.size(); i += 4) texels[i] = std::byte{255};
        write_image(at(name), format, extent, texels);
        return texels;
    }
};

TEST_F(CliRunTest, InfoDescribesTheImageOfAFile) {
    const Ended text = run("info a.png");
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("a.png: 20 x 10 of rgba8_srgb, array_2d"));
    const json out = json::parse(
        run("info --json a.png '" + test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/cube.dds'")
            .out);
    ASSERT_EQ(out["files"].size(), 2U);
    EXPECT_EQ(out["files"][0]["file_kind"], "png");
    EXPECT_EQ(out["files"][0]["width"], 20);
    EXPECT_EQ(out["files"][0]["channels"], (json{"R", "G", "B", "A"}));
    EXPECT_EQ(out["files"][1]["kind"], "cubemap");
    EXPECT_EQ(out["files"][1]["levels"], 7);
    EXPECT_EQ(json::parse(run("info --json a.png --color linear").out)["files"][0]["format"], "rgba8_unorm");
}

TEST_F(CliRunTest, InfoNamesAMissingFileAndListsTheOtherFiles) {
    const Ended result = run("info gone.png a.png");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("gone.png"));
    EXPECT_THAT(result.out, HasSubstr("a.png: 20 x 10"));
    EXPECT_EQ(run("info a.png --kind round").status, 2);
}

TEST_F(CliRunTest, AllKernelsAreListedWithTheirParameters) {
    const Ended list = run("run --list");
    EXPECT_EQ(list.status, 0) << list.err;
    const json all = json::parse(run("run --list --json").out)["kernels"];
    ASSERT_EQ(all.size(), kernels().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const KernelInfo& kernel = kernels()[i].info;
        EXPECT_THAT(list.out, HasSubstr("\n" + kernel.name + " "));
        EXPECT_EQ(all[i]["name"], kernel.name);
        ASSERT_EQ(all[i]["parameters"].size(), kernel.parameters.size());
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
            EXPECT_EQ(all[i]["parameters"][p]["name"], kernel.parameters[p].name);
    }
    const Ended help = run("run resample --help");
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr("\n--filter  linear   nearest linear catmull_rom b_spline lanczos3 area"));
    EXPECT_THAT(help.out, HasSubstr("\n--crop    0,0,0,0  4 numbers"));
    EXPECT_THAT(help.out, HasSubstr("`texton run --help` lists the options of all kernels: --size"));
    EXPECT_THAT(run("run --help").out, HasSubstr("--sampler"));
}

TEST_F(CliRunTest, KernelWritesItsResult) {
    const Ended result =
        run("run resample a.png -o b.png --set filter=nearest --set crop=5,2,6,4 --size 6x4 --device cpu");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "b.png: 6 x 4 of rgba8_srgb\n");
    const Image whole = read_image(at("a.png")), part = read_image(at("b.png"));
    ASSERT_EQ(part.extent, (Extent{6, 4}));
    for (std::size_t y = 0; y < 4; ++y)
        for (std::size_t i = 0; i < 24; ++i)
            EXPECT_EQ(part.texels[y * 24 + i], whole.texels[(y + 2) * 80 + 20 + i]) << y << ' ' << i;
}

TEST_F(CliRunTest, FormatSizeAndSamplerOptionsAreApplied) {
    write("a.exr", Format::rgba16_float, {20, 10});
    const Ended result = run(
        "run resample a.exr -o b.exr --format rgba32_float --size 40x10 --set crop=-20,0,40,10 --set filter=nearest "
        "--sampler filter=point,address=border/clamp,border=0.5/0.25/0/1 --json --device cpu");
    EXPECT_EQ(result.status, 0) << result.err;
    const json out = json::parse(result.out);
    EXPECT_EQ(out["kernel"], "resample");
    EXPECT_EQ(out["images"][0]["format"], "rgba32_float");
    EXPECT_EQ(out["files"], (json{"b.exr"}));
    const Image made = read_image(at("b.exr"));
    ASSERT_EQ(made.extent, (Extent{40, 10}));
    std::array<float, 4> first{};
    std::memcpy(first.data(), made.texels.data(), sizeof first);
    EXPECT_EQ(first, (std::array<float, 4>{0.5f, 0.25f, 0, 1}));
}

TEST_F(CliRunTest, ParametersAreOptionsAfterTheKernel) {
    const auto made = [&](const std::string& arguments) {
        const Ended result = run("run " + arguments + " -o b.png --device cpu");
        EXPECT_EQ(result.status, 0) << arguments << '\n' << result.err;
        return read_image(at("b.png")).texels;
    };
    const Bytes turned = made("swizzle a.png --set order=bgra");
    EXPECT_EQ(made("swizzle a.png --order bgra"), turned);
    EXPECT_EQ(made("swizzle --order=bgra a.png"), turned);
    EXPECT_EQ(made("swizzle a.png --set channels=bgra"), turned) << "the old name";
    EXPECT_EQ(made("resample a.png --crop -5,-2,6,4 --filter nearest"),
              made("resample a.png --set crop=-5,-2,6,4 --set filter=nearest"));
    EXPECT_EQ(made("mips a.png --alpha-weighted --size 10x5 --level-count 1"),
              made("mips a.png --set alpha_weighted=true --set level_count=1"));
    EXPECT_NE(made("mips a.png --alpha-weighted=false --level_count 1"), turned);
    const Ended refused = run("run swizzle a.png -o b.png --ordr bgra");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("Did you mean '--order'? Run `texton run swizzle --help`"));
}

TEST_F(CliRunTest, NoParameterHasTheNameOfAnOption) {
    for (const Kernel& kernel : kernels()) {
        const Ended help = run("run " + kernel.info.name + " --help");
        EXPECT_EQ(help.status, 0) << kernel.info.name << ": " << help.err;
    }
    EXPECT_EQ(run("mips a.png b.dds --filter kaiser --device cpu").status, 0);
}

TEST_F(CliRunTest, ThenRunsAKernelOnTheResultOfTheOneBefore) {
    ASSERT_EQ(run("run gaussian a.png -o one.png --radius 2 --device cpu").status, 0);
    ASSERT_EQ(run("run swizzle one.png -o two.png --order bgra --device cpu").status, 0);
    ASSERT_EQ(run("run blend two.png a.png -o three.png --opacity 0.5 --device cpu").status, 0);
    const Ended chain =
        run("run gaussian a.png --radius 2 -o first.png --device cpu --then swizzle --order bgra --then blend a.png "
            "--opacity 0.5 -o last.png");
    EXPECT_EQ(chain.status, 0) << chain.err;
    EXPECT_EQ(chain.out, "first.png: 20 x 10 of rgba8_srgb\nlast.png: 20 x 10 of rgba8_srgb\n");
    EXPECT_EQ(read_image(at("first.png")).texels, read_image(at("one.png")).texels);
    EXPECT_EQ(read_image(at("last.png")).texels, read_image(at("three.png")).texels);
    // The planes of from_rgb are the inputs of to_rgb, and a mip chain has levels.
    EXPECT_EQ(run("run from_rgb a.png --device cpu --then to_rgb -o again.png").status, 0);
    EXPECT_EQ(read_image(at("again.png")).extent, (Extent{20, 10}));
    EXPECT_EQ(run("run mips a.png --device cpu --then resample --size 5x3 -o small.png").status, 0);
    EXPECT_EQ(read_image(at("small.png")).extent, (Extent{5, 3}));
}

TEST_F(CliRunTest, InvalidChainsAreRefusedBeforeAnyFileIsWritten) {
    const auto refused = [&](const std::string& arguments, const char* what) {
        const Ended result = run("run gaussian a.png -o x.png " + arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.err, HasSubstr(what)) << arguments;
        EXPECT_FALSE(std::filesystem::exists(at("x.png"))) << arguments;
    };
    refused("--then", "no kernel after --then");
    refused("--then --then swizzle -o b.png", "no kernel before or after --then");
    refused("--then swizzel -o b.png", "swizzle");
    refused("--then swizzle", "no output file was named");
    refused("--then swizzle a.png -o b.png", "step 2, swizzle, reads 1 image");
    refused("--then swizzle --order rgbq --radius 2 -o b.png", "--radius");
    refused("--then resample --size 5 -o b.png", "'5' is not a size");
    const Ended planes = run("run from_rgb a.png --device cpu --then swizzle -o b.png");
    EXPECT_EQ(planes.status, 2);
    EXPECT_THAT(planes.err, HasSubstr("swizzle needs 1 image, but the kernel before it writes 2 images"));
}

TEST_F(CliRunTest, ASavedPipelineComputesTheSameImage) {
    const Ended saved = run(
        "run resample a.png --size 8x8 --filter area --sampler address=clamp --device cpu --then swizzle --order gbra "
        "-o b.png --save-pipeline p.json --json");
    EXPECT_EQ(saved.status, 0) << saved.err;
    EXPECT_EQ(json::parse(saved.out)["steps"][0]["files"], (json{"b.png"}));
    EXPECT_EQ(json::parse(text("p.json"))["steps"][0]["parameters"]["filter"], "area");
    const Ended again = run("run p.json a.png -o c.png --device cpu");
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(again.out, "c.png: 8 x 8 of rgba8_srgb\n");
    EXPECT_EQ(read_image(at("c.png")).texels, read_image(at("b.png")).texels);
    std::filesystem::create_directory(at("inner"));
    std::filesystem::rename(at("p.json"), at("inner/p.json"));
    std::ofstream(at("inner/outside.json")) << R"({"steps": [{"kernel": "swizzle", "out": "../d.png"}]})";
    const Ended outside = run("run inner/outside.json a.png");
    EXPECT_EQ(outside.status, 2);
    EXPECT_THAT(outside.err, HasSubstr("d.png"));
    EXPECT_EQ(run("run inner/outside.json a.png --allow-outside --device cpu").status, 0);
    EXPECT_TRUE(std::filesystem::exists(at("d.png")));
    EXPECT_EQ(run("run gone.json a.png -o e.png").status, 2);
}

TEST_F(CliRunTest, APipelineIsSavedWithoutAnImage) {
    const Ended saved = run("run gaussian --sigma 2 --then swizzle --order gbra --save-pipeline p.json");
    EXPECT_EQ(saved.status, 0) << saved.err;
    EXPECT_EQ(saved.out, "p.json: 2 kernels\n");
    EXPECT_EQ(run("run p.json a.png -o b.png --device cpu").status, 0);
    EXPECT_EQ(run("run gaussian a.png --sigma 2 --then swizzle --order gbra -o c.png --device cpu").status, 0);
    EXPECT_EQ(read_image(at("b.png")).texels, read_image(at("c.png")).texels);
    const Ended half = run("run gaussian a.png --save-pipeline q.json");
    EXPECT_EQ(half.status, 2);
    EXPECT_THAT(half.err, HasSubstr("no output file was named"));
    EXPECT_FALSE(std::filesystem::exists(at("q.json")));
}

TEST_F(CliRunTest, InvalidUseIsRefusedWithTheAlternatives) {
    const auto refused = [&](const std::string& arguments, const char* what) {
        const Ended result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.err, HasSubstr(what)) << arguments;
    };
    refused("run", "--list");
    refused("run resampel a.png -o b.png", "resample");
    refused("run resample a.png", "-o OUT");
    refused("run resample -o b.png", "needs 1 input file, but 0");
    refused("run resample gone.png -o b.png", "gone.png");
    refused("run resample a.png -o b.png --set filtre=area", "there is no parameter 'filtre'");
    refused("run resample a.png -o b.png --set filter", "no '='");
    refused("run resample a.png -o b.png --set crop=1,x", "crop is '1,x'");
    refused("run resample a.png -o b.png --size 5", "'5' is not a size");
    refused("run resample a.png -o b.png --format rgb", "'rgb' is not a format");
    refused("run resample a.png -o b.png --sampler filter=cubic", "point, linear");
    refused("run resample a.png -o b.png --sampler filter=point", "Filter::linear");
    refused("run resample a.png -o b.png --device tpu", "tpu");
    refused("run resample a.png -o nofolder/b.png", "nofolder/b.png");
    EXPECT_FALSE(std::filesystem::exists(at("b.png")));
}

TEST_F(CliRunTest, ConvertKeepsTexelsAndChangesFormats) {
    EXPECT_EQ(run("convert a.png b.tif").status, 0);
    EXPECT_EQ(read_image(at("b.tif")).texels, read_image(at("a.png")).texels);
    const Ended floats = run("convert a.png b.exr --format rgba16_float");
    EXPECT_EQ(floats.status, 0) << floats.err;
    EXPECT_THAT(floats.out, HasSubstr("b.exr: 20 x 10 of rgba16_float, array_2d"));
    EXPECT_EQ(read_image(at("b.exr")).format, Format::rgba16_float);
    EXPECT_EQ(run("convert a.png a.png layers.dds").status, 0);
    EXPECT_EQ(open_image(at("layers.dds")).info().layers, 2U);
}

TEST_F(CliRunTest, Ktx2FilesAreWrittenDescribedAndCompared) {
    const Ended mips = run("mips a.png levels.ktx2 --device cpu");
    EXPECT_EQ(mips.status, 0) << mips.err;
    EXPECT_EQ(open_image(at("levels.ktx2")).info().levels, 5);
    const Ended converted =
        run("convert levels.ktx2 small.ktx2 --compression " + std::string(detail::has_zstd() ? "zstd:19" : "none"));
    EXPECT_EQ(converted.status, 0) << converted.err;
    EXPECT_EQ(run("compare levels.ktx2 small.ktx2").status, 0);
    const json described = json::parse(run("info --json small.ktx2").out)["files"][0];
    EXPECT_EQ(described["levels"], 5);
    EXPECT_THAT(described.dump(), testing::AllOf(HasSubstr("ktx2"), HasSubstr(detail::has_zstd() ? "zstd" : "ktx2")));
    EXPECT_EQ(run("run swizzle small.ktx2 -o bgra.ktx2 --set channels=bgra --device cpu").status, 0);
    EXPECT_EQ(run("compare small.ktx2 bgra.ktx2 --first-image").status, 1);
    EXPECT_EQ(run("run swizzle bgra.ktx2 -o rgba.ktx2 --set channels=bgra --device cpu").status, 0);
    EXPECT_EQ(run("compare a.png rgba.ktx2").status, 0);
    EXPECT_EQ(run("convert a.png a.png layers.ktx2").status, 0);
    EXPECT_EQ(open_image(at("layers.ktx2")).info().layers, 2U);
    const Ended refused = run("convert a.png b.ktx2 --compression zip");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err,
                testing::AllOf(HasSubstr("b.ktx2"), HasSubstr(detail::has_zstd() ? "zstd:22" : "Use none")));
}

TEST_F(CliRunTest, ConvertAndMipsDescribeTheirOutputAsJson) {
    const Ended converted = run("convert a.png a.png layers.dds --format rgba16_float --json");
    EXPECT_EQ(converted.status, 0) << converted.err;
    const json out = json::parse(converted.out);
    EXPECT_EQ(out["path"], "layers.dds");
    EXPECT_EQ(out["kind"], "layered_2d");
    EXPECT_EQ(out["format"], "rgba16_float");
    EXPECT_EQ(out["layers"], 2);
    EXPECT_EQ(out["bytes"], 2 * 20 * 10 * 8);
    EXPECT_FALSE(out["conversions"].empty());
    const Ended mips = run("mips a.png b.dds --device cpu --json");
    EXPECT_EQ(mips.status, 0) << mips.err;
    EXPECT_EQ(json::parse(mips.out)["levels"], 5);
    EXPECT_EQ(json::parse(mips.out)["path"], "b.dds");
}

TEST_F(CliRunTest, ImagesFromThreeChannelsAreWrittenWithThree) {
    const auto channels = [&](const std::string& file) {
        return json::parse(run("info --json " + file).out)["files"][0]["channels"].size();
    };
    EXPECT_EQ(run("convert a.png three.png --drop-alpha").status, 0);
    EXPECT_EQ(channels("three.png"), 3u);
    const Ended jpeg = run("convert three.png three.jpg");
    EXPECT_EQ(jpeg.status, 0) << jpeg.err;
    EXPECT_EQ(channels("three.jpg"), 3u);
    EXPECT_EQ(jpeg.out.find("widened"), std::string::npos) << jpeg.out;
    EXPECT_EQ(run("run gaussian three.png -o blurred.png --device cpu").status, 0);
    EXPECT_EQ(channels("blurred.png"), 3u);
    EXPECT_EQ(run("run gaussian a.png -o blurred.png --device cpu").status, 0);
    EXPECT_EQ(channels("blurred.png"), 4u);
    EXPECT_EQ(run("run gaussian a.png -o blurred.jpg --device cpu --drop-alpha").status, 0);
    EXPECT_EQ(run("mips three.png levels.tif --device cpu").status, 0);
    EXPECT_EQ(channels("levels.tif"), 3u);
}

TEST_F(CliRunTest, PartsAreReadByIndexOrName) {
    ASSERT_EQ(run("run swizzle a.png -o b.png --order bgra --device cpu").status, 0);
    ASSERT_EQ(run("convert a.png b.png both.exr --format rgba16_float").status, 0);
    ASSERT_EQ(run("convert b.png second.exr --format rgba16_float").status, 0);
    for (const char* part : {"1", "'part 1'"}) {
        EXPECT_EQ(run(std::string("convert both.exr part.exr --part ") + part).status, 0);
        EXPECT_EQ(run("compare part.exr second.exr").status, 0) << part;
    }
    EXPECT_EQ(run("convert both.exr part.exr").status, 0);
    EXPECT_EQ(run("compare part.exr second.exr").status, 1);
    const Ended refused = run("convert both.exr part.exr --part diffuse");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("'part 0', 'part 1'"));
}

TEST_F(CliRunTest, RefusalsNameTheOptionThatHelps) {
    EXPECT_THAT(run("convert a.png a.exr").err, HasSubstr("--format rgba16_float"));
    EXPECT_EQ(run("convert a.png a.exr --format rgba16_float").status, 0);
    EXPECT_THAT(run("convert a.exr b.png").err, HasSubstr("--format rgba8_srgb"));
    EXPECT_EQ(run("mips a.png levels.dds --device cpu").status, 0);
    EXPECT_THAT(run("convert levels.dds b.png").err, HasSubstr("--levels 1"));
    EXPECT_EQ(run("convert levels.dds b.png --levels 1").status, 0);
    std::ofstream(at("frame.yuv")) << std::string(96, 'a');
    EXPECT_THAT(run("convert frame.yuv b.ktx2 --raw 8x8 --format nv12").err, HasSubstr("texton run to_rgb"));
}

TEST_F(CliRunTest, ConvertDecodesWhatTheFileTypeCannotHold) {
    const auto stored = [&](const std::string& name, Format format) {
        Bytes texels = test::pattern(packed_bytes(format, {8, 4}), 5);
        save(at(name), host_view(texels.data(), format, {8, 4}));
    };
    const auto expect = [&](const std::string& arguments, Format format, const char* said) {
        const Ended result = run("convert " + arguments);
        EXPECT_EQ(result.status, 0) << arguments << ": " << result.err;
        EXPECT_THAT(result.out, HasSubstr("8 x 4 of " + std::string(name(format)))) << arguments;
        EXPECT_THAT(result.out, HasSubstr(said)) << arguments;
    };
    stored("bc4.dds", Format::bc4_unorm);
    stored("bc5.dds", Format::bc5_snorm);
    stored("bc6.dds", Format::bc6h_ufloat);
    stored("bc7.dds", Format::bc7_srgb);
    stored("snorm.dds", Format::r8_snorm);
    stored("ten.dds", Format::rgb10a2_unorm);
    expect("bc4.dds a4.png", Format::r16_unorm, "as a GPU decodes them");
    expect("bc4.dds a4.jpg", Format::r8_unorm, "from 16 bits to 8 bits");
    expect("bc4.dds a4.tif --bc exact", Format::r16_unorm, "with the exact fractions");
    expect("bc5.dds a5.tif", Format::rg16_snorm, "as a GPU decodes them");
    expect("bc5.dds a5.jpg", Format::rgba8_unorm, "Values below 0 are clamped.");
    expect("bc6.dds a6.exr", Format::rgba16_float, "as a GPU decodes them");
    expect("bc6.dds a6.hdr", Format::rgba32_float, "as a GPU decodes them");
    expect("bc7.dds a7.png", Format::rgba8_srgb, "as a GPU decodes them");
    expect("bc7.dds a7.exr", Format::rgba16_float, "sRGB is decoded to linear values.");
    expect("snorm.dds s.exr", Format::r16_float, "from 8 bits to 16 bits (float)");
    expect("snorm.dds s.png", Format::r8_unorm, "Values below 0 are clamped.");
    expect("ten.dds t.tif", Format::rgba16_unorm, "from 10 bits to 16 bits");
    expect("ten.dds t.dds", Format::rgb10a2_unorm, "");
    expect("bc7.dds f.tif --format rgba32_float", Format::rgba32_float, "sRGB is decoded to linear values.");
    EXPECT_EQ(open_image(at("a6.exr")).metadata().channels.size(), 3u);
    EXPECT_NE(read_image(at("a4.png")).texels, read_image(at("a4.tif")).texels);
}

TEST_F(CliRunTest, ConvertSelectsLayersAndFaces) {
    ASSERT_EQ(run("convert a.png a.png a.png layers.dds").status, 0);
    EXPECT_THAT(run("convert layers.dds b.png").err, HasSubstr("--layer"));
    const Ended layer = run("convert layers.dds b.png --layer 2");
    EXPECT_EQ(layer.status, 0) << layer.err;
    EXPECT_THAT(layer.out, HasSubstr("Only layer 2 of 3 layers is read."));
    EXPECT_EQ(read_image(at("b.png")).texels, read_image(at("a.png")).texels);
    EXPECT_THAT(run("convert layers.dds b.png --layer 3").err, HasSubstr("3 layers, but layer 3"));
    write("face.png", Format::rgba8_unorm, {8, 8});
    ASSERT_EQ(run("convert face.png face.png face.png face.png face.png face.png cube.dds --kind cubemap").status, 0);
    EXPECT_THAT(run("convert cube.dds c.png --cube-out faces").err, HasSubstr("--face"));
    EXPECT_EQ(run("convert cube.dds c.png --face 3").status, 0);
    EXPECT_EQ(read_image(at("c.png")).texels, read_image(at("face.png")).texels);
}

TEST_F(CliRunTest, RefusedConvertKeepsTheExistingFile) {
    const std::string before = text("a.png");
    ASSERT_EQ(run("run swizzle a.png -o clear.png --order rgb0 --device cpu").status, 0);
    const Ended result = run("convert clear.png b.jpg");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, testing::AllOf(HasSubstr("b.jpg"), HasSubstr("--drop-alpha")));
    EXPECT_EQ(run("convert gone.png a.png").status, 2);
    EXPECT_EQ(run("convert a.png").status, 2);
    EXPECT_EQ(text("a.png"), before);
}

TEST_F(CliRunTest, CubeFilesAreAppliedWithTheirDomain) {
    // From 0 to 0.5: each entry is three quarters of its input value.
    std::ofstream(at("dim.CUBE")) << "LUT_1D_SIZE 2\nDOMAIN_MAX 0.5 0.5 0.5\n0 0 0\n0.375 0.375 0.375\n";
    std::ofstream(at("swap.cube")) << "LUT_3D_SIZE 2\n0 0 0\n0 0 1\n0 1 0\n0 1 1\n1 0 0\n1 0 1\n1 1 0\n1 1 1\n";
    const std::array<float, 4> gray{0.25f, 0.5f, 0.125f, 1};
    write_image(at("gray.exr"), Format::rgba32_float, {1, 1}, std::as_bytes(std::span(gray)));
    const auto made = [&](const std::string& arguments) {
        const Ended result = run(arguments + " -o out.exr --device cpu");
        EXPECT_EQ(result.status, 0) << result.err;
        std::array<float, 4> texel{};
        std::memcpy(texel.data(), read_image(at("out.exr")).texels.data(), sizeof texel);
        return texel;
    };
    EXPECT_EQ(made("run lut_1d gray.exr dim.CUBE --set filter=exact"),
              (std::array<float, 4>{0.1875f, 0.375f, 0.09375f, 1}));
    EXPECT_EQ(made("run lut_1d gray.exr dim.CUBE --set filter=exact --set domain_max=1,1,1"),
              (std::array<float, 4>{0.09375f, 0.1875f, 0.046875f, 1}));
    EXPECT_EQ(made("run lut_3d gray.exr swap.cube --set filter=exact"), (std::array<float, 4>{0.125f, 0.5f, 0.25f, 1}));
    const auto refused = [&](const std::string& arguments, const char* what) {
        const Ended result = run(arguments + " -o refused.exr --device cpu");
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.err, HasSubstr(what));
    };
    refused("run lut_3d gray.exr dim.CUBE",
            "dim.CUBE contains a table that is read as array_1d, but the input 'table' does");
    refused("run gaussian swap.cube", "swap.cube contains a table that is read as array_3d");
    refused("run lut_3d gray.exr gone.cube", "gone.cube cannot be opened");
    std::ofstream(at("broken.cube")) << "LUT_3D_SIZE 2\n0 0 0\n0 0\n";
    refused("run lut_3d gray.exr broken.cube", "broken.cube, line 3: '0 0' is not three finite numbers");
    EXPECT_FALSE(std::filesystem::exists(at("refused.exr")));
}

TEST_F(CliRunTest, TimingListsDecodingKernelAndSaving) {
    const Ended result = run("run gaussian a.png -o b.png --device cpu --timing");
    EXPECT_EQ(result.status, 0) << result.err;
    for (const char* word : {"a.png", "decode", "gaussian", "saved in"}) EXPECT_THAT(result.err, HasSubstr(word));
    EXPECT_THAT(result.out, testing::Not(HasSubstr("decode")));
}

TEST_F(CliRunTest, BenchMeasuresKernelsAndReportsUnsupportedKernels) {
    const json out = json::parse(run("bench resample volume_slice to_rgb --size 32x24 --device cpu --json").out);
    ASSERT_EQ(out["kernels"].size(), 3U);
    EXPECT_GT(out["kernels"][0]["milliseconds"], 0);
    EXPECT_GT(out["kernels"][1]["gigabytes_a_second"], 0);
    EXPECT_NE(out["kernels"][2]["refusal"], "");
    const Ended text = run("bench resample --size 32x24 --device cpu");
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("ratio to copy"));
    EXPECT_EQ(run("bench nothing").status, 2);
    EXPECT_EQ(run("bench --size big").status, 2);
}

TEST_F(CliRunTest, ViewStartsTheViewer) {
    if (!std::filesystem::exists(std::filesystem::path(kProgram).parent_path() / "texton-view"))
        GTEST_SKIP() << "texton-view was not found";
    const Ended help = run("view --help");
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr("texton-view"));
}

TEST_F(CliRunTest, ConvertAndMipsTakeTheOutputAsAnOptionToo) {
    ASSERT_EQ(run("convert a.png a.png pair.dds --kind layered_2d").status, 0);
    const Ended converted = run("convert a.png a.png -o same.dds --kind layered_2d");
    EXPECT_EQ(converted.status, 0) << converted.err;
    EXPECT_EQ(text("same.dds"), text("pair.dds"));
    ASSERT_EQ(run("mips a.png b.dds --device cpu").status, 0);
    const Ended mips = run("mips a.png --out c.dds --device cpu");
    EXPECT_EQ(mips.status, 0) << mips.err;
    EXPECT_EQ(text("c.dds"), text("b.dds"));
    ASSERT_EQ(run("mips --pattern noise:16x16 d.dds --device cpu").status, 0);
    EXPECT_EQ(run("mips --pattern noise:16x16 -o e.dds --device cpu").status, 0);
    EXPECT_EQ(text("e.dds"), text("d.dds"));
    const Ended none = run("convert a.png");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("OUT is required"));
}

TEST_F(CliRunTest, SizesOfResultsCanDependOnTheImage) {  // of 20 x 10 texels
    for (const auto& [size, extent] :
         std::initializer_list<std::pair<std::string, Extent>>{{"50%", {10, 5}},
                                                               {"30x", {30, 15}},
                                                               {"x4", {8, 4}},
                                                               {"within:15x100", {15, 8}},
                                                               {"within:90x90", {20, 10}}}) {
        SCOPED_TRACE(size);
        const std::string line = "run resample a.png --filter area --size " + size + " --device cpu -o ";
        ASSERT_EQ(run(line + "b.png").status, 0);
        EXPECT_EQ(read_image(at("b.png")).extent, extent);
        ASSERT_EQ(run(line + "c.png --memory 16MiB").status, 0);
        EXPECT_EQ(read_image(at("c.png")).texels, read_image(at("b.png")).texels);
    }
    const Ended pipeline =
        run("run resample a.png --size 50% --then resample --size x20 -o d.png --save-pipeline p.json");
    ASSERT_EQ(pipeline.status, 0) << pipeline.err;
    EXPECT_EQ(read_image(at("d.png")).extent, (Extent{40, 20}));
    ASSERT_EQ(run("batch p.json a.png -o 'made/{stem}.png' --device cpu").status, 0);
    EXPECT_EQ(read_image(at("made/a.png")).extent, (Extent{40, 20}));
}

TEST_F(CliRunTest, ConvertNamesTheCommandsThatComputeLevelsAndOtherSizes) {
    const auto refused = [&](const std::string& option, const std::string& command) {
        const Ended result = run("convert a.png b.dds " + option);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr("Use `" + command));
        EXPECT_FALSE(std::filesystem::exists(at("b.dds")));
    };
    refused("--mips", "texton mips IN OUT`");
    refused("--size 10x5", "texton run resample IN -o OUT --size WxH`");
    refused("--resize 10x5", "texton run resample");
}

TEST_F(CliRunTest, MipsWritesAllLevels) {
    const Ended result = run("mips a.png b.dds --device cpu");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("20 x 10 of rgba8_srgb, array_2d, 5 levels"));
    EXPECT_EQ(open_image(at("b.dds")).info().levels, 5);
    EXPECT_EQ(run("mips a.png b.tif --set filter=kaiser --device cpu").status, 0);
    EXPECT_EQ(open_image(at("b.tif")).info().levels, 5);
    // With the kernel mips, run writes the smaller levels, to one file or to several.
    EXPECT_EQ(run("run mips a.png -o c.dds --device cpu").status, 0);
    EXPECT_EQ(open_image(at("c.dds")).info().extent, (Extent{10, 5}));
    const Ended numbered = run("run mips a.png -o c.png --device cpu");
    EXPECT_EQ(numbered.status, 0) << numbered.err;
    EXPECT_EQ(read_image(at("c_3.png")).extent, (Extent{1, 1}));
}

}  // namespace
}  // namespace texton
