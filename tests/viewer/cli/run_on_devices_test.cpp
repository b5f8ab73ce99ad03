// texton run --device cpu:all: each device computes rows of the image in a process of its own. The results are those of
// texton run.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/device.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/command_line.h"
#include "tests/support/on_every_device.h"
#include "tests/support/running_command.h"
#include "tests/support/texels.h"
#include "viewer/model/host_image.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Bytes;
using test::Ended;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliRunOnDevicesTest : public test::CommandLine {
protected:
    void write(const std::string& name, Format format, Extent extent) const {
        Bytes texels = test::pattern(packed_bytes(format, extent), 7);
        save(at(name), host_view(texels.data(), format, extent), {.tile = Extent{64, 64}, .compression = "none"});
    }
    Bytes texels(const std::string& name) const {
        const ImageFile image = open_image(at(name));
        Bytes bytes(packed_bytes(image.info()));
        image.read({}, bytes);
        return bytes;
    }
    static std::string command(const std::string& arguments, int devices) {
        return "env TEXTON_CPU_THREADS=1 TEXTON_CPU_DEVICES=" + std::to_string(devices) + " '" + kProgram +
               "' run --device cpu:all " + arguments;
    }
    Ended run_on(int devices, const std::string& arguments) const { return shell(command(arguments, devices)); }
    /// Expects that the arguments, which write OUT, write the same texels on one device and on several.
    void expect_same(int devices, const std::string& arguments, const std::string& ending,
                     const std::string& memory = "") const {
        SCOPED_TRACE(arguments + ending);
        const Ended whole = run("run " + arguments + " -o whole" + ending + " --device cpu");
        ASSERT_EQ(whole.status, 0) << whole.err;
        const Ended result = run_on(devices, arguments + " -o several" + ending + memory + " --json");
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_TRUE(texels("several" + ending) == texels("whole" + ending));
        const json out = json::parse(result.out);
        std::size_t rows = 0;
        for (const json& worker : out["workers"]) rows += worker["rows"].get<std::size_t>();
        EXPECT_EQ(rows, out["images"][0]["height"]);
        EXPECT_EQ(out["workers"].size(), static_cast<std::size_t>(devices));
    }
    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder()), {}); }
};

TEST_F(CliRunOnDevicesTest, TheImageHasTheBitsOfOneDevice) {
    write("a.tif", Format::rgba8_unorm, {900, 800});
    write("b.tif", Format::rgba8_unorm, {500, 400});
    expect_same(2, "gaussian a.tif --sigma 2", ".tif", " --memory 16MiB");
    expect_same(3, "resample a.tif --size 333x777 --filter lanczos3 --format rgba16_float", ".exr");
    expect_same(2, "warp_polar a.tif --sampler filter=linear,address=wrap", ".dds", " --memory 24MiB");
    expect_same(3, "gaussian a.tif --sigma 1.5 --then resample --size 500x400 --then blend b.tif --opacity 0.5", ".tif",
                " --memory 32MiB");
}

TEST_F(CliRunOnDevicesTest, LayersAreComputedTogether) {
    write("a.tif", Format::rgba8_unorm, {200, 300});
    write("b.tif", Format::rgba8_unorm, {200, 300});
    ASSERT_EQ(run("convert a.tif b.tif layers.dds --kind layered_2d").status, 0);
    expect_same(2, "gaussian layers.dds --sigma 3", ".dds", " --resume");
    const Ended result = run_on(2, "gaussian layers.dds --sigma 3 -o levels.dds --mips");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("9 levels"));
    ASSERT_EQ(run("mips whole.dds whole_levels.dds --device cpu").status, 0);
    const verify::HostArray found = verify::read_array(open_image(at("levels.dds")));
    const verify::HostArray expected = verify::read_array(open_image(at("whole_levels.dds")));
    EXPECT_EQ(found.info, expected.info);
    ASSERT_EQ(found.levels.size(), expected.levels.size());
    for (std::size_t i = 0; i < found.levels.size(); ++i)
        EXPECT_TRUE(found.levels[i].texels == expected.levels[i].texels) << "level " << i;
}

TEST_F(CliRunOnDevicesTest, GpusComputeTheBitsOfTheCpuDevice) {
    if (const std::string why = Device::why_no_cuda(); !why.empty()) {
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device: " << why;
        GTEST_SKIP() << "no CUDA device: " << why;
    }
    write("a.tif", Format::rgba8_unorm, {900, 800});
    for (const std::string arguments :
         {"gaussian a.tif --sigma 8", "resample a.tif --size 1800x1600 --filter catmull_rom"}) {
        SCOPED_TRACE(arguments);
        ASSERT_EQ(run("run " + arguments + " -o whole.tif --device cpu").status, 0);
        const Ended result = shell("env TEXTON_CUDA_DEVICES=0,0 '" + kProgram + "' run " + arguments +
                                   " -o several.tif --device cuda:all --memory 256MiB");
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_TRUE(texels("several.tif") == texels("whole.tif"));
    }
}

TEST_F(CliRunOnDevicesTest, WhatCannotBeComputedIsRefusedBeforeAFileIsWritten) {
    write("a.tif", Format::rgba8_unorm, {64, 64});
    const auto refused = [&](const std::string& line, const auto& what) {
        SCOPED_TRACE(line);
        const Ended result = shell(line);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, what);
        EXPECT_EQ(files(), 3) << "a.tif, out and err";
    };
    refused(command("exposure a.tif -o b.tif", 9), HasSubstr("TEXTON_CPU_DEVICES is '9'"));
    refused(command("exposure a.tif -o b.tif --memory 64KiB", 2), HasSubstr("is divided among 2 workers"));
    refused(command("exposure a.tif -o b.tif --seconds 0", 2), HasSubstr("--seconds"));
    refused(command("statistics a.tif -o b.tif", 2),
            AllOf(HasSubstr("cannot be computed in parts"), Not(HasSubstr("Omit --memory"))));
    refused("'" + kProgram + "' run exposure a.tif -o b.tif --device gpu:all", HasSubstr("'gpu:all' is not a device"));
    if (!TEXTON_TEST_MPI)
        refused("OMPI_COMM_WORLD_SIZE=4 '" + kProgram + "' run exposure a.tif -o b.tif --memory 1GiB",
                HasSubstr("MPI started it 4 times, but Texton was built without MPI"));
    if (const std::string why = Device::why_no_cuda(); !why.empty())
        refused("'" + kProgram + "' run exposure a.tif -o b.tif --device cuda:all",
                HasSubstr("all CUDA devices were requested, but there is none: " + why));
}

TEST_F(CliRunOnDevicesTest, AnInputThatEndsEarlyLeavesTheOldOutput) {
    write("a.tif", Format::rgba8_unorm, {900, 800});
    write("b.tif", Format::r8_unorm, {5, 4});
    const Bytes before = texels("b.tif");
    fs::resize_file(at("a.tif"), fs::file_size(at("a.tif")) / 2);
    const Ended result = run_on(2, "gaussian a.tif -o b.tif --memory 4MiB");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("a.tif"));
    EXPECT_EQ(texels("b.tif"), before);
    EXPECT_EQ(files(), 4) << "a.tif, b.tif, out and err";
}

// The device of the first worker has too little memory. The other worker starts after the command has printed that.
TEST_F(CliRunOnDevicesTest, RowsOfADeviceWithTooLittleMemoryAreComputedByTheOthers) {
    write("a.tif", Format::rgba8_unorm, {900, 800});
    std::ofstream(at("worker"))
        << "#!/bin/sh\nif mkdir '" << at("first")
        << "' 2>/dev/null; then export TEXTON_CPU_MEMORY=1M; else n=0; until grep -q 'other workers' '" << at("err")
        << "' || [ $((n += 1)) -gt 1500 ]; do sleep 0.02; done; fi\nexec '"
        << (fs::path(kProgram).parent_path() / "texton-commands").string() << "' \"$@\"\n";
    fs::permissions(at("worker"), fs::perms::owner_all);
    ASSERT_EQ(run("run median a.tif -o whole.tif --device cpu").status, 0);
    const Ended result =
        shell("TEXTON_WORKER='" + at("worker") + "' " + command("median a.tif -o b.tif --memory 32MiB --json", 2));
    ASSERT_EQ(result.status, 0) << result.err;
    std::vector<bool> failed;
    const json out = json::parse(result.out);
    for (const json& worker : out["workers"]) failed.push_back(worker.contains("failure"));
    EXPECT_THAT(failed, testing::UnorderedElementsAre(true, false));
    EXPECT_THAT(result.err, AllOf(HasSubstr("cpu:"), HasSubstr("The other workers compute its rows.")));
    EXPECT_TRUE(texels("b.tif") == texels("whole.tif"));
}

// --- interruptions ---------------------------------------------------------------------------------------------------

class CliRunOnLostDevicesTest : public CliRunOnDevicesTest {
protected:
    static constexpr const char* kSlow = "bilateral a.tif -o b.tif --sigma-space 20 --radius 48 --memory 2MiB --resume";

    /// Writes an image that takes more than a second of processor time to compute.
    void SetUp() override {
        CommandLine::SetUp();
        write("a.tif", Format::r8_unorm, {500, 1000});
    }
    std::size_t lines() const {
        const std::string all = text("b.tif.rows.json");
        return static_cast<std::size_t>(std::ranges::count(all, '\n'));
    }
    void expect_result() const {
        ASSERT_EQ(run("run bilateral a.tif -o whole.tif --sigma-space 20 --radius 48 --device cpu").status, 0);
        EXPECT_TRUE(texels("b.tif") == texels("whole.tif"));
        EXPECT_EQ(files(), 5) << "a.tif, b.tif, whole.tif, out and err";
    }
    static bool has_ended(pid_t process) { return ::kill(process, 0) != 0; }
};

TEST_F(CliRunOnLostDevicesTest, WorkersThatAreKilledAtAnyTimeLoseOnlyRowsThatTheOthersCompute) {
    test::RunningCommand running(folder(), command(kSlow, 3));
    ASSERT_TRUE(test::eventually([&] { return !running.workers().empty(); }));
    ::kill(running.workers().front().process, SIGKILL);  // before it is ready
    ASSERT_TRUE(test::eventually([&] { return lines() > 1; })) << text("err");
    const auto workers = running.workers();
    ASSERT_FALSE(workers.empty());
    ::kill(workers.front().process, SIGKILL);  // while it computes
    EXPECT_EQ(running.end(0), 0) << text("err");
    EXPECT_THAT(text("err"), HasSubstr("was ended by the signal 9 (Killed)"));
    expect_result();
}

// The second worker starts after the first one, which has rows to compute, was stopped.
TEST_F(CliRunOnLostDevicesTest, AWorkerThatIsStoppedIsEndedAndTheOthersComputeItsRows) {
    std::ofstream(at("worker")) << "#!/bin/sh\nmkdir '" << at("first") << "' 2>/dev/null || { n=0; until [ -e '"
                                << at("stopped") << "' ] || [ $((n += 1)) -gt 1500 ]; do sleep 0.02; done; }\nexec '"
                                << (fs::path(kProgram).parent_path() / "texton-commands").string() << "' \"$@\"\n";
    fs::permissions(at("worker"), fs::perms::owner_all);
    test::RunningCommand running(
        folder(), "env TEXTON_WORKER='" + at("worker") + "' " + command(std::string(kSlow) + " --seconds 4", 2));
    ASSERT_TRUE(test::eventually([&] { return lines() > 1; })) << text("err");
    const auto workers = running.workers();
    ASSERT_EQ(workers.size(), 1U) << "the other one is still the script";
    const pid_t stopped = workers.front().process;
    ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
    std::ofstream(at("stopped")) << "";
    EXPECT_EQ(running.end(0), 0) << text("err");
    EXPECT_THAT(text("err"),
                AllOf(HasSubstr("gave no sign of life for 4"), HasSubstr("The other workers compute its rows.")));
    EXPECT_TRUE(has_ended(stopped));
    for (const char* file : {"worker", "first", "stopped"}) fs::remove(at(file));
    expect_result();
}

TEST_F(CliRunOnLostDevicesTest, WithoutWorkersTheErrorSaysWhichRowsAreFinishedAndTheSameCommandContinues) {
    {
        test::RunningCommand running(folder(), command(kSlow, 2));
        ASSERT_TRUE(test::eventually([&] { return lines() > 1; })) << text("err");
        for (const test::SeenProcess& worker : running.workers()) ::kill(worker.process, SIGKILL);
        const int status = running.end(0);
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
    }
    EXPECT_THAT(text("err"), AllOf(HasSubstr("no worker is left: the process that computes its rows was ended by"),
                                   testing::ContainsRegex("[0-9]+ of 1000 rows are finished: [0-9]+ to [0-9]+"),
                                   HasSubstr("The same command continues after the finished rows.")));
    EXPECT_FALSE(fs::exists(at("b.tif")));
    const Ended result = run_on(3, std::string(kSlow) + " --json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_GT(json::parse(result.out)["resumed_rows"], 0U);
    expect_result();
}

TEST_F(CliRunOnLostDevicesTest, ACommandThatIsKilledLeavesNoProcessAndOneDeviceContinues) {
    std::vector<test::SeenProcess> workers;
    {
        test::RunningCommand running(folder(), command(kSlow, 2));
        ASSERT_TRUE(test::eventually([&] { return lines() > 1; })) << text("err");
        workers = running.workers();
        running.end(SIGKILL);
    }
    ASSERT_EQ(workers.size(), 2U);
    for (const test::SeenProcess& worker : workers)
        EXPECT_TRUE(test::eventually([&] { return has_ended(worker.process); }));
    const Ended result = run(std::string("run ") + kSlow + " --json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_GT(json::parse(result.out)["resumed_rows"], 0U);
    expect_result();
}

TEST_F(CliRunOnLostDevicesTest, SignalsEndTheWorkersAndLeaveFilesOnlyIfTheRunCanBeResumed) {
    for (const bool resumes : {true, false}) {
        SCOPED_TRACE(resumes);
        std::string arguments = kSlow;
        if (!resumes) arguments.resize(arguments.rfind(' '));
        test::RunningCommand running(folder(), command(arguments, 2));
        const auto is_working = [&] { return resumes ? lines() > 1 : running.workers().size() == 2; };
        ASSERT_TRUE(test::eventually(is_working)) << text("err");
        const auto workers = running.workers();
        const int status = running.end(resumes ? SIGINT : SIGTERM);
        EXPECT_TRUE(WIFSIGNALED(status)) << status;
        for (const test::SeenProcess& worker : workers)
            EXPECT_TRUE(test::eventually([&] { return has_ended(worker.process); }));
        EXPECT_EQ(fs::exists(at("b.tif.rows")), resumes);
        EXPECT_EQ(files(), resumes ? 5 : 3) << "a.tif, out and err, and the rows";
        fs::remove(at("b.tif.rows"));
        fs::remove(at("b.tif.rows.json"));
    }
}

TEST_F(CliRunOnDevicesTest, ADiskThatFillsUpLeavesTheFinishedRows) {
    write("a.tif", Format::rgba8_unorm, {1536, 1500});
    const std::string arguments = "swizzle a.tif -o b.tif --order bgra --memory 16MiB --resume --in-process";
    const Ended full = shell("trap '' XFSZ; ulimit -f 4096; " + command(arguments, 2));
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.err, AllOf(HasSubstr("b.tif"), HasSubstr("File too large")));
    EXPECT_FALSE(fs::exists(at("b.tif")));
    EXPECT_TRUE(fs::exists(at("b.tif.rows.json")));
    const Ended result = run_on(2, arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    ASSERT_EQ(run("run swizzle a.tif -o c.tif --order bgra --device cpu").status, 0);
    EXPECT_TRUE(texels("b.tif") == texels("c.tif"));
    EXPECT_EQ(files(), 5) << "a, b, c, out and err";
}

}  // namespace
}  // namespace texton
