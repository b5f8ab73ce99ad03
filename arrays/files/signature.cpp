#include "arrays/files/signature.h"

#include <OpenImageIO/imageio.h>
#include <OpenImageIO/strutil.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

// OpenImageIO can find the reader of a file itself: it lets the readers open the file in turn until one succeeds. For a
// file that no reader accepts, this takes milliseconds, and each reader is exposed to a file that is not meant for it.

namespace texton::detail {
namespace {

using namespace std::string_view_literals;

struct Signature {
    std::string_view reader;
    std::string_view bytes;
    std::size_t at = 0;
    std::string_view more = {};  // further bytes
    std::size_t more_at = 0;
};

// If two rows match, the first one counts.
constexpr Signature kSignatures[] = {
    {"png", "\x89PNG"sv},
    {"jpeg", "\xff\xd8"sv},
    {"raw", "II*\0"sv, 0, "CR"sv, 8},  // Canon
    {"tiff", "II*\0"sv},
    {"tiff", "MM\0*"sv},
    {"tiff", "II+\0"sv},  // BigTIFF
    {"tiff", "MM\0+"sv},
    {"openexr", "v/1\x01"sv},
    {"dds", "DDS "sv},
    {"hdr", "#?"sv},
    {"bmp", "BM"sv},
    {"gif", "GIF8"sv},
    {"webp", "RIFF"sv, 0, "WEBP"sv, 8},
    {"ffmpeg", "RIFF"sv, 0, "AVI "sv, 8},
    {"psd", "8BPS"sv},
    {"sgi", "\x01\xda"sv},
    {"dpx", "SDPX"sv},
    {"dpx", "XPDS"sv},
    {"cineon", "\x80\x2a\x5f\xd7"sv},
    {"cineon", "\xd7\x5f\x2a\x80"sv},
    {"ico", "\0\0\1\0"sv},
    {"iff", "FOR4"sv},
    {"jpeg2000", "\0\0\0\x0cjP  "sv},
    {"jpeg2000", "\xff\x4f\xff\x51"sv},
    {"fits", "SIMPLE"sv},
    {"softimage", "\x53\x80\xf6\x34"sv},
    {"zfile", "\x2f\x08\x67\xab"sv},
    {"zfile", "\xab\x67\x08\x2f"sv},
    {"zfile", "\x1f\x8b"sv},  // compressed by gzip
    {"dicom", "DICM"sv, 128},
    {"openvdb", " BDV"sv},
    {"raw", "FUJIFILMCCD-RAW"sv},
    {"raw", "IIRO"sv},  // Olympus
    {"raw", "IIRS"sv},
    {"raw", "MMOR"sv},
    {"raw", "IIU\0"sv},  // Panasonic
    {"raw", "\0MRM"sv},  // Minolta
    {"raw", "FOVb"sv},   // Sigma
    {"raw", "HEAPCCDR"sv, 6},
    {"raw", "ftypcrx "sv, 4},
    {"heif", "ftyphei"sv, 4},
    {"heif", "ftyphev"sv, 4},
    {"heif", "ftypmif1"sv, 4},
    {"heif", "ftypmsf1"sv, 4},
    {"heif", "ftypavif"sv, 4},
    {"heif", "ftypavis"sv, 4},
    {"ffmpeg", "ftyp"sv, 4},           // QuickTime and MP4
    {"ffmpeg", "\x1a\x45\xdf\xa3"sv},  // Matroska
};

// Readers of kinds of file that have no signature, or more of them than the table.
constexpr std::array kWithoutSignature{"targa"sv, "rla"sv, "raw"sv, "ffmpeg"sv};

bool contains(std::string_view text, std::string_view part, std::size_t at) {
    return text.size() >= at + part.size() && text.compare(at, part.size(), part) == 0;
}

std::string_view reader_of_signature(std::string_view first) {
    for (const Signature& row : kSignatures) {
        if (contains(first, row.bytes, row.at) && contains(first, row.more, row.more_at)) return row.reader;
    }
    // PNM: a P, the digit or letter of the variant, and white space or a comment.
    const bool is_pnm = first.size() > 2 && first[0] == 'P' && "123456Ff"sv.find(first[1]) != std::string_view::npos &&
                        " \t\n\v\f\r#"sv.find(first[2]) != std::string_view::npos;
    return is_pnm ? "pnm"sv : ""sv;
}

std::string_view reader_of_extension(const std::filesystem::path& path) {
    static const std::map<std::string, std::vector<std::string>> extensions = OIIO::get_extension_map();
    const std::string own = OIIO::Strutil::lower(path.extension().string());
    for (const auto& [reader, all] : extensions) {
        if (!own.empty() && std::ranges::find(all, std::string_view(own).substr(1)) != all.end()) return reader;
    }
    return "";
}

}  // namespace

std::string reader_name(const std::filesystem::path& path, std::span<const std::byte> first) {
    const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
    const std::string_view by_signature = reader_of_signature(text);
    if (!by_signature.empty() && by_signature != "tiff") return std::string(by_signature);
    const std::string_view by_extension = reader_of_extension(path);
    if (!by_signature.empty()) return by_extension == "raw" ? "raw" : "tiff";
    const bool is_alone = std::ranges::find(kWithoutSignature, by_extension) != kWithoutSignature.end();
    return is_alone ? std::string(by_extension) : "";
}

}  // namespace texton::detail
