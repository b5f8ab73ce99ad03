#pragma once
// A picture on a device, of any kind of array. Knows no widgets. Immutable: any thread may read it.
//
// Where the device has no room for what the files hold, its array has the picture in a smaller size. Places and positions are those of the
// files all the same, so that a view, a pin or a session means the same on every device; in_array() in <viewer/model/positions.h> says
// where something is in the array, and as_loaded() is the array by itself, for who computes with it.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/device.h>
#include <texton/picture.h>
#include <texton/picture_load.h>
#include <texton/planar_array.h>
#include <texton/texture.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

class FileTexels;

class Document : public std::enable_shared_from_this<Document> {
public:
    /// Reads and uploads the files; blocks. Of a picture that is too large for the device it has a smaller one, where there is one
    /// (see reduced_image.h). Throws what open_picture() and load() throw; Cancelled if `progress` says so.
    static std::shared_ptr<const Document> open(const Source& source, const Device& device,
                                                const OnPictureProgress& progress = {});
    /// An array that is there already: what a kernel made. As large as the array of `like` it lies where that does.
    static std::shared_ptr<const Document> of(Array array, std::string title, const Document* like = nullptr);

    const std::string& title() const noexcept { return title_; }
    const Source& source() const noexcept { return source_; }  ///< without paths: no file
    /// What the array's texels are those of: the files, or what halving them made.
    const Picture& picture() const noexcept { return picture_; }
    /// What the files hold, of any size; of what a kernel made, the array.
    const Picture& file() const noexcept { return file_; }
    /// The array that would hold all of it, of planar pictures the plane's.
    const ArrayInfo& whole(int plane = 0) const { return is_planar() && plane == 1 ? whole_chroma_ : whole_; }
    /// How often the sides of what the files hold were halved, so that the device can hold it; 0: it is whole. Of a picture with levels
    /// as many are left out.
    int halvings() const noexcept { return halvings_; }
    /// How often the sides were halved of what the array has for a place: 0 if it has the texels of the files.
    int halvings(const Place& place) const noexcept { return std::max(0, halvings_ - place.level); }
    /// The array by itself, as a document that is whole.
    std::shared_ptr<const Document> as_loaded() const { return as_loaded_ ? as_loaded_ : shared_from_this(); }
    const Device& device() const noexcept { return device_; }
    const LoadTiming& timing() const noexcept { return timing_; }
    bool is_planar() const noexcept { return planes_ == 2; }
    int planes() const noexcept { return planes_; }

    /// Of a planar picture: the plane, r8 and rg8 or the same with 16 bits. Others have plane 0.
    const Array& array(int plane = 0) const;
    const ArrayInfo& info(int plane = 0) const { return array(plane).info(); }

    /// The nearest place that the files have.
    Place clamped(const Place& place) const;
    /// Width and height of what is there.
    Extent extent(const Place& place) const;
    /// The place of the array that shows a place of the files.
    Place in_array(const Place& place) const;
    /// The part of the array that shows a place of the files: one slice.
    Subresource part(const Place& place) const;
    /// Texels of the place, packed rows, as the files have them: of the array where it is whole there, else read from the files, which may
    /// take long. Block-compressed ones as whole blocks, or such as end at the edge, where the box has to begin and end. Throws what
    /// copies and FileTexels::read throw.
    std::vector<std::byte> texels(const Place& place, const TexelBox& box, const StillWanted& wanted = {}) const;
    /// Whether those come from files.
    bool is_finer_in_files(const Place& place) const;
    /// The same as far as no file has to be read for it.
    std::optional<std::vector<std::byte>> texels_at_hand(const Place& place, const TexelBox& box) const;

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
          file_(picture_),
          device_(std::move(device)) {}
    void halve(int times);
    std::vector<std::byte> array_texels(const Place& place, const TexelBox& box) const;

    Source source_;
    std::string title_;
    Picture picture_;
    Picture file_;
    Device device_;
    LoadTiming timing_;
    Array array_;
    PlanarArray planar_;
    int planes_ = 1;
    int halvings_ = 0;
    ArrayInfo whole_;
    ArrayInfo whole_chroma_;
    std::shared_ptr<const FileTexels> file_texels_;  // where files hold more than the array
    std::shared_ptr<const Document> as_loaded_;      // null: this one
};

/// "It is shown with 1/2 of its sides: CPU device 0 has no room for 40000 x 40000 texels of rgba8_unorm, 6.0 GiB. ..." Empty for a
/// whole picture.
[[nodiscard]] std::string halving_words(const Document& document);
/// "a.png", or "a.png and 5 more".
[[nodiscard]] std::string title_of(const Source& source);

/// "cpu", "cpu:1", "cuda" or "cuda:0"; empty for the best. Throws Error{bad_argument} for any other text or where there
/// is no such device.
[[nodiscard]] Device device_named(const std::string& name);

}  // namespace texton::viewer
