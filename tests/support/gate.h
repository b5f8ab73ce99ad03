#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <texton/stream.h>

namespace texton::test {

/// Holds a stream until open(), so that work behind the gate is certainly not done. The destructor opens the gate.
/// Declare the gate after the objects that a failing test destroys, so that no destructor waits for a stream that is
/// still held.
class Gate {
public:
    Gate() = default;
    ~Gate() { open(); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    /// Enqueues a host function that waits for open(), at most 20 seconds.
    void close(const Stream& stream) const {
        stream.run([state = state_] {
            std::unique_lock lock(state->mutex);
            state->changed.wait_for(lock, std::chrono::seconds(20), [&] { return state->is_open; });
        });
    }
    void open() const {
        const std::scoped_lock lock(state_->mutex);
        state_->is_open = true;
        state_->changed.notify_all();
    }

private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool is_open = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace texton::test
