// Recordings of the texture unit: compares the model with them, and tests the file format.
#include <texton/capture.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/place.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

fs::path captures() { return test::place("TEXTON_TEST_CAPTURES", TEXTON_TEST_CAPTURES); }
fs::path capture_named(const std::string& name) { return captures() / (name + ".cap"); }

std::vector<std::string> capture_names() {
    std::vector<std::string> names;
    std::error_code none;  // without the folder there are no tests, which GoogleTest reports as a failure
    for (const auto& entry : fs::directory_iterator(captures(), none)) {
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

class CaptureTest : public testing::TestWithParam<std::string> {};

TEST_P(CaptureTest, TheModelReproducesTheRecordingBitForBit) {
    const Capture capture = read_capture(capture_named(GetParam()));
    ASSERT_FALSE(capture.points.empty());
    EXPECT_EQ(equal_texels(replay(capture), capture.results), capture.points.size());
}

INSTANTIATE_TEST_SUITE_P(H200, CaptureTest, testing::ValuesIn(capture_names()),
                         [](const auto& info) { return info.param; });

class CaptureDeviceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CaptureDeviceTest, test::every_device(), test::device_label);

// Compares sample() of a texture with the recordings. The CPU device must return the same as the model, and a GPU with
// the compute capability of the recordings must return the recorded values.
TEST_P(CaptureDeviceTest, TheDeviceReproducesTheRecordings) {
    if (!on_cpu() && (device().properties().compute_major != 9 || device().properties().compute_minor != 0))
        GTEST_SKIP() << "needs a GPU of compute capability 9.0, on which the recordings were made";
    ASSERT_FALSE(capture_names().empty()) << captures();
    for (const std::string& name : capture_names()) {
        const Capture capture = read_capture(capture_named(name));
        EXPECT_EQ(equal_texels(replay(capture, device()), on_cpu() ? replay(capture) : capture.results),
                  capture.points.size())
            << name;
    }
}

TEST(CaptureFileTest, WrittenFilesAreReadBackUnchanged) {
    const fs::path path = fs::path(testing::TempDir()) / "texton_written.cap";
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Capture capture = random_capture(seed, {.points = 20});
        capture.results = replay(capture);
        write_capture(path, capture);
        const Capture read = read_capture(path);
        ASSERT_EQ(read.array, capture.array) << seed;
        ASSERT_EQ(read.source, capture.source) << seed;
        ASSERT_EQ(read.sampler, capture.sampler) << seed;
        ASSERT_EQ(read.operation, capture.operation) << seed;
        ASSERT_EQ(read.component, capture.component) << seed;
        ASSERT_EQ(read.levels, capture.levels) << seed;
        ASSERT_EQ(read.results, capture.results) << seed;
        ASSERT_EQ(replay(read), capture.results) << seed;  // also with NaN coordinates
    }
    fs::remove(path);
}

TEST(CaptureFileTest, AFailedWriteLeavesNoFileBehind) {
    const fs::path folder = fs::path(testing::TempDir()) / "texton_no_such_folder";
    fs::remove_all(folder);
    const Capture capture = random_capture(1, {.points = 1});
    test::expect_error([&] { write_capture(folder / "a.cap", capture); }, ErrorCode::io, "texton::Capture", {"a.cap"});
    fs::create_directories(folder / "b.cap");  // a folder with the name of the file
    test::expect_error([&] { write_capture(folder / "b.cap", capture); }, ErrorCode::io, "texton::Capture", {"b.cap"});
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    fs::remove_all(folder);
}

TEST(CaptureFileTest, ADamagedFileIsRefusedAndNamed) {
    std::ifstream file(capture_named("lod_from_grad"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const fs::path damaged = fs::path(testing::TempDir()) / "texton_damaged.cap";
    const auto refused = [&](const std::string& contents) {
        std::ofstream(damaged, std::ios::binary | std::ios::trunc) << contents;
        test::expect_error([&] { (void)read_capture(damaged); }, ErrorCode::io, "texton::Capture", {damaged.string()});
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
    test::expect_error([&] { (void)read_capture(damaged); }, ErrorCode::io, "texton::Capture", {damaged.string()});
    test::expect_error([&] { (void)read_capture(testing::TempDir()); }, ErrorCode::io, "texton::Capture", {"folder"});
}

TEST(RandomCaptureTest, EqualSeedsGiveEqualCaptures) {
    const Capture one = random_capture(7);
    const Capture two = random_capture(7);
    EXPECT_EQ(one.array, two.array);
    EXPECT_EQ(one.levels, two.levels);
    EXPECT_EQ(replay(one), replay(two));
    EXPECT_NE(random_capture(8).levels, one.levels);
}

TEST(RandomCaptureTest, ExplicitChoicesAreKept) {
    const CaptureChoice choice{
        .kind = ArrayKind::cubemap, .format = Format::bc7_srgb, .operation = FetchOperation::gradients, .points = 3};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Capture capture = random_capture(seed, choice);
        EXPECT_EQ(capture.array.kind, ArrayKind::cubemap);
        EXPECT_EQ(capture.array.format, Format::bc7_srgb);
        EXPECT_EQ(capture.operation, FetchOperation::gradients);
        EXPECT_EQ(capture.points.size(), 3U);
    }
}

TEST(RandomCaptureTest, ImpossibleChoicesAreRefused) {
    const auto refused = [](const CaptureChoice& choice) {
        test::expect_error([&] { (void)random_capture(1, choice); }, ErrorCode::bad_argument, "texton::random_capture");
    };
    refused({.kind = ArrayKind::array_3d, .operation = FetchOperation::gather});
    refused({.kind = ArrayKind::array_1d, .format = Format::bc1_unorm});
    refused({.format = Format::nv12});
    refused({.operation = FetchOperation::texel});
}

// random_capture() draws only samplers and ranges that sample() accepts.
TEST(RandomCaptureTest, EveryCaptureCanBeFetchedOnADevice) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Capture capture = random_capture(seed, {.points = 8});
        EXPECT_EQ(replay(capture, Device::cpu()), replay(capture)) << seed;
    }
}

}  // namespace
}  // namespace texton
