#pragma once
// A picture on a device, of any kind of array. Knows no widgets. Immutable: any thread may read it.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/device.h>
#include <texton/picture.h>
#include <texton/picture_load.h>
#include <texton/planar_array.h>
#include <texton/texture.h>

#include "viewer/session.h"

namespace texton::viewer {

class Document {
public:
    /// Reads and uploads the files; blocks. Of a picture that is too large for the device it has a smaller one, where there is one
    /// (see smaller.h): whole() says of what. Throws what open_picture() and load() throw; Cancelled if `progress` says so.
    static std::shared_ptr<const Document> open(const Source& source, const Device& device,
                                                const OnPictureProgress& progress = {});
    /// An array that is there already: what a kernel made.
    static std::shared_ptr<const Document> of(Array array, std::string title);

    const std::string& title() const noexcept { return title_; }
    const Source& source() const noexcept { return source_; }  ///< without paths: no file
    /// What the texels are those of: the files, or what halving them made.
    const Picture& picture() const noexcept { return picture_; }
    /// How often the sides of what the files hold were halved, so that the device can hold it; 0: it is whole.
    int halvings() const noexcept { return halvings_; }
    const ArrayInfo& whole() const noexcept { return whole_; }
    const Device& device() const noexcept { return device_; }
    const LoadTiming& timing() const noexcept { return timing_; }
    bool is_planar() const noexcept { return planes_ == 2; }
    int planes() const noexcept { return planes_; }

    /// Of a planar picture: the plane, r8 and rg8 or the same with 16 bits. Others have plane 0.
    const Array& array(int plane = 0) const;
    const ArrayInfo& info(int plane = 0) const { return array(plane).info(); }

    /// The nearest place that the picture has.
    Place clamped(const Place& place) const;
    /// Width and height of what is at the place.
    Extent extent(const Place& place) const;
    /// The part of the array that is at the place: one slice.
    Subresource part(const Place& place) const;
    /// Texels of the place, packed rows. Blocks of block-compressed formats are not undone: Error{unsupported}; sample them.
    std::vector<std::byte> texels(const Place& place, const TexelBox& box) const;

    /// How it is sampled where nobody said.
    Sampler standard_sampler(int plane = 0) const;
    /// All of it, with this sampler. Throws what Texture throws.
    Texture texture(const Sampler& sampler, int plane = 0) const;
    /// All of it by point filter, with coordinates 0 to 1 where it has levels or faces: what stored texels read as.
    Texture texel_texture(int plane = 0) const;

private:
    static std::shared_ptr<const Document> open_halved(const Source& source, const Device& device, const Picture& whole,
                                                       int halvings, const OnPictureProgress& progress);
    Document(Source source, std::string title, Picture picture, Device device)
        : source_(std::move(source)),
          title_(std::move(title)),
          picture_(std::move(picture)),
          device_(std::move(device)) {}

    Source source_;
    std::string title_;
    Picture picture_;
    Device device_;
    LoadTiming timing_;
    Array array_;
    PlanarArray planar_;
    int planes_ = 1;
    int halvings_ = 0;
    ArrayInfo whole_;
};

/// "It is shown with 1/2 of its sides: CPU device 0 has no room for 40000 x 40000 texels of rgba8_unorm, 6.0 GiB." Empty for a
/// whole picture.
[[nodiscard]] std::string halving_words(const Document& document);
/// "a.png", or "a.png and 5 more".
[[nodiscard]] std::string title_of(const Source& source);

/// "cpu", "cpu:1", "cuda" or "cuda:0"; empty for the best. Throws Error{bad_argument} for any other text or where there
/// is no such device.
[[nodiscard]] Device device_named(const std::string& name);

}  // namespace texton::viewer
