#include "viewer/live/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer {
namespace {

constexpr int kWaiting = 16;  // connections that were not accepted yet

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

[[noreturn]] void refuse(const ListenAddress& address, const std::string& why) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton-view",
                 .problem = fmt::format("no program can connect to {} port {}: {}", address.host, address.port, why),
                 .remedy = "Choose another address with --listen=HOST:PORT."});
}

}  // namespace

ListenAddress listen_address(const std::string& text) {
    const auto refuse_text = [&]() -> ListenAddress {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = fmt::format("'{}' is not an address", text),
                     .remedy = "Use HOST:PORT, HOST or PORT, for example 127.0.0.1:14158."});
    };
    ListenAddress address;
    std::string port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string::npos) return refuse_text();
        address.host = text.substr(1, end - 1);
        if (end + 1 < text.size()) {
            if (text[end + 1] != ':') return refuse_text();
            port = text.substr(end + 2);
            if (port.empty()) return refuse_text();
        }
    } else if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
        if (colon > 0) address.host = text.substr(0, colon);
        port = text.substr(colon + 1);
        if (port.empty()) return refuse_text();
    } else if (!text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
        port = text;
    } else {
        address.host = text;
    }
    if (address.host.empty()) return refuse_text();
    if (port.empty()) return address;
    const std::optional<std::uint16_t> number = port_of(port);
    if (!number) return refuse_text();
    address.port = *number;
    return address;
}

detail::OwnedDescriptor listen_at(ListenAddress& address) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int status = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    if (status != 0) refuse(address, ::gai_strerror(status));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::string why;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        detail::OwnedDescriptor listener(
            ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, each->ai_protocol));
        const int on = 1;
        sockaddr_storage bound{};
        socklen_t bytes = sizeof(bound);
        if (!listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
            ::bind(listener.get(), each->ai_addr, each->ai_addrlen) != 0 || ::listen(listener.get(), kWaiting) != 0 ||
            ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) {
            why = std::strerror(errno);
            continue;
        }
        address.port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                                         : reinterpret_cast<sockaddr_in&>(bound).sin_port);
        return listener;
    }
    refuse(address, why);
}

}  // namespace texton::viewer
