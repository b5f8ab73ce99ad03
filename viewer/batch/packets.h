#pragma once
#include <cstddef>
#include <string>

namespace texton::batch {

/// Largest packet. The buffer of a socket holds it.
constexpr std::size_t kMaxPacket = std::size_t{128} << 10;

/// Sends a packet. Returns false if it cannot be sent.
[[nodiscard]] bool send(int socket, const std::string& packet) noexcept;
/// Waits for a packet. Returns false after the other end was closed, or if the packet is too large.
[[nodiscard]] bool receive(int socket, std::string& packet);

}  // namespace texton::batch
