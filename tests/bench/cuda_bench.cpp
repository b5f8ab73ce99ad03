// Compares the CUDA device with the raw calls of the CUDA runtime on the same memory.
#include <cuda_runtime_api.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/pool.h>

#include "tests/bench/comparison.h"
#include "tests/bench/cuda_call.h"

namespace texton::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30;
constexpr Extent kFlat{16001, 16384};                      // r32_float: rows of 64004 bytes, pitch 64512 bytes
constexpr std::size_t kRow = kFlat.width * sizeof(float);  // 0.98 GiB in total
constexpr int kSmall = 10'000;
constexpr std::size_t kSmallBytes = 4096;
constexpr std::size_t kUpload = std::size_t{4} << 30;

template <class To, class From>
Sides linear_copy(std::shared_ptr<To> to, std::shared_ptr<From> from, cudaMemcpyKind kind, int times) {
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    return {[=, a = to->view(), b = from->view()] {
                for (int i = 0; i < times; ++i) copy(a, b, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < times; ++i)
                    must(cudaMemcpyAsync(to->data(), from->data(), kBytes, kind, raw->get()));
                raw->synchronize();
            }};
}

Sides pitched_copy(const View& to, const View& from, std::vector<std::shared_ptr<void>> owners, cudaMemcpyKind kind,
                   int times) {
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    return {[=] {
                for (int i = 0; i < times; ++i) copy(to, from, stream);
                stream.synchronize();
            },
            [=, owners = std::move(owners)] {
                for (int i = 0; i < times; ++i) {
                    must(cudaMemcpy2DAsync(to.data(), to.pitch(), from.data(), from.pitch(), kRow, kFlat.height, kind,
                                           raw->get()));
                }
                raw->synchronize();
            }};
}

std::shared_ptr<Linear> linear(std::size_t bytes = kBytes) { return std::make_shared<Linear>(Device::cuda(), bytes); }
std::shared_ptr<Pinned> pinned(std::size_t bytes = kBytes) {
    auto memory = std::make_shared<Pinned>(Device::cuda(), bytes);
    std::memset(memory->data(), 1, bytes);
    return memory;
}
std::shared_ptr<Pitched2D> pitched() { return std::make_shared<Pitched2D>(Device::cuda(), Format::r32_float, kFlat); }

Sides pitched_on_device() {
    const auto to = pitched();
    const auto from = pitched();
    return pitched_copy(to->view(), from->view(), {to, from}, cudaMemcpyDeviceToDevice, 10);
}

Sides pitched_up() {
    const auto to = pitched();
    const auto from = pinned(kRow * kFlat.height);
    return pitched_copy(to->view(), from->view(Format::r32_float, kFlat), {to, from}, cudaMemcpyHostToDevice, 1);
}

Sides pitched_down() {
    const auto to = pinned(kRow * kFlat.height);
    const auto from = pitched();
    return pitched_copy(to->view(Format::r32_float, kFlat), from->view(), {to, from}, cudaMemcpyDeviceToHost, 1);
}

Sides linear_fill() {
    const auto to = linear();
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    return {[=, view = to->view()] {
                for (int i = 0; i < 10; ++i) fill(view, std::uint8_t{3}, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < 10; ++i) must(cudaMemsetAsync(to->data(), 3, kBytes, raw->get()));
                raw->synchronize();
            }};
}

Sides pitched_fill() {
    const auto to = pitched();
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    return {[=, view = to->view()] {
                for (int i = 0; i < 10; ++i) fill(view, std::uint8_t{3}, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < 10; ++i)
                    must(cudaMemset2DAsync(to->data(), to->pitch(), 3, kRow, kFlat.height, raw->get()));
                raw->synchronize();
            }};
}

// Returns the peer of the small copies.
std::function<void()> raw_small(std::byte* to, const std::byte* from, cudaMemcpyKind kind,
                                std::vector<std::shared_ptr<void>> owners) {
    auto raw = std::make_shared<RawStream>();
    return [=, owners = std::move(owners)] {
        for (int i = 0; i < kSmall; ++i) {
            const std::size_t at = static_cast<std::size_t>(i) * kSmallBytes;
            must(cudaMemcpyAsync(to + at, from + at, kSmallBytes, kind, raw->get()));
        }
        raw->synchronize();
    };
}

std::vector<View> small_views(const View& whole) {
    std::vector<View> views;
    for (std::size_t i = 0; i < kSmall; ++i) views.push_back(whole.region({{i * kSmallBytes}, {kSmallBytes}}));
    return views;
}

template <class To, class From>
Sides small_copies(std::shared_ptr<To> to, std::shared_ptr<From> from, cudaMemcpyKind kind) {
    const Stream stream(Device::cuda());
    return {[=, a = small_views(to->view()), b = small_views(from->view())] {
                for (std::size_t i = 0; i < kSmall; ++i) copy(a[i], b[i], stream);
                stream.synchronize();
            },
            raw_small(to->data(), from->data(), kind, {to, from})};
}

template <class To, class From>
Sides batched_copies(std::shared_ptr<To> to, std::shared_ptr<From> from, cudaMemcpyKind kind) {
    const Stream stream(Device::cuda());
    auto batch = std::make_shared<CopyBatch>();
    const auto a = small_views(to->view());
    const auto b = small_views(from->view());
    for (std::size_t i = 0; i < kSmall; ++i) batch->add(a[i], b[i]);
    return {[=] {
                batch->run(stream);
                stream.synchronize();
            },
            raw_small(to->data(), from->data(), kind, {to, from})};
}

Sides pool_allocations() {
    const Device device = Device::cuda();
    Pool::default_of(device).set_release_threshold(~std::uint64_t{0});
    const Stream stream(device);
    auto raw = std::make_shared<RawStream>();
    return {[=] {
                for (int i = 0; i < kSmall; ++i) (void)Linear::async(1 << 20, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kSmall; ++i) {
                    void* memory = nullptr;
                    must(cudaMallocAsync(&memory, 1 << 20, raw->get()));
                    must(cudaFreeAsync(memory, raw->get()));
                }
                raw->synchronize();
            }};
}

using Host = std::vector<std::byte>;

Sides pageable_up(bool peer_pinned) {
    const auto to = linear(kUpload);
    auto host = std::make_shared<Host>(kUpload, std::byte{1});
    Sides sides;
    sides.ours = [=] { copy(to->view(), host_view(std::span(*host))); };
    if (peer_pinned) {
        const auto from = pinned(kUpload);
        sides.peer = [=] { must(cudaMemcpy(to->data(), from->data(), kUpload, cudaMemcpyHostToDevice)); };
    } else {
        sides.peer = [=] { must(cudaMemcpy(to->data(), host->data(), kUpload, cudaMemcpyHostToDevice)); };
    }
    return sides;
}

Sides pageable_down(bool peer_pinned) {
    const auto from = linear(kUpload);
    auto host = std::make_shared<Host>(kUpload, std::byte{1});
    Sides sides;
    sides.ours = [=] { copy(host_view(std::span(*host)), from->view()); };
    if (peer_pinned) {
        const auto to = pinned(kUpload);
        sides.peer = [=] { must(cudaMemcpy(to->data(), from->data(), kUpload, cudaMemcpyDeviceToHost)); };
    } else {
        sides.peer = [=] { must(cudaMemcpy(host->data(), from->data(), kUpload, cudaMemcpyDeviceToHost)); };
    }
    return sides;
}

const bool added = add_suite([] {
    if (!Device::why_no_cuda().empty()) return;  // cpu_bench.cpp adds the note
    constexpr Target kRaw{Target::Kind::speed_at_least, 0.97};
    constexpr Target kSmallTarget{Target::Kind::time_at_most, 1.05};
    constexpr auto kOnDevice = cudaMemcpyDeviceToDevice;
    const auto flat = static_cast<double>(kRow * kFlat.height);
    const auto all = static_cast<double>(kBytes);
    const auto upload = static_cast<double>(kUpload);
    const std::size_t small = kSmall * kSmallBytes;
    add({"cuda/copy/linear", kRaw, [] { return linear_copy(linear(), linear(), kOnDevice, 10); }, 20 * all});
    add({"cuda/copy/linear up", kRaw, [] { return linear_copy(linear(), pinned(), cudaMemcpyHostToDevice, 1); }, all});
    add({"cuda/copy/linear down", kRaw, [] { return linear_copy(pinned(), linear(), cudaMemcpyDeviceToHost, 1); },
         all});
    add({"cuda/copy/pitched", kRaw, pitched_on_device, 20 * flat});
    add({"cuda/copy/pitched up", kRaw, pitched_up, flat});
    add({"cuda/copy/pitched down", kRaw, pitched_down, flat});
    add({"cuda/fill/linear", kRaw, linear_fill, 10 * all});
    add({"cuda/fill/pitched", kRaw, pitched_fill, 10 * flat});
    add({"cuda/10000 small copies", kSmallTarget, [=] { return small_copies(linear(small), linear(small), kOnDevice); },
         0, kSmall});
    add({"cuda/10000 small copies up", kSmallTarget,
         [=] { return small_copies(linear(small), pinned(small), cudaMemcpyHostToDevice); }, 0, kSmall});
    add({"cuda/batch of 10000", kSmallTarget, [=] { return batched_copies(linear(small), linear(small), kOnDevice); },
         0, kSmall});
    add({"cuda/batch of 10000 up", kSmallTarget,
         [=] { return batched_copies(linear(small), pinned(small), cudaMemcpyHostToDevice); }, 0, kSmall});
    add({"cuda/pool allocate and free", {Target::Kind::time_at_most, 1.1}, pool_allocations, 0, kSmall});
    add({"cuda/4 GiB pageable up (cudaMemcpy)",
         {Target::Kind::rate_at_least, 40},
         [] { return pageable_up(false); },
         upload,
         1,
         5});
    add({"cuda/4 GiB pageable up (pinned)", {}, [] { return pageable_up(true); }, upload, 1, 5});
    add({"cuda/4 GiB pageable down (cudaMemcpy)", {}, [] { return pageable_down(false); }, upload, 1, 5});
    add({"cuda/4 GiB pageable down (pinned)", {}, [] { return pageable_down(true); }, upload, 1, 5});
});

}  // namespace
}  // namespace texton::bench
