#pragma once
// Color conversions by tables on a device: for the canvas of images on a GPU, whose many colors OpenColorIO's processor
// would convert one after the other.
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <texton/device.h>
#include <texton/texture.h>

#include "viewer/render/color_transform.h"

namespace texton::viewer {

/// A ColorTransform as a 3D table of a device, which lut_3d() applies.
///
/// The table has 8 entries along each channel for each octave of value + 1/64, from kMinLevel to kMaxLevel. It contains
/// the results as linear light, decoded with the sRGB curve: within a cell, conversions between primaries are linear
/// and therefore exact. Colors with a channel outside of the range, and those that are not finite, are converted by the
/// ColorTransform, and so are the last ones if they are fewer than 512. Immutable: several threads may use it at once.
class ColorTables {
public:
    static constexpr float kMinLevel = -1.0f / 128;      ///< first entry of a channel
    static constexpr float kMaxLevel = 16 - 1.0f / 64;   ///< last entry of a channel
    static constexpr std::size_t kEntries = 11 * 8 + 1;  ///< entries along each channel: 11 octaves

    static constexpr float kMaxError = 2;  ///< of error(), for the canvas to use tables

    /// Computes the table, which takes a fraction of a second. Throws the errors of Array.
    ColorTables(const Device& device, std::shared_ptr<const ColorTransform> transform);
    ColorTables(const ColorTables&) = delete;
    ColorTables& operator=(const ColorTables&) = delete;
    ~ColorTables();

    /// Converts colors in place to linear light, which the sRGB curve encodes as the code values of the display. Alpha
    /// is unchanged. Blocks. Throws the errors of Pitched2D and of lut_3d().
    void apply(std::span<Color> colors) const;

    /// Returns the maximum difference from the results of the ColorTransform, in code values from 0 to 255, of 65,536
    /// colors between the entries. Throws the errors of apply().
    [[nodiscard]] float error() const;

private:
    struct Scratch;

    std::unique_ptr<Scratch> take_scratch() const;

    Device device_;
    std::shared_ptr<const ColorTransform> transform_;
    Texture table_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Scratch>> idle_;  // one per thread that has used the table at the same time
};

/// The error of the tables of a conversion.
struct ColorTableError {
    std::shared_ptr<const ColorTransform> transform{};
    float error = 0;                                                           ///< ColorTables::error()
    bool is_used() const noexcept { return error <= ColorTables::kMaxError; }  ///< false: the processor is used
    bool operator==(const ColorTableError&) const = default;
};

/// Caches the tables of the last conversion on the last device. Thread-safe.
class ColorTableCache {
public:
    /// Returns the tables of a conversion, or null if their error exceeds ColorTables::kMaxError. Throws the errors of
    /// ColorTables.
    [[nodiscard]] std::shared_ptr<const ColorTables> tables(const Device& device,
                                                            const std::shared_ptr<const ColorTransform>& transform);
    /// Returns the error of the last tables, or nullopt if none were made.
    [[nodiscard]] std::optional<ColorTableError> last_error() const;

private:
    mutable std::mutex mutex_;
    std::optional<Device> device_;
    std::shared_ptr<const ColorTransform> transform_;
    float error_ = 0;
    std::shared_ptr<const ColorTables> tables_;
};

}  // namespace texton::viewer
