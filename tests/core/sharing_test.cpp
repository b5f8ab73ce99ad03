// Memory shared by two processes: pools and their allocations, and physical memory, through file descriptors and, if
// the system supports them, fabric handles.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/physical.h>
#include <texton/pool.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/program.h"
#include "tests/support/socket.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::download;
using test::expect_error;

class FileDescriptor {
public:
    explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
    ~FileDescriptor() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return descriptor_; }

private:
    int descriptor_;
};

class SharingTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!device().properties().pool_file_descriptors) GTEST_SKIP() << "the device shares no file descriptors";
    }

    test::ShareReply ask(test::Program& program, const test::ShareRequest& request, const ShareableHandle& handle) {
        test::send_message(program.socket(), request, handle.file_descriptor);
        test::ShareReply reply;
        EXPECT_EQ(test::receive_message(program.socket(), reply), -1);
        EXPECT_EQ(std::string(reply.error.data()), "");
        return reply;
    }

    void share_pool(const Pool& pool, HandleType type) {
        const Stream stream(device());
        const ShareableHandle handle = pool.export_handle(type);
        EXPECT_EQ(handle.type, type);
        const FileDescriptor closed_at_the_end(handle.file_descriptor);
        // Two allocations, so that the test shows whether a pointer selects the right one.
        const Linear before = pool.allocate(100'000, stream);
        const Linear memory = pool.allocate(1'000'003, stream);
        fill(before.view(), std::uint8_t{0x10}, stream);
        fill(memory.view(), std::uint8_t{0x5A}, stream);
        stream.synchronize();

        test::Program program("pool_import", device());
        const auto reply = ask(program,
                               {.handle = type,
                                .fabric = handle.fabric,
                                .pointer = pool.export_pointer(memory),
                                .bytes = memory.bytes(),
                                .expected = 0x5A,
                                .written = 0xC3},
                               handle);
        EXPECT_EQ(reply.as_expected, 1u) << "the other process did not see the bytes written here";
        EXPECT_EQ(reply.allocation_refused, 1u) << "the other process could allocate from the imported pool";
        EXPECT_EQ(reply.current_refused, 1u) << "the other process could make the imported pool current";
        EXPECT_EQ(reply.export_refused, 1u) << "the other process could export the imported pool";
        EXPECT_EQ(reply.wrong_pointers_refused, 3u) << "the other process could import an invalid pointer";
        EXPECT_EQ(reply.freed_after_work, 1u) << "the other process freed memory that was in use";
        EXPECT_EQ(program.wait(), 0);
        EXPECT_TRUE(all_bytes(download(memory.view()), 0xC3))
            << "this process does not see the bytes that the other wrote";
        EXPECT_TRUE(all_bytes(download(before.view()), 0x10));
    }

    void share_physical(const Physical& memory, HandleType type) {
        AddressRange range(device(), memory.bytes());
        range.map(0, memory);
        range.set_access();
        const View view = range.view(Format::r8_uint, {memory.bytes()});
        fill(view, std::uint8_t{0x3D});
        const ShareableHandle handle = memory.export_handle(type);
        EXPECT_EQ(handle.type, type);
        const FileDescriptor closed_at_the_end(handle.file_descriptor);
        test::Program program("physical_import", device());
        const auto reply =
            ask(program,
                {.handle = type, .fabric = handle.fabric, .bytes = memory.bytes(), .expected = 0x3D, .written = 0xD4},
                handle);
        EXPECT_EQ(reply.as_expected, 1u) << "the other process did not see the bytes written here";
        EXPECT_EQ(program.wait(), 0);
        EXPECT_TRUE(all_bytes(download(view), 0xD4)) << "this process does not see the bytes that the other wrote";
    }

    // Shares a pool and physical memory with a process, which uses both until it is killed. The memory must stay usable.
    void outlive_other_process(bool other_exports, std::chrono::microseconds until_killed) {
        test::Program program("shared_until_killed", device());
        const Stream stream(device());
        const std::size_t bytes = Physical::granularity(device(), {.handle = HandleType::file_descriptor});
        std::optional<Pool> pool;
        Linear pooled;
        Physical physical;
        if (other_exports) {
            test::send_message(program.socket(), test::ShareRequest{.bytes = bytes});
            test::ShareRequest request;
            const FileDescriptor shared_pool(test::receive_message(program.socket(), request));
            pool = Pool::import(device(), {HandleType::file_descriptor, shared_pool.get()});
            pooled = pool->import_pointer(request.pointer, bytes);
            const FileDescriptor shared(test::receive_message(program.socket(), request));
            physical = Physical::import(device(), {HandleType::file_descriptor, shared.get()}, bytes);
        } else {
            pool = Pool(device(), {.handle = HandleType::file_descriptor});
            pooled = pool->allocate(bytes, stream);
            physical = Physical(device(), bytes, {.handle = HandleType::file_descriptor});
            stream.synchronize();
            const FileDescriptor shared_pool(pool->export_handle(HandleType::file_descriptor).file_descriptor);
            const FileDescriptor shared(physical.export_handle().file_descriptor);
            test::send_message(program.socket(),
                               test::ShareRequest{.pointer = pool->export_pointer(pooled), .bytes = bytes},
                               shared_pool.get());
            test::send_message(program.socket(), test::ShareRequest{.bytes = bytes}, shared.get());
        }
        test::ShareReply reply;
        (void)test::receive_message(program.socket(), reply);
        std::this_thread::sleep_for(until_killed);
        program.kill();

        AddressRange range(device(), bytes);
        range.map(0, physical);
        range.set_access();
        const View mapped = range.view(Format::r8_uint, {bytes});
        fill(pooled.view(), std::uint8_t{0x6B}, stream);
        copy(mapped, pooled.view(), stream);
        stream.synchronize();
        EXPECT_TRUE(all_bytes(download(pooled.view()), 0x6B));
        EXPECT_TRUE(all_bytes(download(mapped), 0x6B));
    }

    // Accepts success, or an Error that states the reason.
    void works_or_says_why(const std::function<void()>& action) {
        try {
            action();
        } catch (const Error& error) {
            test::expect_well_formed(error);
            EXPECT_TRUE(error.code() == ErrorCode::not_permitted || error.code() == ErrorCode::unsupported)
                << error.what();
            RecordProperty("fabric", error.what());
        }
    }

    // Calls `use` with open descriptors of other kinds, and with a closed descriptor.
    void each_wrong_descriptor(const std::function<void(int)>& use) {
        std::array<int, 2> ends{};
        ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
        const FileDescriptor reading(ends[0]);
        const FileDescriptor writing(ends[1]);
        const FileDescriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
        const FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        for (const int descriptor : {reading.get(), null.get(), file.get(), 1'000'000}) {
            SCOPED_TRACE(descriptor);
            use(descriptor);
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SharingTest, test::every_device(), test::device_label);

TEST_P(SharingTest, APoolAndItsPointersAreSharedByFileDescriptor) {
    share_pool(Pool(device(), {.handle = HandleType::file_descriptor}), HandleType::file_descriptor);
}

TEST_P(SharingTest, APoolIsSharedWithSeveralProcesses) {
    const Pool pool(device(), {.handle = HandleType::file_descriptor});
    share_pool(pool, HandleType::file_descriptor);
    share_pool(pool, HandleType::file_descriptor);
}

TEST_P(SharingTest, APoolIsSharedByFabricHandleOrTheErrorGivesTheReason) {
    works_or_says_why([&] { share_pool(Pool(device(), {.handle = HandleType::fabric}), HandleType::fabric); });
}

TEST_P(SharingTest, PhysicalMemoryIsSharedByFileDescriptor) {
    const PhysicalInfo info{.handle = HandleType::file_descriptor};
    share_physical(Physical(device(), Physical::granularity(device(), info) * 3, info), HandleType::file_descriptor);
}

TEST_P(SharingTest, PhysicalMemoryIsSharedByFabricHandleOrTheErrorGivesTheReason) {
    works_or_says_why([&] {
        const PhysicalInfo info{.handle = HandleType::fabric};
        share_physical(Physical(device(), Physical::granularity(device(), info), info), HandleType::fabric);
    });
}

TEST_P(SharingTest, SharedMemoryOutlivesAProcessThatIsKilledWhileItUsesIt) {
    std::size_t free = 0;
    for (const int round : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const bool other_exports = round % 2 == 1;
        SCOPED_TRACE(other_exports ? "the killed process exported the memory"
                                   : "the killed process imported the memory");
        outlive_other_process(other_exports, std::chrono::microseconds(round * 1'700));
        device().synchronize();
        if (round == 1) free = device().memory().free;  // after first uses
    }
    // CUDA frees the memory of a killed process in the background.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (device().memory().free < free && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_GE(device().memory().free, free);
}

TEST_P(SharingTest, TheCallerOwnsTheDescriptorAndCanCloseItImmediately) {
    const PhysicalInfo info{.handle = HandleType::file_descriptor};
    const Physical memory(device(), Physical::granularity(device(), info), info);
    const ShareableHandle first = memory.export_handle();
    const ShareableHandle second = memory.export_handle();
    EXPECT_GE(first.file_descriptor, 0);
    EXPECT_NE(first.file_descriptor, second.file_descriptor);
    EXPECT_EQ(close(first.file_descriptor), 0);
    EXPECT_EQ(close(second.file_descriptor), 0);
    share_physical(memory, HandleType::file_descriptor);
}

TEST_P(SharingTest, PhysicalMemoryCanBeImportedInTheSameProcess) {
    const PhysicalInfo info{.handle = HandleType::file_descriptor};
    const std::size_t bytes = Physical::granularity(device(), info);
    const Physical memory(device(), bytes, info);
    const FileDescriptor handle(memory.export_handle().file_descriptor);
    const Physical imported = Physical::import(device(), {HandleType::file_descriptor, handle.get()}, bytes);
    EXPECT_EQ(imported.bytes(), bytes);
    AddressRange one(device(), bytes);
    AddressRange two(device(), bytes);
    one.map(0, memory);
    two.map(0, imported);
    one.set_access();
    two.set_access();
    fill(one.view(Format::r8_uint, {bytes}), std::uint8_t{0x71});
    EXPECT_TRUE(all_bytes(download(two.view(Format::r8_uint, {bytes})), 0x71));
}

TEST_P(SharingTest, ImportingMoreBytesThanTheMemoryHasIsRefused) {
    const PhysicalInfo info{.handle = HandleType::file_descriptor};
    const std::size_t unit = Physical::granularity(device(), info);
    const Physical memory(device(), unit, info);
    const FileDescriptor handle(memory.export_handle().file_descriptor);
    const ShareableHandle shared{HandleType::file_descriptor, handle.get()};
    for (const std::size_t bytes : {2 * unit, unit + 1, unit / 2}) {
        const Error error = expect_error([&] { (void)Physical::import(device(), shared, bytes); },
                                         ErrorCode::bad_argument, "texton::Physical", {std::to_string(bytes)});
        EXPECT_EQ(test::number_of(error, "bytes"), bytes);
    }
    EXPECT_EQ(Physical::import(device(), shared, unit).bytes(), unit);
}

TEST_P(SharingTest, AnEmptyHandleIsRefused) {
    for (const ShareableHandle& handle : {ShareableHandle{}, ShareableHandle{HandleType::file_descriptor, -1}}) {
        expect_error([&] { (void)Pool::import(device(), handle); }, ErrorCode::bad_argument, "texton::Pool",
                     {"handle"});
        expect_error([&] { (void)Physical::import(device(), handle, 4096); }, ErrorCode::bad_argument,
                     "texton::Physical", {"handle"});
    }
    expect_error(
        [&] {
            (void)Physical::import(device(), {HandleType::file_descriptor, 0}, 0);
        },
        ErrorCode::bad_argument, "texton::Physical", {"0 bytes"});
}

TEST_P(SharingTest, AnUnrelatedFileDescriptorIsRefused) {
    const auto refused = [](const char* object, const std::function<void()>& action) {
        try {
            action();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            test::expect_well_formed(error);
            EXPECT_EQ(error.object(), object);
        }
    };
    each_wrong_descriptor([&](int descriptor) {
        refused("texton::Pool", [&] { (void)Pool::import(device(), {HandleType::file_descriptor, descriptor}); });
        refused("texton::Physical", [&] {
            (void)Physical::import(device(), {HandleType::file_descriptor, descriptor},
                                   Physical::granularity(device()));
        });
    });
    // The device still works.
    const Linear memory(device(), 4096);
    fill(memory.view(), std::uint8_t{1});
    EXPECT_TRUE(all_bytes(download(memory.view()), 1));
}

}  // namespace
}  // namespace texton
