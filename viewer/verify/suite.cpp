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
#include "viewer/verify/matrix.h"
#include "viewer/verify/table_file.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 200;    // bytes, so that it fits into a file name
constexpr double kMaxTimeLimit = 86400;  // seconds: a day

// --- inputs ----------------------------------------------------------------------------------------------------------

constexpr std::pair<const char*, InputMemory> kMemories[] = {{"array", InputMemory::array},
                                                             {"rows", InputMemory::rows},
                                                             {"sparse", InputMemory::sparse},
                                                             {"deferred", InputMemory::deferred}};

std::optional<ArrayKind> kind_in(JsonObject& object, const std::string& key) {
    const std::optional<std::string> name = object.text(key);
    if (!name) return {};
    return kind_of(*name, object.where());
}

Input::Made made_input(JsonObject& object) {
    Input::Made made;
    const std::string pattern = *object.text("pattern");
    const std::optional<PatternKind> kind = pattern_named(pattern);
    if (!kind) object.refuse("pattern", "is '" + pattern + "'", kPatternNames);
    made.pattern.kind = *kind;
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

Input::Files files_input(JsonObject& object, const SuiteFolders& folders) {
    Input::Files files;
    const Json& names = object.at("file");
    const auto add = [&](const Json& name) {
        if (!name.is_string()) object.refuse("file", "is " + json_text(names), "Give a path, or a list of paths.");
        files.paths.push_back(path_in(object, "file", name.get<std::string>(), folders));
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

Input read_input(const Json& value, const Json& sampler, const std::string& where, const SuiteFolders& folders) {
    JsonObject object(value, where);
    const bool from_file = object.find("file") != nullptr;
    if (from_file == (object.find("pattern") != nullptr))
        object.refuse("pattern", from_file ? "is given together with 'file'" : "is missing",
                      "Give either 'pattern' or 'file'.");
    if (!from_file && !object.text("pattern")) object.refuse("pattern", "is not text", kPatternNames);
    Input input;
    input.where = where;
    if (from_file) {
        input.source = files_input(object, folders);
    } else {
        input.source = made_input(object);
    }
    read_range(object, input.range);
    if (const std::optional<std::string> memory = object.text("memory")) {
        const auto* found =
            std::ranges::find(kMemories, *memory, [](const auto& row) { return std::string(row.first); });
        if (found == std::end(kMemories))
            object.refuse("memory", "is '" + *memory + "'", "Use array, rows, sparse or deferred.");
        input.memory = found->second;
    }
    input.sampler = sampler;
    if (const Json* own = object.find("sampler")) input.sampler = *own;
    object.refuse_others();
    return input;
}

// --- cases -----------------------------------------------------------------------------------------------------------

KernelCase read_kernel_case(JsonObject& object, const SuiteFolders& folders) {
    KernelCase read;
    read.run = read_kernel_run(object);
    const Json* sampler_found = object.find("sampler");
    const Json sampler = sampler_found != nullptr ? *sampler_found : Json::object();
    const std::string& where = object.where();
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
    return read;
}

Command read_command(JsonObject& object) {
    Command command;
    const Json& arguments = object.at("command");
    const bool texts = arguments.is_array() && !arguments.empty() && std::ranges::all_of(arguments, &Json::is_string);
    if (!texts || arguments.front().get_ref<const std::string&>().empty())
        object.refuse("command", "is " + json_text(arguments),
                      "Give a list of texts: a program and its arguments. No shell reads them.");
    command.arguments = arguments.get<std::vector<std::string>>();
    for (const std::string& each : command.arguments) refuse_zeros(object, "command", each);
    if (const Json* variables = object.find("environment")) {
        const JsonObject checked(*variables, object.where() + ", 'environment'");
        for (const auto& [name, value] : variables->items()) {
            const std::string key = viewer::to_utf8(name);
            if (name.empty() || name.find('=') != std::string::npos)
                checked.refuse(key, "is not a name of a variable", "Use a name without '='.");
            refuse_zeros(checked, key, name);
            if (!value.is_string() && !value.is_null())
                checked.refuse(key, "is " + json_text(value), "Give a text, or null to remove the variable.");
            if (value.is_string()) refuse_zeros(checked, key, value.get_ref<const std::string&>());
            command.environment[name] = value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
        }
    }
    if (const std::optional<double> limit = object.number("time_limit")) {
        if (!(*limit > 0 && *limit <= kMaxTimeLimit))
            object.refuse("time_limit", fmt::format("is {:g}", *limit),
                          fmt::format("Give seconds above 0, at most {:g}.", kMaxTimeLimit));
        command.time_limit = std::chrono::duration<double>(*limit);
    }
    command.exit_status = object.small_count("exit_status").value_or(0);
    if (command.exit_status > 255)
        object.refuse("exit_status", fmt::format("is {}", command.exit_status), "Give an integer from 0 to 255.");
    return command;
}

ImagePattern read_pattern(const Json& value, const std::string& where, const SuiteFolders& folders,
                          const Criteria& defaults) {
    const Json with_file = value.is_string() ? Json{{"file", value}} : value;
    JsonObject object(with_file, where);
    ImagePattern pattern;
    pattern.files = object.text("file").value_or("");
    if (object.find("file") == nullptr) object.refuse("file", "is missing", "Give a path or a pattern of paths.");
    (void)path_in(object, "file", pattern.files, folders);
    if (const std::optional<std::string> name = object.text("name")) {
        if (name->empty() || name->size() > kMaxName)
            object.refuse("name", fmt::format("has {} bytes", name->size()),
                          fmt::format("Give a name of at most {} bytes.", kMaxName));
        pattern.name = viewer::to_utf8(*name);
    }
    pattern.criteria = read_criteria(object, folders, defaults);
    object.refuse_others();
    return pattern;
}

// The images of a command are in its working folder. Their paths are checked as if they were in the folder of the suite.
std::vector<ImagePattern> read_patterns(JsonObject& object, const SuiteFolders& folders, const Criteria& defaults) {
    const Json* value = object.find("images");
    if (value == nullptr) return {};
    const bool is_list = value->is_array();
    if (is_list && value->empty())
        object.refuse("images", "is empty", "Give the path of an image, or patterns of paths.");
    std::vector<ImagePattern> patterns;
    for (std::size_t i = 0; i < (is_list ? value->size() : 1); ++i)
        patterns.push_back(read_pattern(is_list ? (*value)[i] : *value,
                                        fmt::format("{}, 'images', {}", object.where(), i + 1), folders, defaults));
    return patterns;
}

FoldersCase read_folders_case(JsonObject& object, const SuiteFolders& folders, const Criteria& defaults) {
    const Json& value = object.at("folders");
    const bool two = value.is_array() && value.size() == 2 && std::ranges::all_of(value, &Json::is_string);
    if (!two)
        object.refuse("folders", "is " + json_text(value),
                      "Give two folders: that of the references, and that of the images.");
    FoldersCase read;
    read.expected = path_in(object, "folders", value[0].get<std::string>(), folders);
    read.actual = path_in(object, "folders", value[1].get<std::string>(), folders);
    if (viewer::is_same_file(read.expected, read.actual))
        object.refuse("folders", "names the same folder twice", "Give two folders.");
    read.images = read_patterns(object, folders, defaults);
    return read;
}

Case read_case(const std::string& name, const Json& value, const std::string& where, const SuiteFolders& folders,
               const Criteria& defaults) {
    JsonObject object(value, where);
    Case read;
    read.name = name;
    read.where = where;
    object.find("name");
    read.optional = object.flag("optional").value_or(false);
    read.criteria = read_criteria(object, folders, defaults);
    const auto has = [&](const char* key) { return value.contains(key); };
    if (has("kernel")) {
        read.work = read_kernel_case(object, folders);
    } else if (has("command")) {
        CommandCase command{read_command(object), {}};
        command.images = read_patterns(object, folders, read.criteria);
        if (command.images.empty())
            object.refuse("images", "is missing", "Give patterns of the images that the command writes.");
        read.work = std::move(command);
    } else if (has("folders")) {
        read.work = read_folders_case(object, folders, read.criteria);
    } else if (object.find("images") != nullptr) {
        read.work = FilesCase{read_patterns(object, folders, read.criteria)};
    } else {
        object.refuse("kernel", "is missing", "Give 'kernel', 'command', 'images' or 'folders'.");
    }
    object.refuse_others();
    return read;
}

Variants read_variants(JsonObject& object) {
    const std::string text = object.text("variants").value_or("any");
    if (text != "any" && text != "matching")
        object.refuse("variants", "is " + json_text(text), "Give \"any\" or \"matching\".");
    return text == "any" ? Variants::any : Variants::matching;
}

bool has_image_references(JsonObject& object) {
    const std::string text = object.text("reference_format").value_or("texref");
    if (text != "texref" && text != "image")
        object.refuse("reference_format", "is " + json_text(text), "Give \"texref\" or \"image\".");
    return text == "image";
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
                        "Give each case another 'name'.");
    }
}

void refuse_commands(const Suite& suite) {
    for (const Case& each : suite.cases) {
        if (!std::holds_alternative<CommandCase>(each.work)) continue;
        throw Error({.code = ErrorCode::not_permitted,
                     .object = "texton::verify",
                     .problem = each.where + ": 'command' is given, but commands are not allowed",
                     .remedy = "Add --commands if you trust the suite: its commands can do anything that you can do."});
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

ReferencePlaces places_of(const Suite& suite) { return {.store = suite.store, .within = suite.within}; }

Suite read_suite(const fs::path& path, Outside outside, Commands commands) {
    const Json value = read_json(path);
    SuiteFolders folders{.base = path.parent_path(), .within = {}};
    if (outside == Outside::refused) folders.within = folders.base;
    const std::string where = path.filename().string();
    JsonObject object(value, where);
    Suite suite;
    suite.name = path.stem().string();
    suite.file = path;
    suite.folder = folders.base;
    const std::optional<std::string> references = object.text("references");
    suite.references = references ? path_in(object, "references", *references, folders) : folders.base / suite.name;
    suite.own_references = !references;
    suite.within = folders.within;
    viewer::refuse_outside(suite.within, suite.references);  // the folder of the default name can be a link
    const Criteria defaults = read_criteria(object, folders);
    suite.variants = read_variants(object);
    suite.image_references = has_image_references(object);
    if (const auto store = object.text("store")) suite.store = path_in(object, "store", *store, folders);
    std::map<std::string, Json> shared;
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
        for (const ExpandedCase& each : expanded(*name, cases[i], shared, subresource, bytes)) {
            suite.cases.push_back(
                read_case(each.name, each.json, fmt::format("{}, case '{}'", where, each.name), folders, defaults));
            suite.cases.back().is_quick = each.is_quick;
            suite.cases.back().entry = i;
        }
        require_count(suite.cases.size(), where);
    }
    object.refuse_others();
    if (suite.cases.empty()) object.refuse("cases", "is empty", "A suite without cases checks nothing. Add a case.");
    if (commands == Commands::refused) refuse_commands(suite);
    check_names(suite, path);
    return suite;
}

}  // namespace texton::verify
