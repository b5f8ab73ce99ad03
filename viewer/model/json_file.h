#pragma once
// JSON files that a person or another program wrote, and JSON text in messages.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "viewer/model/json_object.h"

namespace texton::verify {

/// Maximum size of a session or a suite in bytes.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;
/// Maximum number of objects and lists inside each other. Sessions and suites need six. The limit keeps recursive
/// functions on JSON values within the stack.
inline constexpr int kMaxJsonDepth = 32;

/// Reads a text file of at most kMaxJsonBytes bytes. Returns nothing and sets `problem` if the file cannot be read, is
/// larger, or is not a regular file: reading a pipe or a device could block forever.
[[nodiscard]] std::optional<std::string> read_json_text(const std::filesystem::path& path, std::string& problem);

/// Parses JSON text, in which comments are allowed. Returns nothing and sets `problem` if the text is not valid JSON,
/// if a number is out of the range of double, or if it is nested deeper than kMaxJsonDepth.
[[nodiscard]] std::optional<Json> parse_json(const std::string& text, std::string& problem);

}  // namespace texton::verify
