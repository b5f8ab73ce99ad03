#pragma once
// Several processes (ranks) that mpirun starts with the same command share its work: a batch, or one large image. The
// first rank runs the command and writes the journal. All ranks start workers for it. Only mpi.cpp calls MPI.
#include <cstddef>
#include <memory>

#include "viewer/batch/worker_process.h"
#include "viewer/model/json_object.h"

namespace texton::batch {

/// The ranks as one of them sees them. The destructor waits for the end of all ranks.
class Ranks {
public:
    virtual ~Ranks() = default;
    /// Whether this process runs the command.
    [[nodiscard]] virtual bool is_first() const noexcept = 0;
    /// Starts workers for the first rank until that one destroys its object. For the other ranks only.
    virtual void serve() = 0;
};

/// Joins the ranks that were started with this process. `workers` is the number of workers of this rank; 0 is as many as
/// there are processors. Returns null if this process is the only one. Throws Error{unsupported} if there are others, but
/// Texton was built without MPI.
[[nodiscard]] std::unique_ptr<Ranks> join_ranks(std::size_t workers);

/// Workers of several ranks, for the command of the first one.
class RankWorkers {
public:
    virtual ~RankWorkers() = default;
    /// Returns the number of workers on all ranks.
    [[nodiscard]] virtual std::size_t count() const noexcept = 0;
    /// Returns the position of a worker among those of its rank.
    [[nodiscard]] virtual std::size_t index_on_rank(std::size_t index) const = 0;
    /// Starts the worker with an index below count(). Returns null if it is a worker of this process.
    [[nodiscard]] virtual std::unique_ptr<WorkerProcess> start(std::size_t index, const verify::Json& work) = 0;
};

/// Used by the command of this process. Null: there are no other ranks.
inline RankWorkers* rank_workers = nullptr;

}  // namespace texton::batch
