#pragma once
// The state of the viewer that the user can change, as a value. The screen depends only on it and on the files. Undo,
// session files, screenshots and tests use the same type.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <texton/fetch.h>
#include <texton/image_file.h>
#include <texton/kernel.h>
#include <texton/sampler.h>

#include "viewer/model/annotation.h"
#include "viewer/model/subresource_index.h"
#include "viewer/model/view_state.h"

namespace texton::viewer {

/// The files of one image and the options for opening them.
struct Source {
    std::vector<std::filesystem::path> paths;  ///< files of the image
    ImageOptions options{};                    ///< options of open_image()
    bool operator==(const Source&) const = default;
};

/// Arrangement of the subresources on the canvas.
enum class Layout : std::uint8_t {
    single,  ///< a single subresource
    sheet,   ///< all levels, layers, faces and slices side by side
    cross,   ///< the faces of a cubemap as a cross
    sphere   ///< a cubemap seen from its center
};

/// Source of the values of the pixels.
enum class Reading : std::uint8_t {
    stored,  ///< stored texels
    sampled  ///< the results of a texture with the sampler of the session
};

/// Color map for a single channel.
enum class FalseColor : std::uint8_t { none, viridis, turbo, diverging };

/// Compression of large values. x is a value after the mapping of the range and the exposure; the result is clipped at 1.
enum class ToneCurve : std::uint8_t {
    none,      ///< x
    reinhard,  ///< x / (1 + x)
    filmic     ///< x (2.51 x + 0.03) / (x (2.43 x + 0.59) + 0.14): Narkowicz's approximation of the ACES curve
};

/// Color management with OpenColorIO. The names are those of the config.
struct ColorConversion {
    std::string config{};   ///< config file; empty: the file in $OCIO, or Texton's own config if $OCIO is not set
    std::string input{};    ///< color space of the image; empty: no color management
    std::string display{};  ///< display; empty: the default display of the config
    std::string view{};     ///< view; empty: the default view of the display
    bool operator==(const ColorConversion&) const = default;
};

/// Conversion of texel values to colors of the screen. The steps have this order: mapping of the range to 0 to 1,
/// exposure, selection of channels, tone curve, and finally the color map, the color conversion, or the transfer curve
/// of the screen. Gamma follows the last two.
struct Display {
    std::array<bool, 4> channels{true, true, true,
                                 true};         ///< red, green, blue, alpha; a single channel is shown as gray
    bool luminance = false;                     ///< true: show the luminance as gray
    float exposure = 0;                         ///< in stops
    float gamma = 1;                            ///< additional to the transfer curve of the screen
    float low = 0;                              ///< the value that becomes black; a fraction of the range for integers
    float high = 1;                             ///< the value that becomes white
    FalseColor false_color = FalseColor::none;  ///< color map
    bool mark_nan = true;                       ///< true: show NaN and infinities in marker colors
    bool mark_range = false;                    ///< true: show values below `low` and above `high` in marker colors
    bool zebra = false;                         ///< true: as mark_range, but as stripes over the image
    ToneCurve tone_curve = ToneCurve::none;     ///< compression of large values of colors
    ColorConversion color{};                    ///< color management of colors
    bool operator==(const Display&) const = default;
};

/// The other side of a comparison.
enum class Against : std::uint8_t {
    reference,  ///< the reference image, read in the same way
    sampler,    ///< the same image, read with the second sampler
    device      ///< the same image on the other device
};

/// Kind of comparison.
enum class CompareMode : std::uint8_t { none, wipe, difference, absolute, relative, squared, ulp };

/// Parameters of the comparison.
struct Compare {
    CompareMode mode = CompareMode::none;  ///< kind of comparison
    Against against = Against::reference;  ///< the other side
    double wipe = 0.5;                     ///< fraction of the canvas width that shows the current image
    bool flip = false;                     ///< true: show the FLIP metric with the other metrics
    bool operator==(const Compare&) const = default;
};

/// A kernel that is applied to the current image. The viewer shows its result. An empty name means no kernel.
struct KernelChoice {
    std::string name;                                  ///< name of the kernel
    std::map<std::string, ParameterValue> parameters;  ///< values by name; others have their defaults
    std::vector<std::size_t> more_inputs;              ///< indices of the images that are further inputs
    bool operator==(const KernelChoice&) const = default;
};

/// A box of texels of the displayed subresource.
struct TexelBox {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t width = 0;
    std::size_t height = 0;
    bool operator==(const TexelBox&) const = default;
};

/// A fetch with explicit parameters, and a line of fetches to plot.
struct Probe {
    FetchOperation operation = FetchOperation::plain;  ///< operation
    float u = 0.5f;                                    ///< normalized coordinate, or x of a direction for cubemaps
    float v = 0.5f;                                    ///< normalized coordinate, or y of a direction for cubemaps
    float w = 0.5f;                                    ///< normalized coordinate, or z of a direction for cubemaps
    float lod = 0;                                     ///< level of detail of FetchOperation::lod
    std::array<float, 3> line_from{0, 0.5f, 0.5f};     ///< coordinate of the begin of the line
    std::array<float, 3> line_to{1, 0.5f, 0.5f};       ///< coordinate of the end of the line
    int component = 0;                                 ///< component of FetchOperation::gather, 0 to 3
    double plot_first = 0;                             ///< begin of the plotted part, as a fraction of the line
    double plot_last = 1;                              ///< end of the plotted part, as a fraction of the line
    bool operator==(const Probe&) const = default;
};

/// The fetch whose footprint is shown.
enum class FootprintFetch : std::uint8_t {
    as_seen,    ///< the fetch of the canvas for the pixel
    gradients,  ///< a fetch with the gradients of FootprintChoice
    probe       ///< the fetch of Probe
};

/// Parameters of the footprint panel.
struct FootprintChoice {
    FootprintFetch fetch = FootprintFetch::as_seen;  ///< the fetch
    double longer = 4;                               ///< length of the longer gradient in texels
    double shorter = 1;                              ///< length of the shorter gradient in texels
    double turn = 0;                                 ///< angle of the longer gradient to the rows in degrees
    int channel = 0;                                 ///< channel whose weighted sum is shown, 0 to 3
    bool operator==(const FootprintChoice&) const = default;
};

/// The fetches of the map of ulp differences.
struct UlpRegion {
    static constexpr std::array kPoints{1, 2, 4, 8};  ///< allowed values of `points`
    bool whole = false;                               ///< true: the whole subresource; false: the visible pixels
    int points = 4;  ///< fetches along each dimension of a texel of the whole subresource, one of kPoints
    bool operator==(const UlpRegion&) const = default;
};

/// The quantity that the map of levels of detail shows.
enum class LodQuantity : std::uint8_t {
    lod,      ///< level of detail before bias and clamping
    clamped,  ///< level of detail after bias and clamping
    level,    ///< the finer of the two levels
    blend,    ///< weight of the coarser level
    ratio,    ///< ratio of the axes of the footprint
    samples   ///< number of samples in both levels
};

/// A tilted plane with the image in perspective, which shows the levels that a sampler selects.
struct LodPlane {
    bool shown = false;  ///< true: the plane replaces the flat image
    double tilt = 60;    ///< tilt in degrees; 0 is parallel to the screen
    double turn = 0;     ///< rotation of the image on the plane in degrees
    double repeats = 4;  ///< repetitions of the image across the plane
    bool operator==(const LodPlane&) const = default;
};

/// The texels that the histogram counts: the visible ones, the selected ones, or all of the subresource.
enum class HistogramScope : std::uint8_t { view, selection, all };

/// Overlays of the canvas.
struct Overlays {
    bool values = true;        ///< values in the texels, if the zoom is sufficient
    bool grid = true;          ///< grid between the texels, if the zoom is sufficient
    bool footprint = true;     ///< footprint of the inspected fetch
    bool hexadecimal = false;  ///< values as hexadecimal digits of the stored bits
    bool annotations = true;   ///< annotations
    bool operator==(const Overlays&) const = default;
};

/// The complete state.
struct Session {
    std::vector<Source> images;               ///< open images
    std::size_t current = 0;                  ///< index of the displayed image
    std::optional<std::size_t> reference{};   ///< index of the reference image
    std::string device;                       ///< name of the device; empty: the best device
    SubresourceIndex subresource;             ///< displayed subresource
    Layout layout = Layout::single;           ///< arrangement of the subresources
    ViewState view;                           ///< zoom and position
    bool fits = true;                         ///< true: the view always fits the canvas
    Reading reading = Reading::stored;        ///< source of the values
    std::optional<Sampler> sampler{};         ///< unset: the default sampler of the image
    std::optional<Sampler> second_sampler{};  ///< sampler of Against::sampler
    Display display;                          ///< conversion to colors
    Compare compare;                          ///< comparison
    KernelChoice kernel;                      ///< kernel
    std::optional<TexelBox> selection{};      ///< selected texels
    std::vector<Position> pins;               ///< positions in texels of the subresource; the last one is inspected
    std::vector<Annotation> annotations;      ///< annotations of all images; later ones are drawn over earlier ones
    Probe probe;                              ///< probe panel
    FootprintChoice footprint;                ///< footprint panel
    UlpRegion ulp_region;                     ///< map of ulp differences
    LodPlane lod_plane;                       ///< perspective plane
    LodQuantity lod_quantity = LodQuantity::clamped;        ///< map of levels of detail
    HistogramScope histogram_scope = HistogramScope::view;  ///< histogram panel
    double sphere_yaw = 0;                                  ///< direction of Layout::sphere in degrees
    double sphere_pitch = 0;                                ///< direction of Layout::sphere in degrees
    Overlays overlays;                                      ///< overlays
    std::vector<std::string> panels{"files", "subresource", "inspector", "display"};  ///< open panels
    bool operator==(const Session&) const = default;
};

/// Returns the session as JSON, from which session_of() returns an equal session. Paths are written unchanged.
[[nodiscard]] std::string to_json(const Session& session);
/// Returns the session of a JSON text. `where` appears in messages. Missing keys have the values of Session{}. Relative
/// paths are relative to `folder`, and may lead out of it. Throws Error{bad_argument} for an invalid value, and if an
/// annotation belongs to no image. Unknown
/// keys are ignored and added to `unknown`, as in "'view' > 'tilt'". If `unknown` is null, they are invalid, too.
[[nodiscard]] Session session_of(const std::string& json, const std::string& where,
                                 const std::filesystem::path& folder = {}, std::vector<std::string>* unknown = nullptr);
/// Reads a session file, a regular file of at most 16 MiB. Throws Error{io}, and the errors of session_of().
[[nodiscard]] Session read_session(const std::filesystem::path& path, std::vector<std::string>* unknown = nullptr);
/// Returns a notice about unknown keys of a session file.
[[nodiscard]] std::string unknown_keys_text(const std::filesystem::path& path, const std::vector<std::string>& unknown);
/// Writes a session file. It is written to a temporary file first, so an existing file is unchanged if writing fails.
/// Throws Error{io}, and Error{unsupported} if the name of an image file is not valid UTF-8.
void write_session(const std::filesystem::path& path, const Session& session);

}  // namespace texton::viewer
