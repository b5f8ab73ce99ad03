// Which JPEG files every decoder reads in the same way.
#include "arrays/files/jpeg_header.h"

#include <gtest/gtest.h>

#include "tests/support/file_bytes.h"

namespace texton {
namespace {

using detail::is_plain_jpeg;
using test::FileBytes;

struct Parts {
    unsigned frame = 0xc0;
    unsigned bits = 8;
    std::vector<std::uint8_t> components{1, 2, 3};
    int transform = -1;  // of Adobe; -1: there is no such segment
    bool has_end = true;
};

FileBytes jpeg(const Parts& parts) {
    FileBytes file;
    file.be16(0xffd8);
    if (parts.transform >= 0) {
        file.be16(0xffee).be16(14).text("Adobe").zeros(6).u8(static_cast<unsigned>(parts.transform));
    }
    file.be16(0xffdb).be16(2 + 65).zeros(65);
    file.u8(0xff).be16(0xff00 | parts.frame);  // after a fill byte
    file.be16(8 + 3 * parts.components.size()).u8(parts.bits).be16(16).be16(16);
    file.u8(static_cast<unsigned>(parts.components.size()));
    for (const std::uint8_t name : parts.components) file.u8(name).u8(0x11).u8(0);
    file.be16(0xffc4).be16(2 + 17).zeros(17);
    file.be16(0xffda).be16(6).zeros(4).pattern(20);
    if (parts.has_end) file.be16(0xffd9);
    return file;
}

bool is_plain(const Parts& parts) {
    const FileBytes file = jpeg(parts);
    return is_plain_jpeg(std::as_bytes(std::span(file.bytes)));
}

TEST(JpegHeaderTest, GrayAndYcbcrOfEightBitsInHuffmanCodesArePlain) {
    EXPECT_TRUE(is_plain({}));
    EXPECT_TRUE(is_plain({.components = {1}}));
    EXPECT_TRUE(is_plain({.frame = 0xc1}));
    EXPECT_TRUE(is_plain({.frame = 0xc2}));
    EXPECT_TRUE(is_plain({.transform = 1}));
    EXPECT_TRUE(is_plain({.components = {'R', 'G', 'C'}}));
}

TEST(JpegHeaderTest, OtherKindsAreNot) {
    EXPECT_FALSE(is_plain({.frame = 0xc3})) << "lossless";
    EXPECT_FALSE(is_plain({.frame = 0xc9})) << "arithmetic codes";
    EXPECT_FALSE(is_plain({.bits = 12}));
    EXPECT_FALSE(is_plain({.components = {1, 2, 3, 4}})) << "CMYK";
    EXPECT_FALSE(is_plain({.components = {1, 2}}));
    EXPECT_FALSE(is_plain({.components = {'R', 'G', 'B'}}));
    EXPECT_FALSE(is_plain({.transform = 0})) << "RGB";
    EXPECT_FALSE(is_plain({.has_end = false}));
}

TEST(JpegHeaderTest, NoTruncatedOrDamagedHeaderIsReadBeyondItsEnd) {
    const std::vector<std::uint8_t> whole = jpeg({.transform = 1}).bytes;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // A copy of exactly this size, so that a sanitizer sees reads after it.
        const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(is_plain_jpeg(std::as_bytes(std::span(part)))) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned value : {0x00U, 0xffU}) {
            std::vector<std::uint8_t> damaged = whole;
            damaged[at] = static_cast<std::uint8_t>(value);
            (void)is_plain_jpeg(std::as_bytes(std::span(damaged)));
        }
    }
}

}  // namespace
}  // namespace texton
