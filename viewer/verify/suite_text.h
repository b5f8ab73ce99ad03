#pragma once
// Changes of the text of a suite that keep its comments and its layout.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

namespace texton::verify {

/// Returns the JSON text of a mask: "[[0, 0, 64, 16]]".
[[nodiscard]] std::string mask_text(const std::vector<Region>& rectangles);

/// Returns the text of a suite after setting the key "mask" of an entry of "cases" or, if `pattern` is set, of a pattern
/// of the entry's "images". If the entry has one pattern without a mask, the entry receives the mask. All other
/// characters stay, also comments; comments inside a mask that is replaced are lost. `text` must be a valid suite.
///
/// Throws Error{unsupported} if the entry has a matrix that changes masks or images. Its remedy contains the text to
/// insert.
[[nodiscard]] std::string with_mask(const std::string& text, std::size_t entry, std::optional<std::size_t> pattern,
                                    const std::vector<Region>& rectangles);

}  // namespace texton::verify
