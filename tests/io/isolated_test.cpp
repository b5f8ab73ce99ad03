#include <texton/read_options.h>

#include <sys/stat.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "arrays/files/source.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/reader_processes.h"
#include "tests/support/zstd.h"

// Files that are read in separate processes: the results equal those of the process itself. The failures of these
// processes are in isolated_failure_test.cpp.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::store;
using test::stored_chain;
using test::stored_image;
using test::StoredImage;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
constexpr ReadOptions kIsolated{.isolated = true};

class IsolatedReadTest : public testing::Test {
protected:
    void SetUp() override { setenv("TEXTON_READER", TEXTON_TEST_READER, 0); }
    fs::path at(const std::string& name) const { return folder_.at(name); }

    test::ImageFolder folder_;
};

// What a call returned: its result, or the text of its error.
template <class Result>
struct Outcome {
    Result result{};
    std::string error;
    explicit Outcome(const std::function<Result()>& call) {
        try {
            result = call();
        } catch (const Error& thrown) {
            error = std::string(name(thrown.code())) + ": " + thrown.what();
            for (const auto& [number, value] : thrown.numbers()) error += ' ' + number + '=' + std::to_string(value);
        }
    }
};

void expect_same_metadata(const ImageMetadata& seen, const ImageMetadata& expected) {
    EXPECT_EQ(seen.file_kind, expected.file_kind);
    EXPECT_EQ(seen.color_space, expected.color_space);
    EXPECT_EQ(seen.channels, expected.channels);
    EXPECT_EQ(seen.channel_types, expected.channel_types);
    EXPECT_EQ(seen.read_channels, expected.read_channels);
    EXPECT_EQ(seen.alpha, expected.alpha);
    EXPECT_EQ(seen.orientation, expected.orientation);
    EXPECT_EQ(seen.data, expected.data);
    EXPECT_EQ(seen.display, expected.display);
    EXPECT_EQ(seen.parts, expected.parts);
    EXPECT_EQ(seen.frames, expected.frames);
    EXPECT_EQ(seen.attributes, expected.attributes);
}

void expect_same_planes(const ImageFile& isolated, const ImageFile& own) {
    for (int level = 0; level < own.info().levels; ++level) {
        EXPECT_EQ(isolated.access(level), own.access(level));
        EXPECT_EQ(isolated.state()->file->boxes(level, 1000), own.state()->file->boxes(level, 1000));
        const Outcome<Bytes> expected([&] { return read_part(own, {.level = level}); });
        const Outcome<Bytes> seen([&] { return read_part(isolated, {.level = level}); });
        EXPECT_EQ(seen.error, expected.error);
        EXPECT_TRUE(same_bytes(seen.result, expected.result)) << "level " << level;
    }
}

// Opens and reads files in this process and in others, and compares everything that a caller can see.
void expect_same(const std::vector<fs::path>& paths, const ImageOptions& options = {}) {
    SCOPED_TRACE(paths.front());
    const Outcome<ImageFile> own([&] { return open_image(paths, options); });
    const Outcome<ImageFile> isolated([&] { return open_image(paths, options, kIsolated); });
    ASSERT_EQ(isolated.error, own.error);
    if (!own.error.empty()) return;
    EXPECT_EQ(isolated.result.info(), own.result.info());
    expect_same_metadata(isolated.result.metadata(), own.result.metadata());
    EXPECT_EQ(isolated.result.conversions(), own.result.conversions());
    if (own.result.state()->file == nullptr) {
        for (int plane = 0; plane < 2; ++plane) {
            expect_same_planes(isolated.result.plane(plane), own.result.plane(plane));
        }
    } else {
        expect_same_planes(isolated.result, own.result);
    }
}

void expect_same_plain(const fs::path& path) {
    SCOPED_TRACE(path);
    const Outcome<Image> own([&] { return read_image(path); });
    const Outcome<Image> isolated([&] { return read_image(path, kIsolated); });
    EXPECT_EQ(isolated.error, own.error);
    EXPECT_EQ(isolated.result.format, own.result.format);
    EXPECT_EQ(isolated.result.extent, own.result.extent);
    EXPECT_EQ(isolated.result.file_channels, own.result.file_channels);
    EXPECT_TRUE(same_bytes(isolated.result.texels, own.result.texels));
}

TEST_F(IsolatedReadTest, EveryAssetGivesTheSameImageOrTheSameError) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(kAssets)) {
        if (!entry.is_regular_file()) continue;
        ++files;
        expect_same({entry.path()});
        expect_same_plain(entry.path());
    }
    EXPECT_GT(files, 30);
}

TEST_F(IsolatedReadTest, EveryTypeAndNumberOfChannelsGivesTheSameTexels) {
    unsigned seed = 1;
    for (const TypeDesc& type : {TypeDesc(TypeDesc::UINT8), TypeDesc(TypeDesc::UINT16), TypeDesc(TypeDesc::UINT32),
                                 TypeDesc(TypeDesc::HALF), TypeDesc(TypeDesc::FLOAT)}) {
        for (const int channels : {1, 2, 3, 4, 5}) {
            const fs::path path = at("type.tif");
            fs::remove(path);
            store(path, {stored_image(37, 21, channels, type, ++seed)});
            expect_same({path});
            expect_same_plain(path);
        }
    }
    for (const char* kind : {"a.png", "a.jpg", "a.hdr", "a.bmp", "a.tga", "a.exr", "a.ppm", "a.sgi", "a.webp"}) {
        const bool floats = fs::path(kind).extension() == ".hdr";
        const TypeDesc type = floats ? TypeDesc::FLOAT : TypeDesc::UINT8;
        expect_same({store(at(kind), {stored_image(40, 30, 3, type, ++seed)})});
        expect_same_plain(at(kind));
    }
}

TEST_F(IsolatedReadTest, ChosenChannelsAreTheSame) {
    for (const char* kind : {"a.tif", "a.exr", "a.png"}) {
        const bool floats = fs::path(kind).extension() == ".exr";
        const fs::path path = store(at(kind), {stored_image(40, 30, 4, floats ? TypeDesc::HALF : TypeDesc::UINT8, 4)});
        for (const std::vector<std::string>& channels :
             {std::vector<std::string>{"A"}, {"B", "R"}, {"A", "B", "G"}, {"G", "G", "R", "3"}, {"X"}}) {
            expect_same({path}, {.channels = channels});
        }
    }
    expect_same({kAssets / "levels.dds"}, {.channels = {"G"}});
    expect_same({kAssets / "bc7.dds"}, {.channels = {"G"}});
}

// Their texels are too many for the reply to the request to open the file.
TEST_F(IsolatedReadTest, LargeTiffFilesAreTheSame) {
    unsigned seed = 1;
    for (const TypeDesc& type : {TypeDesc(TypeDesc::UINT8), TypeDesc(TypeDesc::INT16), TypeDesc(TypeDesc::UINT16),
                                 TypeDesc(TypeDesc::HALF), TypeDesc(TypeDesc::FLOAT)}) {
        for (const char* compression : {"zip", "none", "lzw"}) {
            for (const int channels : {1, 2, 3, 4, 5}) {
                SCOPED_TRACE(fmt::format("{} {} {}", type.c_str(), compression, channels));
                StoredImage image = stored_image(230, 180, channels, type, ++seed);
                image.spec.attribute("compression", compression);
                image.spec.attribute("tiff:half", 1);
                const fs::path path = at("type.tif");
                fs::remove(path);
                store(path, {image});
                expect_same({path});
                if (channels == 5) expect_same({path}, {.channels = {"4", "1", "2"}});
                if (channels == 4) expect_same({path}, {.channels = {"A", "R"}});
            }
        }
    }
    std::vector<StoredImage> images;
    for (unsigned part = 0; part < 3; ++part) images.push_back(stored_image(230, 180, 4, TypeDesc::UINT8, part));
    const fs::path parts = store(at("parts.tif"), images);
    for (const int part : {0, 2, 3}) expect_same({parts}, {.part = part});
    expect_same({store(at("chain.tif"), {stored_chain(300, 200, 4, TypeDesc::FLOAT, 3, 32)})});
    Bytes damaged = test::file_bytes(store(at("one.tif"), {stored_image(230, 180, 4, TypeDesc::UINT8, 5)}));
    const std::size_t middle = damaged.size() / 2;
    for (std::size_t i = 0; i < 64; ++i) damaged[middle + i] ^= std::byte{0xff};
    expect_same({test::write_bytes(at("damaged.tif"), damaged)});
    damaged.resize(middle);
    expect_same({test::write_bytes(at("short.tif"), damaged)});
}

TEST_F(IsolatedReadTest, PartsLevelsWindowsAndOrientationAreTheSame) {
    const fs::path chain = store(at("chain.tif"), {stored_chain(300, 200, 3, TypeDesc::UINT8, 3, 32)});
    expect_same({chain});
    expect_same({chain}, {.first_level = 2, .levels = 3});
    expect_same({chain}, {.first_level = 20});
    expect_same({chain}, {.format = Format::rgba16_float});
    expect_same({chain}, {.format = Format::r32_uint});

    std::vector<StoredImage> images;
    for (unsigned part = 0; part < 3; ++part) images.push_back(stored_image(20, 10, 4, TypeDesc::UINT8, part));
    const fs::path parts = store(at("parts.tif"), images);
    expect_same({parts});
    expect_same({parts}, {.part = 2});
    expect_same({parts}, {.part = 3});
    expect_same({parts}, {.kind = ArrayKind::layered_2d});
    expect_same({parts}, {.kind = ArrayKind::array_3d});

    StoredImage window = stored_image(30, 20, 4, TypeDesc::HALF, 5);
    window.spec.x = 5;
    window.spec.y = -3;
    window.spec.full_width = 40;
    window.spec.full_height = 18;
    const fs::path windows = store(at("window.exr"), {window});
    expect_same({windows});
    expect_same({windows}, {.window = ImageWindow::display});

    StoredImage turned = stored_image(31, 17, 3, TypeDesc::UINT8, 6);
    turned.spec.attribute("Orientation", 6);
    turned.spec.attribute("Artist", "\xc3\xa9 and \"quotes\"");
    const fs::path sideways = store(at("turned.tif"), {turned});
    expect_same({sideways});
    expect_same({sideways}, {.upright = false});
    expect_same({sideways}, {.color = ImageColor::srgb});
}

TEST_F(IsolatedReadTest, StacksCubesAndRawFramesAreTheSame) {
    std::vector<fs::path> slices;
    for (unsigned slice = 0; slice < 20; ++slice) {  // more files than processes that wait at the same time
        slices.push_back(at("slice" + std::to_string(slice) + ".png"));
        store(slices.back(), {stored_image(12, 9, 1, TypeDesc::UINT16, slice)});
    }
    expect_same(slices, {.kind = ArrayKind::array_3d});
    expect_same(slices);
    expect_same({slices[0], kAssets / "card.png"});
    std::vector<fs::path> faces;
    for (const char* face : {"px", "nx", "py", "ny", "pz", "nz"}) {
        faces.push_back(kAssets / ("cube_" + std::string(face) + ".png"));
    }
    expect_same(faces, {.kind = ArrayKind::cubemap});
    expect_same({kAssets / "sky_equirectangular.exr"}, {.kind = ArrayKind::cubemap, .cube_side = 16});
    const RawFrames raw{.format = Format::p010, .extent = {128, 72}};
    expect_same({kAssets / "p010_128x72.yuv"}, {.raw = raw});
    expect_same({kAssets / "p010_128x72.yuv"}, {.raw = RawFrames{.format = Format::nv12, .extent = {100, 2}}});
    expect_same({kAssets / "p010_128x72.yuv"}, {.raw = RawFrames{.format = Format::nv12, .extent = {3, 3}}});
    expect_same({kAssets / "p010_128x72.yuv"}, {.raw = RawFrames{.extent = {128, 72}, .frame = 1000}});
    expect_same({kAssets / "p010_128x72.yuv"}, {.frame = 1});
    for (const RawLayout layout : {RawLayout::interleaved, RawLayout::planes})
        expect_same({kAssets / "p010_128x72.yuv"},
                    {.raw = RawFrames{.format = Format::p010, .extent = {128, 72}, .layout = layout}});
}

TEST_F(IsolatedReadTest, FramesOfY4mFilesAreTheSame) {
    for (const char* name : {"nv12_128x72.yuv", "p010_128x72.yuv"}) {
        const fs::path path = at("a.y4m");
        save(path, open_image(kAssets / name));
        expect_same({path});
        expect_same({path}, {.frame = 1});
        expect_same({path}, {.format = Format::rgba8_unorm});
        const Bytes bytes = test::file_bytes(path);
        expect_same({test::write_bytes(path, std::span(bytes).first(bytes.size() - 1))});
        expect_same({test::write_bytes(path, std::span(bytes).first(40))});
        expect_same({test::write_bytes(path, std::span(bytes).subspan(1))});
    }
}

TEST_F(IsolatedReadTest, DamagedFilesGiveTheSameError) {
    const Bytes png = test::file_bytes(kAssets / "card.png");
    const Bytes dds = test::file_bytes(kAssets / "bc7.dds");
    save(at("whole.ktx2"), open_image(kAssets / "card.png"), {.compression = test::zstd_if_built()});
    const Bytes ktx2 = test::file_bytes(at("whole.ktx2"));
    expect_same({at("whole.ktx2")});
    expect_same_plain(at("whole.ktx2"));
    expect_same({at("missing.png")});
    expect_same({folder_.path()});
    expect_same({test::write_bytes(at("empty.png"), {})});
    expect_same({test::write_bytes(at("text.png"), test::pattern(100, 1))});
    expect_same({test::write_bytes(at("half.png"), std::span(png).first(png.size() / 2))});
    expect_same({test::write_bytes(at("half.dds"), std::span(dds).first(dds.size() / 2))});
    expect_same({test::write_bytes(at("header.dds"), std::span(dds).first(100))});
    expect_same({test::write_bytes(at("half.ktx2"), std::span(ktx2).first(ktx2.size() / 2))});
    expect_same({test::write_bytes(at("header.ktx2"), std::span(ktx2).first(80))});
    Bytes damaged = ktx2;
    damaged[damaged.size() / 2] ^= std::byte{1};
    expect_same({test::write_bytes(at("damaged.ktx2"), damaged)});
    for (const char* name : {"missing.png", "empty.png", "text.png", "half.png", "half.dds"}) {
        expect_same_plain(at(name));
    }
}

// Returns the error of opening a file, which must be the same in this process and in another.
std::string error_of(const fs::path& path, const ImageOptions& options = {}) {
    const Outcome<ImageFile> own([&] { return open_image(path, options); });
    const Outcome<ImageFile> isolated([&] { return open_image(path, options, kIsolated); });
    EXPECT_EQ(isolated.error, own.error) << path;
    return own.error;
}

TEST_F(IsolatedReadTest, FilesOfATebibyteGiveTheSameError) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 40;
    constexpr std::uint32_t kSide = std::uint32_t{1} << 20;
    constexpr const char* kLimit = "exceeds the limit of 1 TiB";
    save(at("a.dds"), host_view(test::pattern(16, 1).data(), Format::r8_unorm, {4, 4}));
    Bytes header = test::file_bytes(at("a.dds"));
    std::memcpy(header.data() + 12, &kSide, sizeof(kSide));  // height
    std::memcpy(header.data() + 16, &kSide, sizeof(kSide));  // width
    test::write_bytes(at("a.dds"), header);
    test::write_bytes(at("a.yuv"), {});
    std::error_code unsupported;
    fs::resize_file(at("a.dds"), header.size() + kBytes, unsupported);  // sparse
    if (!unsupported) fs::resize_file(at("a.yuv"), kBytes, unsupported);
    if (unsupported) GTEST_SKIP() << "the file system has no files of 1 TiB: " << unsupported.message();
    EXPECT_NE(error_of(at("a.dds")).find(kLimit), std::string::npos) << error_of(at("a.dds"));
    const ImageOptions raw{.raw = RawFrames{.format = Format::nv16, .extent = {kSide, kSide / 2}}};
    EXPECT_NE(error_of(at("a.yuv"), raw).find(kLimit), std::string::npos) << error_of(at("a.yuv"), raw);

    // Three channels have 768 GiB, and the four that they are widened to have 1 TiB.
    const std::string ppm = fmt::format("P6 {0} {0} 255\n", kSide / 2);
    test::write_bytes(at("a.ppm"), std::as_bytes(std::span(ppm)));
    EXPECT_NE(error_of(at("a.ppm")).find(kLimit), std::string::npos) << error_of(at("a.ppm"));
    expect_same_plain(at("a.ppm"));
    const Outcome<Image> plain([&] { return read_image(at("a.ppm")); });
    EXPECT_NE(plain.error.find(kLimit), std::string::npos) << plain.error;
}

TEST_F(IsolatedReadTest, PartsOfALevelAreTheSame) {
    const fs::path path = store(at("tiles.exr"), {stored_chain(200, 150, 4, TypeDesc::HALF, 9, 64)});
    const ImageFile own = open_image(path), isolated = open_image(path, {}, kIsolated);
    for (const Region& region : {Region{{0, 0, 0}, {1, 1}}, Region{{60, 60, 0}, {70, 10}},
                                 Region{{5, 149, 0}, {195, 1}}, Region{{0, 0, 0}, {200, 150}}}) {
        EXPECT_TRUE(same_bytes(read_part(isolated, {.region = region}), read_part(own, {.region = region})));
    }
    const Region last{{10, 3, 0}, {20, 30}};
    EXPECT_TRUE(
        same_bytes(read_part(isolated, {.level = 2, .region = last}), read_part(own, {.level = 2, .region = last})));
}

TEST_F(IsolatedReadTest, TexelsThatAFileStoresAsTheyAreNeedNoMemoryOfTheProcess) {
    const fs::path path = at("a.dds");
    save(path, open_image(store(at("a.png"), {stored_image(1024, 1024, 4, TypeDesc::UINT8, 3)})));
    const ReadOptions little{.isolated = true, .limits = {.bytes = std::size_t{1} << 20}};
    const ImageFile image = open_image(path, {}, little);
    EXPECT_TRUE(same_bytes(read_part(image, {}), read_part(open_image(path), {})));
    save(path, open_image(store(at("b.png"), {stored_image(1024, 1024, 4, TypeDesc::UINT8, 4)})));
    test::expect_error([&] { (void)read_part(image, {}); }, ErrorCode::io, "texton::ImageFile",
                       {"a.dds has changed since it was opened"});
}

TEST_F(IsolatedReadTest, ImagesAreLoadedIntoArrays) {
    const fs::path path = kAssets / "levels.exr";
    const Array own = load(Device::cpu(), open_image(path));
    const Array isolated = load(Device::cpu(), open_image(path, {}, kIsolated));
    ASSERT_EQ(isolated.info(), own.info());
    for (int level = 0; level < own.info().levels; ++level) {
        EXPECT_TRUE(
            same_bytes(test::download(isolated.view({.level = level})), test::download(own.view({.level = level}))));
    }
}

TEST_F(IsolatedReadTest, RelativePathsFollowTheWorkingFolderOfTheCaller) {
    (void)read_image(kAssets / "card.png", kIsolated);  // the helper starts in the folder of the tests
    store(at("here.png"), {stored_image(8, 8, 4, TypeDesc::UINT8, 4)});
    const Bytes expected = read_image(at("here.png")).texels;
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    const Outcome<Image> relative([] { return read_image("here.png", kIsolated); });
    const Outcome<ImageFile> missing([] { return open_image("missing.png", {}, kIsolated); });
    fs::current_path(before);
    EXPECT_EQ(relative.error, "");
    EXPECT_TRUE(same_bytes(relative.result.texels, expected));
    EXPECT_EQ(missing.error, "io: texton::open_image: missing.png does not exist. Check the path.");
}

TEST_F(IsolatedReadTest, EightThreadsReadAtOnce) {
    const fs::path chain = store(at("chain.tif"), {stored_chain(100, 80, 4, TypeDesc::UINT8, 3, 16)});
    const Bytes card = read_image(kAssets / "card.png").texels;
    const Bytes level = read_part(open_image(chain));
    const ImageFile shared = open_image(chain, {}, kIsolated);
    std::atomic<int> equal{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 4; ++round) {
                if (read_image(kAssets / "card.png", kIsolated).texels == card) ++equal;
                if (read_part(shared) == level) ++equal;
                if (read_part(open_image(chain, {}, kIsolated)) == level) ++equal;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(equal, 8 * 4 * 3);
}

TEST_F(IsolatedReadTest, AThousandReadsLeaveNoProcessesAndNoDescriptors) {
    const fs::path path = store(at("a.png"), {stored_image(8, 8, 4, TypeDesc::UINT8, 4)});
    const auto descriptors = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const Bytes expected = read_image(path, kIsolated).texels;
    (void)read_image(path, kIsolated);  // starts the process of the next file
    ASSERT_TRUE(test::eventually([] { return test::readers().empty(); }));
    const auto before = descriptors();
    const std::size_t children = test::children_of(::getpid()).size();
    for (int file = 0; file < 20; ++file) {
        const ImageFile image = open_image(path, {}, kIsolated);
        for (int read = 0; read < 50; ++read) ASSERT_EQ(read_part(image), expected);
        EXPECT_THROW((void)open_image(at("missing.png"), {}, kIsolated), Error);
    }
    EXPECT_TRUE(test::eventually([] { return test::readers().empty() && test::spare_readers().size() == 1; }));
    EXPECT_EQ(descriptors(), before);
    EXPECT_EQ(test::children_of(::getpid()).size(), children);
}

}  // namespace
}  // namespace texton
