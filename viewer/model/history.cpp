#include "viewer/model/history.h"

#include <utility>

namespace texton::viewer {

void History::add(const std::string& what, const Session& before, const std::string& tag,
                  std::chrono::steady_clock::time_point now) {
    constexpr std::size_t kMax = 500;
    const bool continues = !tag.empty() && tag == tag_ && now - last_ < std::chrono::seconds(1) && !undo_.empty();
    if (!continues) undo_.push_back({what, before});
    if (undo_.size() > kMax) undo_.erase(undo_.begin());
    redo_.clear();
    tag_ = tag;
    last_ = now;
}

Session History::undo(const Session& now) {
    Step step = std::move(undo_.back());
    undo_.pop_back();
    redo_.push_back({step.what, now});
    tag_.clear();
    return std::move(step.session);
}

Session History::redo(const Session& now) {
    Step step = std::move(redo_.back());
    redo_.pop_back();
    undo_.push_back({step.what, now});
    tag_.clear();
    return std::move(step.session);
}

}  // namespace texton::viewer
