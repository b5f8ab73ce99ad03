// Compares functors whose fetches are recorded with the same functors whose fetches are executed at once.
#include <cmath>
#include <cstddef>
#include <string>

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
    Texture random_texture(ArrayKind kind, Format format, Filter filter = Filter::linear) {
        const ArrayInfo info{.format = format,
                             .extent = kTexels,
                             .kind = kind,
                             .layers = kind == ArrayKind::layered_2d ? std::size_t{3} : 1,
                             .usage = {.gather = kind == ArrayKind::array_2d}};
        const Array array(Device::cpu(), info);
        upload(array.view(), test::random_texels(random_, format, test::box_bytes(format, test::level_box(info, 0))));
        return Texture(array, {.filter = filter});
    }
    template <class Functor, class... Textures>
    Bytes image_of(Format format, const Functor& functor, const Textures&... textures) {
        const Linear memory(Device::cpu(), format, kImage);
        const View image = memory.view(format, kImage);
        const Stream stream(Device::cpu());
        launch(stream, image, functor, textures...);
        stream.synchronize();
        return download(image);
    }
    template <class Functor>
    Bytes image_of(const Functor& functor) {
        return image_of(Format::rgba32_float, functor, flat_, layered_);
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

/// Return a fetch unchanged: the only one, or one whose coordinates another fetch has.
template <bool promises>
struct ReturnedFetch {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.at_texel(at.center_x() * 0.4f + at.center_y() * 0.1f - 10.0f, at.center_y() * 0.4f - 4.0f);
    }
};
template <bool promises>
struct ReturnedSecondFetch {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 to = source.at_texel(at.center_x() * 0.4f, at.center_y() * 0.4f);
        return source.at_texel(to.x * 90.0f, to.x * 50.0f);
    }
};

/// Return a fetch with a change: channels swapped, another color at some positions, or the first one of two fetches.
template <bool promises>
struct SwappedChannels {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = source.at_texel(at.center_x() * 0.3f, at.center_y() * 0.4f);
        return {texel.x, texel.z, texel.y, texel.w};
    }
};
template <bool promises>
struct OtherColor {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = source.at_texel(at.center_x() * 0.3f, at.center_y() * 0.4f);
        return at.x % 64 == 63 ? Float4{0.5f, 0.25f, 0.75f, 1.0f} : texel;
    }
};
template <bool promises>
struct FirstOfTwo {
    static constexpr bool kMayBeCalledWithZeros = promises;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 first = source.at_texel(at.center_x() * 0.3f, at.center_y() * 0.4f);
        const Float4 second = source.at_texel(first.x * 90.0f, first.x * 50.0f);
        return second.x < -1e30f ? second : first;
    }
};

TEST_F(RecordedFetchesTest, FetchesThatFunctorsReturnAreStoredInEveryFormatAsTheyAreAtOnce) {
    constexpr Format kTextures[] = {Format::r8_unorm,   Format::rg8_unorm,    Format::rgba8_unorm, Format::rgba8_snorm,
                                    Format::rgba8_srgb, Format::r16_unorm,    Format::rg16_float,  Format::rgba16_float,
                                    Format::r32_float,  Format::rgba32_float, Format::rgba8_uint,  Format::r32_sint};
    constexpr Format kImages[] = {Format::r8_unorm,  Format::rgba8_unorm,  Format::rgba8_srgb, Format::rg16_float,
                                  Format::r32_float, Format::rgba32_float, Format::rgba8_uint};
    for (const Format format : kTextures) {
        const bool filters = info(format).kind != FormatKind::uint && info(format).kind != FormatKind::sint;
        for (const Filter filter : {Filter::point, Filter::linear}) {
            if (filter == Filter::linear && !filters) continue;
            const Texture texture = random_texture(ArrayKind::array_2d, format, filter);
            for (const Format stored : kImages) {
                SCOPED_TRACE(std::string(name(format)) + " to " + std::string(name(stored)));
                const auto expect_same = [&](const auto& promising, const auto& plain) {
                    EXPECT_TRUE(same_bytes(image_of(stored, promising, texture), image_of(stored, plain, texture)));
                };
                expect_same(ReturnedFetch<true>{}, ReturnedFetch<false>{});
                expect_same(ReturnedSecondFetch<true>{}, ReturnedSecondFetch<false>{});
            }
        }
    }
}

TEST_F(RecordedFetchesTest, FetchesThatFunctorsChangeAreNotStoredUnchanged) {
    const auto expect_same = [&](const auto& promising, const auto& plain) {
        EXPECT_TRUE(
            same_bytes(image_of(Format::rgba8_unorm, promising, flat_), image_of(Format::rgba8_unorm, plain, flat_)));
    };
    expect_same(SwappedChannels<true>{}, SwappedChannels<false>{});
    expect_same(OtherColor<true>{}, OtherColor<false>{});
    expect_same(FirstOfTwo<true>{}, FirstOfTwo<false>{});
}

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
