#include "viewer/batch/packets.h"

#include <sys/socket.h>

#include <cerrno>
#include <vector>

namespace texton::batch {

bool send(int socket, const std::string& packet) noexcept {
    for (;;) {
        if (::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size()))
            return true;
        if (errno != EINTR) return false;
    }
}

bool receive(int socket, std::string& packet) {
    thread_local std::vector<char> room(
        kMaxPacket);  // not cleared for each packet, which would take longer than the rest
    for (;;) {
        const ssize_t got = ::recv(socket, room.data(), room.size(), MSG_TRUNC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || static_cast<std::size_t>(got) > kMaxPacket) return false;
        packet.assign(room.data(), static_cast<std::size_t>(got));
        return true;
    }
}

}  // namespace texton::batch
