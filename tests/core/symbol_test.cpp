#include <texton/symbol.h>

#include <array>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/symbols.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::expect_error;
using test::kSymbolBytes;
using test::pattern;
using test::same_bytes;
using test::symbol_of;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

class SymbolTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SymbolTest, test::every_device(), test::device_label);

TEST_P(SymbolTest, ASymbolHasAnAddressAndASize) {
    for (const int which : {0, 1}) {
        const auto symbol = symbol_of(device(), which);
        EXPECT_NE(symbol.address(), nullptr);
        EXPECT_EQ(symbol.bytes(), kSymbolBytes);
        EXPECT_EQ(symbol.device(), device());
        const View view = symbol.view();
        EXPECT_EQ(view.kind(), MemoryKind::symbol);
        EXPECT_EQ(view.extent(), Extent{kSymbolBytes});
        EXPECT_EQ(view.format(), Format::r8_uint);
        EXPECT_EQ(view.device(), device());
    }
    EXPECT_NE(symbol_of(device(), 0).address(), symbol_of(device(), 1).address());
}

TEST_P(SymbolTest, SymbolsAreCopiedInBothDirectionsWithAndWithoutAStream) {
    const Stream stream(device());
    const Pinned pinned(device(), kSymbolBytes);
    for (const int which : {0, 1}) {
        const auto symbol = symbol_of(device(), which);
        const test::Bytes first = pattern(kSymbolBytes, 1);
        test::upload(symbol.view(), first);
        EXPECT_TRUE(same_bytes(download(symbol.view()), first));

        const test::Bytes second = pattern(kSymbolBytes, 2);
        std::copy(second.begin(), second.end(), pinned.data());
        copy(symbol.view(), pinned.view(), stream);
        test::Bytes seen(kSymbolBytes);
        copy(host_view(std::span(seen)), symbol.view(), stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(seen, second));
    }
}

TEST_P(SymbolTest, PartsOfASymbolAreCopiedAtOffsets) {
    const Stream stream(device());
    const auto symbol = symbol_of(device(), 0);
    const auto constant = symbol_of(device(), 1);
    test::Bytes expected = pattern(kSymbolBytes, 3);
    test::upload(symbol.view(), expected);
    const test::Bytes part = pattern(1001, 4);
    test::upload(symbol.view(777, part.size()), part);
    std::copy(part.begin(), part.end(), expected.begin() + 777);
    EXPECT_TRUE(same_bytes(download(symbol.view()), expected));

    copy(constant.view(4000, 1001), symbol.view(777, 1001), stream);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(constant.view(4000, 1001)), part));
    copy(symbol.view().region({{10}, {5}}), constant.view().region({{4000}, {5}}));  // regions of symbols work too
    EXPECT_TRUE(same_bytes(download(symbol.view(10, 5)), std::span(part).first(5)));
    EXPECT_EQ(symbol.view(kSymbolBytes - 1, 1).extent(), Extent{1});
}

TEST_P(SymbolTest, TheAddressOfASymbolIsDeviceMemory) {
    const auto symbol = symbol_of(device(), 0);
    test::upload(symbol.view(), pattern(kSymbolBytes, 5));
    const Linear target(device(), 100);
    const View raw = borrowed_view(device(), symbol.address() + 50, Format::r8_uint, {100});
    copy(target.view(), raw);
    EXPECT_TRUE(same_bytes(download(target.view()), download(symbol.view(50, 100))));
}

TEST_P(SymbolTest, ASymbolCanBeFilled) {
    const auto symbol = symbol_of(device(), 0);
    fill(symbol.view(), std::uint8_t{0});
    fill(symbol.view(256, 512), std::uint32_t{0xAABBCCDD});
    const test::Bytes seen = download(symbol.view());
    EXPECT_EQ(seen[255], std::byte{0});
    EXPECT_EQ(seen[256], std::byte{0xDD});
    EXPECT_EQ(seen[767], std::byte{0xAA});
    EXPECT_EQ(seen[768], std::byte{0});
}

TEST_P(SymbolTest, AViewPastTheEndIsRefused) {
    const auto symbol = symbol_of(device(), 0);
    for (const auto& [offset, count] : {std::pair<std::size_t, std::size_t>{0, kSymbolBytes + 1},
                                        {kSymbolBytes, 1},
                                        {kSymbolBytes - 1, 2},
                                        {kMax, 2},
                                        {2, kMax},
                                        {kSymbolBytes + 1, 1}}) {
        const Error error = expect_error([&, at = offset, n = count] { (void)symbol.view(at, n); },
                                         ErrorCode::out_of_bounds, "texton::Symbol", {std::to_string(kSymbolBytes)});
        EXPECT_EQ(test::number_of(error, "offset"), offset);
        EXPECT_EQ(test::number_of(error, "count"), count);
    }
    expect_error([&] { (void)symbol.view(0, 0); }, ErrorCode::bad_argument, "texton::Symbol");
    expect_error([&] { (void)symbol.view().region({{kSymbolBytes}, {1}}); }, ErrorCode::out_of_bounds, "texton::View");
}

TEST_P(SymbolTest, AnOrdinaryVariableIsRefused) {
    static int ordinary = 0;
    expect_error([&] { Symbol<int> symbol(device(), ordinary); }, ErrorCode::not_registered, "texton::Symbol");
}

TEST(CpuSymbolTest, AVariableIsASymbolDuringTheLifetimeOfItsRegistration) {
    static std::array<int, 4> variable{1, 2, 3, 4};
    const Device device = Device::cpu();
    {
        const CpuSymbol registered(variable);
        const Symbol symbol(device, variable);
        EXPECT_EQ(symbol.bytes(), sizeof(variable));
        EXPECT_EQ(symbol.address(), reinterpret_cast<std::byte*>(variable.data()));
        fill(symbol.view(4, 4), std::uint8_t{0xFF});
        EXPECT_EQ(variable[1], -1);
        EXPECT_EQ(variable[2], 3);
        for (const Device& each : Device::list()) {
            if (each.kind() != DeviceKind::cpu) continue;
            const Symbol there(each, variable);
            EXPECT_EQ(there.bytes(), sizeof(variable)) << each.name();
        }
    }
    expect_error([&] { Symbol symbol(device, variable); }, ErrorCode::not_registered, "texton::Symbol");
}

}  // namespace
}  // namespace texton
