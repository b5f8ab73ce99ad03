// Images that one process makes and another samples through a texture, without a copy.
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <texton/fill.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/program.h"
#include "tests/support/shared_image.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::SharedImage;
using test::SharedImageAction;
using test::SharedImageReply;
using test::SharedImageRequest;

std::string label(SharedMemory memory) { return memory == SharedMemory::pool ? "pool" : "physical memory"; }

class SharedTextureTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!device().properties().pool_file_descriptors) GTEST_SKIP() << "the device shares no file descriptors";
    }

    // The fetches of an image with the same texels in memory that only this process has.
    std::array<Texel, 128> in_one_process(Format format) {
        const Pitched2D image(device(), format, test::kSharedExtent);
        const std::vector<std::byte> texels = test::shared_pattern(format);
        copy(image.view(), host_view(texels.data(), format, test::kSharedExtent));
        return test::fetched(image.view());
    }

    static SharedImageReply ask(test::Program& program, SharedImageAction action, const ExportedTexels& exported) {
        test::send_message(program.socket(), SharedImageRequest{action, exported.texels, exported.handle},
                           exported.handle.file_descriptor);
        SharedImageReply reply;
        EXPECT_EQ(test::receive_message(program.socket(), reply), -1);
        return reply;
    }

    static int stop(test::Program& program) {
        test::send_message(program.socket(), SharedImageRequest{.action = SharedImageAction::stop});
        return program.wait();
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SharedTextureTest, test::every_device(), test::device_label);

TEST_P(SharedTextureTest, AnotherProcessSamplesTheImageWithTheBitsOfThisProcess) {
    test::Program program("shared_image", device());
    for (const SharedMemory memory : {SharedMemory::pool, SharedMemory::physical}) {
        for (const Format format : {Format::rgba8_unorm, Format::r32_float, Format::rg16_uint}) {
            SCOPED_TRACE(label(memory) + ", " + std::string(name(format)));
            const SharedImage image(device(), memory, format);
            const ExportedTexels exported = export_texels(image.view());
            const SharedImageReply reply = ask(program, SharedImageAction::sample, exported);
            close(exported.handle.file_descriptor);
            EXPECT_EQ(std::string(reply.error.data()), "");
            EXPECT_EQ(reply.fetched, in_one_process(format));
            EXPECT_EQ(test::fetched(image.view()), reply.fetched);
        }
    }
    EXPECT_EQ(stop(program), 0);
}

TEST_P(SharedTextureTest, AnImageOutlivesTheProcessThatSamplesItAndIsKilled) {
    for (const SharedMemory memory : {SharedMemory::pool, SharedMemory::physical}) {
        SCOPED_TRACE(label(memory));
        const SharedImage image(device(), memory, Format::rgba8_unorm);
        test::Program program("shared_image", device());
        const ExportedTexels exported = export_texels(image.view());
        const SharedImageReply reply = ask(program, SharedImageAction::sample_always, exported);
        close(exported.handle.file_descriptor);
        EXPECT_EQ(std::string(reply.error.data()), "");
        program.kill();
        EXPECT_EQ(test::fetched(image.view()), in_one_process(Format::rgba8_unorm));
    }
}

TEST_P(SharedTextureTest, AnImageOutlivesTheProcessThatSharedItAndIsKilled) {
    for (const SharedMemory memory : {SharedMemory::pool, SharedMemory::physical}) {
        SCOPED_TRACE(label(memory));
        test::Program program("shared_image", device());
        SharedImageRequest request{.action = SharedImageAction::share};
        request.texels.memory = memory;
        request.texels.layout.format = Format::rgba8_unorm;
        test::send_message(program.socket(), request);
        request.handle.file_descriptor = test::receive_message(program.socket(), request);
        ASSERT_GE(request.handle.file_descriptor, 0);
        const View image =
            import_texels(device(), request.texels, {HandleType::file_descriptor, request.handle.file_descriptor});
        close(request.handle.file_descriptor);
        EXPECT_EQ(test::fetched(image), in_one_process(Format::rgba8_unorm));
        program.kill();
        EXPECT_EQ(test::fetched(image), in_one_process(Format::rgba8_unorm));
        fill(image, std::uint32_t{0});
        EXPECT_TRUE(test::all_bytes(test::download(image), 0));
    }
}

TEST_P(SharedTextureTest, AProcessRefusesADescriptionThatTheMemoryDoesNotFit) {
    constexpr auto kInvalid = ErrorCode::bad_argument;
    constexpr auto kOutside = ErrorCode::out_of_bounds;
    struct Lie {
        std::string expected;
        ErrorCode code;
        std::function<void(SharedTexels&)> tell;
    };
    const std::vector<Lie> lies{
        {"unknown format", kInvalid, [](SharedTexels& t) { t.layout.format = static_cast<Format>(200); }},
        {"unknown kind of memory", kInvalid, [](SharedTexels& t) { t.memory = static_cast<SharedMemory>(7); }},
        {"planes", kInvalid, [](SharedTexels& t) { t.layout.format = Format::nv12; }},
        {"0 x 53", kInvalid, [](SharedTexels& t) { t.layout.extent.width = 0; }},
        {"shorter than a row", kInvalid, [](SharedTexels& t) { t.layout.pitch = 32; }},
        {"but the memory has", kOutside, [](SharedTexels& t) { t.layout.extent.height = 1'000'000'000; }},
        {"but the memory has", kOutside, [](SharedTexels& t) { t.layout.offset = t.bytes; }},
        {"but the memory has", kOutside,
         [](SharedTexels& t) { t.layout.format = Format::r8_unorm, t.layout.pitch <<= 40; }},
        {"fit in 64 bits", ErrorCode::overflow, [](SharedTexels& t) { t.layout.offset = ~std::size_t{0}; }},
        {"fit in 64 bits", ErrorCode::overflow, [](SharedTexels& t) { t.layout.extent.height = ~std::size_t{0}; }},
        {"but the memory has", kOutside, [](SharedTexels& t) { t.bytes = 1; }},
    };
    test::Program program("shared_image", device());
    for (const SharedMemory memory : {SharedMemory::pool, SharedMemory::physical}) {
        const SharedImage image(device(), memory, Format::rgba8_unorm);
        const ExportedTexels exported = export_texels(image.view());
        const auto refused = [&](ErrorCode code, const std::string& expected,
                                 const std::function<void(SharedTexels&)>& tell) {
            SCOPED_TRACE(label(memory) + ": " + expected);
            ExportedTexels told = exported;
            tell(told.texels);
            const SharedImageReply reply = ask(program, SharedImageAction::sample, told);
            EXPECT_NE(std::string(reply.error.data()).find(expected), std::string::npos) << reply.error.data();
            EXPECT_EQ(reply.code, code) << reply.error.data();
        };
        for (const Lie& lie : lies) refused(lie.code, lie.expected, lie.tell);
        // The description fits itself, but the memory that comes with it is smaller.
        refused(memory == SharedMemory::pool ? kOutside : kInvalid, "bytes", [](SharedTexels& t) {
            t.bytes += std::size_t{64} << 20;
            t.layout.offset += std::size_t{64} << 20;
        });
        // Textures need an alignment.
        refused(kInvalid, "texture", [](SharedTexels& t) { t.layout.offset -= 4; });
        const SharedImageReply reply = ask(program, SharedImageAction::sample, exported);
        EXPECT_EQ(std::string(reply.error.data()), "") << "the true description was refused after the false ones";
        close(exported.handle.file_descriptor);
    }
    EXPECT_EQ(stop(program), 0);
}

}  // namespace
}  // namespace texton
