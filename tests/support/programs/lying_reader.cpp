// Takes the place of the program texton-reader and sends replies that it must not send. The name of the program,
// without its folder, says which: the test makes symbolic links.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <texton/format.h>

#include "arrays/files/isolated/protocol.h"

namespace {

using namespace texton::detail;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
constexpr std::uint8_t kOpen = 0;  // RequestKind

// A description as arrays/files/isolated/message.cpp writes it: 8 x 8 texels of rgba8_unorm.
struct Body {
    template <class T>
    Body& put(T value) {
        const auto* begin = reinterpret_cast<const char*>(&value);
        bytes.insert(bytes.end(), begin, begin + sizeof(value));
        return *this;
    }
    Body& frame() { return put(0).put(0).put(8).put(8); }
    std::vector<char> bytes;
};

struct Lie {
    texton::Format format = texton::Format::rgba8_unorm;
    std::uint64_t levels = 1, width = 8, height = 8, depth = 1, granule = 8, parts = 1, attributes = 0, windows = 1;
    std::uint64_t texels = 0;
    std::uint8_t kind = 1;
    bool are_stored = false;  // the texels are in the file, far beyond its end
    bool is_tiff = false;     // and has a channel that no texel has
};

Body description(const Lie& lie) {
    Body body;
    body.put(lie.format).put(false).put(true);
    for (int i = 0; i < 5; ++i) body.put(std::uint64_t{0});  // identity of the file
    body.put(lie.levels);
    body.put(lie.width).put(lie.height).put(lie.depth);
    body.put(lie.granule).put(lie.granule).put(std::uint64_t{1}).put(false);
    for (int i = 0; i < 5; ++i) body.put(std::uint64_t{0});  // kind of file, color space, channels: names, types, read
    body.put(std::uint8_t{0}).put(1).frame().frame().put(lie.parts).put(std::uint64_t{1}).put(lie.attributes);
    body.put(std::uint64_t{0});                                    // conversions
    body.put(false).put(std::uint8_t{0});                          // planar format
    body.put(true).put(lie.kind).put(false).put(std::uint8_t{0});  // kind of array, cube
    body.put(lie.windows).frame().put(std::uint64_t{1}).frame();
    body.put(true).put(lie.are_stored);
    if (lie.are_stored) body.put(kHuge).put(kHuge);
    body.put(lie.is_tiff);
    if (lie.is_tiff) body.put(0).put(4).put(std::uint64_t{1}).put(kHuge);
    body.put(lie.texels);
    body.bytes.resize(body.bytes.size() + lie.texels);
    return body;
}

void reply(int socket, const std::vector<char>& bytes) {
    send_packet(socket, PacketKind::reply, bytes.size(), {}, 0, std::as_bytes(std::span(bytes)));
}

// Answers a request to open a file. Returns false if the lie concerns another request.
bool lie_about_opening(const std::string& name, int socket) {
    Lie lie;
    if (name == "format")
        lie.format = static_cast<texton::Format>(200);
    else if (name == "planar")
        lie.format = texton::Format::nv12;
    else if (name == "levels")
        lie.levels = kHuge / 8;
    else if (name == "no-levels")
        lie.levels = 0;
    else if (name == "side")
        lie.width = kHuge;
    else if (name == "no-side")
        lie.width = 0;
    else if (name == "endless") {
        lie.width = lie.height = lie.depth = std::uint64_t{1} << 31;
        lie.granule = 1;
    } else if (name == "terabyte")
        lie.width = lie.height = std::uint64_t{1} << 19;
    else if (name == "attributes")
        lie.attributes = kHuge;
    else if (name == "windows")
        lie.windows = 3;
    else if (name == "kind")
        lie.kind = 99;
    else if (name == "no-parts")
        lie.parts = 0;
    else if (name == "many-parts")
        lie.parts = kHuge;
    else if (name == "far-texels")
        lie.are_stored = true;
    else if (name == "tiff")
        lie.is_tiff = true;
    else if (name == "surplus-texels")
        lie.texels = 8 * 8 * 4 + 1;
    else
        return false;
    reply(socket, description(lie).bytes);
    return true;
}

void answer(const std::string& name, std::uint8_t kind, int socket, int memory, std::uint64_t texels) {
    if (name == "silent") return;
    if (name == "gone") std::exit(1);
    if (name == "short-packet") {
        (void)!send(socket, "abc", 3, MSG_NOSIGNAL);
    } else if (name == "ready-twice") {
        send_packet(socket, PacketKind::ready);
    } else if (name == "unknown-packet") {
        send_packet(socket, static_cast<PacketKind>(77));
    } else if (name == "huge-reply") {
        send_packet(socket, PacketKind::reply, kHuge);
    } else if (name == "huge-error") {
        send_packet(socket, PacketKind::error, kHuge);
    } else if (name == "garbage-error") {
        const std::vector<char> garbage(4096, '\x5a');
        send_packet(socket, PacketKind::error, garbage.size(), {}, 0, std::as_bytes(std::span(garbage)));
    } else if (name == "half-reply") {
        const std::vector<char> half(100);
        send_packet(socket, PacketKind::reply, 200, {}, 0, std::as_bytes(std::span(half)));
    } else if (name == "shrinking-reply") {
        const std::vector<char> full(kMaxContents);
        for (const std::uint64_t bytes : {kMaxResult, std::uint64_t{100}})
            send_packet(socket, PacketKind::reply, bytes, {}, 0, std::as_bytes(std::span(full)));
    } else if (name == "early-texels") {
        send_packet(socket, PacketKind::band, texels);
    } else if (name == "garbage") {
        reply(socket, std::vector<char>(4096, '\x5a'));
    } else if (name == "empty") {
        reply(socket, {});
    } else if (kind == kOpen) {
        if (!lie_about_opening(name, socket)) reply(socket, description({}).bytes);
    } else if (name == "no-texels") {
        reply(socket, {});
    } else if (name == "few-texels") {
        send_packet(socket, PacketKind::band, texels - 1);
    } else if (name == "many-texels") {
        send_packet(socket, PacketKind::band, texels + 1);
    } else {
        // "shrink": memory that is shorter than its mapping would end the library with SIGBUS.
        const bool shortened = ftruncate(memory, 0) == 0 || fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) == 0;
        send_packet(socket, PacketKind::band, shortened ? 0 : texels);
    }
}

// Receives the two descriptors of a connection.
bool receive(int& socket, int& memory) {
    Packet packet;
    iovec part{&packet, sizeof(packet)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPacketDescriptors * sizeof(int))> control{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(kControlDescriptor, &message, 0) <= 0) return false;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr) return false;
    std::memcpy(&socket, CMSG_DATA(header), sizeof(int));
    std::memcpy(&memory, CMSG_DATA(header) + sizeof(int), sizeof(int));
    return true;
}

}  // namespace

int main(int, char** argv) {
    const std::string name = std::filesystem::path(argv[0]).filename();
    if (name == "no-hello") return 0;
    Packet hello;
    if (name == "other-version") hello.protocol += 1;
    (void)!send(kControlDescriptor, &hello, sizeof(hello), MSG_NOSIGNAL);
    int socket = -1, memory = -1;
    while (receive(socket, memory)) {
        send_packet(socket, PacketKind::ready);
        Packet request;
        std::array<std::byte, kMaxContents> contents;
        std::size_t bytes = 0;
        while (receive_packet(socket, request, contents, bytes) == Received::packet) {
            if (request.kind != PacketKind::request) continue;
            answer(name, static_cast<std::uint8_t>(contents[0]), socket, memory, 8 * 8 * 4);
        }
        close(socket);
        close(memory);
    }
    return 0;
}
