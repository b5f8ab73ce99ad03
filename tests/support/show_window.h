#pragma once
// The window's side of show(), for tests of programs that show images.
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/show/frame_memory.h"
#include "core/show/listener.h"

namespace texton::test {

/// An image that a program shows.
struct ShownImage {
    std::size_t connection = 0;  ///< number of the connection, in the order of acceptance
    texton::detail::ShowReceived announced;
    std::unique_ptr<texton::detail::FrameMemory> memory;
};

/// A frame that was read.
struct ShownFrame {
    std::uint64_t frame = 0;
    std::vector<std::byte> texels;
};

/// Listens for programs, and reads their frames.
class ShowWindow {
public:
    explicit ShowWindow(const std::string& address) : listener_(*texton::detail::show_address(address)) {}

    /// Receives all messages that arrive within this time.
    void receive(int milliseconds = 20) {
        while (true) {
            std::vector<pollfd> waiting{{listener_.descriptor(), POLLIN, 0}};
            for (const auto& each : connections_) waiting.push_back({each.get(), POLLIN, 0});  // -1 is ignored
            if (poll(waiting.data(), waiting.size(), milliseconds) <= 0) return;
            if (waiting[0].revents != 0)
                if (texton::detail::OwnedDescriptor next = listener_.accept()) connections_.push_back(std::move(next));
            for (std::size_t i = 1; i < waiting.size(); ++i)
                if (waiting[i].revents != 0) receive_from(i - 1);
        }
    }
    const std::vector<std::unique_ptr<ShownImage>>& images() const { return images_; }
    std::size_t connections() const { return connections_.size(); }
    std::size_t open_connections() const {
        std::size_t open = 0;
        for (const auto& each : connections_) open += each ? 1 : 0;
        return open;
    }
    /// Reads the newest frame of the image that was announced last with this name.
    std::optional<ShownFrame> read(const std::string& name) const {
        for (auto image = images_.rbegin(); image != images_.rend(); ++image)
            if ((*image)->announced.name == name) return read(**image);
        return std::nullopt;
    }
    static std::optional<ShownFrame> read(const ShownImage& image) {
        const auto ready = image.memory->begin_read();
        if (!ready) return std::nullopt;
        const std::byte* texels = image.memory->slot(ready->slot);
        ShownFrame frame{ready->frame, {texels, texels + image.memory->frame_bytes()}};
        image.memory->release(ready->slot);
        return frame;
    }

private:
    void receive_from(std::size_t index) {
        while (true) {
            texton::detail::ShowReceived received;
            texton::detail::OwnedDescriptor memory;
            const auto state = texton::detail::receive_show_message(connections_[index].get(), received, memory);
            if (state == texton::detail::ShowConnectionState::closed)
                connections_[index] = texton::detail::OwnedDescriptor();
            if (state != texton::detail::ShowConnectionState::received) return;
            if (received.kind != texton::detail::ShowMessageKind::image) continue;
            const std::size_t bytes = packed_bytes(received.format, received.extent);
            images_.push_back(std::make_unique<ShownImage>(
                ShownImage{index, received, std::make_unique<texton::detail::FrameMemory>(memory.get(), bytes)}));
        }
    }

    texton::detail::ShowListener listener_;
    std::vector<texton::detail::OwnedDescriptor> connections_;  // empty after the program has ended
    std::vector<std::unique_ptr<ShownImage>> images_;
};

}  // namespace texton::test
