#pragma once
// The sampling kernels by name: for programs that let people choose one, and what it is to do, while they run.
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

/// Of a parameter: a flag, a number (integers too), one of its choices, text, or a row of numbers.
using ParameterValue = std::variant<bool, double, std::string, std::vector<double>>;

enum class ParameterKind : std::uint8_t { flag, number, integer, choice, text, numbers };

struct ParameterInfo {
    std::string name;
    ParameterKind kind = ParameterKind::number;
    std::string summary;                                       ///< with its unit, without a full stop
    ParameterValue standard{};                                 ///< what it is where nothing is said
    double lowest = -std::numeric_limits<double>::infinity();  ///< of numbers
    double highest = std::numeric_limits<double>::infinity();
    std::vector<std::string> choices{};
    std::size_t count = 0;  ///< of a row of numbers; 0: any
};

/// A texture that a kernel reads.
struct InputInfo {
    std::string name;
    std::string summary;
    std::vector<ArrayKind> kinds{ArrayKind::array_2d};
};

struct KernelInfo {
    std::string name;
    std::string group;    ///< resample, warp, filter, ...
    std::string summary;  ///< one sentence without its full stop
    std::vector<InputInfo> inputs{};
    std::vector<ParameterInfo> parameters{};
};

/// The values of a kernel's parameters, checked.
class Arguments {
public:
    /// What is not named has its standard value. Error{bad_argument} names a parameter that the kernel does not have, a value
    /// of another kind, and one out of its range.
    explicit Arguments(const KernelInfo& kernel, const std::map<std::string, ParameterValue>& values = {});

    bool flag(std::string_view name) const;
    double number(std::string_view name) const;
    int integer(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    const std::vector<double>& numbers(std::string_view name) const;
    /// Which of the choices: an enumeration whose values are in their order.
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

/// A picture that a kernel makes, where nobody wants another size or format.
struct PictureShape {
    Extent extent;
    Format format = Format::rgba8_unorm;
};

struct Kernel {
    KernelInfo info;
    /// One, or a chain, or planes. Sizes and formats are proposals where the kernel takes any.
    std::function<std::vector<PictureShape>(const Arguments& arguments, std::span<const Texture> inputs)> shapes;
    /// As many pictures as shapes() has; the inputs' number and kinds have been checked.
    std::function<void(const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
                       std::span<const Texture> inputs)>
        enqueue;
};

/// All of them, by group and name.
[[nodiscard]] std::span<const Kernel> kernels();
/// Error{bad_argument}, with the names that are like it, if there is none.
[[nodiscard]] const Kernel& kernel_named(std::string_view name);

/// What the kernel makes of the inputs. Error{bad_argument} for inputs of another number or kind than it takes.
[[nodiscard]] std::vector<PictureShape> shapes(const Kernel& kernel, const Arguments& arguments,
                                               std::span<const Texture> inputs);
/// Enqueues it. Errors: those of the kernel's own function, and bad_argument for inputs or pictures of another number or kind.
void enqueue(const Kernel& kernel, const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
             std::span<const Texture> inputs);

}  // namespace texton
