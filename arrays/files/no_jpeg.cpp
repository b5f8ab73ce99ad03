#include "arrays/files/reduced_jpeg.h"

// In builds without libjpeg, open_reduced() throws before it calls reduce_jpeg().

namespace texton::detail {

bool has_libjpeg() noexcept { return false; }
unsigned reduce_jpeg(const std::filesystem::path&, Extent, OpenedImage&) { return 1; }

}  // namespace texton::detail
