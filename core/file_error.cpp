#include "core/file_error.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/nearest_name.h"

namespace texton::detail {
namespace {

std::uint64_t free_memory() noexcept {
    const long pages = ::sysconf(_SC_AVPHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : 0;
}

// Returns a message of a library as part of a sentence.
std::string clause(std::string_view text) {
    const std::size_t end = text.find_last_not_of(". \n");
    std::string line(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
    for (char& letter : line) {
        if (letter == '\n' || letter == '\r') letter = ' ';
    }
    return line.empty() ? "an error without a description" : line;
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

void fail_with_current(const char* object, const std::filesystem::path& file) {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        fail_file(object, file, "needs more memory than there is",
                  "Free memory. The file may also be damaged and specify a size that it does not have.",
                  ErrorCode::out_of_memory, {{"free", free_memory()}});
    } catch (const std::length_error& error) {
        fail_file(object, file, "specifies a size that does not fit in memory (" + clause(error.what()) + ")",
                  "The file may be damaged.");
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
