// One thread waits for all sockets. It alone receives and parses; images are guarded by a mutex. A connection that sends
// something wrong is closed with a message, and its images stay as they are.
#include "viewer/live/live_server.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/text/error_text.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxConnections = 200;
constexpr std::size_t kMaxImages = 1000;
constexpr std::size_t kMaxMessages = 100;
constexpr std::size_t kMaxRequests = 1000;
constexpr std::size_t kPiece = std::size_t{4} << 20;        // received at a time
constexpr std::size_t kKeptBuffer = std::size_t{16} << 20;  // kept for the next packet
constexpr int kPause = 100;  // milliseconds without new connections if the system has no descriptors

[[noreturn]] void refuse_memory(const std::string& what, std::size_t bytes, std::size_t free) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "texton-view",
                 .problem = fmt::format("{} needs {}, but live images may use {} more", what, size_text(bytes),
                                        size_text(free)),
                 .remedy = "Close other live images, or start texton-view with more --live-memory.",
                 .numbers = {{"bytes", bytes}, {"free", free}}});
}

std::string peer_of(int socket) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof(address);
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
        ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), bytes, host.data(), host.size(), port.data(),
                      port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "client";
    return fmt::format("client {}:{}", host.data(), port.data());
}

// Keeps a slot from being written.
struct ReadSlot {
    ReadSlot(std::shared_ptr<detail::FrameMemory> shared, std::size_t index) : memory(std::move(shared)), slot(index) {}
    ~ReadSlot() { memory->release(slot); }
    ReadSlot(const ReadSlot&) = delete;
    ReadSlot& operator=(const ReadSlot&) = delete;

    std::shared_ptr<detail::FrameMemory> memory;
    std::size_t slot;
};

}  // namespace

LiveServer::LiveServer(const Options& options, std::function<void()> changed)
    : options_(options), changed_(std::move(changed)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) {
        problems_.push_back(fmt::format("Live images are not received: {}.", std::strerror(errno)));
        return;
    }
    try {
        if (options.socket) programs_ = std::make_unique<detail::ShowListener>(*options.socket);
    } catch (const Error& error) {
        problems_.push_back(error_text(error));
    }
    try {
        if (options.tcp) {
            ListenAddress address = *options.tcp;
            clients_ = listen_at(address);
            port_ = address.port;
        }
    } catch (const Error& error) {
        problems_.push_back(error_text(error));
    }
    if (listens()) thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

LiveServer::~LiveServer() {
    thread_.request_stop();
    const std::uint64_t one = 1;
    if (wake_) (void)!::write(wake_.get(), &one, sizeof(one));
}

// --- the thread ------------------------------------------------------------------------------------------------------

void LiveServer::run(std::stop_token stop) {
    bool pauses = false;
    while (!stop.stop_requested()) {
        const bool accepts = !pauses && connections_.size() < kMaxConnections;
        std::vector<pollfd> waiting{{wake_.get(), POLLIN, 0},
                                    {accepts && programs_ ? programs_->descriptor() : -1, POLLIN, 0},
                                    {accepts ? clients_.get() : -1, POLLIN, 0}};
        const std::size_t first = waiting.size();
        for (const Connection& each : connections_) waiting.push_back({each.socket.get(), POLLIN, 0});
        const int ready = ::poll(waiting.data(), waiting.size(), pauses ? kPause : -1);
        pauses = false;
        if (ready < 0 && errno != EINTR)
            return say(fmt::format("Live images are not received: {}.", std::strerror(errno)));
        if (ready <= 0) continue;
        for (std::size_t i = connections_.size(); i-- > 0;) {  // backwards, so that indices stay valid
            if (waiting[first + i].revents == 0 || serve(connections_[i])) continue;
            disconnect(connections_[i]);
            connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
        }
        const std::size_t before = connections_.size();
        if (waiting[1].revents != 0) accept_program();
        if (waiting[2].revents != 0) accept_client();
        pauses = (waiting[1].revents != 0 || waiting[2].revents != 0) && connections_.size() == before;
    }
}

void LiveServer::accept_program() {
    detail::OwnedDescriptor socket = programs_->accept();
    if (!socket) return;
    connections_.push_back(
        {.id = ++next_connection_, .is_program = true, .socket = std::move(socket), .peer = "program"});
}

void LiveServer::accept_client() {
    detail::OwnedDescriptor socket(::accept4(clients_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    std::string peer = peer_of(socket.get());
    connections_.push_back({.id = ++next_connection_, .socket = std::move(socket), .peer = std::move(peer)});
}

bool LiveServer::serve(Connection& connection) {
    try {
        return connection.is_program ? receive_messages(connection) : receive_packets(connection);
    } catch (const std::exception& error) {
        say(fmt::format("A {} was disconnected: {}", connection.peer, error_text(error)));
        return false;
    }
}

bool LiveServer::receive_messages(Connection& connection) {
    constexpr int kAtATime = 100;  // so that other connections are served, too
    for (int i = 0; i < kAtATime; ++i) {
        detail::ShowReceived received;
        detail::OwnedDescriptor memory;
        switch (detail::receive_show_message(connection.socket.get(), received, memory)) {
            case detail::ShowConnectionState::waiting: return true;
            case detail::ShowConnectionState::closed: return false;
            case detail::ShowConnectionState::received: break;
        }
        if (received.kind == detail::ShowMessageKind::image) {
            announce(connection, received, memory.get());
            continue;
        }
        const std::lock_guard lock(mutex_);
        for (auto& [name, record] : records_) {
            if (record.connection != connection.id || record.number != received.image) continue;
            ++record.state.version;
            tell();
        }
    }
    return true;
}

// Receives one packet after the other: the rest of a packet, and nothing of the next one.
bool LiveServer::receive_packets(Connection& connection) {
    for (std::size_t budget = 2 * kPiece; budget > 0;) {
        std::size_t length = tev::kLengthBytes;
        if (connection.received >= tev::kLengthBytes) {
            length = tev::packet_length(std::span(connection.packet).first<tev::kLengthBytes>());
            if (length > options_.memory) refuse_memory("a packet", length, options_.memory);
        }
        const std::size_t wanted = std::min({length - connection.received, kPiece, budget});
        if (connection.packet.size() < connection.received + wanted)
            connection.packet.resize(connection.received + wanted);
        const ssize_t got = ::recv(connection.socket.get(), connection.packet.data() + connection.received, wanted, 0);
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        if (got == 0) {
            if (connection.received > 0)
                say(fmt::format("A {} closed its connection inside a packet.", connection.peer));
            return false;
        }
        connection.received += static_cast<std::size_t>(got);
        budget -= static_cast<std::size_t>(got);
        if (connection.received <= tev::kLengthBytes || connection.received < length) continue;
        apply(tev::parse_packet(std::span(connection.packet).first(length)), length);
        connection.received = 0;
        if (connection.packet.size() > kKeptBuffer) connection.packet = {};
    }
    return true;
}

// A program has ended or was disconnected. Its last frames stay.
void LiveServer::disconnect(const Connection& connection) {
    if (!connection.is_program) return;
    const std::lock_guard lock(mutex_);
    for (auto& [name, record] : records_) {
        if (record.connection != connection.id) continue;
        take_newest(record);
        record.state.has_ended = true;
        ++record.state.version;
        tell();
    }
}

// --- images of programs ----------------------------------------------------------------------------------------------

void LiveServer::announce(const Connection& connection, const detail::ShowReceived& received, int memory) {
    const std::size_t frame_bytes = packed_bytes(received.format, received.extent);
    const std::size_t bytes = detail::FrameMemory::bytes_for(frame_bytes);
    const std::lock_guard lock(mutex_);
    if (const std::size_t free = free_bytes(received.name); bytes > free)
        refuse_memory(fmt::format("the image {} of {} texels", received.name, to_string(received.extent)), bytes, free);
    auto shared = std::make_shared<detail::FrameMemory>(memory, frame_bytes);
    Record& record = add(received.name, bytes);
    record.memory = std::move(shared);
    record.format = received.format;
    record.extent = received.extent;
    record.connection = connection.id;
    record.number = received.image;
    record.taken = received.frames;
    record.state.is_program = true;
    tell();
}

void LiveServer::take_newest(Record& record) {
    if (!record.memory) return;
    const auto ready = record.memory->begin_read();
    if (!ready) return;
    auto slot = std::make_shared<ReadSlot>(record.memory, ready->slot);
    if (ready->frame <= record.taken) return;
    record.state.dropped += ready->frame - record.taken - 1;
    record.state.frame = record.taken = ready->frame;
    const std::span<const std::byte> texels(record.memory->slot(ready->slot), record.memory->frame_bytes());
    record.current = std::make_shared<const LiveFrame>(
        LiveFrame{record.format, record.extent, ready->frame, record.state.dropped, texels, std::move(slot)});
}

// --- images of clients -----------------------------------------------------------------------------------------------

void LiveServer::apply(const tev::Packet& packet, std::size_t bytes) {
    if (const auto* open = std::get_if<tev::OpenImage>(&packet))
        return request({LiveRequest::Kind::open, open->path, open->focus});
    if (const auto* reload = std::get_if<tev::ReloadImage>(&packet))
        return request({LiveRequest::Kind::reload, reload->name, reload->focus});
    if (const auto* image = std::get_if<tev::CloseImage>(&packet))
        return request({LiveRequest::Kind::close, image->name});
    if (const auto* created = std::get_if<tev::CreateImage>(&packet)) return create(*created);
    if (const auto* updated = std::get_if<tev::UpdateImage>(&packet)) return update(*updated);
    draw(std::get<tev::VectorGraphics>(packet), bytes);
}

void LiveServer::create(const tev::CreateImage& packet) {
    {
        const std::lock_guard lock(mutex_);
        tev::Image image(packet, free_bytes(packet.name));
        Record& record = add(packet.name, image.bytes());
        record.drawn = std::move(image);
        record.updates = 1;
        ++record.state.version;
        drawings_.erase(packet.name);
        tell();
    }
    if (packet.focus) request({LiveRequest::Kind::show, packet.name});
}

void LiveServer::update(const tev::UpdateImage& packet) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = records_.find(packet.name);
        if (found == records_.end() || !found->second.drawn) {
            add_message(fmt::format("An update of {} was ignored: there is no such image.", packet.name));
            return tell();
        }
        Record& record = found->second;
        record.drawn->update(packet);
        ++record.updates;
        ++record.state.version;
        tell();
    }
    if (packet.focus) request({LiveRequest::Kind::show, packet.name});
}

void LiveServer::draw(const tev::VectorGraphics& packet, std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        // A command needs more memory than in the packet, where it has at least one byte.
        const std::size_t needed = packet.commands.size() * sizeof(tev::Command) + bytes;
        if (const std::size_t free = free_bytes({}); needed > free)
            refuse_memory(fmt::format("vector graphics of {}", packet.name), needed, free);
        if (!drawings_.contains(packet.name) && drawings_.size() >= kMaxImages)
            return add_message("Vector graphics were ignored: too many images have some.");
        Drawing& drawing = drawings_[packet.name];
        if (!packet.append) drawing = {};
        drawing.commands.insert(drawing.commands.end(), packet.commands.begin(), packet.commands.end());
        drawing.bytes += needed;
        if (const auto found = records_.find(packet.name); found != records_.end()) ++found->second.state.version;
        tell();
    }
    if (packet.focus) request({LiveRequest::Kind::show, packet.name});
}

// --- the state -------------------------------------------------------------------------------------------------------

// Returns the bytes that a new image may have if it replaces another one. Requires the mutex, as the functions below.
std::size_t LiveServer::free_bytes(const std::string& replaced) const {
    std::size_t used = 0;
    for (const auto& [name, record] : records_) used += name == replaced ? 0 : record.bytes;
    for (const auto& [name, drawing] : drawings_) used += drawing.bytes;
    return options_.memory - std::min(options_.memory, used);
}

// Adds an image, or replaces one with the same name.
LiveServer::Record& LiveServer::add(const std::string& name, std::size_t bytes) {
    const auto found = records_.find(name);
    if (found == records_.end() && records_.size() >= kMaxImages) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = fmt::format("the image {} would be the {}th live image", name, kMaxImages + 1),
                     .remedy = "Close other live images.",
                     .numbers = {{"images", kMaxImages}}});
    }
    Record record;
    record.state.name = name;
    record.state.creation = ++next_creation_;
    record.state.version = found != records_.end() ? found->second.state.version + 1 : 0;
    record.order = found != records_.end() ? found->second.order : ++next_order_;
    record.bytes = bytes;
    // The last frame stays until the first one of the new image is ready.
    if (found != records_.end()) record.current = found->second.current;
    return records_[name] = std::move(record);
}

std::vector<LiveImage> LiveServer::images() {
    told_ = false;
    const std::lock_guard lock(mutex_);
    std::vector<const Record*> sorted;
    for (const auto& [name, record] : records_) sorted.push_back(&record);
    std::ranges::sort(sorted, {}, &Record::order);
    std::vector<LiveImage> images;
    for (const Record* record : sorted) images.push_back(record->state);
    return images;
}

std::shared_ptr<const LiveFrame> LiveServer::frame(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return nullptr;
    Record& record = found->second;
    take_newest(record);
    if (record.drawn && (!record.current || record.state.frame != record.updates)) {
        const std::shared_ptr<const std::vector<float>> texels = record.drawn->texels();
        record.state.frame = record.updates;
        record.current =
            std::make_shared<const LiveFrame>(LiveFrame{record.drawn->format(), record.drawn->extent(), record.updates,
                                                        0, std::as_bytes(std::span<const float>(*texels)), texels});
    }
    return record.current;
}

std::vector<tev::Command> LiveServer::graphics(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = drawings_.find(name);
    return found != drawings_.end() ? found->second.commands : std::vector<tev::Command>();
}

void LiveServer::close(const std::string& name) {
    const std::lock_guard lock(mutex_);
    records_.erase(name);
    drawings_.erase(name);
}

std::vector<LiveRequest> LiveServer::take_requests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
}

std::vector<std::string> LiveServer::take_messages() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
}

void LiveServer::say(std::string text) {
    const std::lock_guard lock(mutex_);
    add_message(std::move(text));
    tell();
}

void LiveServer::add_message(std::string text) {
    if (messages_.size() < kMaxMessages) messages_.push_back(std::move(text));
}

void LiveServer::request(LiveRequest request) {
    const std::lock_guard lock(mutex_);
    if (requests_.size() < kMaxRequests) requests_.push_back(std::move(request));
    tell();
}

void LiveServer::tell() {
    if (!told_.exchange(true)) changed_();
}

}  // namespace texton::viewer
