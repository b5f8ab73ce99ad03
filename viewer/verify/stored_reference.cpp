// A reference is stored in one of two forms:
//
//   CASE.texref        a line of JSON, then the packed texels of all images
//   CASE.texref.json   JSON, in which each image has the name of a file: "file", an image file beside the JSON, or
//                      "stored", a file of the store whose name is the SHA-256 of its contents
//
// Which of the two is written follows from the parts: only packed texels without a store are one file.
#include "viewer/verify/stored_reference.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/json_file.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/sha256.h"
#include "viewer/verify/command.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr const char* kObject = "texton::verify::read_reference";
constexpr const char* kAgain = "Approve the case again with --update.";

[[noreturn]] void refuse(const fs::path& path, std::string problem, std::string remedy = kAgain) {
    throw Error({.code = ErrorCode::io, .object = kObject, .problem = path.string() + " " + problem, .remedy = remedy});
}

// Throws if a file begins like a pointer of Git LFS, which stands for a file that was not downloaded.
void refuse_pointer(const fs::path& path, std::string_view text) {
    if (text.starts_with("version https://git-lfs."))
        refuse(path, "is a pointer of Git LFS, without the file that it stands for", "Run git lfs pull.");
}

bool is_json(const fs::path& path) { return path.extension() == ".json"; }

// Returns the list of images in a header.
const Json& images_in(const Json& header) {
    return header.at(header.contains("images") ? "images" : "pictures");  // the old name (old_names.h)
}

// Returns a whole number in the range of int. Throws std::invalid_argument for other values, which get() would convert.
int whole_number(const Json& value) {
    const bool is_large =
        value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<int>::max()};
    if (!value.is_number_integer() || is_large || value.get<std::int64_t>() < std::numeric_limits<int>::min())
        throw std::invalid_argument("number");
    return value.get<int>();
}

// Calls a function that reads a header. Errors of a damaged header become one that names the file.
template <class Function>
void guarded(const fs::path& path, const Function& function) {
    try {
        function();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::io || error.code() == ErrorCode::not_permitted) throw;
        refuse(path, "is not a reference");
    } catch (const std::exception&) {
        refuse(path, "is not a reference");
    }
}

// --- reading ---------------------------------------------------------------------------------------------------------

// The format and the size of an image in a header, without texels.
struct Described {
    Format format = Format::rgba8_unorm;
    Extent extent;
    std::string name;
    int file_channels = 0;
    std::size_t bytes = 0;  // of the packed texels
};

Described described(const Json& value) {
    JsonObject object(value, "image");
    Described out;
    out.format = format_of(object.text("format").value_or(""), object.where());
    out.extent = {object.count("width", 1).value_or(0), object.count("height", 1).value_or(0),
                  object.count("depth", 1).value_or(1)};
    out.bytes = packed_bytes(out.format, out.extent);  // throws if the size does not fit into 64 bits
    out.name = object.text("name").value_or("");
    out.file_channels = object.small_count("channels").value_or(0);
    return out;
}

std::vector<std::byte> read_bytes(const fs::path& path) {
    viewer::refuse_special_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read", "Check the file, or approve the case again with --update.");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    refuse_pointer(path, text);
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// Returns the path without .texref or .texref.json: the first part of the names of image files.
fs::path without_ending(const fs::path& path) {
    return path.parent_path() / (is_json(path) ? path.stem().stem() : path.stem());
}

// Returns the path of an image file that a header names. The name begins with that of the reference, so that a header
// cannot name other files.
fs::path image_path(const fs::path& path, const Json& value) {
    const auto name = value.get<std::string>();
    const std::string begin = without_ending(path).filename().string(), ending = fs::path(name).extension().string();
    const bool is_image = ending == ".png" || ending == ".exr" || ending == ".dds";
    if (!is_image || !name.starts_with(begin)) throw std::invalid_argument("file");
    const std::string number = name.substr(begin.size(), name.size() - begin.size() - ending.size());
    if (!number.empty() && (number.front() != '+' || number.find_first_not_of("0123456789", 1) != std::string::npos))
        throw std::invalid_argument("file");
    return path.parent_path() / name;
}

fs::path path_in_store(const fs::path& path, const Json& value, const ReferencePlaces& places) {
    constexpr std::size_t kDigits = 64;
    const auto name = value.get<std::string>();
    const std::string ending = name.substr(std::min(kDigits, name.size()));
    const bool is_hash = name.find_first_not_of("0123456789abcdef") >= kDigits && name.size() >= kDigits;
    if (!is_hash || (!ending.empty() && ending != ".png" && ending != ".exr" && ending != ".dds"))
        throw std::invalid_argument("stored");
    if (!places.store)
        refuse(path, "is kept in a store, but the suite names none", "Name the folder of the store with --store.");
    return *places.store / name;
}

StoredReference::Part read_part(const fs::path& path, const Json& image, const ReferencePlaces& places) {
    const bool is_stored = image.contains("stored");
    const fs::path file =
        is_stored ? path_in_store(path, image.at("stored"), places) : image_path(path, image.at("file"));
    if (!is_stored) viewer::refuse_outside(places.within, file);
    StoredReference::Part part{.ending = file.extension().string(), .bytes = read_bytes(file), .file = file};
    if (is_stored && sha256(part.bytes) != file.stem().string())
        refuse(file, "contains bytes that do not match its name, which is their SHA-256");
    return part;
}

// Removes the names of files from a header. They depend on where the reference is.
void without_files(Json& header) {
    if (!header.contains("images")) return;
    for (Json& image : header["images"]) {
        image.erase("file");
        image.erase("stored");
    }
}

// Reads the form of one file.
StoredReference read_one_file(const fs::path& path) {
    viewer::refuse_special_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read", "Check the file, or approve the case again with --update.");
    std::string line;
    std::getline(file, line);
    refuse_pointer(path, line);
    StoredReference stored;
    guarded(path, [&] {
        const std::uintmax_t bytes = fs::file_size(path);
        std::string problem;
        stored.header = parse_json(line, problem).value();
        if (!stored.header.is_object()) throw std::invalid_argument("header");
        for (const Json& image : images_in(stored.header)) {
            const Described size = described(image);
            if (size.bytes > bytes) throw std::invalid_argument("size");
            std::vector<std::byte>& texels = stored.parts.emplace_back().bytes;
            texels.resize(size.bytes);
            file.read(reinterpret_cast<char*>(texels.data()), static_cast<std::streamsize>(texels.size()));
            if (!file) refuse(path, "is truncated");
        }
        without_files(stored.header);
    });
    return stored;
}

Json read_header(const fs::path& path) {
    std::string problem;
    const std::optional<std::string> text = read_json_text(path, problem);
    if (!text) refuse(path, problem, "Check the file, or approve the case again with --update.");
    refuse_pointer(path, *text);
    std::optional<Json> header = parse_json(*text, problem);
    if (!header) refuse(path, "is not a reference");
    return std::move(*header);
}

// Decodes an image file that has the format and the size of the header.
std::vector<std::byte> decoded_file(const fs::path& path, const Described& size) {
    const FormatInfo& format = info(size.format);
    ImageOptions options{.format = size.format, .upright = false};
    if (format.kind != FormatKind::srgb) options.color = ImageColor::linear;
    const ImageFile file = open_image(path, options, viewer::file_reading());
    const ArrayInfo& array = file.info();
    Extent extent = level_extent(array, 0);
    extent.depth = slice_count(array, 0);
    if (array.format != size.format || extent != size.extent || array.levels != 1) throw std::invalid_argument("size");
    return std::move(read_array(file).levels.front().texels);
}

// --- writing ---------------------------------------------------------------------------------------------------------

Json header_of(const Reference& reference) {
    Json header;
    header["texref"] = kVersion;
    header["images"] = Json::array();
    for (const HostImage& image : reference.images) {
        Json described{{"format", name(image.format)},
                       {"width", image.extent.width},
                       {"height", image.extent.height},
                       {"depth", image.extent.depth},
                       {"sha256", sha256(image.texels)}};
        if (!image.name.empty()) described["name"] = image.name;
        if (image.file_channels != 0) described["channels"] = image.file_channels;
        header["images"].push_back(std::move(described));
    }
    header["inputs"] = reference.inputs;
    header["device"] = reference.device;
    header["driver"] = reference.driver;
    if (!reference.driver_release.empty()) header["driver_release"] = reference.driver_release;
    if (!reference.compute_capability.empty()) header["compute_capability"] = reference.compute_capability;
    if (!reference.cpu.empty()) header["cpu"] = reference.cpu;
    header["toolkit"] = reference.toolkit;
    return header;
}

// Returns the extension of image files that can hold the texels; empty if there is none.
std::string ending_for(const HostImage& image) {
    const FormatInfo& format = info(image.format);
    const bool is_color = format.kind == FormatKind::unorm || format.kind == FormatKind::srgb;
    const bool is_float = format.kind == FormatKind::floating;
    if (format.layout != FormatLayout::plain || (!is_color && !is_float)) return {};
    if (image.extent.depth > 1) return ".dds";
    return is_float ? ".exr" : ".png";
}

// Returns an image file, or nothing if none holds every bit of the image.
std::optional<StoredReference::Part> image_file_of(const HostImage& image, const WorkingFolder& folder) {
    const std::string ending = ending_for(image);
    if (ending.empty()) return {};
    const fs::path path = folder.path() / ("image" + ending);
    try {
        // OpenEXR files contain a date. All references have the same one, so equal images have equal files.
        save(path, image.view(),
             {.attributes = {{.name = "DateTime", .value = "1970:01:01 00:00:00"}},
              .alpha = SavedAlpha::kept,
              .waits_for_disk = false});
        const Described size{.format = image.format, .extent = image.extent, .name = {}};
        if (decoded_file(path, size) != image.texels) return {};
        return StoredReference::Part{.ending = ending, .bytes = read_bytes(path), .file = {}};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory) throw;
        return {};  // the kind of file cannot hold this image
    } catch (const std::invalid_argument&) {
        return {};  // it is read with another size or format
    }
}

// Returns the parts as image files, or nothing if not all images have one.
std::vector<StoredReference::Part> image_files_of(const std::vector<HostImage>& images) {
    std::vector<StoredReference::Part> parts;
    const WorkingFolder folder;
    for (const HostImage& image : images) {
        std::optional<StoredReference::Part> part = image_file_of(image, folder);
        if (!part) return {};
        parts.push_back(std::move(*part));
    }
    return parts;
}

// Writes a file of the store unless it is there.
void write_to_store(const fs::path& path, const std::vector<std::byte>& bytes) {
    std::error_code failed;
    if (fs::is_symlink(path, failed)) refuse(path, "is a symbolic link", "Remove it: a store contains only files.");
    if (fs::file_size(path, failed) == bytes.size() && !failed && read_bytes(path) == bytes) return;
    FileUpdate update;
    update.add(path, bytes);
    update.complete();
}

std::string text_of(const Json& header, int indent) {
    return header.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

StoredReference stored_reference(const Reference& reference, bool as_images) {
    StoredReference stored{.header = header_of(reference), .parts = {}};
    if (as_images) stored.parts = image_files_of(reference.images);
    if (stored.parts.empty())
        for (const HostImage& image : reference.images)
            stored.parts.push_back({.ending = {}, .bytes = image.texels, .file = {}});
    return stored;
}

void add_files(FileUpdate& update, const StoredReference& stored, const fs::path& path, const ReferencePlaces& places) {
    std::vector<fs::path> old = files_of_reference(path);
    const fs::path json_path = path.string() + ".json";
    std::ranges::copy(files_of_reference(json_path), std::back_inserter(old));
    const auto add = [&](const fs::path& file, const std::vector<std::byte>& bytes) {
        viewer::refuse_outside(places.within, file);
        update.add(file, bytes);
        std::erase(old, file);
    };
    if (!places.store && !stored.has_images()) {
        const std::string head = text_of(stored.header, -1);
        const auto head_bytes = std::as_bytes(std::span(head));
        std::vector<std::byte> bytes(head_bytes.begin(), head_bytes.end());
        for (const StoredReference::Part& part : stored.parts)
            bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
        add(path, bytes);
    } else {
        Json header = stored.header;
        for (std::size_t i = 0; i < stored.parts.size(); ++i) {
            const auto& [ending, bytes, from] = stored.parts[i];
            Json& image = header["images"][i];
            if (places.store) {
                const std::string name = sha256(bytes) + ending;
                write_to_store(*places.store / name, bytes);
                image["stored"] = name;
            } else {
                // file_name() never returns a '+', so that no other case has this name.
                const std::string number = stored.parts.size() > 1 ? fmt::format("+{}", i + 1) : "";
                const fs::path file = without_ending(path).string() + number + ending;
                image["file"] = file.filename().string();
                add(file, bytes);
            }
        }
        const std::string text = text_of(header, 4);
        const auto text_bytes = std::as_bytes(std::span(text));
        add(json_path, {text_bytes.begin(), text_bytes.end()});
    }
    for (fs::path& file : old) update.remove(std::move(file));
}

StoredReference read_stored_reference(const fs::path& path, const ReferencePlaces& places) {
    viewer::refuse_outside(places.within, path);
    if (!is_json(path)) return read_one_file(path);
    StoredReference stored{.header = read_header(path), .parts = {}};
    guarded(path, [&] {
        for (const Json& image : stored.header.at("images")) stored.parts.push_back(read_part(path, image, places));
        without_files(stored.header);
    });
    return stored;
}

Reference decoded(StoredReference stored, const fs::path& path) {
    Reference reference;
    reference.path = path;
    guarded(path, [&] {
        const Json& header = stored.header;
        if (whole_number(header.at("texref")) != kVersion) throw std::invalid_argument("texref");
        const Json& images = images_in(header);
        for (std::size_t i = 0; i < images.size(); ++i) {
            const Described size = described(images[i]);
            HostImage& image = reference.images.emplace_back();
            image.format = size.format;
            image.extent = size.extent;
            image.name = size.name;
            image.file_channels = size.file_channels;
            StoredReference::Part& part = stored.parts.at(i);
            image.texels = part.ending.empty() ? std::move(part.bytes) : decoded_file(part.file, size);
            if (image.texels.size() != size.bytes || sha256(image.texels) != images[i].at("sha256").get<std::string>())
                refuse(path, "contains texels that do not match its SHA-256");
        }
        reference.inputs = header.at("inputs").get<std::vector<std::string>>();
        reference.device = header.at("device").get<std::string>();
        reference.driver = whole_number(header.at("driver"));
        reference.toolkit = header.at("toolkit").get<std::string>();
        reference.compute_capability = header.value("compute_capability", "");
        reference.driver_release = header.value("driver_release", "");
        reference.cpu = header.value("cpu", "");
    });
    return reference;
}

std::vector<fs::path> files_of_reference(const fs::path& path) {
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(path, failed))) return {};
    std::vector<fs::path> files{path};
    if (!is_json(path)) return files;
    // The files of a header that is damaged are unknown. They stay.
    try {
        const Json header = read_header(path);
        for (const Json& image : header.at("images"))
            if (image.contains("file")) files.push_back(image_path(path, image.at("file")));
    } catch (const std::exception&) {
        files.resize(1);
    }
    return files;
}

}  // namespace texton::verify
