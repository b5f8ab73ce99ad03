#pragma once
// Compares the fetches of two samplers of one array, and determines which fields of the samplers cause the differences.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/inspect/region_comparison.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {

/// A field of Sampler with functions to compare, copy and print it.
struct SamplerField {
    std::string name;  ///< as in texton/sampler.h, for example "address[0]"
    bool (*same)(const Sampler& a, const Sampler& b);
    void (*take)(Sampler& to, const Sampler& from);
    std::string (*text)(const Sampler& of);  ///< the value as text, for example "wrap" or "8"
};
/// Returns all fields of Sampler. The span is valid until the program ends.
[[nodiscard]] std::span<const SamplerField> sampler_fields();

/// Effect of one field.
struct FieldDifference {
    std::string name;
    std::string a;              ///< value in sampler a, as text
    std::string b;              ///< value in sampler b, as text
    std::size_t differing = 0;  ///< number of fetches that change if only this field is taken from b
    std::uint32_t largest = 0;  ///< largest distance in ulps
    std::string problem{};      ///< why no texture is possible with only this field from b; empty if it is possible
};

/// Result of sampler_difference().
struct SamplerDifference {
    std::size_t fetches = 0;              ///< number of positions
    FieldDifference all;                  ///< sampler b instead of a
    std::vector<FieldDifference> fields;  ///< the fields in which the samplers differ
};

/// Compares fetches at the positions of a grid, with the fetches that the canvas uses. Each sampler gets coordinates in
/// its own units. Blocks; if the work is canceled, the result is incomplete. Throws the errors of Texture for sampler
/// a, and of texton::sample(). Errors for other samplers are reported in the result.
[[nodiscard]] SamplerDifference sampler_difference(const Array& array, const SubresourceIndex& subresource,
                                                   const FetchGrid& grid, const Sampler& a, const Sampler& b,
                                                   const CancellationToken& token = {});

/// Compares the results of the same fetches as two images; `against` is the reference. Blocks; if the work is canceled,
/// the result is empty. Throws the errors of Texture for both samplers, of texton::sample() and of compare().
[[nodiscard]] RegionComparison compare_samplers(const Array& array, const SubresourceIndex& subresource,
                                                const FetchGrid& grid, const Sampler& shown, const Sampler& against,
                                                const ComparisonOptions& options = {},
                                                const CancellationToken& token = {});

}  // namespace texton::viewer
