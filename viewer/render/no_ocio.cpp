// Replaces ocio.cpp in builds without OpenColorIO.
#include <texton/error.h>

#include "viewer/render/color_transform.h"

namespace texton::viewer {
namespace {

[[noreturn]] void refuse() {
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::viewer::ColorConversion",
                 .problem = "this program was built without OpenColorIO, so it has no color management",
                 .remedy = "Install OpenColorIO (Debian: libopencolorio-dev) and build with -DTEXTON_COLOR=ON."});
}

}  // namespace

bool has_color_management() { return false; }

std::shared_ptr<const ColorTransform> color_transform(const ColorConversion& color, const FileColors&) {
    if (color.input.empty()) return nullptr;
    refuse();
}

ColorNames color_names(const ColorConversion&) { refuse(); }

}  // namespace texton::viewer
