#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include <texton/device.h>
#include <texton/error.h>

namespace texton::test {

/// One wrong use of Texton that every device must reject in the same way.
struct WrongUse {
    std::string_view name;  ///< letters and digits, because it becomes the name of a test
    ErrorCode code;
    std::string_view object;  ///< beginning of the Error's object
    std::function<void(const Device&)> run;
    bool memory =
        false;  ///< true if the request needs too much memory: the Error must give the requested and the free bytes
};

/// All wrong uses, including those of the functions below.
[[nodiscard]] const std::vector<WrongUse>& wrong_uses();
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_arrays();    ///< arrays and their views, copies and fills
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_textures();  ///< textures, samplers, sampling and surfaces
[[nodiscard]] std::vector<WrongUse> wrong_uses_of_mappings();  ///< tile pools, sparse and deferred arrays

}  // namespace texton::test
