#pragma once
// Support for tests of image files: a temporary folder, and files in it that OpenImageIO writes.
#include <OpenImageIO/imageio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image_file.h>

#include "tests/support/temporary_files.h"
#include "tests/support/texels.h"

namespace texton::test {

class ImageFolder {
public:
    ImageFolder() {
        std::string name = (temporary_files() / "texton-image-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) folder_ = name;
    }
    ~ImageFolder() {
        std::error_code ignored;
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(folder_, ignored);
    }
    ImageFolder(const ImageFolder&) = delete;
    ImageFolder& operator=(const ImageFolder&) = delete;

    std::filesystem::path path() const { return folder_; }
    std::filesystem::path at(const std::string& name) const { return folder_ / name; }
    /// Counts all files, including those whose name begins with a dot.
    std::ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
    }

private:
    std::filesystem::path folder_;
};

/// One image of a file with all its levels, as packed texels.
struct StoredImage {
    OIIO::ImageSpec spec;
    std::vector<Bytes> levels;
};

/// Returns an image of this type with bytes that depend on the seed.
inline StoredImage stored_image(int width, int height, int channels, OIIO::TypeDesc type, unsigned seed,
                                int depth = 1) {
    StoredImage image{OIIO::ImageSpec(width, height, channels, type), {}};
    image.spec.depth = image.spec.full_depth = depth;
    image.spec.attribute("oiio:UnassociatedAlpha", 1);  // store the bytes unchanged
    image.levels.push_back(pattern(static_cast<std::size_t>(image.spec.image_bytes()), seed));
    return image;
}

/// Returns a tiled image with all levels down to one texel.
inline StoredImage stored_chain(int width, int height, int channels, OIIO::TypeDesc type, unsigned seed, int tile) {
    StoredImage image = stored_image(width, height, channels, type, seed);
    image.spec.tile_width = image.spec.tile_height = tile;
    image.spec.tile_depth = 1;
    image.spec.attribute("textureformat", "Plain Texture");
    while (width > 1 || height > 1) {
        width = std::max(1, width / 2);
        height = std::max(1, height / 2);
        const auto bytes =
            static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * image.spec.pixel_bytes();
        image.levels.push_back(pattern(bytes, ++seed));
    }
    return image;
}

/// Writes images and their levels with OpenImageIO, without Texton.
inline std::filesystem::path store(const std::filesystem::path& path, const std::vector<StoredImage>& images) {
    const auto out = OIIO::ImageOutput::create(path.string());
    EXPECT_TRUE(out) << path;
    if (!out) return path;
    std::vector<OIIO::ImageSpec> specs;
    for (const StoredImage& image : images) specs.push_back(image.spec);
    bool first = true;
    for (const StoredImage& image : images) {
        OIIO::ImageSpec spec = image.spec;
        for (std::size_t level = 0; level < image.levels.size(); ++level) {
            if (level > 0) {
                spec.width = std::max(1, spec.width / 2);
                spec.height = std::max(1, spec.height / 2);
                spec.full_width = spec.width;
                spec.full_height = spec.height;
            }
            bool opened = false;
            if (first && specs.size() > 1) {
                opened = out->open(path.string(), static_cast<int>(specs.size()), specs.data());
            } else if (first) {
                opened = out->open(path.string(), spec);
            } else {
                const bool mip = level > 0 && out->supports("mipmap");
                opened = out->open(path.string(), spec,
                                   mip ? OIIO::ImageOutput::AppendMIPLevel : OIIO::ImageOutput::AppendSubimage);
            }
            EXPECT_TRUE(opened && out->write_image(spec.format, image.levels[level].data())) << out->geterror();
            first = false;
        }
    }
    EXPECT_TRUE(out->close()) << out->geterror();
    return path;
}

/// Reads the subresource; by default the whole of level 0.
inline Bytes read_part(const ImageFile& image, const Subresource& part = {}) {
    Extent extent = level_extent(image.info(), part.level);
    extent.depth = slice_count(image.info(), part.level);
    if (part.layer) extent.depth = is_cube(image.info().kind) ? 6 : 1;
    if (part.face) extent.depth = 1;
    if (part.region) extent = part.region->extent;
    Bytes bytes(packed_bytes(image.info().format, extent));
    image.read(part, bytes);
    return bytes;
}

inline Bytes file_bytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(in), {});
    Bytes bytes(content.size());
    std::memcpy(bytes.data(), content.data(), content.size());
    return bytes;
}

inline std::filesystem::path write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    std::filesystem::remove(path);  // file systems flush a file that is truncated and rewritten
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
}

/// Returns the first of `sentences` that contains the fragment, or an empty string.
inline std::string sentence_with(const std::vector<std::string>& sentences, std::string_view fragment) {
    for (const std::string& sentence : sentences) {
        if (sentence.find(fragment) != std::string::npos) return sentence;
    }
    return "";
}

}  // namespace texton::test
