#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <texton/stream.h>

namespace texton::test {

/// Calls `work`, which enqueues work on the default stream, and then `call`. The work begins some time after `call` has
/// begun: a call that does not wait for the default stream ends before the work. Returns when both are done.
inline void after_default_stream(const Device& device, const std::function<void(const Stream&)>& work,
                                 const std::function<void()>& call) {
    using namespace std::chrono_literals;
    const Stream standard = Stream::default_of(device);
    std::atomic<bool> begun{false};
    standard.run([&] {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!begun && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        std::this_thread::sleep_for(20ms);
    });
    work(standard);
    begun = true;
    call();
    standard.synchronize();
}

}  // namespace texton::test
