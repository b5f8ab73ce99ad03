// texton run --memory: the results are those of texton run.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image_file.h>
#include <texton/image_save.h>
#include <texton/linear.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"

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
    refused("exposure a.tif -o b.tif --memory 64KiB", "Use --memory 1MiB or more for each kernel");
    refused("warp_polar a.tif -o b.tif --memory 1MiB", "of the image reads more texels than");
    refused("statistics a.tif -o b.tif --memory 1GiB", "the image cannot be computed in parts");
    refused("exposure a.tif -o b.tif --memory 1GiB --then mips -o c.dds", "computes each level from the whole level");
    refused("exposure a.tif -o b.tif --memory 1GiB --then exposure -o c.tif", "before the last one");
    refused("exposure a.tif -o b_%03d.tif --memory 1GiB", "several frames");
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

}  // namespace
}  // namespace texton
