// Compares functors whose fetches are recorded with the same functors whose fetches are executed at once.
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include "tests/support/arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::Random;
using test::same_bytes;
using test::upload;

constexpr Extent kTexels{90, 50};
constexpr Extent kImage{300, 150, 2};  // several blocks in a row, and several tiles

class RecordedFetchesTest : public testing::Test {
protected:
    Texture random_texture(ArrayKind kind, Format format) {
        const ArrayInfo info{.format = format,
                             .extent = kTexels,
                             .kind = kind,
                             .layers = kind == ArrayKind::layered_2d ? std::size_t{3} : 1,
                             .usage = {.gather = kind == ArrayKind::array_2d}};
        const Array array(Device::cpu(), info);
        upload(array.view(), test::random_texels(random_, format, test::box_bytes(format, test::level_box(info, 0))));
        return Texture(array, {.filter = Filter::linear});
    }
    template <class Functor>
    Bytes image_of(const Functor& functor) {
        const Linear memory(Device::cpu(), Format::rgba32_float, kImage);
        const View image = memory.view(Format::rgba32_float, kImage);
        const Stream stream(Device::cpu());
        launch(stream, image, functor, flat_, layered_);
        stream.synchronize();
        return download(image);
    }
    /// Expects the same image from Functor<true>, which promises that calls with zeros do no harm.
    template <template <bool> class Functor>
    void expect_same_image() {
        EXPECT_TRUE(same_bytes(image_of(Functor<true>{}), image_of(Functor<false>{})));
    }

    Random random_{41};
    Texture flat_ = random_texture(ArrayKind::array_2d, Format::rgba8_unorm);
    Texture layered_ = random_texture(ArrayKind::layered_2d, Format::rg32_float);
};

template <bool promises>
struct OneFetch {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source&) const {
        return flat.at_texel(at.center_x() * 0.3f + at.center_y() * 0.1f, at.center_y() * 0.4f) * 2.0f;
    }
};

template <bool promises>
struct DependentFetch {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source& layered) const {
        const Float4 to = layered.layer_at_texel(at.z, at.center_x() * 0.3f, at.center_y() * 0.3f);
        return flat.at_texel(to.x * 40.0f, to.y * 40.0f);
    }
};

/// The pixels of one block make different fetches, or blocks do.
template <bool promises>
struct ChangingFetches {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source& layered) const {
        const float x = at.center_x() * 0.3f, y = at.center_y() * 0.3f;
        if (at.y < 20) return at.x == 250 ? flat.gather(x, y, 1) : flat.at_texel(x, y);
        if (at.y < 40) return at.x < 200 ? flat.at_texel(x, y) : layered.layer_at_texel(0, x, y);
        if (at.y < 90) return layered.layer_at_texel(at.y / 30, x, y);
        if (at.y < 110) return flat.at_texel(x, y) + (at.x % 7 == 3 ? layered.layer_at_texel(1, y, x) : Float4{});
        Float4 sum{};
        for (int i = 0; i < at.y - 110; i += 9) sum += flat.at_texel(x + static_cast<float>(i), y);
        return sum;
    }
};

/// Coordinates that are NaN or infinite, and a fetch whose result decides about the next one.
template <bool promises>
struct StrangeFetches {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source&) const {
        const float x = at.x % 5 == 0 ? INFINITY : at.x % 7 == 0 ? NAN : at.center_x() * 0.3f;
        const Float4 first = flat.at_texel(x, at.center_y() * 0.3f);
        return first.x > 0.5f ? flat.at_texel(first.y * 90.0f, first.z * 50.0f) : first;
    }
};

TEST_F(RecordedFetchesTest, OneFetchOfEachPixelReturnsWhatItReturnsAtOnce) { expect_same_image<OneFetch>(); }

TEST_F(RecordedFetchesTest, AFetchThatDependsOnAnotherReturnsWhatItReturnsAtOnce) {
    expect_same_image<DependentFetch>();
}

TEST_F(RecordedFetchesTest, FetchesThatDifferBetweenPixelsReturnWhatTheyReturnAtOnce) {
    expect_same_image<ChangingFetches>();
}

TEST_F(RecordedFetchesTest, FetchesAtStrangeCoordinatesReturnWhatTheyReturnAtOnce) {
    expect_same_image<StrangeFetches>();
}

}  // namespace
}  // namespace texton
