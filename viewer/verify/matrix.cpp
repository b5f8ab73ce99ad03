#include "viewer/verify/matrix.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "viewer/model/json_file.h"
#include "viewer/verify/pairs.h"

namespace texton::verify {
namespace {

constexpr std::size_t kMaxCases = 100000;                     // of a suite
constexpr std::size_t kMaxCaseBytes = std::size_t{64} << 20;  // of the JSON text of all cases of matrices

// Returns the text of a matrix value in the name of a case.
std::string words_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.dump();
    std::string out;
    for (const Json& each : value) out += (out.empty() ? "" : "x") + words_of(each);
    return out;
}

// Returns { "a": { "b": value } } for the path "a.b", which has at most kMaxJsonDepth parts.
Json patch_of(std::string_view path, const Json& value) {
    const std::size_t dot = path.find('.');
    Json patch = Json::object();
    patch[std::string(path.substr(0, dot))] =
        dot == std::string_view::npos ? value : patch_of(path.substr(dot + 1), value);
    return patch;
}

// Returns a name and a JSON merge patch of the case for each value of a matrix key.
std::vector<std::pair<std::string, Json>> choices_of(JsonObject& matrix, const std::string& key) {
    const Json& values = matrix.at(key);
    if (std::ranges::count(key, '.') >= kMaxJsonDepth)
        matrix.refuse(json_text(key), fmt::format("has more than {} parts", kMaxJsonDepth), "Name a key of a case.");
    std::vector<std::pair<std::string, Json>> out;
    if (values.is_array()) {
        for (const Json& value : values) out.emplace_back(words_of(value), patch_of(key, value));
    } else if (values.is_object()) {
        for (const auto& [name, patch] : values.items()) {
            JsonObject(patch, fmt::format("{}, '{}'", matrix.where(), name));
            out.emplace_back(name, patch);
        }
    }
    if (out.empty())
        matrix.refuse(key, "is " + json_text(values), "Give a list of values, or an object of named changes.");
    return out;
}

using Shared = std::map<std::string, Json>;

void put_shared(Json& value, const Shared& shared, const std::string& where) {
    if (!value.is_string()) return;
    const auto found = shared.find(value.get<std::string>());
    if (found == shared.end())
        refuse_text(where, fmt::format("there is no input '{}'", value.get<std::string>()),
                    "Use a name from the suite's \"inputs\", or write an input object.");
    value = found->second;
}

void put_all_shared(Json& of_case, const Shared& shared, const std::string& where) {
    if (of_case.contains("input")) put_shared(of_case["input"], shared, where);
    if (of_case.contains("inputs") && of_case["inputs"].is_array())
        for (Json& input : of_case["inputs"]) put_shared(input, shared, where);
}

}  // namespace

void require_count(std::size_t cases, const std::string& where) {
    if (cases <= kMaxCases) return;
    refuse_text(where, fmt::format("there are {} cases", cases),
                fmt::format("Use at most {} cases: shorten the lists of the matrix.", kMaxCases));
}

std::vector<ExpandedCase> expanded(const std::string& name, Json of_case, const Shared& shared,
                                   const std::string& where, std::size_t& bytes) {
    std::vector<ExpandedCase> out;
    std::vector<std::size_t> sizes;
    const Json matrix = of_case.contains("matrix") ? of_case["matrix"] : Json::object();
    of_case.erase("matrix");
    put_all_shared(of_case, shared, where);
    out.push_back({name, std::move(of_case)});
    JsonObject axes(matrix, where + ", 'matrix'");
    for (const auto& [key, unused] : matrix.items()) {
        std::vector<ExpandedCase> longer;
        const auto choices = choices_of(axes, key);
        require_count(out.size() * choices.size(), where);
        sizes.push_back(choices.size());
        for (const ExpandedCase& shorter : out) {
            for (const auto& [word, patch] : choices) {
                Json changed = shorter.json;
                changed.merge_patch(patch);
                put_all_shared(changed, shared, where);
                bytes += changed.dump().size();
                if (bytes > kMaxCaseBytes)
                    refuse_text(where, fmt::format("the cases have more than {} MiB", kMaxCaseBytes >> 20),
                                "Shorten the case or the lists of its matrix.");
                longer.push_back({shorter.name + "/" + word, std::move(changed)});
            }
        }
        out = std::move(longer);
    }
    const std::vector<bool> is_quick = covering_combinations(sizes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].is_quick = is_quick[i];
    return out;
}

}  // namespace texton::verify
