// texton run --memory: the results are those of texton run.
#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image_file.h>
#include <texton/image_save.h>
#include <texton/linear.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"
#include "viewer/model/host_image.h"

namespace texton {
namespace {

using nlohmann::json;
using test::Bytes;
using test::Ended;
using testing::HasSubstr;

constexpr Extent kSize{1536, 1500};

class CliRunInStripsTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("a.tif", Format::rgba8_unorm, kSize, Extent{64, 64});
    }
    void write(const std::string& name, Format format, Extent extent, std::optional<Extent> tile) const {
        Bytes texels = test::pattern(packed_bytes(format, extent), 7);
        save(at(name), host_view(texels.data(), format, extent), {.tile = tile, .compression = "none"});
    }
    Bytes texels(const std::string& name) const {
        const ImageFile image = open_image(at(name));
        Bytes bytes(packed_bytes(image.info()));
        image.read({}, bytes);
        return bytes;
    }
    /// Expects that a file has the levels that `texton mips` computes of an image that was saved without levels.
    void expect_levels(const std::string& name, const std::string& whole) const {
        const std::string levels = "levels" + whole.substr(whole.find('.'));
        const Ended made = run("mips " + whole + " " + levels + " --device cpu");
        ASSERT_EQ(made.status, 0) << made.err;
        const verify::HostArray expected = verify::read_array(open_image(at(levels)));
        const verify::HostArray found = verify::read_array(open_image(at(name)));
        EXPECT_EQ(found.info, expected.info);
        ASSERT_EQ(found.levels.size(), expected.levels.size());
        EXPECT_EQ(found.info.levels, full_levels(found.info));
        for (std::size_t i = 0; i < found.levels.size(); ++i)
            EXPECT_TRUE(found.levels[i].texels == expected.levels[i].texels) << "level " << i;
    }
    /// Expects that the arguments, which write OUT, write the same texels with and without a small memory.
    void expect_same(const std::string& arguments, const std::string& ending,
                     const std::string& memory = "4MiB") const {
        SCOPED_TRACE(arguments + ending);
        const Ended whole = run("run " + arguments + " -o whole" + ending + " --device cpu");
        ASSERT_EQ(whole.status, 0) << whole.err;
        const Ended strips = run("run " + arguments + " -o strips" + ending + " --memory " + memory + " --timing");
        ASSERT_EQ(strips.status, 0) << strips.err;
        EXPECT_THAT(strips.err, HasSubstr("strips of "));
        EXPECT_EQ(strips.out, "strips" + whole.out.substr(whole.out.find('.')));
        EXPECT_TRUE(texels("strips" + ending) == texels("whole" + ending));
        const ImageFile image = open_image(at("strips" + ending));
        if (ending == ".tif" || ending == ".exr") {
            EXPECT_EQ(image.access().granule, (Extent{256, 256, 1}));
        }
        EXPECT_EQ(image.metadata().channels, open_image(at("whole" + ending)).metadata().channels);
    }
};

TEST_F(CliRunInStripsTest, FilesOfEveryKindHaveTheTexelsOfTheImageInMemory) {
    expect_same("gaussian a.tif --sigma 2", ".tif");
    expect_same("resample a.tif --size 400x333 --filter area", ".tif");
    expect_same("resample a.tif --size 400x333 --filter lanczos3 --format rgba16_float", ".exr");
    expect_same("warp_polar a.tif --sampler filter=linear,address=wrap", ".dds", "8MiB");
    expect_same("median a.tif", ".png");
}

TEST_F(CliRunInStripsTest, KernelsWithSeveralInputsReadPartsOfAll) {
    write("b.tif", Format::rgba8_unorm, kSize, std::nullopt);
    expect_same("blend a.tif b.tif --opacity 0.25", ".tif");
    std::vector<float> map;
    for (std::size_t y = 0; y < kSize.height; ++y) {
        for (std::size_t x = 0; x < kSize.width; ++x) {
            map.push_back(static_cast<float>(x) * 0.75f + static_cast<float>(y) * 0.25f);
            map.push_back(static_cast<float>(y) + 20.3f);
        }
    }
    save(at("map.exr"), host_view(map.data(), Format::rg32_float, kSize), {.tile = Extent{64, 64}});
    expect_same("warp_map a.tif map.exr", ".tif", "8MiB");
}

TEST_F(CliRunInStripsTest, ChainsComputeEachImageFromPartsOfTheOneBefore) {
    expect_same("gaussian a.tif --sigma 1.5 --then resample --size 700x500 --filter b_spline --then unsharp", ".tif",
                "8MiB");
    write("b.tif", Format::rgba8_unorm, {700, 500}, std::nullopt);
    expect_same("resample a.tif --size 700x500 --then blend b.tif --opacity 0.5 --then warp_affine", ".tif", "8MiB");
}

TEST_F(CliRunInStripsTest, LevelsAreThoseThatMipsComputesOfTheResult) {
    const auto same = [&](const std::string& arguments, const std::string& ending) {
        SCOPED_TRACE(arguments + ending);
        ASSERT_EQ(run("run " + arguments + " -o whole" + ending + " --device cpu").status, 0);
        const Ended strips = run("run " + arguments + " -o strips" + ending + " --memory 12MiB --mips");
        ASSERT_EQ(strips.status, 0) << strips.err;
        EXPECT_THAT(strips.err, testing::ContainsRegex("take at most .* on the disk .*; its levels take .* more"));
        EXPECT_THAT(strips.out, HasSubstr(" levels\n"));
        expect_levels("strips" + ending, "whole" + ending);
        if (ending != ".dds") {
            EXPECT_EQ(open_image(at("strips" + ending)).access().granule, (Extent{256, 256, 1}));
        }
    };
    same("gaussian a.tif --sigma 2", ".tif");
    same("resample a.tif --size 700x501 --filter lanczos3 --format rgba16_float --then tone_curve", ".exr");
    same("resample a.tif --size 300x700", ".dds");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 12)
        << "a.tif, out, err, and three images of each file type";
}

TEST_F(CliRunInStripsTest, JsonDescribesTheImageAndTheMemory) {
    const Ended result = run("run exposure a.tif --stops 1 -o b.tif --memory 1.5GiB --json");
    ASSERT_EQ(result.status, 0) << result.err;
    const json out = json::parse(result.out);
    EXPECT_EQ(out["memory"], 3U << 29);
    EXPECT_EQ(out["files"], json{"b.tif"});
    EXPECT_EQ(out["images"][0]["width"], kSize.width);
}

TEST_F(CliRunInStripsTest, WhatCannotBeComputedInPartsIsRefusedBeforeAFileIsWritten) {
    const auto refused = [&](const std::string& arguments, const char* what) {
        SCOPED_TRACE(arguments);
        const Ended result = run("run " + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(what));
        EXPECT_FALSE(std::filesystem::exists(at("b.tif")));
    };
    refused("exposure a.tif -o b.tif --memory 2", "'2' is no size of memory");
    refused("exposure a.tif -o b.tif --memory -2GiB", "no size of memory");
    refused("exposure a.tif -o b.tif --memory 8EiB", "no size of memory");
    refused("exposure a.tif -o b.tif --memory 64KiB", "Use a --memory that is at least");
    refused("warp_polar a.tif -o b.tif --memory 1MiB", "of the image reads more texels than");
    refused("statistics a.tif -o b.tif --memory 1GiB", "the image cannot be computed in parts");
    refused("exposure a.tif -o b.tif --memory 1GiB --then mips -o c.dds", "mips writes several levels");
    refused("exposure a.tif -o b.tif --memory 1GiB --then exposure -o c.tif", "before the last one");
    refused("exposure a.tif -o b_%03d.tif --memory 1GiB", "several frames");
    refused("exposure a.tif -o b.png --memory 1GiB --mips", "b.png cannot hold levels");
    refused("exposure a.tif -o b.tif --mips", "--mips was given without --memory");
    refused("exposure gone.tif -o b.tif --memory 1GiB", "gone.tif");
}

TEST_F(CliRunInStripsTest, AnInputThatEndsEarlyLeavesTheOldOutput) {
    write("b.tif", Format::r8_unorm, {5, 4}, std::nullopt);
    const Bytes before = texels("b.tif");
    std::filesystem::resize_file(at("a.tif"), std::filesystem::file_size(at("a.tif")) / 2);
    const Ended result = run("run gaussian a.tif -o b.tif --memory 4MiB");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("a.tif"));
    EXPECT_EQ(texels("b.tif"), before);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 4) << "a.tif, b.tif, out and err";
}

// --- resuming --------------------------------------------------------------------------------------------------------

class CliRunResumedTest : public CliRunInStripsTest {
protected:
    /// Starts the command, and kills it when some rows are finished.
    void kill_early(const std::string& arguments) const {
        const Ended result =
            shell("'" + kProgram + "' run " + arguments +
                  " & pid=$!; "
                  "while kill -0 $pid && [ $(cat b.tif.rows.json 2>/dev/null | wc -l) -lt 2 ]; do sleep 0.02; done; "
                  "kill -KILL $pid; ! wait $pid");
        ASSERT_EQ(result.status, 0) << result.err;
        ASSERT_TRUE(std::filesystem::exists(at("b.tif.rows.json"))) << "the command ended before it was killed";
    }
    static constexpr const char* kSlow = "bilateral a.tif -o b.tif --sigma-space 30 --radius 56 --memory 1MiB --resume";
    /// Writes an image of which the slow kernel computes many groups of rows.
    void SetUp() override {
        CommandLine::SetUp();
        write("a.tif", Format::r8_unorm, {700, 1500}, Extent{64, 64});
    }
};

TEST_F(CliRunResumedTest, AKilledRunContinuesAndLeavesTheTexelsOfAnUninterruptedOne) {
    ASSERT_EQ(run("run bilateral a.tif -o whole.tif --sigma-space 30 --radius 56 --device cpu").status, 0);
    write("b.tif", Format::r8_unorm, {5, 4}, std::nullopt);
    const Bytes before = texels("b.tif");
    kill_early(std::string(kSlow) + " --mips");
    EXPECT_EQ(texels("b.tif"), before) << "the old output is kept until the new one is complete";
    const Ended result = run(std::string("run ") + kSlow + " --mips --json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("rows are finished"));
    EXPECT_THAT(result.err, HasSubstr("the finished rows are compressed, and take at most 1.0 MiB on the disk"));
    EXPECT_GT(json::parse(result.out)["resumed_rows"], 0U);
    EXPECT_EQ(json::parse(result.out)["levels"], 11);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 5)
        << "a.tif, b.tif, whole.tif, out and err; also the temporary files of the killed process are gone";
    expect_levels("b.tif", "whole.tif");
}

TEST_F(CliRunResumedTest, RowsOfAnotherImageOrVersionAreNotUsed) {
    kill_early(kSlow);
    const auto refused = [&](const std::string& arguments, const char* what) {
        SCOPED_TRACE(arguments);
        const Ended result = run("run " + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(what));
        EXPECT_THAT(result.err, HasSubstr("b.tif.rows.json"));
        EXPECT_FALSE(std::filesystem::exists(at("b.tif")));
    };
    refused("bilateral a.tif -o b.tif --sigma-space 31 --radius 56 --memory 1MiB --resume",
            "belongs to another image: steps");
    refused("bilateral a.tif -o b.tif --sigma-space 30 --radius 56 --memory 1MiB --resume --channels 0,0",
            "belongs to another image");
    const std::string lines = text("b.tif.rows.json");
    std::ofstream(at("b.tif.rows.json")) << "{\"version\":9,\"mark\":1,\"image\":{}}\n";
    refused(kSlow, "has version 9, but this program reads version 3");
    std::ofstream(at("b.tif.rows.json")) << lines << "{\"rows\":[[0,99999999]]}\n";
    refused(kSlow, "is damaged");
    std::ofstream(at("b.tif.rows.json")) << lines;
    write("a.tif", Format::r8_unorm, {700, 1500}, Extent{64, 64});
    refused(kSlow, "belongs to another image: inputs");
    EXPECT_EQ(run("run exposure a.tif -o c.tif --resume").status, 2) << "without --memory";
}

TEST_F(CliRunInStripsTest, ADiskThatFillsUpLeavesTheOldOutputAndTheFinishedRows) {
    write("b.tif", Format::r8_unorm, {5, 4}, std::nullopt);
    const Bytes before = texels("b.tif");
    const std::string arguments = "run swizzle a.tif -o b.tif --order bgra --memory 8MiB --resume --in-process";
    const Ended full = shell("trap '' XFSZ; ulimit -f 4096; '" + kProgram + "' " + arguments);
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.err, HasSubstr("b.tif"));
    EXPECT_THAT(full.err, HasSubstr("File too large"));
    EXPECT_EQ(texels("b.tif"), before);
    EXPECT_TRUE(std::filesystem::exists(at("b.tif.rows.json")));
    const Ended result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    ASSERT_EQ(run("run swizzle a.tif -o c.tif --order bgra --device cpu").status, 0);
    EXPECT_TRUE(texels("b.tif") == texels("c.tif"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 5) << "a, b, c, out and err";
}

}  // namespace
}  // namespace texton
