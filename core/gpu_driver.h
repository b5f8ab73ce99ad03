#pragma once

namespace texton::detail {

/// Returns whether there may be a CUDA device: CUDA was built, and the machine has a driver whose devices are not hidden
/// with CUDA_VISIBLE_DEVICES. Does not initialize CUDA, which takes long.
[[nodiscard]] bool may_have_cuda_device() noexcept;

}  // namespace texton::detail
