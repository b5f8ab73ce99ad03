#pragma once
// The life of an array whose memory comes later, step by step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/deferred_array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

namespace texton::viewer {

enum class DeferredStep : std::uint8_t { create, requirements, back, upload, sample, move, unmap };

inline constexpr std::array kDeferredSteps{DeferredStep::create, DeferredStep::requirements, DeferredStep::back,
                                           DeferredStep::upload, DeferredStep::sample,       DeferredStep::move,
                                           DeferredStep::unmap};

[[nodiscard]] std::string_view name(DeferredStep step) noexcept;

/// A DeferredArray like a picture's array, led by a person.
class DeferredSteps {
public:
    struct Done {
        DeferredStep step;
        std::string words;  ///< what it returned, or why it failed
        bool failed = false;
    };

    explicit DeferredSteps(Array picture);

    /// Why the step cannot be done now, in the words of what the library refuses it with; empty if it can.
    std::string obstacle(DeferredStep step) const;
    /// Does it, and adds a line to log(): of a step that fails too, which changes nothing. True if it was done.
    bool run(DeferredStep step);
    const std::vector<Done>& log() const noexcept { return log_; }
    bool mapped() const { return array_ && array_->mapped(); }

private:
    std::string done(DeferredStep step);

    Tiles tiles() const;
    std::string upload();
    std::string sample() const;

    Array picture_;
    TilePool pool_;
    Stream stream_;
    std::unique_ptr<DeferredArray> array_;
    std::optional<MemoryRequirements> requirements_;
    bool holds_picture_ = false;
    std::vector<Done> log_;
};

}  // namespace texton::viewer
