// Makes CUDA unusable for this process, and checks that each later call says so, that nothing is freed, and that the
// process ends. With "cuda", a kernel writes through a bad pointer. With "cpu", the failure is only reported to Texton,
// which needs neither a GPU nor a driver.
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/cuda_interop.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pool.h>
#include <texton/surface.h>
#include <texton/texture.h>
#include <texton/tile_pool.h>

#include "core/cuda/call.h"

namespace {

using namespace texton;

int failures = 0;
std::string first_call;  // the function that failed first

void check(bool holds, const char* what, const char* detail) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s: %s\n", what, detail);
}

// Expects Error{device_lost} that names the first failure.
void expect_lost(const char* what, const std::function<void()>& action) {
    try {
        action();
        check(false, what, "nothing was thrown");
    } catch (const Error& error) {
        check(error.code() == ErrorCode::device_lost, what, error.what());
        if (first_call.empty()) first_call = error.call();
        check(!first_call.empty() && error.call() == first_call, what, error.what());
        check(error.cuda_name() == "cudaErrorIllegalAddress", what, error.what());
        check(error.problem().find("illegal memory access") != std::string::npos, what, error.what());
        check(error.remedy().find("Restart the process") != std::string::npos, what, error.what());
    }
}

void pretend() {
    expect_lost("the first failure", [] { detail::fail_call("cudaStreamSynchronize", cudaErrorIllegalAddress); });
    int version = 0;
    expect_lost("call", [&] { detail::call<cudaRuntimeGetVersion>(&version); });
    expect_lost("driver", [&] { detail::driver<cuDriverGetVersion>(&version); });
    expect_lost("a second failure", [&] {
        detail::note_failure("cudaMalloc", cudaErrorLaunchFailure);
        detail::call<cudaRuntimeGetVersion>(&version);
    });
    check(detail::ask<cudaRuntimeGetVersion>(&version) == cudaErrorIllegalAddress, "ask", "another result");
    check(version == 0, "the runtime", "was called");
}

__global__ void write_to(int* address) { *address = 1; }

std::optional<Linear> at_exit;  // destroyed after main() has returned

void lose(const Device& device) {
    const Stream stream(device);
    const Linear memory(device, 4096);
    at_exit = memory;
    const Pinned host(device, 4096);
    const Managed managed(device, 4096);
    const Pool pool(device);
    const Linear pooled = pool.allocate(4096, stream);
    const Event event(device);
    const std::size_t unit = Physical::granularity(device);
    const Physical physical(device, unit);
    AddressRange range(device, unit);
    range.map(0, physical);
    range.set_access();
    const ArrayInfo info{.format = Format::rgba8_uint, .extent = {64, 64}, .usage = {.surface = true}};
    const Array array(device, info);
    const Texture texture(array);
    const Surface surface(array);
    const TilePool tiles(device);
    DeferredArray deferred(device, info);
    deferred.map(tiles.allocate_bytes(deferred.requirements().bytes), stream);
    const Graph graph = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{1}, stream); });
    stream.synchronize();

    write_to<<<1, 1, 0, native(stream)>>>(reinterpret_cast<int*>(8));
    expect_lost("the first failure", [&] { stream.synchronize(); });
    expect_lost("Linear", [&] { const Linear another(device, 64); });
    expect_lost("Array", [&] { const Array another(device, info); });
    expect_lost("Texture", [&] { const Texture another(array, {.filter = Filter::point, .mip_bias = 1}); });
    expect_lost("copy", [&] { copy(host.view(), memory.view()); });
    expect_lost("copy on a stream", [&] { copy(host.view(), memory.view(), stream); });
    expect_lost("fill", [&] { fill(memory.view(), std::uint8_t{1}); });
    expect_lost("fill of an array", [&] { fill(array.view(), std::uint8_t{1}, stream); });
    expect_lost("Stream", [&] { const Stream another(device); });
    expect_lost("Event::record", [&] { event.record(stream); });
    expect_lost("Pool::allocate", [&] { (void)pool.allocate(64, stream); });
    expect_lost("Pool::usage", [&] { (void)pool.usage(); });
    expect_lost("Graph::capture", [&] { (void)Graph::capture(stream, [] {}); });
    expect_lost("Graph::launch", [&] { graph.launch(stream); });
    expect_lost("DeferredArray::unmap", [&] { deferred.unmap(stream); });
    expect_lost("Device::memory", [&] { (void)device.memory(); });
    expect_lost("Device::synchronize", [&] { device.synchronize(); });
    range.unmap(0);  // nothing is mapped any more

    const Linear elsewhere(Device::cpu(), 64);
    fill(elsewhere.view(), std::uint8_t{1});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    try {
        if (std::string_view(argv[1]) == "cpu") {
            pretend();
        } else {
            lose(Device::cuda(std::stoi(argv[2])));
        }
    } catch (const std::exception& error) {
        check(false, "an unexpected exception", error.what());
    }
    return failures == 0 ? 0 : 1;
}
