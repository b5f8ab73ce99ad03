#include "viewer/render/file_colors.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <string_view>

#include <texton/format.h>

#include "viewer/model/document.h"
#include "viewer/render/icc_profile.h"

namespace texton::viewer {
namespace {

// Returns the bytes of a text like "0, 17, 255".
IccProfile bytes_in(std::string_view text) {
    IccProfile bytes;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        std::uint8_t byte = 0;
        const auto [next, error] = std::from_chars(at, end, byte);
        if (error != std::errc()) return {};
        bytes.push_back(byte);
        at = std::find_if(next, end, [](char c) { return c != ',' && c != ' '; });
    }
    return bytes;
}

// Returns the same profile for the same text, so that each tile need not convert it.
std::shared_ptr<const IccProfile> profile_in(const std::string& text) {
    constexpr std::size_t kMaxEntries = 16;
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const IccProfile>> profiles;
    const std::lock_guard lock(mutex);
    if (const auto found = profiles.find(text); found != profiles.end()) return found->second;
    if (profiles.size() >= kMaxEntries) profiles.clear();
    return profiles[text] = std::make_shared<const IccProfile>(bytes_in(text));
}

}  // namespace

FileColors file_colors(const Document& document) {
    FileColors colors;
    colors.decoded = info(document.whole().format).kind == FormatKind::srgb;
    for (const ImageAttribute& attribute : document.file().metadata().attributes)
        if (attribute.name == "ICCProfile") colors.profile = profile_in(attribute.value);
    return colors;
}

std::string profile_problem(const IccProfile& profile) {
    std::string problem;
    (void)rgb_profile(profile, problem);
    return problem;
}

}  // namespace texton::viewer
