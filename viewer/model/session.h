#pragma once
// All that a person chose in the viewer: a value. What is on the screen follows from it and from the files alone, so that
// undo, session files, screenshots and tests share it.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <texton/fetch.h>
#include <texton/kernel.h>
#include <texton/picture.h>
#include <texton/sampler.h>

#include "viewer/model/view_state.h"

namespace texton::viewer {

/// Files that are one picture, and how they are read.
struct Source {
    std::vector<std::filesystem::path> paths;
    PictureOptions options{};
    bool operator==(const Source&) const = default;
};

/// Which texels of an array are seen. What the picture does not have is not looked at; what reaches past its end is its last.
struct Place {
    int level = 0;
    std::size_t layer = 0;  ///< of a layered kind; of cubemap_layered: the cube
    int face = 0;
    std::size_t slice = 0;  ///< of a volume
    int plane = 0;          ///< of a planar picture
    bool operator==(const Place&) const = default;
};

/// How the parts of an array lie on the canvas.
enum class Layout : std::uint8_t {
    single,  ///< the one at the place
    sheet,   ///< all levels, layers, faces and slices beside each other
    cross,   ///< of a cubemap
    sphere   ///< of a cubemap, seen from its middle
};

/// What a pixel of the canvas shows.
enum class Reading : std::uint8_t {
    stored,  ///< the texel that is there
    sampled  ///< what a texture with the session's sampler returns there
};

enum class FalseColour : std::uint8_t { none, viridis, turbo, diverging };

/// From texels to colours on a screen, in this order: range to 0 to 1, exposure, channels, false colour or the screen's curve
/// with gamma.
struct Display {
    std::array<bool, 4> channels{true, true, true, true};  ///< red, green, blue, alpha; a single one is shown as grey
    bool luminance = false;
    float exposure = 0;  ///< in stops
    float gamma = 1;     ///< on top of the screen's curve
    float low = 0;       ///< what becomes black, in shares of an integer's range
    float high = 1;      ///< what becomes white
    FalseColour false_colour = FalseColour::none;
    bool mark_nan = true;     ///< NaN and infinities in a colour that nothing else has
    bool mark_range = false;  ///< values below low and above high too
    bool operator==(const Display&) const = default;
};

/// What the shown picture is held against.
enum class Against : std::uint8_t {
    reference,  ///< another picture, read alike
    sampler,    ///< the same one, read with the second sampler
    device      ///< the same one, on the other device
};

enum class CompareMode : std::uint8_t { none, wipe, difference, absolute, relative, squared, ulp };

struct Compare {
    CompareMode mode = CompareMode::none;
    Against against = Against::reference;
    double wipe = 0.5;  ///< share of the canvas' width that shows the picture
    bool flip = false;  ///< among the figures, too
    bool operator==(const Compare&) const = default;
};

/// A kernel that is run on the current picture; its result is shown. No name: none.
struct KernelChoice {
    std::string name;
    std::map<std::string, ParameterValue> parameters;
    std::vector<std::size_t> more_inputs;  ///< pictures that it takes beside the current one
    bool operator==(const KernelChoice&) const = default;
};

/// Texels of the place that is shown.
struct TexelBox {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t width = 0;
    std::size_t height = 0;
    bool operator==(const TexelBox&) const = default;
};

/// A fetch that somebody asks for by its numbers, and a line of such, to be plotted.
struct Probe {
    FetchOperation operation = FetchOperation::plain;
    float u = 0.5f;  ///< 0 to 1 across the picture; of cubemaps: a direction
    float v = 0.5f;
    float w = 0.5f;
    float lod = 0;
    std::array<float, 3> line_from{0, 0.5f, 0.5f};
    std::array<float, 3> line_to{1, 0.5f, 0.5f};
    int component = 0;      ///< 0 to 3, of gather
    double plot_first = 0;  ///< what of the line is plotted, in shares of it
    double plot_last = 1;
    bool operator==(const Probe&) const = default;
};

/// How the fetch is made whose footprint is shown.
enum class FootprintFetch : std::uint8_t {
    as_seen,    ///< as the canvas samples the pixel
    gradients,  ///< of a pixel with sides of one's own
    probe       ///< the probe's
};

struct FootprintChoice {
    FootprintFetch fetch = FootprintFetch::as_seen;
    double longer = 4;  ///< sides of the pixel, in texels
    double shorter = 1;
    double turn = 0;  ///< degrees of the longer one from the rows
    int channel = 0;  ///< 0 to 3, whose sum is shown
    bool operator==(const FootprintChoice&) const = default;
};

/// Of which fetches the map of ulps is.
struct UlpRegion {
    static constexpr std::array kPoints{1, 2, 4, 8};
    bool whole = false;  ///< the whole place; else the pixels that are seen
    int points = 4;      ///< along each side of a texel of the whole place, one of kPoints
    bool operator==(const UlpRegion&) const = default;
};

/// What of the levels that a fetch takes is shown in colours.
enum class LodQuantity : std::uint8_t {
    lod,      ///< before bias and limits
    clamped,  ///< after them
    level,    ///< the finer of the levels that are read
    blend,    ///< the share of the coarser one
    ratio,    ///< of the footprint's axes
    samples   ///< places that are sampled, in both levels
};

/// A plane that carries the picture, turned away from the eye: what levels a sampler takes across it.
struct LodPlane {
    bool shown = false;
    double tilt = 60;  ///< degrees
    double turn = 0;
    double repeats = 4;  ///< of the picture across the plane
    bool operator==(const LodPlane&) const = default;
};

/// Which texels of the place the histogram counts.
enum class HistogramScope : std::uint8_t { view, selection, all };

/// What is drawn over the picture.
struct Overlays {
    bool values = true;  ///< in each texel, where there is room
    bool grid = true;    ///< between texels, where there is room
    bool footprint = true;
    bool hexadecimal = false;
    bool operator==(const Overlays&) const = default;
};

struct Session {
    std::vector<Source> pictures;
    std::size_t current = 0;
    std::optional<std::size_t> reference{};
    std::string device;  ///< empty: the best
    Place place;
    Layout layout = Layout::single;
    ViewState view;
    bool fits = true;  ///< the view follows from the canvas' size
    Reading reading = Reading::stored;
    std::optional<Sampler> sampler{};         ///< unset: the usual one of the picture
    std::optional<Sampler> second_sampler{};  ///< of Against::sampler
    Display display;
    Compare compare;
    KernelChoice kernel;
    std::optional<TexelBox> selection{};
    std::vector<Position> pins;  ///< in texels of the place; the last is inspected
    Probe probe;
    FootprintChoice footprint;
    UlpRegion ulp_region;
    LodPlane lod_plane;
    LodQuantity lod_quantity = LodQuantity::clamped;
    HistogramScope histogram_scope = HistogramScope::view;
    double sphere_yaw = 0;  ///< degrees
    double sphere_pitch = 0;
    Overlays overlays;
    std::vector<std::string> panels{"files", "subresource", "inspector", "display"};  ///< that are open
    bool operator==(const Session&) const = default;
};

/// Complete: what read_session() makes of it is equal. Paths are written as they are.
[[nodiscard]] std::string to_json(const Session& session);
/// `where` is said in messages. What is not there is as in Session{}; relative paths are taken from `folder`. Error{bad_argument}
/// names a key that is wrong or unknown.
[[nodiscard]] Session session_of(const std::string& json, const std::string& where,
                                 const std::filesystem::path& folder = {});
/// Error{io} for a file that cannot be read or written.
[[nodiscard]] Session read_session(const std::filesystem::path& path);
void write_session(const std::filesystem::path& path, const Session& session);

}  // namespace texton::viewer
