#include "viewer/inspect/timeline.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/stream.h>

namespace texton::viewer {
namespace {

using Span = std::pair<double, double>;

double gigabytes_a_second(std::size_t bytes, double milliseconds) {
    return milliseconds > 0 ? static_cast<double>(bytes) / milliseconds / 1e6 : 0;
}

// Returns the time spans of a lane's bars. Adjacent and overlapping spans are merged.
std::vector<Span> joined(const std::vector<TimelineBar>& bars, TimelineLane lane) {
    std::vector<Span> spans;
    for (const TimelineBar& bar : bars) {
        if (bar.lane == lane && bar.end > bar.begin) spans.emplace_back(bar.begin, bar.end);
    }
    std::ranges::sort(spans);
    std::vector<Span> out;
    for (const Span& span : spans) {
        if (!out.empty() && span.first <= out.back().second) {
            out.back().second = std::max(out.back().second, span.second);
        } else {
            out.push_back(span);
        }
    }
    return out;
}

}  // namespace

std::string_view name(TimelineLane lane) noexcept {
    switch (lane) {
        case TimelineLane::decode: return "decode";
        case TimelineLane::convert: return "convert";
        case TimelineLane::staging: return "staging";
        case TimelineLane::copy: return "copy";
        case TimelineLane::kernel: return "kernel";
    }
    return "";
}

double TimelineBar::rate() const noexcept { return gigabytes_a_second(bytes, end - begin); }

double Timeline::busy(TimelineLane lane) const {
    double sum = 0;
    for (const Span& span : joined(bars, lane)) sum += span.second - span.first;
    return sum;
}

double Timeline::rate(TimelineLane lane) const {
    return lane == TimelineLane::kernel ? 0 : gigabytes_a_second(bytes, busy(lane));
}

double Timeline::overlap() const {
    double sum = 0;
    for (const TimelineLane lane : {TimelineLane::decode, TimelineLane::convert}) {
        const std::vector<Span> works = joined(bars, lane);
        for (const Span& copy : joined(bars, TimelineLane::copy)) {
            for (const Span& work : works)
                sum += std::max(0.0, std::min(copy.second, work.second) - std::max(copy.first, work.first));
        }
    }
    return sum;
}

Timeline timeline_of(const LoadTiming& timing, std::optional<double> kernel_milliseconds) {
    Timeline out{.bars = {}, .total = timing.total};
    for (std::size_t part = 0; part < timing.steps.size(); ++part) {
        const LoadStep& step = timing.steps[part];
        const double read = step.decode_end - step.convert;
        out.bars.push_back({TimelineLane::decode, part, step.decode_begin, read, step.bytes});
        out.bars.push_back({TimelineLane::convert, part, read, step.decode_end, step.bytes});
        out.bars.push_back({TimelineLane::staging, part, step.decode_end, step.copy_begin, step.bytes});
        out.bars.push_back({TimelineLane::copy, part, step.copy_begin, step.copy_end, step.bytes});
        out.bytes += step.bytes;
        out.total = std::max(out.total, step.copy_end);
    }
    if (kernel_milliseconds) {
        out.bars.push_back({TimelineLane::kernel, 0, out.total, out.total + *kernel_milliseconds, 0});
        out.total += *kernel_milliseconds;
    }
    return out;
}

double upload_peak(const Device& device, std::size_t bytes, const CancellationToken& token) {
    constexpr int kRounds = 5;
    const Pinned host(device, bytes);
    const Linear memory(device, bytes);
    std::memset(host.data(), 1, bytes);  // touches every page
    const Stream stream(device);
    const Event begin(device);
    const Event end(device);
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        throw_if_canceled(token);
        begin.record(stream);
        copy(memory.view(), host.view(), stream);
        end.record(stream);
        end.synchronize();
        best = std::max(best, gigabytes_a_second(bytes, end.milliseconds_since(begin)));
    }
    return best;
}

}  // namespace texton::viewer
