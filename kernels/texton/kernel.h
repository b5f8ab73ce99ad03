#pragma once
// The sampling kernels by name, for programs whose users choose a kernel and its parameters at run time.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <texton/array_info.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// The value of a parameter: bool for a flag, double for a number or an integer, a string for a choice or text, or a
/// list of numbers.
using ParameterValue = std::variant<bool, double, std::string, std::vector<double>>;

/// Kind of a parameter.
enum class ParameterKind : std::uint8_t {
    flag,     ///< true or false
    number,   ///< a number
    integer,  ///< a whole number
    choice,   ///< the name of one of the parameter's choices
    text,     ///< any text
    numbers   ///< a list of numbers
};

/// Description of a parameter.
struct ParameterInfo {
    std::string name;                                          ///< key of the parameter
    ParameterKind kind = ParameterKind::number;                ///< kind of its values
    std::string summary;                                       ///< description with the unit, without a full stop
    ParameterValue standard{};                                 ///< default value
    double lowest = -std::numeric_limits<double>::infinity();  ///< minimum of each number
    double highest = std::numeric_limits<double>::infinity();  ///< maximum of each number
    std::vector<std::string> choices{};                        ///< names of the choices, for ParameterKind::choice
    std::size_t count = 0;  ///< length of the list, for ParameterKind::numbers; 0: any length
};

/// Description of a texture that a kernel reads.
struct InputInfo {
    std::string name;                                   ///< key of the input
    std::string summary;                                ///< description, without a full stop
    std::vector<ArrayKind> kinds{ArrayKind::array_2d};  ///< the kinds of texture that the kernel accepts
};

/// Description of a kernel.
struct KernelInfo {
    std::string name;                         ///< key of the kernel
    std::string group;                        ///< group of related kernels: resample, warp, filter, ...
    std::string summary;                      ///< one sentence without a full stop
    std::vector<InputInfo> inputs{};          ///< the textures that it reads, in order
    std::vector<ParameterInfo> parameters{};  ///< its parameters
};

/// The checked values of a kernel's parameters. Refers to the KernelInfo, which must outlive it; kernels() returns
/// objects that are never destroyed. Threads may share a constant object.
class Arguments {
public:
    /// Checks the values. A parameter that is not in `values` has its default value.
    ///
    /// Throws Error{bad_argument} if the kernel has no parameter of a name, if a value has the wrong kind, or if it is
    /// out of its range.
    explicit Arguments(const KernelInfo& kernel, const std::map<std::string, ParameterValue>& values = {});

    /// Returns the value of a flag. All accessors throw Error{bad_argument} if the kernel has no parameter of this
    /// name, if the parameter is of another kind, or if the value does not fit the returned type. Returned references
    /// are valid as long as this object.
    bool flag(std::string_view name) const;
    double number(std::string_view name) const;                       ///< Returns the value of a number.
    int integer(std::string_view name) const;                         ///< Returns the value of an integer.
    const std::string& text(std::string_view name) const;             ///< Returns a text or a choice's name.
    const std::vector<double>& numbers(std::string_view name) const;  ///< Returns a list of numbers.
    /// Returns the selected choice as an enumerator. The enumerators must be in the order of the choices, from 0.
    template <class Choice>
    Choice choice(std::string_view name) const {
        return static_cast<Choice>(choice_index(name));
    }

private:
    std::size_t choice_index(std::string_view name) const;
    const ParameterValue& value(std::string_view name) const;

    const KernelInfo* kernel_;
    std::map<std::string, ParameterValue, std::less<>> values_;
};

/// The extent and the format of an image that a kernel writes. The caller may choose others where the kernel accepts
/// them.
struct ImageShape {
    Extent extent;                        ///< width, height and number of slices
    Format format = Format::rgba8_unorm;  ///< format of the pixels
};

/// A kernel with its description. Prefer the free functions shapes() and enqueue(), which check their arguments.
/// Threads may share a constant object.
struct Kernel {
    KernelInfo info;  ///< name, inputs and parameters
    /// Returns the shapes of the images that the kernel writes: one image, the levels of a chain, or planes. Extents
    /// and formats are proposals if the kernel accepts any. The inputs' number and kinds must have been checked.
    std::function<std::vector<ImageShape>(const Arguments& arguments, std::span<const Texture> inputs)> shapes;
    /// Enqueues the kernel. There must be as many images as `shapes` returns, and the inputs' number and kinds must
    /// have been checked.
    std::function<void(const Stream& stream, std::span<const View> images, const Arguments& arguments,
                       std::span<const Texture> inputs)>
        enqueue;
};

/// Returns all kernels, sorted by group and name. The first call creates the list, which lives until the program ends.
/// Several threads may call this function at once.
[[nodiscard]] std::span<const Kernel> kernels();
/// Returns the kernel with this name, an element of kernels(). If there is none, throws Error{bad_argument} that lists
/// kernels with similar names. Several threads may call this function at once.
[[nodiscard]] const Kernel& kernel_named(std::string_view name);

/// Returns the shapes of the images that the kernel writes for these inputs. Throws Error{bad_argument} if the number
/// or a kind of the inputs does not match. Several threads may call this function at once.
[[nodiscard]] std::vector<ImageShape> shapes(const Kernel& kernel, const Arguments& arguments,
                                             std::span<const Texture> inputs);
/// Enqueues the kernel on the stream and returns without waiting. The caller must keep the memory of the images, the
/// memory that the inputs read, and inputs of memory that Texton does not own until the work is done. Several threads
/// may call this function at once.
///
/// Throws Error{bad_argument} if the number of images or the number or a kind of the inputs does not match; then
/// nothing was enqueued. Also throws the errors of the kernel's own function, such as resample() for the kernel
/// "resample". A kernel that writes several images may have enqueued some of them.
void enqueue(const Kernel& kernel, const Stream& stream, std::span<const View> images, const Arguments& arguments,
             std::span<const Texture> inputs);

}  // namespace texton
