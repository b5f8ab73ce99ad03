#pragma once
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace texton::verify {

using Json = nlohmann::ordered_json;

/// Error{bad_argument}: what stands there, and what to do.
[[noreturn]] void refuse_words(const std::string& where, const std::string& problem, std::string remedy);

/// An object that somebody wrote: keys that nobody asked for are errors, and so are values of another type than asked for.
class JsonObject {
public:
    /// `where` is said in every message: "suite.json, case 'a'". Error{bad_argument} unless it is an object.
    JsonObject(const Json& value, std::string where);

    const Json* find(const std::string& key);
    /// Error{bad_argument} if it is not there.
    const Json& at(const std::string& key);
    std::optional<std::string> text(const std::string& key);
    std::optional<double> number(const std::string& key);
    std::optional<bool> flag(const std::string& key);
    /// A whole number of `lowest` or more.
    std::optional<std::size_t> count(const std::string& key, std::size_t lowest = 0);

    const std::string& where() const noexcept { return where_; }
    /// Error{bad_argument} that names a key and where it stands.
    [[noreturn]] void refuse(const std::string& key, const std::string& problem, std::string remedy) const;
    /// Error{bad_argument} if there is a key that was not asked for.
    void refuse_others() const;

private:
    const Json& value_;
    std::string where_;
    std::set<std::string> known_;
};

}  // namespace texton::verify
