#include "arrays/sampling.h"

namespace texton::detail {

std::unique_ptr<Sampling> make_cuda_sampling(Backend& /*backend*/) { return nullptr; }

}  // namespace texton::detail
