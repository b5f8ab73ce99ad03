#include "tests/support/expect_error.h"

#include <string>

#include <gmock/gmock.h>

namespace texton::test {
namespace {

bool is_about_sizes(ErrorCode code) {
    return code == ErrorCode::out_of_bounds || code == ErrorCode::overflow || code == ErrorCode::out_of_memory;
}

testing::AssertionResult well_formed(const Error& error) {
    const std::string text = error.what();
    const auto bad = [&] { return testing::AssertionFailure() << "\"" << text << "\": "; };
    if (!error.object().starts_with("texton::"))
        return bad() << "the object \"" << error.object() << "\" does not begin with texton::";
    if (error.problem().empty()) return bad() << "the problem is empty";
    if (error.problem().ends_with('.')) return bad() << "the problem ends with a full stop";
    if (error.remedy().empty()) return bad() << "the remedy is empty";
    if (!error.remedy().ends_with('.')) return bad() << "the remedy does not end with a full stop";
    if (!text.starts_with(error.object() + ": " + error.problem() + ". " + error.remedy())) {
        return bad() << "what() is not `object: problem. remedy`";
    }
    if (is_about_sizes(error.code()) && error.numbers().empty()) return bad() << "no numbers";
    for (const auto& [name, value] : error.numbers()) {
        if (name.empty()) return bad() << "the number " << value << " has no name";
    }
    if (!error.call().empty() && text.find(error.call()) == std::string::npos)
        return bad() << "the text does not contain the call";
    return testing::AssertionSuccess();
}

}  // namespace

void expect_well_formed(const Error& error, Caller where) {
    const testing::AssertionResult result = well_formed(error);
    if (!result) ADD_FAILURE_AT(where.file, where.line) << result.message();
}

Error expect_error(const std::function<void()>& action, ErrorCode code, std::string_view object,
                   std::initializer_list<std::string_view> fragments, Caller where) {
    const int line = where.line;
    try {
        action();
    } catch (const Error& error) {
        const std::string_view text = error.what();
        if (error.code() != code) {
            ADD_FAILURE_AT(where.file, line)
                << "expected " << name(code) << ", got " << name(error.code()) << ": " << text;
        }
        if (!error.object().starts_with(object)) {
            ADD_FAILURE_AT(where.file, line) << "expected an error of " << object << ": " << text;
        }
        for (const std::string_view fragment : fragments) {
            if (text.find(fragment) == std::string_view::npos) {
                ADD_FAILURE_AT(where.file, line) << "expected \"" << fragment << "\" in: " << text;
            }
        }
        expect_well_formed(error, where);
        return error;
    } catch (const std::exception& other) {
        ADD_FAILURE_AT(where.file, line) << "expected texton::Error, got another exception: " << other.what();
        return Error(ErrorParts{});
    }
    ADD_FAILURE_AT(where.file, line) << "expected " << name(code) << " from " << object << ", but nothing was thrown";
    return Error(ErrorParts{});
}

std::uint64_t number_of(const Error& error, std::string_view name, Caller where) {
    for (const auto& [key, value] : error.numbers()) {
        if (key == name) return value;
    }
    ADD_FAILURE_AT(where.file, where.line) << "no number named \"" << name << "\" in: " << error.what();
    return 0;
}

}  // namespace texton::test
