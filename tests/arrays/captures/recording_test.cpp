// Recordings of the texture unit: compares the model with them, and tests the file format.
#include <texton/recording.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

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
    const fs::path path = fs::path(testing::TempDir()) / "texton_written.cap";
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
