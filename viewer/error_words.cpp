#include "viewer/error_words.h"

#include <texton/error.h>

namespace texton::viewer {

std::string error_words(const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    if (own == nullptr) return error.what();
    return own->problem() + (own->remedy().empty() ? "." : ". " + own->remedy());
}

}  // namespace texton::viewer
