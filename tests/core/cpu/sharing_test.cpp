// Memory of the CPU device in two processes, and invalid handles.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

using CpuSharingTest = CpuDeviceTest;

TEST_F(CpuSharingTest, AnotherProcessWritesIntoAnImportedPool) {
    const PoolHandle shared = pool(0, HandleType::file_descriptor);
    std::byte* padding = device().allocate_async(3 * kMega, shared, nullptr);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    std::memset(memory, 5, kMega);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const pid_t child = fork();
    if (child == 0) {
        int status = 1;
        try {
            const PoolHandle imported = device().import_pool(handle);
            std::byte* theirs = device().import_pointer(imported, pointer, 1);
            if (theirs != memory && theirs[kMega - 1] == std::byte{5}) status = 0;
            std::memset(theirs, 6, kMega);
        } catch (const std::exception&) {
            status = 2;
        }
        _exit(status);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::count(memory, memory + kMega, std::byte{6}), static_cast<std::ptrdiff_t>(kMega));
    close(handle.file_descriptor);
    device().free_async(memory, nullptr);
    device().free_async(padding, nullptr);
    device().destroy_pool(shared);
}

TEST_F(CpuSharingTest, ImportedPointersAreFreedOnceAndKeepThePool) {
    const PoolHandle shared = pool(64 * kMega, HandleType::file_descriptor);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const PoolHandle imported = device().import_pool(handle);
    close(handle.file_descriptor);
    std::byte* one = device().import_pointer(imported, pointer, 1);
    std::byte* two = device().import_pointer(imported, pointer, 1);
    EXPECT_EQ(one, two);
    std::memset(memory, 8, kMega);
    EXPECT_EQ(one[kMega - 1], std::byte{8});
    device().destroy_pool(imported);
    device().free(one);  // imported pointers can be freed with free() or free_async()
    EXPECT_EQ(two[0], std::byte{8});
    device().free_async(two, nullptr);
    refused(ErrorCode::bad_argument, [&] { device().free_async(two, nullptr); });
    device().free_async(memory, nullptr);
    device().destroy_pool(shared);
}

// Takes all file descriptors of the process until the destructor.
class NoDescriptors {
public:
    NoDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        few.rlim_cur = std::min<rlim_t>(few.rlim_cur, 256);
        setrlimit(RLIMIT_NOFILE, &few);
        for (int next = dup(0); next >= 0; next = dup(0)) taken_.push_back(next);
    }
    ~NoDescriptors() {
        for (const int each : taken_) close(each);
        setrlimit(RLIMIT_NOFILE, &before_);
    }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
    std::vector<int> taken_;
};

TEST_F(CpuSharingTest, WithoutFileDescriptorsSharingAndImportingAreRefused) {
    const PoolHandle shared = pool(64 * kMega, HandleType::file_descriptor);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const PhysicalHandle physical =
        device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::file_descriptor});
    const ShareableHandle physical_handle = device().export_physical(physical, HandleType::file_descriptor);
    const std::size_t before = device().memory_info().free;
    {
        const NoDescriptors none;
        refused(ErrorCode::device_failure, [&] { device().import_pool(handle); });
        refused(ErrorCode::device_failure, [&] { device().export_pool(shared, HandleType::file_descriptor); });
        refused(ErrorCode::device_failure, [&] { pool(64 * kMega, HandleType::file_descriptor); });
        refused(ErrorCode::device_failure, [&] { device().import_physical(physical_handle, 2 * kMega); });
        refused(ErrorCode::device_failure, [&] { device().export_physical(physical, HandleType::file_descriptor); });
        refused(ErrorCode::device_failure, [&] { device().create_physical(2 * kMega, {.location = own()}); });
        EXPECT_EQ(device().memory_info().free, before);
    }
    device().destroy_pool(device().import_pool(handle));
    device().release_physical(device().import_physical(physical_handle, 2 * kMega));
    close(handle.file_descriptor);
    close(physical_handle.file_descriptor);
    device().release_physical(physical);
    device().destroy_pool(shared);
}

TEST_F(CpuSharingTest, DamagedHandlesAreRefused) {
    const PoolHandle shared = pool(64 * kMega, HandleType::file_descriptor);
    const PoolHandle other = pool(64 * kMega, HandleType::file_descriptor);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const ShareableHandle other_handle = device().export_pool(other, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const PoolHandle imported = device().import_pool(handle);
    const PoolHandle other_imported = device().import_pool(other_handle);
    for (std::size_t i = 0; i < pointer.bytes.size(); ++i) {
        PointerExport damaged = pointer;
        damaged.bytes[i] ^= 0x40;
        refused(ErrorCode::bad_argument, [&] { device().import_pointer(imported, damaged, 1); });
    }
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(imported, PointerExport{}, 1); });
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(other_imported, pointer, 1); });
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(shared, pointer, 1); });
    refused(ErrorCode::bad_argument, [&] { device().export_pointer(memory + 512); });

    const auto import = [&](int descriptor) {
        const ShareableHandle wrong{.type = HandleType::file_descriptor, .file_descriptor = descriptor};
        refused(ErrorCode::bad_argument, [&] { device().import_pool(wrong); });
        refused(ErrorCode::bad_argument, [&] { device().import_physical(wrong, 2 * kMega); });
    };
    import(-1);
    import(9999);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    import(ends[0]);
    const int plain = memfd_create("texton-pool", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(plain, 4 << 20), 0);
    import(plain);
    for (const int descriptor : {ends[0], ends[1], plain}) close(descriptor);
    const PhysicalHandle physical =
        device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::file_descriptor});
    const ShareableHandle physical_handle = device().export_physical(physical, HandleType::file_descriptor);
    refused(ErrorCode::bad_argument, [&] { device().import_pool(physical_handle); });
    refused(ErrorCode::bad_argument, [&] { device().import_physical(handle, 2 * kMega); });
    refused(ErrorCode::bad_argument, [&] { device().import_physical(physical_handle, 4 * kMega); });
    refused(ErrorCode::not_permitted, [&] { device().export_pool(shared, HandleType::fabric); });
    refused(ErrorCode::not_permitted, [&] { device().import_pool({.type = HandleType::fabric}); });
    refused(ErrorCode::not_permitted, [&] { pool(0, HandleType::fabric); });
    refused(ErrorCode::not_permitted,
            [&] { device().export_pool(device().default_pool(own(), PoolType::pinned), HandleType::file_descriptor); });
    for (const ShareableHandle& each : {handle, other_handle, physical_handle}) close(each.file_descriptor);
    device().release_physical(physical);
    device().free_async(memory, nullptr);
    for (const PoolHandle each : {shared, other, imported, other_imported}) device().destroy_pool(each);
}

}  // namespace
}  // namespace texton::detail
