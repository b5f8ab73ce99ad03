// Imports a pool and an allocation of it from the parent process, checks its contents and writes to it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/pool.h>

#include "tests/support/share_program.h"

namespace {

using namespace texton;

std::uint32_t refused(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.code() == ErrorCode::not_permitted && error.object() == "texton::Pool" ? 1 : 0;
    }
    return 0;
}

// Two pointers that nobody exported, and an exported pointer with a size larger than the allocation.
std::uint32_t wrong_pointers_refused(const Pool& pool, const test::ShareRequest& request) {
    PointerExport noise;
    for (std::size_t i = 0; i < noise.bytes.size(); ++i) noise.bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
    std::uint32_t count = 0;
    const std::size_t too_many = request.bytes + (std::size_t{64} << 20);
    const std::pair<PointerExport, std::size_t> wrong[] = {{{}, 4096}, {noise, 4096}, {request.pointer, too_many}};
    for (const auto& [pointer, bytes] : wrong) {
        try {
            (void)pool.import_pointer(pointer, bytes);
        } catch (const Error& error) {
            if (error.object() == "texton::Pool") ++count;
        }
    }
    return count;
}

// Destroys the memory while a fill of it is waiting for a host function. Returns true if the fill is done after that.
bool freed_after_work(Linear memory, std::uint8_t written, const Stream& stream) {
    std::atomic<bool> done{false};
    std::promise<void> opened;
    stream.run([&, gate = opened.get_future().share()] { gate.wait(); });
    fill(memory.view(), written, stream);
    stream.run([&] { done = true; });
    std::thread opener([&] {
        // The destructor cannot return before this. The time only limits how long an error can stay unseen.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        opened.set_value();
    });
    memory = Linear();
    const bool waited = done;
    opener.join();
    stream.synchronize();
    return waited;
}

test::ShareReply answer(const Device& device, const test::ShareRequest& request, int descriptor) {
    test::ShareReply reply;
    const Stream stream(device);
    const Pool pool = Pool::import(device, {request.handle, descriptor, request.fabric});
    reply.allocation_refused = refused([&] { (void)pool.allocate(1024, stream); });
    reply.current_refused = refused([&] { pool.make_current(); });
    reply.export_refused = refused([&] { (void)pool.export_handle(request.handle); });
    reply.wrong_pointers_refused = wrong_pointers_refused(pool, request);

    Linear memory = pool.import_pointer(request.pointer, request.bytes);
    std::vector<std::byte> seen(request.bytes);
    copy(host_view(std::span(seen)), memory.view(), stream);
    stream.synchronize();
    const auto expected_byte = std::byte{request.expected};
    reply.as_expected = std::all_of(seen.begin(), seen.end(), [&](std::byte b) { return b == expected_byte; }) ? 1 : 0;
    reply.freed_after_work = freed_after_work(std::move(memory), request.written, stream) ? 1 : 0;
    return reply;
}

}  // namespace

int main(int argc, char** argv) { return test::answer_one_request(argc, argv, answer); }
