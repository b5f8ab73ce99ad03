#pragma once
#include <texton/read_options.h>

namespace texton::viewer {

/// Returns how the program reads image files. By default, separate processes read them, since a damaged file can end
/// the process that decodes it.
[[nodiscard]] const ReadOptions& file_reading() noexcept;
/// Sets it. Must be called before the program starts threads.
void set_file_reading(const ReadOptions& reading) noexcept;

}  // namespace texton::viewer
