// show(): frames for a window in another process, through memory that both share.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/show.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/program.h"
#include "tests/support/show_window.h"
#include "tests/support/temporary_files.h"

namespace texton {
namespace {

using namespace std::chrono_literals;
using test::expect_error;
using test::ShownFrame;
using test::ShowWindow;

constexpr auto kPatience = 20s;  // of waits that must end

/// A socket of this test's own, which TEXTON_SHOW names.
class ShowSocket {
public:
    ShowSocket() {
        const auto folder = test::temporary_files();
        path_ = (folder / ("texton-show-test-" + std::to_string(getpid()))).string();
        setenv("TEXTON_SHOW", path_.c_str(), 1);
    }
    ~ShowSocket() {
        setenv("TEXTON_SHOW", "", 1);
        std::filesystem::remove(path_);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Repeats the call until there is a window: attempts to connect are limited in rate.
ShowResult shown(const std::function<ShowResult()>& call) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        const ShowResult result = call();
        if (result.outcome != ShowOutcome::no_window || std::chrono::steady_clock::now() > end) return result;
        std::this_thread::sleep_for(10ms);
    }
}

std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(values[0]));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// Receives until there is a frame with this number.
ShownFrame frame_of(ShowWindow& window, const std::string& name, std::uint64_t number) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        window.receive(1);
        const auto frame = window.read(name);
        if (frame && frame->frame == number) return *frame;
    }
    ADD_FAILURE() << "frame " << number << " of " << name << " did not arrive";
    return {};
}

/// Expects that each texel holds the number of the frame.
void expect_whole(const ShownFrame& frame) {
    const std::vector<std::uint32_t> expected(frame.texels.size() / 4, static_cast<std::uint32_t>(frame.frame));
    ASSERT_EQ(frame.texels, bytes_of(expected)) << "frame " << frame.frame;
}

class ShowTest : public testing::Test {
protected:
    ConstView view(std::uint32_t value) {
        std::ranges::fill(texels_, value);
        return host_view(static_cast<const void*>(texels_.data()), Format::r32_uint, {4, 3});
    }

    ShowSocket socket_;
    std::vector<std::uint32_t> texels_ = std::vector<std::uint32_t>(4 * 3);
};

class ShowOnDeviceTest : public test::OnEveryDevice {
protected:
    ShowSocket socket_;
};

TEST_F(ShowTest, WithoutAWindowNothingIsShownAndNothingThrows) {
    for (int i = 0; i < 3; ++i) {
        const ShowResult result = show(view(1), "image");
        EXPECT_EQ(result.outcome, ShowOutcome::no_window);
        EXPECT_EQ(result.frame, 0u);
    }
    setenv("TEXTON_SHOW", "", 1);
    std::this_thread::sleep_for(120ms);
    EXPECT_EQ(show(view(1), "image").outcome, ShowOutcome::no_window);
}

TEST_F(ShowTest, AWindowIsFoundAtMostATenthOfASecondLater) {
    std::this_thread::sleep_for(120ms);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(show(view(1), "image").outcome, ShowOutcome::no_window);
    ShowWindow window(socket_.path());
    if (std::chrono::steady_clock::now() - begin < 90ms) {
        EXPECT_EQ(show(view(1), "image").outcome, ShowOutcome::no_window) << "attempts are not limited in rate";
    }
    std::this_thread::sleep_until(begin + 150ms);
    EXPECT_EQ(show(view(1), "image").outcome, ShowOutcome::shown);
}

TEST_F(ShowTest, AFrameHasItsFormatSizeAndTexels) {
    ShowWindow window(socket_.path());
    std::vector<std::uint16_t> padded(5 * 3 * 2);  // rows of 4 texels, 5 apart
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] = static_cast<std::uint16_t>(i);
    const ConstView volume = host_view(static_cast<const void*>(padded.data()), Format::r16_uint, {4, 3, 2}, 10);
    const ShowResult result = shown([&] { return show(volume, "volume"); });
    EXPECT_EQ(result.outcome, ShowOutcome::shown);
    const ShownFrame frame = frame_of(window, "volume", result.frame);
    ASSERT_EQ(frame.texels.size(), 4 * 3 * 2 * 2u);
    for (std::size_t i = 0; i < 24; ++i) {
        std::uint16_t value = 0;
        std::memcpy(&value, &frame.texels[i * 2], 2);
        EXPECT_EQ(value, i / 4 * 5 + i % 4);
    }
    EXPECT_EQ(window.images().back()->announced.format, Format::r16_uint);
    EXPECT_EQ(window.images().back()->announced.extent, (Extent{4, 3, 2}));

    const std::vector<std::byte> blocks(2 * 2 * 16, std::byte{0x3C});
    const ConstView compressed = host_view(static_cast<const void*>(blocks.data()), Format::bc7_srgb, {7, 5});
    const ShowResult second = show(compressed, "blocks");
    EXPECT_EQ(frame_of(window, "blocks", second.frame).texels, blocks);
}

TEST_F(ShowTest, TheNewestFrameWinsAndDroppedOnesAreCounted) {
    ShowWindow window(socket_.path());
    std::uint64_t first = shown([&] { return show(view(1), "newest"); }).frame;
    ShowResult result;
    for (std::uint32_t i = 2; i <= 10; ++i) result = show(view(i), "newest");
    EXPECT_EQ(result.outcome, ShowOutcome::shown);
    EXPECT_EQ(result.frame, first + 9);
    EXPECT_EQ(result.dropped, 10 - detail::FrameMemory::kSlots);
    window.receive();
    const auto frame = window.read("newest");
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->frame, result.frame);
    EXPECT_EQ(frame->texels, bytes_of(std::vector<std::uint32_t>(12, 10)));
    EXPECT_FALSE(window.read("newest")) << "older frames were not freed";
}

TEST_F(ShowTest, AFrameThatIsBeingReadIsNotOverwritten) {
    ShowWindow window(socket_.path());
    (void)shown([&] { return show(view(1), "held"); });
    window.receive();
    ASSERT_FALSE(window.images().empty());
    detail::FrameMemory& memory = *window.images().back()->memory;
    std::vector<detail::FrameMemory::Ready> held;
    for (std::uint32_t i = 1;; ++i) {
        const auto ready = memory.begin_read();
        ASSERT_TRUE(ready);
        held.push_back(*ready);
        if (held.size() == detail::FrameMemory::kSlots) break;
        ASSERT_EQ(show(view(i + 1), "held").outcome, ShowOutcome::shown);
    }
    const ShowResult result = show(view(99), "held");
    EXPECT_EQ(result.outcome, ShowOutcome::dropped);
    EXPECT_EQ(result.dropped, 1u);
    for (std::uint32_t i = 0; i < held.size(); ++i) {
        std::vector<std::byte> bytes(memory.frame_bytes());
        std::memcpy(bytes.data(), memory.slot(held[i].slot), bytes.size());
        EXPECT_EQ(bytes, bytes_of(std::vector<std::uint32_t>(12, i + 1)));
        memory.release(held[i].slot);
    }
    EXPECT_EQ(show(view(100), "held").outcome, ShowOutcome::shown);
}

TEST_F(ShowTest, AnotherSizeReplacesTheImage) {
    ShowWindow window(socket_.path());
    (void)shown([&] { return show(view(1), "sized"); });
    const ConstView smaller = view(2).region({{0, 0, 0}, {2, 2, 1}});
    const ShowResult result = show(smaller, "sized");
    EXPECT_EQ(frame_of(window, "sized", result.frame).texels, bytes_of(std::vector<std::uint32_t>(4, 2)));
    ASSERT_EQ(window.images().size(), 2u);
    EXPECT_NE(window.images()[0]->announced.image, window.images()[1]->announced.image);
}

TEST_F(ShowTest, ClosedWindowsAreForgottenAndNewOnesFound) {
    for (int i = 0; i < 3; ++i) {
        {
            ShowWindow window(socket_.path());
            const ShowResult result = shown([&] { return show(view(5), "again"); });
            EXPECT_EQ(frame_of(window, "again", result.frame).texels, bytes_of(std::vector<std::uint32_t>(12, 5)));
        }
        EXPECT_EQ(show(view(6), "again").outcome, ShowOutcome::no_window);
    }
}

TEST_F(ShowTest, WrongNamesAndViewsAreRefused) {
    const std::string longest(detail::kMaxShownName, 'n');
    EXPECT_EQ(show(view(1), longest).outcome, ShowOutcome::no_window);
    for (const std::string& name : {std::string(), longest + "n", std::string("a\0b", 3)})
        expect_error([&] { show(view(1), name); }, ErrorCode::bad_argument, "texton::show", {"name"});
    expect_error([] { show(ConstView(), "empty"); }, ErrorCode::bad_argument, "texton::show");
}

TEST_F(ShowTest, AThreadForEachNameShowsItsOwnFrames) {
    ShowWindow window(socket_.path());
    (void)shown([&] { return show(view(1), "first"); });
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            std::vector<std::uint32_t> texels(64 * 64);
            for (std::uint32_t i = 1; i <= 50; ++i) {
                std::ranges::fill(texels, i);
                (void)show(host_view(static_cast<const void*>(texels.data()), Format::r32_uint, {64, 64}),
                           "thread " + std::to_string(t));
            }
        });
    }
    for (std::thread& each : threads) each.join();
    for (std::uint32_t t = 0; t < 4; ++t) expect_whole(frame_of(window, "thread " + std::to_string(t), 50));
}

TEST_F(ShowTest, AForkedChildHasAConnectionOfItsOwn) {
    ShowWindow window(socket_.path());
    (void)shown([&] { return show(view(1), "parent"); });
    window.receive();
    const std::size_t before = window.connections();
    const pid_t child = fork();
    if (child == 0) {
        ShowResult result;
        for (int i = 0; i < 100 && result.outcome != ShowOutcome::shown; ++i) {
            result = show(view(2), "child");
            usleep(10'000);
        }
        _exit(result.outcome == ShowOutcome::shown ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(frame_of(window, "child", 1).texels, bytes_of(std::vector<std::uint32_t>(12, 2)));
    EXPECT_EQ(window.connections(), before + 1);
    const ShowResult result = show(view(3), "parent");
    EXPECT_EQ(frame_of(window, "parent", result.frame).texels, bytes_of(std::vector<std::uint32_t>(12, 3)));
}

TEST_F(ShowTest, ASecondWindowIsRefusedAndAKilledOneReplaced) {
    {
        const ShowWindow window(socket_.path());
        expect_error([&] { ShowWindow second(socket_.path()); }, ErrorCode::io, "texton::show", {socket_.path()});
    }
    EXPECT_FALSE(std::filesystem::exists(socket_.path()));
    std::ofstream(socket_.path()) << "a file";
    expect_error([&] { ShowWindow second(socket_.path()); }, ErrorCode::io, "texton::show", {socket_.path()});
    EXPECT_TRUE(std::filesystem::exists(socket_.path())) << "a file that is no socket was removed";
    std::filesystem::remove(socket_.path());
    test::Program killed("watching", Device::cpu());
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!std::filesystem::exists(socket_.path()) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
    killed.kill();
    ASSERT_TRUE(std::filesystem::exists(socket_.path()));
    const ShowWindow replaced(socket_.path());
}

TEST_F(ShowTest, ProgramsOfOtherUsersAreRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    ShowWindow window(socket_.path());
    std::filesystem::permissions(socket_.path(), std::filesystem::perms::all);
    const pid_t child = fork();
    if (child == 0) {
        if (setuid(65534) != 0) _exit(3);
        usleep(120'000);
        _exit(show(view(1), "stranger").outcome == ShowOutcome::no_window ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    window.receive();
    EXPECT_EQ(window.connections(), 0u);
}

TEST_F(ShowTest, MemoryThatIsTooSmallOrCouldShrinkIsRefused) {
    const detail::OwnedDescriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(unsealed.get(), 1 << 20), 0);
    expect_error([&] { detail::FrameMemory memory(unsealed.get(), 100); }, ErrorCode::bad_argument, "texton::show",
                 {"could shrink"});
    ASSERT_EQ(fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    const detail::FrameMemory fits(unsealed.get(), 100);
    expect_error([&] { detail::FrameMemory memory(unsealed.get(), 1 << 20); }, ErrorCode::bad_argument, "texton::show",
                 {"1048576 bytes"});
    const detail::OwnedDescriptor file(open("/dev/null", O_RDWR | O_CLOEXEC));
    expect_error([&] { detail::FrameMemory memory(file.get(), 100); }, ErrorCode::bad_argument, "texton::show");
    expect_error([&] { detail::FrameMemory memory(~std::size_t{0} / 4); }, ErrorCode::overflow, "texton::show");
}

TEST_F(ShowTest, WrongMessagesAreRefused) {
    const auto parse = [](const detail::ShowMessage& message) {
        return detail::parse_show_message(std::as_bytes(std::span(&message, 1)));
    };
    detail::ShowMessage good{.kind = detail::ShowMessageKind::image, .image = 3, .width = 4, .height = 5, .depth = 6};
    std::strcpy(good.format.data(), "bc1_unorm");
    std::strcpy(good.name.data(), "name");
    const detail::ShowReceived received = parse(good);
    EXPECT_EQ(received.name, "name");
    EXPECT_EQ(received.format, Format::bc1_unorm);
    EXPECT_EQ(received.extent, (Extent{4, 5, 6}));
    const auto refuses = [&](auto change, std::string_view fragment, ErrorCode code = ErrorCode::bad_argument) {
        detail::ShowMessage wrong = good;
        change(wrong);
        expect_error([&] { (void)parse(wrong); }, code, "", {fragment});
    };
    refuses([](auto& wrong) { wrong.magic[7] = '2'; }, "another version");
    refuses([](auto& wrong) { wrong.kind = detail::ShowMessageKind{7}; }, "kind of message 7");
    refuses([](auto& wrong) { wrong.name[0] = '\0'; }, "empty or too long");
    refuses([](auto& wrong) { wrong.name.fill('n'); }, "empty or too long");
    refuses([](auto& wrong) { std::strcpy(wrong.format.data(), "rgb9e5"); }, "rgb9e5");
    refuses([](auto& wrong) { std::strcpy(wrong.format.data(), "nv12"); }, "nv12");
    refuses([](auto& wrong) { wrong.format.fill('f'); }, "cannot be shown");
    refuses([](auto& wrong) { wrong.height = 0; }, "4 x 0 x 6");
    refuses([](auto& wrong) { wrong.width = wrong.height = ~0ull; }, "", ErrorCode::overflow);
    expect_error([&] { (void)detail::parse_show_message(std::as_bytes(std::span("short"))); }, ErrorCode::bad_argument,
                 "texton::show", {"6 bytes"});
}

// Each process is killed at random moments, so frames are often half-written or half-read.
class KilledShowTest : public ShowTest, public testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        if (GetParam()) setenv("TEXTON_TEST_STREAM", "1", 1);
    }
    void TearDown() override { unsetenv("TEXTON_TEST_STREAM"); }
};

TEST_P(KilledShowTest, FramesOfKilledProgramsAreWhole) {
    ShowWindow window(socket_.path());
    std::minstd_rand random(GetParam() ? 1 : 2);
    std::uint64_t read = 0;
    // On a busy processor, a program writes few frames before it is killed.
    for (int run = 0; run < 20 || (read <= 40 && run < 100); ++run) {
        test::Program program("showing", Device::cpu());
        const auto begin = std::chrono::steady_clock::now();
        const auto life = std::chrono::microseconds(200 + random() % 60'000);
        const std::uint64_t before = read;
        const auto look = [&] {
            window.receive(0);
            for (const auto& image : window.images()) {
                if (const auto frame = ShowWindow::read(*image)) {
                    ++read;
                    expect_whole(*frame);
                }
            }
        };
        // The life begins when the first frame has arrived.
        while (read == before && std::chrono::steady_clock::now() < begin + kPatience && !HasFatalFailure()) look();
        const auto end = std::chrono::steady_clock::now() + life;
        while (std::chrono::steady_clock::now() < end && !HasFatalFailure()) look();
        program.kill();
        window.receive(5);
        look();
        ASSERT_FALSE(HasFatalFailure());
        EXPECT_EQ(window.open_connections(), 0u);
    }
    EXPECT_GT(read, 40u);
}

INSTANTIATE_TEST_SUITE_P(Streams, KilledShowTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "OnAStream" : "WithoutAStream"; });

TEST_F(ShowTest, KilledWindowsDoNotDisturbTheProgram) {
    std::minstd_rand random(3);
    std::vector<std::uint32_t> texels(300 * 200);
    const ConstView pixels = host_view(static_cast<const void*>(texels.data()), Format::r32_uint, {300, 200});
    std::uint64_t frame = 0;
    const auto show_next = [&] {
        std::ranges::fill(texels, static_cast<std::uint32_t>(frame + 1));
        const ShowResult result = show(pixels, "survivor");
        if (result.outcome != ShowOutcome::no_window) frame = result.frame;
        return result;
    };
    for (int run = 0; run < 15; ++run) {
        test::Program window("watching", Device::cpu());
        EXPECT_NE(shown(show_next).outcome, ShowOutcome::no_window);
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 30'000);
        while (std::chrono::steady_clock::now() < end) (void)show_next();
        window.kill();
        (void)show_next();
    }
    ShowWindow window(socket_.path());
    const ShowResult last = shown(show_next);
    EXPECT_EQ(last.outcome, ShowOutcome::shown);
    expect_whole(frame_of(window, "survivor", last.frame));
}

TEST_P(ShowOnDeviceTest, EveryKindOfMemoryIsShownWithAndWithoutAStream) {
    ShowWindow window(socket_.path());
    const Stream stream(device());
    const Extent extent{64, 48};
    const Linear linear(device(), 64 * 48 * 4);
    const Pitched2D pitched(device(), Format::r32_uint, extent);
    const Pinned pinned(device(), 64 * 48 * 4);
    const Array array(device(), {.format = Format::r32_uint, .extent = extent, .levels = 2});
    std::vector<std::pair<std::string, View>> views{{"linear", linear.view(Format::r32_uint, extent)},
                                                    {"pitched", pitched.view()},
                                                    {"pinned", pinned.view(Format::r32_uint, extent)},
                                                    {"array", array.view({.level = 1})}};
    std::uint32_t value = 0;
    for (const auto& [name, view] : views) {
        const std::size_t texels = view.extent().width * view.extent().height;
        fill(view, ++value);
        const ShowResult now = shown([&, &view = view, &name = name] { return show(view, name); });
        EXPECT_EQ(frame_of(window, name, now.frame).texels, bytes_of(std::vector<std::uint32_t>(texels, value)))
            << name;
        fill(view, ++value, stream);
        const ShowResult later = show(view, name, stream);
        EXPECT_EQ(later.outcome, ShowOutcome::shown);
        stream.synchronize();
        EXPECT_EQ(frame_of(window, name, later.frame).texels, bytes_of(std::vector<std::uint32_t>(texels, value)))
            << name;
    }
    stream.synchronize();
}

TEST_P(ShowOnDeviceTest, ACallOnAStreamReturnsBeforeTheWorkIsDone) {
    ShowWindow window(socket_.path());
    const Stream stream(device());
    const Linear memory(device(), 4096);
    std::vector<std::uint32_t> pageable(1024, 3);
    const View view = memory.view(Format::r32_uint, {32, 32});
    fill(view, std::uint32_t{1}, stream);
    stream.synchronize();
    (void)shown([&] { return show(view, "later", stream); });  // registers the memory
    stream.synchronize();
    std::atomic<bool> go{false};
    stream.run([&go] {
        while (!go) std::this_thread::sleep_for(1ms);
    });
    fill(view, std::uint32_t{2}, stream);
    const ShowResult later = show(view, "later", stream);
    const ShowResult host = show(host_view(pageable.data(), Format::r32_uint, {32, 32}), "host", stream);
    window.receive();
    (void)window.read("later");
    EXPECT_FALSE(window.read("host"));
    go = true;
    stream.synchronize();
    EXPECT_EQ(frame_of(window, "later", later.frame).texels, bytes_of(std::vector<std::uint32_t>(1024, 2)));
    EXPECT_EQ(frame_of(window, "host", host.frame).texels, bytes_of(pageable));
}

TEST_P(ShowOnDeviceTest, ACapturedStreamIsRefused) {
    const ShowWindow window(socket_.path());
    const Stream stream(device());
    const Linear memory(device(), 4096);
    (void)Graph::capture(stream, [&] {
        expect_error([&] { show(memory.view(), "captured", stream); }, ErrorCode::capturing, "texton::show");
    });
}

TEST_P(ShowOnDeviceTest, AFailedCopyGivesItsSlotBack) {
    ShowWindow window(socket_.path());
    const Stream stream(device());
    const Pinned combined(device(), 4096, {.write_combined = true});
    (void)shown([&] { return show(host_view(combined.data(), Format::r8_uint, {64, 64}), "combined"); });
    for (std::size_t i = 0; i < 2 * detail::FrameMemory::kSlots; ++i) {
        const View view = combined.view(Format::r8_uint, {64, 64});
        expect_error([&] { show(view, "combined"); }, ErrorCode::not_permitted, "texton::copy");
        expect_error([&] { show(view, "combined", stream); }, ErrorCode::not_permitted, "texton::copy");
    }
    const std::vector<std::byte> texels(4096, std::byte{1});
    const ShowResult result =
        show(host_view(static_cast<const void*>(texels.data()), Format::r8_uint, {64, 64}), "combined");
    EXPECT_EQ(result.outcome, ShowOutcome::shown);
    EXPECT_EQ(frame_of(window, "combined", result.frame).texels, texels);
}

INSTANTIATE_TEST_SUITE_P(Devices, ShowOnDeviceTest, test::every_device(), test::device_label);

TEST_F(ShowTest, ADebuggerShowsHostMemoryAndArraysOfAStoppedProgram) {
    if (std::system("gdb --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "gdb was not found";
    ShowWindow window(socket_.path());
    const std::string program =
        test::configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS) + "/texton-test-stopped";
    const std::string command =
        "gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break stop_here' -ex run "
        "-ex 'print ((const char*(*)())texton_show_pointer)(pixels, \"r32_uint\", 6, 4, \"pixels\")' "
        "-ex 'print ((const char*(*)())texton_show_view)(view, \"array\")' "
        "-ex 'print ((const char*(*)())texton_show_pointer)(pixels, \"r32\", 6, 4, \"pixels\")' -ex kill " +
        program + " 2>&1";
    FILE* gdb = popen(command.c_str(), "r");
    ASSERT_NE(gdb, nullptr);
    std::string said;
    std::array<char, 256> part{};
    while (std::fgets(part.data(), part.size(), gdb) != nullptr) said += part.data();
    pclose(gdb);
    if (said.find("ptrace") != std::string::npos) GTEST_SKIP() << "the system lets no process debug another one";
    if (said.find("extended state") != std::string::npos)
        GTEST_SKIP() << "this gdb is older than the processor: it cannot write its registers";
    EXPECT_NE(said.find("pixels is shown as frame 1"), std::string::npos) << said;
    EXPECT_NE(said.find("array is shown as frame 1"), std::string::npos) << said;
    EXPECT_NE(said.find("there is no format 'r32'"), std::string::npos) << said;
    EXPECT_EQ(frame_of(window, "pixels", 1).texels, bytes_of(std::vector<std::uint32_t>(24, 7)));
    EXPECT_EQ(frame_of(window, "array", 1).texels, bytes_of(std::vector<std::uint32_t>(15, 9)));
}

}  // namespace
}  // namespace texton
