#include <texton/read_options.h>

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <latch>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "arrays/files/descriptor.h"
#include "arrays/files/isolated/protocol.h"
#include "tests/support/image_folder.h"
#include "tests/support/reader_processes.h"

// The processes, sockets and descriptors of isolated reading: how many there are, when they end, and what happens if
// there are too few.

// Defined only in programs with a sanitizer.
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using detail::OwnedDescriptor;
using detail::Packet;
using detail::PacketKind;
using detail::Received;
using OIIO::TypeDesc;
using test::Bytes;
using test::eventually;
using test::read_part;
using test::readers;

constexpr ReadOptions kIsolated{.isolated = true};

class IsolatedProcessTest : public testing::Test {
protected:
    void SetUp() override { setenv("TEXTON_READER", TEXTON_TEST_READER, 0); }
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path small() const { return test::store(at("small.png"), {test::stored_image(8, 8, 4, TypeDesc::UINT8, 4)}); }
    // Returns a link to the reader, for which the library starts a helper of its own.
    fs::path reader_link() const {
        fs::create_symlink(test::configured_path("TEXTON_READER", TEXTON_TEST_READER), at("texton-reader"));
        return at("texton-reader");
    }

    test::ImageFolder folder_;
};

// --- too few descriptors ---

// Leaves the process a number of descriptors while it exists.
class FewDescriptors {
public:
    explicit FewDescriptors(std::size_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few{std::min<rlim_t>(256, before_.rlim_max), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
        for (;;) {
            OwnedDescriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
            if (!next) break;
            filling_.push_back(std::move(next));
        }
        filling_.resize(filling_.size() - std::min(count, filling_.size()));
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

private:
    rlimit before_{};
    std::vector<OwnedDescriptor> filling_;
};

// Changes the working folder while it exists.
class WorkingFolder {
public:
    explicit WorkingFolder(const fs::path& folder) { fs::current_path(folder); }
    ~WorkingFolder() { fs::current_path(before_); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

private:
    fs::path before_ = fs::current_path();
};

TEST_F(IsolatedProcessTest, ALackOfDescriptorsNeverOpensAFileOfAnotherFolder) {
    for (const char* folder : {"first", "second"}) {
        fs::create_directory(at(folder));
        const unsigned seed = *folder == 'f' ? 1 : 2;
        test::store(at(folder) / "here.png", {test::stored_image(8, 8, 4, TypeDesc::UINT8, seed)});
    }
    const Bytes expected = read_image(at("second") / "here.png").texels;
    const test::ReaderProgram program(reader_link());
    {
        const WorkingFolder first(at("first"));
        EXPECT_NE(read_image("here.png", kIsolated).texels, expected);  // starts the helper in the first folder
    }
    const WorkingFolder second(at("second"));
    int failed = 0, read = 0;
    for (std::size_t count = 0; count < 8; ++count) {
        std::optional<Image> image;
        std::optional<Error> error;
        {
            const FewDescriptors few(count);
            try {
                image = read_image("here.png", kIsolated);
            } catch (const Error& thrown) {
                error = thrown;
            }
        }
        SCOPED_TRACE(count);
        if (image) {
            EXPECT_EQ(image->texels, expected);
            ++read;
        } else {
            EXPECT_EQ(error->code(), ErrorCode::out_of_memory) << error->what();
            ++failed;
        }
    }
    EXPECT_GE(failed, 4);  // two sockets, memory and the folder
    EXPECT_GE(read, 1);
}

TEST_F(IsolatedProcessTest, AFileWithAnAbsolutePathIsReadInAWorkingFolderThatWasRemoved) {
    const fs::path path = small();
    const Bytes expected = read_image(path).texels;
    fs::create_directory(at("removed"));
    const WorkingFolder removed(at("removed"));
    fs::remove(at("removed"));
    EXPECT_EQ(read_image(path, kIsolated).texels, expected);
    EXPECT_THROW((void)read_image("small.png", kIsolated), Error);
}

// The program texton-reader without the library.
class BareHelper {
public:
    explicit BareHelper(std::string program) {
        std::array<int, 2> ends{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
        control_ = OwnedDescriptor(ends[0]);
        const OwnedDescriptor theirs(ends[1]);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, theirs.number(), detail::kControlDescriptor);
        posix_spawn_file_actions_addclosefrom_np(&actions, detail::kControlDescriptor + 1);
        const std::array<char*, 2> arguments{program.data(), nullptr};
        EXPECT_EQ(::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments.data(), environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        const timeval patience{60, 0};
        ::setsockopt(control_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        Packet hello;
        EXPECT_EQ(detail::receive_packet(control_.number(), hello), Received::packet);
    }
    ~BareHelper() {
        control_.reset();
        ::waitpid(process_, nullptr, 0);
    }
    BareHelper(const BareHelper&) = delete;
    BareHelper& operator=(const BareHelper&) = delete;

    // Returns the socket of a reader.
    OwnedDescriptor connect(std::size_t descriptors = detail::kMaxPacketDescriptors) const {
        std::array<int, 2> ends{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
        const OwnedDescriptor theirs(ends[1]);
        const OwnedDescriptor memory(::memfd_create("memory", MFD_CLOEXEC));
        const OwnedDescriptor folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        const std::array sent{theirs.number(), memory.number(), folder.number()};
        EXPECT_TRUE(detail::send_packet(control_.number(), PacketKind::connect, 0, std::span(sent).first(descriptors)));
        return OwnedDescriptor(ends[0]);
    }
    // Limits the descriptors of the helper and of readers that it starts to those that it has and `more`.
    void limit_descriptors(rlim_t more) const {
        const fs::path open = "/proc/" + std::to_string(process_) + "/fd";
        const auto count = std::distance(fs::directory_iterator(open), fs::directory_iterator());
        const rlimit limit{static_cast<rlim_t>(count) + more, static_cast<rlim_t>(count) + more};
        EXPECT_EQ(::prlimit(process_, RLIMIT_NOFILE, &limit, nullptr), 0);
    }
    int control() const { return control_.number(); }

private:
    OwnedDescriptor control_;
    pid_t process_ = -1;
};

// Returns the next packet of a reader. Fails if there is none within a minute.
std::optional<Packet> next_packet(const OwnedDescriptor& socket) {
    pollfd event{socket.number(), POLLIN, 0};
    Packet packet;
    if (::poll(&event, 1, 60'000) < 1) return std::nullopt;
    if (detail::receive_packet(socket.number(), packet) != Received::packet) return std::nullopt;
    return packet;
}

TEST_F(IsolatedProcessTest, AReaderIsNotStartedWithoutAFolder) {
    const BareHelper helper(test::configured_path("TEXTON_READER", TEXTON_TEST_READER));
    const std::optional<Packet> answer = next_packet(helper.connect(2));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind, PacketKind::not_started);
    EXPECT_EQ(answer->value, static_cast<std::uint64_t>(EMFILE));
    const std::optional<Packet> ready = next_packet(helper.connect());
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->kind, PacketKind::ready);
}

TEST_F(IsolatedProcessTest, AReaderThatCannotTakeItsDescriptorsEndsAndDoesNotUseThoseOfTheHelper) {
    int refused = 0, ready = 0;
    for (rlim_t more = 3; more < 7; ++more) {  // a reader needs two copies, and the helper a descriptor of the process
        SCOPED_TRACE(more);
        const BareHelper helper(test::configured_path("TEXTON_READER", TEXTON_TEST_READER));
        helper.limit_descriptors(more);
        const OwnedDescriptor socket = helper.connect();
        const std::optional<Packet> answer = next_packet(socket);
        ASSERT_TRUE(answer);
        if (answer->kind == PacketKind::ready) {
            ++ready;
        } else {
            ++refused;
            EXPECT_EQ(answer->kind, PacketKind::not_started);
            EXPECT_EQ(answer->value, static_cast<std::uint64_t>(EMFILE));
        }
        Packet stray;
        EXPECT_EQ(::recv(helper.control(), &stray, sizeof(stray), MSG_DONTWAIT), -1);
    }
    EXPECT_GE(refused, 2);
    EXPECT_GE(ready, 1);
}

// --- the number of processes ---

TEST_F(IsolatedProcessTest, AtMostSixteenProcessesWaitAfterManyFilesWereOpenedAtOnce) {
    constexpr std::ptrdiff_t kFiles = 40;
    const fs::path path = small();
    const Bytes expected = read_image(path).texels;
    std::vector<ImageFile> images(kFiles);
    std::latch begin(kFiles);
    std::vector<std::thread> threads;
    for (ImageFile& image : images) {
        threads.emplace_back([&] {
            begin.arrive_and_wait();
            try {
                image = open_image(path, {}, kIsolated);
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(eventually([] { return readers().size() <= 16; })) << readers().size();
    for (const ImageFile& image : images) EXPECT_EQ(read_part(image), expected);
    EXPECT_TRUE(eventually([] { return readers().size() <= 16; })) << readers().size();
    images.clear();
    EXPECT_TRUE(eventually([] { return readers().empty(); }));
}

TEST_F(IsolatedProcessTest, TheProcessOfTheFileThatWasUsedLastIsKept) {
    // The texels are too many to be read together with the description.
    const fs::path path = test::store(at("medium.png"), {test::stored_image(160, 160, 4, TypeDesc::UINT8, 4)});
    const ImageFile used = open_image(path, {}, kIsolated);
    ASSERT_TRUE(eventually([] { return readers().size() == 1; }));  // those of other tests have ended
    const pid_t reader = readers().front();
    std::vector<ImageFile> others;
    for (int file = 0; file < 30; ++file) {
        others.push_back(open_image(path, {}, kIsolated));
        (void)read_part(used);
    }
    const std::vector<pid_t> left = readers();
    EXPECT_NE(std::find(left.begin(), left.end(), reader), left.end());
}

// --- the lifetime of processes ---

// Runs the action in a forked copy of this process, which stays until the object is destroyed.
class ForkedCopy {
public:
    template <class Action>
    explicit ForkedCopy(const Action& action) {
        std::array<int, 2> ends{-1, -1};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        process_ = ::fork();
        if (process_ == 0) {
            action();
            (void)!::write(ends[1], "", 1);
            for (;;) ::pause();
        }
        char done = 0;
        EXPECT_EQ(::read(ends[0], &done, 1), 1);
        for (const int end : ends) ::close(end);
    }
    ~ForkedCopy() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    ForkedCopy(const ForkedCopy&) = delete;
    ForkedCopy& operator=(const ForkedCopy&) = delete;

private:
    pid_t process_ = -1;
};

TEST_F(IsolatedProcessTest, AForkedCopyOfTheCallerKeepsNoReaderAlive) {
    if (__tsan_init != nullptr) GTEST_SKIP() << "the thread sanitizer does not support fork() with threads";
    std::optional<ImageFile> image = open_image(small(), {}, kIsolated);
    ASSERT_TRUE(eventually([] { return readers().size() == 1; }));
    const ForkedCopy copy([] {});
    image.reset();
    EXPECT_TRUE(eventually([] { return readers().empty(); }));
}

TEST_F(IsolatedProcessTest, AForkedCopyOfTheCallerEndsNoReaderOfTheOriginal) {
    if (__tsan_init != nullptr) GTEST_SKIP() << "the thread sanitizer does not support fork() with threads";
    const fs::path path = small();
    const Bytes expected = read_image(path).texels;
    std::optional<ImageFile> image = open_image(path, {}, kIsolated);
    ASSERT_TRUE(eventually([] { return readers().size() == 1; }));
    const std::vector<pid_t> before = readers();
    const ForkedCopy copy([&] { image.reset(); });
    EXPECT_EQ(read_part(*image), expected);
    EXPECT_EQ(readers(), before);
}

TEST_F(IsolatedProcessTest, TheProcessOfTheNextFileIsStartedAheadAfterTheFirstFile) {
    const fs::path path = small();
    const test::ReaderProgram program(reader_link());
    const Bytes expected = read_image(path, kIsolated).texels;
    ASSERT_TRUE(eventually([] { return test::children_of(test::helper_of(::getpid())).empty(); }));
    for (int file = 0; file < 3; ++file) {
        const std::vector<pid_t> spare = test::spare_readers();
        const ImageFile image = open_image(path, {}, kIsolated);
        EXPECT_EQ(read_part(image), expected);
        if (file > 0) {
            EXPECT_TRUE(eventually([&] { return readers() == spare; }));
        }
        ASSERT_TRUE(eventually([] { return readers().size() == 1 && test::spare_readers().size() == 1; }));
    }
    EXPECT_TRUE(eventually([] { return readers().empty() && test::spare_readers().size() == 1; }));
}

TEST_F(IsolatedProcessTest, AProcessThatWasStartedAheadAndKilledIsReplaced) {
    const fs::path path = small();
    const test::ReaderProgram program(reader_link());
    const Bytes expected = read_image(path, kIsolated).texels;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(read_image(path, kIsolated).texels, expected);
        ASSERT_TRUE(eventually([] { return test::spare_readers().size() == 1; }));
        ::kill(test::spare_readers().front(), SIGKILL);
    }
}

TEST_F(IsolatedProcessTest, AProcessThatWasStartedAheadIsNotUsedInAnotherFolder) {
    for (const char* folder : {"first", "second"}) {
        fs::create_directory(at(folder));
        test::store(at(folder) / "here.png", {test::stored_image(8, 8, 4, TypeDesc::UINT8, *folder == 'f' ? 1 : 2)});
    }
    for (int round = 0; round < 3; ++round) {
        for (const char* folder : {"first", "second"}) {
            const WorkingFolder here(at(folder));
            EXPECT_EQ(read_image("here.png", kIsolated).texels, read_image(at(folder) / "here.png").texels);
            EXPECT_EQ(read_image("here.png", kIsolated).texels, read_image(at(folder) / "here.png").texels);
        }
    }
}

// Starts a process with this number, which waits for a signal. Returns -1 if that is not permitted.
pid_t process_with_number(pid_t number) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
    arguments.set_tid_size = 1;
    const long made = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (made != 0) return static_cast<pid_t>(made);
    for (;;) ::syscall(SYS_pause);
}

TEST_F(IsolatedProcessTest, AProcessThatGotTheNumberOfTheHelperIsNotKilled) {
    if (__tsan_init != nullptr) GTEST_SKIP() << "the thread sanitizer does not support fork() with threads";
    const fs::path path = small();
    const test::ReaderProgram program(reader_link());
    const Bytes expected = read_image(path, kIsolated).texels;
    const pid_t helper = test::helper_of(::getpid());
    ASSERT_GT(helper, 0);
    ASSERT_TRUE(eventually([=] { return test::children_of(helper).empty(); }));  // they are in its process group
    const auto before = std::signal(SIGCHLD, SIG_IGN);                           // the system waits for all children
    ::kill(helper, SIGKILL);
    const bool gone = eventually([=] { return !fs::exists("/proc/" + std::to_string(helper)); });
    std::signal(SIGCHLD, before);
    ASSERT_TRUE(gone);
    pid_t other = -1;
    const auto is_decided = [&] { return (other = process_with_number(helper)) > 0 || errno != EEXIST; };
    EXPECT_TRUE(eventually(is_decided));
    if (other < 0) GTEST_SKIP() << "the process may not choose the number of another one: " << std::strerror(errno);
    ASSERT_EQ(other, helper);
    EXPECT_EQ(read_image(path, kIsolated).texels, expected);  // starts another helper
    EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0);
    ::kill(other, SIGKILL);
    EXPECT_EQ(::waitpid(other, nullptr, 0), other);
}

TEST_F(IsolatedProcessTest, FilesAreReadWhileTheCallerIgnoresTheEndOfItsChildren) {
    const fs::path path = small();
    const Bytes expected = read_image(path).texels;
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    for (const char* name : {"one", "two"}) {  // each link has a helper of its own; the one before is ended
        fs::create_symlink(test::configured_path("TEXTON_READER", TEXTON_TEST_READER), at(name));
        const test::ReaderProgram program(at(name));
        try {
            EXPECT_EQ(read_image(path, kIsolated).texels, expected);
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
    std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace texton
