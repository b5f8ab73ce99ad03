#include <texton/frame_writer.h>

#include <cstring>

#include <texton/error.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Video files: raw frames with a description from a text or from the name of the file, Y4M, and FrameWriter.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using Sentences = std::vector<std::string>;

Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

class VideoTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path write(const std::string& name, const Bytes& bytes) const { return test::write_bytes(at(name), bytes); }
    // Writes a header, then frames of these bytes, each after a line.
    fs::path y4m(const std::string& header, const std::vector<Bytes>& frames, const std::string& line = "FRAME\n") {
        Bytes bytes = bytes_of(header);
        for (const Bytes& frame : frames) {
            append(bytes, bytes_of(line));
            append(bytes, frame);
        }
        return write("a.y4m", bytes);
    }
    void refused(const fs::path& path, ErrorCode code, std::initializer_list<std::string_view> fragments,
                 const ImageOptions& options = {}) const {
        test::expect_error([&] { (void)open_image(path, options); }, code, "texton::open_image", fragments);
    }

    test::ImageFolder folder_;
};

// --- descriptions of raw frames ---

TEST_F(VideoTest, RawFramesAreDescribedByText) {
    EXPECT_EQ(raw_frames_of("64x48"), (RawFrames{Format::nv12, {64, 48}}));
    EXPECT_EQ(raw_frames_of("64x48:p010@7"), (RawFrames{Format::p010, {64, 48}, 7}));
    EXPECT_EQ(raw_frames_of("64x48@7"), (RawFrames{Format::nv12, {64, 48}, 7}));
    EXPECT_EQ(raw_frames_of("2x4:I420"), (RawFrames{Format::nv12, {2, 4}, 0, RawLayout::planes}));
    EXPECT_EQ(raw_frames_of("2x4:yuv420p"), raw_frames_of("2x4:i420"));
    EXPECT_EQ(raw_frames_of("2x4:yuv422p"), (RawFrames{Format::nv16, {2, 4}, 0, RawLayout::planes}));
    for (const char* text : {"64x48:nv12", "64x48:nv16@3", "64x48:p016", "2x2:i420", "2x2:i422@1", "4x2:yuv420p10le",
                             "4x2:yuv420p16le@12"}) {
        EXPECT_EQ(to_string(raw_frames_of(text)), text);
    }
    for (const char* text : {"", "x", "64", "64x", "x48", "-64x48", "64x48x2", "64x48:", "64x48:rgba8_unorm", "64x48@",
                             "64x48@-1", "64x48:nv12@1x", "64 x 48", "99999999999999999999x2"}) {
        test::expect_error([&] { (void)raw_frames_of(text); }, ErrorCode::bad_argument, "texton::raw_frames_of",
                           {"WIDTHxHEIGHT:FORMAT", "yuv420p10le"});
    }
}

TEST_F(VideoTest, NamesOfFilesDescribeRawFrames) {
    EXPECT_EQ(raw_frames_in_name("/folder_2x2/clip_128x72.yuv"), (RawFrames{Format::nv12, {128, 72}}));
    EXPECT_EQ(raw_frames_in_name("p010-128x72.yuv"), (RawFrames{Format::p010, {128, 72}}));
    EXPECT_EQ(raw_frames_in_name("Clip_1920X1080_25fps.I420"),
              (RawFrames{Format::nv12, {1920, 1080}, 0, RawLayout::planes}));
    for (const char* name : {"clip.yuv", "clip128x72.yuv", "a_2x2_4x4.yuv", "a_2x2x2.yuv"})
        EXPECT_EQ(raw_frames_in_name(name), std::nullopt) << name;
}

TEST_F(VideoTest, RawFramesAreOpenedByTheirName) {
    const Bytes bytes = test::pattern(2 * 12 * 8 * 3 / 2, 4);
    const ImageFile image = open_image(write("clip_12x8.yuv", bytes), {.frame = 1});
    EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::nv12, .extent = {12, 8}}));
    EXPECT_TRUE(same_bytes(read_part(image.plane(0)), std::span(bytes).subspan(144, 96)));
    EXPECT_EQ(image.conversions(), (Sentences{"The file has no header; it is read as 12x8:nv12, from its name.",
                                              "Only frame 1 of 2 frames is read."}));
    EXPECT_EQ(open_image(write("clip_12x8_nv16.yuv", Bytes(192))).info().format, Format::nv16);
    EXPECT_EQ(open_image(write("clip_12x8.p010", Bytes(288))).info().format, Format::p010);
    refused(write("clip.yuv", bytes), ErrorCode::bad_argument,
            {"clip.yuv", "no header", "ImageOptions::raw", "clip_1920x1080_nv12.yuv"});
    refused(at("clip_12x8.yuv"), ErrorCode::out_of_bounds, {"2 frames", "frame 2"}, {.frame = 2});
    refused(at("clip_12x8.yuv"), ErrorCode::unsupported, {"nv12", "to_rgb()"}, {.format = Format::rgba8_unorm});
    refused(at("clip_12x8.yuv"), ErrorCode::unsupported, {"channels"}, {.channels = {"Y"}});
    const std::vector<fs::path> two{at("clip_12x8.yuv"), at("clip_12x8_nv16.yuv")};
    test::expect_error([&] { (void)open_image(two); }, ErrorCode::bad_argument, "texton::open_image",
                       {"clip_12x8_nv16.yuv", "video"});
}

// --- separate planes ---

TEST_F(VideoTest, SeparatePlanesOfChromaAreReadAsPairs) {
    struct Row {
        Format format;
        std::size_t luma, chroma;  // samples of a plane
    };
    for (const Row& row : {Row{Format::nv12, 96, 24}, Row{Format::nv16, 96, 48}}) {
        SCOPED_TRACE(name(row.format));
        const std::size_t frame = row.luma + 2 * row.chroma;
        const Bytes bytes = test::pattern(2 * frame, 9);
        const RawFrames raw{row.format, {12, 8}, 1, RawLayout::planes};
        const ImageFile image = open_image(write("a.yuv", bytes), {.raw = raw});
        const auto stored = std::span(bytes).subspan(frame);
        EXPECT_TRUE(same_bytes(read_part(image.plane(0)), stored.first(row.luma)));
        const Bytes chroma = read_part(image.plane(1));
        ASSERT_EQ(chroma.size(), 2 * row.chroma);
        for (std::size_t i = 0; i < row.chroma; ++i) {
            EXPECT_EQ(chroma[2 * i], stored[row.luma + i]);
            EXPECT_EQ(chroma[2 * i + 1], stored[row.luma + row.chroma + i]);
        }
        const Region region{{1, 2}, {4, 2}};
        const Bytes part = read_part(image.plane(1), {.region = region});
        for (std::size_t y = 0; y < 2; ++y)
            EXPECT_TRUE(same_bytes(std::span(part).subspan(y * 8, 8), std::span(chroma).subspan((y + 2) * 12 + 2, 8)));
    }
}

TEST_F(VideoTest, SamplesOfTenBitsMoveToTheUpperBits) {
    const std::vector<std::uint16_t> samples{1, 2, 3, 1023, 512, 64};  // four of luma, one of Cb, one of Cr
    Bytes bytes(12);
    std::memcpy(bytes.data(), samples.data(), 12);
    const ImageFile image = open_image(write("a_2x2_yuv420p10le.yuv", bytes));
    EXPECT_EQ(image.info().format, Format::p010);
    const auto words = [](const Bytes& texels) {
        std::vector<std::uint16_t> out(texels.size() / 2);
        std::memcpy(out.data(), texels.data(), texels.size());
        return out;
    };
    EXPECT_EQ(words(read_part(image.plane(0))), (std::vector<std::uint16_t>{64, 128, 192, 65472}));
    EXPECT_EQ(words(read_part(image.plane(1))), (std::vector<std::uint16_t>{32768, 4096}));
    save(at("b_2x2_yuv420p10le.yuv"), image);
    EXPECT_TRUE(same_bytes(test::file_bytes(at("b_2x2_yuv420p10le.yuv")), bytes));
    save(at("b.y4m"), image);
    const Bytes y4m = test::file_bytes(at("b.y4m"));
    EXPECT_TRUE(same_bytes(std::span(y4m).last(12), bytes));
}

// --- Y4M ---

TEST_F(VideoTest, FramesOfY4mFilesAreRead) {
    const std::vector<Bytes> frames{test::pattern(12, 1), test::pattern(12, 2), test::pattern(12, 3)};
    for (const std::string line : {"FRAME\n", "FRAME Ip XA=B\n"}) {
        const fs::path path =
            y4m("YUV4MPEG2 W4 H2 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=FULL XNOTE=1\n", frames, line);
        for (std::size_t frame = 0; frame < 3; ++frame) {
            const ImageFile image = open_image(path, {.frame = frame});
            EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::nv12, .extent = {4, 2}}));
            EXPECT_EQ(image.metadata().frames, 3u);
            EXPECT_EQ(image.metadata().file_kind, "y4m");
            EXPECT_TRUE(same_bytes(read_part(image.plane(0)), std::span(frames[frame]).first(8)));
            const Bytes pairs{frames[frame][8], frames[frame][10], frames[frame][9], frames[frame][11]};
            EXPECT_TRUE(same_bytes(read_part(image.plane(1)), pairs));
        }
        refused(path, ErrorCode::out_of_bounds, {"a.y4m", "3 frames", "frame 3"}, {.frame = 3});
    }
    const ImageFile image = open_image(at("a.y4m"));
    const auto attribute = [&](std::string_view name) {
        for (const ImageAttribute& each : image.metadata().attributes)
            if (each.name == name) return each.value;
        return std::string("missing");
    };
    EXPECT_EQ(attribute("y4m:frame_rate"), "30000:1001");
    EXPECT_EQ(attribute("y4m:interlacing"), "p");
    EXPECT_EQ(attribute("y4m:pixel_aspect"), "1:1");
    EXPECT_EQ(attribute("y4m:colorspace"), "420jpeg");
    EXPECT_EQ(attribute("chroma_siting"), "center");
    EXPECT_EQ(attribute("code_range"), "full");
    EXPECT_EQ(image.conversions(),
              (Sentences{"The planes of Cb and Cr are read as one plane.", "Only frame 0 of 3 frames is read."}));
}

TEST_F(VideoTest, ColorSpacesOfY4mSelectTheFormat) {
    const auto opened = [&](const std::string& parameters, std::size_t bytes) {
        return open_image(y4m("YUV4MPEG2 H2 W4" + parameters + "\n", {Bytes(bytes)})).info().format;
    };
    for (const char* parameters : {"", " C420", " C420jpeg", " C420mpeg2", " C420paldv", " XYSCSS=420JPEG"})
        EXPECT_EQ(opened(parameters, 12), Format::nv12) << parameters;
    EXPECT_EQ(opened(" C422", 16), Format::nv16);
    EXPECT_EQ(opened(" XYSCSS=422", 16), Format::nv16);
    EXPECT_EQ(opened(" C420p10", 24), Format::p010);
    EXPECT_EQ(opened(" C420p12", 24), Format::p016);
    EXPECT_EQ(opened(" C420p16", 24), Format::p016);
    for (const char* color_space : {"444", "411", "mono", "444alpha", "422p10", "410", "?"}) {
        refused(y4m(std::string("YUV4MPEG2 W4 H2 C") + color_space + "\n", {Bytes(100)}), ErrorCode::unsupported,
                {"a.y4m", color_space, "420mpeg2"});
    }
}

TEST_F(VideoTest, DamagedY4mFilesAreRefused) {
    const std::string header = "YUV4MPEG2 W4 H2\n";
    const Bytes frame(12);
    refused(y4m("", {frame}), ErrorCode::io, {"a.y4m", "header"});
    refused(y4m("YUV4MPEG W4 H2\n", {frame}), ErrorCode::io, {"header"});
    refused(y4m("YUV4MPEG2W4 H2\n", {frame}), ErrorCode::io, {"header"});
    refused(write("a.y4m", bytes_of("YUV4MPEG2 W4 H2")), ErrorCode::io, {"header"});
    refused(write("a.y4m", bytes_of("YUV4MPEG2 W4 H2 X" + std::string(5000, 'a') + "\n")), ErrorCode::io, {"header"});
    refused(y4m("YUV4MPEG2\n", {frame}), ErrorCode::io, {"width and a height"});
    refused(y4m("YUV4MPEG2 W4\n", {frame}), ErrorCode::io, {"width and a height"});
    for (const char* width : {"0", "-4", "4.5", "", "2147483648", "99999999999999999999"})
        refused(y4m(std::string("YUV4MPEG2 W") + width + " H2\n", {frame}), ErrorCode::io, {"width"});
    refused(y4m("YUV4MPEG2 W3 H2\n", {frame}), ErrorCode::unsupported, {"3 x 2", "even"});
    refused(y4m("YUV4MPEG2 W2147483646 H2147483646\n", {frame}), ErrorCode::io, {"1 TiB"});
    refused(y4m("YUV4MPEG2 W1048576 H2\n", {frame}), ErrorCode::io, {"truncated", "12 of 3145728 bytes"});
    refused(y4m(header, {}), ErrorCode::io, {"no frames"});
    refused(y4m(header, {frame, Bytes(11)}), ErrorCode::io, {"truncated", "frame 1", "11 of 12 bytes"});
    refused(y4m(header, {Bytes(13), Bytes(11)}), ErrorCode::io, {"frame 1", "byte 34"}, {.frame = 1});
    refused(y4m(header, {frame}, "FRAMES\n"), ErrorCode::io, {"frame 0"});
    refused(y4m(header, {frame}, "FRAME"), ErrorCode::io, {"frame 0"});
    refused(y4m(header, {frame}, "FRAME " + std::string(5000, 'a') + "\n"), ErrorCode::io, {"frame 0"});
    const ImageFile image = open_image(y4m(header, {frame}));
    fs::resize_file(at("a.y4m"), 20);
    test::expect_error([&] { (void)read_part(image.plane(1)); }, ErrorCode::io, "texton::ImageFile", {"has changed"});
}

// --- writing ---

TEST_F(VideoTest, FramesAreWrittenToOneFile) {
    const fs::path nv12 = write("in_12x8.yuv", test::pattern(3 * 144, 5));
    const fs::path p010 = write("in_12x8_p010.yuv", test::pattern(3 * 288, 6));
    for (const fs::path& in : {nv12, p010}) {
        for (const std::string name : {"out.yuv", "out.raw", "out.y4m", "out_12x8_i420.yuv"}) {
            if (in == p010 && name == "out_12x8_i420.yuv") continue;
            SCOPED_TRACE(name);
            FrameWriter writer(at(name));
            for (std::size_t frame = 0; frame < 3; ++frame) writer.write(open_image(in, {.frame = frame}));
            EXPECT_FALSE(fs::exists(at(name)));
            writer.complete();
            ImageOptions how;
            if (name == "out.yuv" || name == "out.raw") {
                how.raw = raw_frames_in_name(in);
                EXPECT_TRUE(same_bytes(test::file_bytes(at(name)), test::file_bytes(in)) || in == p010);
            }
            for (std::size_t frame = 0; frame < 3; ++frame) {
                how.frame = frame;
                if (how.raw) how.raw->frame = frame;
                const ImageFile written = open_image(at(name), how), original = open_image(in, {.frame = frame});
                EXPECT_EQ(written.metadata().frames, 3u);
                EXPECT_EQ(written.info(), original.info());
                if (in == p010 && name == "out.y4m") continue;  // the lower bits of the pattern are not stored
                for (const int plane : {0, 1})
                    EXPECT_TRUE(same_bytes(read_part(written.plane(plane)), read_part(original.plane(plane))));
            }
            fs::remove(at(name));
        }
    }
}

TEST_F(VideoTest, HeadersOfWrittenFilesHaveTheAttributesOfTheFirstFrame) {
    const auto header = [&](const fs::path& path) {
        const Bytes bytes = test::file_bytes(path);
        const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text.substr(0, text.find('\n'));
    };
    const ImageFile plain = open_image(write("in_4x2.yuv", Bytes(12)));
    save(at("b.y4m"), plain);
    EXPECT_EQ(header(at("b.y4m")), "YUV4MPEG2 W4 H2 F0:0 Ip A0:0 C420mpeg2");
    const std::string kept = "YUV4MPEG2 W4 H2 F24:1 It A4:3 C420jpeg XCOLORRANGE=FULL";
    save(at("b.y4m"), open_image(y4m(kept + "\n", {Bytes(12)})));
    EXPECT_EQ(header(at("b.y4m")), kept);
    FrameWriter writer(at("c.y4m"),
                       {{.name = "y4m:frame_rate", .value = "25:1"}, {.name = "chroma_siting", .value = "top_left"}});
    writer.write(open_image(at("a.y4m")));
    writer.complete();
    EXPECT_EQ(header(at("c.y4m")), "YUV4MPEG2 W4 H2 F25:1 It A4:3 C420paldv XCOLORRANGE=FULL");
    save(at("b.y4m"), open_image(y4m("YUV4MPEG2 W4 H2 I\x01 F1:\x7f C420jpeg XCOLORRANGE=\x01\n", {Bytes(12)})));
    EXPECT_EQ(header(at("b.y4m")), "YUV4MPEG2 W4 H2 F0:0 Ip A0:0 C420jpeg") << "invalid values are not kept";
    test::expect_error([&] { save(at("d.y4m"), plain, {.attributes = {{.name = "y4m:frame_rate", .value = "1 W9"}}}); },
                       ErrorCode::bad_argument, "texton::save", {"d.y4m", "y4m:frame_rate"});
    EXPECT_FALSE(fs::exists(at("d.y4m")));
}

TEST_F(VideoTest, FilesThatCannotBeCompletedAreNotCreated) {
    constexpr const char* kWriter = "texton::FrameWriter";
    const ImageFile small = open_image(write("in_4x2.yuv", Bytes(12)));
    const ImageFile large = open_image(write("in_8x2.yuv", Bytes(24)));
    const ImageFile rgba = image_of(Array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = {4, 2}}));
    const auto refused = [&](FrameWriter& writer, const ImageFile& frame, ErrorCode code,
                             std::initializer_list<std::string_view> fragments) {
        test::expect_error([&] { writer.write(frame); }, code, kWriter, fragments);
        test::expect_error([&] { writer.complete(); }, ErrorCode::bad_argument, kWriter, {});
    };
    const auto files = folder_.files();
    {
        FrameWriter writer(at("a.y4m"));
        writer.write(small);
        refused(writer, large, ErrorCode::bad_argument, {"a.y4m", "4 x 2", "8 x 2"});
        FrameWriter colors(at("b.y4m"));
        refused(colors, rgba, ErrorCode::io, {"b.y4m", "rgba8_unorm", "from_rgb()"});
        FrameWriter misnamed(at("b_8x2.yuv"));
        refused(misnamed, small, ErrorCode::bad_argument, {"8x2:nv12", "4x2:nv12"});
        FrameWriter empty(at("c.yuv"));
        test::expect_error([&] { empty.complete(); }, ErrorCode::bad_argument, kWriter, {"no frames"});
        FrameWriter canceled(at("d.yuv"));
        EXPECT_THROW(canceled.write(small, [](const ImageProgress&) { return false; }), Canceled);
        FrameWriter moved = std::move(canceled);
    }
    EXPECT_EQ(folder_.files(), files) << "temporary files are left";
    test::expect_error([&] { FrameWriter writer(at("a.png")); }, ErrorCode::bad_argument, kWriter, {"a.png", ".y4m"});
    test::expect_error([&] { FrameWriter writer(at("none") / "a.y4m"); }, ErrorCode::io, kWriter, {"a.y4m"});
}

TEST_F(VideoTest, FramesOfArraysAreWritten) {
    const Bytes bytes = test::pattern(16, 3);
    const PlanarArray loaded = load_planar(Device::cpu(), open_image(write("in_4x2_nv16.yuv", bytes)));
    save(at("a.y4m"), loaded);
    const ImageFile image = open_image(at("a.y4m"));
    EXPECT_EQ(image.info().format, Format::nv16);
    EXPECT_TRUE(same_bytes(read_part(image.plane(1)), std::span(bytes).subspan(8)));
}

}  // namespace
}  // namespace texton
