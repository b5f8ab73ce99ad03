#include "viewer/model/kernel_json.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/old_names.h"

namespace texton::verify {
namespace {

std::size_t side_of(const JsonObject& object, const std::string& key, const Json& value) {
    if (!value.is_number_unsigned() || value.get<std::size_t>() == 0)
        object.refuse(key, "contains " + json_text(value), "Use whole numbers of at least 1.");
    return value.get<std::size_t>();
}

}  // namespace

Extent read_extent(JsonObject& object, const std::string& key, std::size_t depth) {
    const Json& value = object.at(key);
    if (!value.is_array() || value.empty() || value.size() > 3)
        object.refuse(key, "is " + json_text(value), "Give [width], [width, height] or [width, height, depth].");
    Extent extent{side_of(object, key, value[0]), 1, depth};
    if (value.size() > 1) extent.height = side_of(object, key, value[1]);
    if (value.size() > 2) extent.depth = side_of(object, key, value[2]);
    return extent;
}

std::optional<Format> read_format(JsonObject& object, const std::string& key) {
    const std::optional<std::string> name = object.text(key);
    if (!name) return {};
    return format_of(*name, object.where());
}

KernelRun read_kernel_run(JsonObject& object) {
    const std::optional<std::string> name = object.text("kernel");
    if (!name) object.refuse("kernel", "is missing", "Give the name of a kernel; `texton run --list` lists all.");
    KernelRun run;
    try {
        run.kernel = &kernel_named(*name);
    } catch (const Error& error) {
        object.refuse("kernel", "is '" + *name + "', which is not a kernel", error.remedy());
    }
    if (const Json* parameters = object.find("parameters")) {
        const JsonObject checked(*parameters, object.where() + ", 'parameters'");
        for (const auto& [key, value] : parameters->items()) {
            const std::string current(viewer::current_parameter(*name, key));
            run.parameters[current] = parameter_value(run.kernel->info, current, value);
        }
    }
    try {
        const Arguments checked(run.kernel->info, run.parameters);
    } catch (const Error& error) {
        object.refuse("parameters", fmt::format("are not valid for {}: {}", *name, error.problem()), error.remedy());
    }
    if (const Json* size = object.find("size"); size != nullptr && size->is_string()) {
        run.size = result_size(size->get<std::string>(), object.where() + ", 'size'");
    } else if (size != nullptr) {
        run.size = ResultSize{.texels = read_extent(object, "size", 0)};
    }
    run.format = read_format(object, "format");
    return run;
}

void write_kernel_run(Json& object, const KernelRun& run) {
    object["kernel"] = run.kernel->info.name;
    for (const auto& [name, value] : run.parameters)
        object["parameters"][name] = std::visit([](const auto& each) { return Json(each); }, value);
    if (run.size && run.size->is_fixed()) {
        const Extent& texels = run.size->texels;
        object["size"] = {texels.width, texels.height};
        if (texels.depth != 0) object["size"].push_back(texels.depth);
    } else if (run.size) {
        object["size"] = text_of(*run.size);
    }
    if (run.format) object["format"] = name(*run.format);
}

}  // namespace texton::verify
