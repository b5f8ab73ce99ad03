#pragma once
// The parts of an image file, and the layers of their channels.
#include <string>
#include <vector>

#include <texton/extent.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// One to four channels that are shown together, such as diffuse.R, diffuse.G and diffuse.B.
struct ChannelGroup {
    std::string layer;                  ///< common prefix without the dot; empty if the names have no prefix
    std::vector<std::string> channels;  ///< full names, in the order in which they are read
    bool operator==(const ChannelGroup&) const = default;
};

/// An image of a file.
struct ImagePart {
    int index = 0;
    std::string name;  ///< empty if the file has no name for it
    Extent extent;
    std::vector<ChannelGroup> groups;
};

/// Returns the groups of channels, in the order of their first channels. The layer of a channel is its name up to the
/// last dot. Within a layer, RGB with or without A, XYZ, UV, and YA are groups, and every other channel is a group of
/// its own.
[[nodiscard]] std::vector<ChannelGroup> channel_groups(const std::vector<std::string>& channels);

/// Reads the headers of all parts of the file. Several files, and the parts of a file that are read as layers, slices
/// or faces, are one part. Throws the errors of open_image(), and Canceled.
[[nodiscard]] std::vector<ImagePart> parts_of(const Source& source, const CancellationToken& token = {});

/// Returns true if two sources read other parts or channels of the same file.
[[nodiscard]] inline bool is_other_part(const Source& a, Source b) {
    b.options.part = a.options.part;
    b.options.part_name = a.options.part_name;
    b.options.channels = a.options.channels;
    return a == b;
}

/// Makes a source read these channels of this part.
void choose(Source& source, const ImagePart& part, const ChannelGroup& group);

}  // namespace texton::viewer
