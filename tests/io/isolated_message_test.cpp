// Messages of isolated reading, which this process and texton-reader exchange.
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include <texton/error.h>

#include "arrays/files/isolated/message.h"
#include "arrays/files/isolated/protocol.h"

namespace texton::detail {
namespace {

// A reader of another version must refuse the library by the version, not misread its messages.
TEST(IsolatedMessageTest, TheVersionChangesWithTheMessages) {
    Description description;
    description.levels.emplace_back();
    description.stored.emplace_back();
    description.tiff = TiffPart{.channels = {0}};
    description.texels.resize(1);
    description.image.conversions.emplace_back("c");
    const std::size_t bytes[] = {message(Request{}).size(), message(Description{}).size(), message(description).size(),
                                 message(Error({})).size()};
    const std::size_t expected[] = {216, 193, 292, 52};
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(bytes[i], expected[i]) << "Increase kReaderProtocol, and correct both numbers of this test.";
    EXPECT_EQ(kReaderProtocol, 0x54785207u);
}

}  // namespace
}  // namespace texton::detail
