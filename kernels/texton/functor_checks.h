#pragma once
// Finds out why launch() cannot call a functor, so that the first message of the compiler says it in words.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <texton/float4.h>
#include <texton/pixel.h>

namespace texton::detail {

/// Why launch() cannot call a functor.
enum class FunctorProblem : std::uint8_t {
    none,
    no_call,           ///< there is no operator()
    function,          ///< nvcc: a function or a pointer to one
    lambda,            ///< nvcc: a lambda
    not_plain,         ///< nvcc: not trivially copyable
    not_const,         ///< operator() is not const
    other_count,       ///< operator() takes another number of sources
    other_parameters,  ///< operator() takes parameters of other types
    other_result       ///< operator() returns neither something that converts to Float4 nor, for runs, a PixelRun
};

/// Returns true if T is the type of a lambda expression, or has one as a template argument. The language has no trait
/// for it, but all compilers write it into the name of this function.
template <class T>
constexpr bool is_lambda() {
    const std::string_view name = __PRETTY_FUNCTION__;
    for (const std::string_view part : {"<lambda", "lambda [", "(lambda at "}) {
        if (name.find(part) != std::string_view::npos) return true;
    }
    return false;
}

struct OtherCallOperator {
    void operator()() const;
};
template <class Functor>
struct WithOtherCallOperator : Functor, OtherCallOperator {};

/// Returns true if a type has an operator(), also as a template: a second one in another base is ambiguous then.
/// Returns true for final classes, of which this cannot be tested.
template <class Functor>
constexpr bool has_call_operator() {
    if constexpr (std::is_class_v<Functor> && !std::is_final_v<Functor>) {
        return !requires { &WithOtherCallOperator<Functor>::operator(); };
    } else {
        return std::is_function_v<std::remove_pointer_t<Functor>> || std::is_class_v<Functor>;
    }
}

template <std::size_t, class T>
using Repeated = T;

/// Returns true if the functor can be called with one source for each index.
template <class Functor, class Source, std::size_t... index>
constexpr bool takes(std::index_sequence<index...>) {
    return std::is_invocable_v<Functor&, PixelPosition, const Repeated<index, Source>&...> ||
           std::is_invocable_v<Functor&, RunPosition, const Repeated<index, Source>&...>;
}

template <class T>
inline constexpr int kRunLength = 0;
template <int pixels>
inline constexpr int kRunLength<PixelRun<pixels>> = pixels;

/// Returns how many adjacent pixels a call of the functor with one source for each index computes. Returns 0 if it
/// computes a single pixel, or cannot be called.
template <class Functor, class Source, std::size_t... index>
constexpr int run_length(std::index_sequence<index...>) {
    if constexpr (std::is_invocable_v<const Functor&, RunPosition, const Repeated<index, Source>&...>)
        return kRunLength<std::invoke_result_t<const Functor&, RunPosition, const Repeated<index, Source>&...>>;
    return 0;
}

/// Returns true if the functor can be called with one of the counts of sources.
template <class Functor, class Source, std::size_t... count>
constexpr bool takes_one_of(std::index_sequence<count...>) {
    return (takes<Functor, Source>(std::make_index_sequence<count>{}) || ...);
}

template <class Functor, class Source, std::size_t... index>
constexpr bool returns_color(std::index_sequence<index...>) {
    return std::is_invocable_r_v<Float4, Functor&, PixelPosition, const Repeated<index, Source>&...>;
}

/// Returns why launch() cannot call the functor with `count` arguments of the type Source after the position. The
/// conditions of nvcc are only checked in code that it compiles.
template <class Functor, class Source, std::size_t count>
constexpr FunctorProblem problem_of() {
    if constexpr (!has_call_operator<Functor>()) {
        return FunctorProblem::no_call;
    } else {
#if defined(__CUDACC__)
        if (!std::is_class_v<Functor>) return FunctorProblem::function;
        if (is_lambda<Functor>()) return FunctorProblem::lambda;
        if (!std::is_trivially_copyable_v<Functor>) return FunctorProblem::not_plain;
#endif
        constexpr std::make_index_sequence<count> kSources;
        if constexpr (takes<const Functor, Source>(kSources)) {
            return returns_color<const Functor, Source>(kSources) || run_length<Functor, Source>(kSources) != 0
                       ? FunctorProblem::none
                       : FunctorProblem::other_result;
        } else if constexpr (takes<Functor, Source>(kSources)) {
            return FunctorProblem::not_const;
        } else {
            return takes_one_of<const Functor, Source>(std::make_index_sequence<9>{})
                       ? FunctorProblem::other_count
                       : FunctorProblem::other_parameters;
        }
    }
}

/// Does not compile, and says why, if launch() cannot call the functor with `count` sources. Otherwise returns true.
/// The functor may only be used then, because other errors would follow the message.
template <class Functor, class Source, std::size_t count>
constexpr bool check_functor() {
    constexpr FunctorProblem kProblem = problem_of<Functor, Source, count>();
    static_assert(kProblem != FunctorProblem::no_call,
                  "a functor of launch() has no operator(). Add the member function: template <class Source> TEXTON_HD "
                  "Float4 operator()(PixelPosition, const Source&...) const, with one source for each texture of the "
                  "call");
    static_assert(kProblem != FunctorProblem::function,
                  "a functor of launch() is a function of the host, which a GPU cannot call. Write a struct with the "
                  "member function: template <class Source> TEXTON_HD Float4 operator()(PixelPosition, const "
                  "Source&...) const");
    static_assert(kProblem != FunctorProblem::lambda,
                  "a functor of launch() is a lambda, but nvcc does not compile CUDA kernels for the type of a lambda. "
                  "Write a struct whose members are the captured values, with the member function: template <class "
                  "Source> TEXTON_HD Float4 operator()(PixelPosition, const Source&...) const");
    static_assert(kProblem != FunctorProblem::not_plain,
                  "a functor of launch() is copied to the GPU as bytes, so its members must be plain values and "
                  "pointers. Put a table into a texture, or into memory of the device to which the functor points");
    static_assert(kProblem != FunctorProblem::not_const,
                  "operator() of a functor of launch() is not const, but many threads call one functor. Declare it "
                  "const, and return the result instead of changing members");
    static_assert(kProblem != FunctorProblem::other_count,
                  "operator() of a functor of launch() takes another number of sources than the call has textures. "
                  "Pass one texture for each source to launch()");
    static_assert(kProblem != FunctorProblem::other_parameters,
                  "operator() of a functor of launch() cannot be called with a PixelPosition and one source for each "
                  "texture. The type of a source must be a template parameter, because each device has its own: "
                  "template <class Source> TEXTON_HD Float4 operator()(PixelPosition, const Source&...) const");
    static_assert(
        kProblem != FunctorProblem::other_result,
        "operator() of a functor of launch() must return a texton::Float4: the four channels of the pixel; or, "
        "if it takes a texton::RunPosition, a texton::PixelRun");
    return kProblem == FunctorProblem::none;
}

/// Does not compile if the functor computes runs of pixels. Otherwise returns true.
template <class Functor, class Source, std::size_t count>
constexpr bool check_single_pixels() {
    constexpr bool kIsSingle = run_length<Functor, Source>(std::make_index_sequence<count>{}) == 0;
    static_assert(kIsSingle,
                  "a functor of many jobs computes single pixels, but this one returns a texton::PixelRun. Call "
                  "launch() for each image");
    return kIsSingle;
}

}  // namespace texton::detail
