#pragma once
// The part of a report that shows one case.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Where the images of a case go.
struct CaseOutput {
    /// Folder for the image files of the case, which exists; unset: no files are kept.
    std::optional<std::filesystem::path> folder;
    std::filesystem::path scratch;  ///< folder for temporary files
    std::size_t& room;              ///< bytes of images that the HTML file may still contain
};

/// Addresses of other parts of the report. An empty address means that there is no such part.
struct CaseLinks {
    std::string all;       ///< list of all cases
    std::string previous;  ///< previous failure
    std::string next;      ///< next failure
    std::string position;  ///< position among the failures: "2 of 7"
};

/// Returns the value of the attribute `id` of the article of a case.
[[nodiscard]] std::string article_id(const Case& of);

/// Returns the article of a case: what happened, its images beside the expected ones, maps of their differences, and
/// the worst texels with the input texels that contribute to them. `extra` is HTML that follows the description.
/// Throws Error{io}, with the path, if an image file cannot be written.
[[nodiscard]] std::string case_article(const Suite& suite, const Case& of, const Result& result, CaseOutput output,
                                       const CaseLinks& links, const std::string& extra = {});

/// Returns small image elements: the image with the largest difference and, if there is a comparison, its ulp map. Returns
/// an empty text if there are no images.
[[nodiscard]] std::string thumbnails(const Result& result, const std::filesystem::path& scratch);

/// Returns an outcome as an HTML element.
[[nodiscard]] std::string badge(Outcome outcome);
/// Returns an ulp distance as text.
[[nodiscard]] std::string ulp_text(std::uint32_t ulp);

}  // namespace texton::verify
