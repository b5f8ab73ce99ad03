#include "viewer/verify/criteria.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "viewer/text/utf8.h"

namespace texton::verify {
namespace {

// Returns nothing if the value is not a rectangle.
std::optional<Region> rectangle_of(const Json& value) {
    constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
    const auto is_size = [](const Json& each) {
        return each.is_number_unsigned() && each.get<std::uint64_t>() <= kLargest;
    };
    const bool four = value.is_array() && value.size() == 4 && std::ranges::all_of(value, is_size);
    if (!four || value[2] == 0 || value[3] == 0) return {};
    return Region{{value[0].get<std::size_t>(), value[1].get<std::size_t>(), 0},
                  {value[2].get<std::size_t>(), value[3].get<std::size_t>(), 1}};
}

[[noreturn]] void refuse_rectangles(const JsonObject& object, const std::string& key, const Json& value) {
    object.refuse(key, "is " + json_text(value),
                  key == "mask" ? "Give the path of an image, a list of rectangles [x, y, width, height], or an object "
                                  "with 'file', 'rectangles' and 'alpha'."
                                : "Give a list of rectangles [x, y, width, height].");
}

std::vector<Region> read_rectangles(const JsonObject& object, const std::string& key, const Json& value) {
    if (!value.is_array()) refuse_rectangles(object, key, value);
    std::vector<Region> rectangles;
    for (const Json& each : value) {
        const std::optional<Region> rectangle = rectangle_of(each);
        if (!rectangle) refuse_rectangles(object, key, value);
        rectangles.push_back(*rectangle);
    }
    return rectangles;
}

AlphaMask alpha_of(const JsonObject& object, const std::string& text) {
    constexpr std::pair<const char*, AlphaMask> kNames[] = {
        {"reference", AlphaMask::reference}, {"image", AlphaMask::image}, {"both", AlphaMask::both}};
    const auto* row = std::ranges::find(kNames, text, [](const auto& each) { return std::string(each.first); });
    if (row == std::end(kNames))
        object.refuse("alpha", "is " + json_text(text), "Give \"reference\", \"image\" or \"both\".");
    return row->second;
}

Mask read_mask(const JsonObject& object, const Json& value, const SuiteFolders& folders) {
    Mask mask;
    if (value.is_string()) {
        mask.file = path_in(object, "mask", value.get<std::string>(), folders);
        return mask;
    }
    if (!value.is_object()) {
        mask.rectangles = read_rectangles(object, "mask", value);
        return mask;
    }
    JsonObject parts(value, object.where() + ", 'mask'");
    if (const auto file = parts.text("file")) mask.file = path_in(parts, "file", *file, folders);
    if (const Json* rectangles = parts.find("rectangles"))
        mask.rectangles = read_rectangles(parts, "rectangles", *rectangles);
    if (const auto alpha = parts.text("alpha")) mask.alpha = alpha_of(parts, *alpha);
    parts.refuse_others();
    if (value.empty()) refuse_rectangles(object, "mask", value);
    return mask;
}

std::vector<RegionLimits> read_regions(const JsonObject& object, const Json& value, const SuiteFolders& folders) {
    if (!value.is_array())
        object.refuse("regions", "is " + json_text(value), "Give a list of objects with 'rectangle' and 'tolerance'.");
    std::vector<RegionLimits> regions;
    for (std::size_t i = 0; i < value.size(); ++i) {
        JsonObject region(value[i], fmt::format("{}, 'regions', {}", object.where(), i + 1));
        const Json& sides = region.at("rectangle");
        const std::optional<Region> rectangle = rectangle_of(sides);
        if (!rectangle) region.refuse("rectangle", "is " + json_text(sides), "Give a rectangle [x, y, width, height].");
        RegionLimits limits{.rectangle = *rectangle,
                            .tolerance = read_tolerance(region, "tolerance", region.at("tolerance"), folders),
                            .name = viewer::to_utf8(region.text("name").value_or(""))};
        region.refuse_others();
        regions.push_back(std::move(limits));
    }
    return regions;
}

std::uint8_t read_ignored(const JsonObject& object, const Json& value) {
    constexpr std::string_view kChannels = "rgba";
    unsigned ignored = 0;
    const auto is_channel = [&](const Json& each) {
        return each.is_string() && each.get_ref<const std::string&>().size() == 1 &&
               kChannels.find(each.get_ref<const std::string&>()) != std::string_view::npos;
    };
    if (value.is_array() && std::ranges::all_of(value, is_channel)) {
        for (const Json& each : value) ignored |= 1U << kChannels.find(each.get_ref<const std::string&>());
    }
    if (!value.is_array() || !std::ranges::all_of(value, is_channel) || ignored == 15)
        object.refuse("ignore", "is " + json_text(value), "Give a list of channels: \"r\", \"g\", \"b\", \"a\".");
    return static_cast<std::uint8_t>(ignored);
}

// Reads the keys that apply on all devices.
void read_keys(JsonObject& object, const SuiteFolders& folders, Criteria& criteria) {
    criteria.where = object.where();
    if (const Json* value = object.find("tolerance"))
        criteria.tolerance = read_tolerance(object, "tolerance", *value, folders);
    if (const Json* value = object.find("mask")) criteria.mask = read_mask(object, *value, folders);
    if (const Json* value = object.find("ignore")) criteria.ignored = read_ignored(object, *value);
    if (const Json* value = object.find("regions")) criteria.regions = read_regions(object, *value, folders);
    if (const Json* value = object.find("special")) criteria.special = read_special(object, *value);
}

std::vector<DeviceCriteria> read_devices(const JsonObject& object, const Json& value, const SuiteFolders& folders,
                                         const Criteria& defaults) {
    if (!value.is_array() || value.empty())
        object.refuse("devices", "is " + json_text(value),
                      "Give a list of objects with 'match' and keys such as 'tolerance'.");
    std::vector<DeviceCriteria> devices;
    for (std::size_t i = 0; i < value.size(); ++i) {
        JsonObject entry(value[i], fmt::format("{}, 'devices', {}", object.where(), i + 1));
        DeviceCriteria device{.match = read_device_match(entry), .criteria = defaults};
        device.criteria.devices.clear();
        read_keys(entry, folders, device.criteria);
        entry.refuse_others();
        devices.push_back(std::move(device));
    }
    return devices;
}

}  // namespace

const Criteria& criteria_for(const Criteria& criteria, const viewer::DeviceFields& fields) {
    for (const DeviceCriteria& each : criteria.devices)
        if (each.match.matches(fields)) return each.criteria;
    return criteria;
}

Criteria read_criteria(JsonObject& object, const SuiteFolders& folders, Criteria defaults) {
    Criteria criteria = std::move(defaults);
    read_keys(object, folders, criteria);
    for (DeviceCriteria& each : criteria.devices) read_keys(object, folders, each.criteria);
    if (const Json* value = object.find("devices")) {
        std::vector<DeviceCriteria> own = read_devices(object, *value, folders, criteria);
        criteria.devices.insert(criteria.devices.begin(), std::make_move_iterator(own.begin()),
                                std::make_move_iterator(own.end()));
    }
    return criteria;
}

}  // namespace texton::verify
