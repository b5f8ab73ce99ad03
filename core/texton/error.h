#pragma once
// The exception that all functions of Texton throw.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace texton {

/// Kind of an error. It is the same on every device.
enum class ErrorCode {
    bad_argument,    ///< null, zero, or an invalid value or combination
    out_of_bounds,   ///< a region, offset or count reaches beyond the end
    overflow,        ///< a size does not fit in 64 bits or exceeds a limit of the device
    overlap,         ///< two images of a call share bytes or texels, or other memory is mapped there
    released,        ///< the object is empty (default-constructed, moved from), or its memory was freed or unmapped
    wrong_device,    ///< the object belongs to another device than required
    wrong_location,  ///< the operation does not accept this kind of memory location
    not_mapped,      ///< a sparse or deferred array has no memory there
    not_registered,  ///< the device does not know the pointer, the whole range or the symbol
    out_of_memory,   ///< too little memory; numbers() contains the requested and the free bytes
    unsupported,     ///< the device or driver does not support this
    not_permitted,   ///< the object was created without this permission, or the system forbids it
    capturing,       ///< not possible while a stream is being captured into a graph
    device_failure,  ///< the driver failed: see call() and cuda_name()
    device_lost,     ///< CUDA is unusable for the rest of the process, since the failure of call()
    io               ///< a file could not be read or written
};

/// Returns the name of the enumerator, for example "bad_argument".
[[nodiscard]] std::string_view name(ErrorCode code) noexcept;

/// A named number of an error, for example {"width", 0}.
using ErrorNumber = std::pair<std::string, std::uint64_t>;

/// The parts of an Error.
struct ErrorParts {
    ErrorCode code = ErrorCode::bad_argument;  ///< kind of the error
    std::string object{};                      ///< class or function that was called, for example "texton::Pitched2D"
    std::string problem{};               ///< what was asked and what stands in the way: a clause without a full stop
    std::string remedy{};                ///< what to do: full sentences; can be empty
    std::vector<ErrorNumber> numbers{};  ///< the numbers of the message
    std::string call{};                  ///< the CUDA function that failed; empty if no driver call failed
    std::string cuda_name{};             ///< for example "cudaErrorMemoryAllocation"; empty if no driver call failed
};

/// The exception of all functions of Texton. what() returns `object: problem. remedy [call: cuda_name]`.
class Error : public std::runtime_error {
public:
    /// Creates an error and composes the text of what().
    explicit Error(ErrorParts parts);

    ErrorCode code() const noexcept { return parts_.code; }                 ///< Returns the kind of the error.
    const std::string& object() const noexcept { return parts_.object; }    ///< Returns the class or function.
    const std::string& problem() const noexcept { return parts_.problem; }  ///< Returns what went wrong.
    const std::string& remedy() const noexcept { return parts_.remedy; }    ///< Returns what to do. Can be empty.
    const std::vector<ErrorNumber>& numbers() const noexcept { return parts_.numbers; }  ///< Returns the numbers.
    /// Returns the CUDA function that failed. Empty if no driver call failed.
    const std::string& call() const noexcept { return parts_.call; }
    /// Returns the name of the CUDA error code. Empty if no driver call failed.
    const std::string& cuda_name() const noexcept { return parts_.cuda_name; }

private:
    ErrorParts parts_;
};

}  // namespace texton
