#pragma once
// Names of enumerators. Sessions, suites, the command line and the window of texton-view use the same names.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/fetch.h>
#include <texton/image_file.h>
#include <texton/sampler.h>

#include "arrays/unit/texture_address.h"

namespace texton::viewer {

/// An enumerator and its name.
template <class Value>
struct Named {
    const char* name;
    Value value;
};
template <class Value>
Named(const char*, Value) -> Named<Value>;  // Clang 14 does not deduce the argument of an aggregate

/// The names of all enumerators of a type.
template <class Value, std::size_t count>
using Names = std::array<Named<Value>, count>;

inline constexpr auto kAddressModes = [] {
    std::array<Named<AddressMode>, detail::kAddressModeCount> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto mode = static_cast<AddressMode>(i);
        names[i] = {detail::address_rule(mode).name, mode};
    }
    return names;
}();
inline constexpr std::array kFilters{Named{"point", Filter::point}, Named{"linear", Filter::linear}};
inline constexpr std::array kImageColors{Named{"by_metadata", ImageColor::by_metadata}, Named{"srgb", ImageColor::srgb},
                                         Named{"linear", ImageColor::linear}};
inline constexpr std::array kImageWindows{Named{"data", ImageWindow::data}, Named{"display", ImageWindow::display}};
inline constexpr std::array kBlockDecodings{Named{"gpu", BlockDecoding::gpu}, Named{"exact", BlockDecoding::exact}};
inline constexpr std::array kCubeLayouts{Named{"faces", CubeLayout::faces},
                                         Named{"vertical_strip", CubeLayout::vertical_strip},
                                         Named{"horizontal_strip", CubeLayout::horizontal_strip},
                                         Named{"horizontal_cross", CubeLayout::horizontal_cross},
                                         Named{"vertical_cross", CubeLayout::vertical_cross},
                                         Named{"equirectangular", CubeLayout::equirectangular},
                                         Named{"openexr_cube", CubeLayout::openexr_cube},
                                         Named{"openexr_latlong", CubeLayout::openexr_latlong}};
inline constexpr std::array kRawLayouts{Named{"interleaved", RawLayout::interleaved},
                                        Named{"planes", RawLayout::planes}};
inline constexpr std::array kFetchOperations{Named{"plain", FetchOperation::plain}, Named{"lod", FetchOperation::lod},
                                             Named{"gradients", FetchOperation::gradients},
                                             Named{"gather", FetchOperation::gather},
                                             Named{"texel", FetchOperation::texel}};

/// Returns the name of `value`, or "" if `names` does not contain it.
template <class Value, std::size_t count>
constexpr const char* name_of(const Names<Value, count>& names, Value value) {
    for (const Named<Value>& each : names)
        if (each.value == value) return each.name;
    return "";
}

/// Returns the enumerator called `name`, or nullopt if `names` does not contain it.
template <class Value, std::size_t count>
constexpr std::optional<Value> value_of(const Names<Value, count>& names, std::string_view name) {
    for (const Named<Value>& each : names)
        if (each.name == name) return each.value;
    return {};
}

/// Returns all names, in the order of `names`.
template <class Value, std::size_t count>
std::vector<std::string> all_names(const Names<Value, count>& names) {
    std::vector<std::string> all;
    for (const Named<Value>& each : names) all.emplace_back(each.name);
    return all;
}

}  // namespace texton::viewer
