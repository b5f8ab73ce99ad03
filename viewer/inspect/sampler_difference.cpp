#include "viewer/inspect/sampler_difference.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/text/enum_names.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 17;  // number of fetches per call of sample()

std::string words_of(AddressMode mode) { return name_of(kAddressModes, mode); }
std::string words_of(Filter filter) { return name_of(kFilters, filter); }
std::string words_of(bool flag) { return flag ? "yes" : "no"; }
std::string words_of(std::uint8_t number) { return fmt::format("{}", number); }
std::string words_of(float number) { return fmt::format("{:g}", number); }

template <auto member>
SamplerField plain_field(const char* name) {
    return {name, [](const Sampler& a, const Sampler& b) { return a.*member == b.*member; },
            [](Sampler& to, const Sampler& from) { to.*member = from.*member; },
            [](const Sampler& of) { return words_of(of.*member); }};
}

template <int axis>
SamplerField address_field(const char* name) {
    return {name, [](const Sampler& a, const Sampler& b) { return a.address[axis] == b.address[axis]; },
            [](Sampler& to, const Sampler& from) { to.address[axis] = from.address[axis]; },
            [](const Sampler& of) { return words_of(of.address[axis]); }};
}

SamplerField border_field() {
    return {"border", [](const Sampler& a, const Sampler& b) { return std::ranges::equal(a.border, b.border); },
            [](Sampler& to, const Sampler& from) { std::ranges::copy(from.border, to.border); },
            [](const Sampler& of) {
                return fmt::format("{:g} {:g} {:g} {:g}", of.border[0], of.border[1], of.border[2], of.border[3]);
            }};
}

// Returns up to kPiece positions of the grid, row by row, starting at index `begin`.
std::vector<Position> piece_of(const FetchGrid& grid, std::size_t begin) {
    const std::size_t end = std::min(grid.columns * grid.rows, begin + kPiece);
    std::vector<Position> subresources;
    subresources.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) subresources.push_back(grid.at(i % grid.columns, i / grid.columns));
    return subresources;
}

// Returns the results of the fetches with one sampler.
std::vector<Texel> read(const Array& array, const SubresourceIndex& subresource, const Sampler& sampler,
                        std::span<const Position> subresources, const PixelSteps& steps) {
    const SubresourceFetches fetches(array.info(), subresource, sampler);
    std::vector<Fetch> all;
    all.reserve(subresources.size());
    for (const Position& at : subresources) all.push_back(fetches.as_seen(at, steps));
    return fetched(Texture(array, sampler), all);
}

void count(FieldDifference& field, std::span<const std::uint32_t> ulps) {
    for (const std::uint32_t distance : ulps) {
        field.differing += distance != 0;
        field.largest = std::max(field.largest, distance);
    }
}

}  // namespace

std::span<const SamplerField> sampler_fields() {
    static const std::vector<SamplerField> fields{
        address_field<0>("address[0]"),
        address_field<1>("address[1]"),
        address_field<2>("address[2]"),
        plain_field<&Sampler::filter>("filter"),
        plain_field<&Sampler::mip_filter>("mip_filter"),
        plain_field<&Sampler::normalized_coordinates>("normalized_coordinates"),
        plain_field<&Sampler::seamless_cubemap>("seamless_cubemap"),
        plain_field<&Sampler::trilinear_optimization>("trilinear_optimization"),
        plain_field<&Sampler::max_anisotropy>("max_anisotropy"),
        plain_field<&Sampler::mip_bias>("mip_bias"),
        plain_field<&Sampler::mip_min>("mip_min"),
        plain_field<&Sampler::mip_max>("mip_max"),
        border_field()};
    return fields;
}

SamplerDifference sampler_difference(const Array& array, const SubresourceIndex& subresource, const FetchGrid& grid,
                                     const Sampler& a, const Sampler& b, const CancellationToken& token) {
    SamplerDifference found;
    found.all.name = "all";
    std::vector<Sampler> samplers{b};
    std::vector<FieldDifference*> differences{&found.all};
    for (const SamplerField& field : sampler_fields()) {
        if (field.same(a, b)) continue;
        found.fields.push_back({.name = field.name, .a = field.text(a), .b = field.text(b)});
        samplers.push_back(a);
        field.take(samplers.back(), b);
    }
    for (FieldDifference& field : found.fields) differences.push_back(&field);

    const std::size_t total = grid.columns * grid.rows;
    for (std::size_t begin = 0; begin < total; begin += kPiece) {
        const std::vector<Position> subresources = piece_of(grid, begin);
        const std::vector<Texel> of_a = read(array, subresource, a, subresources, grid.steps());
        for (std::size_t i = 0; i < samplers.size(); ++i) {
            if (token.canceled()) return found;
            if (!differences[i]->problem.empty()) continue;
            try {
                const std::vector<Texel> changed = read(array, subresource, samplers[i], subresources, grid.steps());
                count(*differences[i], ulps_between(of_a, changed, array.info().format));
            } catch (const Error& error) {
                differences[i]->problem = error.what();
            }
        }
        found.fetches += subresources.size();
    }
    return found;
}

RegionComparison compare_samplers(const Array& array, const SubresourceIndex& subresource, const FetchGrid& grid,
                                  const Sampler& shown, const Sampler& against, const ComparisonOptions& options,
                                  const CancellationToken& token) {
    std::vector<Texel> of_shown, of_against;
    for (std::size_t begin = 0; begin < grid.columns * grid.rows; begin += kPiece) {
        if (token.canceled()) return {};
        const std::vector<Position> subresources = piece_of(grid, begin);
        for (const auto& [texels, sampler] : {std::pair(&of_shown, &shown), std::pair(&of_against, &against)}) {
            const std::vector<Texel> piece = read(array, subresource, *sampler, subresources, grid.steps());
            texels->insert(texels->end(), piece.begin(), piece.end());
        }
    }
    const Format format = array.info().format;
    RegionComparison out{.subresource = subresource, .extent = {grid.columns, grid.rows}};
    const auto view = [&](const std::vector<Texel>& texels) {
        return host_view(static_cast<const void*>(texels.data()), returned_format(format), out.extent);
    };
    ComparisonOptions limited = options;
    limited.channels = static_cast<std::size_t>(returned_channels(format));
    out.comparison = compare(view(of_against), view(of_shown), limited);
    for (const WorstTexel& texel : out.comparison.worst) out.worst.push_back(grid.at(texel.at.x, texel.at.y));
    return out;
}

}  // namespace texton::viewer
