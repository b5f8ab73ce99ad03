#pragma once
// The connection of a program to the window.
#include <memory>

#include "core/show/protocol.h"

namespace texton::detail {

/// A connection to the window. No function blocks or raises SIGPIPE. Thread-safe.
class ShowConnection {
public:
    /// Returns null if no window of the same user listens.
    static std::shared_ptr<ShowConnection> open();
    explicit ShowConnection(int socket) noexcept : socket_(socket) {}
    ~ShowConnection();
    ShowConnection(const ShowConnection&) = delete;
    ShowConnection& operator=(const ShowConnection&) = delete;

    /// Returns false if the window has closed the connection.
    bool is_open() const noexcept;
    /// Sends a message, with a file descriptor unless it is -1. Returns false if the window has not read the previous
    /// messages yet, or if the connection is closed.
    bool send(const ShowMessage& message, int descriptor = -1) const noexcept;

private:
    int socket_;
};

}  // namespace texton::detail
