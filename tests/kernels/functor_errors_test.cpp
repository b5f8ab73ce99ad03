// Exceptions of functors, and fetches that a texture does not have, become errors of the stream on the CPU device.
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;

struct NoMemory {
    Float4 operator()(PixelPosition at) const {
        if (at.x == 40 && at.y == 30) throw std::bad_alloc();
        return {};
    }
};

struct Failing {
    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = source.at_texel(at.center_x(), at.center_y());
        if (at.y >= 30) throw std::runtime_error("row " + std::to_string(at.y) + " is odd");
        return texel;
    }
};

struct ThrowingNumber {
    Float4 operator()(PixelPosition) const { throw 7; }
};

struct Ones {
    Float4 operator()(PixelPosition) const { return {1, 1, 1, 1}; }
};

template <class Functor>
struct Promising : Functor {
    static constexpr bool kMayBeCalledWithZeros = true;
};
template <class Functor>
struct Pointwise : Functor {
    static constexpr bool kPointwise = true;
};

class FunctorErrorsTest : public testing::Test {
protected:
    template <class Functor, class... Textures>
    void launch_with(const Functor& functor, const Textures&... textures) const {
        launch(stream_, image_, functor, textures...);
    }
    /// Expects that the stream reports an error whose message contains the fragments.
    void expect_reported(ErrorCode code, std::initializer_list<std::string_view> fragments) const {
        try {
            stream_.synchronize();
            ADD_FAILURE() << "no error was reported";
        } catch (const Error& error) {
            EXPECT_EQ(name(error.code()), name(code));
            const std::string_view message = error.what();
            for (const std::string_view fragment : fragments)
                EXPECT_NE(message.find(fragment), std::string_view::npos) << fragment << " is missing in: " << message;
        }
    }
    /// Expects that the launch fails when the stream is synchronized, and that the stream goes on to work.
    template <class Functor, class... Textures>
    void expect_failure(ErrorCode code, std::initializer_list<std::string_view> fragments, const Functor& functor,
                        const Textures&... textures) const {
        fill(image_, std::uint8_t{0});
        launch_with(functor, textures...);
        expect_reported(code, fragments);
        launch_with(Ones{});
        stream_.synchronize();
        EXPECT_TRUE(test::all_bytes(download(image_), 255));
    }

    const Device device_ = Device::cpu();
    const Linear memory_{device_, Format::rgba8_unorm, {64, 64}};
    const View image_ = memory_.view(Format::rgba8_unorm, {64, 64});
    const Array flat_{device_, {Format::rgba8_unorm, {64, 64}}};
    const Stream stream_{device_};
};

TEST_F(FunctorErrorsTest, AnExceptionBecomesTheErrorOfTheStream) {
    const Texture texture(flat_);
    expect_failure(ErrorCode::out_of_memory, {"texton::launch"}, NoMemory{});
    expect_failure(ErrorCode::device_failure, {"texton::launch", "functor", " is odd"}, Failing{}, texture);
    expect_failure(ErrorCode::device_failure, {"texton::launch", "functor", " is odd"}, Promising<Failing>{}, texture);
    expect_failure(ErrorCode::device_failure, {"texton::launch", "functor", " is odd"}, Pointwise<Failing>{}, texture);
    expect_failure(ErrorCode::device_failure, {"texton::launch", "functor"}, ThrowingNumber{});
}

TEST_F(FunctorErrorsTest, OtherStreamsGoOn) {
    const Stream other(device_);
    launch_with(ThrowingNumber{});
    const Linear memory(device_, Format::r8_unorm, {300, 300});
    launch(other, memory.view(Format::r8_unorm, {300, 300}), Ones{});
    other.synchronize();
    EXPECT_TRUE(test::all_bytes(download(memory.view()), 255));
    expect_reported(ErrorCode::device_failure, {"texton::launch"});
}

// --- fetches that a texture does not have ----------------------------------------------------------------------------

/// Executes one fetch, and stores a pixel that shows whether it returned zeros.
template <class Fetch>
struct Fetching {
    template <class Source>
    Float4 operator()(PixelPosition, const Source& source) const {
        return Fetch::of(source) == Float4{} ? Float4{1, 1, 1, 1} : Float4{0.5f, 0, 0, 0};
    }
};

struct InVolume {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch(1e9f, -1e9f, 1e9f);
    }
};
struct InLayer {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch_layer(1'000'000, 5, 5);
    }
};
struct InCube {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch_cube(0, 0, 0);
    }
};
struct InRow {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch(3.0f);
    }
};
struct InPlane {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch(3.0f, 4.0f);
    }
};
struct Gather {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.gather(3, 4, 0);
    }
};
struct GatherOfNoComponent {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.gather(3, 4, 1'000'000);
    }
};
struct InLevel {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.fetch_lod(3, 4, 20);
    }
};
struct OfIndex {
    template <class Source>
    static Float4 of(const Source& source) {
        return source.template get<ArrayKind::array_1d, FetchOperation::texel>({.layer = 1'000'000});
    }
};

class MissingFetchTest : public FunctorErrorsTest {
protected:
    /// Expects that the fetch returns zeros, and that the stream reports it.
    template <class Fetch>
    void expect_missing(const Texture& texture, std::initializer_list<std::string_view> fragments) const {
        expect_zeros(Fetching<Fetch>{}, texture, fragments);
        expect_zeros(Promising<Fetching<Fetch>>{}, texture, fragments);
        expect_zeros(Pointwise<Fetching<Fetch>>{}, texture, fragments);
    }

    /// Returns a texture whose texels are not zeros.
    Texture texture_of(ArrayInfo info) const {
        const Array array(device_, info);
        for (int level = 0; level < info.levels; ++level) fill(array.view({.level = level}), std::uint8_t{200});
        return Texture(array, {.normalized_coordinates = info.levels > 1 || is_cube(info.kind)});
    }

private:
    template <class Functor>
    void expect_zeros(const Functor& functor, const Texture& texture,
                      std::initializer_list<std::string_view> fragments) const {
        launch_with(functor, texture);
        expect_reported(ErrorCode::unsupported, fragments);
        EXPECT_TRUE(test::all_bytes(download(image_), 255));
    }
};

TEST_F(MissingFetchTest, FetchesOfAnotherKindReturnZerosAndAreReported) {
    for (const ArrayKind kind : test::all_kinds()) {
        SCOPED_TRACE(std::string(name(kind)));
        const Texture texture = texture_of(test::flat_info(kind, Format::rgba8_unorm));
        const std::string_view of_kind = name(kind);
        if (kind != ArrayKind::array_1d) expect_missing<InRow>(texture, {"texton::launch", "texture 0", of_kind});
        if (kind != ArrayKind::array_2d) expect_missing<InPlane>(texture, {"texton::launch", "texture 0", of_kind});
        if (kind != ArrayKind::array_3d) expect_missing<InVolume>(texture, {"array_3d", "texture 0", of_kind});
        if (kind != ArrayKind::layered_2d) expect_missing<InLayer>(texture, {"layered_2d", "texture 0", of_kind});
        if (kind != ArrayKind::cubemap) expect_missing<InCube>(texture, {"cubemap", "texture 0", of_kind});
        if (kind != ArrayKind::array_2d) expect_missing<InLevel>(texture, {"level", "texture 0", of_kind});
        expect_missing<Gather>(texture, {"gather", "texture 0", of_kind});
        expect_missing<OfIndex>(texture, {"texel fetch", "texture 0", of_kind});
    }
}

TEST_F(MissingFetchTest, GathersNeedAnArrayForGatherAndAComponent) {
    const Texture plain = texture_of({Format::rgba8_unorm, {16, 16}});
    expect_missing<Gather>(plain, {"gather of component 0", "ArrayUsage::gather"});
    const Texture gathered = texture_of({.format = Format::rgba8_unorm, .extent = {16, 16}, .usage = {.gather = true}});
    expect_missing<GatherOfNoComponent>(gathered, {"gather of component 1000000"});
}

TEST_F(MissingFetchTest, MemoryHasNoLevelsAndRowsOfMemoryOnlyTexels) {
    const Pitched2D rows(device_, Format::rgba8_unorm, {16, 16});
    fill(rows.view(), std::uint8_t{200});
    const Linear row(device_, Format::rgba8_unorm, {16});
    fill(row.view(), std::uint8_t{200});
    const Texture pitched(rows.view());
    const Texture linear(row.view(Format::rgba8_unorm, {16}));
    expect_missing<InLevel>(pitched, {"level", "rows of memory"});
    expect_missing<OfIndex>(pitched, {"texel fetch", "rows of memory"});
    expect_missing<InRow>(linear, {"array_1d", "a row of memory"});
}

}  // namespace
}  // namespace texton
