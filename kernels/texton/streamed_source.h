#pragma once
// Functors that fetch from a StreamedTexture. A fetch returns what is resident and notes what is missing:
//
//     struct Zoom {
//         float lod;
//         template <class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& source) const {
//             return source.fetch_or_request(at.center_x() / 800, at.center_y() / 600, lod).value;
//         }
//     };
//     texton::launch(stream, image, Zoom{2}, texture);
//     texture.update(stream);
//
// Both devices return the same values and note the same tiles.
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include <texton/launch.h>
#include <texton/streamed_texture.h>

namespace texton {

/// The result of a fetch from a streamed texture.
struct StreamedTexel {
    Float4 value;   ///< as Fetches::get() returns it
    int clamp = 0;  ///< minimum level of detail that the fetch used; 0: all its texels are resident
};

/// A source that fetches from a streamed texture. Valid only during the call of the functor. `Sources` is a SourceArray
/// that begins with the sources of StreamedTexture::clamps(). A draft only fetches with clamp 0 and notes no tiles.
template <class Sources, bool is_draft>
class StreamedSource {
public:
    /// Called by launch(). `done` becomes false if a fetch of a draft lacks texels.
    TEXTON_HD StreamedSource(const Sources& clamps, const StreamedFeedback& feedback, const PixelPosition& at,
                             bool& done)
        : clamps_(&clamps), feedback_(&feedback), notes_used_(feedback.notes_used(at.x, at.y)), done_(&done) {}

    /// Returns the shape of level 0.
    TEXTON_HD const SourceShape& shape() const { return (*clamps_)[0]; }

    /// Fetches with a level of detail or gradients, with the smallest clamp for which all texels of nonzero weight are
    /// resident. Requests the tiles that the fetch with the next smaller clamp lacks. The kind is that of the texture.
    template <ArrayKind kind, FetchOperation operation = FetchOperation::lod>
    TEXTON_HD StreamedTexel fetch_or_request(const FetchPoint& at) const {
        static_assert(operation == FetchOperation::lod || operation == FetchOperation::gradients,
                      "other fetches always read level 0");
        bool resident = false;
        int clamp = 0;
        Texel words = (*clamps_)[0].template words<operation, kind>(at, 0, resident);
        if constexpr (is_draft) {
            *done_ &= resident;
        } else {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
            while (!resident && clamp < feedback_->resident_level)
                words = (*clamps_)[static_cast<std::size_t>(++clamp)].template words<operation, kind>(at, 0, resident);
            if (clamp > 0) detail::note_missing<operation>(*feedback_, at, clamp);
            if (notes_used_) detail::note_used<operation>(*feedback_, at, clamp);
        }
        return {detail::floats_of(shape(), words), clamp};
    }
    /// Fetches from a 2D texture at a level of detail.
    TEXTON_HD StreamedTexel fetch_or_request(float x, float y, float lod) const {
        return fetch_or_request<ArrayKind::array_2d>({.x = x, .y = y, .lod = lod});
    }

private:
    const Sources* clamps_;
    const StreamedFeedback* feedback_;
    bool notes_used_;
    bool* done_;
};

namespace detail {

/// Calls a functor with a StreamedSource and the sources of other textures. In a CUDA kernel, the drafts of all pixels
/// of a thread run first, so that their fetches overlap.
template <class Functor, std::size_t others>
struct StreamedFunctor {
    static constexpr bool kDrafts = true;

    Functor functor;
    StreamedFeedback feedback;

    template <std::size_t count, class Source>
    TEXTON_HD Float4 operator()(const PixelPosition& at, const SourceArray<Source, count>& sources) const {
        bool done = true;
        return call<false>(at, sources, done, std::make_index_sequence<others>{});
    }
    template <std::size_t count, class Source>
    TEXTON_HD Float4 draft(const PixelPosition& at, bool& done, const SourceArray<Source, count>& sources) const {
        done = !feedback.notes_used(at.x, at.y);
        return call<true>(at, sources, done, std::make_index_sequence<others>{});
    }

private:
    template <bool is_draft, class Sources, std::size_t... other>
    TEXTON_HD Float4 call(const PixelPosition& at, const Sources& sources, bool& done,
                          std::index_sequence<other...>) const {
        return functor(at, StreamedSource<Sources, is_draft>(sources, feedback, at, done),
                       sources[StreamedFeedback::kMaxLevels + other]...);
    }
};

template <std::size_t... index, class... Textures>
std::array<Texture, sizeof...(index) + sizeof...(Textures)> append(const std::array<Texture, sizeof...(index)>& first,
                                                                   std::index_sequence<index...>,
                                                                   const Textures&... others) {
    return {first[index]..., others...};
}

}  // namespace detail

/// Enqueues the call functor(PixelPosition, StreamedSource, source of each other texture...) for every pixel of
/// `image`, as launch() does. The next update() collects the tiles that the fetches note. A CUDA device may call the
/// functor twice for a pixel: then fetches of the first call may return zeros in place of texels that are not resident,
/// and only the result of the second counts.
///
/// Throws what launch() and StreamedTexture::feedback() throw.
template <class Functor, std::same_as<Texture>... Textures>
void launch(const Stream& stream, const View& image, const Functor& functor, StreamedTexture& texture,
            const Textures&... others) {
    const Extent extent = image.extent();
    const StreamedFeedback feedback = texture.feedback(extent.width * extent.height * extent.depth);
    const auto all =
        detail::append(texture.clamps(), std::make_index_sequence<StreamedFeedback::kMaxLevels>{}, others...);
    launch(stream, image, detail::StreamedFunctor<Functor, sizeof...(Textures)>{functor, feedback}, all);
}

}  // namespace texton
