// Imports physical memory from the parent process, maps it, checks its contents and writes to it.
#include <algorithm>
#include <vector>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/physical.h>

#include "tests/support/share_program.h"

namespace {

using namespace texton;

test::ShareReply answer(const Device& device, const test::ShareRequest& request, int descriptor) {
    test::ShareReply reply;
    const Physical memory = Physical::import(device, {request.handle, descriptor, request.fabric}, request.bytes);
    AddressRange range(device, request.bytes);
    range.map(0, memory);
    range.set_access();
    const View view = range.view(Format::r8_uint, Extent{request.bytes});
    std::vector<std::byte> seen(request.bytes);
    copy(host_view(std::span(seen)), view);
    const auto expected_byte = std::byte{request.expected};
    reply.as_expected = std::all_of(seen.begin(), seen.end(), [&](std::byte b) { return b == expected_byte; }) ? 1 : 0;
    fill(view, request.written);
    return reply;
}

}  // namespace

int main(int argc, char** argv) { return test::answer_one_request(argc, argv, answer); }
