// Streams, events, graphs, copies of every kind, and exchange with other libraries.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>

#include <texton/array_interface.h>
#include <texton/copy.h>
#include <texton/dlpack_versioned.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/show.h>

#include "tests/faults/operations.h"
#include "tests/support/show_window.h"

namespace texton::test {
namespace {

Bytes use_streams(const Device& device) {
    const Stream first(device), second(device, -1);
    const Linear memory(device, 4096);
    const Event begin(device), filled(device, EventTiming::off), end(device);
    std::atomic<int> called = 0;
    begin.record(first);
    fill(memory.view(), std::uint8_t{1}, first);
    filled.record(first);
    second.wait(filled);
    fill(memory.view().region({{}, {64}}), std::uint8_t{2}, second);
    // The function must be done before `called` is destroyed, whatever fails.
    struct Done {
        ~Done() {
            const Aside own;
            try {
                stream.synchronize();
            } catch (const Error&) {
                // The failure belongs to the work before.
            }
        }
        const Stream& stream;
    };
    {
        const Done done{second};
        second.run([&called] { ++called; });
        end.record(first);
        second.synchronize();
    }
    (void)first.idle();
    (void)filled.done();
    end.synchronize();
    (void)end.milliseconds_since(begin);
    (void)first.capturing();
    Bytes result = texels_of(memory.view(), second);
    const auto count = static_cast<std::byte>(called.load());
    append(result, {&count, 1});
    return result;
}

Bytes use_default_stream(const Device& device) {
    const Linear memory(device, 4096);
    const Stream stream = Stream::default_of(device);
    fill(memory.view(), std::uint8_t{1}, stream);
    fill(memory.view().region({{}, {64}}), std::uint8_t{2});
    return texels_of(memory.view());
}

Bytes use_graph(const Device& device) {
    const Stream stream(device), side(device);
    const Linear memory(device, 4096);
    const Event fork(device, EventTiming::off), join(device, EventTiming::off);
    const Graph graph = captured(stream, [&] {
        const Linear inner = Linear::async(64, stream);
        fill(inner.view(), std::uint8_t{5}, stream);
        fork.record(stream);
        side.wait(fork);
        fill(memory.view().region({{2048}, {2048}}), std::uint8_t{1}, side);
        copy(memory.view().region({{}, {64}}), inner.view(), stream);
        fill(memory.view().region({{64}, {1984}}), std::uint8_t{3}, stream);
        join.record(side);
        stream.wait(join);
    });
    (void)graph.size();
    graph.launch(stream);
    graph.launch(stream);
    return texels_of(memory.view(), stream);
}

// Objects that are destroyed while their thread records a graph are freed after the recording.
Bytes destroy_while_recording(const Device& device) {
    const Stream stream(device);
    const Linear memory(device, 4096);
    auto plain = [&] {
        const Aside own;
        return std::make_unique<std::optional<Linear>>();
    }();
    plain->emplace(device, 4096);
    auto pooled = [&] {
        const Aside own;
        return std::make_unique<std::optional<Linear>>();
    }();
    pooled->emplace(Linear::async(4096, stream));
    const Graph graph = captured(stream, [&] {
        plain->reset();
        pooled->reset();
        { const Event event(device); }
        fill(memory.view(), std::uint8_t{3}, stream);
    });
    graph.launch(stream);
    return texels_of(memory.view(), stream);
}

Prepared copy_between_kinds(const Device& device) {
    const auto host = std::make_shared<Bytes>(pattern(64 * 32 * 4, 1));
    return {[device, host] {
        const Extent extent{64, 32};
        const ConstView from = host_view(static_cast<const void*>(host->data()), Format::rgba8_unorm, extent);
        const Stream stream(device);
        const Pitched2D pitched(device, Format::rgba8_unorm, extent);
        const Pinned pinned(device, host->size());
        const Linear linear(device, Format::rgba8_unorm, extent);
        copy(pitched.view(), from, stream);
        copy(pinned.view(Format::rgba8_unorm, extent), pitched.view(), stream);
        copy(linear.view(Format::rgba8_unorm, extent), pinned.view(Format::rgba8_unorm, extent), stream);
        stream.synchronize();
        copy(pitched.view(), linear.view(Format::rgba8_unorm, extent));
        return texels_of(pitched.view());
    }};
}

Prepared copy_large(const Device& device) {
    constexpr std::size_t kBytes = std::size_t{9} << 20;
    const auto host = std::make_shared<Bytes>(pattern(kBytes, 2));
    const auto back = std::make_shared<Bytes>(kBytes);
    const auto memory = std::make_shared<Linear>(device, kBytes);
    return {[device, host, back, memory] {
        const Stream stream(device);
        copy(memory->view(), host_view(std::span<const std::byte>(*host)), stream);
        copy(host_view(std::span(*back)), memory->view(), stream);
        stream.synchronize();
        copy(memory->view(), host_view(std::span<const std::byte>(*host)));
        copy(host_view(std::span(*back)), memory->view());
        const Aside own;
        return *back;
    }};
}

Bytes copy_between_devices(const Device& device) {
    Bytes result;
    const Linear here(device, 4096);
    fill(here.view(), std::uint8_t{8});
    for (const Device& other : Device::list()) {
        if (other == device) continue;
        const Linear there(other, 4096);
        copy(there.view(), here.view());
        if (other.kind() == device.kind()) {
            const Stream stream(device);
            copy(there.view().region({{}, {64}}), here.view().region({{64}, {64}}), stream);
            stream.synchronize();
        }
        append(result, texels_of(there.view()));
    }
    return result;
}

Prepared copy_batch(const Device& device) {
    const auto host = std::make_shared<Bytes>(pattern(8192, 3));
    return {[device, host] {
        const Linear first(device, 8192);
        const Linear second(device, 8192);
        const Stream stream(device);
        fill(second.view(), std::uint8_t{0});
        copy(first.view(), host_view(std::span<const std::byte>(*host)));
        CopyBatch batch;
        for (std::size_t i = 0; i < 5; ++i) {
            batch.add(second.view().region({{i * 1024}, {512}}), first.view().region({{(5 - i) * 512}, {512}}));
        }
        batch.run(stream);
        batch.run(stream);
        return texels_of(second.view(), stream);
    }};
}

Bytes fill_patterns(const Device& device) {
    const Linear memory(device, Format::rgba32_float, {16, 16});
    const View view = memory.view(Format::rgba32_float, {16, 16});
    const Stream stream(device);
    const std::byte texel[16] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    fill(view, std::span<const std::byte>(texel), stream);
    fill(view.region({{3, 4}, {5, 6}}), std::uint16_t{0x1234}, stream);
    fill(view.region({{9, 4}, {5, 6}}), std::span<const std::byte>(texel).first(8), stream);
    return texels_of(view, stream);
}

// Deletes a tensor that was not taken.
template <class Tensor>
class Kept {
public:
    explicit Kept(Tensor* tensor) : tensor_(tensor) {}
    ~Kept() {
        if (tensor_ != nullptr && tensor_->deleter != nullptr) tensor_->deleter(tensor_);
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    Tensor* get() const { return tensor_; }
    Tensor* release() { return std::exchange(tensor_, nullptr); }

private:
    Tensor* tensor_;
};

Bytes exchange_tensors(const Device& device) {
    const Pitched2D memory(device, Format::rgba8_uint, {13, 7});
    fill(memory.view(), std::uint8_t{2});
    Kept tensor(to_dlpack(memory.view()));
    const View view = from_dlpack(tensor.get());
    tensor.release();
    const View again = from_dlpack_versioned(to_dlpack_versioned(view));
    const ConstView constant = const_from_dlpack_versioned(to_dlpack_versioned(ConstView(again)));
    return texels_of(constant);
}

Bytes exchange_interfaces(const Device& device) {
    const Pitched2D memory(device, Format::rgba8_uint, {13, 7});
    fill(memory.view(), std::uint8_t{2});
    const ArrayInterface array = array_interface(memory.view());
    const View view = from_array_interface(device, array);
    const ArrayInterface constant = array_interface(ConstView(view));
    return texels_of(const_from_array_interface(device, constant));
}

// A frame with a stream and one without, after which the window is closed, so that the next call releases everything.
Prepared show_frames(const Device& device) {
    const Aside own;
    const std::string address = "@texton-faults-" + std::to_string(getpid());
    setenv("TEXTON_SHOW", address.c_str(), 1);
    const auto run = [device, address] {
        const Linear memory(device, 4096);
        const View view = memory.view(Format::r8_uint, {64, 64});
        fill(view, std::uint8_t{5});
        const Stream stream(device);
        struct Closing {
            std::optional<ShowWindow> window;
            ConstView view;
            ~Closing() {
                const Aside own;
                window.reset();
                (void)texton_show_view(&view, "frame");
            }
        };
        Closing closing;
        closing.view = view;
        {
            const Aside own;
            closing.window.emplace(address);
            (void)texton_show_view(&view, "frame");  // connects
        }
        (void)show(view, "frame");
        (void)show(view, "frame", stream);
        stream.synchronize();
        const Aside own;
        (void)texton_show_view(&view, "frame");  // a failed call may have dropped the other frames
        closing.window->receive(0);
        const std::optional<ShownFrame> frame = closing.window->read("frame");
        return frame ? frame->texels : Bytes();
    };
    return {run};
}

}  // namespace

std::vector<Operation> work_operations() {
    return {
        {"Streams", {"stream"}, with_device(use_streams)},
        {"DefaultStream", {"stream"}, with_device(use_default_stream)},
        {"Graph", {"graph"}, with_device(use_graph)},
        {"DestructionWhileRecording", {"graph"}, with_device(destroy_while_recording)},
        {"CopyBetweenKinds", {"copy"}, copy_between_kinds},
        {"CopyOfManyBytes", {"copy"}, copy_large},
        {"CopyBetweenDevices", {"copy"}, with_device(copy_between_devices)},
        {"CopyBatch", {"copy"}, copy_batch},
        {"FillWithPatterns", {"fill"}, with_device(fill_patterns)},
        {"Show", {"show"}, show_frames},
    };
}

std::vector<Operation> exchange_operations() {
    return {
        {"Dlpack", {"dlpack", "dlpack_versioned"}, with_device(exchange_tensors)},
        {"ArrayInterface", {"array_interface"}, with_device(exchange_interfaces)},
    };
}

}  // namespace texton::test
