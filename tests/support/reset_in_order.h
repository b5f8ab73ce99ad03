#pragma once
// Destruction of several objects in any order.
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace texton::test {

/// Destroys the objects in an order that the number selects. The numbers below the factorial of the count of objects
/// select different orders.
template <class... Objects>
void reset_in_order(std::size_t number, std::optional<Objects>&... objects) {
    std::vector<std::function<void()>> left{[&objects] { objects.reset(); }...};
    while (!left.empty()) {
        const auto next = left.begin() + static_cast<std::ptrdiff_t>(number % left.size());
        number /= left.size();
        (*next)();
        left.erase(next);
    }
}

}  // namespace texton::test
