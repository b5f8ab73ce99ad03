#include "arrays/files/reader/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <vector>

#include <OpenImageIO/imageio.h>

#include "arrays/files/descriptor.h"
#include "arrays/files/isolated/protocol.h"
#include "arrays/files/reader/new_memory.h"
#include "arrays/files/reader/serve.h"
#include "arrays/files/signature.h"

namespace {

using texton::detail::kControlDescriptor;
using texton::detail::kMaxPacketDescriptors;
using texton::detail::kReaderProtocol;
using texton::detail::OwnedDescriptor;
using texton::detail::Packet;
using texton::detail::PacketKind;
using texton::detail::send_packet;

constexpr rlim_t kMaxDescriptors = 256;  // of a process that reads a file

OwnedDescriptor descriptor_of(pid_t process) {
    return OwnedDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

// A process that reads a file.
struct Child {
    pid_t process;
    OwnedDescriptor ended;   // readable when the process ended
    OwnedDescriptor socket;  // a copy of its socket: hung up when the library closed its end, or closed after that
};

// Receives a request to start a reader. Returns false if the library closed the socket.
bool receive_connect(std::vector<OwnedDescriptor>& descriptors) {
    Packet packet;
    iovec part{&packet, sizeof(packet)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kMaxPacketDescriptors * sizeof(int))> control{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(kControlDescriptor, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
    std::array<int, kMaxPacketDescriptors> numbers{};
    const std::size_t bytes = std::min(header->cmsg_len - CMSG_LEN(0), sizeof(numbers));
    std::memcpy(numbers.data(), CMSG_DATA(header), bytes);
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i) descriptors.emplace_back(numbers[i]);
    return true;
}

void limit(__rlimit_resource resource, rlim_t maximum) {
    const rlimit value{maximum, maximum};
    ::setrlimit(resource, &value);
}

// Tells the library that there is no reader, without waiting.
void send_not_started(const OwnedDescriptor& socket, int error) {
    send_packet(socket.number(), PacketKind::not_started, static_cast<std::uint64_t>(error), {}, MSG_DONTWAIT);
}

// Runs in the forked process: gives up what reading a file does not need.
[[noreturn]] void read_file(const std::vector<OwnedDescriptor>& descriptors, pid_t helper) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != helper) ::_exit(0);  // the helper ended before the call
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core dump, and no program that collects them
    constexpr int kSocket = kControlDescriptor, kMemory = kControlDescriptor + 1;
    // The numbers of the copies can be in use by the originals.
    const int socket = ::fcntl(descriptors[0].number(), F_DUPFD, kMemory + 1);
    const int memory = ::fcntl(descriptors[1].number(), F_DUPFD, kMemory + 1);
    // Otherwise the process would use descriptors of the helper: the control socket has the number kSocket there.
    const bool has_its_own = socket >= 0 && memory >= 0 && ::fchdir(descriptors[2].number()) == 0 &&
                             ::dup2(socket, kSocket) == kSocket && ::dup2(memory, kMemory) == kMemory &&
                             ::dup2(1, 2) == 2 &&  // decoders print warnings
                             ::close_range(kMemory + 1, ~0U, 0) == 0;
    if (!has_its_own) {
        send_not_started(descriptors.front(), errno);
        ::_exit(1);
    }
    for (int signal = 1; signal < SIGRTMIN; ++signal) ::signal(signal, SIG_DFL);
    ::signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, kMaxDescriptors);
    texton::reader::serve(kSocket, kMemory);
}

class Helper {
public:
    // Returns when the library ended or closed the control socket and all others.
    void run() {
        while (control_open_ || !children_.empty()) {
            std::vector<pollfd> events{{control_open_ ? kControlDescriptor : -1, POLLIN, 0},
                                       {library_.number(), POLLIN, 0}};
            for (const Child& child : children_) {
                events.push_back({child.ended.number(), POLLIN, 0});
                events.push_back({child.socket.number(), 0, 0});  // POLLHUP needs no request
            }
            if (::poll(events.data(), events.size(), -1) < 0) continue;
            if (events[1].revents != 0) return;
            for (std::size_t i = 0; i < children_.size(); ++i) {
                Child& child = children_[i];
                if (events[3 + 2 * i].revents != 0) end(child);
                if (events[2 + 2 * i].revents != 0) reap(child);
            }
            std::erase_if(children_, [](const Child& child) { return child.process < 0; });
            if (events[0].revents != 0) connect();
        }
    }

private:
    void connect() {
        std::vector<OwnedDescriptor> descriptors;
        control_open_ = receive_connect(descriptors);
        if (descriptors.size() != kMaxPacketDescriptors) {  // too few descriptors were left in this process
            if (!descriptors.empty()) send_not_started(descriptors.front(), EMFILE);
            return;
        }
        const pid_t helper = ::getpid();
        const pid_t process = ::fork();
        if (process == 0) read_file(descriptors, helper);
        OwnedDescriptor ended = process > 0 ? descriptor_of(process) : OwnedDescriptor();
        if (!ended) {
            send_not_started(descriptors.front(), errno);
            if (process > 0) ::kill(process, SIGKILL);
            if (process > 0) ::waitpid(process, nullptr, 0);
            return;
        }
        children_.push_back({process, std::move(ended), std::move(descriptors[0])});
    }

    // The library closed the socket.
    static void end(Child& child) {
        ::kill(child.process, SIGKILL);
        child.socket.reset();
    }

    // Sends the status without waiting, because the process can have filled the socket with packets.
    static void reap(Child& child) {
        int status = 0;
        while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
        }
        if (child.socket) {
            send_packet(child.socket.number(), PacketKind::ended, static_cast<std::uint64_t>(status), {}, MSG_DONTWAIT);
        }
        child.process = -1;
    }

    std::vector<Child> children_;
    bool control_open_ = true;
    OwnedDescriptor library_ = descriptor_of(::getppid());
};

void raise_descriptors() {
    rlimit value{};
    ::getrlimit(RLIMIT_NOFILE, &value);
    value.rlim_cur = value.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &value);
}

void make_stacks_small() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, texton::reader::kStackBytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

}  // namespace

// With the thread sanitizer, the processes that read files must be allowed to start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace texton::reader {

int run_helper() {
    Helper helper;
    raise_descriptors();
    make_stacks_small();
    zero_new_memory();
    (void)OIIO::get_string_attribute("format_list");        // registers the readers of all kinds of file, once
    (void)texton::detail::reader_name("file.unknown", {});  // makes the table of extensions, once
    if (!send_packet(kControlDescriptor, PacketKind::hello)) {
        if (errno == EBADF || errno == ENOTSOCK) {
            std::cerr << "texton-reader: this program is started by Texton to read image files in isolation.\n";
        }
        return 2;
    }
    helper.run();
    return 0;
}

}  // namespace texton::reader
