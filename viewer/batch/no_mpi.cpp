// In place of mpi.cpp in a build without MPI.
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/batch/ranks.h"

namespace texton::batch {

std::unique_ptr<Ranks> join_ranks(std::size_t /*workers*/) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        const char* const ranks = std::getenv(name);
        if (ranks == nullptr || std::string(ranks) == "1") continue;
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton",
                     .problem = fmt::format("MPI started it {} times, but Texton was built without MPI, so that each "
                                            "process would do the whole work",
                                            ranks),
                     .remedy =
                         "Build Texton with TEXTON_MPI=ON, or start one process. `texton batch --shard` gives each "
                         "of several processes a part of a batch."});
    }
    return nullptr;
}

}  // namespace texton::batch
