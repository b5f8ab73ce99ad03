// The operations of texton-fault-tests.
#include "tests/faults/operations.h"

namespace texton::test {

std::vector<std::string> covered_folders() { return {"core/texton", "arrays/texton", "kernels/texton"}; }

std::vector<Operation> all_operations() {
    std::vector<Operation> all;
    for (const auto& part : {memory_operations, work_operations, exchange_operations, array_operations,
                             mapping_operations, kernel_operations, launch_operations}) {
        for (Operation& each : part()) all.push_back(std::move(each));
    }
    return all;
}

}  // namespace texton::test
