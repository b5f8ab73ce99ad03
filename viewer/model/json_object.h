#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace texton::verify {

/// JSON value whose objects keep the order of their keys.
using Json = nlohmann::ordered_json;

/// Returns the JSON text of a value for a message: valid UTF-8, and shortened if it is long.
[[nodiscard]] std::string json_text(const Json& value);
/// Returns a number as float32, or nothing if the value is not a number or is too large for float32.
[[nodiscard]] std::optional<float> float_in(const Json& value);

/// Throws Error{bad_argument} with the problem "WHERE: PROBLEM".
[[noreturn]] void refuse_text(const std::string& where, const std::string& problem, std::string remedy);

/// Reads a JSON object that a person may have written. Keys that were never queried are errors (see refuse_others()),
/// and so are values of another type than requested. The JSON value must outlive the object. Not thread-safe.
class JsonObject {
public:
    /// `where` appears in every message, for example "suite.json, case 'a'". Throws Error{bad_argument} if the value is
    /// not an object.
    JsonObject(const Json& value, std::string where);

    /// Returns the value of a key, or null if the object does not contain it.
    const Json* find(const std::string& key);
    /// Returns the value of a key. Throws Error{bad_argument} if the object does not contain it.
    const Json& at(const std::string& key);
    /// Returns the string of a key, or nothing if the object does not contain it. Throws Error{bad_argument} for
    /// another type.
    std::optional<std::string> text(const std::string& key);
    /// Returns the number of a key in the same way.
    std::optional<double> number(const std::string& key);
    /// Returns the number of a key in the same way. It must be in the range of float32.
    std::optional<float> number32(const std::string& key);
    /// Returns the boolean value of a key in the same way.
    std::optional<bool> flag(const std::string& key);
    /// Returns the integer of a key in the same way. It must be `lowest` or more.
    std::optional<std::size_t> count(const std::string& key, std::size_t lowest = 0);
    /// Returns the integer of a key in the same way. It must be 0 or more and fit into an int.
    std::optional<int> small_count(const std::string& key);

    /// Returns the text that identifies the object in messages.
    const std::string& where() const noexcept { return where_; }
    /// Throws Error{bad_argument} with the location and the key.
    [[noreturn]] void refuse(const std::string& key, const std::string& problem, std::string remedy) const;
    /// Returns the keys that were not queried.
    std::vector<std::string> others() const;
    /// Throws Error{bad_argument} if the object contains a key that was not queried.
    void refuse_others() const;

private:
    const Json& value_;
    std::string where_;
    std::set<std::string> known_;
    std::set<std::string> old_keys_;  ///< old names that were found
};

}  // namespace texton::verify
