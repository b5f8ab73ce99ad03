#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include <OpenImageIO/imageio.h>

#include <texton/image_file.h>

#include "arrays/files/formats.h"

namespace texton {
namespace {

// Returns the extensions of the kinds of file that OpenImageIO reads, with the dot, and those that Texton reads itself.
const std::set<std::string>& image_endings() {
    static const std::set<std::string> endings = [] {
        std::set<std::string> all{".dds", ".ktx2", ".y4m", ".yuv"};
        // "tiff:tif,tiff;jpeg:jpg,jpeg"
        std::istringstream kinds(OIIO::get_string_attribute("extension_list"));
        for (std::string kind; std::getline(kinds, kind, ';');) {
            std::istringstream names(kind.substr(kind.find(':') + 1));
            for (std::string name; std::getline(names, name, ',');) all.insert("." + name);
        }
        return all;
    }();
    return endings;
}

}  // namespace

bool is_image_name(const std::filesystem::path& path) { return image_endings().contains(detail::file_ending(path)); }

}  // namespace texton
