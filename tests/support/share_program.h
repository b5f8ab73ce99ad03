#pragma once
// Common part of the programs that import memory: receives one request from the socket and sends one reply.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include <texton/device.h>

#include "tests/support/socket.h"

namespace texton::test {

/// Calls `answer` with the device of the command line, the request, and the file descriptor that came with it (or -1).
template <class Answer>
int answer_one_request(int argc, char** argv, Answer answer) {
    constexpr int kSocket = 3;  // the descriptor that Program passes
    if (argc != 3) return 2;
    try {
        const int index = std::stoi(argv[2]);
        const Device device = std::string_view(argv[1]) == "cpu" ? Device::cpu(index) : Device::cuda(index);
        ShareRequest request;
        const int descriptor = receive_message(kSocket, request);
        ShareReply reply;
        try {
            reply = answer(device, request, descriptor);
        } catch (const std::exception& error) {
            std::snprintf(reply.error.data(), reply.error.size(), "%s", error.what());
        }
        if (descriptor >= 0) close(descriptor);
        send_message(kSocket, reply);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace texton::test
