#include <random>

#include <texton/error.h>
#include <texton/image_file.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/ktx2_file.h"
#include "tests/support/zstd.h"

// KTX2 files that are truncated, changed or hostile.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Ktx2File;
using test::read_part;

class ImageKtx2DamageTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    // A BC1 cubemap with levels.
    static Ktx2File good() {
        Ktx2File file{.vk_format = 133, .width = 16, .height = 16, .face_count = 6, .level_count = 5};
        file.descriptor = Ktx2File::colors(128, 1, 1, 0);
        file.pairs = Ktx2File::pair("KTXwriter", "test");
        for (const std::size_t blocks : {16u, 4u, 1u, 1u, 1u}) file.levels.push_back(test::pattern(6 * blocks * 8, 3));
        return file;
    }
    static Ktx2File compressed() {
        Ktx2File file{.vk_format = 9, .width = 10, .height = 10, .level_count = 2, .scheme = 2};
        file.pairs = Ktx2File::pair("KTXwriter", "test");
        file.levels = {test::zstd_frame_of(100, 5), test::zstd_frame_of(25, 6)};
        file.uncompressed_bytes = {100, 25};
        return file;
    }
    static Ktx2File compressed_with_zlib() {
        Ktx2File file = compressed();
        file.scheme = 3;
        file.levels = {test::zlib_stream_of(Bytes(100, std::byte{5})), test::zlib_stream_of(Bytes(25, std::byte{6}))};
        return file;
    }
    static std::vector<Ktx2File> all_good() {
        std::vector<Ktx2File> files{good(), compressed_with_zlib()};
        if (detail::has_zstd()) files.push_back(compressed());
        return files;
    }
    // True if the whole file can be read. Otherwise an Error must name the file.
    bool holds(std::span<const std::byte> bytes) const {
        const fs::path path = test::write_bytes(at("damaged.ktx2"), bytes);
        try {
            const ImageFile image = open_image(path);
            EXPECT_LE(packed_bytes(image.info()), 32768 * 2 * bytes.size());
            for (int level = 0; level < image.info().levels; ++level) (void)read_part(image, {.level = level});
            return true;
        } catch (const Error& error) {
            EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::unsupported) << error.what();
            EXPECT_NE(error.problem().find("damaged.ktx2"), std::string::npos) << error.what();
            return false;
        }
    }
    void refused(const Bytes& bytes, std::initializer_list<std::string_view> fragments) const {
        test::write_bytes(at("damaged.ktx2"), bytes);
        test::expect_error(
            [&] {
                const ImageFile image = open_image(at("damaged.ktx2"));
                for (int level = 0; level < image.info().levels; ++level) (void)read_part(image, {.level = level});
            },
            ErrorCode::io, "texton::", fragments);
    }
    template <class T>
    static Bytes with(Bytes bytes, std::size_t position, T value) {
        std::memcpy(bytes.data() + position, &value, sizeof(value));
        return bytes;
    }
    test::ImageFolder folder_;
};

TEST_F(ImageKtx2DamageTest, AFileTruncatedAnywhereIsRefused) {
    for (const Ktx2File& file : all_good()) {
        const Bytes whole = file.bytes();
        EXPECT_TRUE(holds(whole));
        for (std::size_t bytes = 12; bytes < whole.size(); ++bytes) {
            EXPECT_FALSE(holds(std::span(whole).first(bytes))) << bytes << " bytes";
        }
    }
}

TEST_F(ImageKtx2DamageTest, ImpossibleHeadersAreRefused) {
    // format, width, height, depth, layers, faces, levels, scheme, descriptor, keys and values
    for (const std::size_t position : {12u, 20u, 24u, 28u, 32u, 36u, 40u, 44u, 48u, 52u, 56u, 60u}) {
        for (const std::uint32_t value : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
            if (value == 0 && position >= 28 && position != 36) continue;  // means that there is none
            EXPECT_FALSE(holds(with(good().bytes(), position, value))) << position << " is " << value;
        }
    }
    Ktx2File all{.width = 0xffffffff, .height = 0xffffffff, .layer_count = 0xffffffff, .levels = {Bytes(4)}};
    EXPECT_FALSE(holds(all.bytes()));
    all.width = all.height = 0x7fffffff;
    EXPECT_FALSE(holds(all.bytes()));
    refused(with(good().bytes(), 40, std::uint32_t{6}), {"6 levels for 16 x 16"});
    refused(with(good().bytes(), 24, std::uint32_t{8}), {"not square"});
    refused(with(good().bytes(), 36, std::uint32_t{2}), {"2 faces"});
    refused(with(good().bytes(), 28, std::uint32_t{1}), {"cubemap, but its depth"});
    refused(with(compressed_with_zlib().bytes(), 32, std::uint32_t{0x40000000}), {"need"});
}

TEST_F(ImageKtx2DamageTest, LevelsOutsideOfTheFileOrOfAnotherSizeAreRefused) {
    const std::uint64_t huge[] = {0xffffffffffffffff, 0x8000000000000000, 1u << 20};
    for (const std::uint64_t value : huge) {
        for (int level = 0; level < 5; ++level) {
            const std::size_t position = 80 + static_cast<std::size_t>(level) * 24;
            refused(with(good().bytes(), position, value), {"level " + std::to_string(level), "but the file has"});
            refused(with(good().bytes(), position + 8, value), {"level " + std::to_string(level), "need"});
        }
        refused(with(compressed_with_zlib().bytes(), 80 + 8, value), {"level 0", "but the file has"});
        refused(with(compressed_with_zlib().bytes(), 80 + 16, value), {"level 0", "need 100 bytes"});
    }
    refused(with(good().bytes(), 80 + 8, std::uint64_t{767}), {"level 0", "need 768 bytes"});
    refused(with(good().bytes(), 80 + 8, std::uint64_t{769}), {"level 0", "need 768 bytes"});
    refused(with(compressed_with_zlib().bytes(), 80 + 24 + 16, std::uint64_t{26}), {"level 1", "need 25 bytes"});
}

TEST_F(ImageKtx2DamageTest, DescriptorsAndKeysOutsideOfTheFileAreRefused) {
    refused(with(good().bytes(), 52, std::uint32_t{1} << 20), {"data format descriptor", "but the file has"});
    refused(with(good().bytes(), 60, std::uint32_t{1} << 20), {"key/value data", "but the file has"});
    Ktx2File file = good();
    file.pairs = std::string("\377\0\0\0key\0", 8);
    refused(file.bytes(), {"key/value data is invalid"});
    file.pairs = std::string("\4\0\0\0keys", 8);  // a key without its end
    refused(file.bytes(), {"key/value data is invalid"});
    file.pairs = std::string("\4\0\0\0\0abc", 8);  // an empty key
    refused(file.bytes(), {"key/value data is invalid"});

    // Sparse: the file has the length that it claims.
    const Bytes bytes = with(good().bytes(), 60, std::uint32_t{0x7fffffff});
    test::write_bytes(at("damaged.ktx2"), bytes);
    fs::resize_file(at("damaged.ktx2"), bytes.size() + 0x7fffffff);
    test::expect_error([&] { (void)open_image(at("damaged.ktx2")); }, ErrorCode::io, "texton::open_image",
                       {"key/value data", "at most"});
}

TEST_F(ImageKtx2DamageTest, FramesOfZstandardThatAreTooShortTooLongOrDamagedAreRefused) {
    if (!detail::has_zstd()) GTEST_SKIP() << "This build lacks libzstd";
    Ktx2File file = compressed();
    file.levels[0] = test::zstd_frame_of(99, 5);
    refused(file.bytes(), {"truncated after 99 of 100 bytes"});
    file.levels[0] = test::zstd_frame_of(101, 5);
    refused(file.bytes(), {"go on after 100 bytes"});
    file.levels[0] = Bytes(10, std::byte{1});
    refused(file.bytes(), {"cannot be decompressed"});
    file.levels[0] = {};
    refused(file.bytes(), {"truncated after 0 of 100 bytes"});
    file.levels[0] = compressed().levels[0];
    file.levels[0].pop_back();
    refused(file.bytes(), {"truncated after 0 of 100 bytes"});
    file.levels[0] = compressed().levels[0];
    file.levels[0][4] |= std::byte{4};  // a checksum, which is missing
    refused(file.bytes(), {"truncated"});
    for (int byte = 0; byte < 4; ++byte) file.levels[0].push_back(std::byte{1});  // and which is wrong
    refused(file.bytes(), {"cannot be decompressed", "checksum"});
}

TEST_F(ImageKtx2DamageTest, StreamsOfZlibThatAreTooShortTooLongOrDamagedAreRefused) {
    Ktx2File file = compressed_with_zlib();
    const Bytes good_level = file.levels[0];
    file.levels[0] = test::zlib_stream_of(Bytes(99, std::byte{5}));
    refused(file.bytes(), {"truncated after 99 of 100 bytes"});
    file.levels[0] = test::zlib_stream_of(Bytes(101, std::byte{5}));
    refused(file.bytes(), {"go on after 100 bytes"});
    file.levels[0] = Bytes(10, std::byte{1});
    refused(file.bytes(), {"cannot be decompressed", "incorrect header check"});
    file.levels[0] = {};
    refused(file.bytes(), {"truncated after 0 of 100 bytes"});
    file.levels[0] = good_level;
    file.levels[0].pop_back();
    refused(file.bytes(), {"truncated after 100 of 100 bytes"});
    file.levels[0].push_back(good_level.back() ^ std::byte{1});
    refused(file.bytes(), {"cannot be decompressed", "incorrect data check"});
    file.levels[0] = good_level;
    file.levels[0][1] = std::byte{0x20};  // a dictionary
    file.levels[0][0] = std::byte{0x78};
    refused(file.bytes(), {"cannot be decompressed"});
    file.levels[0] = good_level;
    file.levels[0].push_back(std::byte{1});  // bytes after the stream
    EXPECT_TRUE(holds(file.bytes()));

    file = {.vk_format = 9, .width = 1 << 18, .height = 1 << 18, .scheme = 3, .levels = {good_level}};
    file.uncompressed_bytes = {std::uint64_t{1} << 36};
    refused(file.bytes(), {"of zlib cannot contain them"});
}

// A few bytes must not claim more than they can contain, nor take the memory of the claim.
TEST_F(ImageKtx2DamageTest, BombsOfZstandardAreRefusedOrReadWithLittleMemory) {
    if (!detail::has_zstd()) GTEST_SKIP() << "This build lacks libzstd";
    Ktx2File bomb{
        .vk_format = 9, .width = 1 << 18, .height = 1 << 18, .scheme = 2, .levels = {test::zstd_frame_of(255, 5)}};
    bomb.uncompressed_bytes = {std::uint64_t{1} << 36};
    refused(bomb.bytes(), {"its 10 bytes of Zstandard cannot contain them"});

    // 64 MiB of compressed zeros are 1 TiB or less, of which a few rows are read.
    Bytes frame;
    for (const int value : {0x28, 0xb5, 0x2f, 0xfd, 0, 0x38})
        frame.push_back(static_cast<std::byte>(value));  // window: 128 KiB
    constexpr std::uint32_t kBlock = 1 << 17;
    for (std::uint32_t block = 0; block < 65536; ++block) {
        const std::uint32_t header = kBlock << 3 | 1 << 1 | (block == 65535 ? 1 : 0);
        for (const std::uint32_t byte : {header & 0xff, header >> 8 & 0xff, header >> 16, 0u})
            frame.push_back(static_cast<std::byte>(byte));
    }
    bomb = {.vk_format = 9, .width = 1 << 16, .height = 1 << 17, .scheme = 2, .levels = {frame}};
    bomb.uncompressed_bytes = {std::uint64_t{1} << 33};
    test::write_bytes(at("large.ktx2"), bomb.bytes());
    const ImageFile image = open_image(at("large.ktx2"));
    EXPECT_EQ(read_part(image, {.region = Region{{5, 100}, {1000, 3}}}), Bytes(3000));
}

TEST_F(ImageKtx2DamageTest, EveryChangedBitBeforeTheTexelsGivesAnErrorOrTexels) {
    for (const Ktx2File& file : all_good()) {
        const Bytes whole = file.bytes();
        std::size_t opened = 0, tried = 0;
        for (std::size_t position = 12; position < std::min<std::size_t>(whole.size(), 260); ++position) {
            for (unsigned bit = 0; bit < 8; ++bit, ++tried) {
                Bytes bytes = whole;
                bytes[position] ^= static_cast<std::byte>(1u << bit);
                opened += holds(bytes) ? 1 : 0;
            }
        }
        EXPECT_GT(opened, 100u);
        EXPECT_LT(opened, tried - 300);
    }
}

TEST_F(ImageKtx2DamageTest, FilesWithRandomChangesGiveAnErrorOrTexels) {
    std::mt19937 random(5);
    const std::vector<Ktx2File> files = all_good();
    std::size_t opened = 0;
    for (int round = 0; round < 6000; ++round) {
        Bytes bytes = files[static_cast<std::size_t>(round) % files.size()].bytes();
        for (unsigned change = 0; change < 1 + random() % 4; ++change) {
            const std::size_t position = 12 + random() % (std::min<std::size_t>(bytes.size(), 260) - 12);
            bytes[position] =
                random() % 2 == 0 ? static_cast<std::byte>(random()) : static_cast<std::byte>(1u << random() % 8);
        }
        opened += holds(bytes) ? 1 : 0;
    }
    EXPECT_GT(opened, 500u);
    EXPECT_LT(opened, 5500u);
}

}  // namespace
}  // namespace texton
