#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include <texton/device.h>
#include <texton/error.h>

namespace texton::test {

/// One way to use Texton wrongly, which must be refused alike on every device.
struct WrongUse {
    std::string_view name;  ///< letters and digits: it becomes the name of a test
    ErrorCode code;
    std::string_view object;  ///< what the Error's object begins with
    std::function<void(const Device&)> run;
    bool memory = false;  ///< a request for too much memory: the numbers must say what was asked for and what is free
};

/// All of them; the parts below are in it.
[[nodiscard]] const std::vector<WrongUse>& wrong_uses();
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_arrays();    ///< and of their views, copies and fills
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_textures();  ///< samplers, sampling and surfaces, too
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_mappings();  ///< tile pools, sparse and deferred arrays

}  // namespace texton::test
