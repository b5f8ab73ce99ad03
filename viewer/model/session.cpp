#include "viewer/model/session.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "core/new_file.h"
#include "viewer/model/json_file.h"
#include "viewer/model/json_object.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/old_names.h"
#include "viewer/model/session_fields.h"
#include "viewer/text/utf8.h"

// Writer and Reader visit the fields (session_fields.h). Their overloads define how JSON represents each type of field.

namespace texton::viewer {
namespace {

using verify::Json;
using verify::json_text;
using verify::JsonObject;

// --- writing ---

template <Part Value>
Json json_of(const Value& part);

template <class Value>
Json json_of(const Value& value) {
    return value;
}
Json json_of(const ArrayKind& kind) { return name(kind); }
Json json_of(const Format& format) { return name(format); }
Json json_of(const std::filesystem::path& path) { return path.string(); }
Json json_of(const Position& position) { return Json::array({position.x, position.y}); }
Json json_of(const std::map<std::string, ParameterValue>& parameters) {
    Json out = Json::object();
    for (const auto& [key, value] : parameters)
        out[key] = std::visit([](const auto& each) { return Json(each); }, value);
    return out;
}

class Writer {
public:
    explicit Writer(Json& out) : out_(out) {}

    template <class Value, class... Rule>
    void operator()(const char* key, const Value& value, const Rule&...) {
        out_[key] = json_of(value);
    }
    template <class Value, class... Rule>
    void operator()(const char* key, const std::optional<Value>& value, const Rule&... rule) {
        if (value) (*this)(key, *value, rule...);
    }
    template <class Value, std::size_t count>
    void operator()(const char* key, const Value& value, const Names<Value, count>& names) {
        out_[key] = name_of(names, value);
    }
    template <class Value, std::size_t size, std::size_t count>
    void operator()(const char* key, const Value (&values)[size], const Names<Value, count>& names) {
        for (const Value& value : values) out_[key].push_back(name_of(names, value));
    }
    template <class Value>
    void operator()(const char* key, const std::vector<Value>& values, ListOf) {
        Json& list = out_[key] = Json::array();
        for (const Value& value : values) list.push_back(json_of(value));
    }
    template <Part Value>
    void operator()(const char* key, const Value& part, UnlessUsual) {
        if (part != Value{}) out_[key] = json_of(part);
    }
    template <Part Value>
    void operator()(const char* key, const Value& part, OnlyUnusual) {
        const Json all = json_of(part), usual = json_of(Value{});
        for (const auto& [name, value] : all.items())
            if (!usual.contains(name) || usual[name] != value) out_[key][name] = value;
    }

    template <class Fields>
    void object(const char* key, const Fields& fields) {
        Json inner = Json::object();
        Writer writer(inner);
        fields(writer);
        out_[key] = std::move(inner);
    }

private:
    Json& out_;
};

template <Part Value>
Json json_of(const Value& part) {
    Json out = Json::object();
    Writer writer(out);
    visit_fields(part, writer);
    return out;
}

// --- reading ---

// Largest magnitude of positions, angles and lengths. It keeps positions in pixels of the canvas within 64 bits.
constexpr double kMaxNumber = 1e9;

bool is_in_range(double number) { return std::abs(number) <= kMaxNumber; }

// Reads the fields of a JSON object. Fields that the object does not contain are unchanged.
class Reader {
public:
    /// If `unknown` is not null, keys that are not known are added to it, after `prefix`; otherwise they are errors.
    Reader(JsonObject& object, const std::filesystem::path& folder, std::vector<std::string>* unknown,
           std::string prefix = {})
        : object_(object), folder_(folder), unknown_(unknown), prefix_(std::move(prefix)) {}

    void operator()(const char* key, bool& value) { value = object_.flag(key).value_or(value); }
    void operator()(const char* key, std::string& value) { value = object_.text(key).value_or(value); }
    void operator()(const char* key, std::size_t& value) { value = object_.count(key).value_or(value); }
    void operator()(const char* key, double& value) {
        const std::optional<double> number = object_.number(key);
        if (!number) return;
        if (!is_in_range(*number))
            object_.refuse(key, fmt::format("is {}", *number), fmt::format("Use {} to {}.", -kMaxNumber, kMaxNumber));
        value = *number;
    }
    void operator()(const char* key, float& value) { value = object_.number32(key).value_or(value); }
    void operator()(const char* key, int& value) { value = object_.small_count(key).value_or(value); }
    void operator()(const char* key, ArrayKind& kind) {
        if (const auto text = object_.text(key)) kind = verify::kind_of(*text, object_.where());
    }
    void operator()(const char* key, Format& format) {
        if (const auto text = object_.text(key)) format = verify::format_of(*text, object_.where());
    }
    // As in suites, members can be missing, and one mode can be given for all dimensions.
    void operator()(const char* key, Sampler& sampler) {
        if (const Json* value = object_.find(key)) sampler = verify::sampler_of(*value, inside(key), ArrayInfo{});
    }
    void operator()(const char* key, std::map<std::string, ParameterValue>& parameters) {
        const Json* value = object_.find(key);
        if (value == nullptr) return;
        JsonObject(*value, inside(key));  // throws if the value is not an object
        const std::string kernel = object_.text("name").value_or("");
        for (const auto& [name, each] : value->items())
            parameters[std::string(current_parameter(kernel, name))] = parameter(name, each);
    }
    void operator()(const char* key, std::string& value, TextUpTo limit) {
        (*this)(key, value);
        if (const std::size_t count = character_count(value); count > limit.characters)
            object_.refuse(key, fmt::format("has {} characters", count),
                           fmt::format("Use at most {} characters.", limit.characters));
    }
    void operator()(const char* key, Position& value) {
        const Json* position = object_.find(key);
        if (position != nullptr && !read_value(*position, value))
            object_.refuse(key, "is " + json_text(*position),
                           fmt::format("Use a pair of numbers from {} to {}.", -kMaxNumber, kMaxNumber));
    }
    void operator()(const char* key, std::array<bool, 4>& flags) {
        const auto flag = [](const Json& value) {
            return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
        };
        read_array(key, flags, flag, "Use true or false for each of the four channels.");
    }
    template <std::size_t count>
    void operator()(const char* key, std::array<float, count>& numbers) {
        read_array(key, numbers, verify::float_in, "Use numbers in the range of float32.");
    }

    template <class Value, std::size_t count>
    void operator()(const char* key, Value& value, const Names<Value, count>& names) {
        const std::optional<std::string> text = object_.text(key);
        if (!text) return;
        const std::optional<Value> named = value_of(names, *text);
        if (!named)
            object_.refuse(key, fmt::format("is '{}'", *text),
                           fmt::format("Use one of {}.", fmt::join(all_names(names), ", ")));
        value = *named;
    }
    template <class Number>
    void operator()(const char* key, Number& value, const Within<Number>& range) {
        (*this)(key, value);
        if (!(value >= range.low && value <= range.high))
            object_.refuse(key, fmt::format("is {}", value), fmt::format("Use {} to {}.", range.low, range.high));
    }
    template <std::size_t count>
    void operator()(const char* key, int& value, const std::array<int, count>& choices) {
        (*this)(key, value);
        if (std::ranges::find(choices, value) == choices.end())
            object_.refuse(key, fmt::format("is {}", value), fmt::format("Use one of {}.", fmt::join(choices, ", ")));
    }
    template <class Value>
    void operator()(const char* key, std::vector<Value>& values, ListOf rule) {
        const Json* list = object_.find(key);
        if (list == nullptr && rule.minimum == 0) return;
        values.clear();
        if (list != nullptr) {
            if (!list->is_array()) object_.refuse(key, "is " + json_text(*list), "Use a list.");
            if (list->size() > rule.maximum)
                object_.refuse(key, fmt::format("has {} values", list->size()),
                               fmt::format("Use at most {} {}.", rule.maximum, rule.elements));
            for (const Json& each : *list) read_element(key, each, values, rule);
        }
        if (values.size() < rule.minimum)
            object_.refuse(key, fmt::format("has {} values", values.size()),
                           fmt::format("Use {} or more {}.", rule.minimum, rule.elements));
    }
    template <class Value, class... Rule>
    void operator()(const char* key, std::optional<Value>& value, const Rule&... rule) {
        if (object_.find(key) != nullptr) (*this)(key, value.emplace(), rule...);
    }
    template <Part Value, class... Rule>
    void operator()(const char* key, Value& part, const Rule&...) {
        object(key, [&part](Reader& reader) { visit_fields(part, reader); });
    }

    template <class Fields>
    void object(const char* key, const Fields& fields) {
        if (const Json* value = object_.find(key)) read_object(*value, inside(key), named(key), fields);
    }
    /// Ends reading the object.
    void finish() const {
        if (unknown_ == nullptr) return object_.refuse_others();
        for (const std::string& key : object_.others()) unknown_->push_back(named(key.c_str()));
    }

private:
    std::string named(const char* key) const { return fmt::format("{}'{}'", prefix_, key); }
    std::string inside(const char* key) const { return object_.where() + ", '" + key + "'"; }

    template <class Fields>
    void read_object(const Json& value, const std::string& where, const std::string& name, const Fields& fields) {
        JsonObject object(value, where);
        Reader reader(object, folder_, unknown_, name + " > ");
        fields(reader);
        reader.finish();
    }

    // `in` returns the value of an element, or nothing if it is invalid.
    template <class Value, std::size_t count, class In>
    void read_array(const char* key, std::array<Value, count>& values, const In& in, const char* remedy) {
        const Json* list = object_.find(key);
        if (list == nullptr) return;
        if (!list->is_array() || list->size() != count)
            object_.refuse(key, "is " + json_text(*list), fmt::format("Use a list of {} values.", count));
        for (std::size_t i = 0; i < count; ++i) {
            const std::optional<Value> value = in((*list)[i]);
            if (!value) object_.refuse(key, "is " + json_text(*list), remedy);
            values[i] = *value;
        }
    }

    template <class Value>
    void read_element(const char* key, const Json& json, std::vector<Value>& values, ListOf rule) {
        if constexpr (Part<Value>) {
            const std::string where = fmt::format("{}, {} {}", object_.where(), rule.elements, values.size());
            const std::string name = fmt::format("{} {}", named(key), values.size());
            read_object(json, where, name, [&values](Reader& reader) { visit_fields(values.emplace_back(), reader); });
        } else if (!read_value(json, values.emplace_back())) {
            object_.refuse(key, "contains " + json_text(json), fmt::format("Use {}.", rule.elements));
        }
    }

    // Return false if the value has another type.
    static bool read_value(const Json& json, std::string& value) {
        if (json.is_string()) value = json.get<std::string>();
        return json.is_string();
    }
    static bool read_value(const Json& json, std::size_t& value) {
        if (json.is_number_unsigned()) value = json.get<std::size_t>();
        return json.is_number_unsigned();
    }
    static bool read_value(const Json& json, Position& value) {
        if (!json.is_array() || json.size() != 2 || !json[0].is_number() || !json[1].is_number()) return false;
        value = {json[0].get<double>(), json[1].get<double>()};
        return is_in_range(value.x) && is_in_range(value.y);
    }
    bool read_value(const Json& json, std::filesystem::path& value) const {
        if (json.is_string()) value = folder_ / json.get<std::string>();
        return json.is_string();
    }

    ParameterValue parameter(const std::string& name, const Json& value) const {
        if (value.is_boolean()) return value.get<bool>();
        if (value.is_number()) return value.get<double>();
        if (value.is_string()) return value.get<std::string>();
        if (!value.is_array() || !std::ranges::all_of(value, [](const Json& each) { return each.is_number(); }))
            object_.refuse(name, "is " + json_text(value), "Use true, false, a number, a string or a list of numbers.");
        return value.get<std::vector<double>>();
    }

    JsonObject& object_;
    const std::filesystem::path& folder_;
    std::vector<std::string>* unknown_;
    std::string prefix_;
};

[[noreturn]] void refuse_file(const std::filesystem::path& path, const char* problem, const char* remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::viewer::Session",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = remedy});
}

}  // namespace

std::string to_json(const Session& session) {
    return json_of(session).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Session session_of(const std::string& json, const std::string& where, const std::filesystem::path& folder,
                   std::vector<std::string>* unknown) {
    std::string problem;
    const std::optional<Json> value = verify::parse_json(json, problem);
    if (!value) verify::refuse_text(where, "the text " + problem, "Use a session that the viewer saved.");
    Session session;
    JsonObject object(*value, where);
    Reader reader(object, folder, unknown);
    visit_fields(session, reader);
    reader.finish();
    if (session.current >= session.images.size()) session.current = 0;
    if (session.reference && *session.reference >= session.images.size()) session.reference.reset();
    for (std::size_t i = 0; i < session.annotations.size(); ++i) {
        if (const std::size_t image = session.annotations[i].image; image >= session.images.size())
            verify::refuse_text(
                fmt::format("{}, annotation {}", where, i),
                fmt::format("'image' is {}, but the session has {} images", image, session.images.size()),
                "Use the index of an image, counted from 0.");
    }
    return session;
}

Session read_session(const std::filesystem::path& path, std::vector<std::string>* unknown) {
    std::string problem;
    const std::optional<std::string> text = verify::read_json_text(path, problem);
    if (!text) refuse_file(path, problem.c_str(), "Check the path of the session file.");
    return session_of(*text, path.string(), path.parent_path(), unknown);
}

std::string unknown_keys_text(const std::filesystem::path& path, const std::vector<std::string>& unknown) {
    constexpr std::ptrdiff_t kMost = 8;
    const auto count = static_cast<std::ptrdiff_t>(unknown.size());
    const auto end = unknown.begin() + std::min(count, kMost);
    return fmt::format("{} has keys that are not known and were ignored: {}{}.", path.string(),
                       fmt::join(unknown.begin(), end, ", "),
                       count > kMost ? fmt::format(" and {} more", count - kMost) : std::string());
}

void write_session(const std::filesystem::path& path, const Session& session) {
    for (const Source& source : session.images) {
        for (const std::filesystem::path& file : source.paths) {
            if (is_utf8(file.native())) continue;
            throw Error({.code = ErrorCode::unsupported,
                         .object = "texton::viewer::Session",
                         .problem = fmt::format("the name of {} is not valid UTF-8, so a session cannot contain it",
                                                to_utf8(file.native())),
                         .remedy = "Rename the file, or close the image."});
        }
    }
    detail::write_file("texton::viewer::write_session", path, to_json(session));
}

}  // namespace texton::viewer
