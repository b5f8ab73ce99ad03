#include "core/file_error.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/nearest_name.h"

namespace texton::detail {
namespace {

// Returns the memory that the system and the limits of the process leave.
std::uint64_t free_memory() noexcept {
    const auto page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
    std::uint64_t left = static_cast<std::uint64_t>(std::max(::sysconf(_SC_AVPHYS_PAGES), 0L)) * page;
    std::array<std::uint64_t, 6> pages{};  // the first is the address space, the last the private memory
    try {
        std::ifstream file("/proc/self/statm");
        for (std::uint64_t& number : pages) file >> number;
    } catch (const std::exception&) {
        return left;  // there is no memory for the stream either
    }
    for (const auto& [resource, used] : {std::pair{RLIMIT_AS, pages.front()}, {RLIMIT_DATA, pages.back()}}) {
        rlimit limit{};
        if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        left = std::min<std::uint64_t>(left, limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used * page));
    }
    return left;
}

}  // namespace

void fail_file(const char* object, const std::filesystem::path& path, const std::string& why, std::string remedy,
               ErrorCode code, std::vector<ErrorNumber> numbers) {
    throw Error({.code = code,
                 .object = object,
                 .problem = path.string() + " " + why,
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

std::string quoted(std::string_view text) {
    constexpr std::size_t kMax = 60;
    std::string out = "'";
    for (const char letter : text.substr(0, kMax)) out += letter >= ' ' && letter <= '~' ? letter : '?';
    return out + (text.size() > kMax ? "...'" : "'");
}

std::string names_to_use(std::string_view what, std::string_view asked, std::span<const std::string> names) {
    constexpr std::size_t kMax = 20;
    std::string list;
    for (const std::string& name : names.first(std::min(names.size(), kMax)))
        list += (list.empty() ? "" : ", ") + detail::quoted(name);
    if (names.size() > kMax) list += " and " + std::to_string(names.size() - kMax) + " more";
    const std::string nearest = nearest_name(asked, names);
    const std::string question = nearest.empty() ? "" : "Did you mean " + detail::quoted(nearest) + "? ";
    return question + "Its " + std::string(what) + " are " + list + ".";
}

Error renamed(const Error& error, const char* object, const std::string& prefix) {
    return Error({.code = error.code(),
                  .object = object,
                  .problem = prefix + error.problem(),
                  .remedy = error.remedy(),
                  .numbers = error.numbers(),
                  .call = error.call(),
                  .cuda_name = error.cuda_name()});
}

std::string clause(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" .!?\n");
    std::string line(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
    for (char& letter : line) {
        if (letter == '\n' || letter == '\r') letter = ' ';
    }
    // The C++ library describes exceptions by names of functions: "vector::_M_default_append".
    const bool is_code = line.find("::") != std::string::npos;
    return line.empty() || is_code ? "an error without a description" : line;
}

void fail_with_current(const char* object, const std::filesystem::path& file) {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        fail_file(object, file, "needs more memory than there is",
                  "Free memory. The file may also be damaged and specify a size that it does not have.",
                  ErrorCode::out_of_memory, {{"free", free_memory()}});
    } catch (const std::length_error&) {
        fail_file(object, file, "specifies a size that does not fit in memory", "The file may be damaged.");
    } catch (const std::system_error& error) {
        fail_file(object, file, "caused an error of the system: " + clause(error.what()),
                  "Check the file, its folder and the limits of the process.");
    } catch (const std::exception& error) {
        fail_file(object, file, "caused an error of a library: " + clause(error.what()), "The file may be damaged.");
    } catch (...) {
        fail_file(object, file, "caused an error of a library: an exception of unknown type",
                  "The file may be damaged.");
    }
}

}  // namespace texton::detail
