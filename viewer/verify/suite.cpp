#include "viewer/verify/suite.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/json_file.h"
#include "viewer/model/kernel_json.h"
#include "viewer/model/named_paths.h"
#include "viewer/text/utf8.h"
#include "viewer/verify/table_file.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCases = 100000;                     // of a suite
constexpr std::size_t kMaxCaseBytes = std::size_t{64} << 20;  // of the JSON text of all cases of matrices
constexpr std::size_t kMaxName = 200;                         // bytes, so that it fits into a file name

// --- matrices of cases -----------------------------------------------------------------------------------------------

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

// The "inputs" of the suite by name.
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

void require_count(std::size_t cases, const std::string& where) {
    if (cases <= kMaxCases) return;
    refuse_text(where, fmt::format("there are {} cases", cases),
                fmt::format("Use at most {} cases: shorten the lists of the matrix.", kMaxCases));
}

std::vector<std::pair<std::string, Json>> multiplied(const std::string& name, Json of_case, const Shared& shared,
                                                     const std::string& where, std::size_t& bytes) {
    std::vector<std::pair<std::string, Json>> out;
    const Json matrix = of_case.contains("matrix") ? of_case["matrix"] : Json::object();
    of_case.erase("matrix");
    put_all_shared(of_case, shared, where);
    out.emplace_back(name, std::move(of_case));
    JsonObject axes(matrix, where + ", 'matrix'");
    for (const auto& [key, unused] : matrix.items()) {
        std::vector<std::pair<std::string, Json>> longer;
        const auto choices = choices_of(axes, key);
        require_count(out.size() * choices.size(), where);
        for (const auto& [prefix, base] : out) {
            for (const auto& [word, patch] : choices) {
                Json changed = base;
                changed.merge_patch(patch);
                put_all_shared(changed, shared, where);
                bytes += changed.dump().size();
                if (bytes > kMaxCaseBytes)
                    refuse_text(where, fmt::format("the cases have more than {} MiB", kMaxCaseBytes >> 20),
                                "Shorten the case or the lists of its matrix.");
                longer.emplace_back(prefix + "/" + word, std::move(changed));
            }
        }
        out = std::move(longer);
    }
    return out;
}

// --- inputs ----------------------------------------------------------------------------------------------------------

constexpr std::pair<const char*, PatternKind> kPatterns[] = {{"noise", PatternKind::noise},
                                                             {"gradient", PatternKind::gradient},
                                                             {"zone_plate", PatternKind::zone_plate},
                                                             {"checker", PatternKind::checker}};

std::optional<ArrayKind> kind_in(JsonObject& object, const std::string& key) {
    const std::optional<std::string> name = object.text(key);
    if (!name) return {};
    return kind_of(*name, object.where());
}

Input::Made made_input(JsonObject& object) {
    Input::Made made;
    const std::string pattern = *object.text("pattern");
    const auto* found = std::ranges::find(kPatterns, pattern, [](const auto& row) { return std::string(row.first); });
    if (found == std::end(kPatterns))
        object.refuse("pattern", "is '" + pattern + "'", "Use noise, gradient, zone_plate or checker.");
    made.pattern.kind = found->second;
    const std::size_t seed = object.count("seed").value_or(1);
    if (seed > std::numeric_limits<std::uint32_t>::max())
        object.refuse("seed", fmt::format("is {}", seed), "Use an integer of 32 bits.");
    made.pattern.seed = static_cast<std::uint32_t>(seed);
    if (const Json* range = object.find("range")) {
        const bool two = range->is_array() && range->size() == 2 && float_in((*range)[0]) && float_in((*range)[1]);
        if (!two) object.refuse("range", "is " + json_text(*range), "Give [lowest, highest] as float32 numbers.");
        made.pattern.range = {*float_in((*range)[0]), *float_in((*range)[1])};
    }
    made.info.kind = kind_in(object, "kind").value_or(ArrayKind::array_2d);
    made.info.format = read_format(object, "format").value_or(Format::rgba8_unorm);
    made.info.extent = read_extent(object, "size", 1);
    made.info.layers = object.count("layers", 1).value_or(1);
    const std::size_t all = static_cast<std::size_t>(full_levels(made.info));
    made.info.levels = static_cast<int>(std::min(object.count("levels").value_or(1), all));
    if (made.info.levels == 0) made.info.levels = static_cast<int>(all);
    return made;
}

// The folder that relative paths start from, and the folder that all files must be in, if there is one.
struct Folders {
    fs::path base;
    std::optional<fs::path> within;
};

// Reads which part, channels and frame of a file are read.
void read_selection(JsonObject& object, ImageOptions& options) {
    if (const Json* part = object.find("part"); part != nullptr && part->is_string()) {
        options.part_name = part->get<std::string>();
    } else {
        options.part = object.small_count("part").value_or(0);
    }
    if (const Json* channels = object.find("channels")) {
        const bool names = channels->is_array() && !channels->empty() && channels->size() <= 4 &&
                           std::ranges::all_of(*channels, [](const Json& each) { return each.is_string(); });
        if (!names) object.refuse("channels", "is " + json_text(*channels), "Give a list of one to four names.");
        options.channels = channels->get<std::vector<std::string>>();
    }
    options.frame = object.count("frame").value_or(0);
    const std::optional<std::string> raw = object.text("raw");
    if (!raw) return;
    try {
        options.raw = raw_frames_of(*raw);
    } catch (const Error& error) {
        object.refuse("raw", "is " + json_text(*object.find("raw")), error.remedy());
    }
    if (options.frame != 0) options.raw->frame = options.frame;
}

Input::Files files_input(JsonObject& object, const Folders& folders) {
    Input::Files files;
    const Json& names = object.at("file");
    const auto add = [&](const Json& name) {
        if (!name.is_string()) object.refuse("file", "is " + json_text(names), "Give a path, or a list of paths.");
        files.paths.push_back(folders.base / name.get<std::string>());
        try {
            viewer::refuse_outside(folders.within, files.paths.back());
        } catch (const Error& error) {
            throw Error({.code = error.code(),
                         .object = "texton::verify",
                         .problem = fmt::format("{}: {}", object.where(), error.problem()),
                         .remedy = error.remedy()});
        }
    };
    if (names.is_array()) {
        for (const Json& name : names) add(name);
    } else {
        add(names);
    }
    files.options.kind = kind_in(object, "kind");
    files.options.format = read_format(object, "format");
    files.options.levels = object.small_count("levels").value_or(0);
    read_selection(object, files.options);
    if (std::ranges::any_of(files.paths, is_table_file)) {
        if (files.paths.size() != 1)
            object.refuse("file", "contains a .cube table and other files", "Give the table alone.");
        for (const char* key : {"kind", "format", "levels", "part", "channels", "raw", "frame"})
            if (object.find(key) != nullptr)
                object.refuse(key, "does not apply to a .cube file", "Omit it; the file defines it.");
    }
    return files;
}

void read_range(JsonObject& object, TextureRange& range) {
    const Json* value = object.find("read");
    if (value == nullptr) return;
    JsonObject read(*value, object.where() + ", 'read'");
    range.format = read_format(read, "format");
    range.first_level = read.small_count("first_level").value_or(0);
    range.levels = read.small_count("levels").value_or(0);
    range.first_layer = read.count("first_layer").value_or(0);
    range.layers = read.count("layers").value_or(0);
    read.refuse_others();
}

Input read_input(const Json& value, const Json& sampler, const std::string& where, const Folders& folders) {
    JsonObject object(value, where);
    const bool from_file = object.find("file") != nullptr;
    if (from_file == (object.find("pattern") != nullptr))
        object.refuse("pattern", from_file ? "is given together with 'file'" : "is missing",
                      "Give either 'pattern' or 'file'.");
    if (!from_file && !object.text("pattern"))
        object.refuse("pattern", "is not text", "Use noise, gradient, zone_plate or checker.");
    Input input;
    input.where = where;
    if (from_file) {
        input.source = files_input(object, folders);
    } else {
        input.source = made_input(object);
    }
    read_range(object, input.range);
    input.sampler = sampler;
    if (const Json* own = object.find("sampler")) input.sampler = *own;
    object.refuse_others();
    return input;
}

// --- cases -----------------------------------------------------------------------------------------------------------

Tolerance read_tolerance(JsonObject& object) {
    const Json* value = object.find("tolerance");
    if (value == nullptr) return {.ulp = 0};
    JsonObject limits(*value, object.where() + ", 'tolerance'");
    Tolerance tolerance;
    if (const std::optional<std::size_t> ulp = limits.count("ulp"))
        tolerance.ulp = static_cast<std::uint32_t>(std::min<std::size_t>(*ulp, UINT32_MAX));
    tolerance.max = limits.number("max");
    tolerance.mse = limits.number("mse");
    tolerance.psnr = limits.number("psnr");
    tolerance.share = limits.number("share");
    limits.refuse_others();
    if (value->empty()) object.refuse("tolerance", "is empty", "Omit it for {\"ulp\": 0}, or give a limit.");
    return tolerance;
}

Case read_case(const std::string& name, const Json& value, const std::string& where, const Folders& folders) {
    JsonObject object(value, where);
    Case read;
    read.name = name;
    object.find("name");
    read.run = read_kernel_run(object);
    const Json* sampler_found = object.find("sampler");
    const Json sampler = sampler_found != nullptr ? *sampler_found : Json::object();
    if (const Json* input = object.find("input")) {
        if (object.find("inputs") != nullptr)
            object.refuse("input", "is given together with 'inputs'", "Give only one of them.");
        read.inputs.push_back(read_input(*input, sampler, where + ", 'input'", folders));
    } else if (const Json* inputs = object.find("inputs")) {
        if (!inputs->is_array()) object.refuse("inputs", "is " + json_text(*inputs), "Give a list.");
        for (std::size_t i = 0; i < inputs->size(); ++i)
            read.inputs.push_back(
                read_input((*inputs)[i], sampler, fmt::format("{}, input {}", where, i + 1), folders));
    }
    read.tolerance = read_tolerance(object);
    object.refuse_others();
    return read;
}

[[noreturn]] void refuse_file(const fs::path& path, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify::read_suite",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = std::move(remedy)});
}

Json read_json(const fs::path& path) {
    std::string problem;
    const std::optional<std::string> text = read_json_text(path, problem);
    if (!text) refuse_file(path, std::move(problem), "Give the path of a suite, a JSON file.");
    std::optional<Json> value = parse_json(*text, problem);
    if (!value) refuse_file(path, std::move(problem), "Correct the file.");
    return std::move(*value);
}

void check_names(const Suite& suite, const fs::path& path) {
    std::map<std::string, const Case*> names;
    for (const Case& each : suite.cases) {
        if (each.name.size() > kMaxName)
            refuse_file(path,
                        fmt::format("has a case whose name is longer than {} bytes: '{}...'", kMaxName,
                                    viewer::to_utf8(std::string_view(each.name).substr(0, 40))),
                        "Shorten the name of the case, or name the values of its matrix.");
        const auto [other, is_new] = names.try_emplace(file_name(each.name), &each);
        if (!is_new)
            refuse_file(path,
                        fmt::format("has two cases with the same reference file name: '{}' and '{}'",
                                    other->second->name, each.name),
                        "Give each case a different name.");
    }
}

}  // namespace

std::string file_name(const std::string& name_of_case) {
    std::string out = name_of_case;
    for (char& letter : out) {
        const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
        if (!plain) letter = '_';
    }
    if (out == "." || out == "..") std::ranges::fill(out, '_');
    return out;
}

Suite read_suite(const fs::path& path, Outside outside) {
    const Json value = read_json(path);
    Folders folders{.base = path.parent_path(), .within = {}};
    if (outside == Outside::refused) folders.within = folders.base;
    const std::string where = path.filename().string();
    JsonObject object(value, where);
    Suite suite;
    suite.name = path.stem().string();
    const std::optional<std::string> references = object.text("references");
    suite.references = folders.base / references.value_or(suite.name);
    suite.own_references = !references;
    suite.within = folders.within;
    viewer::refuse_outside(suite.within, suite.references);
    Shared shared;
    if (const Json* inputs = object.find("inputs")) {
        const JsonObject checked(*inputs, where + ", 'inputs'");
        for (const auto& [name, input] : inputs->items()) shared[name] = input;
    }
    const Json& cases = object.at("cases");
    if (!cases.is_array()) object.refuse("cases", "is not a list", "Write [ { \"name\": ... }, ... ].");
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        JsonObject named(cases[i], fmt::format("{}, case {}", where, i + 1));
        const std::optional<std::string> name = named.text("name");
        if (!name || name->empty()) named.refuse("name", "is missing", "Give each case a name.");
        const std::string subresource = fmt::format("{}, case '{}'", where, *name);
        for (const auto& [full_name, of_case] : multiplied(*name, cases[i], shared, subresource, bytes))
            suite.cases.push_back(
                read_case(full_name, of_case, fmt::format("{}, case '{}'", where, full_name), folders));
        require_count(suite.cases.size(), where);
    }
    object.refuse_others();
    check_names(suite, path);
    return suite;
}

}  // namespace texton::verify
