// Chooses combinations one by one. Each contains the first pair that does not occur yet; its other values are those that
// add the most new pairs with the values chosen before, and of these the one that was chosen least often.
#include "viewer/verify/pairs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace texton::verify {
namespace {

// The pairs that occur. A value is a number: values of the first axis come first, then those of the second.
class Pairs {
public:
    explicit Pairs(std::span<const std::size_t> sizes) : sizes_(sizes) {
        for (const std::size_t size : sizes) {
            first_.push_back(values_);
            values_ += size;
        }
        occurs_.resize(values_ * values_);
        uses_.resize(values_);
    }

    bool occurs(std::size_t axis, std::size_t value, std::size_t other_axis, std::size_t other) const {
        return occurs_[(first_[axis] + value) * values_ + first_[other_axis] + other];
    }
    std::size_t uses(std::size_t axis, std::size_t value) const { return uses_[first_[axis] + value]; }

    void add(const std::vector<std::size_t>& values) {
        for (std::size_t a = 0; a < values.size(); ++a) {
            ++uses_[first_[a] + values[a]];
            for (std::size_t b = 0; b < values.size(); ++b)
                occurs_[(first_[a] + values[a]) * values_ + first_[b] + values[b]] = true;
        }
    }

    // Returns a combination in which only the values of the first missing pair are set, or nothing if no pair is
    // missing. The search continues where the last one ended, because pairs never disappear.
    std::optional<std::vector<std::optional<std::size_t>>> first_missing() {
        for (; axis_ + 1 < sizes_.size(); ++axis_, other_ = axis_ + 1) {
            for (; other_ < sizes_.size(); ++other_) {
                for (std::size_t value = 0; value < sizes_[axis_]; ++value) {
                    for (std::size_t other = 0; other < sizes_[other_]; ++other) {
                        if (occurs(axis_, value, other_, other)) continue;
                        std::vector<std::optional<std::size_t>> chosen(sizes_.size());
                        chosen[axis_] = value;
                        chosen[other_] = other;
                        return chosen;
                    }
                }
            }
        }
        return {};
    }

private:
    std::span<const std::size_t> sizes_;
    std::vector<std::size_t> first_;  // number of the first value of each axis
    std::size_t values_ = 0;
    std::vector<bool> occurs_;
    std::vector<std::size_t> uses_;
    std::size_t axis_ = 0, other_ = 1;  // of the missing pair
};

// Returns the best value of an axis for a combination of which some values are chosen.
std::size_t best_value(const Pairs& pairs, std::size_t axis, std::size_t size,
                       const std::vector<std::optional<std::size_t>>& chosen) {
    std::size_t best = 0;
    std::pair<std::size_t, std::size_t> best_rank{0, 0};  // new pairs, and how seldom the value was chosen
    for (std::size_t value = 0; value < size; ++value) {
        std::size_t added = 0;
        for (std::size_t other = 0; other < chosen.size(); ++other)
            if (chosen[other] && !pairs.occurs(axis, value, other, *chosen[other])) ++added;
        const std::pair rank{added, ~pairs.uses(axis, value)};
        if (value != 0 && rank <= best_rank) continue;
        best = value;
        best_rank = rank;
    }
    return best;
}

}  // namespace

std::vector<bool> covering_combinations(std::span<const std::size_t> sizes) {
    std::size_t count = 1;
    for (const std::size_t size : sizes) count *= size;
    if (sizes.size() < 2) return std::vector<bool>(count, true);
    std::vector<bool> out(count);
    Pairs pairs(sizes);
    for (auto chosen = pairs.first_missing(); chosen; chosen = pairs.first_missing()) {
        std::vector<std::size_t> values(sizes.size());
        std::size_t index = 0;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
            if (!(*chosen)[axis]) (*chosen)[axis] = best_value(pairs, axis, sizes[axis], *chosen);
            values[axis] = *(*chosen)[axis];
            index = index * sizes[axis] + values[axis];
        }
        pairs.add(values);
        out[index] = true;
    }
    return out;
}

}  // namespace texton::verify
