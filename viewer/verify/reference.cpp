#include "viewer/verify/reference.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/new_file.h"
#include "viewer/model/json_file.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/sha256.h"
#include "viewer/verify/suite.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr const char* kEnding = ".texref";

[[noreturn]] void refuse(const fs::path& path, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify::read_reference",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = std::move(remedy)});
}

// Returns an image of the size in the header, without its texels. The header may be damaged: throws Error if a value is
// invalid or if the file is too short for the texels.
HostImage read_header(const Json& value, std::uintmax_t bytes_of_file) {
    JsonObject object(value, "image");
    const std::string where = object.where();
    const Format format = format_of(object.text("format").value_or(""), where);
    const Extent extent{object.count("width", 1).value_or(0), object.count("height", 1).value_or(0),
                        object.count("depth", 1).value_or(1)};
    if (packed_bytes(format, extent) > bytes_of_file)  // also throws if the size does not fit into 64 bits
        refuse_text(where, "is larger than the file", "");
    HostImage read{format, extent};
    read.name = object.text("name").value_or("");
    read.file_channels = object.small_count("channels").value_or(0);
    return read;
}

// Returns a whole number in the range of int. Throws std::invalid_argument for other values, which get() would convert.
int whole_number(const Json& value) {
    const bool is_large =
        value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<int>::max()};
    if (!value.is_number_integer() || is_large || value.get<std::int64_t>() < std::numeric_limits<int>::min())
        throw std::invalid_argument("number");
    return value.get<int>();
}

std::vector<fs::path> all_references(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
        if (entry->path().extension() == kEnding) paths.push_back(entry->path());
    std::ranges::sort(paths);
    return paths;
}

// Returns the part of the file name that file_name() created from the case's name.
std::string stem_of(const fs::path& path) {
    const std::string stem = path.stem().string();
    return stem.substr(0, stem.find('@'));
}

}  // namespace

Reference read_reference(const fs::path& path) {
    viewer::refuse_special_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read", "Check the file, or approve the case again with --update.");
    Reference reference;
    reference.path = path;
    std::string line;
    std::getline(file, line);
    try {
        const std::uintmax_t bytes = fs::file_size(path);
        std::string problem;
        const Json header = parse_json(line, problem).value();
        if (whole_number(header.at("texref")) != kVersion) throw std::invalid_argument("texref");
        const char* images = header.contains("images") ? "images" : "pictures";  // the old name (old_names.h)
        for (const Json& image : header.at(images)) {
            reference.images.push_back(read_header(image, bytes));
            std::vector<std::byte>& texels = reference.images.back().texels;
            file.read(reinterpret_cast<char*>(texels.data()), static_cast<std::streamsize>(texels.size()));
            if (!file) refuse(path, "is truncated", "Approve the case again with --update.");
            if (sha256(texels) != image.at("sha256").get<std::string>())
                refuse(path, "contains texels that do not match its SHA-256", "Approve the case again with --update.");
        }
        reference.inputs = header.at("inputs").get<std::vector<std::string>>();
        reference.device = header.at("device").get<std::string>();
        reference.driver = whole_number(header.at("driver"));
        reference.toolkit = header.at("toolkit").get<std::string>();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::io) throw;
        refuse(path, "is not a reference", "Approve the case again with --update.");
    } catch (const std::exception&) {
        refuse(path, "is not a reference", "Approve the case again with --update.");
    }
    return reference;
}

void write_reference(const Reference& reference) {
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
    header["toolkit"] = reference.toolkit;
    std::error_code failed;
    fs::create_directories(reference.path.parent_path(), failed);
    detail::NewFile file("texton::verify::write_reference", reference.path);
    const std::string head = header.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    file.write(std::as_bytes(std::span(head)));
    for (const HostImage& image : reference.images) file.write(image.texels);
    file.complete();
}

fs::path reference_path(const fs::path& folder, const std::string& name_of_case, const std::string& variant) {
    return folder / (file_name(name_of_case) + (variant.empty() ? "" : "@" + file_name(variant)) + kEnding);
}

std::vector<Reference> read_references(const fs::path& folder, const std::string& name_of_case,
                                       const std::optional<fs::path>& within) {
    const std::string stem = file_name(name_of_case);
    std::vector<Reference> references;
    for (const fs::path& path : all_references(folder)) {
        if (stem_of(path) != stem) continue;
        viewer::refuse_outside(within, path);
        references.push_back(read_reference(path));
    }
    return references;
}

std::vector<fs::path> left_references(const fs::path& folder, std::span<const std::string> names_of_cases) {
    std::set<std::string> stems;
    for (const std::string& name : names_of_cases) stems.insert(file_name(name));
    std::vector<fs::path> left = all_references(folder);
    std::erase_if(left, [&](const fs::path& path) { return stems.contains(stem_of(path)); });
    return left;
}

void remove_reference(const fs::path& path) {
    std::error_code failed;
    if (fs::remove(path, failed) || !failed) return;
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify::remove_reference",
                 .problem = fmt::format("{} cannot be removed: {}", path.string(), failed.message()),
                 .remedy = "Make the folder writable."});
}

}  // namespace texton::verify
