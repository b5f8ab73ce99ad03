#include "viewer/verify/run_history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/descriptor.h"
#include "viewer/model/json_object.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::streamoff kMaxRead = std::streamoff{256} << 20;
constexpr std::size_t kLineStart = 64 << 10;  // bytes in which the first line of a history ends

[[noreturn]] void refuse(const fs::path& path, const char* problem, const char* remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::verify",
                 .problem = fmt::format("the history {} {}", path.string(), problem),
                 .remedy = remedy});
}

[[noreturn]] void fail(const fs::path& path, const char* verb, int error) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify",
                 .problem = fmt::format("the history {} cannot be {}: {}", path.string(), verb, std::strerror(error)),
                 .remedy = "Check the path, its permissions and the space of the disk."});
}

// --- lines -----------------------------------------------------------------------------------------------------------

Json json_of(const Suite& suite, const Case& of, const HistoryEntry& entry) {
    Json line{{"time", entry.time},     {"suite", suite.name},   {"case", of.name}, {"outcome", name(entry.outcome)},
              {"device", entry.device}, {"driver", entry.driver}};
    if (!entry.label.empty()) line["label"] = entry.label;
    line["seconds"] = entry.seconds;
    line["differing"] = entry.differing;
    line["max_ulp"] = entry.max_ulp;
    line["rmse"] = entry.rmse;  // an infinity becomes null
    return line;
}

template <typename Number>
Number number_in(const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_number() ? found->get<Number>() : Number{};
}

std::string text_in(const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the object of a line, or nothing if the line is damaged.
std::optional<Json> parsed(const std::string& text) {
    Json line = Json::parse(text, nullptr, false);
    const bool is_entry = line.is_object() && !text_in(line, "time").empty() && !text_in(line, "case").empty();
    return is_entry ? std::optional(std::move(line)) : std::nullopt;
}

std::optional<HistoryEntry> entry_in(const Json& line) {
    HistoryEntry entry;
    const std::string outcome = text_in(line, "outcome");
    std::size_t found = 0;
    while (found < kOutcomes && outcome != name(static_cast<Outcome>(found))) ++found;
    if (found == kOutcomes) return {};
    entry.outcome = static_cast<Outcome>(found);
    entry.time = text_in(line, "time");
    entry.device = text_in(line, "device");
    entry.driver = number_in<int>(line, "driver");
    entry.label = text_in(line, "label");
    entry.seconds = number_in<double>(line, "seconds");
    entry.differing = number_in<std::size_t>(line, "differing");
    entry.max_ulp = number_in<std::uint32_t>(line, "max_ulp");
    const auto rmse = line.find("rmse");
    entry.rmse = rmse != line.end() && rmse->is_null() ? std::numeric_limits<double>::infinity()
                                                       : number_in<double>(line, "rmse");
    return entry;
}

// Returns the largest root mean squared error of the images, divided by the range of their channels. It is infinite if a NaN
// or an infinity is compared with another value.
double relative_rmse(const Result& result) {
    double largest = 0;
    for (const Comparison& comparison : result.comparisons) {
        const double rmse = comparison.all.rmse / comparison.peak;
        largest = std::max(largest, std::isfinite(rmse) ? rmse : std::numeric_limits<double>::infinity());
    }
    return largest;
}

}  // namespace

void prepare_history(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) refuse(path, "is a folder", "Give the path of a file.");
    if (fs::exists(status) && !fs::is_regular_file(status))
        refuse(path, "is not a regular file", "Give the path of a file.");
    const detail::OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file) fail(path, "opened", errno);
    std::string first(kLineStart, '\0');
    const ssize_t got = ::pread(file.number(), first.data(), first.size(), 0);
    if (got < 0) fail(path, "read", errno);
    first.resize(static_cast<std::size_t>(got));
    const std::size_t end = first.find('\n');
    // A first line without an end was not written completely.
    const bool is_history =
        end == std::string::npos ? first.empty() || first.starts_with('{') : parsed(first.substr(0, end)).has_value();
    if (!is_history)
        refuse(path, "is a file of another kind: its first line is not an entry of a history",
               "Give the path of a history, or of a file that does not exist.");
}

void append_history(const fs::path& path, const Suite& suite, const Device& device, const std::string& label,
                    const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    HistoryEntry entry;
    entry.time = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
    entry.device = device.name();
    entry.driver = device.properties().driver_version;
    entry.label = label;
    std::string text;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Result& result = results[i];
        entry.outcome = result.outcome;
        entry.seconds = result.seconds;
        entry.differing = result.differing();
        entry.max_ulp = result.max_ulp();
        entry.rmse = relative_rmse(result);
        text += json_of(suite, *cases[i], entry).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    }
    const detail::OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file) fail(path, "opened", errno);
    // The lock ends with the descriptor. File systems without locks still append each write as a whole.
    while (::flock(file.number(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status;
    if (::fstat(file.number(), &status) != 0) fail(path, "read", errno);
    char last = '\n';
    if (status.st_size > 0 && ::pread(file.number(), &last, 1, status.st_size - 1) != 1) fail(path, "read", errno);
    if (last != '\n') text.insert(text.begin(), '\n');
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t put = ::write(file.number(), text.data() + done, text.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail(path, "written", errno);
        done += static_cast<std::size_t>(put);
    }
}

CaseHistories read_history(const fs::path& path, const Suite& suite) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, "read", errno);
    std::string text;
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg();
    file.seekg(std::max(std::streamoff{0}, size - kMaxRead));
    if (size > kMaxRead) std::getline(file, text);  // the rest of a line
    CaseHistories histories;
    while (std::getline(file, text)) {
        const std::optional<Json> line = parsed(text);
        if (!line || text_in(*line, "suite") != suite.name) continue;
        std::optional<HistoryEntry> entry = entry_in(*line);
        if (!entry) continue;
        std::vector<HistoryEntry>& entries = histories[text_in(*line, "case")];
        entries.push_back(std::move(*entry));
        if (entries.size() >= 2 * kMaxHistory)
            entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kMaxHistory));
    }
    if (file.bad()) fail(path, "read", EIO);
    for (auto& [name, entries] : histories)
        if (entries.size() > kMaxHistory)
            entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kMaxHistory));
    return histories;
}

}  // namespace texton::verify
