#pragma once
// Fetches from a StreamedTexture in functors of launch(). A fetch returns what is resident and notes what is missing:
//
//     struct Zoom {
//         static constexpr unsigned kPixels = 1;  // many fetches per pixel
//         texton::StreamedFeedback feedback;
//         float lod;
//         template <std::size_t count, class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at,
//                                             const texton::SourceArray<Source, count>& clamps) const {
//             const texton::StreamedSource source(clamps, feedback);
//             return source.fetch_or_request(at.center_x() / 800, at.center_y() / 600, lod).value;
//         }
//     };
//     texton::launch(stream, image, Zoom{texture.feedback(), 2}, texture.clamps());
//     texture.update(stream);
//
// Both devices return the same values and note the same tiles. The functor must not promise kMayBeCalledWithZeros or
// that it is pointwise, because noting a tile is a side effect.
#include <cstddef>

#include <texton/source.h>
#include <texton/streamed_feedback.h>

namespace texton {

/// The result of a fetch from a streamed texture.
struct StreamedTexel {
    Float4 value;   ///< as Fetches::get() returns it
    int clamp = 0;  ///< minimum level of detail that the fetch used; 0: all its texels are resident
};

/// A source that fetches from a streamed texture. Valid only during the call of the functor.
template <class Source, std::size_t count>
class StreamedSource {
public:
    /// Creates the source from those of StreamedTexture::clamps() and from StreamedTexture::feedback().
    TEXTON_HD StreamedSource(const SourceArray<Source, count>& clamps, const StreamedFeedback& feedback)
        : clamps_(&clamps), feedback_(&feedback) {}

    /// Returns the shape of level 0.
    TEXTON_HD const SourceShape& shape() const { return (*clamps_)[0]; }

    /// Fetches with a level of detail or gradients, with the smallest clamp for which all texels of nonzero weight are
    /// resident. Requests the tiles that the fetch with the next smaller clamp lacks. The kind is that of the texture.
    template <ArrayKind kind, FetchOperation operation = FetchOperation::lod>
    TEXTON_HD StreamedTexel fetch_or_request(const FetchPoint& at) const {
        static_assert(operation == FetchOperation::lod || operation == FetchOperation::gradients,
                      "other fetches always read level 0");
        Texel words{};
        int clamp = 0;
        bool resident = false;
        // Unrolled, because an index that varies would put all sources into local memory.
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (std::size_t i = 0; i < count; ++i) {
            if (resident || static_cast<int>(i) > feedback_->resident_level) break;
            clamp = static_cast<int>(i);
            words = (*clamps_)[i].template words<operation, kind>(at, 0, resident);
        }
        detail::note_fetch<operation>(*feedback_, at, clamp);
        return {detail::floats_of(shape(), words), clamp};
    }
    /// Fetches from a 2D texture at a level of detail.
    TEXTON_HD StreamedTexel fetch_or_request(float x, float y, float lod) const {
        return fetch_or_request<ArrayKind::array_2d>({.x = x, .y = y, .lod = lod});
    }

private:
    const SourceArray<Source, count>* clamps_;
    const StreamedFeedback* feedback_;
};

}  // namespace texton
