#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace texton::bench {

/// What a comparison must reach.
struct Target {
    enum class Kind {
        none,            ///< only shown
        speed_at_least,  ///< our speed / the peer's
        time_at_most,    ///< our time / the peer's
        rate_at_least    ///< our own GB/s
    };
    Kind kind = Kind::none;
    double value = 0;
};

/// Two ways to do one thing. Each returns when it is done, and owns what it needs.
struct Sides {
    std::function<void()> ours;
    std::function<void()> peer;
};

/// One row of the table. The sides take turns in one loop, so that a machine that slows down slows both; the ratio is the
/// median of the rounds'.
struct Comparison {
    std::string name;
    Target target;
    std::function<Sides()> prepare;  ///< called once, just before the rounds
    double bytes = 0;                ///< moved by one call, read or written: shown as GB/s; 0: the time is shown
    double operations = 1;           ///< of one call: the time shown is that of one
    int rounds = 11;
};

/// Adds a row; from static initialisers, too.
bool add(Comparison comparison);
/// Adds a function that adds rows when the program starts, once the devices can be asked.
bool add_suite(std::function<void()> suite);

/// For a suite that cannot run: printed below the table.
void note(std::string text);

}  // namespace texton::bench
