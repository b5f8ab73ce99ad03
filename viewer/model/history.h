#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Sessions that were, and what led from one to the next.
class History {
public:
    /// `before` became something else. Changes with the same tag (not empty), each within a second of the one before, are undone as one.
    void add(const std::string& what, const Session& before, const std::string& tag = {},
             std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

    bool can_undo() const noexcept { return !undo_.empty(); }
    bool can_redo() const noexcept { return !redo_.empty(); }
    std::string undo_words() const { return undo_.empty() ? std::string() : undo_.back().what; }
    std::string redo_words() const { return redo_.empty() ? std::string() : redo_.back().what; }

    /// The session before the last change; `now` is kept for redo. Only where can_undo().
    Session undo(const Session& now);
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
