// The program texton-fuzz-isolated: writes mutated image files of one kind, opens and reads them with
// ReadOptions::isolated, and checks that the calling process survives each one.
//
// The program forks jobs, which read the files. A job that ends is a finding, and another one continues with the next
// run. The program itself calls neither Texton nor OpenImageIO, whose threads a fork would lose. The results are in
// memory that all processes share, one byte for each run, so that nothing is lost with a job. A run depends only on the
// kind and its number: a range of runs can be repeated, divided and continued.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <thread>

#include <OpenImageIO/imageio.h>

#include <texton/read_options.h>

#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/isolated_run.h"
#include "tests/support/reader_processes.h"
#include "tests/support/temporary_files.h"

// Defined only in programs with the address sanitizer.
extern "C" __attribute__((weak)) void __asan_init();

namespace {

using namespace texton::fuzz;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned kLongestRun = 120;  // seconds: opening and reading some levels, each at most its limit
constexpr int kMaxLostJobs = 20;
constexpr unsigned kMaxFindings = 100;  // of a program; more of them have one cause, for example a missing reader

struct Options {
    std::string kind;
    std::uint64_t first = 0;
    std::uint64_t runs = 1000;
    unsigned jobs = 1;
    double seconds = 1e9;
    fs::path state;
    fs::path findings;
    fs::path seeds;
    fs::path files;
    bool list = false;
};

constexpr const char* kUsage = R"(usage: texton-fuzz-isolated --kind KIND [OPTION...]
  --kind KIND      a kind of file as OpenImageIO names it, or ktx2: png, tiff, openexr, ...
  --first N        number of the first run (default 0); a run of a kind has the same file each time
  --runs N         number of runs (default 1000)
  --jobs N         number of processes (default 1)
  --seconds N      start no run later than this after the first one; the exit status is 3 if runs are left
  --state FILE     continue with the results in this file, and keep them there; SIGINT and SIGTERM stop the program
  --findings PATH  folder for the files of runs that fail (default build/fuzz-findings/isolated-KIND)
  --seeds PATH     write the seeds of the kind to this folder, and run nothing
  --files PATH     write the files of the runs to this folder, and run nothing
  --list           print the kinds
TEXTON_READER can name another reader than the one of this build.
)";

std::vector<std::string> kinds() {
    std::vector<std::string> names;
    std::string list = OIIO::get_string_attribute("input_format_list");
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (const std::string name = list.substr(begin, end - begin); name != "null") names.push_back(name);
        begin = end + 1;
    }
    names.emplace_back("ktx2");  // Texton's own
    return names;
}

template <class Number>
Number number_of(const char* option, const std::string& text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw std::invalid_argument(std::string(option) + " needs a number, but got " + text);
    }
    return number;
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--list") {
            options.list = true;
            continue;
        }
        if (i + 1 == argc) throw std::invalid_argument(name + " is unknown, or needs a value");
        const std::string value = argv[++i];
        if (name == "--kind") {
            options.kind = value;
        } else if (name == "--first") {
            options.first = number_of<std::uint64_t>("--first", value);
        } else if (name == "--runs") {
            options.runs = number_of<std::uint64_t>("--runs", value);
        } else if (name == "--jobs") {
            options.jobs = std::clamp(number_of<unsigned>("--jobs", value), 1U, 64U);
        } else if (name == "--seconds") {
            options.seconds = number_of<double>("--seconds", value);
        } else if (name == "--state") {
            options.state = value;
        } else if (name == "--findings") {
            options.findings = value;
        } else if (name == "--seeds") {
            options.seeds = value;
        } else if (name == "--files") {
            options.files = value;
        } else {
            throw std::invalid_argument(name + " is unknown");
        }
    }
    if (options.findings.empty()) options.findings = "build/fuzz-findings/isolated-" + options.kind;
    return options;
}

// What the jobs share.
struct Shared {
    std::atomic<std::uint64_t> next;  // the first run that no job has taken
    std::atomic<bool> stop;           // take no more runs
    std::atomic<std::uint64_t> done;  // runs of all jobs, of this process
    std::atomic<unsigned> findings;   // likewise
    std::atomic<std::uint64_t> slowest_run, slowest_milliseconds;
    std::atomic<std::uint64_t> current[64];  // the run of each job
    std::atomic<std::uint8_t>* results;      // of all runs, from the first one
};

// A folder that is removed with all its contents.
class Folder {
public:
    Folder() {
        std::string name = (texton::test::temporary_files() / "texton-isolated-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("the temporary folder cannot be written");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

// What a process has, and must have again after all runs.
struct Holdings {
    std::ptrdiff_t descriptors = 0;
    std::ptrdiff_t files = 0;
    std::size_t children = 0;
    std::size_t memory_kilobytes = 0;
};

// Ends the processes that wait for other files: the helper is replaced when the path of its program changes.
void end_waiting_processes() {
    const std::string own = texton::test::configured_path("TEXTON_READER", TEXTON_TEST_READER);
    {
        const texton::test::ReaderProgram other("/." + fs::absolute(own).string());
        texton::start_reader();
    }
    texton::start_reader();
}

Holdings holdings(const fs::path& folder) {
    end_waiting_processes();
    const auto count = [](const fs::path& path) {
        return std::distance(fs::directory_iterator(path), fs::directory_iterator());
    };
    Holdings found{count("/proc/self/fd"), count(folder), texton::test::children_of(::getpid()).size(), 0};
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:")) found.memory_kilobytes = std::strtoull(line.c_str() + 8, nullptr, 10);
    }
    return found;
}

// Returns what the process has more than before, or an empty text.
std::string leftovers(const Holdings& before, const fs::path& folder) {
    constexpr std::size_t kCacheKilobytes = std::size_t{128} << 10;  // that the allocator may keep
    const Holdings after = holdings(folder);
    if (!texton::test::eventually([] { return texton::test::readers().empty(); })) return "a process that reads a file";
    if (after.descriptors > before.descriptors)
        return std::to_string(after.descriptors - before.descriptors) + " descriptors";
    if (after.files > before.files) return std::to_string(after.files - before.files) + " temporary files";
    if (after.children > before.children) return std::to_string(after.children - before.children) + " child processes";
    if (__asan_init != nullptr) return "";  // it keeps freed memory
    if (after.memory_kilobytes > before.memory_kilobytes + kCacheKilobytes) {
        return std::to_string(after.memory_kilobytes - before.memory_kilobytes) + " KiB of memory";
    }
    return "";
}

// Writes a file unless the folder is empty.
void write(const fs::path& folder, const std::string& name, const Input& bytes) {
    if (folder.empty()) return;
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Takes runs until there are no more. Returns the exit status of the process.
int job(const Options& options, unsigned index, const fs::path& folder, Shared& shared) {
    const std::uint64_t end = options.first + options.runs;
    ::alarm(kLongestRun);
    try {
        fs::create_directories(folder);
        const std::vector<ImageSeed> seeds = image_seeds(options.kind, folder);
        if (seeds.empty()) throw std::runtime_error("there are no seeds for this kind");
        for (const ImageSeed& seed : seeds) require_readable(seed, folder);
        const IsolatedRuns runs(options.kind, seeds, folder);
        const Holdings before = holdings(folder);
        while (!shared.stop) {
            const std::uint64_t run = shared.next++;
            if (run >= end) break;
            shared.current[index] = run;
            ::alarm(kLongestRun);
            const auto begin = Clock::now();
            std::string finding;
            const std::uint8_t result = runs.run(run, finding);
            ::alarm(0);
            if (!finding.empty()) {
                std::fprintf(stderr, "run %llu: %s\n", static_cast<unsigned long long>(run), finding.c_str());
                const ImageSeed file = runs.file(run);
                const std::string name = std::to_string(run) + "-" + file.name;
                write(options.findings, name, file.bytes);
                std::fprintf(stderr, "The file of this run is %s\n", (options.findings / name).c_str());
                if (++shared.findings >= kMaxFindings) shared.stop = true;
            }
            const auto took = static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
            if (took > shared.slowest_milliseconds) {
                shared.slowest_milliseconds = took;
                shared.slowest_run = run;
            }
            shared.results[run - options.first] = result;
            ++shared.done;
        }
        shared.current[index] = end;
        ::alarm(kLongestRun);
        const std::string left = leftovers(before, folder);
        if (left.empty()) return 0;
        std::fprintf(stderr, "The process has more than before all runs: %s\n", left.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", options.kind.c_str(), error.what());
        shared.current[index] = end;
        shared.stop = true;
    }
    return 1;
}

// The results of all runs so far, and the numbers of the result line.
class Results {
public:
    explicit Results(const Options& options) : options_(options) {
        std::ifstream file(options.state);
        std::string name;
        std::uint64_t value = 0;
        while (file >> name >> value) (name == "next" ? next_ : name == "seconds" ? seconds_ : counts_[name]) = value;
        next_ = std::max(next_, options.first);
    }

    std::uint64_t next() const noexcept { return next_; }
    void add_finding() { ++counts_["findings"]; }
    std::uint64_t findings() { return counts_["findings"]; }
    void add_seconds(double seconds) { seconds_ += static_cast<std::uint64_t>(seconds + 0.5); }
    // Adds the results of the runs that follow each other without a gap.
    void add(const Shared& shared) {
        for (; next_ < options_.first + options_.runs; ++next_) {
            const std::uint8_t result = shared.results[next_ - options_.first];
            if (result == kNotRun) return;
            ++counts_[name_of(result)];
        }
    }
    void save(double seconds) const {
        if (options_.state.empty()) return;
        const fs::path temporary = options_.state.string() + ".new";
        std::ofstream file(temporary);
        file << "next " << next_ << "\nseconds " << seconds_ + static_cast<std::uint64_t>(seconds + 0.5) << '\n';
        for (const auto& [name, count] : counts_) file << name << ' ' << count << '\n';
        file.close();
        fs::rename(temporary, options_.state);
    }
    void print() {
        std::string crashes;
        std::uint64_t crash_count = 0;
        std::vector<std::pair<std::string, std::uint64_t>> kinds;
        for (const auto& [name, count] : counts_) {
            if (!name.starts_with("SIG") && !name.starts_with("status-")) continue;
            kinds.emplace_back(name, count);
            crash_count += count;
        }
        std::ranges::sort(kinds, std::greater<>(), [](const auto& kind) { return kind.second; });
        for (const auto& [name, count] : kinds) {
            crashes += (crashes.empty() ? " (" : ", ") + name + " " + std::to_string(count);
        }
        if (!crashes.empty()) crashes += ")";
        const auto count = [this](const char* name) { return static_cast<unsigned long long>(counts_[name]); };
        std::printf(
            "isolated %s: %llu runs, %llu s, %llu read, %llu refused (%llu after the header), %llu crashes%s, %llu "
            "late, "
            "%llu over the memory limit, %llu findings\n",
            options_.kind.c_str(), static_cast<unsigned long long>(next_ - options_.first),
            static_cast<unsigned long long>(seconds_), count("read"), count("refused") + count("damaged"),
            count("damaged"), static_cast<unsigned long long>(crash_count), crashes.c_str(), count("late"),
            count("memory"), count("findings"));
    }

private:
    const Options& options_;
    std::uint64_t next_ = 0;  // all runs before this one are counted
    std::uint64_t seconds_ = 0;
    std::map<std::string, std::uint64_t> counts_;
};

volatile std::sig_atomic_t stopped = 0;

// Waits until the processes of all jobs, and the readers of jobs that ended, are gone. Returns false if they remain.
bool all_ended() {
    return texton::test::eventually([] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return ::waitpid(-1, nullptr, WNOHANG) < 0;
    });
}

int run(const Options& options) {
    Results results(options);
    if (results.next() >= options.first + options.runs) {
        results.print();
        return results.findings() == 0 ? 0 : 1;
    }
    const std::size_t bytes = sizeof(Shared) + options.runs;
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    Shared& shared = *new (memory) Shared;
    shared.results = new (&shared + 1) std::atomic<std::uint8_t>[options.runs];
    shared.next = results.next();
    for (auto& current : shared.current) current = options.first + options.runs;

    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // readers whose job ended become children of this process
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { stopped = 1; });
    const Folder folder;
    std::map<pid_t, unsigned> jobs;
    const auto start = [&](unsigned index) {
        const pid_t process = ::fork();
        if (process < 0) throw std::runtime_error("a process cannot be started");
        if (process == 0) {
            for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_IGN);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int status = job(options, index, folder.path() / std::to_string(index), shared);
            std::fflush(nullptr);
            ::_exit(status);  // exit() would wait for threads that libraries of OpenImageIO started before the fork
        }
        jobs[process] = index;
    };
    for (unsigned index = 0; index < options.jobs; ++index) start(index);

    const auto begin = Clock::now();
    const auto seconds = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    double saved = 0, first_run = 0;
    int lost = 0;
    while (!jobs.empty()) {
        int status = 0;
        const pid_t process = ::waitpid(-1, &status, WNOHANG);
        if (process <= 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            if (shared.done == 0) first_run = seconds();
            if (stopped != 0 || seconds() > first_run + options.seconds) shared.stop = true;
            if (seconds() > saved + 1) {
                results.add(shared);
                results.save(saved = seconds());
            }
            continue;
        }
        const auto found = jobs.find(process);
        if (found == jobs.end()) continue;  // a reader of a job that ended
        const unsigned index = found->second;
        jobs.erase(found);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        const std::uint64_t run = shared.current[index];
        if (WIFEXITED(status) || run >= options.first + options.runs) {
            results.add_finding();
            continue;
        }
        std::fprintf(stderr, "run %llu: the calling process ended with signal %d%s\n",
                     static_cast<unsigned long long>(run), WTERMSIG(status),
                     WTERMSIG(status) == SIGALRM ? ", because a call did not return" : "");
        shared.results[run - options.first] = kFinding;
        if (++lost < kMaxLostJobs) start(index);
    }
    results.add(shared);
    if (!all_ended()) {
        std::fputs("A process that reads a file is left.\n", stderr);
        results.add_finding();
    }
    results.add_seconds(seconds());
    results.save(0);
    std::fprintf(stderr, "%s: %.1f runs a second, the slowest is run %llu with %.2f s\n", options.kind.c_str(),
                 static_cast<double>(shared.done) / seconds(), static_cast<unsigned long long>(shared.slowest_run),
                 static_cast<double>(shared.slowest_milliseconds) / 1000);
    results.print();
    if (results.findings() != 0) return 1;
    return results.next() < options.first + options.runs ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = options_of(argc, argv);
        if (options.list) {
            for (const std::string& kind : kinds()) std::puts(kind.c_str());
            return 0;
        }
        if (options.kind.empty()) {
            std::fputs(kUsage, stderr);
            return 2;
        }
        ::setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
        if (options.seeds.empty() && options.files.empty()) return run(options);
        const Folder folder;
        const std::vector<ImageSeed> seeds = image_seeds(options.kind, folder.path());
        for (const ImageSeed& seed : seeds) write(options.seeds, seed.name, seed.bytes);
        const IsolatedRuns runs(options.kind, seeds, folder.path());
        for (std::uint64_t number = options.first; number < options.first + options.runs; ++number) {
            const ImageSeed file = runs.file(number);
            write(options.files, std::to_string(number) + "-" + file.name, file.bytes);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "texton-fuzz-isolated: %s\n", error.what());
        return 2;
    }
    return 0;
}
