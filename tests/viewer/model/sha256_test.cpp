// Test vectors of FIPS 180-4 and of NIST's Secure Hash Algorithm Validation System.
#include <string>

#include <gtest/gtest.h>

#include "viewer/model/sha256.h"

namespace texton::verify {
namespace {

std::string hash_of(const std::string& text) { return sha256(std::as_bytes(std::span(text))); }

TEST(Sha256Test, ExamplesOfTheStandardHaveTheExpectedHashes) {
    EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, HashOfPartsEqualsTheHashOfTheWhole) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    const auto bytes = std::as_bytes(std::span(text));
    for (std::size_t length = 0; length <= 130; ++length) {
        Sha256 parts;
        for (std::size_t at = 0; at < length; at += 13)
            parts.add(bytes.subspan(at, std::min<std::size_t>(13, length - at)));
        EXPECT_EQ(parts.finish(), sha256(bytes.first(length))) << length;
    }
}

}  // namespace
}  // namespace texton::verify
