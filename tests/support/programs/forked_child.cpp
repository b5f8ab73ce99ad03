// Forks while the threads of the device exist and work is pending. The child must get an Error for each use of the
// device, and must end at once. The exit status says what went wrong.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pool.h>
#include <texton/stream.h>

// The leak sanitizer must not run in a child: it waits for threads that exist only in the parent, and the device refuses
// all calls, also those that free.
static bool is_child = false;
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }

namespace {

using namespace texton;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = std::size_t{8} << 20;

// Destroyed by the child, too.
struct Objects {
    explicit Objects(const Device& on)
        : device(on),
          stream(device),
          busy(device),
          event(device),
          memory(device, kBytes),
          pinned(device, kBytes),
          pool(device),
          pooled(pool.allocate(kBytes, stream)),
          graph(Graph::capture(stream, [this] { fill(memory.view(), std::uint8_t{1}, stream); })) {}
    Device device;
    Stream stream;
    Stream busy;
    Event event;
    Linear memory;
    Pinned pinned;
    Pool pool;
    Linear pooled;
    Graph graph;
};
std::optional<Objects> objects;

bool refused(const std::function<void()>& use) {
    try {
        use();
    } catch (const Error& error) {
        return error.code() == ErrorCode::unsupported && error.problem().find("fork") != std::string::npos &&
               !error.object().empty();
    }
    return false;
}

[[noreturn]] void run_child() {
    Objects& is = *objects;
    std::vector<std::byte> host(kBytes);
    const std::function<void()> uses[] = {
        [&] { copy(host_view(std::span(host)), is.memory.view()); },
        [&] { copy(host_view(std::span(host)), is.memory.view(), is.stream); },
        [&] { fill(is.memory.view(), std::uint8_t{1}); },
        [&] { fill(is.pinned.view(), std::uint8_t{1}, is.stream); },
        [&] { is.stream.synchronize(); },
        [&] { is.stream.run([] {}); },
        [&] { is.event.record(is.stream); },
        [&] { is.event.synchronize(); },
        [&] { is.graph.launch(is.stream); },
        [&] { is.device.synchronize(); },
        [&] { (void)is.device.memory(); },
        [&] { (void)Linear(is.device, 16); },
        [&] { (void)Pinned(is.device, 16); },
        [&] { (void)Stream(is.device); },
        [&] { (void)Event(is.device); },
        [&] { (void)Pool(is.device); },
        [&] { (void)is.pool.allocate(16, is.stream); },
        [&] { (void)Physical(is.device, Physical::granularity(is.device)); },
    };
    for (std::size_t i = 0; i < std::size(uses); ++i) {
        if (!refused(uses[i])) _exit(static_cast<int>(20 + i));
    }
    std::exit(0);  // destroys the static objects
}

// Returns the exit status of a child, or 2 if it does not end.
int status_of(pid_t child) {
    const auto end = Clock::now() + 20s;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (Clock::now() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return 2;
        }
        std::this_thread::sleep_for(1ms);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

// Returns how long a child takes that runs `child`. The machine may be busy, so the fastest of three children counts.
Clock::duration fastest(void (*child)()) {
    auto time = Clock::duration::max();
    for (int i = 0; i < 3; ++i) {
        const auto begin = Clock::now();
        const pid_t id = fork();
        if (id < 0) _exit(4);
        if (id == 0) {
            is_child = true;
            child();
        }
        if (const int status = status_of(id); status != 0) _exit(status);  // pending work would hold exit()
        time = std::min(time, Clock::now() - begin);
    }
    return time;
}

}  // namespace

int main() {
    // The thread sanitizer waits at the end of a process that has threads, so they exist in both measurements.
    std::atomic<bool> opened{false};
    std::jthread other([&] {
        while (!opened) std::this_thread::sleep_for(1ms);
    });
    const auto without_device = fastest([] { std::exit(0); });
    objects.emplace(Device::cpu());
    Objects& is = *objects;
    const std::vector<std::byte> host(kBytes, std::byte{1});
    copy(is.memory.view(), host_view(std::span(host)), is.stream);  // on all cores
    is.event.record(is.stream);
    is.stream.synchronize();
    is.busy.run([&] {
        while (!opened) std::this_thread::sleep_for(1ms);
    });
    fill(is.memory.view(), std::uint8_t{2}, is.busy);

    const auto with_device = fastest(run_child);
    opened = true;
    is.busy.synchronize();  // the parent's device still works
    std::vector<std::byte> seen(kBytes);
    copy(host_view(std::span(seen)), is.memory.view());
    if (seen.back() != std::byte{2}) return 5;
    objects.reset();
    return with_device < without_device + 900ms ? 0 : 6;
}
