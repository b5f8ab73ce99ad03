// texton-bench: compares Texton with the libraries and calls it is built on, in the same run.
//
//   texton-bench [--out FILE.json] [--benchmark_filter=REGEX] [options of Google Benchmark]
//
// Prints one table at the end: `name ours peer ratio target ok|MISS`. A missed target does not change the exit status,
// because speeds depend on the machine. The exit status is 1 if no comparison could run or the output file could not be
// written, 2 for invalid options.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <texton/device.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Result {
    std::string name;
    Target target;
    double ours = 0;  // in `unit`
    double peer = 0;
    const char* unit = "us";
    double ratio = 0;
};

std::vector<std::function<void()>>& suites() {
    static std::vector<std::function<void()>> all;
    return all;
}

std::vector<Result>& results() {
    static std::vector<Result> all;
    return all;
}

std::vector<std::string>& notes() {
    static std::vector<std::string> all;
    return all;
}

double median(std::vector<double> values) {
    const auto center = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), center, values.end());
    return *center;
}

double seconds(const std::function<void()>& action) {
    const auto begin = Clock::now();
    action();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void run(benchmark::State& state, const Comparison& comparison) {
    Sides sides;
    try {
        sides = comparison.prepare();
        sides.peer();  // one call each before the rounds, to map pages and raise clock rates
        sides.ours();
    } catch (const std::exception& error) {
        notes().push_back(comparison.name + ": " + error.what());
        state.SkipWithError(error.what());
        return;
    }
    std::vector<double> ours;
    std::vector<double> peer;
    std::vector<double> ratios;
    for (auto _ : state) {
        double a = 0;
        double b = 0;
        if (ours.size() % 2 == 0) {
            a = seconds(sides.ours);
            b = seconds(sides.peer);
        } else {
            b = seconds(sides.peer);
            a = seconds(sides.ours);
        }
        ours.push_back(a);
        peer.push_back(b);
        ratios.push_back(comparison.target.kind == Target::Kind::time_at_most ? a / b : b / a);
        state.SetIterationTime(a);
    }
    Result result{.name = comparison.name, .target = comparison.target, .ratio = median(ratios)};
    const bool as_rate = comparison.bytes > 0;
    result.unit = as_rate ? "GB/s" : "us";
    const auto shown = [&](const std::vector<double>& times) {
        const double time = median(times);
        return as_rate ? comparison.bytes / time / 1e9 : time * 1e6 / comparison.operations;
    };
    result.ours = shown(ours);
    result.peer = shown(peer);
    state.counters["ours"] = result.ours;
    state.counters["peer"] = result.peer;
    state.counters["ratio"] = result.ratio;
    results().push_back(std::move(result));
}

bool reached(const Result& result) {
    switch (result.target.kind) {
        case Target::Kind::none: return true;
        case Target::Kind::speed_at_least: return result.ratio >= result.target.value;
        case Target::Kind::time_at_most: return result.ratio <= result.target.value;
        case Target::Kind::rate_at_least: return result.ours >= result.target.value;
        case Target::Kind::own_time_at_most: return result.ours <= result.target.value;
    }
    return false;
}

std::string target_text(const Target& target) {
    switch (target.kind) {
        case Target::Kind::none: return "-";
        case Target::Kind::speed_at_least: return fmt::format(">= {:.2f}", target.value);
        case Target::Kind::time_at_most: return fmt::format("<= {:.2f}", target.value);
        case Target::Kind::rate_at_least: return fmt::format(">= {:.0f} GB/s", target.value);
        case Target::Kind::own_time_at_most: return fmt::format("<= {:.0f} us", target.value);
    }
    return "";
}

const char* verdict(const Result& result) {
    if (result.target.kind == Target::Kind::none) return "-";
    return reached(result) ? "ok" : "MISS";
}

void print_table() {
    std::size_t width = 4;
    for (const Result& result : results()) width = std::max(width, result.name.size());
    fmt::print("\n{:<{}}  {:>14}  {:>14}  {:>6}  {:>10}\n", "name", width, "ours", "peer", "ratio", "target");
    for (const Result& result : results()) {
        fmt::print("{:<{}}  {:>9.2f} {:<4}  {:>9.2f} {:<4}  {:>6.3f}  {:>10}  {}\n", result.name, width, result.ours,
                   result.unit, result.peer, result.unit, result.ratio, target_text(result.target), verdict(result));
    }
    for (const std::string& text : notes()) fmt::print("note: {}\n", text);
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
}

bool write_json(const std::string& path) {
    std::string text = fmt::format("{{\n  \"device\": {},\n  \"results\": [", quoted(Device::best().name()));
    const char* comma = "\n";
    for (const Result& result : results()) {
        text += fmt::format(
            "{}    {{\"name\": {}, \"ours\": {:.6g}, \"peer\": {:.6g}, \"unit\": \"{}\", \"ratio\": {:.6g}, "
            "\"target\": {}, "
            "\"verdict\": \"{}\"}}",
            comma, quoted(result.name), result.ours, result.peer, result.unit, result.ratio,
            quoted(target_text(result.target)), verdict(result));
        comma = ",\n";
    }
    text += "\n  ],\n  \"notes\": [";
    comma = "";
    for (const std::string& line : notes()) {
        text += comma + quoted(line);
        comma = ", ";
    }
    text += "]\n}\n";
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fputs(text.c_str(), file) >= 0;
    return std::fclose(file) == 0 && written;
}

}  // namespace

bool add(Comparison comparison) {
    const int rounds = comparison.rounds;
    const std::string name = comparison.name;
    benchmark::RegisterBenchmark(
        name.c_str(), [comparison = std::move(comparison)](benchmark::State& state) { run(state, comparison); })
        ->Iterations(rounds)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
    return true;
}

bool add_suite(std::function<void()> suite) {
    suites().push_back(std::move(suite));
    return true;
}

void note(std::string text) { notes().push_back(std::move(text)); }

int run_all(int argc, char** argv) {
    std::string out;
    std::vector<char*> rest;
    for (int i = 0; i < argc; ++i) {
        if (std::strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            out = argv[++i];
        } else {
            rest.push_back(argv[i]);
        }
    }
    int count = static_cast<int>(rest.size());
    benchmark::Initialize(&count, rest.data());
    if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
    for (const auto& suite : suites()) suite();
    benchmark::RunSpecifiedBenchmarks();
    print_table();
    if (!out.empty() && !write_json(out)) {
        fmt::print(stderr, "texton-bench: {} could not be written. Choose another path for --out.\n", out);
        return 1;
    }
    return results().empty() ? 1 : 0;
}

}  // namespace texton::bench

int main(int argc, char** argv) {
    try {
        return texton::bench::run_all(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "texton-bench: {}\n", error.what());
        return 1;
    }
}
