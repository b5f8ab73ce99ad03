// Every wrong use is rejected with the expected code and object, with the same message on every device, and leaks
// nothing.
#include <optional>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pool.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"
#include "tests/support/wrong_uses.h"

namespace texton {
namespace {

using test::WrongUse;

std::optional<Error> error_of(const WrongUse& use, const Device& device) {
    try {
        use.run(device);
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

class WrongUseTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, WrongUseTest, test::every_device(), test::device_label);

TEST_P(WrongUseTest, EveryWrongUseIsRefusedWithTheObjectAndTheRemedy) {
    std::set<std::string_view> names;
    for (const WrongUse& use : test::wrong_uses()) {
        SCOPED_TRACE(use.name);
        EXPECT_TRUE(names.insert(use.name).second) << "the name is not unique";
        test::expect_error([&] { use.run(device()); }, use.code, use.object);
    }
    EXPECT_GT(names.size(), 100u);
}

TEST_P(WrongUseTest, WrongUseNeverReachesTheDriver) {
    for (const WrongUse& use : test::wrong_uses()) {
        // Only the driver knows the free memory, the registered symbols, and whether streams were joined.
        if (use.memory || use.code == ErrorCode::not_registered || use.code == ErrorCode::capturing) continue;
        SCOPED_TRACE(use.name);
        const auto error = error_of(use, device());
        ASSERT_TRUE(error);
        EXPECT_EQ(error->call(), "") << error->what();
        EXPECT_EQ(error->cuda_name(), "");
    }
}

TEST_P(WrongUseTest, OutOfMemoryReportsRequestedAndFreeBytes) {
    for (const WrongUse& use : test::wrong_uses()) {
        if (!use.memory) continue;
        SCOPED_TRACE(use.name);
        const auto error = error_of(use, device());
        ASSERT_TRUE(error);
        const std::uint64_t asked = test::number_of(*error, "bytes");
        const std::uint64_t free = test::number_of(*error, "free");
        EXPECT_GE(asked, std::uint64_t{1} << 46);
        EXPECT_GT(free, 0u);
        EXPECT_LE(free, device().memory().total);
        const std::string text = error->what();
        EXPECT_NE(text.find(std::to_string(asked)), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(free)), std::string::npos) << text;
    }
}

TEST_P(WrongUseTest, WrongUseLeaksNoMemory) {
    for (const WrongUse& use : test::wrong_uses())
        (void)error_of(use, device());  // objects that are created once exist after this
    device().synchronize();
    const std::size_t before = device().memory().free;
    const PoolUsage pool_before = Pool::default_of(device()).usage();
    for (const WrongUse& use : test::wrong_uses()) {
        for (int round = 0; round < 10; ++round) (void)error_of(use, device());
        if (!on_cpu()) continue;  // the CPU device counts exactly, so the failing row can be named
        device().synchronize();
        ASSERT_EQ(device().memory().free, before) << use.name;
    }
    device().synchronize();
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{8} << 20), before);
    EXPECT_EQ(Pool::default_of(device()).usage().used, pool_before.used);
}

TEST_P(WrongUseTest, WrongUseLeavesTheDeviceUsable) {
    for (const WrongUse& use : test::wrong_uses()) {
        (void)error_of(use, device());
        SCOPED_TRACE(use.name);
        const Stream stream(device());
        const Linear memory(device(), 64);
        test::Bytes seen(64);
        fill(memory.view(), std::uint8_t{7}, stream);
        copy(host_view(std::span(seen)), memory.view(), stream);
        stream.synchronize();
        ASSERT_TRUE(test::all_bytes(seen, 7));
    }
}

// Removes the parts of a message that differ between devices: device name, addresses, and free memory.
std::string comparable(std::string text, const Device& device, const Error& error) {
    const auto replace = [&text](const std::string& what, const std::string& with) {
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
            text.replace(at, what.size(), with);
    };
    replace(device.name(), "<device>");
    for (const auto& [name, value] : error.numbers()) {
        if (name == "free") replace(" " + std::to_string(value) + " ", " <free> ");
    }
    text = std::regex_replace(text, std::regex("(CUDA|CPU) device [0-9]+"), "<location>");
    text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "<address>");
    return std::regex_replace(text, std::regex(" \\[[^\\]]*\\]$"), "");  // the failed CUDA call
}

TEST(WrongUseParityTest, WrongUseGivesTheSameErrorOnEveryDevice) {
    const Device reference = Device::cpu();
    std::vector<Device> others;
    for (const Device& device : Device::list()) {
        if (device != reference) others.push_back(device);
    }
    ASSERT_FALSE(others.empty());
    for (const Device& other : others) {
        for (const WrongUse& use : test::wrong_uses()) {
            SCOPED_TRACE(std::string(use.name) + " on " + other.name());
            const auto expected = error_of(use, reference);
            const auto actual = error_of(use, other);
            ASSERT_TRUE(expected);
            ASSERT_TRUE(actual);
            EXPECT_EQ(comparable(actual->what(), other, *actual), comparable(expected->what(), reference, *expected));
            EXPECT_EQ(actual->code(), expected->code());
            EXPECT_EQ(actual->object(), expected->object());
            ASSERT_EQ(actual->numbers().size(), expected->numbers().size());
            for (std::size_t i = 0; i < expected->numbers().size(); ++i) {
                EXPECT_EQ(actual->numbers()[i].first, expected->numbers()[i].first);
                if (expected->numbers()[i].first == "free") continue;
                EXPECT_EQ(actual->numbers()[i].second, expected->numbers()[i].second);
            }
        }
    }
}

}  // namespace
}  // namespace texton
