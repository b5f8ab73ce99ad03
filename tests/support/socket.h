#pragma once
// Messages with file descriptors between a test and a program that it starts. Header-only, because the programs include
// it too.
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <texton/pool.h>

namespace texton::test {

/// Request of a test to a program: import this memory, expect one byte value in it, write another.
struct ShareRequest {
    HandleType handle = HandleType::file_descriptor;
    std::array<std::uint8_t, 64> fabric{};
    PointerExport pointer{};  // pools only
    std::uint64_t bytes = 0;
    std::uint8_t expected = 0;
    std::uint8_t written = 0;
};

struct ShareReply {
    std::uint32_t as_expected = 0;  // 1 if every byte had the expected value
    // Pools: operations that an imported pool does not support; 1 if the operation threw not_permitted.
    std::uint32_t allocation_refused = 0;
    std::uint32_t current_refused = 0;
    std::uint32_t export_refused = 0;
    std::uint32_t wrong_pointers_refused = 0;  // number of Errors from 3 imports that must fail
    std::uint32_t freed_after_work = 0;        // 1 if the destructor of an imported allocation waited for its use
    std::array<char, 400> error{};             // text of an exception; empty if there was none
};

inline void must(bool held, const char* what) {
    if (!held) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// Sends the value. A `descriptor` of -1 sends no file descriptor.
template <class T>
requires std::is_trivially_copyable_v<T>
void send_message(int socket, const T& value, int descriptor = -1) {
    T copy = value;
    iovec part{&copy, sizeof(copy)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (descriptor >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    must(sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(T)), "sendmsg");
}

/// Receives a value and returns the descriptor that came with it, or -1.
template <class T>
requires std::is_trivially_copyable_v<T>
int receive_message(int socket, T& value) {
    iovec part{&value, sizeof(value)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    must(recvmsg(socket, &message, MSG_WAITALL) == static_cast<ssize_t>(sizeof(T)), "recvmsg");
    int descriptor = -1;
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    }
    return descriptor;
}

}  // namespace texton::test
