// Compares two devices that compute an image together with one of them: the ratio is the gain. Two GPUs, and two CPU
// devices, which need TEXTON_CPU_DEVICES=2 and TEXTON_CPU_THREADS, so that each has processors of its own.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/device_set.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr Format kFormat = Format::rgba32_float;

struct Case {
    const char* kernel;
    std::map<std::string, ParameterValue> values;
    std::size_t side;        // of the input, in texels
    std::size_t factor = 1;  // side of the result / side of the input
    Target target{};
};

std::size_t bytes_of(std::size_t side) { return side * side * info(kFormat).bytes; }

/// Images in host memory. All rows of different sizes use the same memory.
class HostImages {
public:
    ConstView input(std::size_t side) {
        if (input_.size() < bytes_of(side)) {
            const std::size_t before = input_.size();
            input_.resize(bytes_of(side));
            std::mt19937 random(1);
            for (std::size_t i = before; i < input_.size(); i += sizeof(float)) {
                const float value = static_cast<float>(random() >> 8) * 0x1p-24f;
                std::memcpy(input_.data() + i, &value, sizeof value);
            }
        }
        return host_view(std::as_const(input_).data(), kFormat, {side, side});
    }
    View result(std::size_t number, std::size_t side) {
        std::vector<std::byte>& memory = results_[number];
        memory.resize(std::max(memory.size(), bytes_of(side)));
        return host_view(memory.data(), kFormat, {side, side});
    }

private:
    std::vector<std::byte> input_;
    std::vector<std::byte> results_[2];
};

/// A kernel on some devices.
class Run {
public:
    Run(std::vector<Device> devices, const Case& row, ConstView input)
        : set_(std::move(devices)),
          kernel_(kernel_named(row.kernel)),
          arguments_(kernel_.info, row.values),
          texels_(std::move(input)),
          input_{{set_.split(texels_)}},
          result_(set_.create({{row.side * row.factor, row.side * row.factor}, kFormat})) {}

    /// Computes the result from an image whose rows the devices have.
    void apply(int times) {
        for (int i = 0; i < times; ++i) set_.apply(kernel_, arguments_, input_, result_);
        set_.synchronize();
    }
    /// Computes the result from host memory, and copies it there.
    void end_to_end(const View& to) {
        const std::vector<SplitInput> input{{set_.split(texels_)}};
        set_.apply(kernel_, arguments_, input, result_);
        set_.join(to, result_);
    }
    void join(const View& to) { set_.join(to, result_); }

private:
    DeviceSet set_;
    const Kernel& kernel_;
    Arguments arguments_;
    ConstView texels_;
    std::vector<SplitInput> input_;
    SplitImage result_;
};

void check_same(const View& a, const View& b, std::size_t bytes) {
    if (std::memcmp(a.data(), b.data(), bytes) != 0) throw std::runtime_error("the results differ");
}

void add_rows(const std::vector<Device>& devices, const Case& row, int times) {
    static const auto kImages = std::make_shared<HostImages>();
    const std::size_t side = row.side * row.factor;
    const std::string name =
        fmt::format("two {} devices {} {}{}", devices[0].kind() == DeviceKind::cpu ? "CPU" : "CUDA", row.kernel,
                    row.side, row.factor == 1 ? "" : fmt::format(" to {}", side));
    const double bytes = static_cast<double>(bytes_of(row.side) + bytes_of(side));
    add({.name = name,
         .target = row.target,
         .prepare =
             [=] {
                 const auto two = std::make_shared<Run>(devices, row, kImages->input(row.side));
                 const auto one = std::make_shared<Run>(std::vector<Device>{devices[0]}, row, kImages->input(row.side));
                 two->apply(1);
                 one->apply(1);
                 two->join(kImages->result(0, side));
                 one->join(kImages->result(1, side));
                 check_same(kImages->result(0, side), kImages->result(1, side), bytes_of(side));
                 return Sides{[=] { two->apply(times); }, [=] { one->apply(times); }};
             },
         .bytes = bytes * times,
         .rounds = 5});
    add({.name = name + " from host memory",
         .target = {},
         .prepare =
             [=] {
                 const auto two = std::make_shared<Run>(devices, row, kImages->input(row.side));
                 const auto one = std::make_shared<Run>(std::vector<Device>{devices[0]}, row, kImages->input(row.side));
                 return Sides{[=] { two->end_to_end(kImages->result(0, side)); },
                              [=] { one->end_to_end(kImages->result(1, side)); }};
             },
         .bytes = bytes,
         .rounds = 5});
}

const bool added = add_suite([] {
    for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu}) {
        const std::vector<Device> devices = Device::list(kind);
        const bool is_cpu = kind == DeviceKind::cpu;
        if (devices.size() < 2) {
            note(is_cpu ? "one CPU device: set TEXTON_CPU_DEVICES=2 and TEXTON_CPU_THREADS to compare two"
                        : "fewer than two CUDA devices: no comparison of two with one");
            continue;
        }
        const std::size_t side = is_cpu ? 4096 : 16384;
        const Target target{Target::Kind::speed_at_least, 1.8};
        for (const Case& row : {Case{"gaussian", {{"sigma", 3.0}, {"radius", 8.0}}, side, 1, target},
                                Case{"resample", {{"filter", std::string("catmull_rom")}}, side / 2, 2, target},
                                Case{"resample", {{"filter", std::string("catmull_rom")}}, side, 2, target}})
            add_rows({devices[0], devices[1]}, row, is_cpu ? 1 : 5);
    }
});

}  // namespace
}  // namespace texton::bench
