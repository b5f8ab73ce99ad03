#pragma once
// Cancellation of work whose result nobody needs any more.
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include <texton/image_file.h>

namespace texton::viewer {

/// Tells a job that nobody needs its result any more: canceled() becomes true and stays true.
///
/// Copies share their state, so the owner of a job cancels it through its own copy. All functions are thread-safe.
class CancellationToken {
public:
    CancellationToken() = default;
    /// Creates a token that is also canceled while `condition` returns true.
    explicit CancellationToken(std::function<bool()> condition) : condition_(std::move(condition)) {}

    [[nodiscard]] bool canceled() const { return *canceled_ || (condition_ && condition_()); }
    void cancel() noexcept { *canceled_ = true; }

private:
    std::shared_ptr<std::atomic<bool>> canceled_ = std::make_shared<std::atomic<bool>>(false);
    std::function<bool()> condition_;
};

/// Throws Canceled, with the code of Canceled in texton::io, if the token is canceled.
inline void throw_if_canceled(const CancellationToken& token) {
    if (!token.canceled()) return;
    throw Canceled({.code = ErrorCode::io,
                    .object = "texton-view",
                    .problem = "the work was stopped before its end",
                    .remedy = "Start it again."});
}

}  // namespace texton::viewer
