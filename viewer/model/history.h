#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Undo and redo stack of sessions. Not thread-safe.
class History {
public:
    /// Adds a change. `what` describes it, and `before` is the session before it. Changes with the same tag that follow
    /// each other within a second are undone together, unless the tag is empty. Removes all redo steps. The number of
    /// undo steps is limited to 500.
    void add(const std::string& what, const Session& before, const std::string& tag = {},
             std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

    bool can_undo() const noexcept { return !undo_.empty(); }  ///< Returns true if a change can be undone.
    bool can_redo() const noexcept { return !redo_.empty(); }  ///< Returns true if a change can be redone.
    /// Returns the number of changes that can be undone.
    std::size_t steps() const noexcept { return undo_.size(); }
    /// Returns the description of the change that undo() reverts, or an empty text.
    std::string undo_text() const { return undo_.empty() ? std::string() : undo_.back().what; }
    /// Returns the description of the change that redo() repeats, or an empty text.
    std::string redo_text() const { return redo_.empty() ? std::string() : redo_.back().what; }

    /// Returns the session before the last change and stores `now` for redo(). Precondition: can_undo().
    Session undo(const Session& now);
    /// Returns the session after the change that was undone last and stores `now` for undo(). Precondition: can_redo().
    Session redo(const Session& now);

private:
    struct Step {
        std::string what;
        Session session;
    };

    std::vector<Step> undo_;
    std::vector<Step> redo_;
    std::string tag_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace texton::viewer
