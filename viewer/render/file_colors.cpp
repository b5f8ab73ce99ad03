#include "viewer/render/file_colors.h"

#include <map>
#include <mutex>

#include <texton/format.h>

#include "arrays/files/byte_list.h"
#include "viewer/model/document.h"
#include "viewer/render/icc_profile.h"

namespace texton::viewer {
namespace {

// Returns the same profile for the same text, so that each tile need not convert it.
std::shared_ptr<const IccProfile> profile_in(const std::string& text) {
    constexpr std::size_t kMaxEntries = 16;
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const IccProfile>> profiles;
    const std::lock_guard lock(mutex);
    if (const auto found = profiles.find(text); found != profiles.end()) return found->second;
    if (profiles.size() >= kMaxEntries) profiles.clear();
    return profiles[text] = std::make_shared<const IccProfile>(detail::bytes_in(text));
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
