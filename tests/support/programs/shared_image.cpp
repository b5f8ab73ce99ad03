// Shares images with the parent process: samples images of the parent, or makes an image that the parent samples.
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/shared_image.h"

namespace {

using namespace texton;
using test::SharedImageAction;

constexpr int kSocket = 3;  // the descriptor that Program passes

// Imports and samples the image. The descriptor is closed before the memory is used.
test::SharedImageReply sampled(const Device& device, const test::SharedImageRequest& request, int descriptor,
                               std::optional<View>& image) {
    test::SharedImageReply reply;
    ShareableHandle handle = request.handle;
    handle.file_descriptor = descriptor;
    try {
        image = import_texels(device, request.texels, handle);
        close(descriptor);
        reply.fetched = test::fetched(*image);
    } catch (const Error& error) {
        if (!image) close(descriptor);
        reply.code = error.code();
        std::snprintf(reply.error.data(), reply.error.size(), "%s", error.what());
    }
    return reply;
}

void serve(const Device& device) {
    std::optional<test::SharedImage> shared;
    while (true) {
        test::SharedImageRequest request;
        const int descriptor = test::receive_message(kSocket, request);
        if (request.action == SharedImageAction::stop) return;
        if (request.action == SharedImageAction::share) {
            shared.emplace(device, request.texels.memory, request.texels.layout.format);
            const ExportedTexels exported = export_texels(shared->view());
            test::send_message(kSocket, test::SharedImageRequest{.texels = exported.texels, .handle = exported.handle},
                               exported.handle.file_descriptor);
            close(exported.handle.file_descriptor);
            continue;
        }
        std::optional<View> image;
        test::send_message(kSocket, sampled(device, request, descriptor, image));
        while (request.action == SharedImageAction::sample_always) (void)test::fetched(image.value());
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    try {
        const int index = std::stoi(argv[2]);
        serve(std::string_view(argv[1]) == "cpu" ? Device::cpu(index) : Device::cuda(index));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
