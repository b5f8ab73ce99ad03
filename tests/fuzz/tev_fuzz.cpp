// Packets of tev's protocol. The input is a sequence of packets, each with its length. Images are created and updated.
#include "viewer/live/tev_packet.h"

#include <map>

#include "tests/fuzz/fuzz.h"
#include "viewer/live/tev_image.h"

using namespace texton;
namespace tev = texton::viewer::tev;

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;  // bytes of an image

void create(std::map<std::string, tev::Image>& images, const tev::CreateImage& packet) {
    fuzz::require(packet.width > 0 && packet.height > 0 && !packet.channels.empty(), "an image has texels");
    auto image = fuzz::accepted([&] { return tev::Image(packet, kLargest); });
    if (!image) return;
    fuzz::require(image->bytes() <= kLargest, "an image keeps to its limit");
    fuzz::require(image->bytes() == packed_bytes(image->format(), image->extent()), "an image has all its texels");
    images.insert_or_assign(packet.name, std::move(*image));
}

void update(std::map<std::string, tev::Image>& images, const tev::UpdateImage& packet) {
    for (const tev::UpdateImage::Channel& each : packet.channels) {
        (void)packet.value(each, 0);
        (void)packet.value(each, packet.width * packet.height - 1);
    }
    const auto found = images.find(packet.name);
    if (found == images.end()) return;
    const auto before = found->second.texels();
    const std::vector<float> copy = *before;
    (void)fuzz::accepted([&] {
        found->second.update(packet);
        return true;
    });
    fuzz::require(copy.size() == before->size() &&
                      (copy.empty() || std::memcmp(copy.data(), before->data(), copy.size() * 4) == 0),
                  "texels that were handed out do not change");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::map<std::string, tev::Image> images;
    std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
    while (rest.size() >= tev::kLengthBytes) {
        const auto length = fuzz::accepted([&] { return tev::packet_length(rest.first<tev::kLengthBytes>()); });
        if (!length) return 0;
        const std::span<const std::byte> packet = rest.first(std::min(*length, rest.size()));
        const auto parsed = fuzz::accepted([&] { return tev::parse_packet(packet); });
        fuzz::require(!parsed || packet.size() == *length, "half a packet is refused");
        rest = rest.subspan(packet.size());
        if (!parsed) continue;  // the next packet is tested, too
        if (const auto* created = std::get_if<tev::CreateImage>(&*parsed)) create(images, *created);
        if (const auto* updated = std::get_if<tev::UpdateImage>(&*parsed)) update(images, *updated);
    }
    return 0;
}
