// The server for images of running programs: programs that call show(), and clients of tev's protocol in Python.
#include "viewer/live/live_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/show.h>

#include "tests/support/configured_path.h"
#include "tests/support/program.h"
#include "tests/support/temporary_files.h"
#include "tests/viewer/live/refused.h"

namespace texton::viewer {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

/// Waits until the condition holds.
bool comes_true(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

std::vector<float> floats_of(const LiveFrame& frame) {
    std::vector<float> values(frame.texels.size() / sizeof(float));
    std::memcpy(values.data(), frame.texels.data(), frame.texels.size());
    return values;
}

class LiveServerTest : public testing::Test {
protected:
    LiveServerTest() {
        path_ = (test::temporary_files() / ("texton-live-test-" + std::to_string(getpid()))).string();
        setenv("TEXTON_SHOW", path_.c_str(), 1);
    }
    ~LiveServerTest() override {
        setenv("TEXTON_SHOW", "", 1);
        std::filesystem::remove(path_);
    }
    LiveServer::Options options() const {
        return {.tcp = ListenAddress{.port = 0}, .socket = detail::show_address(path_)};
    }
    /// Runs the client and returns when the server has read its packets.
    static void send(const LiveServer& server, const std::string& scenario) {
        const std::string script =
            test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/support/tev_client.py";
        const std::string command =
            "python3 " + script + " " + std::to_string(server.port()) + " '" + scenario + "' 2>&1";
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
    static std::string messages_of(LiveServer& server) {
        std::string all;
        for (const std::string& each : server.take_messages()) all += each + "\n";
        return all;
    }
    /// Shows a frame of 2 x 2 texels.
    static ShowResult show_one(const std::string& name, std::uint32_t value) {
        const std::vector<std::uint32_t> texels(4, value);
        ShowResult result;
        EXPECT_TRUE(comes_true([&] {
            result = show(host_view(static_cast<const void*>(texels.data()), Format::r32_uint, {2, 2}), name);
            return result.outcome != ShowOutcome::no_window;
        }));
        return result;
    }

    std::string path_;
};

TEST_F(LiveServerTest, ClientsCreateAndUpdateImages) {
    LiveServer server(options(), [] {});
    ASSERT_EQ(server.problems().size(), 0u);
    send(server, "images");
    const std::vector<LiveImage> images = server.images();
    ASSERT_EQ(images.size(), 2u) << messages_of(server);
    EXPECT_EQ(images[0].name, "colors");
    const auto colors = server.frame("colors");
    ASSERT_TRUE(colors);
    EXPECT_EQ(colors->format, Format::rgba32_float);
    EXPECT_EQ(colors->extent, (Extent{4, 3}));
    std::vector<float> expected;
    for (std::size_t i = 0; i < 12; ++i)
        for (const std::size_t value : {3 * i, 3 * i + 1, 3 * i + 2}) {
            expected.push_back(static_cast<float>(value));
            if (expected.size() % 4 == 3) expected.push_back(1);
        }
    expected[5 * 4 + 2] = 100;
    expected[6 * 4 + 2] = 101;
    expected[5 * 4] = 200;
    expected[6 * 4] = 201;
    expected[11 * 4 + 1] = 300;
    EXPECT_EQ(floats_of(*colors), expected);
    const auto layers = server.frame("layers");
    ASSERT_TRUE(layers);
    EXPECT_EQ(layers->extent, (Extent{2, 1, 2}));
    EXPECT_EQ(floats_of(*layers), (std::vector<float>{0, 0, 5, 6}));
    EXPECT_EQ(messages_of(server), "");
}

TEST_F(LiveServerTest, ClientsAskForFilesAndDraw) {
    LiveServer server(options(), [] {});
    send(server, "requests");
    const std::vector<LiveRequest> requests = server.take_requests();
    ASSERT_EQ(requests.size(), 4u);
    EXPECT_EQ(requests[0].name, "a.exr");
    EXPECT_FALSE(requests[0].focus);
    EXPECT_EQ(requests[1].name, "b:2.exr");
    EXPECT_EQ(requests[2].kind, LiveRequest::Kind::reload);
    EXPECT_EQ(requests[3].kind, LiveRequest::Kind::close);
    EXPECT_EQ(requests[3].name, "gone");
    send(server, "graphics");
    const std::vector<tev::Command> commands = server.graphics("drawn");
    ASSERT_EQ(commands.size(), 6u);
    EXPECT_EQ(commands[4].text, "label");
    server.close("drawn");
    EXPECT_TRUE(server.graphics("drawn").empty());
}

TEST_F(LiveServerTest, AWrongPacketClosesItsConnectionWithAMessage) {
    LiveServer::Options limited = options();
    limited.memory = 1 << 20;
    LiveServer server(limited, [] {});
    const std::vector<std::pair<std::string, std::string>> scenarios{
        {"wrong type", "no packet of type 9"},  {"too few values", "but 15 values follow"},
        {"outside", "exceeds the image small"}, {"too large", "needs"},
        {"too long", "a packet needs 4.0 GiB"}, {"half", "inside a packet"}};
    for (const auto& [scenario, message] : scenarios) {
        send(server, scenario);
        std::string said;
        EXPECT_TRUE(comes_true([&] { return !(said += messages_of(server)).empty(); })) << scenario;
        EXPECT_NE(said.find(message), std::string::npos) << scenario << ": " << said;
        EXPECT_NE(said.find("client 127.0.0.1:"), std::string::npos) << said;
    }
    send(server, "unknown image");
    EXPECT_NE(messages_of(server).find("An update of nobody was ignored"), std::string::npos);
    EXPECT_TRUE(server.frame("after")) << "the connection was closed";
}

TEST_F(LiveServerTest, AProgramShowsFramesUntilItEnds) {
    std::atomic<int> told{0};
    LiveServer server(options(), [&] { ++told; });
    const ShowResult first = show_one("program", 1);
    ASSERT_TRUE(comes_true([&] { return server.frame("program") != nullptr; }));
    const auto frame = server.frame("program");
    EXPECT_EQ(frame->number, first.frame);
    EXPECT_EQ(frame->format, Format::r32_uint);
    EXPECT_EQ(frame->extent, (Extent{2, 2}));
    EXPECT_GT(told.load(), 0);
    for (std::uint32_t i = 2; i <= 6; ++i) (void)show_one("program", i);
    ASSERT_TRUE(comes_true([&] { return server.frame("program")->number == first.frame + 5; }));
    EXPECT_EQ(server.images()[0].dropped, 4u);
    EXPECT_EQ(frame->texels[0], std::byte{1}) << "a frame that is used was overwritten";
    EXPECT_EQ(server.frame("program")->texels[0], std::byte{6});
    server.close("program");
    EXPECT_TRUE(server.images().empty());
}

TEST_F(LiveServerTest, ImagesOfKilledProgramsStayAndAreTakenOver) {
    LiveServer server(options(), [] {});
    std::minstd_rand random(5);
    for (int run = 0; run < 10; ++run) {
        test::Program program("showing", Device::cpu());
        ASSERT_TRUE(comes_true([&] {
            const auto images = server.images();
            return !images.empty() && !images[0].has_ended && server.frame("counter");
        }));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
        program.kill();
        ASSERT_TRUE(comes_true([&] { return server.images()[0].has_ended; }));
        const auto frame = server.frame("counter");
        ASSERT_TRUE(frame);
        std::vector<std::uint32_t> texels(frame->texels.size() / 4);
        std::memcpy(texels.data(), frame->texels.data(), frame->texels.size());
        EXPECT_TRUE(std::ranges::all_of(texels, [&](std::uint32_t texel) { return texel == frame->number; }))
            << "run " << run << ", frame " << frame->number;
        EXPECT_EQ(server.images().size(), 1u);
    }
}

TEST_F(LiveServerTest, ImagesThatExceedTheMemoryAreRefused) {
    LiveServer::Options limited = options();
    limited.memory = 64 << 10;
    LiveServer server(limited, [] {});
    (void)show_one("small", 1);
    ASSERT_TRUE(comes_true([&] { return server.frame("small") != nullptr; }));
    std::vector<std::uint32_t> texels(256 * 256);
    (void)show(host_view(static_cast<const void*>(texels.data()), Format::r32_uint, {256, 256}), "large");
    std::string said;
    ASSERT_TRUE(comes_true([&] { return !(said += messages_of(server)).empty(); }));
    EXPECT_NE(said.find("A program was disconnected"), std::string::npos) << said;
    EXPECT_NE(said.find("the image large of 256 x 256 texels needs 1 MiB"), std::string::npos) << said;
    EXPECT_NE(said.find("--live-memory"), std::string::npos) << said;
    EXPECT_EQ(server.images().size(), 1u);
}

TEST_F(LiveServerTest, AProgramThatSendsSomethingElseIsDisconnected) {
    LiveServer server(options(), [] {});
    const detail::ShowAddress address = *detail::show_address(path_);
    const detail::OwnedDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    ASSERT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.address), address.bytes), 0);
    ASSERT_EQ(::send(socket.get(), "hello", 5, 0), 5);
    char byte = 0;
    EXPECT_EQ(recv(socket.get(), &byte, 1, 0), 0);
    std::string said;
    ASSERT_TRUE(comes_true([&] { return !(said += messages_of(server)).empty(); }));
    EXPECT_NE(said.find("a message of 5 bytes"), std::string::npos) << said;
}

TEST_F(LiveServerTest, ItListensOnTheLoopbackInterfaceAndReportsATakenPort) {
    LiveServer server(options(), [] {});
    EXPECT_EQ(ListenAddress{}.host, "127.0.0.1");
    EXPECT_EQ(ListenAddress{}.port, 14158);
    LiveServer::Options taken;
    taken.tcp = ListenAddress{.port = server.port()};
    taken.socket = detail::show_address(path_);
    const LiveServer second(taken, [] {});
    EXPECT_EQ(second.problems().size(), 2u);
    EXPECT_FALSE(second.listens());
    EXPECT_NE(second.problems()[1].find(std::to_string(server.port())), std::string::npos) << second.problems()[1];
}

TEST(ListenAddressTest, PartsThatAreMissingHaveTheirDefaults) {
    const ListenAddress loopback;
    EXPECT_EQ(listen_address("127.0.0.1:14158"), loopback);
    EXPECT_EQ(listen_address("14158"), loopback);
    EXPECT_EQ(listen_address("localhost"), (ListenAddress{"localhost", 14158}));
    EXPECT_EQ(listen_address(":99"), (ListenAddress{"127.0.0.1", 99}));
    EXPECT_EQ(listen_address("0.0.0.0:1"), (ListenAddress{"0.0.0.0", 1}));
    EXPECT_EQ(listen_address("[::1]:80"), (ListenAddress{"::1", 80}));
    EXPECT_EQ(listen_address("[::1]"), (ListenAddress{"::1", 14158}));
    for (const char* wrong : {"", "host:", "host:x", "host:70000", "[::1", "[::1]x", "[::1]:", "[]:1", "1:2:3"})
        expect_refused([&] { (void)listen_address(wrong); }, ErrorCode::bad_argument, "address");
}

}  // namespace
}  // namespace texton::viewer
