#include "viewer/verify/suite_paths.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/named_paths.h"

namespace texton::verify {

namespace fs = std::filesystem;

void refuse_zeros(const JsonObject& object, const std::string& key, const std::string& text) {
    if (text.find('\0') != std::string::npos)
        object.refuse(key, "contains a zero character", "Remove it: the system would end the text there.");
}

fs::path path_in(const JsonObject& object, const std::string& key, const std::string& text,
                 const SuiteFolders& folders) {
    if (text.empty()) object.refuse(key, "contains an empty path", "Give a path relative to the suite.");
    refuse_zeros(object, key, text);
    const fs::path path = folders.base / text;
    try {
        viewer::refuse_outside(folders.within, path);
    } catch (const Error& error) {
        throw Error({.code = error.code(),
                     .object = "texton::verify",
                     .problem = fmt::format("{}, '{}': {}", object.where(), key, error.problem()),
                     .remedy = error.remedy()});
    }
    return path;
}

}  // namespace texton::verify
