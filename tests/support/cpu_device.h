#pragma once
// Base of tests that use a CPU device through the Backend interface. Each test has its own device with little memory.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <texton/error.h>

#include "core/backend.h"

namespace texton::detail {

inline constexpr std::size_t kMega = std::size_t{1} << 20;
inline constexpr std::size_t kDeviceBytes = 512 * kMega;

/// Expects an Error with the code and returns its problem.
template <class Action>
std::string refused(ErrorCode code, Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(name(error.code()), name(code)) << error.what();
        EXPECT_FALSE(error.remedy().empty()) << error.what();
        return error.problem();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

inline MemoryLocation at(std::byte* address, std::size_t pitch, MemoryKind kind = MemoryKind::linear) {
    MemoryLocation location;
    location.address = address;
    location.pitch = pitch;
    location.slice_pitch = pitch;
    location.kind = kind;
    return location;
}

/// Holds streams until open() or the destructor.
class Hold {
public:
    ~Hold() { open(); }
    void on(Backend& device, StreamHandle stream) {
        device.run_on_host(stream, [opened = opened_] { opened.wait_for(std::chrono::seconds(20)); });
    }
    void open() {
        if (std::exchange(closed_, false)) promise_.set_value();
    }

private:
    std::promise<void> promise_;
    std::shared_future<void> opened_ = promise_.get_future().share();
    bool closed_ = true;
};

class CpuDeviceTest : public testing::Test {
protected:
    ~CpuDeviceTest() override {
        for (StreamHandle stream : streams_) device_->destroy_stream(stream);
        for (EventHandle event : events_) device_->destroy_event(event);
    }
    Backend& device() { return *device_; }
    StreamHandle stream() { return streams_.emplace_back(device_->create_stream(0)); }
    EventHandle event() { return events_.emplace_back(device_->create_event(EventTiming::on)); }
    EventHandle recorded(StreamHandle stream) {
        const EventHandle made = event();
        device_->record_event(made, stream);
        return made;
    }
    void fill(std::byte* address, std::size_t bytes, unsigned value, StreamHandle stream) {
        const MemoryLocation location = at(address, bytes);
        device_->fill({&location, {bytes}, {static_cast<std::byte>(value)}, 1}, &stream);
    }
    void copy(std::byte* to, std::byte* from, std::size_t bytes, StreamHandle stream,
              MemoryKind from_kind = MemoryKind::linear) {
        const MemoryLocation destination = at(to, bytes);
        const MemoryLocation source = at(from, bytes, from_kind);
        device_->copy({&destination, &source, {bytes}}, &stream);
    }
    PoolHandle pool(std::size_t max_bytes = 0, HandleType handle = HandleType::none) {
        return device_->create_pool({.location = own(), .handle = handle, .max_bytes = max_bytes});
    }
    std::uint64_t get(PoolHandle pool, PoolAttribute attribute) { return device_->pool_attribute(pool, attribute); }
    Location own() { return {LocationKind::device, device_->properties().index, DeviceKind::cpu}; }
    void reuse(PoolHandle pool, bool follow, bool opportunistic, bool internal) {
        device_->set_pool_attribute(pool, PoolAttribute::reuse_follow_event_dependencies, follow);
        device_->set_pool_attribute(pool, PoolAttribute::reuse_opportunistic, opportunistic);
        device_->set_pool_attribute(pool, PoolAttribute::reuse_internal_dependencies, internal);
    }

private:
    std::unique_ptr<Backend> device_ = make_cpu_device(7, kDeviceBytes);
    std::vector<StreamHandle> streams_;  // destroyed with the test, like events_
    std::vector<EventHandle> events_;
};

}  // namespace texton::detail
