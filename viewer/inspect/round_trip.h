#pragma once
// Whether what a picture's files hold comes back from the device as it was.
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <texton/array.h>
#include <texton/picture.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// A level of a layer, face or plane, and of a volume all its slices.
struct TripPart {
    Place place;
    Extent extent;
    bool operator==(const TripPart&) const = default;
};

/// The first byte that differs.
struct TripMismatch {
    Place place;           ///< with the slice
    Offset texel;          ///< of a block its first; x and y alone
    std::size_t byte = 0;  ///< of the part, packed
    std::byte expected{};
    std::byte found{};
    bool operator==(const TripMismatch&) const = default;
};

struct TripResult {
    TripPart part;
    std::size_t bytes = 0;
    std::size_t different = 0;
    std::optional<TripMismatch> first{};
};

/// All parts of such an array, level by level.
[[nodiscard]] std::vector<TripPart> trip_parts(const ArrayInfo& info);

/// Reads the part from the files and from the array, and compares their bytes. Error{bad_argument} unless the picture is like the array.
[[nodiscard]] TripResult compare_part(const Picture& picture, const Array& array, const TripPart& part,
                                      const StillWanted& wanted = {});

/// Uploads the picture's texels to an array of its own on the device, part by part, and compares each with what comes back;
/// `damage` says a byte of the first part that is changed on the device before: to see that it is found. `each` is called
/// after every part.
void round_trip(const Device& device, const Picture& picture, const std::function<void(const TripResult&)>& each,
                const StillWanted& wanted = {}, std::optional<std::size_t> damage = {});

}  // namespace texton::viewer
