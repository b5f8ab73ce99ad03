// Calls of launch() that must not compile. The comment above a call is a part of the compiler's message, which must be
// the only error of the call. nvcc compiles all calls; another compiler compiles the calls outside of #if.
#include <texton/launch.h>

#include <array>
#include <vector>

namespace texton {
namespace {

struct NoCall {
    float height;
};

struct Pixels {
    TEXTON_HD Float4 operator()(int x, int y) const { return {static_cast<float>(x), static_cast<float>(y), 0, 1}; }
};

struct Text {
    template <class Source>
    TEXTON_HD const char* operator()(PixelPosition, const Source&) const {
        return "";
    }
};

struct Counting {
    int calls = 0;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition, const Source&) {
        ++calls;
        return {};
    }
};

struct Copied {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& image) const {
        return image.at_texel(at.center_x(), at.center_y());
    }
};

struct Runs {
    template <class Source>
    TEXTON_HD PixelRun<4> operator()(RunPosition, const Source&) const {
        return {};
    }
};
struct PointwiseRuns : Runs {
    static constexpr bool kPointwise = true;
};

[[maybe_unused]] void wrong_calls(const Stream& stream, const View& image, const Texture& texture) {
    // has no operator(). Add the member function: template <class Source> TEXTON_HD Float4 operator()(PixelPosition
    launch(stream, image, NoCall{1}, texture);
    // The type of a source must be a template parameter, because each device has its own
    launch(stream, image, Pixels{}, texture);
    // must return a texton::Float4
    launch(stream, image, Text{}, texture);
    // is not const, but many threads call one functor
    launch(stream, image, Counting{}, texture);
    // takes another number of sources than the call has textures
    launch(stream, image, Copied{}, texture, texture);
    // takes another number of sources than the call has textures
    launch(stream, std::vector<LaunchJob<Copied, 3>>{});
    // has no operator()
    launch(stream, image, NoCall{1}, std::array{texture, texture});
    // a functor of many jobs computes single pixels
    launch(stream, std::vector<LaunchJob<Runs, 1>>{});
    // a functor that returns a PixelRun cannot be pointwise
    launch(stream, image, PointwiseRuns{}, texture);
}

#if defined(__CUDACC__)
struct Curve {
    std::vector<float> table;
    TEXTON_HD Float4 operator()(PixelPosition) const { return {}; }
};

Float4 red(PixelPosition) { return {1, 0, 0, 1}; }

[[maybe_unused]] void wrong_calls_on_gpus(const Stream& stream, const View& image, const Texture& texture,
                                          float height) {
    // is a lambda, but nvcc does not compile CUDA kernels for the type of a lambda. Write a struct whose members are
    launch(
        stream, image, [](PixelPosition at, const auto& source) { return source.at_texel(at.center_x(), 0); }, texture);
    // is a lambda, but nvcc does not compile CUDA kernels for the type of a lambda
    launch(stream, image, [height](PixelPosition at) { return Float4{height, at.center_x(), 0, 1}; });
    // its members must be plain values and pointers
    launch(stream, image, Curve{});
    // is a function of the host, which a GPU cannot call
    launch(stream, image, red);
}
#endif

}  // namespace
}  // namespace texton
