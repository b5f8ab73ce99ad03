#pragma once
#include <cstdint>
#include <string>

#include "core/show/protocol.h"

namespace texton::viewer {

/// Host and port at which a server listens.
struct ListenAddress {
    static constexpr std::uint16_t kPort = 14158;  ///< tev's port

    std::string host = "127.0.0.1";
    std::uint16_t port = kPort;  ///< 0: any free port
    bool operator==(const ListenAddress&) const = default;
};

/// Parses "HOST:PORT", "HOST", "PORT", ":PORT", "[IPV6]:PORT" or "[IPV6]"; a part that is missing has its default.
/// Throws Error{bad_argument} for any other text.
[[nodiscard]] ListenAddress listen_address(const std::string& text);

/// Returns a socket that listens at the address, and sets the port to its port. Throws Error{io} if the system refuses.
[[nodiscard]] detail::OwnedDescriptor listen_at(ListenAddress& address);

}  // namespace texton::viewer
