#pragma once
// Two samplers on one array: by how much their fetches differ, and which field makes how much of it.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/inspect/region_comparison.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {

/// A field of Sampler that can be taken from another one.
struct SamplerField {
    std::string name;  ///< as in texton/sampler.h: "address[0]"
    bool (*same)(const Sampler& a, const Sampler& b);
    void (*take)(Sampler& to, const Sampler& from);
    std::string (*words)(const Sampler& of);  ///< "wrap", "8"
};
[[nodiscard]] std::span<const SamplerField> sampler_fields();

struct FieldDifference {
    std::string name;
    std::string a;
    std::string b;
    std::size_t differing = 0;  ///< fetches that change if this field alone is that of b
    std::uint32_t largest = 0;  ///< ulps
    std::string problem{};      ///< why a texture cannot have this field alone; empty if it can
};

struct SamplerDifference {
    std::size_t fetches = 0;
    FieldDifference all;                  ///< with every field of b
    std::vector<FieldDifference> fields;  ///< those in which the samplers differ
};

/// Fetches of the grid's places as the canvas reads them, with each sampler's own coordinates. Throws where there is no
/// texture with `a`.
[[nodiscard]] SamplerDifference sampler_difference(const Array& array, const Place& place, const FetchGrid& grid,
                                                   const Sampler& a, const Sampler& b, const Wanted& wanted = {});

/// The same fetches as two pictures of what they return, `against` being the reference. Stops early where nobody wants it: then it
/// is empty. Throws where there is no texture with one of them.
[[nodiscard]] PlaceComparison compare_samplers(const Array& array, const Place& place, const FetchGrid& grid,
                                               const Sampler& shown, const Sampler& against,
                                               const ComparisonOptions& options = {}, const Wanted& wanted = {});

}  // namespace texton::viewer
