// texton stats, run through a shell.
#include <filesystem>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using testing::HasSubstr;

class CliStatsTest : public test::CommandLine {
protected:
    void write(const std::string& name, const std::vector<float>& values) const {
        write_image(at(name), Format::r32_float, {values.size(), 1}, std::as_bytes(std::span(values)));
    }
    json of(const std::string& arguments) const {
        const Ended result = run("stats --device cpu --json " + arguments);
        EXPECT_EQ(result.status, 0) << result.err;
        return json::parse(result.out)["files"][0];
    }
};

TEST_F(CliStatsTest, JsonHasStatisticsPercentilesAndTheWholeHistogram) {
    write("a.exr", {0.5f, 2, 1, 0.25f, std::numeric_limits<float>::quiet_NaN()});
    const json file = of("a.exr --percentiles 0,50,75,100");
    EXPECT_EQ(file["path"], "a.exr");
    EXPECT_EQ(file["width"], 5);
    EXPECT_EQ(file["histogram_range"], (json{0.25, 2.0}));
    ASSERT_EQ(file["channels"].size(), 1u);
    const json& channel = file["channels"][0];
    EXPECT_EQ(channel["name"], "R");
    EXPECT_EQ(channel["lowest"], 0.25);
    EXPECT_EQ(channel["highest"], 2.0);
    EXPECT_EQ(channel["mean"], 0.9375);
    EXPECT_EQ(channel["finite"], 4);
    EXPECT_EQ(channel["nans"], 1);
    EXPECT_EQ(channel["percentiles"], json::parse(R"([{"percent": 0.0, "value": 0.25}, {"percent": 50.0, "value": 0.5},
        {"percent": 75.0, "value": 1.0}, {"percent": 100.0, "value": 2.0}])"));
    ASSERT_EQ(channel["histogram"].size(), 256u);
    EXPECT_EQ(channel["histogram"][0], 1);
    EXPECT_EQ(channel["histogram"][255], 1);
    EXPECT_EQ(of("a.exr --range 0,4")["channels"][0]["histogram"][128], 1);
}

TEST_F(CliStatsTest, ImagesOfOneValueAndOfNoFiniteValueHaveStatistics) {
    write("one.exr", {3, 3});
    const json one = of("one.exr");
    EXPECT_EQ(one["channels"][0]["percentiles"][3]["value"], 3.0);
    EXPECT_EQ(one["channels"][0]["highest"], 3.0);
    write("none.exr", {std::numeric_limits<float>::infinity()});
    const json none = of("none.exr");
    EXPECT_EQ(none["channels"][0]["mean"], nullptr);
    EXPECT_EQ(none["channels"][0]["infinities"], 1);
}

TEST_F(CliStatsTest, TextHasATableAndALineOfBarsForEachChannel) {
    const test::Bytes texels = test::pattern(16 * 8 * 4, 3);
    write_image(at("a.png"), Format::rgba8_unorm, {16, 8}, texels);
    const Ended result = run("stats a.png --color linear --device cpu");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("a.png: 16 x 8 of rgba8_unorm, array_2d"));
    EXPECT_THAT(result.out, HasSubstr("50 %"));
    EXPECT_THAT(result.out, HasSubstr("histogram from 0 to 1"));
    for (const char* channel : {"\nR |", "\nG |", "\nB |", "\nA |"}) EXPECT_THAT(result.out, HasSubstr(channel));
}

TEST_F(CliStatsTest, AllSlicesAndBothPlanesAreCounted) {
    const test::Bytes texels = test::pattern(4 * 4, 3);
    write_image(at("a.png"), Format::r8_unorm, {4, 4}, texels);
    ASSERT_EQ(run("convert a.png a.png a.png layers.ktx2").status, 0);
    EXPECT_EQ(of("layers.ktx2")["channels"][0]["finite"], 48);
    ASSERT_EQ(run("convert a.png a.png volume.ktx2 --kind array_3d").status, 0);
    EXPECT_EQ(of("volume.ktx2")["channels"][0]["finite"], 32);
}

TEST_F(CliStatsTest, WrongUseIsRefused) {
    write("a.exr", {1});
    EXPECT_EQ(run("stats a.exr --percentiles 101").status, 2);
    EXPECT_EQ(run("stats a.exr --range 1").status, 2);
    const Ended range = run("stats a.exr --range 2,1 --device cpu");
    EXPECT_EQ(range.status, 2);
    EXPECT_THAT(range.err, HasSubstr("low is 2, but high is 1"));
    const Ended gone = run("stats gone.exr a.exr --device cpu");
    EXPECT_EQ(gone.status, 2);
    EXPECT_THAT(gone.err, HasSubstr("gone.exr"));
    EXPECT_THAT(gone.out, HasSubstr("a.exr: 1 x 1"));
}

TEST_F(CliStatsTest, FilesThatAreReadInPartsHaveTheSameStatistics) {
    const auto same = [&](const std::string& arguments, const std::string& memory) {
        SCOPED_TRACE(arguments);
        EXPECT_EQ(of(arguments + " --memory " + memory), of(arguments));
    };
    const Extent extent{500, 400};
    write_image(at("a.tif"), Format::rgba8_unorm, extent, test::pattern(packed_bytes(Format::rgba8_unorm, extent), 3));
    same("a.tif --color linear", "160KiB");
    same("a.tif --color srgb --percentiles 0,33,100", "200KiB");
    std::vector<float> values(extent.width * extent.height);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 10007) * 1.5f - 200;
    write_image(at("a.exr"), Format::r32_float, extent, std::as_bytes(std::span(values)));
    same("a.exr", "160KiB");
    const std::string assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
    same("'" + assets + "/cube.dds'", "64KiB");
    same("'" + assets + "/bc7.dds'", "64KiB");
    EXPECT_THAT(run("stats a.tif --memory 2KiB").err, HasSubstr("Use 1MiB or more"));
    EXPECT_THAT(run("stats a.tif --memory 2GB").err, HasSubstr("'2GB' is no size of memory"));
}

class CliStatsOnDevicesTest : public CliStatsTest {
protected:
    Ended on_devices(int devices, const std::string& arguments, const std::string& environment = "") const {
        return shell("env TEXTON_CPU_THREADS=1 TEXTON_CPU_DEVICES=" + std::to_string(devices) + " " + environment +
                     " '" + kProgram + "' stats --device cpu:all " + arguments);
    }
    // Writes a program in place of the workers: the first worker runs `first` before it starts.
    std::string worker_program(const std::string& first, const std::string& others) const {
        std::ofstream(at("worker")) << "#!/bin/sh\nif mkdir '" << at("first") << "' 2>/dev/null; then " << first
                                    << "; else " << others << "; fi\nexec '"
                                    << (fs::path(kProgram).parent_path() / "texton-commands").string() << "' \"$@\"\n";
        fs::permissions(at("worker"), fs::perms::owner_all);
        return "TEXTON_WORKER='" + at("worker") + "'";
    }
    void write_floats(const std::string& name, const Extent& extent) const {
        std::vector<float> values(extent.width * extent.height);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 10007) * 1.5f - 200;
        values[7] = std::numeric_limits<float>::quiet_NaN();
        values.back() = -std::numeric_limits<float>::infinity();
        write_image(at(name), Format::r32_float, extent, std::as_bytes(std::span(values)));
    }
};

TEST_F(CliStatsOnDevicesTest, SeveralDevicesCountTheSameStatistics) {
    const Extent extent{500, 400};
    write_image(at("a.tif"), Format::rgba8_unorm, extent, test::pattern(packed_bytes(Format::rgba8_unorm, extent), 3));
    write_floats("a.exr", extent);
    const std::string assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
    const auto same = [&](int devices, const std::string& arguments, const std::string& memory) {
        SCOPED_TRACE(arguments);
        const Ended one = run("stats --device cpu --json " + arguments);
        const Ended several = on_devices(devices, arguments + memory + " --json");
        EXPECT_EQ(several.status, one.status) << several.err;
        EXPECT_EQ(several.out, one.out);
        EXPECT_EQ(several.err, one.err);
    };
    same(2, "a.tif gone.tif a.exr '" + assets + "/cube.dds' '" + assets + "/bc7.dds' --color linear", "");
    same(3, "a.exr --range 0,1000 --percentiles 0,0.1,33,100", " --memory 3MiB");
    const Ended small = on_devices(3, "a.tif --memory 6KiB");
    EXPECT_EQ(small.status, 2);
    EXPECT_THAT(small.err, HasSubstr("--memory is divided among 3 workers"));
}

// The first worker has too little memory for the counts of percentiles. The other one starts after that was printed.
TEST_F(CliStatsOnDevicesTest, TexelsOfADeviceWithTooLittleMemoryAreCountedByTheOthers) {
    write_floats("a.exr", {300, 200});
    const std::string worker =
        worker_program("export TEXTON_CPU_MEMORY=1M", "n=0; until grep -q 'other workers' '" + at("err") +
                                                          "' || [ $((n += 1)) -gt 1500 ]; do sleep 0.02; done");
    const Ended several = on_devices(2, "a.exr --json", worker);
    EXPECT_EQ(several.status, 0) << several.err;
    EXPECT_THAT(several.err, HasSubstr("The other workers count its texels."));
    EXPECT_EQ(json::parse(several.out)["files"][0], of("a.exr"));
}

TEST_F(CliStatsOnDevicesTest, WorkersThatAreKilledAreReplacedByTheOthersAndTheLastOneIsNamed) {
    write_floats("a.exr", {300, 200});
    const Ended several = on_devices(3, "a.exr --json", worker_program("kill -9 $$", ":"));
    EXPECT_EQ(several.status, 0) << several.err;
    EXPECT_THAT(several.err, HasSubstr("was ended by the signal 9 (Killed). The other workers count its texels."));
    EXPECT_EQ(json::parse(several.out)["files"][0], of("a.exr"));
    const Ended none = on_devices(2, "a.exr", worker_program("kill -9 $$", "kill -9 $$"));
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("no worker is left: the process that counts its texels was ended by the signal 9"));
    EXPECT_EQ(none.out, "");
}

}  // namespace
}  // namespace texton
