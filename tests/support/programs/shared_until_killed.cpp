// Shares a pool and physical memory with the parent process, and uses both until it is killed. The first request of the
// parent says which process exports the memory.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/physical.h>
#include <texton/pool.h>

#include "tests/support/socket.h"

namespace {

using namespace texton;

constexpr int kSocket = 3;  // the descriptor that Program passes
constexpr auto kHandle = HandleType::file_descriptor;

// Replies, and then never returns. Some of the work is pending at any time.
[[noreturn]] void use(const Device& device, const View& pooled, const Physical& physical) {
    AddressRange range(device, physical.bytes());
    range.map(0, physical);
    range.set_access();
    const View mapped = range.view(Format::r8_uint, pooled.extent());
    const Stream stream(device);
    test::send_message(kSocket, test::ShareReply());
    for (std::uint8_t value = 0;; ++value) {
        fill(pooled, value, stream);
        copy(mapped, pooled, stream);
        if (value % 16 == 0) stream.synchronize();
    }
}

void import_memory(const Device& device, const test::ShareRequest& pool_request, int pool_descriptor) {
    test::ShareRequest physical_request;
    const int descriptor = test::receive_message(kSocket, physical_request);
    const Pool pool = Pool::import(device, {kHandle, pool_descriptor, {}});
    const Linear pooled = pool.import_pointer(pool_request.pointer, pool_request.bytes);
    const Physical physical = Physical::import(device, {kHandle, descriptor, {}}, physical_request.bytes);
    close(pool_descriptor);
    close(descriptor);
    use(device, pooled.view(), physical);
}

void export_memory(const Device& device, std::size_t bytes) {
    const Stream stream(device);
    const Pool pool(device, {.handle = kHandle});
    const Linear pooled = pool.allocate(bytes, stream);
    const Physical physical(device, bytes, {.handle = kHandle});
    stream.synchronize();
    const int pool_descriptor = pool.export_handle(kHandle).file_descriptor;
    const int physical_descriptor = physical.export_handle(kHandle).file_descriptor;
    test::send_message(kSocket, test::ShareRequest{.pointer = pool.export_pointer(pooled), .bytes = pooled.bytes()},
                       pool_descriptor);
    test::send_message(kSocket, test::ShareRequest{.bytes = physical.bytes()}, physical_descriptor);
    close(pool_descriptor);
    close(physical_descriptor);
    use(device, pooled.view(), physical);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    try {
        const int index = std::stoi(argv[2]);
        const Device device = std::string_view(argv[1]) == "cpu" ? Device::cpu(index) : Device::cuda(index);
        test::ShareRequest request;
        const int descriptor = test::receive_message(kSocket, request);
        if (descriptor >= 0)
            import_memory(device, request, descriptor);
        else
            export_memory(device, request.bytes);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}
