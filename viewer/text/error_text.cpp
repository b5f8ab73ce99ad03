#include "viewer/text/error_text.h"

#include <new>

#include <texton/error.h>

namespace texton::viewer {

std::string error_text(const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "There is not enough memory.";
    if (own == nullptr) return error.what();
    std::string text = own->problem() + (own->remedy().empty() ? "." : ". " + own->remedy());
    if (!own->call().empty())
        text += " [" + own->call() + (own->cuda_name().empty() ? "" : ": " + own->cuda_name()) + "]";
    return text;
}

}  // namespace texton::viewer
