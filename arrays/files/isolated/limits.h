#pragma once
// Limits of the time and the memory of a reader.
#include <cstdint>
#include <string>
#include <string_view>

#include <texton/read_options.h>

#include "arrays/files/isolated/message.h"

namespace texton::detail {

/// Returns the largest number of bytes of texels for one byte of a file, or 0 if there is no largest number.
/// `kind` is OpenImageIO's name of the kind of file, and `compression` the value of its attribute "compression".
[[nodiscard]] std::uint64_t largest_compression(std::string_view kind, std::string_view compression) noexcept;

/// Texels that the opened parts of one file claim to have.
struct Claim {
    std::uint64_t bytes = 0;     ///< of all levels of all parts
    std::uint64_t decoded = 0;   ///< what the decoder needs for them
    std::uint64_t possible = 0;  ///< what the bytes of the file can hold; of several parts the largest number
    bool is_possible = true;     ///< false: the file is too small for the texels of a part
};
/// Returns the claim that the limit of memory follows from until a file has been opened. OpenImageIO decodes some kinds of
/// file while it opens them.
[[nodiscard]] Claim assumed_claim(const std::filesystem::path& path);
/// Adds the claim of a source. `file_bytes` is 0 if the size of the file is not known.
void add_claim(Claim& claim, const Description& source, std::uint64_t file_bytes) noexcept;

/// Returns the limit of the memory in bytes.
[[nodiscard]] std::uint64_t memory_limit(const ReadLimits& limits, const Claim& claim) noexcept;
/// Returns the limit of the time of one operation in seconds.
[[nodiscard]] double time_limit(const ReadLimits& limits, const Claim& claim) noexcept;

}  // namespace texton::detail
