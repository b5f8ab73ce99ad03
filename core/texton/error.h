#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace texton {

/// What kind of mistake or failure an Error reports: the same on every device.
enum class ErrorCode {
    bad_argument,    ///< null, zero, a flag or a combination that means nothing
    out_of_bounds,   ///< a region, offset or count that reaches past the end
    overflow,        ///< sizes whose product does not fit in 64 bits or in the device's limit
    overlap,         ///< source and destination share bytes
    released,        ///< the object was moved from, freed or never made
    wrong_device,    ///< the object lives on another device than the one needed
    wrong_location,  ///< a memory location of a type that the operation does not take
    not_mapped,      ///< a sparse or deferred array has no memory there
    not_registered,  ///< a pointer, range or symbol that the device does not know
    out_of_memory,   ///< numbers() says what was asked for and what is free
    unsupported,     ///< this device or driver cannot do it
    not_permitted,   ///< the object was not made for it, or the system forbids it
    capturing,       ///< not possible while a stream is being captured into a graph
    device_failure,  ///< the driver failed: call() and cuda_name() say where and how
    io               ///< a file could not be read or written
};

[[nodiscard]] std::string_view name(ErrorCode code) noexcept;

/// A number that belongs to an error, with its name: {"width", 0}.
using ErrorNumber = std::pair<std::string, std::uint64_t>;

/// The parts an Error is made of. `problem` says what was asked and what stands in the way; `remedy` what to do.
struct ErrorParts {
    ErrorCode code = ErrorCode::bad_argument;
    std::string object{};   ///< the class or function asked, such as "texton::Pitched2D"
    std::string problem{};  ///< one sentence without its full stop
    std::string remedy{};   ///< one sentence with its full stop; may be empty
    std::vector<ErrorNumber> numbers{};
    std::string call{};       ///< the CUDA function that failed; empty if no driver saw the request
    std::string cuda_name{};  ///< such as "cudaErrorMemoryAllocation"; empty if no driver saw the request
};

/// The one exception of Texton. what() reads: `object: problem. remedy [call: cuda_name]`.
class Error : public std::runtime_error {
public:
    explicit Error(ErrorParts parts);

    ErrorCode code() const noexcept { return parts_.code; }
    const std::string& object() const noexcept { return parts_.object; }
    const std::string& problem() const noexcept { return parts_.problem; }
    const std::string& remedy() const noexcept { return parts_.remedy; }
    const std::vector<ErrorNumber>& numbers() const noexcept { return parts_.numbers; }
    const std::string& call() const noexcept { return parts_.call; }
    const std::string& cuda_name() const noexcept { return parts_.cuda_name; }

private:
    ErrorParts parts_;
};

}  // namespace texton
