#include <texton/read_options.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/own_helper.h"
#include "tests/support/reader_processes.h"

// Processes that read several files in turn.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::eventually;
using test::readers;

constexpr ReadOptions kAlone{.isolated = true};
constexpr int kMedium = 160;  // side of an image whose texels are not read together with its description
constexpr ReadOptions kReused{.isolated = true, .reuses_process = true};

class ReusedProcessTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path stored(const std::string& name, unsigned seed, int side = 8) const {
        return test::store(at(name), {test::stored_image(side, side, 4, TypeDesc::UINT8, seed)});
    }
    // Returns the message of the error.
    static std::string error_of(const fs::path& path, const ReadOptions& options) {
        try {
            (void)read_image(path, options);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    }
    // Returns the only process that waits.
    static pid_t waiting() {
        EXPECT_TRUE(eventually([] { return readers().size() == 1; }));
        return readers().empty() ? 0 : readers().front();
    }
    static fs::path damaged(const std::string& name) {
        return fs::path(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES)) / "damaged" / name;
    }

    test::ImageFolder folder_;
    const test::OwnHelper helper_{folder_.path(), test::configured_path("TEXTON_READER", TEXTON_TEST_READER)};
};

TEST_F(ReusedProcessTest, AProcessReadsOneFileAfterAnother) {
    std::optional<pid_t> process;
    for (unsigned seed = 1; seed < 6; ++seed) {
        const fs::path path = stored("file" + std::to_string(seed) + ".png", seed);
        EXPECT_EQ(read_image(path, kReused).texels, read_image(path).texels);
        const pid_t now = waiting();
        EXPECT_EQ(now, process.value_or(now));
        process = now;
    }
}

TEST_F(ReusedProcessTest, AFileThatWasReplacedIsReadAnew) {
    const fs::path path = stored("file.png", 1);
    const test::Bytes before = read_image(path, kReused).texels;
    (void)stored("file.png", 2);
    const test::Bytes after = read_image(path, kReused).texels;
    EXPECT_NE(after, before);
    EXPECT_EQ(after, read_image(path).texels);
}

// Returns a Cineon file with 8 x 4 gray texels of 10 bits, whose header specifies the offset of the texels.
test::Bytes cineon(std::uint32_t offset) {
    constexpr std::size_t kHeader = 2048, kTexels = 8 * 4 * 4;
    const std::pair<std::size_t, std::uint32_t> numbers[] = {
        {0, 0x802a5fd7}, {4, offset}, {8, 1024}, {12, 1024},    {20, kHeader + kTexels}, {192, 1 << 16},  // one channel
        {196, 10 << 8},  {200, 8},    {204, 4},  {680, 5 << 16}};  // three numbers in four bytes
    test::Bytes file(kHeader);
    for (const auto& [at, number] : numbers) {
        for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(number >> (24 - 8 * i));
    }
    file.resize(kHeader + kTexels, std::byte{0x5a});
    return file;
}

// OpenImageIO reports no error where it finds no texels at the offset, and returns the memory that it has allocated.
TEST_F(ReusedProcessTest, TexelsThatADecoderDoesNotWriteAreZero) {
    const fs::path good = test::write_bytes(at("good.cin"), cineon(2048));
    const fs::path beyond = test::write_bytes(at("beyond.cin"), cineon(1 << 24));
    const test::Bytes texels = read_image(good, kReused).texels;
    EXPECT_NE(texels, test::Bytes(texels.size()));
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(read_image(beyond, kReused).texels, test::Bytes(texels.size()));
        EXPECT_EQ(read_image(good, kReused).texels, texels);
    }
}

TEST_F(ReusedProcessTest, RelativePathsReferToTheCurrentFolder) {
    const fs::path before = fs::current_path();
    for (const unsigned seed : {1u, 2u}) {
        const std::string folder = seed == 1 ? "first" : "second";
        fs::create_directory(at(folder));
        const fs::path path = stored(folder + "/here.png", seed);
        fs::current_path(at(folder));
        EXPECT_EQ(read_image("here.png", kReused).texels, read_image(path).texels);
    }
    fs::current_path(before);
}

TEST_F(ReusedProcessTest, AProcessThatReadADamagedFileReadsNoOther) {
    const fs::path good = stored("good.png", 1), cut = stored("cut.png", 2);
    fs::resize_file(cut, 60);
    const std::string expected = error_of(cut, kAlone);
    (void)read_image(good, kReused);
    const pid_t process = waiting();
    EXPECT_EQ(error_of(cut, kReused), expected);
    EXPECT_EQ(read_image(good, kReused).texels, read_image(good).texels);
    EXPECT_NE(waiting(), process);
}

TEST_F(ReusedProcessTest, ACrashIsAnErrorOfTheFileThatCausedIt) {
    const fs::path good = stored("good.png", 1);
    const std::string expected = error_of(damaged("palette32bit-corrupt.bmp"), kAlone);
    EXPECT_NE(expected, "no error");
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(read_image(good, kReused).texels, read_image(good).texels);
        EXPECT_EQ(error_of(damaged("palette32bit-corrupt.bmp"), kReused), expected);
    }
}

TEST_F(ReusedProcessTest, AKilledProcessIsReplaced) {
    const fs::path path = stored("file.png", 1);
    (void)read_image(path, kReused);
    ::kill(waiting(), SIGKILL);
    EXPECT_EQ(read_image(path, kReused).texels, read_image(path).texels);
}

TEST_F(ReusedProcessTest, FilesThatAreOpenShareFourProcesses) {
    std::vector<fs::path> paths;
    for (unsigned seed = 0; seed < 80; ++seed) paths.push_back(stored(std::to_string(seed) + ".png", seed, kMedium));
    std::vector<ImageFile> images;
    for (const fs::path& path : paths) images.push_back(open_image(path, {}, kReused));
    EXPECT_EQ(readers().size(), 4u);
    for (std::size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(test::read_part(images[i]), read_image(paths[i]).texels);
    images.clear();
    EXPECT_EQ(readers().size(), 4u);
}

TEST_F(ReusedProcessTest, AFileThatWasReplacedAfterItWasOpenedIsRefused) {
    const fs::path path = stored("file.png", 1, kMedium);
    const ImageFile image = open_image(path, {}, kReused);
    fs::remove(path);
    (void)stored("file.png", 2, kMedium);
    ::kill(waiting(), SIGKILL);
    test::expect_error([&] { (void)test::read_part(image); }, ErrorCode::io, "texton::ImageFile",
                       {"file.png has changed since it was opened"});
}

// Nothing of such a file is read later.
TEST_F(ReusedProcessTest, ASmallFileThatWasReplacedAfterItWasOpenedGivesTheTexelsItHad) {
    const fs::path path = stored("file.png", 1);
    const test::Bytes expected = read_image(path).texels;
    const ImageFile image = open_image(path, {}, kReused);
    fs::remove(path);
    (void)stored("file.png", 2);
    EXPECT_EQ(test::read_part(image), expected);
}

TEST_F(ReusedProcessTest, AFileWhoseHeaderIsGoodIsOpenedThoughItsTexelsAreDamaged) {
    for (const int side : {8, kMedium}) {
        const fs::path path = stored("cut.png", 1, side);
        fs::resize_file(path, fs::file_size(path) - 20);
        const ImageFile image = open_image(path, {}, kReused);
        EXPECT_EQ(image.info().extent.width, static_cast<std::size_t>(side));
        EXPECT_THROW((void)test::read_part(image), Error);
    }
}

TEST_F(ReusedProcessTest, AFileIsClosedWhenItsImageIs) {
    const fs::path path = stored("file.png", 1);
    const auto is_open = [&](pid_t process) {
        std::error_code gone;
        for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone)) {
            if (fs::read_symlink(entry.path(), gone) == path) return true;
        }
        return false;
    };
    std::optional<ImageFile> image = open_image(path, {}, kReused);
    const pid_t process = waiting();
    EXPECT_TRUE(is_open(process));
    image.reset();
    EXPECT_TRUE(eventually([&] { return !is_open(process); }));
    EXPECT_EQ(waiting(), process);
}

TEST_F(ReusedProcessTest, EightThreadsReadLargeImagesInBands) {
    const test::StoredImage large = test::stored_image(1500, 1100, 4, TypeDesc::UINT16, 3);  // 13 MB
    const fs::path path = test::store(at("large.tif"), {large});
    const test::Bytes expected = read_image(path).texels;
    std::vector<std::thread> threads;
    std::atomic<int> equal{0};
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 3; ++round) {
                const ImageFile image = open_image(path, {}, kReused);
                if (test::read_part(image) == expected) ++equal;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(equal, 8 * 3);
    EXPECT_TRUE(eventually([] { return readers().size() <= 16; })) << readers().size();
}

TEST_F(ReusedProcessTest, AFileThatIsTooSmallForItsTexelsIsRefusedBeforeItIsDecoded) {
    const ImageFile image = open_image(damaged("bomb-46341.cin"), {}, kReused);
    std::vector<std::byte> texel(packed_bytes(image.info().format, {1, 1, 1}));
    try {
        image.read({.region = Region{{0, 0, 0}, {1, 1, 1}}}, texel);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        EXPECT_NE(error.problem().find("2048 bytes cannot contain them"), std::string::npos) << error.problem();
    }
}

}  // namespace
}  // namespace texton
