#include "core/show/connection.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace texton::detail {

std::shared_ptr<ShowConnection> ShowConnection::open() {
    const std::optional<ShowAddress> window = show_address();
    if (!window) return nullptr;
    auto connection = std::make_shared<ShowConnection>(-1);
    connection->socket_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int socket = connection->socket_;
    if (socket < 0) return nullptr;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&window->address), window->bytes) != 0) return nullptr;
    return is_same_user(socket) ? connection : nullptr;
}

ShowConnection::~ShowConnection() {
    if (socket_ >= 0) ::close(socket_);
}

bool ShowConnection::is_open() const noexcept {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);  // the window sends nothing
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

bool ShowConnection::send(const ShowMessage& message, int descriptor) const noexcept {
    ShowMessage copy = message;
    iovec part{&copy, sizeof(copy)};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (descriptor >= 0) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    }
    return ::sendmsg(socket_, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(sizeof(copy));
}

}  // namespace texton::detail
