#include "viewer/verify/special_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <texton/metrics.h>

namespace texton::verify {
namespace {

constexpr std::pair<const char*, SpecialRule> kRules[] = {{"equal", SpecialRule::equal},
                                                          {"bits", SpecialRule::bits},
                                                          {"ignore", SpecialRule::ignore},
                                                          {"refuse", SpecialRule::refuse}};

std::optional<SpecialRule> rule_of(const Json& value) {
    if (!value.is_string()) return {};
    const auto* row = std::ranges::find(kRules, value.get_ref<const std::string&>(),
                                        [](const auto& each) { return std::string(each.first); });
    if (row == std::end(kRules)) return {};
    return row->second;
}

std::optional<SpecialRule> read_rule(JsonObject& object, const char* key) {
    const Json* value = object.find(key);
    if (value == nullptr) return {};
    const std::optional<SpecialRule> rule = rule_of(*value);
    if (!rule) object.refuse(key, "is " + json_text(*value), "Give \"equal\", \"bits\", \"ignore\" or \"refuse\".");
    return rule;
}

}  // namespace

SpecialValues read_special(const JsonObject& object, const Json& value) {
    if (const std::optional<SpecialRule> rule = rule_of(value)) {
        const bool of_zero = *rule == SpecialRule::equal || *rule == SpecialRule::bits;
        return {.nan = rule, .infinity = rule, .zero = of_zero ? rule : std::nullopt};
    }
    if (!value.is_object() || value.empty())
        object.refuse("special", "is " + json_text(value),
                      "Give \"equal\", \"bits\", \"ignore\" or \"refuse\", or an object with one of these for 'nan', "
                      "'infinity' and 'zero'.");
    JsonObject rules(value, object.where() + ", 'special'");
    SpecialValues special{
        .nan = read_rule(rules, "nan"), .infinity = read_rule(rules, "infinity"), .zero = read_rule(rules, "zero")};
    if (special.zero == SpecialRule::ignore || special.zero == SpecialRule::refuse)
        rules.refuse("zero", "is " + json_text(value.at("zero")), "Give \"equal\" or \"bits\".");
    rules.refuse_others();
    return special;
}

std::string SpecialProblems::text() const {
    std::string out;
    const auto add = [&out](std::size_t texels, const char* problem) {
        if (texels > 0) out += fmt::format("{}{} texels {}", out.empty() ? "" : ", ", texels, problem);
    };
    add(nans, "contain NaN, which 'special' refuses");
    add(infinities, "contain an infinity, which 'special' refuses");
    add(bits, "have NaN or 0 with other stored bits");
    return out;
}

SpecialProblems apply_rules(const SpecialValues& special, const HostImage& expected, HostImage& actual,
                            std::vector<bool>& excluded, const std::vector<std::size_t>& channels) {
    SpecialProblems problems;
    const FormatInfo& format = info(actual.format);
    if (special.empty() || format.kind != FormatKind::floating) return problems;
    const std::size_t bytes = format.bytes, bytes_of_channel = bytes / format.channels;
    const std::vector<float> values_a = read_channels(expected.view()), values_b = read_channels(actual.view());
    for (std::size_t i = 0; i < values_a.size() / 4; ++i) {
        if (excluded[i]) continue;
        bool is_ignored = false, has_nan = false, has_infinity = false, has_other_bits = false;
        for (const std::size_t c : channels) {
            const float a = values_a[4 * i + c], b = values_b[4 * i + c];
            is_ignored |= std::isnan(a) && special.nan == SpecialRule::ignore;
            is_ignored |= std::isinf(a) && special.infinity == SpecialRule::ignore;
            has_nan |= std::isnan(b) && special.nan == SpecialRule::refuse;
            has_infinity |= std::isinf(b) && special.infinity == SpecialRule::refuse;
            const bool are_nan = std::isnan(a) && std::isnan(b), are_zero = a == 0 && b == 0;
            if (!are_nan && !are_zero) continue;
            const std::optional<SpecialRule> rule = are_nan ? special.nan : special.zero;
            const std::byte* from = &expected.texels[i * bytes + c * bytes_of_channel];
            std::byte* to = &actual.texels[i * bytes + c * bytes_of_channel];
            if (rule == SpecialRule::equal) std::memcpy(to, from, bytes_of_channel);
            has_other_bits |= rule == SpecialRule::bits && std::memcmp(to, from, bytes_of_channel) != 0;
        }
        excluded[i] = is_ignored;
        if (is_ignored) continue;
        problems.nans += has_nan ? 1 : 0;
        problems.infinities += has_infinity ? 1 : 0;
        problems.bits += has_other_bits ? 1 : 0;
    }
    return problems;
}

}  // namespace texton::verify
