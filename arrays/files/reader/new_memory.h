#pragma once

namespace texton::reader {

/// From now on, `new` returns memory that is zero. Decoders return memory that they have not written, if a file is
/// damaged in a way that they do not notice: without this, texels would contain addresses, or parts of other files.
void zero_new_memory() noexcept;

}  // namespace texton::reader
