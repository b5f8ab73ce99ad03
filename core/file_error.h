#pragma once
// Errors of functions that read or write files.
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <texton/error.h>

namespace texton::detail {

/// Throws Error{code}. The problem is "PATH WHY".
[[noreturn]] void fail_file(const char* object, const std::filesystem::path& path, const std::string& why,
                            std::string remedy, ErrorCode code = ErrorCode::io, std::vector<ErrorNumber> numbers = {});

/// Throws an Error about `file` in place of the current exception, which must not be an Error: Error{out_of_memory} for
/// std::bad_alloc, and Error{io} for others. Must be called in a catch block.
[[noreturn]] void fail_with_current(const char* object, const std::filesystem::path& file);

/// Returns text of a file for a message: in single quotes, at most 60 characters, and printable ASCII only.
[[nodiscard]] std::string quoted(std::string_view text);
/// Returns a remedy for a name that a file does not contain: the name that was probably meant, and up to 20 names that
/// the file contains, each as quoted() returns it. `what` is for example "channels".
[[nodiscard]] std::string names_to_use(std::string_view what, std::string_view asked,
                                       std::span<const std::string> names);

/// Returns a message of a library as part of a sentence: one line, without the final punctuation and without names of
/// C++ functions.
[[nodiscard]] std::string clause(std::string_view text);

/// Returns the error with another object and, if it is not empty, `prefix` before the problem.
[[nodiscard]] Error renamed(const Error& error, const char* object, const std::string& prefix = {});

/// Carries an exception of a callback of the user through guarded().
struct CallbackException {
    std::exception_ptr thrown;
};

/// Calls a callback of the user. guarded() rethrows its exceptions unchanged.
template <class Callback>
auto call_back(const Callback& callback) {
    try {
        return callback();
    } catch (...) {
        throw CallbackException{std::current_exception()};
    }
}

/// Calls `body` and returns its result. Only two kinds of exception leave this function: Error, and what callbacks of
/// the user throw. fail_with_current() replaces all others. Public functions that work on files have this call around
/// their body. `file` is a path or a text that becomes one. Calls must not be nested: the outer call would replace the
/// exceptions of callbacks.
template <class File, class Body>
decltype(auto) guarded(const char* object, const File& file, const Body& body) {
    try {
        return body();
    } catch (const Error&) {
        throw;
    } catch (const CallbackException& exception) {
        std::rethrow_exception(exception.thrown);
    } catch (...) {
        fail_with_current(object, file);
    }
}

}  // namespace texton::detail
