#include "viewer/verify/criteria.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace texton::verify {
namespace {

std::optional<std::uint32_t> read_ulp(JsonObject& object) {
    const std::optional<std::size_t> ulp = object.count("ulp");
    if (!ulp) return {};
    return static_cast<std::uint32_t>(std::min<std::size_t>(*ulp, UINT32_MAX));
}

TexelCount read_count(const Json& value, const std::string& where) {
    JsonObject object(value, where + ", 'count'");
    TexelCount count;
    const std::optional<std::size_t> texels = object.count("texels");
    if (!texels) object.refuse("texels", "is missing", "Give the maximum number of texels.");
    count.texels = *texels;
    count.ulp = read_ulp(object);
    count.max = object.number("max");
    object.refuse_others();
    if (!count.ulp && !count.max)
        object.refuse("max", "is missing", "Give 'max' or 'ulp': texels that differ by more are counted.");
    return count;
}

Tolerance read_tolerance(JsonObject& object, const Json& value) {
    JsonObject limits(value, object.where() + ", 'tolerance'");
    Tolerance tolerance;
    tolerance.ulp = read_ulp(limits);
    tolerance.max = limits.number("max");
    tolerance.mse = limits.number("mse");
    tolerance.psnr = limits.number("psnr");
    tolerance.ssim = limits.number("ssim");
    tolerance.share = limits.number("share");
    if (const Json* count = limits.find("count")) tolerance.count = read_count(*count, limits.where());
    limits.refuse_others();
    if (value.empty()) object.refuse("tolerance", "is empty", "Omit it for {\"ulp\": 0}, or give a limit.");
    return tolerance;
}

Region read_rectangle(const JsonObject& object, const Json& mask, const Json& value) {
    constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
    const auto is_size = [](const Json& each) {
        return each.is_number_unsigned() && each.get<std::uint64_t>() <= kLargest;
    };
    const bool four = value.is_array() && value.size() == 4 && std::ranges::all_of(value, is_size);
    if (!four || value[2] == 0 || value[3] == 0)
        object.refuse("mask", "is " + json_text(mask),
                      "Give the path of an image, or a list of rectangles [x, y, width, height].");
    return {{value[0].get<std::size_t>(), value[1].get<std::size_t>(), 0},
            {value[2].get<std::size_t>(), value[3].get<std::size_t>(), 1}};
}

Mask read_mask(const JsonObject& object, const Json& value, const SuiteFolders& folders) {
    Mask mask;
    if (value.is_string()) {
        mask.file = path_in(object, "mask", value.get<std::string>(), folders);
        return mask;
    }
    if (!value.is_array()) (void)read_rectangle(object, value, value);  // throws
    for (const Json& each : value) mask.rectangles.push_back(read_rectangle(object, value, each));
    return mask;
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

}  // namespace

Criteria read_criteria(JsonObject& object, const SuiteFolders& folders, Criteria defaults) {
    Criteria criteria = std::move(defaults);
    criteria.where = object.where();
    if (const Json* value = object.find("tolerance")) criteria.tolerance = read_tolerance(object, *value);
    if (const Json* value = object.find("mask")) criteria.mask = read_mask(object, *value, folders);
    if (const Json* value = object.find("ignore")) criteria.ignored = read_ignored(object, *value);
    return criteria;
}

}  // namespace texton::verify
