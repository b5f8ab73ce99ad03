#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace texton::bench {

/// The requirement of a comparison.
struct Target {
    enum class Kind {
        none,             ///< no requirement: the result is only printed
        speed_at_least,   ///< minimum of our speed divided by the peer's
        time_at_most,     ///< maximum of our time divided by the peer's
        rate_at_least,    ///< minimum of our own rate in GB/s
        own_time_at_most  ///< maximum of our own time in microseconds
    };
    Kind kind = Kind::none;
    double value = 0;
};

/// Two implementations of the same task. Each function blocks until the task is done and owns the resources that it
/// needs.
struct Sides {
    std::function<void()> ours;
    std::function<void()> peer;
};

/// One row of the table. Each round runs both sides, so that a machine that slows down affects both. The ratio is the
/// median of the ratios of all rounds.
struct Comparison {
    std::string name;
    Target target;
    std::function<Sides()> prepare;  ///< called once, just before the rounds
    double bytes = 0;                ///< bytes read and written by one call, for GB/s; 0: the table shows the time
    double operations = 1;           ///< operations in one call; the table shows the time of one operation
    int rounds = 11;
};

/// Adds a row. May be called from static initializers. Always returns true.
bool add(Comparison comparison);
/// Adds a function that adds rows. It is called in main(), when devices can be queried. Always returns true.
bool add_suite(std::function<void()> suite);

/// Prints a text below the table, for example why a suite cannot run.
void note(std::string text);

}  // namespace texton::bench
