#pragma once
// Receives images of running programs: frames of texton::show() through shared memory, and packets of tev's protocol
// through TCP.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <texton/format.h>

#include "core/show/frame_memory.h"
#include "core/show/listener.h"
#include "viewer/live/listen_address.h"
#include "viewer/live/tev_image.h"
#include "viewer/live/tev_packet.h"

namespace texton::viewer {

/// The texels of a frame, in packed rows. They are kept, and do not change, as long as the object exists.
struct LiveFrame {
    Format format = Format::rgba32_float;
    Extent extent;              ///< the depth is the number of layers
    std::uint64_t number = 0;   ///< counted from 1 by the program, or by updates of a client of tev's protocol
    std::uint64_t dropped = 0;  ///< frames before it that were never returned
    std::span<const std::byte> texels;
    std::shared_ptr<const void> owner;
};

/// The state of a live image.
struct LiveImage {
    std::string name;
    std::uint64_t creation = 0;  ///< changes when a program or client creates the image anew
    std::uint64_t version = 0;   ///< changes when LiveServer::frame() can return another frame
    std::uint64_t frame = 0;     ///< number of the last frame that LiveServer::frame() returned; 0: none
    std::uint64_t dropped = 0;   ///< frames before it that were never returned
    bool is_program = false;     ///< true: of a program that calls texton::show()
    bool has_ended = false;      ///< true: the program has closed its connection; no further frames come
};

/// What a client of tev's protocol asks for.
struct LiveRequest {
    enum class Kind : std::uint8_t {
        open,    ///< open the file `name` and show it
        reload,  ///< read the file of an image again
        close,   ///< close an image
        show     ///< make an image the current one
    };
    Kind kind = Kind::show;
    std::string name;
    bool focus = true;  ///< of open: true: make it the current image
};

/// Listens for programs on a thread of its own. All functions are thread-safe.
class LiveServer {
public:
    struct Options {
        std::optional<ListenAddress> tcp = ListenAddress{};  ///< nullopt: no TCP
        std::optional<detail::ShowAddress> socket{};         ///< of programs that call texton::show()
        std::size_t memory = std::size_t{4} << 30;           ///< maximum bytes of all live images
    };

    /// Starts to listen. `changed` is called on the server's thread after something has changed, and then not again until
    /// images() was called; it must not call this object. Addresses at which it cannot listen are reported by
    /// problems(), and do not prevent others.
    LiveServer(const Options& options, std::function<void()> changed);
    /// Closes all connections. `changed` is not called afterwards.
    ~LiveServer();
    LiveServer(const LiveServer&) = delete;
    LiveServer& operator=(const LiveServer&) = delete;

    /// Returns why the server does not listen at an address. Empty if it listens at all of them.
    const std::vector<std::string>& problems() const noexcept { return problems_; }
    /// Returns the TCP port, or 0 without TCP.
    std::uint16_t port() const noexcept { return port_; }
    bool listens() const noexcept { return port_ != 0 || programs_ != nullptr; }

    /// Returns the images, in the order in which they appeared.
    std::vector<LiveImage> images();
    /// Returns the newest frame of an image, or null if there is none. Older frames that were not returned count as
    /// dropped.
    std::shared_ptr<const LiveFrame> frame(const std::string& name);
    /// Returns the vector graphics over the image, also of files.
    std::vector<tev::Command> graphics(const std::string& name) const;
    /// Releases an image. It appears again when a program creates it anew.
    void close(const std::string& name);

    /// Returns the requests and messages since the last call.
    std::vector<LiveRequest> take_requests();
    std::vector<std::string> take_messages();

private:
    struct Record {
        LiveImage state;
        std::uint64_t order = 0;
        std::size_t bytes = 0;
        std::shared_ptr<detail::FrameMemory> memory;  // of a program
        Format format = Format::rgba32_float;
        Extent extent;
        std::uint64_t connection = 0;
        std::uint64_t number = 0;         // the program's number of the image
        std::optional<tev::Image> drawn;  // of a client of tev's protocol
        std::uint64_t updates = 0;
        std::uint64_t taken = 0;  // number of the newest frame of the program that was read
        std::shared_ptr<const LiveFrame> current;
    };
    struct Connection {
        std::uint64_t id = 0;
        bool is_program = false;
        detail::OwnedDescriptor socket;
        std::string peer{};
        std::vector<std::byte> packet{};  // the part that has arrived
        std::size_t received = 0;
    };

    void run(std::stop_token stop);
    void accept_program();
    void accept_client();
    /// Returns false if the connection must be closed.
    bool serve(Connection& connection);
    bool receive_packets(Connection& connection);
    bool receive_messages(Connection& connection);
    void announce(const Connection& connection, const detail::ShowReceived& received, int memory);
    void apply(const tev::Packet& packet, std::size_t bytes);
    void create(const tev::CreateImage& packet);
    void update(const tev::UpdateImage& packet);
    void draw(const tev::VectorGraphics& packet, std::size_t bytes);
    void disconnect(const Connection& connection);
    Record& add(const std::string& name, std::size_t bytes);
    std::size_t free_bytes(const std::string& replaced) const;
    void take_newest(Record& record);
    void say(std::string text);
    void add_message(std::string text);
    void request(LiveRequest request);
    void tell();

    const Options options_;
    const std::function<void()> changed_;
    std::vector<std::string> problems_;
    std::unique_ptr<detail::ShowListener> programs_;
    detail::OwnedDescriptor clients_;
    std::uint16_t port_ = 0;
    detail::OwnedDescriptor wake_;
    std::vector<Connection> connections_;  // of the thread
    std::uint64_t next_connection_ = 0;
    std::atomic<bool> told_{false};

    mutable std::mutex mutex_;  // guards the members below
    std::map<std::string, Record> records_;
    std::uint64_t next_order_ = 0;
    std::uint64_t next_creation_ = 0;
    struct Drawing {
        std::vector<tev::Command> commands;
        std::size_t bytes = 0;
    };
    std::map<std::string, Drawing> drawings_;
    std::vector<LiveRequest> requests_;
    std::vector<std::string> messages_;

    std::jthread thread_;  // last member
};

}  // namespace texton::viewer
