#pragma once
// Words for the values of enumerations, as sessions, suites, commands and the window have them.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/fetch.h>
#include <texton/picture.h>
#include <texton/sampler.h>

#include "arrays/unit/texture_address.h"

namespace texton::viewer {

template <class Value>
struct Named {
    const char* name;
    Value value;
};
template <class Value>
Named(const char*, Value) -> Named<Value>;  // clang 14 deduces none for aggregates

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
inline constexpr std::array kPictureColors{Named{"by_metadata", PictureColor::by_metadata},
                                           Named{"srgb", PictureColor::srgb}, Named{"linear", PictureColor::linear}};
inline constexpr std::array kPictureWindows{Named{"data", PictureWindow::data},
                                            Named{"display", PictureWindow::display}};
inline constexpr std::array kCubeLayouts{Named{"faces", CubeLayout::faces},
                                         Named{"vertical_strip", CubeLayout::vertical_strip},
                                         Named{"horizontal_strip", CubeLayout::horizontal_strip},
                                         Named{"horizontal_cross", CubeLayout::horizontal_cross},
                                         Named{"vertical_cross", CubeLayout::vertical_cross},
                                         Named{"equirectangular", CubeLayout::equirectangular},
                                         Named{"openexr_cube", CubeLayout::openexr_cube},
                                         Named{"openexr_latlong", CubeLayout::openexr_latlong}};
inline constexpr std::array kFetchOperations{Named{"plain", FetchOperation::plain}, Named{"lod", FetchOperation::lod},
                                             Named{"gradients", FetchOperation::gradients},
                                             Named{"gather", FetchOperation::gather},
                                             Named{"texel", FetchOperation::texel}};

template <class Value, std::size_t count>
constexpr const char* name_of(const Names<Value, count>& names, Value value) {
    for (const Named<Value>& each : names)
        if (each.value == value) return each.name;
    return "";
}

template <class Value, std::size_t count>
constexpr std::optional<Value> value_of(const Names<Value, count>& names, std::string_view name) {
    for (const Named<Value>& each : names)
        if (each.name == name) return each.value;
    return {};
}

template <class Value, std::size_t count>
std::vector<std::string> all_names(const Names<Value, count>& names) {
    std::vector<std::string> all;
    for (const Named<Value>& each : names) all.emplace_back(each.name);
    return all;
}

}  // namespace texton::viewer
