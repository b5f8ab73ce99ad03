#include "arrays/files/signature.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/own_helper.h"
#include "tests/support/reader_processes.h"

// The choice of the reader, and paths that are no files.

namespace texton {
namespace {

namespace fs = std::filesystem;
using detail::reader_name;
using OIIO::TypeDesc;
using namespace std::string_view_literals;

std::string reader_of(std::string_view first, const fs::path& path = "file") {
    return reader_name(path, std::as_bytes(std::span(first)));
}

class SignatureTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }

    test::ImageFolder folder_;
    const test::OwnHelper helper_{folder_.path(), test::configured_path("TEXTON_READER", TEXTON_TEST_READER)};
};

TEST_F(SignatureTest, EveryKindThatOpenImageIOWritesIsOpenedByItsFirstBytes) {
    for (const auto& [ending, kind] : {std::pair{"png", "png"},
                                       {"jpg", "jpeg"},
                                       {"tif", "tiff"},
                                       {"exr", "openexr"},
                                       {"hdr", "hdr"},
                                       {"bmp", "bmp"},
                                       {"gif", "gif"},
                                       {"webp", "webp"},
                                       {"ico", "ico"},
                                       {"sgi", "sgi"},
                                       {"dpx", "dpx"},
                                       {"iff", "iff"},
                                       {"jp2", "jpeg2000"},
                                       {"ppm", "pnm"},
                                       {"pgm", "pnm"},

                                       {"fits", "fits"}}) {
        SCOPED_TRACE(ending);
        const bool floats = ending == "hdr"sv || ending == "exr"sv;
        const int channels = ending == "pgm"sv || ending == "fits"sv ? 1 : 3;
        const test::StoredImage image =
            test::stored_image(64, 64, channels, floats ? TypeDesc::HALF : TypeDesc::UINT8, 3);
        const fs::path path = test::store(at("stored." + std::string(ending)), {image});
        const std::string text = read_image(path).texels.empty() ? "" : kind;
        for (const char* name : {"image", "image.unknown", "image.tga", "image.png", "image.JPG"}) {
            fs::copy_file(path, at(name), fs::copy_options::overwrite_existing);
            EXPECT_EQ(open_image(at(name)).metadata().file_kind, text) << name;
            EXPECT_EQ(read_image(at(name)).texels, read_image(path).texels) << name;
        }
    }
}

TEST_F(SignatureTest, KindsWithoutASignatureAreToldFromTheExtension) {
    EXPECT_EQ(reader_of("\0\0\2\0"sv, "a.tga"), "targa");
    EXPECT_EQ(reader_of("\0\0\2\0"sv, "a.TPIC"), "targa");
    EXPECT_EQ(reader_of("\0\0\0\0"sv, "a.rla"), "rla");
    EXPECT_EQ(reader_of("\0\0\2\0"sv, "a"), "");
    EXPECT_EQ(reader_of("text", "a.png"), "");
    EXPECT_EQ(reader_of(""), "");
    EXPECT_EQ(reader_of("P7 "), "");
    EXPECT_EQ(reader_of("P6\n"), "pnm");
    EXPECT_EQ(reader_of("P6"), "");
}

TEST_F(SignatureTest, FilesOfCamerasThatBeginLikeTiffAreToldFromTheExtension) {
    EXPECT_EQ(reader_of("II*\0\x08\0\0\0\0\0"sv, "a.tif"), "tiff");
    EXPECT_EQ(reader_of("II*\0\x08\0\0\0\0\0"sv, "a"), "tiff");
    EXPECT_EQ(reader_of("MM\0*\0\0\0\x08\0\0"sv, "a.nef"), "raw");
    EXPECT_EQ(reader_of("II*\0\x08\0\0\0\0\0"sv, "a.DNG"), "raw");
    EXPECT_EQ(reader_of("II*\0\x10\0\0\0CR\2\0"sv, "a.tif"), "raw");
    EXPECT_EQ(reader_of("II+\0\x08\0\0\0"sv, "a.png"), "tiff");
}

TEST_F(SignatureTest, ContainersAreToldFromTheirBrand) {
    EXPECT_EQ(reader_of("RIFF\x10\0\0\0WEBPVP8 "sv), "webp");
    EXPECT_EQ(reader_of("RIFF\x10\0\0\0AVI LIST"sv), "ffmpeg");
    EXPECT_EQ(reader_of("RIFF\x10\0\0\0WAVEfmt "sv), "");
    EXPECT_EQ(reader_of("\0\0\0\x18"
                        "ftypheic"sv),
              "heif");
    EXPECT_EQ(reader_of("\0\0\0\x18"
                        "ftypavif"sv),
              "heif");
    EXPECT_EQ(reader_of("\0\0\0\x18"
                        "ftypcrx "sv),
              "raw");
    EXPECT_EQ(reader_of("\0\0\0\x18"
                        "ftypisom"sv),
              "ffmpeg");
    std::string dicom(128, '\0');
    EXPECT_EQ(reader_of(dicom + "DICM"), "dicom");
}

TEST_F(SignatureTest, ADamagedFileIsLeftToTheReaderOfItsKind) {
    const fs::path path = test::store(at("image.png"), {test::stored_image(16, 16, 4, TypeDesc::UINT8, 3)});
    fs::rename(path, at("image.tif"));
    fs::resize_file(at("image.tif"), 20);
    for (const bool isolated : {false, true}) {
        test::expect_error([&] { (void)open_image(at("image.tif"), {}, {.isolated = isolated}); }, ErrorCode::io,
                           "texton::open_image", {"image.tif cannot be read as an image of the kind png: "});
    }
}

TEST_F(SignatureTest, AFileOfUnknownKindSaysSo) {
    test::write_bytes(at("file.xyz"), test::pattern(300, 5));
    for (const bool isolated : {false, true}) {
        test::expect_error([&] { (void)open_image(at("file.xyz"), {}, {.isolated = isolated}); }, ErrorCode::io,
                           "texton::open_image", {"file.xyz is of no kind that OpenImageIO reads"});
    }
}

TEST_F(SignatureTest, PipesDevicesAndFoldersAreRefusedAtOnce) {
    ASSERT_EQ(::mkfifo(at("pipe.png").c_str(), 0600), 0);
    fs::create_directory(at("folder.png"));
    fs::create_symlink(at("pipe.png"), at("link.png"));
    const std::vector<std::pair<fs::path, const char*>> refused{{at("pipe.png"), "is not a regular file"},
                                                                {at("link.png"), "is not a regular file"},
                                                                {at("folder.png"), "is a folder"},
                                                                {"/dev/zero", "is not a regular file"},
                                                                {"/dev/null", "is not a regular file"}};
    for (const ReadOptions& options :
         {ReadOptions{}, ReadOptions{.isolated = true}, ReadOptions{.isolated = true, .reuses_process = true}}) {
        const auto begin = std::chrono::steady_clock::now();
        for (const auto& [path, why] : refused) {
            test::expect_error([&, p = path] { (void)open_image(p, {}, options); }, ErrorCode::io, "texton::open_image",
                               {path.string() + " " + why});
            test::expect_error([&, p = path] { (void)read_image(p, options); }, ErrorCode::io, "texton::read_image",
                               {path.string() + " " + why});
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));  // nothing waited for a writer
    }
}

}  // namespace
}  // namespace texton
