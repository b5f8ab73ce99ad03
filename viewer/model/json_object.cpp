#include "viewer/model/json_object.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "viewer/model/old_names.h"

namespace texton::verify {

void refuse_text(const std::string& where, const std::string& problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::verify",
                 .problem = fmt::format("{}: {}", where, problem),
                 .remedy = std::move(remedy)});
}

JsonObject::JsonObject(const Json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value.is_object())
        refuse_text(where_, fmt::format("{} is not an object", value.dump()), "Write an object: { \"key\": value }.");
}

const Json* JsonObject::find(const std::string& key) {
    known_.insert(key);
    auto found = value_.find(key);
    if (found == value_.end()) {
        const std::string old_key(viewer::old_name(key));
        found = value_.find(old_key);
        if (found != value_.end()) old_keys_.insert(old_key);
    }
    return found != value_.end() ? &*found : nullptr;
}

const Json& JsonObject::at(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) refuse(key, "is missing", "Add the key.");
    return *value;
}

std::optional<std::string> JsonObject::text(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) refuse(key, "is " + value->dump(), "Use a string.");
    return value->get<std::string>();
}

std::optional<double> JsonObject::number(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_number()) refuse(key, "is " + value->dump(), "Use a number.");
    return value->get<double>();
}

std::optional<bool> JsonObject::flag(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_boolean()) refuse(key, "is " + value->dump(), "Use true or false.");
    return value->get<bool>();
}

std::optional<std::size_t> JsonObject::count(const std::string& key, std::size_t lowest) {
    const std::optional<double> value = number(key);
    if (!value) return {};
    constexpr double kHighest = 9007199254740992;  // 2^53: all integers up to it are exact in a double
    if (!(*value >= static_cast<double>(lowest)) || *value > kHighest || std::floor(*value) != *value)
        refuse(key, fmt::format("is {}", *value), fmt::format("Use an integer of {} or more.", lowest));
    return static_cast<std::size_t>(*value);
}

void JsonObject::refuse(const std::string& key, const std::string& problem, std::string remedy) const {
    refuse_text(where_, fmt::format("'{}' {}", key, problem), std::move(remedy));
}

void JsonObject::refuse_others() const {
    for (const auto& [key, unused] : value_.items()) {
        if (known_.contains(key) || old_keys_.contains(key)) continue;
        refuse(key, "is not a known key", fmt::format("Known keys: {}.", fmt::join(known_, ", ")));
    }
}

}  // namespace texton::verify
