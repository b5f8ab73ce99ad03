#include "viewer/batch/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/descriptor.h"
#include "viewer/batch/path_json.h"
#include "viewer/model/sha256.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using verify::Json;

constexpr int kVersion = 1;
constexpr const char* kObject = "texton::Batch";

[[noreturn]] void fail(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kObject, .problem = std::move(problem), .remedy = std::move(remedy)});
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
    fail(ErrorCode::io, fmt::format("{} cannot be written: {}", path.string(), std::generic_category().message(error)),
         "Check the folder and the disk, or name another folder with --journal.");
}

std::optional<std::string> checksum_of(const fs::path& path) {
    const detail::OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) return {};
    verify::Sha256 hash;
    std::vector<std::byte> buffer(std::size_t{1} << 20);
    for (;;) {
        const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return {};
        if (got == 0) return hash.finish();
        hash.add(std::span(buffer).first(static_cast<std::size_t>(got)));
    }
}

Json line_of(const Entry& entry) {
    Json line{{"input", json_of(entry.input)},
              {"bytes", entry.contents.bytes},
              {"changed", entry.contents.nanoseconds},
              {"when", entry.when}};
    if (!entry.contents.sha256.empty()) line["sha256"] = entry.contents.sha256;
    if (!entry.is_done()) {
        line["failed"] = entry.cause;
        return line;
    }
    line["done"] = Json::array();
    for (const fs::path& output : entry.outputs) line["done"].push_back(json_of(output));
    return line;
}

std::optional<Entry> entry_in(const Json& line) {
    try {
        Entry entry{.contents = {line.at("bytes"), line.at("changed"), line.value("sha256", "")},
                    .when = line.at("when")};
        entry.input = path_in(line.at("input")).value();
        if (line.contains("failed")) {
            entry.cause = line.at("failed");
        } else {
            for (const Json& output : line.at("done")) entry.outputs.push_back(path_in(output).value());
        }
        return entry;
    } catch (const Json::exception&) {
        return {};
    } catch (const std::bad_optional_access&) {
        return {};
    }
}

}  // namespace

std::optional<Contents> contents_of(const fs::path& file, bool with_checksum) {
    struct stat status;
    if (::stat(file.c_str(), &status) != 0) return {};
    Contents contents{.bytes = static_cast<std::uint64_t>(status.st_size),
                      .nanoseconds = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
    if (with_checksum) {
        const std::optional<std::string> sha256 = checksum_of(file);
        if (!sha256) return {};
        contents.sha256 = *sha256;
    }
    return contents;
}

Journal::Journal(fs::path folder, std::string work) : folder_(std::move(folder)), work_(std::move(work)) {
    std::error_code failed;
    if (!fs::exists(folder_, failed)) return;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_, failed)) {
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    if (failed)
        fail(ErrorCode::io, fmt::format("{} cannot be read: {}", folder_.string(), failed.message()),
             "Check the permissions of the folder.");
    for (const fs::path& file : files) read(file);
}

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

void Journal::read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    bool is_first = true;
    while (std::getline(file, text) && !file.eof()) {
        const Json line = Json::parse(text, nullptr, false);
        if (is_first) {
            is_first = false;
            if (!line.is_object() || line.value("texton_batch", 0) != kVersion)
                fail(ErrorCode::bad_argument, fmt::format("{} is not a journal of this version", path.string()),
                     "Remove it, or name another folder with --journal.");
            if (line.value("work", "") != work_)
                fail(ErrorCode::bad_argument,
                     fmt::format("{} is the journal of another pipeline, other outputs or another --jpeg",
                                 path.string()),
                     "Name another folder with --journal, or remove the journal to compute everything again.");
            continue;
        }
        std::optional<Entry> entry = line.is_object() ? entry_in(line) : std::nullopt;
        if (!entry) continue;
        const auto found = entries_.find(entry->input);
        if (found == entries_.end() || found->second.when <= entry->when)
            entries_.insert_or_assign(entry->input, std::move(*entry));
    }
    if (file.bad()) fail(ErrorCode::io, path.string() + " cannot be read", "Check the disk.");
}

const Entry* Journal::find(const fs::path& input) const {
    const auto found = entries_.find(input);
    return found == entries_.end() ? nullptr : &found->second;
}

void Journal::open(const std::string& shard) {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    file_name_ = folder_ / fmt::format("{}.jsonl", shard);
    if (failed) fail_to_write(file_name_, failed.value());
    file_ = ::open(file_name_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) fail_to_write(file_name_, errno);
    struct stat status;
    if (::fstat(file_, &status) != 0) fail_to_write(file_name_, errno);
    char last = '\n';
    std::array<char, 4096> first{};
    const ssize_t got = ::pread(file_, first.data(), first.size(), 0);
    if (got < 0) fail_to_write(file_name_, errno);
    if (std::find(first.begin(), first.begin() + got, '\n') == first.begin() + got) {  // not even the first line
        if (::ftruncate(file_, 0) != 0) fail_to_write(file_name_, errno);
        write(Json{{"texton_batch", kVersion}, {"work", work_}}.dump() + '\n');
    } else if (::pread(file_, &last, 1, status.st_size - 1) == 1 && last != '\n') {
        write("\n");  // ends a line that was not written completely
    }
    if (const int error = synchronize({file_name_}); error != 0) fail_to_write(file_name_, error);
}

void Journal::append(const std::vector<Entry>& entries) {
    std::string text;
    for (const Entry& entry : entries)
        text += line_of(entry).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    write(text);
    while (::fdatasync(file_) != 0) {
        if (errno != EINTR) fail_to_write(file_name_, errno);
    }
}

void Journal::write(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t put = ::write(file_, text.data() + done, text.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail_to_write(file_name_, errno);
        done += static_cast<std::size_t>(put);
    }
}

int synchronize(const std::vector<fs::path>& files) {
    std::set<fs::path> folders;
    int first_error = 0;
    const auto store = [&](const fs::path& path, int flags) {
        const detail::OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
        if (file.number() < 0) {
            if (errno != ENOENT && errno != EACCES && first_error == 0) first_error = errno;
            return;
        }
        while (::fsync(file.number()) != 0) {
            if (errno == EINTR) continue;
            if (errno != EINVAL && errno != ENOTSUP && first_error == 0) first_error = errno;
            return;
        }
    };
    for (const fs::path& file : files) {
        store(file, 0);
        folders.insert(file.parent_path().empty() ? fs::path(".") : file.parent_path());
    }
    for (const fs::path& folder : folders) store(folder, O_DIRECTORY);
    return first_error;
}

}  // namespace texton::batch
