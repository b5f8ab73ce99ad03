// A main() for fuzz targets where libFuzzer is not linked: with g++, and on machines without clang. It runs a target with
// all files of the given folders, and then with mutations of them. The mutations are the same on every machine.
//
// It accepts those options of libFuzzer that tests/fuzz/run passes: -runs=N and -max_total_time=SECONDS limit the
// mutations, -timeout=SECONDS limits one input, -artifact_prefix=PREFIX is put before the name of a file with an input
// that failed, -dict=FILE names texts to insert. Other options are ignored.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutator.h"

extern "C" {
int LLVMFuzzerInitialize(int* argc, char*** argv) __attribute__((weak));
// Sanitizers abort after a report, so that the handler of SIGABRT keeps the input.
const char* __asan_default_options() { return "abort_on_error=1:allow_user_segv_handler=0"; }
const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
}

namespace {

namespace fs = std::filesystem;
using texton::fuzz::Input;

struct Options {
    std::size_t runs = 10000;
    unsigned seconds = 10;
    unsigned timeout = 25;
    std::string prefix;
    std::vector<Input> words;
    std::vector<fs::path> paths;
};

// The input that is running, for the handlers of failures.
const Input* running = nullptr;
std::string failed_name;

void keep_input() {
    if (running == nullptr) return;
    std::FILE* file = std::fopen(failed_name.c_str(), "wb");
    if (file == nullptr) return;
    std::fwrite(running->data(), 1, running->size(), file);
    std::fclose(file);
    std::fprintf(stderr, "The input that failed is in %s\n", failed_name.c_str());
    running = nullptr;
}

void on_signal(int number) {
    if (number == SIGALRM) std::fputs("The input ran longer than -timeout allows.\n", stderr);
    keep_input();
    std::_Exit(1);
}

Input read_input(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Reads lines like NAME="text" of a dictionary. \xHH is a byte; \\ and \" are the second character.
std::vector<Input> read_dictionary(const fs::path& path) {
    std::vector<Input> words;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find('"'), last = line.rfind('"');
        if (line.empty() || line[0] == '#' || first >= last) continue;
        Input word;
        for (std::size_t i = first + 1; i < last; ++i) {
            if (line[i] == '\\' && line[i + 1] == 'x') {
                word.push_back(static_cast<std::uint8_t>(std::stoi(line.substr(i + 2, 2), nullptr, 16)));
                i += 3;
            } else {
                if (line[i] == '\\') ++i;
                word.push_back(static_cast<std::uint8_t>(line[i]));
            }
        }
        words.push_back(std::move(word));
    }
    return words;
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto value = [&](std::string_view name) {
            return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
        };
        if (const char* runs = value("-runs=")) options.runs = std::strtoull(runs, nullptr, 10);
        if (const char* time = value("-max_total_time=")) options.seconds = static_cast<unsigned>(std::atoi(time));
        if (const char* time = value("-timeout=")) options.timeout = static_cast<unsigned>(std::atoi(time));
        if (const char* prefix = value("-artifact_prefix=")) options.prefix = prefix;
        if (const char* path = value("-dict=")) options.words = read_dictionary(path);
        if (argument.starts_with("-")) continue;
        if (!fs::is_directory(argument)) {
            options.paths.emplace_back(argument);
            continue;
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(argument)) options.paths.push_back(entry.path());
    }
    std::ranges::sort(options.paths);
    return options;
}

void run(const Input& input, unsigned timeout) {
    // A copy of exactly this size, so that a sanitizer finds accesses beyond the end.
    const Input exact(input.begin(), input.end());
    running = &exact;
    ::alarm(timeout);
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
    running = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
    const Options options = options_of(argc, argv);
    failed_name = options.prefix + "crash-" + std::to_string(::getpid());
    for (const int number : {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, on_signal);
    std::vector<Input> seeds;
    for (const fs::path& path : options.paths) {
        seeds.push_back(read_input(path));
        run(seeds.back(), options.timeout);
    }
    if (seeds.empty()) seeds.emplace_back();
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::seconds(options.seconds);
    std::mt19937 random(1);
    texton::fuzz::Mutator mutator(seeds, options.words, random);
    std::size_t runs = 0;
    for (; runs < options.runs && std::chrono::steady_clock::now() < end; ++runs) run(mutator.next(), options.timeout);
    ::alarm(0);
    std::fprintf(stderr, "stat::number_of_executed_units: %zu\n", options.paths.size() + runs);
    return 0;
}
