// Compares the CPU device with memcpy and memset on the same number of threads.
#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/pool.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;

// A team of waiting threads, so that the peer's times do not include starting threads. The calling thread does a share
// of the work.
class Crew {
public:
    Crew() : count_(std::max(1u, std::thread::hardware_concurrency())), start_(parties()), end_(parties()) {
        for (std::size_t i = 1; i < count_; ++i) {
            threads_.emplace_back([this, i] {
                for (;;) {
                    start_.arrive_and_wait();
                    if (stop_) return;
                    work_(i);
                    end_.arrive_and_wait();
                }
            });
        }
    }
    ~Crew() {
        stop_ = true;
        start_.arrive_and_wait();
        for (std::thread& thread : threads_) thread.join();
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Calls `part` with the bounds of each thread's share of [0, total).
    void split(std::size_t total, const std::function<void(std::size_t, std::size_t)>& part) {
        work_ = [&](std::size_t i) { part(total * i / count_, total * (i + 1) / count_); };
        start_.arrive_and_wait();
        work_(0);
        end_.arrive_and_wait();
    }

private:
    std::ptrdiff_t parties() const { return static_cast<std::ptrdiff_t>(count_); }

    std::size_t count_;
    std::function<void(std::size_t)> work_;
    bool stop_ = false;
    std::barrier<> start_;
    std::barrier<> end_;
    std::vector<std::thread> threads_;
};

Crew& crew() {
    static Crew made;
    return made;
}

Sides copy_linear() {
    const Device device = Device::cpu();
    auto from = std::make_shared<Linear>(device, kBytes);
    auto to = std::make_shared<Linear>(device, kBytes);
    fill(from->view(), std::uint8_t{1});
    fill(to->view(), std::uint8_t{2});
    return {[=] { copy(to->view(), from->view()); },
            [=] {
                crew().split(kBytes, [&](std::size_t begin, std::size_t end) {
                    std::memcpy(to->data() + begin, from->data() + begin, end - begin);
                });
            }};
}

constexpr Extent kFlat{4000, 16384};                       // rows of 16000 bytes with a pitch of 16384 bytes
constexpr std::size_t kRow = kFlat.width * sizeof(float);  // 250 MiB in total

Sides copy_pitched() {
    const Device device = Device::cpu();
    auto from = std::make_shared<Pitched2D>(device, Format::r32_float, kFlat);
    auto to = std::make_shared<Pitched2D>(device, Format::r32_float, kFlat);
    fill(from->view(), std::uint8_t{1});
    fill(to->view(), std::uint8_t{2});
    return {[=] { copy(to->view(), from->view()); },
            [=] {
                crew().split(kFlat.height, [&](std::size_t begin, std::size_t end) {
                    for (std::size_t y = begin; y < end; ++y) {
                        std::memcpy(to->data() + y * to->pitch(), from->data() + y * from->pitch(), kRow);
                    }
                });
            }};
}

Sides upload_linear() {
    auto host = std::make_shared<std::vector<std::byte>>(kBytes, std::byte{1});
    auto to = std::make_shared<Linear>(Device::cpu(), kBytes);
    return {[=] { copy(to->view(), host_view(std::span(*host))); },
            [=] {
                crew().split(kBytes, [&](std::size_t begin, std::size_t end) {
                    std::memcpy(to->data() + begin, host->data() + begin, end - begin);
                });
            }};
}

Sides copy_on_a_stream() {
    const Device device = Device::cpu();
    auto from = std::make_shared<Linear>(device, kBytes);
    auto to = std::make_shared<Linear>(device, kBytes);
    const Stream stream(device);
    fill(from->view(), std::uint8_t{1});
    return {[=] {
                copy(to->view(), from->view(), stream);
                stream.synchronize();
            },
            [=] {
                crew().split(kBytes, [&](std::size_t begin, std::size_t end) {
                    std::memcpy(to->data() + begin, from->data() + begin, end - begin);
                });
            }};
}

Sides fill_linear() {
    auto to = std::make_shared<Linear>(Device::cpu(), kBytes);
    return {[=] { fill(to->view(), std::uint8_t{3}); },
            [=] {
                crew().split(kBytes, [&](std::size_t begin, std::size_t end) {
                    std::memset(to->data() + begin, 3, end - begin);
                });
            }};
}

Sides fill_words() {
    auto to = std::make_shared<Linear>(Device::cpu(), kBytes);
    return {[=] { fill(to->view(), std::uint32_t{0x01020304}); },
            [=] {
                crew().split(kBytes, [&](std::size_t begin, std::size_t end) {
                    std::memset(to->data() + begin, 3, end - begin);
                });
            }};
}

Sides fill_pitched() {
    auto to = std::make_shared<Pitched2D>(Device::cpu(), Format::r32_float, kFlat);
    return {[=] { fill(to->view(), std::uint8_t{3}); },
            [=] {
                crew().split(kFlat.height, [&](std::size_t begin, std::size_t end) {
                    for (std::size_t y = begin; y < end; ++y) std::memset(to->data() + y * to->pitch(), 3, kRow);
                });
            }};
}

constexpr int kSmall = 10'000;

Sides small_copies() {
    const Device device = Device::cpu();
    auto from = std::make_shared<Linear>(device, 4096);
    auto to = std::make_shared<Linear>(device, 4096);
    const Stream stream(device);
    return {[=, a = to->view(), b = from->view()] {
                for (int i = 0; i < kSmall; ++i) copy(a, b, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kSmall; ++i) {
                    std::memcpy(to->data(), from->data(), 4096);
                    asm volatile("" : : "r"(to->data()) : "memory");
                }
            }};
}

Sides pool_allocations() {
    const Device device = Device::cpu();
    const Pool pool(device);
    const Stream stream(device);
    pool.set_release_threshold(~std::uint64_t{0});
    return {[=] {
                for (int i = 0; i < kSmall; ++i) (void)pool.allocate(1 << 20, stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kSmall; ++i) {
                    void* memory = std::malloc(1 << 20);
                    asm volatile("" : : "r"(memory) : "memory");
                    std::free(memory);
                }
            }};
}

const bool added = add_suite([] {
    constexpr Target kCopy{Target::Kind::speed_at_least, 0.9};
    const auto flat = static_cast<double>(kRow * kFlat.height);
    const auto all = static_cast<double>(kBytes);
    add({"cpu/copy/linear", kCopy, copy_linear, 2 * all});
    add({"cpu/copy/pitched", kCopy, copy_pitched, 2 * flat});
    add({"cpu/copy/from host", kCopy, upload_linear, 2 * all});
    add({"cpu/copy/on a stream", kCopy, copy_on_a_stream, 2 * all});
    add({"cpu/fill/bytes", kCopy, fill_linear, all});
    add({"cpu/fill/words (memset of bytes)", {}, fill_words, all});
    add({"cpu/fill/pitched", kCopy, fill_pitched, flat});
    add({"cpu/small copies (memcpy)", {}, small_copies, 0, kSmall});
    add({"cpu/pool allocate and free (malloc)", {}, pool_allocations, 0, kSmall});
    if (!Device::why_no_cuda().empty()) note("no CUDA device: " + Device::why_no_cuda());
});

}  // namespace
}  // namespace texton::bench
