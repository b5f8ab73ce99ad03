#include "core/show/listener.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

constexpr int kWaiting = 64;  // connections that were not accepted yet

const sockaddr* generic(const ShowAddress& address) { return reinterpret_cast<const sockaddr*>(&address.address); }

[[noreturn]] void refuse(const ShowAddress& address, const std::string& why) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::show",
                 .problem = fmt::format("no window can listen at {}: {}", address.text, why),
                 .remedy = "Close the other window, or set TEXTON_SHOW to another path for both programs."});
}

// Removes the socket of a window that was killed. Returns false if something else is there.
bool remove_stale(const ShowAddress& address) {
    struct stat status {};
    if (address.is_abstract() || ::lstat(address.text.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
    const OwnedDescriptor probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return probe && ::connect(probe.get(), generic(address), address.bytes) != 0 && errno == ECONNREFUSED &&
           ::unlink(address.text.c_str()) == 0;
}

}  // namespace

ShowListener::ShowListener(const ShowAddress& address)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (!socket_) refuse(address, std::strerror(errno));
    if (::bind(socket_.get(), generic(address), address.bytes) != 0) {
        if (errno != EADDRINUSE) refuse(address, std::strerror(errno));
        if (!remove_stale(address) || ::bind(socket_.get(), generic(address), address.bytes) != 0)
            refuse(address, "the address is in use");
    }
    if (!address.is_abstract()) {
        path_ = address.text;
        struct stat status {};
        if (::lstat(path_.c_str(), &status) == 0) {
            device_ = status.st_dev;
            inode_ = status.st_ino;
        }
        (void)::chmod(path_.c_str(), 0600);
    }
    if (::listen(socket_.get(), kWaiting) != 0) refuse(address, std::strerror(errno));
}

ShowListener::~ShowListener() {
    struct stat status {};
    if (!path_.empty() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        (void)::unlink(path_.c_str());
}

OwnedDescriptor ShowListener::accept() const noexcept {
    while (true) {
        OwnedDescriptor connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!connection || is_same_user(connection.get())) return connection;
    }
}

ShowConnectionState receive_show_message(int connection, ShowReceived& received, OwnedDescriptor& memory) {
    std::array<std::byte, sizeof(ShowMessage) + 1> packet{};  // one byte more, so that a longer packet is noticed
    iovec part{packet.data(), packet.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    // Room for several descriptors, so that all that arrive are known and closed.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t bytes = ::recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? ShowConnectionState::waiting
                                                                         : ShowConnectionState::closed;
    OwnedDescriptor first;
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= each->cmsg_len; at += sizeof(int)) {
            int descriptor = -1;
            std::memcpy(&descriptor, reinterpret_cast<const char*>(each) + at, sizeof(int));
            OwnedDescriptor owned(descriptor);
            if (!first) first = std::move(owned);
        }
    }
    if (bytes == 0) return ShowConnectionState::closed;
    received = parse_show_message({packet.data(), static_cast<std::size_t>(bytes)});
    memory = std::move(first);
    if (received.kind == ShowMessageKind::image && !memory) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::show",
                     .problem = fmt::format("the image {} was announced without memory", received.name),
                     .remedy = "Use a program and a texton-view of the same version."});
    }
    return ShowConnectionState::received;
}

}  // namespace texton::detail
