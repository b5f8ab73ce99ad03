// texton batch, run through a shell.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/device.h>
#include <texton/image.h>

#include "tests/support/command_line.h"
#include "tests/support/reader_processes.h"
#include "tests/support/running_command.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using testing::HasSubstr;
using testing::Not;

class CliBatchTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("blur.json", R"({"steps": [{"kernel": "gaussian", "parameters": {"sigma": 1}}]})");
    }

    void write(const std::string& name, const std::string& contents) const { std::ofstream(at(name)) << contents; }
    void image(const std::string& name, Extent extent = {16, 8}, unsigned seed = 1) const {
        const test::Bytes texels = test::pattern(extent.width * extent.height * 4, seed);
        write_image(at(name), Format::rgba8_unorm, extent, texels);
    }
    void images(int count, Extent extent = {16, 8}) const {
        for (int i = 0; i < count; ++i) image("in_" + std::to_string(i) + ".png", extent, static_cast<unsigned>(i));
    }

    Ended batch(const std::string& arguments) const { return run("batch --device cpu " + arguments); }
    // Returns the lines that --json prints.
    std::vector<json> lines(const std::string& arguments) const {
        std::vector<json> all;
        std::istringstream out(batch("--json " + arguments).out);
        for (std::string line; std::getline(out, line);) all.push_back(json::parse(line));
        return all;
    }
    json summary(const std::string& arguments) const {
        const std::vector<json> all = lines(arguments);
        return all.empty() ? json() : all.back();
    }

    // Counts the files in a folder, without the journal.
    std::size_t files_in(const std::string& name) const {
        std::size_t files = 0;
        for (const auto& entry : fs::directory_iterator(at(name))) files += entry.is_regular_file() ? 1 : 0;
        return files;
    }
};

// A batch in the background.
class RunningBatch : public test::RunningCommand {
public:
    RunningBatch(const fs::path& folder, const std::string& program, const std::string& arguments,
                 const std::string& device = "cpu")
        : RunningCommand(folder, "'" + program + "' batch --device " + device + " " + arguments) {}
};

// --- what is computed ---

TEST_F(CliBatchTest, EachInputHasTheOutputOfRun) {
    images(5);
    const Ended result = batch("blur.json in_*.png -o 'made/{stem}.png'");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("5 done, 0 done before, 0 failed"));
    EXPECT_EQ(files_in("made"), 5u);
    ASSERT_EQ(run("run gaussian in_3.png -o run.png --sigma 1 --device cpu").status, 0);
    EXPECT_EQ(text("made/in_3.png"), text("run.png"));
}

TEST_F(CliBatchTest, ASecondRunComputesWhatIsMissingChangedOrFailed) {
    images(6);
    write("in_6.png", "no image");
    const std::string command = "blur.json in_*.png -o 'made/{stem}.png'";
    EXPECT_EQ(summary(command)["failed"], 1);
    EXPECT_EQ(summary(command)["skipped"], 6);
    fs::remove(at("made/in_1.png"));
    image("in_2.png", {32, 8});
    image("in_6.png");
    std::map<std::string, std::string> reasons;
    for (const json& line : lines(command + " --dry-run"))
        reasons[fs::path(line["input"].get<std::string>()).filename()] = line["reason"];
    EXPECT_EQ(reasons, (std::map<std::string, std::string>{{"in_0.png", "done"},
                                                           {"in_1.png", "missing"},
                                                           {"in_2.png", "changed"},
                                                           {"in_3.png", "done"},
                                                           {"in_4.png", "done"},
                                                           {"in_5.png", "done"},
                                                           {"in_6.png", "changed"}}));
    const json result = summary(command);
    EXPECT_EQ(result["done"], 3);
    EXPECT_EQ(result["skipped"], 4);
    EXPECT_EQ(files_in("made"), 7u);
}

TEST_F(CliBatchTest, WithChecksumsATouchedInputIsNotComputedAgain) {
    images(2);
    const std::string command = "blur.json in_*.png -o 'made/{stem}.png'";
    EXPECT_EQ(summary(command + " --checksum")["done"], 2);
    fs::last_write_time(at("in_0.png"), fs::file_time_type::clock::now() + std::chrono::seconds(9));
    EXPECT_EQ(summary(command + " --checksum")["done"], 0);
    EXPECT_EQ(summary(command)["done"], 1);
}

TEST_F(CliBatchTest, StepsWriteTheirImagesAndReadTheirFiles) {
    images(2);
    image("mask.png");
    write("two.json", R"({"steps": [{"kernel": "gaussian", "out": "made/{stem}_blurred.png"},
                                    {"kernel": "blend", "files": ["mask.png"]}]})");
    const Ended result = batch("two.json in_0.png in_1.png -o 'made/{stem}.tif'");
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(files_in("made"), 4u);
    ASSERT_EQ(run("run gaussian in_1.png -o a.png --then blend mask.png -o b.tif --device cpu").status, 0);
    EXPECT_EQ(run("compare a.png made/in_1_blurred.png").status, 0);
    EXPECT_EQ(run("compare b.tif made/in_1.tif").status, 0);
}

TEST_F(CliBatchTest, InputsAreFilesOfFoldersPatternsAndLists) {
    fs::create_directories(at("photos/a/b"));
    image("photos/x.png");
    image("photos/a/x.png");
    image("photos/a/b/y.tif");
    write("photos/notes.txt", "no image");
    EXPECT_EQ(batch("blur.json photos -o 'made/{folder}/{name}.png'").status, 0);
    EXPECT_TRUE(fs::exists(at("made/x.png.png")));
    EXPECT_TRUE(fs::exists(at("made/a/x.png.png")));
    EXPECT_TRUE(fs::exists(at("made/a/b/y.tif.png")));
    EXPECT_EQ(shell("find photos -name 'x.png' | '" + kProgram +
                    "' batch blur.json --list - -o 'listed/{number}.png' --device cpu")
                  .status,
              0);
    EXPECT_EQ(files_in("listed"), 2u);
    write("list", "photos/x.png\r\n\nphotos/a/b/y.tif\n");
    EXPECT_EQ(batch("blur.json --list list -o 'lines/{stem}.{extension}'").status, 0);
    EXPECT_TRUE(fs::exists(at("lines/y.tif")));
}

TEST_F(CliBatchTest, NumberedFilesAreInputsInTheOrderOfTheirNumbers) {
    for (const char* name : {"frame_09.png", "frame_10.png", "frame_11.png"}) image(name);
    EXPECT_EQ(batch("blur.json frame_%02d.png -o 'made/{number}_{stem}.png'").status, 0);
    for (const char* name : {"made/0_frame_09.png", "made/1_frame_10.png", "made/2_frame_11.png"})
        EXPECT_TRUE(fs::exists(at(name))) << name;
    fs::remove(at("frame_10.png"));
    const Ended gap = batch("blur.json frame_%02d.png -o 'more/{stem}.png'");
    EXPECT_EQ(gap.status, 2);
    EXPECT_THAT(gap.err, HasSubstr("frame_10.png is missing"));
}

TEST_F(CliBatchTest, NamesThatAreNotUtf8AreRemembered) {
    image("in.png");
    fs::rename(at("in.png"), at("a\xff.png"));
    const std::string command = "blur.json *.png -o 'made/{stem}.png'";
    EXPECT_EQ(summary(command)["done"], 1);
    EXPECT_TRUE(fs::exists(at("made/a\xff.png")));
    EXPECT_EQ(summary(command)["skipped"], 1);
}

TEST_F(CliBatchTest, ShardsDivideTheInputs) {
    images(40);
    std::multiset<std::string> seen;
    std::size_t largest = 0;
    for (int i = 0; i < 4; ++i) {
        const auto shard =
            lines("blur.json in_*.png -o 'made/{stem}.png' --dry-run --shard " + std::to_string(i) + "/4");
        for (const json& line : shard) seen.insert(line["input"]);
        largest = std::max(largest, shard.size());
    }
    EXPECT_EQ(seen.size(), 40u);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 40u);
    EXPECT_LT(largest, 20u);
    const std::string command = "blur.json in_*.png -o 'made/{stem}.png' ";
    std::size_t done = 0;
    for (const char* shard : {"--shard 0/2", "--shard 1/2"})
        done += summary(command + shard)["done"].get<std::size_t>();
    EXPECT_EQ(done, 40u);
    EXPECT_EQ(summary(command)["skipped"], 40) << "the journals of all shards are read";
}

TEST_F(CliBatchTest, GnuParallelRunsTheShards) {
    images(12);
    ASSERT_EQ(shell("parallel --version").status, 0) << "install the package parallel";
    const Ended result = shell("parallel -j 2 \"'" + kProgram +
                               "'\" batch blur.json in_*.png -o \"'made/{stem}.png'\" --device cpu"
                               " --workers 1 --shard {}/3 ::: 0 1 2");
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(files_in("made"), 12u);
    EXPECT_EQ(summary("blur.json in_*.png -o 'made/{stem}.png'")["skipped"], 12);
}

TEST_F(CliBatchTest, WorkersAreDistributedOverAllDevicesOfAKind) {
    images(24, {640, 640});
    const Ended result = shell("TEXTON_CPU_DEVICES=3 '" + kProgram +
                               "' batch blur.json in_*.png -o 'made/{stem}.png' --device cpu:all --workers 3 --json");
    EXPECT_EQ(result.status, 0) << result.err;
    std::set<std::string> devices;
    std::istringstream out(result.out);
    for (std::string line; std::getline(out, line);) devices.insert(json::parse(line).value("device", "none"));
    EXPECT_THAT(devices, testing::ElementsAre("cpu:0", "cpu:1", "cpu:2", "none")) << "the summary names no device";
    ASSERT_EQ(run("run gaussian in_3.png -o run.png --sigma 1 --device cpu").status, 0);
    EXPECT_EQ(text("made/in_3.png"), text("run.png"));
}

// Runs the batch in a namespace whose /dev contains the file of an NVIDIA driver.
TEST_F(CliBatchTest, ADriverWhoseGpusCannotBeUsedLeavesOneWorkerForEachProcessor) {
    if (shell("unshare --map-root-user --mount true").status != 0) GTEST_SKIP() << "namespaces cannot be created here";
    images(4);
    write("worker", "#!/bin/sh\necho started >>'" + at("starts") + "'\nexec '" +
                        (fs::path(kProgram).parent_path() / "texton-commands").string() + "' \"$@\"\n");
    fs::permissions(at("worker"), fs::perms::owner_all);
    const std::string command = "TEXTON_WORKER='" + at("worker") + "' '" + kProgram +
                                "' batch blur.json in_*.png -o made/{stem}.png --workers 2";
    // A build without CUDA finds no GPU, even if CUDA would.
    const bool has_cuda = Device::why_no_cuda() != "Texton was built without CUDA";
    const Ended result = shell(
        "unshare --map-root-user --mount sh -c \"mkdir dev && touch dev/null dev/nvidiactl && "
        "mount --bind /dev/null dev/null && mount --rbind dev /dev && test -e /dev/nvidiactl && " +
        std::string(has_cuda ? "CUDA_VISIBLE_DEVICES= " : "") + command + "\"");
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(files_in("made"), 4u);
    EXPECT_EQ(text("starts"), "started\nstarted\n");
}

TEST_F(CliBatchTest, ABatchOnAllDevicesOfAKindNeedsOne) {
    images(1);
    const std::string command = "'" + kProgram + "' batch blur.json in_*.png -o 'made/{stem}.png' --device ";
    const Ended nine = shell("TEXTON_CPU_DEVICES=9 " + command + "cpu:all");
    EXPECT_EQ(nine.status, 2);
    EXPECT_THAT(nine.err, HasSubstr("TEXTON_CPU_DEVICES is '9'"));
    if (const std::string why = Device::why_no_cuda(); !why.empty()) {
        const Ended none = shell(command + "cuda:all");
        EXPECT_EQ(none.status, 2);
        EXPECT_THAT(none.err, HasSubstr("all CUDA devices were requested, but there is none: " + why));
    }
    EXPECT_FALSE(fs::exists(at("made/in_0.png")));
}

TEST_F(CliBatchTest, AnImageWithoutPlanesDoesNotGetThoseOfTheImageBefore) {
    fs::copy_file(test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/nv12_128x72.yuv",
                  at("nv12_128x72.yuv"));
    ASSERT_EQ(run("run to_rgb nv12_128x72.yuv -o rgb.png --save-pipeline rgb.json --device cpu").status, 0);
    write_image(at("luma.png"), Format::r8_unorm, {128, 72}, test::pattern(128 * 72, 1));
    const auto all = lines("rgb.json nv12_128x72.yuv luma.png -o 'made/{stem}.png' --workers 1");
    EXPECT_EQ(all.back()["done"], 1);
    EXPECT_EQ(all.back()["failed"], 1);
    EXPECT_TRUE(fs::exists(at("made/nv12_128x72.png")));
    EXPECT_FALSE(fs::exists(at("made/luma.png")));
}

// --- failures ---

TEST_F(CliBatchTest, AFailureConcernsOneInputAndIsNamed) {
    images(3);
    write("damaged.png", "no image");
    const Ended result = batch("blur.json in_0.png damaged.png in_1.png in_2.png -o 'made/{stem}.png'");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr("failed: "));
    EXPECT_THAT(result.out, HasSubstr("damaged.png"));
    EXPECT_THAT(result.out, HasSubstr("3 done, 0 done before, 1 failed"));
    EXPECT_EQ(files_in("made"), 3u);
}

TEST_F(CliBatchTest, ACrashOfADecoderFailsOneInput) {
    images(3);
    fs::copy_file(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES) + "/damaged/raw_0.iff",
                  at("crash.iff"));
    const auto all = lines("blur.json in_0.png crash.iff in_1.png in_2.png -o 'made/{stem}.png' --workers 1");
    EXPECT_EQ(all.back()["done"], 3);
    EXPECT_EQ(all.back()["failed"], 1);
    const auto failed = std::ranges::find_if(all, [](const json& line) { return line["event"] == "failed"; });
    ASSERT_NE(failed, all.end());
    EXPECT_THAT((*failed)["cause"], HasSubstr("was ended by the signal 6"));
    EXPECT_EQ((*failed)["attempts"], 1);
}

TEST_F(CliBatchTest, AnInputThatTakesTooLongFails) {
    image("in.png", {1600, 1600});
    const json failed = lines("blur.json in.png -o 'made/{stem}.png' --seconds 0.0001").front();
    EXPECT_EQ(failed["event"], "failed");
    EXPECT_THAT(failed["cause"], HasSubstr("took more than 0.0001 seconds"));
}

TEST_F(CliBatchTest, WritingIsTriedAgain) {
    image("in.png");
    write("made", "a file, not a folder");
    const auto failed = [&](const std::string& output) {
        const json line =
            lines("blur.json in.png -o '" + output + "' --journal journal_" + output.substr(0, 4) + " --attempts 2")
                .front();
        EXPECT_EQ(line["event"], "failed");
        return line["attempts"].get<int>();
    };
    EXPECT_EQ(failed("made/{stem}.png"), 2) << "the system fails";
    EXPECT_EQ(failed("none/{stem}.exr"), 1) << "EXR holds no sRGB texels of 8 bits, now or later";
}

TEST_F(CliBatchTest, TheBatchEndsEarlyAfterTooManyFailures) {
    images(2);
    for (int i = 0; i < 8; ++i) write("bad_" + std::to_string(i) + ".png", "no image");
    const std::string command = "blur.json bad_*.png in_*.png -o 'made/{stem}.png' --workers 1 --json ";
    const Ended result = batch(command + "--max-failures 2");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr(R"("failed":3,"left":7)"));
    EXPECT_THAT(batch(command + "--max-failures 10%").out, HasSubstr(R"("failed":2,"left":8)"));
    EXPECT_THAT(batch(command).out, HasSubstr(R"("failed":8,"left":0)"));
}

// --- workers that compute several images at the same time ---

// Sets a variable of the environment while it exists.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value, 1);
    }
    ~Variable() {
        if (before_) {
            ::setenv(name_, before_->c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

class CliBatchDeviceTest : public CliBatchTest {
    const Variable threads_{"TEXTON_CPU_THREADS", "1"};
    const Variable devices_{"TEXTON_CPU_DEVICES", "2"};
};

TEST_F(CliBatchDeviceTest, OneProcessOfEachDeviceComputesAllImages) {
    images(30, {640, 640});
    RunningBatch running(folder(), kProgram, "blur.json in_*.png -o 'made/{stem}.png' --workers 4 --json", "cpu:all");
    ASSERT_TRUE(test::eventually([&] { return running.workers().size() == 2; }));
    ASSERT_TRUE(test::eventually([&] { return fs::exists(at("made/in_0.png")); }));
    EXPECT_LE(running.workers().size(), 2u);
    EXPECT_EQ(running.end(0), 0) << text("out") << text("err");
    EXPECT_EQ(files_in("made"), 30u);
    EXPECT_THAT(text("out"), testing::AllOf(HasSubstr(R"("device":"cpu:0")"), HasSubstr(R"("device":"cpu:1")")));
    ASSERT_EQ(run("run gaussian in_3.png -o run.png --sigma 1 --device cpu").status, 0);
    EXPECT_EQ(text("made/in_3.png"), text("run.png"));
}

TEST_F(CliBatchDeviceTest, ImagesOfDifferentSizesAndKindsFollowEachOther) {
    images(3, {64, 32});
    image("small.png", {8, 8});
    image("wide.tif", {640, 2});
    image("same.png", {64, 32});
    EXPECT_EQ(summary("blur.json in_*.png small.png wide.tif same.png -o 'made/{stem}.tif' --workers 1")["done"], 6);
    for (const char* name : {"in_2.png", "small.png", "wide.tif", "same.png"}) {
        ASSERT_EQ(run(std::string("run gaussian ") + name + " -o run.tif --sigma 1 --device cpu").status, 0);
        EXPECT_EQ(run("compare run.tif made/" + fs::path(name).stem().string() + ".tif").status, 0) << name;
    }
}

TEST_F(CliBatchDeviceTest, ACrashFailsOnlyTheImageThatCausesIt) {
    images(6);
    fs::copy_file(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES) + "/damaged/raw_0.iff",
                  at("crash.iff"));
    const auto all = lines("blur.json in_0.png crash.iff in_[1-5].png -o 'made/{stem}.png' --workers 2");
    EXPECT_EQ(all.back()["done"], 6);
    EXPECT_EQ(all.back()["failed"], 1);
    for (const json& line : all) {
        if (line["event"] == "summary") continue;
        EXPECT_EQ(line["attempts"], 1) << line;
        if (line["event"] == "failed") {
            EXPECT_THAT(line["cause"], HasSubstr("was ended by the signal 6"));
        }
    }
}

TEST_F(CliBatchDeviceTest, EachImageThatTakesTooLongFails) {
    images(3, {1600, 1600});
    const std::vector<json> all = lines("blur.json in_*.png -o 'made/{stem}.png' --workers 2 --seconds 0.0001");
    ASSERT_EQ(all.size(), 4u);
    for (const json& line : all) {
        if (line["event"] == "failed") {
            EXPECT_THAT(line["cause"], HasSubstr("took more than 0.0001 seconds"));
        }
    }
    EXPECT_EQ(all.back()["failed"], 3);
}

TEST_F(CliBatchDeviceTest, AWorkerThatIsKilledCostsNoImage) {
    images(20, {640, 640});
    RunningBatch running(folder(), kProgram, "blur.json in_*.png -o 'made/{stem}.png' --workers 2 --json");
    ASSERT_TRUE(test::eventually([&] { return fs::exists(at("made/in_0.png")); }));
    const auto workers = running.workers();
    ASSERT_EQ(workers.size(), 1u);
    ::kill(workers.front().process, SIGKILL);
    EXPECT_EQ(running.end(0), 0) << text("out") << text("err");
    EXPECT_THAT(text("out"), HasSubstr(R"("done":20,"skipped":0,"failed":0,"left":0)"));
    EXPECT_EQ(files_in("made"), 20u) << "a temporary file is left";
}

TEST_F(CliBatchDeviceTest, ADeviceThatDoesNotExistEndsTheBatch) {
    images(3);
    const Ended result = run("batch blur.json in_*.png -o 'none/{stem}.png' --device cpu:9");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("no image can be computed: 'cpu:9': device 9 was requested"));
    EXPECT_FALSE(fs::exists(at("none/in_0.png")));
}

// --- interruptions ---

TEST_F(CliBatchTest, AWorkerThatIsKilledCostsNoImage) {
    images(20, {640, 640});
    RunningBatch running(folder(), kProgram, "blur.json in_*.png -o 'made/{stem}.png' --workers 2 --json");
    ASSERT_TRUE(test::eventually([&] { return fs::exists(at("made/in_0.png")); }));
    const auto workers = running.workers();
    ASSERT_FALSE(workers.empty());
    for (const test::SeenProcess& worker : workers) ::kill(worker.process, SIGKILL);
    EXPECT_EQ(running.end(0), 0) << text("out") << text("err");
    EXPECT_THAT(text("out"), HasSubstr(R"("done":20,"skipped":0,"failed":0,"left":0)"));
    EXPECT_EQ(files_in("made"), 20u) << "a temporary file is left";
}

TEST_F(CliBatchTest, AnInterruptedBatchEndsSoonAndIsContinued) {
    for (const int signal : {SIGINT, SIGTERM}) {
        images(20, {640, 640});
        fs::remove_all(at("made"));
        const std::string command = "blur.json in_*.png -o 'made/{stem}.png' --workers 2 --json";
        RunningBatch running(folder(), kProgram, command);
        ASSERT_TRUE(test::eventually([&] { return fs::exists(at("made/in_0.png")); }));
        const auto begin = std::chrono::steady_clock::now();
        const int status = running.end(signal);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        const json first = json::parse(text("out").substr(text("out").rfind('{')));
        EXPECT_GT(first["left"], 0);
        EXPECT_EQ(files_in("made"), first["done"]) << "a temporary file is left";
        const json second = summary(command);
        EXPECT_EQ(second["skipped"], first["done"]);
        EXPECT_EQ(second["done"], first["left"]);
    }
}

TEST_F(CliBatchTest, ABatchThatIsKilledIsContinued) {
    images(20, {640, 640});
    const std::string command = "blur.json in_*.png -o 'made/{stem}.png' --workers 2";
    {
        RunningBatch running(folder(), kProgram, command);
        ASSERT_TRUE(test::eventually([&] { return fs::exists(at("made/in_0.png")); }));
        (void)running.end(SIGKILL);
    }
    const json result = summary(command);
    EXPECT_EQ(result["done"].get<int>() + result["skipped"].get<int>(), 20);
    EXPECT_EQ(files_in("made"), 20u) << "a temporary file is left";
}

TEST_F(CliBatchTest, ALineOfTheJournalThatIsIncompleteIsIgnored) {
    images(2);
    const std::string command = "blur.json in_*.png -o 'made/{stem}.png'";
    EXPECT_EQ(summary(command)["done"], 2);
    const fs::path journal = at("made/.texton-batch/0-of-1.jsonl");
    fs::resize_file(journal, fs::file_size(journal) - 20);
    EXPECT_EQ(summary(command)["done"], 1);
    EXPECT_EQ(summary(command)["skipped"], 2);
    fs::resize_file(journal, 5);
    EXPECT_EQ(summary(command)["done"], 2) << "not even the first line is complete";
}

TEST_F(CliBatchTest, ProgressAndFailuresAreShownInText) {
    images(2);
    write("bad.png", "no image");
    const Ended result = batch("blur.json in_*.png bad.png -o 'made/{stem}.png' --progress");
    EXPECT_THAT(result.err, HasSubstr("computing:   0 %, 0 of 3 images"));
    EXPECT_THAT(result.out, HasSubstr("failed: "));
}

// --- Slurm ---

TEST_F(CliBatchTest, TheTasksOfASlurmScriptComputeAllInputs) {
    images(6);
    write("it's.json", text("blur.json"));
    ASSERT_EQ(batch("\"it's.json\" in_*.png -o 'made/{stem}.png' --slurm job.sh --tasks 3").status, 0);
    EXPECT_FALSE(fs::exists(at("made"))) << "writing the script computes nothing";
    EXPECT_THAT(text("job.sh"), HasSubstr("#SBATCH --array=0-2\n"));
    EXPECT_THAT(text("job.sh"), Not(HasSubstr("--gpus"))) << "the tasks compute on the CPU";
    for (const char* task : {"0", "1", "2"}) {
        const Ended result = shell(std::string("cd / && SLURM_ARRAY_TASK_ID=") + task + " " + at("job.sh"));
        EXPECT_EQ(result.status, 0) << result.err;
    }
    EXPECT_EQ(files_in("made"), 6u);
    EXPECT_EQ(batch("blur.json in_*.png -o 'made/{stem}.png' --slurm job.sh --shard 0/2").status, 2);
}

TEST_F(CliBatchTest, ATaskOfASlurmScriptHasOneGpu) {
    images(1);
    ASSERT_EQ(run("batch blur.json in_0.png -o 'made/{stem}.png' --slurm job.sh").status, 0);
    EXPECT_THAT(text("job.sh"), HasSubstr("#SBATCH --ntasks=1\n#SBATCH --gres=gpu:1\n"));
}

// tests/long/slurm runs such scripts with Slurm.
TEST_F(CliBatchTest, ASlurmTaskThatIsEndedIsQueuedAgainUnlessItWasCanceled) {
    images(20, {640, 640});
    const auto queued_after_sigterm = [&](const std::string& state) {
        fs::remove_all(at("made"));
        write("queued", "");
        EXPECT_EQ(batch("blur.json in_*.png -o 'made/{stem}.png' --slurm=job.sh --tasks=1").status, 0);
        fs::create_directories(at("bin"));
        write("bin/scontrol", "#!/bin/sh\necho \"$@\" >'" + at("queued") + "'\n");
        write("bin/squeue", "#!/bin/sh\necho " + state + "\n");
        for (const char* program : {"bin/scontrol", "bin/squeue"}) fs::permissions(at(program), fs::perms::owner_all);
        const Ended result = shell("export PATH='" + at("bin") +
                                   "':$PATH SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0; ./job.sh & job=$!; "
                                   "while [ ! -e made/in_0.png ]; do sleep 0.05; done; kill -TERM $job; wait $job");
        EXPECT_EQ(result.status, state == "RUNNING" ? 0 : 128 + SIGTERM) << result.err;
        EXPECT_LT(files_in("made"), 20u);
        return text("queued");
    };
    EXPECT_EQ(queued_after_sigterm("COMPLETING"), "");
    EXPECT_EQ(queued_after_sigterm("RUNNING"), "requeue 7_0\n");
    EXPECT_EQ(shell("SLURM_ARRAY_TASK_ID=0 ./job.sh").status, 0);
    EXPECT_EQ(files_in("made"), 20u);
}

// --- MPI, which tests/long/mpi runs ---

TEST_F(CliBatchTest, WithoutMpiSeveralRanksAreRefusedUnlessTheyHaveShards) {
    if (TEXTON_TEST_MPI) GTEST_SKIP() << "this build has MPI";
    images(1);
    const std::string command = "'" + kProgram + "' batch blur.json in_0.png -o 'made/{stem}.png' --device cpu ";
    const Ended result = shell("OMPI_COMM_WORLD_SIZE=4 " + command);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("MPI started it 4 times, but Texton was built without MPI"));
    EXPECT_FALSE(fs::exists(at("made")));
    EXPECT_EQ(shell("OMPI_COMM_WORLD_SIZE=1 " + command + "--dry-run").status, 0);
    EXPECT_EQ(shell("OMPI_COMM_WORLD_SIZE=4 " + command + "--shard 0/1").status, 0);
    EXPECT_TRUE(fs::exists(at("made/in_0.png")));
}

// --- wrong use ---

TEST_F(CliBatchTest, WrongUsesAreRefusedBeforeAnythingIsWritten) {
    images(2);
    fs::create_directory(at("a"));
    image("a/in_0.png");
    write("unknown.json", R"({"steps": [{"kernel": "blurr"}]})");
    write("range.json", R"({"steps": [{"kernel": "gaussian", "parameters": {"sigma": -1}}]})");
    const auto refused = [&](const std::string& arguments, const std::string& problem) {
        const Ended result = batch(arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.err, HasSubstr(problem)) << arguments;
        EXPECT_FALSE(fs::exists(at("made"))) << arguments;
    };
    refused("unknown.json in_0.png -o 'made/{stem}.png'", "blurr");
    refused("range.json in_0.png -o 'made/{stem}.png'", "sigma");
    refused("none.json in_0.png -o 'made/{stem}.png'", "none.json cannot be read");
    refused("blur.json -o 'made/{stem}.png'", "no input was named");
    refused("blur.json none.png -o 'made/{stem}.png'", "none.png does not exist");
    refused("blur.json 'none*.png' -o 'made/{stem}.png'", "no file matches none*.png");
    refused("blur.json in_0.png", "no output was named");
    refused("blur.json in_0.png a/in_0.png -o 'made/{stem}.png'", "have the same output");
    refused("blur.json in_0.png ./in_0.png -o 'made/{number}.png'", "is named twice");
    refused("blur.json in_0.png in_1.png -o 'made/a.png'", "Use {stem}, {folder}, {name} or {number}");
    refused("blur.json in_0.png -o made/",
            "the output made/ is a folder. Name the files in it, for example -o 'made/{stem}.png'");
    refused("blur.json in_0.png -o 'made/{stem}.xyz'", ".xyz");
    refused("blur.json in_0.png -o 'made/{steam}.png'", "contains {steam}");
    refused("blur.json in_0.png -o 'made/{stem.png'", "single brace");
    refused("blur.json in_0.png -o '{name}'", "is an input, but also the output");
    refused("blur.json a -o 'a/made/{stem}.png'", "are inside the folder a");
    refused("blur.json in_0.png -o 'made/{stem}.png' --shard 4/4", "the shard is 4 of 4");
    refused("blur.json in_0.png -o 'made/{stem}.png' --shard a", "--shard is 'a'");
    refused("blur.json in_0.png -o 'made/{stem}.png' --max-failures 101%", "--max-failures is '101%'");
    refused("blur.json in_0.png -o 'made/{stem}.png' --list none", "none cannot be read");
    EXPECT_THAT(run("run gaussian in_0.png in_1.png -o a.png").err, HasSubstr("`texton batch` applies kernels"));
    const Ended device = run("batch blur.json in_0.png -o 'none/{stem}.png' --device cpu:9");
    EXPECT_EQ(device.status, 2);
    EXPECT_THAT(device.err, HasSubstr("no image can be computed"));
}

TEST_F(CliBatchTest, TheJournalOfAnotherPipelineIsRefused) {
    images(1);
    EXPECT_EQ(batch("blur.json in_0.png -o 'made/{stem}.png'").status, 0);
    write("blur.json", R"({"steps": [{"kernel": "gaussian", "parameters": {"sigma": 2}}]})");
    const Ended result = batch("blur.json in_0.png -o 'made/{stem}.png'");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("is the journal of another pipeline, other outputs"));
    EXPECT_EQ(batch("blur.json in_0.png -o 'made/{stem}.png' --journal other").status, 0);
}

}  // namespace
}  // namespace texton
