// File writers: OpenImageIO, raw bytes, and DDS.
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "assets/make.h"

namespace assets {
namespace {

void put(Bytes& out, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t four(const char (&code)[5]) {
    std::uint32_t out = 0;
    for (int i = 0; i < 4; ++i) out |= static_cast<std::uint32_t>(code[i]) << (8 * i);
    return out;
}

}  // namespace

void write(const std::string& path, OIIO::ImageSpec spec, OIIO::TypeDesc type, const void* data) {
    if (path.ends_with(".exr")) spec.attribute("DateTime", kDateTime);
    const auto out = OIIO::ImageOutput::create(path);
    if (!out || !out->open(path, spec) || !out->write_image(type, data) || !out->close())
        throw std::runtime_error(path + ": " + (out ? out->geterror() : OIIO::geterror()));
    std::cout << path << '\n';
}

void write(const std::string& path, const Canvas& canvas) {
    const bool is_float = path.ends_with(".exr");
    OIIO::ImageSpec spec(canvas.width, canvas.height, 3, is_float ? OIIO::TypeDesc::HALF : OIIO::TypeDesc::UINT8);
    spec.attribute("png:compressionLevel", 9);
    if (is_float) return write(path, spec, OIIO::TypeDesc::FLOAT, canvas.texels.data());
    Bytes texels;
    for (const Rgb& texel : canvas.texels) {
        for (const float channel : texel) texels.push_back(byte_of(channel));
    }
    write(path, spec, OIIO::TypeDesc::UINT8, texels.data());
}

void write_bytes(const std::string& path, const Bytes& bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
    std::cout << path << '\n';
}

void write_dds(const std::string& path, const Dds& dds) {
    constexpr std::uint32_t kCaps = 0x1, kHeight = 0x2, kWidth = 0x4, kPixelFormat = 0x1000, kLevels = 0x20000,
                            kSize = 0x80000, kDepth = 0x800000;
    constexpr std::uint32_t kFourCc = 0x4, kTexture = 0x1000, kComplex = 0x8, kMipmap = 0x400000;
    constexpr std::uint32_t kAllFaces = 0xfe00, kVolume = 0x200000;
    constexpr std::uint32_t kTexture2D = 3, kTexture3D = 4, kCube = 0x4;
    const std::size_t levels = dds.parts.front().size();
    const bool volume = dds.depth > 1, several = levels > 1 || dds.parts.size() > 1 || volume;
    Bytes out;
    put(out, four("DDS "));
    put(out, 124);
    put(out, kCaps | kHeight | kWidth | kPixelFormat | kLevels | kSize | (volume ? kDepth : 0));
    put(out, static_cast<std::uint32_t>(dds.height));
    put(out, static_cast<std::uint32_t>(dds.width));
    put(out, static_cast<std::uint32_t>(dds.parts.front().front().size()));
    put(out, static_cast<std::uint32_t>(dds.depth));
    put(out, static_cast<std::uint32_t>(levels));
    for (int i = 0; i < 11; ++i) put(out, 0);
    put(out, 32);
    put(out, kFourCc);
    put(out, four("DX10"));
    for (int i = 0; i < 5; ++i) put(out, 0);
    put(out, kTexture | (several ? kComplex : 0) | (levels > 1 ? kMipmap : 0));
    put(out, dds.cube ? kAllFaces : volume ? kVolume : 0);
    for (int i = 0; i < 3; ++i) put(out, 0);
    put(out, static_cast<std::uint32_t>(dds.format));
    put(out, volume ? kTexture3D : kTexture2D);
    put(out, dds.cube ? kCube : 0);
    put(out, static_cast<std::uint32_t>(dds.layers));
    put(out, 0);
    for (const auto& part : dds.parts) {
        for (const Bytes& level : part) out.insert(out.end(), level.begin(), level.end());
    }
    write_bytes(path, out);
}

}  // namespace assets
