#pragma once
// The life cycle of a DeferredArray, run step by step by the user.
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

/// The operations of a DeferredArray that the panel offers.
enum class DeferredStep : std::uint8_t {
    create,        ///< create the array, without memory
    requirements,  ///< query the memory requirements
    back,          ///< map the array to new memory, with undefined contents
    upload,        ///< copy the image's texels to the array
    sample,        ///< sample the center of the array
    move,          ///< map the array to other memory and keep its texels
    unmap          ///< remove the memory
};

inline constexpr std::array kDeferredSteps{DeferredStep::create, DeferredStep::requirements, DeferredStep::back,
                                           DeferredStep::upload, DeferredStep::sample,       DeferredStep::move,
                                           DeferredStep::unmap};

[[nodiscard]] std::string_view name(DeferredStep step) noexcept;

/// A DeferredArray with the info of an image's array, and a log of the steps that were run on it.
///
/// Steps block until the device has finished. The object keeps the image's array alive. It is not thread-safe.
class DeferredSteps {
public:
    /// Log entry of a step.
    struct Done {
        DeferredStep step;
        std::string text;  ///< the result, or the reason of the failure
        bool failed = false;
    };

    /// Creates a tile pool and a stream on the image's device. Throws the errors of TilePool and Stream.
    explicit DeferredSteps(Array image);

    /// Returns the reason why the step is not possible now, or an empty string if it is. Without memory, the reason is
    /// the message of the library's error.
    std::string obstacle(DeferredStep step) const;
    /// Runs the step and adds an entry to log(). Returns false if the step failed, or if obstacle() gives a reason; in
    /// the second case nothing else changes. Exceptions of type Error are logged, not thrown.
    bool run(DeferredStep step);
    const std::vector<Done>& log() const noexcept { return log_; }
    bool mapped() const { return array_ && array_->mapped(); }

private:
    std::string done(DeferredStep step);

    Tiles tiles() const;
    std::string upload();
    std::string sample() const;

    Array image_;
    TilePool pool_;
    Stream stream_;
    std::unique_ptr<DeferredArray> array_;
    std::optional<MemoryRequirements> requirements_;
    bool holds_image_ = false;
    std::vector<Done> log_;
};

}  // namespace texton::viewer
