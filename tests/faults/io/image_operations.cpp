// Image files: reading, writing, loading, saving, and reading in separate processes. The operations of
// texton-io-fault-tests.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/frame_writer.h>
#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_list.h>
#include <texton/image_load.h>
#include <texton/image_pyramid.h>
#include <texton/image_save.h>
#include <texton/read_options.h>

#include "tests/faults/files.h"
#include "tests/faults/operations.h"
#include "tests/support/arrays.h"
#include "tests/support/configured_path.h"
#include "tests/support/image_folder.h"
#include "tests/support/ktx2_file.h"
#include "tests/support/reader_processes.h"
#include "tests/support/zstd.h"

namespace texton::test {
namespace {

namespace fs = std::filesystem;

// A file that each run replaces. The old contents are written by the test, before the run.
struct Replaced {
    explicit Replaced(const std::string& name) : path(files.at(name)), name(name) {}

    void restore() const {
        const Aside own;
        write_bytes(path, old);
    }
    // Some writers store the same texels as different bytes in each run.
    void check() const {
        const Bytes present = contents_of(path);
        files.expect({{name, {present}}});
        if (present == old) return;
        try {
            EXPECT_TRUE(stored() == texels) << "the file has neither the old nor the new contents";
            if (!plane) {
                EXPECT_EQ(open_image(path).info().levels, levels) << "levels are missing";
            }
        } catch (const Error& error) {
            ADD_FAILURE() << "the file is damaged: " << error.what();
        }
    }
    // Returns the texels of the first level in the file.
    Bytes stored() const {
        const ImageFile image = open_image(path, options);
        return read_part(plane ? image.plane(*plane) : image);
    }

    Files files;
    fs::path path;
    std::string name;
    ImageOptions options{};
    Bytes old = pattern(100, 9);
    Bytes texels;  ///< of the first level
    int levels = 1;
    std::optional<int> plane{};  ///< the plane whose texels these are
};

// Writes texels with write_image() and reads them. Functions of OpenImageIO that are noexcept allocate memory, for
// example ImageSpec::default_channel_names().
Operation image_operation(const std::string& ending, Format format) {
    return {"Image_" + ending,
            {"image"},
            [=](const Device&) {
                const auto file = std::make_shared<Replaced>("image." + ending);
                const auto texels = std::make_shared<Bytes>(pattern(box_bytes(format, {20, 10}), 1));
                write_image(file->path, format, {20, 10}, *texels);
                file->texels = file->stored();
                return Prepared{[=] {
                                    file->restore();
                                    write_image(file->path, format, {20, 10}, *texels);
                                    const Image image = read_image(file->path);
                                    const Aside own;
                                    return image.texels;
                                },
                                [=] { file->check(); }};
            },
            false,
            true,
            true,
            ending == "png" ? Call::read : Call::none};
}

// Saves an array with its levels and loads it.
Operation array_operation(const std::string& ending, const ArrayInfo& info) {
    return {"Save_" + ending + (info.format == Format::rgba8_srgb ? "_srgb" : ""),
            {"image_file", "image_load", "image_save"},
            [=](const Device& device) {
                const auto file = std::make_shared<Replaced>("array." + ending);
                const auto array = std::make_shared<Array>(device, info);
                upload(*array, ReferenceArray(info, 1));
                file->texels = download(array->view());
                file->levels = info.levels;
                return Prepared{[=] {
                                    file->restore();
                                    save(file->path, *array,
                                         {.compression = ending == "ktx2" ? test::zstd_if_built() : ""});
                                    const Array loaded = load(device, open_image(file->path));
                                    Bytes result = texels_of(loaded.view());
                                    // If a header of a TIFF cannot be read, OpenImageIO reports the end of the file.
                                    if (ending == "tif") return result;
                                    append(result, texels_of(loaded.view({.level = info.levels - 1})));
                                    return result;
                                },
                                [=] { file->check(); }};
            },
            false,
            true,
            ending != "dds" && ending != "ktx2",
            ending == "png" ? Call::read : Call::none};
}

Prepared save_planar(const Device& device) {
    const auto file = std::make_shared<Replaced>("frames.yuv");
    const auto array = std::make_shared<PlanarArray>(device, Format::nv12, Extent{32, 16});
    fill(array->frame().luma, std::uint8_t{3});
    fill(array->frame().chroma, std::uint8_t{5});
    file->options.raw = RawFrames{.extent = {32, 16}};
    file->plane = 1;
    file->texels = download(array->frame().chroma);
    return {[=] {
                file->restore();
                save(file->path, *array);
                const PlanarArray loaded = load_planar(device, open_image(file->path, file->options));
                return texels_of(loaded.frame().chroma);
            },
            [=] { file->check(); }};
}

// Writes two frames to a file and reads the second one.
Prepared write_frames(const Device& device) {
    const auto file = std::make_shared<Replaced>("frames.y4m");
    const auto array = std::make_shared<PlanarArray>(device, Format::nv12, Extent{32, 16});
    fill(array->frame().luma, std::uint8_t{3});
    fill(array->frame().chroma, std::uint8_t{5});
    file->texels = download(array->frame().chroma);
    file->plane = 1;
    const auto attributes = std::make_shared<std::vector<ImageAttribute>>();
    attributes->push_back({.name = "y4m:frame_rate", .value = "25:1"});
    return {[=] {
                file->restore();
                (void)is_video_name(file->path);
                (void)raw_frames_in_name(file->path);
                (void)raw_frames_of("32x16:i420@1");
                FrameWriter writer(file->path, *attributes);
                for (int frame = 0; frame < 2; ++frame) writer.write(image_of(*array));
                writer.complete();
                const ImageFile frame = open_image(file->path, {.frame = 1}).plane(1);
                Bytes texels = own_bytes(packed_bytes(frame.info()));
                frame.read({}, texels);
                return texels;
            },
            [=] { file->check(); }};
}

// Reads files that Texton cannot write, and several files as one image.
Prepared read_files(const Device&) {
    const auto files = std::make_shared<Files>();
    const auto paths = std::make_shared<std::vector<fs::path>>();
    const auto radiance =
        std::make_shared<fs::path>(store(files->at("a.hdr"), {stored_image(16, 8, 3, OIIO::TypeDesc::FLOAT, 1)}));
    for (const char* name : {"layer1.tif", "layer2.tif"}) {
        paths->push_back(store(files->at(name), {stored_image(16, 8, 4, OIIO::TypeDesc::UINT8, 2)}));
    }
    Ktx2File zlib{.width = 16, .height = 8, .scheme = 3, .levels = {zlib_stream_of(pattern(512, 3))}};
    zlib.uncompressed_bytes = {512};
    const auto compressed = std::make_shared<fs::path>(write_bytes(files->at("a.ktx2"), zlib.bytes()));
    return {[files, paths, radiance, compressed] {
        const Image image = read_image(*radiance);
        const std::vector<fs::path> found = numbered_files(paths->front());
        const ImageFile layers = open_image(found);
        (void)layers.access();
        (void)layers.conversions();
        Bytes texels = own_bytes(2 * 16 * 8 * 4);
        layers.read({}, texels);
        append(texels, image.texels);
        Bytes decompressed = own_bytes(512);
        open_image(*compressed).read({}, decompressed);
        append(texels, decompressed);
        return texels;
    }};
}

// Decodes blocks of one layer, with conversions.
Prepared read_blocks(const Device&) {
    const auto files = std::make_shared<Files>();
    const auto path = std::make_shared<fs::path>(files->at("a.dds"));
    const ArrayInfo info{.format = Format::bc4_snorm, .extent = {16, 8}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Array array(Device::cpu(), info);
    upload(array, ReferenceArray(info, 1));
    save(*path, array);
    return {[files, path] {
        const ImageFile layer =
            open_image(*path, {.format = Format::rgba16_unorm, .bc = BlockDecoding::exact, .layer = 1});
        Bytes texels = own_bytes(16 * 8 * 8);
        layer.read({}, texels);
        return texels;
    }};
}

Prepared read_pyramid(const Device&) {
    const auto files = std::make_shared<Files>();
    const auto path = std::make_shared<fs::path>(files->at("a.dds"));
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {64, 64}, .kind = ArrayKind::cubemap, .levels = 7};
    const Array array(Device::cpu(), info);
    upload(array, ReferenceArray(info, 1));
    save(*path, array);
    const auto folder = std::make_shared<fs::path>(path->parent_path());
    return {[files, path, folder] {
        const TilePyramid pyramid = open_pyramid(*path);
        Bytes texels = own_bytes(3 * 16 * 8);
        const std::span<std::byte> all(texels);
        pyramid.read({.level = 1, .layer = 4, .region = {{8, 16, 0}, {16, 8, 1}}}, all.first(16 * 8), {});
        pyramid_of(open_image(*path))
            .read({.level = 2, .layer = 5, .region = {{0, 8, 0}, {16, 8, 1}}}, all.subspan(16 * 8, 16 * 8), {});
        TilePyramid one = pyramid_of(open_image(*path));
        one.info.levels = 1;
        add_levels(std::move(one), *folder)
            .read({.level = 2, .layer = 3, .region = {{0, 8, 0}, {16, 8, 1}}}, all.subspan(2 * 16 * 8), {});
        return texels;
    }};
}

Prepared find_savable_format(const Device&) {
    const auto files = std::make_shared<Files>();
    return {[files] {
                const auto format = savable_format(files->at("a.exr"), Format::bc4_unorm);
                const Aside own;
                return Bytes(1, static_cast<std::byte>(format.value()));
            },
            [files] { files->expect({}); }};
}

Prepared read_isolated(const Device&) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    const auto files = std::make_shared<Files>();
    const auto path =
        std::make_shared<fs::path>(store(files->at("a.tif"), {stored_image(16, 8, 4, OIIO::TypeDesc::UINT8, 2)}));
    return {[files, path] {
                const ReadOptions isolated{.isolated = true};
                const ImageFile opened = open_image(*path, {}, isolated);
                Bytes texels = own_bytes(16 * 8 * 4);
                opened.read({}, texels);
                return texels;
            },
            [] {
                EXPECT_TRUE(eventually([] { return readers().empty(); })) << "a process still reads a file";
                for (const SeenProcess& child : children_of(::getpid())) EXPECT_NE(child.state, 'Z');
            }};
}

// While it exists, isolated reading uses this program.
class OtherReader {
public:
    explicit OtherReader(const fs::path& path) {
        const Aside own;
        program_.emplace(path);
    }
    ~OtherReader() {
        const Aside own;
        program_.reset();
    }
    OtherReader(const OtherReader&) = delete;
    OtherReader& operator=(const OtherReader&) = delete;

private:
    std::optional<ReaderProgram> program_;
};

// Opens files ahead. Processes wait for other files afterwards.
Prepared list_files(const Device&) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    const auto files = std::make_shared<Files>();
    const auto paths = std::make_shared<std::vector<fs::path>>();
    for (const char* name : {"a.tif", "b.tif", "c.tif"})
        paths->push_back(store(files->at(name), {stored_image(16, 8, 4, OIIO::TypeDesc::UINT8, 2)}));
    return {[files, paths] {
                ImageList list(*paths, {}, {.isolated = true, .reuses_process = true});
                Bytes texels = own_bytes(16 * 8 * 4);
                while (list.left() > 0) list.open_next().read({}, texels);
                return texels;
            },
            [] {  // ends the processes that wait for other files
                for (const pid_t reader : readers()) ::kill(reader, SIGKILL);
                EXPECT_TRUE(eventually([] { return readers().empty(); })) << "a process still waits for files";
            }};
}

// Starts a helper in each run: a program of the tests that starts at once, and that shortens the memory if it can.
Prepared start_reader(const Device&) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    const auto files = std::make_shared<Files>();
    const auto path =
        std::make_shared<fs::path>(store(files->at("a.tif"), {stored_image(8, 8, 4, OIIO::TypeDesc::UINT8, 2)}));
    const fs::path program =
        fs::path(configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS)) / "texton-test-lying_reader";
    const auto links = std::make_shared<std::vector<fs::path>>();
    for (const char* folder : {"one", "two"}) {
        fs::create_directory(files->at(folder));
        links->push_back(files->at(folder) / "shrink");
        fs::create_symlink(program, links->back());
    }
    return {[files, path, links] {
                std::swap(links->front(), links->back());
                const OtherReader other(links->front());
                Bytes texels = own_bytes(8 * 8 * 4);
                try {
                    const ImageFile opened = open_image(*path, {}, {.isolated = true});
                    opened.read({}, texels);
                } catch (const Error& error) {
                    const Aside own;
                    for (const char* blame : {"did not start", "bytes of texels"}) {
                        EXPECT_EQ(error.problem().find(blame), std::string::npos) << error.what();
                    }
                    throw;
                }
                return own_bytes(1);  // the program sends any texels
            },
            [] {
                for (const SeenProcess& child : children_of(::getpid())) EXPECT_NE(child.state, 'Z');
            }};
}

}  // namespace

std::vector<std::string> covered_folders() { return {"arrays/files/texton"}; }

std::vector<Operation> all_operations() {
    const ArrayInfo plain{.format = Format::rgba8_unorm, .extent = {20, 10}};
    const ArrayInfo levels{.format = Format::rgba16_unorm, .extent = {70, 40}, .levels = 7};
    const ArrayInfo halves{.format = Format::rgba16_float, .extent = {70, 40}, .levels = 7};
    return {
        image_operation("png", Format::rgba8_unorm),
        image_operation("tif", Format::r16_unorm),
        image_operation("exr", Format::rgba32_float),
        image_operation("jpg", Format::r8_unorm),
        image_operation("tga", Format::rgba8_unorm),
        array_operation("png", plain),
        array_operation("tif", levels),
        array_operation("tif", {.format = Format::rgba8_srgb, .extent = {70, 40}, .levels = 7}),
        array_operation("exr", halves),
        array_operation("dds",
                        {.format = Format::rgba8_unorm, .extent = {16, 16}, .kind = ArrayKind::cubemap, .levels = 5}),
        array_operation("ktx2",
                        {.format = Format::rgba8_unorm, .extent = {16, 16}, .kind = ArrayKind::cubemap, .levels = 5}),
        {"SavePlanar", {"image_file", "image_load", "image_save"}, save_planar},
        {"WriteFrames", {"frame_writer", "image_file"}, write_frames},
        {"ReadFiles", {"image", "image_file"}, read_files, false, true, true},
        {"ReadBlocks", {"image_file", "image_save"}, read_blocks},
        {"ReadPyramid", {"image_pyramid"}, read_pyramid},
        {"SavableFormat", {"image_save"}, find_savable_format, false, true, true},
        {"ListFiles", {"image_list", "read_options"}, list_files},
        {"ReadIsolated", {"read_options", "image_file"}, read_isolated},
        {"StartReader", {"read_options"}, start_reader},
    };
}

}  // namespace texton::test
