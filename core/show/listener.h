#pragma once
// The window's side of the socket.
#include <sys/types.h>

#include <optional>
#include <utility>

#include "core/show/protocol.h"

namespace texton::detail {

/// The socket at which a window listens. No function but the constructor blocks.
class ShowListener {
public:
    /// Listens at the address. Replaces the socket of a window that was killed. Throws Error{io} if another window
    /// listens there, or if the system forbids it.
    explicit ShowListener(const ShowAddress& address);
    /// Removes the socket from the file system.
    ~ShowListener();
    ShowListener(const ShowListener&) = delete;
    ShowListener& operator=(const ShowListener&) = delete;

    int descriptor() const noexcept { return socket_.get(); }  ///< for poll()
    /// Returns the next connection of a program of the same user, or an empty descriptor if there is none now.
    /// Connections of other users are closed.
    OwnedDescriptor accept() const noexcept;

private:
    OwnedDescriptor socket_;
    std::string path_;  // empty for an abstract name
    dev_t device_ = 0;  // identify the file
    ino_t inode_ = 0;
};

/// The state of a connection after receive_show_message().
enum class ShowConnectionState : std::uint8_t {
    received,  ///< a message was received
    waiting,   ///< there is no message now
    closed     ///< the program has ended or closed the connection
};

/// Receives a message, with the descriptor of the frames of an announced image. Does not block. Throws the errors of
/// parse_show_message(), and Error{bad_argument} if an announced image has no descriptor.
ShowConnectionState receive_show_message(int connection, ShowReceived& received, OwnedDescriptor& memory);

}  // namespace texton::detail
