// Leaves main() while a graph, a batch and single operations are pending. All of them write memory of static objects,
// which are made before and after the device. The exit status says what was not written.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include <texton/copy.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/stream.h>

namespace {

using namespace texton;

constexpr std::size_t kBytes = std::size_t{8} << 20;
constexpr int kCopies = 24;

// Memory that the destructor checks and frees.
struct Target {
    explicit Target(int status_if_wrong) : status(status_if_wrong), bytes(new std::byte[kBytes]{}) {}
    ~Target() {
        for (std::size_t i = 0; i < kBytes; i += 4096) {
            if (bytes[i] != std::byte{7}) _exit(status);
        }
    }
    int status;
    std::unique_ptr<std::byte[]> bytes;
};

Target before_main(11);

}  // namespace

int main() {
    const Device device = Device::cpu();
    static const Target after_device(12);
    static Target& early = before_main;
    const std::vector<std::byte> sevens(kBytes, std::byte{7});
    const Pinned& source = *new Pinned(device, kBytes);  // never destroyed, because a free waits for all work
    copy(source.view(), host_view(std::span<const std::byte>(sevens)));

    const Stream stream(device);
    const Stream other(device);
    const auto view_of = [](const Target& target) { return host_view(std::span(target.bytes.get(), kBytes)); };
    const Graph graph = Graph::capture(stream, [&] {
        for (int i = 0; i < kCopies; ++i) copy(view_of(early), source.view(), stream);
    });
    const Linear memory(device, kBytes);
    const Pinned scratch(device, kBytes);
    CopyBatch batch;
    for (int i = 0; i < kCopies; ++i) batch.add(scratch.view(), source.view());
    const Graph last = Graph::capture(other, [&] {
        copy(memory.view(), source.view(), other);
        copy(view_of(after_device), memory.view(), other);
    });
    batch.run(other);
    last.launch(other);
    graph.launch(stream);
    // Frees of objects of main() would wait for the work, so main() is left without destroying them.
    std::exit(0);
}
