#pragma once
// Messages between the library and the program texton-reader. Header-only up to the packets, so that programs can use
// them without OpenImageIO.
//
// The library starts one helper per process and has a control socket to it. For each process that reads files, it sends
// the helper a socket and a block of shared memory. The helper forks the process, which answers requests on that
// socket:
//
//   library -> helper    connect with the descriptors socket, memory and folder, to which relative paths refer
//   reader  -> library   ready
//   library -> reader    request: contains a Request
//   reader  -> library   reply: contains the result
//                        or band, for each band of the texels that were requested: it is in the memory
//                        or error: contains the parts of an Error
//                        or out_of_memory
//   library -> reader    copied: the reader can decode another band into the memory
//   library -> reader    closed: a file was closed
//   helper  -> library   ended, on the socket of the reader, after its process ended; not_started if there is none
//
// While the library copies a band, the reader decodes the next one. The bands are in the memory after its header.
// Contents of a reply or an error that are too large for a packet are divided among several of the same kind and value.
//
// Closing the socket ends the process of the reader. The library owns the memory: only it changes its size, and nobody
// can shorten it, so that the library can copy from a mapping of it. It reads each byte once, because the reader can
// change it at any time.
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace texton::detail {

/// "TxR" and the version of the protocol, which changes with the packets and with the messages in message.h.
constexpr std::uint32_t kReaderProtocol = 0x54785207;
constexpr int kControlDescriptor = 3;  ///< descriptor of the control socket in the helper
/// Name of a process that has not received a request yet. Then it has the name of the helper.
constexpr const char* kSpareName = "texton-spare";
constexpr const char* kReaderName = "texton-reader";

enum class PacketKind : std::uint32_t {
    hello,          ///< helper: it has loaded its libraries
    connect,        ///< library: start a reader; carries descriptors
    ready,          ///< reader: it waits for requests
    request,        ///< library: `value` is the number of the request, counted from 1
    reply,          ///< reader: `value` is the number of bytes of the result, in all packets
    band,           ///< reader: `value` is the number of bytes of texels
    copied,         ///< library: it has copied a band
    error,          ///< reader: `value` is the number of bytes of the Error, in all packets
    out_of_memory,  ///< reader: it could not allocate memory
    ended,          ///< helper: `value` is the wait status of the reader
    not_started,    ///< helper or reader: `value` is the errno of the call that failed
    closed          ///< library: the reader closes the file with this number
};

/// All messages have this form.
struct Packet {
    std::uint32_t protocol = kReaderProtocol;
    PacketKind kind = PacketKind::hello;
    std::uint64_t value = 0;
};

constexpr std::size_t kMaxPacketDescriptors = 3;
constexpr std::size_t kMaxContents = std::size_t{64} << 10;    ///< bytes of the contents of a packet
constexpr std::uint64_t kMaxResult = std::uint64_t{64} << 20;  ///< bytes of a result that is not texels

/// The first bytes of the shared memory, which have kHeaderBytes.
struct MemoryHeader {
    /// Number of the last request that the reader has received. If it ends before it received a request, the file is
    /// not the cause. A field of the memory takes less time than a packet, for which the library would wake up.
    std::uint64_t taken = 0;
};
constexpr std::size_t kHeaderBytes = 4096;

/// Sends a packet, with descriptors and contents. `flags` are flags of sendmsg(). Returns false, with errno set, if the
/// other side is gone.
inline bool send_packet(int socket, PacketKind kind, std::uint64_t value = 0, std::span<const int> descriptors = {},
                        int flags = 0, std::span<const std::byte> contents = {}) noexcept {
    Packet packet{.kind = kind, .value = value};
    std::array<iovec, 2> parts{iovec{&packet, sizeof(packet)},
                               iovec{const_cast<std::byte*>(contents.data()), contents.size()}};  // is not written
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
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
    return sent == static_cast<ssize_t>(sizeof(packet) + contents.size());
}

/// Waits without sleeping until a packet or the end of the connection can be received, at most kAwake. Returns false if
/// there is none. The packets about small files follow each other sooner than a processor that sleeps wakes up.
inline bool arrives_soon(int socket) noexcept {
    constexpr std::chrono::microseconds kAwake{100};
    const auto end = std::chrono::steady_clock::now() + kAwake;
    do {
        pollfd event{socket, POLLIN, 0};
        if (poll(&event, 1, 0) > 0) return true;
        sched_yield();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

/// Result of receive_packet().
enum class Received : std::uint8_t { packet, closed, malformed };

/// Receives a packet without descriptors. Descriptors that the other side sends are not accepted. `space` receives the
/// contents, whose number of bytes becomes `bytes`.
inline Received receive_packet(int socket, Packet& packet, std::span<std::byte> space, std::size_t& bytes) noexcept {
    std::array<iovec, 2> parts{iovec{&packet, sizeof(packet)}, iovec{space.data(), space.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    ssize_t got = 0;
    do {
        got = recvmsg(socket, &message, 0);
    } while (got < 0 &&
             (errno == EINTR || errno == ECONNRESET));  // the other side has not received all, which is no loss
    if (got <= 0) return Received::closed;
    const bool valid = got >= static_cast<ssize_t>(sizeof(packet)) && (message.msg_flags & MSG_TRUNC) == 0 &&
                       packet.protocol == kReaderProtocol && packet.kind <= PacketKind::closed;
    bytes = valid ? static_cast<std::size_t>(got) - sizeof(packet) : 0;
    return valid ? Received::packet : Received::malformed;
}
/// Receives a packet without descriptors and contents.
inline Received receive_packet(int socket, Packet& packet) noexcept {
    std::size_t none = 0;
    return receive_packet(socket, packet, {}, none);
}

}  // namespace texton::detail
