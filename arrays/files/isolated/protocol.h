#pragma once
// Messages between the library and the program texton-reader. Header-only up to the packets, so that programs can use
// them without OpenImageIO.
//
// The library starts one helper per process and has a control socket to it. For each file that it reads, it sends the
// helper a socket and a block of shared memory. The helper forks a process, which answers requests on that socket:
//
//   library -> helper    connect with the descriptors socket, memory and folder, to which relative paths refer
//   reader  -> library   ready
//   library -> reader    request: the first bytes of the memory contain a Request
//   reader  -> library   taken
//   reader  -> library   reply: the first bytes of the memory contain the result (a value, or the texels)
//                        or error: they contain the parts of an Error
//                        or out_of_memory
//   library -> reader    closed: the file was closed; requests for another file follow
//   helper  -> library   ended, on the socket of the reader, after its process ended; not_started if there is none
//
// Closing the socket ends the process of the reader. The library owns the memory: only it changes its size, and it
// copies the contents with pread() instead of mapping them.
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace texton::detail {

/// "TxR" and the version of the protocol, which changes with the packets and with the messages in message.h.
constexpr std::uint32_t kReaderProtocol = 0x54785204;
constexpr int kControlDescriptor = 3;  ///< descriptor of the control socket in the helper

enum class PacketKind : std::uint32_t {
    hello,          ///< helper: it has loaded its libraries
    connect,        ///< library: start a reader; carries descriptors
    ready,          ///< reader: it waits for requests
    request,        ///< library: `value` is the number of bytes of the request
    taken,          ///< reader: it has received the request; if it ends without this packet, the file is not the cause
    reply,          ///< reader: `value` is the number of bytes of the result
    error,          ///< reader: `value` is the number of bytes of the Error
    out_of_memory,  ///< reader: it could not allocate memory
    ended,          ///< helper: `value` is the wait status of the reader
    not_started,    ///< helper or reader: `value` is the errno of the call that failed
    closed          ///< library: the reader closes the file
};

/// All messages have this form.
struct Packet {
    std::uint32_t protocol = kReaderProtocol;
    PacketKind kind = PacketKind::hello;
    std::uint64_t value = 0;
};

constexpr std::size_t kMaxPacketDescriptors = 3;

/// Sends a packet, with descriptors. `flags` are flags of sendmsg(). Returns false, with errno set, if the other side is
/// gone.
inline bool send_packet(int socket, PacketKind kind, std::uint64_t value = 0, std::span<const int> descriptors = {},
                        int flags = 0) noexcept {
    Packet packet{.kind = kind, .value = value};
    iovec part{&packet, sizeof(packet)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kMaxPacketDescriptors * sizeof(int))> control{};
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent = 0;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(sizeof(packet));
}

/// Result of receive_packet().
enum class Received : std::uint8_t { packet, closed, malformed };

/// Receives a packet without descriptors. Descriptors that the other side sends are not accepted.
inline Received receive_packet(int socket, Packet& packet) noexcept {
    ssize_t got = 0;
    do {
        got = recv(socket, &packet, sizeof(packet), MSG_TRUNC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return Received::closed;
    const bool valid = got == static_cast<ssize_t>(sizeof(packet)) && packet.protocol == kReaderProtocol &&
                       packet.kind <= PacketKind::closed;
    return valid ? Received::packet : Received::malformed;
}

}  // namespace texton::detail
