#include <texton/read_options.h>

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "arrays/files/isolated/limits.h"
#include "arrays/files/stored_texels.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/reader_processes.h"

// Failures of the processes that read files: they crash, take too long or too much memory, are killed, are missing, or
// send replies that they must not send. The process of the caller gets an Error each time.

// Defined only in programs with a sanitizer.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::eventually;
using test::expect_error;
using test::number_of;
using test::read_part;
using test::readers;
using test::store;
using test::stored_image;
using test::StoredImage;

constexpr ReadOptions kIsolated{.isolated = true};

// Returns the processor time of a process in clock ticks.
long processor_ticks(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) return 0;
    std::istringstream fields(text.substr(end + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    long user = 0, system = 0;
    fields >> user >> system;
    return user + system;
}

class IsolatedFailureTest : public testing::Test {
protected:
    void SetUp() override { setenv("TEXTON_READER", TEXTON_TEST_READER, 0); }
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path small() const { return store(at("small.png"), {stored_image(8, 8, 4, TypeDesc::UINT8, 4)}); }
    // Returns a file whose texels are not read together with its description.
    fs::path medium() const { return store(at("medium.png"), {stored_image(160, 160, 4, TypeDesc::UINT8, 4)}); }
    // Returns a link to the program that sends this kind of wrong reply.
    std::string liar(const std::string& lie) const {
        const std::string programs = test::configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS);
        fs::create_symlink(programs + "/texton-test-lying_reader", at(lie));
        return at(lie).string();
    }

    test::ImageFolder folder_;
};

TEST_F(IsolatedFailureTest, ASignalOfTheReaderIsAnErrorAndTheProcessGoesOn) {
    StoredImage image = stored_image(8192, 8192, 4, TypeDesc::UINT8, 4);  // takes several tenths of a second to decode
    image.spec.attribute("png:compressionLevel", 1);
    std::ranges::fill(image.levels.front(), std::byte{0});
    const fs::path path = store(at("large.png"), {image});
    for (const auto& [signal, name] : {std::pair{SIGSEGV, "signal 11 (SIGSEGV)"},
                                       {SIGFPE, "signal 8 (SIGFPE)"},
                                       {SIGABRT, "signal 6 (SIGABRT)"},
                                       {SIGKILL, "signal 9 (SIGKILL)"}}) {
        const ImageFile opened = open_image(path, {}, kIsolated);
        ASSERT_TRUE(eventually([] { return readers().size() == 1; }));  // those of other tests have ended
        const pid_t reader = readers().front();
        const long before = processor_ticks(reader);
        std::thread crash([=, number = signal] {
            EXPECT_TRUE(eventually([=] { return processor_ticks(reader) >= before + 5; }));  // it is decoding
            kill(reader, number);
        });
        const Error error = expect_error([&] { (void)read_part(opened); }, ErrorCode::io, "texton::ImageFile",
                                         {"large.png: its reader ended with", name});
        crash.join();
        EXPECT_EQ(number_of(error, "signal"), static_cast<std::uint64_t>(signal));
        EXPECT_EQ(error.remedy(), "The file may be damaged.");
    }
    EXPECT_EQ(read_image(small(), kIsolated).extent, (Extent{8, 8}));
}

TEST_F(IsolatedFailureTest, AFileThatTakesTooLongIsAnErrorThatNamesTheLimit) {
    const ReadOptions options{.isolated = true, .limits = {.seconds = 0.25}};
    const ImageFile opened = open_image(medium(), {}, options);
    ASSERT_TRUE(eventually([] { return readers().size() == 1; }));
    kill(readers().front(), SIGSTOP);
    const auto begin = std::chrono::steady_clock::now();
    const Error error = expect_error([&] { (void)read_part(opened); }, ErrorCode::io, "texton::ImageFile",
                                     {"medium.png", "limit of 0.25 seconds", "ReadLimits::seconds"});
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(250));
    EXPECT_EQ(number_of(error, "milliseconds"), 250u);
    EXPECT_TRUE(eventually([] { return readers().empty(); }));  // the stopped process was killed
}

TEST_F(IsolatedFailureTest, ADecoderThatNeedsMoreMemoryThanTheLimitIsAnErrorThatNamesTheLimit) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "sanitizers end a process without memory";
    StoredImage image = stored_image(2048, 2048, 4, TypeDesc::UINT8, 3);
    image.spec.tile_width = image.spec.tile_height = 2048;
    image.spec.attribute("compression", "none");
    const fs::path path = store(at("tile.tif"), {image});
    const Subresource corner{.region = Region{{}, {4, 4}}};
    EXPECT_NO_THROW((void)read_part(open_image(path, {}, kIsolated), corner));
    const ReadOptions options{.isolated = true, .limits = {.bytes = std::size_t{8} << 20}};
    const ImageFile opened = open_image(path, {}, options);
    const Error error = expect_error([&] { (void)read_part(opened, corner); }, ErrorCode::out_of_memory,
                                     "texton::ImageFile", {"tile.tif", "8388608 bytes", "ReadLimits::bytes"});
    EXPECT_EQ(number_of(error, "limit"), 8388608u);
}

TEST_F(IsolatedFailureTest, APartLargerThanTheLimitOfMemoryIsRefusedBeforeDecoding) {
    StoredImage image = stored_image(2048, 2048, 4, TypeDesc::UINT8, 3);
    image.spec.tile_width = image.spec.tile_height = 2048;
    const fs::path path = store(at("tile.tif"), {image});
    const ReadOptions options{.isolated = true, .limits = {.bytes = std::size_t{12} << 20}};
    const Error error = expect_error([&] { (void)read_image(path, options); }, ErrorCode::out_of_memory,
                                     "texton::read_image", {"tile.tif", "16777216 bytes", "ReadLimits::bytes"});
    EXPECT_EQ(number_of(error, "limit"), std::size_t{12} << 20);
    EXPECT_EQ(number_of(error, "bytes"), std::size_t{16} << 20);
}

TEST_F(IsolatedFailureTest, LimitsOfMemoryFollowFromTheLargestCompressionOfTheKind) {
    using detail::largest_compression;
    EXPECT_EQ(largest_compression("png", ""), 1032u * 32);
    EXPECT_EQ(largest_compression("tiff", "none"), 32u);
    EXPECT_EQ(largest_compression("tiff", "lzw"), 2559u * 32);
    EXPECT_EQ(largest_compression("tiff", "zstd"), 32768u * 32);
    EXPECT_EQ(largest_compression("ktx2", "zstd"), 32768u * 2);
    EXPECT_EQ(largest_compression("ktx2", "zlib"), 1032u * 2);
    EXPECT_EQ(largest_compression("ktx2", ""), 16u);
    EXPECT_EQ(largest_compression("openexr", "zips"), 1032u * 4);
    EXPECT_EQ(largest_compression("openexr", "dwaa"), 0u);
    EXPECT_EQ(largest_compression("jpeg", ""), 0u);
    EXPECT_EQ(largest_compression("unheard of", ""), 0u);

    constexpr std::uint64_t kFixed = std::uint64_t{512} << 20, kUnbounded = std::uint64_t{4} << 30;
    detail::Description source;
    source.format = Format::rgba8_unorm;
    source.levels = {{{100000, 100000, 1}, {}}, {{50000, 50000, 1}, {}}};
    source.image.metadata.file_kind = "png";
    const auto limit = [&](std::uint64_t file_bytes) {
        detail::Claim claim;
        add_claim(claim, source, file_bytes);
        return memory_limit({}, claim);
    };
    EXPECT_EQ(limit(100), 100 * 1032 * 32 + kFixed);
    EXPECT_EQ(limit(std::uint64_t{1} << 60), 50'000'000'000u + kFixed);
    source.image.metadata.file_kind = "jpeg";
    EXPECT_EQ(limit(100), kUnbounded + kFixed);
    EXPECT_EQ(limit(0), kUnbounded + kFixed);
    source.levels.resize(1);
    source.levels[0].extent = {1024, 1024, 1};
    EXPECT_EQ(limit(100), (4 << 20) + kFixed);
    source.image.metadata.file_kind = "jpeg2000";  // decoded as integers of 32 bits
    EXPECT_EQ(limit(100), 9 * (4 << 20) + kFixed);
    EXPECT_EQ(memory_limit({}, detail::assumed_claim("a.JP2")), kUnbounded + kFixed);
    EXPECT_EQ(memory_limit({}, detail::assumed_claim("a.png")), kFixed);
    source.image.metadata.file_kind = "jpeg";

    detail::Claim claim;
    EXPECT_EQ(memory_limit({}, claim), kFixed);  // while a file is opened
    EXPECT_EQ(time_limit({}, claim), 10);
    add_claim(claim, source, 100);
    add_claim(claim, source, 100);  // a second part
    EXPECT_EQ(memory_limit({}, claim), (8 << 20) + kFixed);
    EXPECT_EQ(time_limit({}, claim), 12);
    EXPECT_EQ(memory_limit({.bytes = 77}, claim), 77u);
    EXPECT_EQ(time_limit({.seconds = 0.5}, claim), 0.5);
}

TEST_F(IsolatedFailureTest, AMissingProgramIsAnErrorThatListsThePaths) {
    {
        const test::ReaderProgram missing("/nowhere/texton-reader");
        expect_error([&] { (void)open_image(small(), {}, kIsolated); }, ErrorCode::unsupported, "texton::open_image",
                     {"was not found: /nowhere/texton-reader", "TEXTON_READER"});
    }
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "texton-reader";
    if (!fs::exists(beside)) {
        const test::ReaderProgram unset("");
        expect_error([&] { (void)read_image(small(), kIsolated); }, ErrorCode::unsupported, "texton::read_image",
                     {"/texton/texton-reader", beside.string()});
    }
    const test::ReaderProgram folder(folder_.path().string());
    expect_error([&] { (void)read_image(small(), kIsolated); }, ErrorCode::unsupported, "texton::read_image",
                 {"could not be started"});
}

TEST_F(IsolatedFailureTest, ProcessesThatAreKilledBetweenRequestsAreReplaced) {
    const fs::path path = medium();
    const ImageFile image = open_image(path, {}, kIsolated);
    const Bytes expected = read_part(image);
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(eventually([] { return readers().size() == 1; }));
        kill(readers().front(), SIGKILL);
        ASSERT_TRUE(eventually([] { return readers().empty(); }));
        EXPECT_EQ(read_part(image), expected);
    }
    const pid_t helper = test::helper_of(::getpid());
    kill(helper, SIGKILL);
    ASSERT_TRUE(eventually([] { return test::helper_of(::getpid()) == 0; }));
    EXPECT_EQ(read_part(image), expected);
    EXPECT_NE(test::helper_of(::getpid()), helper);
    EXPECT_EQ(read_image(path, kIsolated).texels, expected);
    for (const test::SeenProcess& child : test::children_of(::getpid())) EXPECT_NE(child.state, 'Z') << child.name;
}

TEST_F(IsolatedFailureTest, TexelsOfTiffFilesAreDecodedWithoutTheProcess) {
    for (const char* compression : {"zip", "lzw", "none"}) {
        StoredImage stored = stored_image(400, 300, 4, TypeDesc::UINT8, 4);
        stored.spec.attribute("compression", compression);
        const ImageFile image = open_image(store(at("a.tif"), {stored}), {}, kIsolated);
        ASSERT_TRUE(eventually([] { return readers().size() == 1; }));  // those of other tests have ended
        const pid_t reader = readers().front();
        kill(reader, SIGSTOP);  // a request would take too long
        EXPECT_EQ(read_part(image), stored.levels.front()) << compression;
        kill(reader, SIGCONT);
    }
}

TEST_F(IsolatedFailureTest, AProcessThatIsKilledBeforeItTakesTheRequestIsReplaced) {
    const ImageFile image = open_image(medium(), {}, kIsolated);
    const Bytes expected = read_part(image);
    const pid_t helper = test::helper_of(::getpid());
    ASSERT_TRUE(eventually([] { return readers().size() == 1; }));  // those of other tests have ended
    kill(helper, SIGSTOP);  // it reports the end of its process only after the request was sent
    kill(readers().front(), SIGKILL);
    ASSERT_TRUE(eventually([] { return readers().empty(); }));
    std::future<Bytes> texels = std::async(std::launch::async, [&] { return read_part(image); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(helper, SIGCONT);
    EXPECT_EQ(texels.get(), expected);
}

TEST_F(IsolatedFailureTest, AHelperThatIsKilledAtAnyTimeCostsNoReadAndNoProcess) {
    const fs::path path = small();
    const Bytes expected = read_image(path).texels;
    std::atomic<bool> done{false};
    std::atomic<int> killed{0};
    std::thread killer([&] {
        for (unsigned round = 0; !done; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1 + round * 37 % 11));
            const pid_t helper = test::helper_of(::getpid());
            if (helper == 0 || readers().empty()) continue;
            kill(helper, SIGKILL);
            ++killed;
        }
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    int reads = 0;
    while (killed < 3 && std::chrono::steady_clock::now() < deadline) {
        try {
            EXPECT_EQ(read_image(path, kIsolated).texels, expected);
        } catch (const Error& error) {  // killed three times during one read
            EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
        }
        ++reads;
    }
    done = true;
    killer.join();
    EXPECT_GE(killed, 3) << reads;
    EXPECT_EQ(read_image(path, kIsolated).texels, expected);
}

// Returns true if the process does not exist or has ended.
bool ended(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t end = text.rfind(')');
    return end == std::string::npos || text[end + 2] == 'Z';
}

TEST_F(IsolatedFailureTest, AllProcessesEndWithTheCallerAlsoIfItIsKilled) {
    if (__tsan_init != nullptr) GTEST_SKIP() << "the thread sanitizer does not support fork() with threads";
    const fs::path path = small();
    (void)read_image(path, kIsolated);  // the copy of this process must not use its helper
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t caller = fork();
    if (caller == 0) {
        pid_t seen[2] = {0, 0};
        try {
            const ImageFile image = open_image(path, {}, kIsolated);
            if (!readers().empty()) seen[1] = readers().front();
            seen[0] = test::helper_of(::getpid());
            (void)!write(ends[1], seen, sizeof(seen));
            raise(SIGKILL);
        } catch (const Error&) {
            (void)!write(ends[1], seen, sizeof(seen));
        }
        _exit(1);
    }
    pid_t seen[2] = {0, 0};
    ASSERT_EQ(read(ends[0], seen, sizeof(seen)), static_cast<ssize_t>(sizeof(seen)));
    close(ends[0]);
    close(ends[1]);
    waitpid(caller, nullptr, 0);
    ASSERT_GT(seen[0], 0);
    ASSERT_GT(seen[1], 0);
    EXPECT_NE(seen[0], test::helper_of(::getpid()));
    EXPECT_TRUE(eventually([&] { return ended(seen[0]) && ended(seen[1]); }));
    EXPECT_EQ(read_image(path, kIsolated).extent, (Extent{8, 8}));
}

TEST_F(IsolatedFailureTest, AProgramThatIsNotTheReaderOfThisVersionIsRefused) {
    for (const auto& [lie, why] : {std::pair{"no-hello", "it ended"}, {"other-version", "another version"}}) {
        const test::ReaderProgram program(liar(lie));
        expect_error([&] { (void)read_image(small(), kIsolated); }, ErrorCode::unsupported, "texton::read_image",
                     {"did not start", why});
    }
}

TEST_F(IsolatedFailureTest, RepliesThatAReaderMustNotSendAreErrors) {
    const fs::path path = small();
    for (const char* lie : {"short-packet", "shrinking-reply", "ready-twice",   "unknown-packet",
                            "huge-reply",   "huge-error",      "garbage-error", "half-reply",
                            "early-texels", "garbage",         "empty",         "no-parts",
                            "many-parts",   "surplus-texels",  "tiff",          "format",
                            "planar",       "levels",          "no-levels",     "side",
                            "no-side",      "attributes",      "windows",       "kind"}) {
        SCOPED_TRACE(lie);
        const test::ReaderProgram program(liar(lie));
        expect_error([&] { (void)open_image(path, {}, kIsolated); }, ErrorCode::io, "texton::open_image",
                     {"small.png: its reader sent an invalid reply ("});
    }
    for (const char* lie : {"few-texels", "many-texels", "no-texels"}) {
        SCOPED_TRACE(lie);
        const test::ReaderProgram program(liar(lie));
        const ImageFile image = open_image(path, {}, kIsolated);
        expect_error([&] { (void)read_part(image); }, ErrorCode::io, "texton::ImageFile",
                     {"small.png: its reader sent an invalid reply ("});
    }
    {
        const test::ReaderProgram program(liar("far-texels"));
        const ImageFile image = open_image(path, {}, kIsolated);
        expect_error([&] { (void)read_part(image); }, ErrorCode::io, "texton::ImageFile",
                     {"small.png has changed since it was opened"});
    }
    const test::ReaderProgram gone(liar("gone"));
    expect_error([&] { (void)open_image(path, {}, kIsolated); }, ErrorCode::io, "texton::open_image",
                 {"small.png: its reader was ended from outside"});
}

TEST_F(IsolatedFailureTest, LocationsOfTexelsThatAreNotInTheFileAreErrors) {
    const fs::path path = small();
    constexpr std::uint64_t kLast = ~std::uint64_t{0};
    for (const std::uint64_t first :
         {fs::file_size(path), std::uint64_t{1} << 62, std::uint64_t{1} << 63, kLast - 500}) {
        const detail::ImageSourcePtr source =
            detail::stored_file(path, detail::identity_of(path), Format::rgba8_unorm, false, detail::StoredOrder::same,
                                {{{8, 8, 2}, first, kLast / 2}});
        Bytes texels(8 * 8 * 2 * 4);
        expect_error(
            [&] {
                source->read(0, {{}, {8, 8, 2}}, texels.data());
            },
            ErrorCode::io, "texton::ImageFile", {"small.png is truncated"});
    }
}

TEST_F(IsolatedFailureTest, AnImpossibleSizeThatAReaderClaimsIsRefusedBeforeTheImageIsDivided) {
    const fs::path path = small();
    for (const char* lie : {"endless", "terabyte"}) {
        SCOPED_TRACE(lie);
        const test::ReaderProgram program(liar(lie));
        expect_error([&] { (void)read_image(path, kIsolated); }, ErrorCode::io, "texton::read_image",
                     {"small.png: its reader sent an invalid reply (size of a level)"});
        expect_error([&] { (void)open_image(path, {}, kIsolated); }, ErrorCode::io, "texton::open_image",
                     {"small.png: its reader sent an invalid reply (size of a level)"});
    }
}

TEST_F(IsolatedFailureTest, AReaderCanNeitherShortenTheMemoryNorDelayTheCaller) {
    {
        const test::ReaderProgram program(liar("shrink"));
        EXPECT_NO_THROW((void)read_part(open_image(small(), {}, kIsolated)));
    }
    const test::ReaderProgram program(liar("silent"));
    expect_error([&] { (void)open_image(small(), {}, {.isolated = true, .limits = {.seconds = 0.1}}); }, ErrorCode::io,
                 "texton::open_image", {"limit of 0.1 seconds"});
}

}  // namespace
}  // namespace texton
