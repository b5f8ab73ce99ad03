#include "viewer/model/json_object.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "viewer/model/old_names.h"

namespace texton::verify {

std::string json_text(const Json& value) {
    constexpr std::size_t kMax = 200;
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= kMax) return text;
    std::size_t end = kMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // keeps characters whole
    return text.substr(0, end) + "...";
}

std::optional<float> float_in(const Json& value) {
    if (!value.is_number()) return {};
    const auto number = value.get<double>();
    if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) return {};
    return static_cast<float>(number);
}

void refuse_text(const std::string& where, const std::string& problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::verify",
                 .problem = fmt::format("{}: {}", where, problem),
                 .remedy = std::move(remedy)});
}

JsonObject::JsonObject(const Json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value.is_object())
        refuse_text(where_, fmt::format("{} is not an object", json_text(value)),
                    "Write an object: { \"key\": value }.");
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
    if (!value->is_string()) refuse(key, "is " + json_text(*value), "Use a string.");
    return value->get<std::string>();
}

std::optional<double> JsonObject::number(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_number()) refuse(key, "is " + json_text(*value), "Use a number.");
    return value->get<double>();
}

std::optional<float> JsonObject::number32(const std::string& key) {
    const std::optional<double> value = number(key);
    if (!value) return {};
    if (!(std::abs(*value) <= static_cast<double>(std::numeric_limits<float>::max())))
        refuse(key, fmt::format("is {}", *value), "Use a number in the range of float32.");
    return static_cast<float>(*value);
}

std::optional<bool> JsonObject::flag(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_boolean()) refuse(key, "is " + json_text(*value), "Use true or false.");
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

std::optional<int> JsonObject::small_count(const std::string& key) {
    const std::optional<std::size_t> value = count(key);
    if (!value) return {};
    if (*value > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        refuse(key, fmt::format("is {}", *value), "Use a smaller number.");
    return static_cast<int>(*value);
}

void JsonObject::refuse(const std::string& key, const std::string& problem, std::string remedy) const {
    refuse_text(where_, fmt::format("'{}' {}", key, problem), std::move(remedy));
}

std::vector<std::string> JsonObject::others() const {
    std::vector<std::string> out;
    for (const auto& [key, unused] : value_.items()) {
        if (!known_.contains(key) && !old_keys_.contains(key)) out.push_back(key);
    }
    return out;
}

void JsonObject::refuse_others() const {
    const std::vector<std::string> keys = others();
    if (!keys.empty())
        refuse(keys.front(), "is not a known key", fmt::format("Known keys: {}.", fmt::join(known_, ", ")));
}

}  // namespace texton::verify
