#include "viewer/verify/tolerance.h"

#include <algorithm>

#include <fmt/format.h>

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

FlipLimits read_flip(const Json& value, const std::string& where) {
    FlipLimits flip;
    if (value.is_number()) {
        flip.mean = value.get<double>();
        return flip;
    }
    JsonObject object(value, where + ", 'flip'");
    flip.mean = object.number("mean");
    flip.max = object.number("max");
    flip.pixels_per_degree = object.number("pixels_per_degree").value_or(flip.pixels_per_degree);
    object.refuse_others();
    if (!flip.mean && !flip.max) object.refuse("mean", "is missing", "Give 'mean' or 'max', from 0 to 1.");
    if (!(flip.pixels_per_degree >= 1 && flip.pixels_per_degree <= 1000))
        object.refuse("pixels_per_degree", fmt::format("is {:g}", flip.pixels_per_degree),
                      "Give a number from 1 to 1000.");
    return flip;
}

Tolerance read_limits(const Json& value, const std::string& where, const SuiteFolders& folders);

std::vector<Tolerance> read_list(JsonObject& object, const std::string& key, const SuiteFolders& folders) {
    const Json* value = object.find(key);
    if (value == nullptr) return {};
    if (!value->is_array() || value->empty())
        object.refuse(key, "is " + json_text(*value), "Give a list of objects with limits.");
    std::vector<Tolerance> list;
    for (std::size_t i = 0; i < value->size(); ++i)
        list.push_back(read_limits((*value)[i], fmt::format("{}, '{}', {}", object.where(), key, i + 1), folders));
    return list;
}

Tolerance read_limits(const Json& value, const std::string& where, const SuiteFolders& folders) {
    JsonObject object(value, where);
    Tolerance tolerance;
    tolerance.ulp = read_ulp(object);
    tolerance.max = object.number("max");
    tolerance.mse = object.number("mse");
    tolerance.psnr = object.number("psnr");
    tolerance.ssim = object.number("ssim");
    tolerance.share = object.number("share");
    if (const Json* count = object.find("count")) tolerance.count = read_count(*count, where);
    if (const Json* flip = object.find("flip")) tolerance.flip = read_flip(*flip, where);
    if (const std::optional<std::string> map = object.text("map"))
        tolerance.map = path_in(object, "map", *map, folders);
    tolerance.all = read_list(object, "all", folders);
    tolerance.any = read_list(object, "any", folders);
    object.refuse_others();
    if (value.empty()) refuse_text(where, "no limit is given", "Give a limit, such as {\"ulp\": 0}.");
    return tolerance;
}

}  // namespace

bool Tolerance::needs_ssim() const {
    return ssim || std::ranges::any_of(all, &Tolerance::needs_ssim) || std::ranges::any_of(any, &Tolerance::needs_ssim);
}

bool Tolerance::has_map() const {
    return map || std::ranges::any_of(all, &Tolerance::has_map) || std::ranges::any_of(any, &Tolerance::has_map);
}

Tolerance read_tolerance(const JsonObject& object, const std::string& key, const Json& value,
                         const SuiteFolders& folders) {
    if (value.is_object() && value.empty())
        object.refuse(key, "is empty", "Omit it for {\"ulp\": 0}, or give a limit.");
    return read_limits(value, fmt::format("{}, '{}'", object.where(), key), folders);
}

}  // namespace texton::verify
