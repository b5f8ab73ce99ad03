#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "viewer/model/json_object.h"

namespace texton::verify {

/// The folder that relative paths of a suite start from, and the folder that all its files must be in, if there is one.
struct SuiteFolders {
    std::filesystem::path base;
    std::optional<std::filesystem::path> within{};
};

/// Returns the path that the text of a key names. Throws Error{bad_argument} if the text is empty or contains a zero
/// character, and Error{not_permitted} if the path is outside of the folder; both name the object and the key.
[[nodiscard]] std::filesystem::path path_in(const JsonObject& object, const std::string& key, const std::string& text,
                                            const SuiteFolders& folders);

/// Throws Error{bad_argument}, with the object and the key, if the text contains a zero character, at which the system
/// would end it.
void refuse_zeros(const JsonObject& object, const std::string& key, const std::string& text);

}  // namespace texton::verify
