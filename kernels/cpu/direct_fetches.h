#pragma once
// Fetches of functors on the CPU device that are executed at once.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/source.h>

#include "arrays/cpu/single_fetches.h"
#include "arrays/cpu/texture.h"
#include "kernels/cpu/job.h"

namespace texton::detail {

/// The first fetch of a launch that its texture does not have. Thread-safe.
class RefusedFetch {
public:
    struct Fetch {
        std::size_t texture;
        ArrayKind kind;  ///< of the texture that the functor expected
        FetchOperation operation;
        int component;
    };

    void add(const Fetch& fetch) noexcept;
    /// Throws Error{unsupported} if there is such a fetch.
    void throw_if_any(const CpuJob& job) const;

private:
    std::mutex mutex_;
    std::optional<Fetch> first_;
};

/// Executes fetches of one texture of a launch on one thread. Fetches that the texture does not have return zeros.
class DirectFetches {
public:
    /// The job and `refused` must outlive the object.
    DirectFetches(const CpuJob& job, std::size_t texture, RefusedFetch& refused);

    /// Returns true if the texture has this fetch. Otherwise the launch fails when it is complete.
    bool has(ArrayKind kind, FetchOperation operation, int component) const {
        if (has_.has(kind, operation, component)) return true;
        refused_.add({texture_, kind, operation, component});
        return false;
    }
    /// Executes a plain fetch of a 1D, 2D or layered 2D texture.
    Texel plain(ArrayKind kind, float x, float y, std::int32_t layer) const {
        return has(kind, FetchOperation::plain, 0) ? single_.fetch(x, y, layer) : Texel{};
    }
    /// Executes any fetch.
    Texel fetch(ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component) const;
    /// Executes any fetch. `resident` becomes true if all its texels have memory.
    Texel fetch(ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component, bool& resident) const;

    const TextureReader& reader() const noexcept { return reader_; }

private:
    mutable TextureReader reader_;  // records which texels had no memory
    SingleFetches single_;
    const FetchesOfTexture& has_;
    std::size_t texture_;
    RefusedFetch& refused_;
};

}  // namespace texton::detail
