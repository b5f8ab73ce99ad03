#include "viewer/text/error_text.h"

#include <new>
#include <string_view>
#include <utility>

#include <texton/error.h>

namespace texton::viewer {

// See reading_options.h and viewer/cli/image_options.h.
std::string with_option_names(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
        {"ReadLimits::seconds", "--read-seconds"},
        {"ReadLimits::bytes", "--read-memory"},
        {"SavedAlpha::dropped", "--drop-alpha"},
        {"ImageOptions::channels", "--channels"},
        {"ImageOptions::levels = ", "--levels "},
        {"ImageOptions::raw = ", "--raw "},
        {"ImageOptions::format = ", "--format "},
        {"ImageOptions::kind = ", "--kind "},
        {"ImageOptions::layer", "--layer"},
        {"ImageOptions::face", "--face"},
        {"save each plane to its own file", "write each plane with --plane"},
        {"with to_rgb()", "with `texton run to_rgb`"},
        {"with from_rgb()", "with `texton run from_rgb`"}};
    for (const auto& [name, option] : kOptions) {
        if (const std::size_t at = text.find(name); at != std::string::npos) text.replace(at, name.size(), option);
    }
    return text;
}

std::string error_text(const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "There is not enough memory.";
    if (own == nullptr) return error.what();
    const std::string remedy = with_option_names(own->remedy());
    std::string text = own->problem() + (remedy.empty() ? "." : ". " + remedy);
    if (!own->call().empty())
        text += " [" + own->call() + (own->cuda_name().empty() ? "" : ": " + own->cuda_name()) + "]";
    return text;
}

}  // namespace texton::viewer
