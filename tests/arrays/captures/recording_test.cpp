// Recordings of the texture unit: compares the model with them, and tests the file format.
#include <texton/recording.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/temporary_files.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

fs::path recordings() { return test::configured_path("TEXTON_TEST_CAPTURES", TEXTON_TEST_CAPTURES); }
fs::path recording_named(const std::string& name) { return recordings() / (name + ".cap"); }

std::vector<std::string> recording_names() {
    std::vector<std::string> names;
    std::error_code none;  // without the folder there are no tests, which GoogleTest reports as a failure
    for (const auto& entry : fs::directory_iterator(recordings(), none)) {
        if (entry.path().extension() == ".cap") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::size_t equal_texels(const std::vector<Texel>& a, const std::vector<Texel>& b) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
    return equal;
}

class RecordingTest : public testing::TestWithParam<std::string> {};

TEST_P(RecordingTest, TheModelReproducesTheRecordingBitForBit) {
    const Recording recording = read_recording(recording_named(GetParam()));
    ASSERT_FALSE(recording.points.empty());
    EXPECT_EQ(equal_texels(replay(recording), recording.results), recording.points.size());
}

INSTANTIATE_TEST_SUITE_P(H200, RecordingTest, testing::ValuesIn(recording_names()),
                         [](const auto& info) { return info.param; });

class RecordingDeviceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, RecordingDeviceTest, test::every_device(), test::device_label);

// Compares sample() of a texture with the recordings. The CPU device must return the same as the model, and a GPU with
// the compute capability of the recordings must return the recorded values.
TEST_P(RecordingDeviceTest, TheDeviceReproducesTheRecordings) {
    if (!on_cpu() && (device().properties().compute_major != 9 || device().properties().compute_minor != 0))
        GTEST_SKIP() << "needs a GPU of compute capability 9.0, on which the recordings were made";
    ASSERT_FALSE(recording_names().empty()) << recordings();
    for (const std::string& name : recording_names()) {
        const Recording recording = read_recording(recording_named(name));
        EXPECT_EQ(equal_texels(replay(recording, device()), on_cpu() ? replay(recording) : recording.results),
                  recording.points.size())
            << name;
    }
}

TEST(RecordingFileTest, WrittenFilesAreReadBackUnchanged) {
    const fs::path path = test::temporary_files() / ("texton_written_" + std::to_string(::getpid()) + ".cap");
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Recording recording = random_recording(seed, {.points = 20});
        recording.results = replay(recording);
        write_recording(path, recording);
        const Recording read = read_recording(path);
        ASSERT_EQ(read.array, recording.array) << seed;
        ASSERT_EQ(read.source, recording.source) << seed;
        ASSERT_EQ(read.sampler, recording.sampler) << seed;
        ASSERT_EQ(read.operation, recording.operation) << seed;
        ASSERT_EQ(read.component, recording.component) << seed;
        ASSERT_EQ(read.levels, recording.levels) << seed;
        ASSERT_EQ(read.results, recording.results) << seed;
        ASSERT_EQ(replay(read), recording.results) << seed;  // also with NaN coordinates
    }
    fs::remove(path);
}

TEST(RecordingFileTest, AFailedWriteLeavesNoFileBehind) {
    const fs::path folder = fs::path(testing::TempDir()) / "texton_no_such_folder";
    fs::remove_all(folder);
    const Recording recording = random_recording(1, {.points = 1});
    test::expect_error([&] { write_recording(folder / "a.cap", recording); }, ErrorCode::io, "texton::Recording",
                       {"a.cap"});
    fs::create_directories(folder / "b.cap");  // a folder with the name of the file
    test::expect_error([&] { write_recording(folder / "b.cap", recording); }, ErrorCode::io, "texton::Recording",
                       {"b.cap"});
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    fs::remove_all(folder);
}

TEST(RecordingFileTest, RecordingsThatNoFileCanContainAreRefused) {
    const fs::path path = fs::path(testing::TempDir()) / "texton_refused.cap";
    fs::remove(path);
    const auto refused = [&](const Recording& recording, const char* fragment) {
        test::expect_error([&] { write_recording(path, recording); }, ErrorCode::bad_argument, "texton::Recording",
                           {path.filename().string(), fragment});
        EXPECT_FALSE(fs::exists(path));
    };
    Recording row;
    row.array.kind = ArrayKind::array_1d;
    row.source = TextureSource::linear;
    refused(row, "one row of memory");
    Recording texels;
    texels.operation = FetchOperation::texel;
    refused(texels, "single texels");
    Recording planes;
    planes.array.format = Format::nv12;
    refused(planes, "planar");
}

TEST(RecordingFileTest, RecordingsWithMissingTexelsOrResultsAreRefused) {
    const fs::path path = fs::path(testing::TempDir()) / "texton_refused.cap";
    fs::remove(path);
    const auto refused = [&](const char* fragment, const std::function<void(Recording&)>& spoil) {
        Recording recording = random_recording(1, {.kind = ArrayKind::array_2d, .points = 4});
        spoil(recording);
        using test::expect_error;
        expect_error([&] { (void)replay(recording); }, ErrorCode::bad_argument, "texton::replay", {fragment});
        expect_error([&] { (void)replay(recording, Device::cpu()); }, ErrorCode::bad_argument, "texton::replay",
                     {fragment});
        expect_error([&] { write_recording(path, recording); }, ErrorCode::bad_argument, "texton::Recording",
                     {fragment});
        EXPECT_FALSE(fs::exists(path));
    };
    refused("levels", [](Recording& recording) { recording.levels.pop_back(); });
    refused("levels", [](Recording& recording) { recording.array.levels = 0; });
    refused("levels", [](Recording& recording) { recording.array.levels = 1000; });
    refused("bytes", [](Recording& recording) { recording.levels.front().pop_back(); });
    refused("bytes", [](Recording& recording) { recording.array.extent.width *= 2; });
    refused("1 results for 4 points", [](Recording& recording) { recording.results.resize(1); });
}

TEST(RecordingFileTest, ADamagedFileIsRefusedAndNamed) {
    std::ifstream file(recording_named("lod_from_grad"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const fs::path damaged = fs::path(testing::TempDir()) / "texton_damaged.cap";
    const auto refused = [&](const std::string& contents) {
        std::ofstream(damaged, std::ios::binary | std::ios::trunc) << contents;
        test::expect_error([&] { (void)read_recording(damaged); }, ErrorCode::io, "texton::Recording",
                           {damaged.string()});
    };
    refused("");
    refused(bytes.substr(0, 4));
    refused(bytes.substr(0, 40));
    refused(bytes.substr(0, bytes.size() - 1));
    refused(bytes + "x");
    refused(std::string(8, '\xff') + bytes.substr(8));
    // Invalid fields. The replacement keeps the length of the header.
    const auto with = [&](std::string from, std::string to) {
        std::string changed = bytes;
        const auto at = changed.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        refused(changed.replace(at, to.size(), to));
    };
    with("\"levels\":7", "\"levels\":9");
    with("\"kind\":\"2d\"", "\"kind\":\"5d\"");
    with("\"op\":\"grad\"", "\"op\":\"grid\"");
    with("\"filter\":1", "\"filter\":7");
    with("\"extent\":[64", "\"extent\":[99");
    with("\"points\":", "\"points\":9");
    with("\"bits\":32", "\"bits\":31");
    fs::remove(damaged);
    test::expect_error([&] { (void)read_recording(damaged); }, ErrorCode::io, "texton::Recording", {damaged.string()});
    test::expect_error([&] { (void)read_recording(testing::TempDir()); }, ErrorCode::io, "texton::Recording",
                       {"folder"});
}

// Reads each file, and replays it if it can be read.
class RecordingDamageTest : public testing::Test {
protected:
    ~RecordingDamageTest() override { fs::remove(path_); }

    // Returns a short recording.
    std::string good(Format format, ArrayKind kind) const {
        Recording recording = random_recording(3, {.kind = kind, .format = format, .points = 4});
        recording.results = replay(recording);
        write_recording(path_, recording);
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    bool holds(const std::string& bytes) const {
        fs::remove(path_);
        std::ofstream(path_, std::ios::binary) << bytes;
        try {
            const Recording recording = read_recording(path_);
            EXPECT_EQ(replay(recording).size(), recording.points.size());
            return true;
        } catch (const Error& error) {
            test::expect_well_formed(error);
            EXPECT_NE(error.problem().find(path_.string()), std::string::npos) << error.what();
            return false;
        }
    }

private:
    fs::path path_ = test::temporary_files() / ("texton_damaged_" + std::to_string(::getpid()) + ".cap");
};

TEST_F(RecordingDamageTest, AFileTruncatedAnywhereIsRefused) {
    const std::string whole = good(Format::r8_unorm, ArrayKind::array_1d);
    EXPECT_TRUE(holds(whole));
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_FALSE(holds(whole.substr(0, bytes))) << bytes;
}

TEST_F(RecordingDamageTest, EveryChangedByteOfTheHeadGivesAnErrorOrResults) {
    for (const auto& [format, kind] : {std::pair{Format::rgba16_float, ArrayKind::cubemap},
                                       {Format::bc7_unorm, ArrayKind::array_2d},
                                       {Format::r32_uint, ArrayKind::layered_1d}}) {
        const std::string whole = good(format, kind);
        const std::size_t head = whole.find('}') + 1;
        std::size_t read = 0;
        for (std::size_t at = 0; at < head; ++at) {
            for (const char byte : {'9', '-', '"', '\xff'}) {
                std::string bytes = whole;
                bytes[at] = byte;
                read += holds(bytes) ? 1 : 0;
            }
        }
        EXPECT_GT(read, 20u);
        EXPECT_LT(read, 3 * head);
    }
}

TEST_F(RecordingDamageTest, NumbersBeyondEachRangeAreRefused) {
    const std::string whole = good(Format::rgba8_unorm, ArrayKind::array_2d);
    std::uint64_t length = 0;
    std::memcpy(&length, whole.data(), sizeof length);
    const std::string head = whole.substr(8, length);
    for (const std::string field : {"\"points\":", "\"levels\":", "\"level_bytes\":[", "\"extent\":[", "\"address\":[",
                                    "\"filter\":", "\"max_anisotropy\":", "\"gather_component\":"}) {
        const std::size_t from = head.find(field) + field.size();
        const std::size_t to = head.find_first_of(",]", from);
        for (const char* number :
             {"-1", "1e300", "-1e300", "18446744073709551615", "0.5", "null", "[]", "{}", "\"1\""}) {
            std::string changed = head;
            changed.replace(from, to - from, number);
            const std::uint64_t now = changed.size();
            std::string bytes(8, ' ');
            std::memcpy(bytes.data(), &now, sizeof now);
            EXPECT_FALSE(holds(bytes + changed + whole.substr(8 + length))) << field << number;
        }
    }
}

TEST(RandomRecordingTest, EqualSeedsGiveEqualRecordings) {
    const Recording one = random_recording(7);
    const Recording two = random_recording(7);
    EXPECT_EQ(one.array, two.array);
    EXPECT_EQ(one.levels, two.levels);
    EXPECT_EQ(replay(one), replay(two));
    EXPECT_NE(random_recording(8).levels, one.levels);
}

TEST(RandomRecordingTest, ExplicitChoicesAreKept) {
    const RecordingChoice choice{
        .kind = ArrayKind::cubemap, .format = Format::bc7_srgb, .operation = FetchOperation::gradients, .points = 3};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Recording recording = random_recording(seed, choice);
        EXPECT_EQ(recording.array.kind, ArrayKind::cubemap);
        EXPECT_EQ(recording.array.format, Format::bc7_srgb);
        EXPECT_EQ(recording.operation, FetchOperation::gradients);
        EXPECT_EQ(recording.points.size(), 3U);
    }
}

TEST(RandomRecordingTest, ImpossibleChoicesAreRefused) {
    const auto refused = [](const RecordingChoice& choice) {
        test::expect_error([&] { (void)random_recording(1, choice); }, ErrorCode::bad_argument,
                           "texton::random_recording");
    };
    refused({.kind = ArrayKind::array_3d, .operation = FetchOperation::gather});
    refused({.kind = ArrayKind::array_1d, .format = Format::bc1_unorm});
    refused({.format = Format::nv12});
    refused({.operation = FetchOperation::texel});
}

// random_recording() draws only samplers and ranges that sample() accepts.
TEST(RandomRecordingTest, EveryCaptureCanBeFetchedOnADevice) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Recording recording = random_recording(seed, {.points = 8});
        EXPECT_EQ(replay(recording, Device::cpu()), replay(recording)) << seed;
    }
}

}  // namespace
}  // namespace texton
