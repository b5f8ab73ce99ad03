// Uses streams and the default stream of the device in the destructor of a static object. The exit status says what
// went wrong.
#include <unistd.h>

#include <optional>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/stream.h>

namespace {

using namespace texton;

constexpr std::size_t kBytes = std::size_t{8} << 20;

struct User {
    std::optional<Linear> memory;
    std::optional<Stream> used;  // used in main(), too
    ~User() {
        try {
            use();
        } catch (const Error&) {
            _exit(14);
        }
    }
    void use() {
        const Device device = used->device();
        const Pinned seen(device, kBytes);
        for (const Stream& stream : {*used, Stream(device), Stream::default_of(device)}) {
            fill(memory->view(), std::uint8_t{1}, stream);
            copy(seen.view(), memory->view(), stream);
            fill(memory->view(), std::uint8_t{2}, stream);
            stream.synchronize();
            if (seen.read()[kBytes - 1] != std::byte{1}) _exit(11);
        }
        const Stream first(device);
        const Stream second(device);
        const Event filled(device);
        int ran = 0;
        fill(memory->view(), std::uint8_t{3}, first);
        filled.record(first);
        second.wait(filled);
        copy(seen.view(), memory->view(), second);
        second.run([&] { ++ran; });
        second.synchronize();
        if (ran != 1 || seen.read()[0] != std::byte{3}) _exit(12);
        std::vector<std::byte> host(kBytes);
        copy(host_view(std::span(host)), memory->view());
        if (host.back() != std::byte{3}) _exit(13);
        memory.reset();
        device.synchronize();
    }
};

User user;

}  // namespace

int main() {
    const Device device = Device::cpu();
    user.memory.emplace(device, kBytes);
    user.used.emplace(device);
    fill(user.memory->view(), std::uint8_t{9}, *user.used);
    return 0;
}
