#include "arrays/files/container.h"

#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/ktx2.h"
#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kSave = "texton::save";

template <std::size_t kBytes>
bool begins_with(const std::vector<std::byte>& bytes, const std::array<unsigned char, kBytes>& signature) {
    return bytes.size() >= kBytes && std::memcmp(bytes.data(), signature.data(), kBytes) == 0;
}

}  // namespace

Container container_of(const std::filesystem::path& path) {
    constexpr std::array<unsigned char, 4> kDds{'D', 'D', 'S', ' '};
    const std::vector<std::byte> bytes = bytes_at(kOpen, path, 0, kKtx2Signature.size());
    if (begins_with(bytes, kDds)) return Container::dds;
    if (begins_with(bytes, kKtx2Signature)) return Container::ktx2;
    return Container::none;
}

OpenedImage described(std::string file_kind, const ContainerContents& contents,
                      const std::vector<StoredLevel>& levels) {
    OpenedImage opened;
    ImageMetadata& metadata = opened.metadata;
    metadata.file_kind = std::move(file_kind);
    metadata.color_space = contents.color_space;
    const std::size_t channels = info(contents.info.format).channels;
    const bool stores_alpha = contents.order == StoredOrder::same || contents.order.channels[3].count != 0;
    if (channels == 4 && stores_alpha) metadata.alpha = contents.alpha;
    const std::size_t named = channels == 4 && metadata.alpha == ImageAlpha::none ? 3 : channels;
    constexpr const char* kNames[] = {"R", "G", "B", "A"};
    metadata.channels.assign(kNames, kNames + named);
    metadata.data = metadata.display = frame_of(kOpen, contents.info.extent);
    opened.conversions = conversions_of(contents.order, contents.info.format);
    opened.kind = contents.info.kind;
    for (const StoredLevel& level : levels) opened.data.push_back(frame_of(kOpen, level.extent));
    opened.displays = opened.data;
    return opened;
}

void require_countable(const std::filesystem::path& path, const ArrayInfo& info) {
    if (is_possible(info.extent) && info.layers <= kMaxSide) return;
    fail_file(kSave, path,
              fmt::format("is of a kind that cannot hold {} texels in {} layers", to_string(info.extent), info.layers),
              "Save a part of the image.");
}

}  // namespace texton::detail
