#include "arrays/sampling.h"

#include <map>
#include <mutex>

namespace texton::detail {

Sampling& sampling(Backend& backend) {
    static std::mutex mutex;
    static auto& made = *new std::map<Backend*, std::unique_ptr<Sampling>>;  // never destroyed, like devices
    const std::lock_guard lock(mutex);
    std::unique_ptr<Sampling>& own = made[&backend];
    if (own == nullptr) {
        own = backend.properties().kind == DeviceKind::cpu ? make_cpu_sampling(backend) : make_cuda_sampling(backend);
    }
    return *own;
}

}  // namespace texton::detail
