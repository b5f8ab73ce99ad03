#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "arrays/files/tiff_chunks.h"
#include "core/parallel.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Strips and tiles of TIFF files with deflate, LZW or no compression, which Texton reads itself. It writes those with
// deflate.

namespace texton {
namespace {

namespace fs = std::filesystem;
using detail::TiffChunks;
using detail::TiffImage;
using detail::TiffNumbers;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::stored_image;
using test::StoredImage;

constexpr int kWidth = 83, kHeight = 71;

class TiffTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

// Returns the chunks of the first image of a file, as it describes itself to OpenImageIO.
std::optional<TiffChunks> chunks_of(const fs::path& path) {
    const auto input = OIIO::ImageInput::open(path.string());
    if (!input) return std::nullopt;
    const OIIO::ImageSpec spec = input->spec();
    const auto side = [](int length) { return static_cast<std::size_t>(length); };
    const TiffImage image{.extent = {side(spec.width), side(spec.height)},
                          .channels = static_cast<unsigned>(spec.nchannels),
                          .channel_bytes = static_cast<unsigned>(spec.format.size()),
                          .is_float = spec.format == TypeDesc::HALF || spec.format == TypeDesc::FLOAT};
    TiffNumbers numbers(path);
    if (!numbers.next_directory()) return std::nullopt;
    return TiffChunks::of(numbers, image);
}

// Changes the number of rows of a strip that the first directory of a little-endian TIFF claims.
void claim_rows_of_strip(const fs::path& path, std::uint32_t rows) {
    constexpr std::uint16_t kRowsPerStrip = 278, kLong = 4;
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto chars = std::as_bytes(std::span(text));
    Bytes file(chars.begin(), chars.end());
    const auto number = [&]<class T>(std::size_t at, T) {
        T value;
        std::memcpy(&value, &file.at(at), sizeof value);
        return value;
    };
    const std::size_t directory = number(4, std::uint32_t{});
    for (std::size_t entry = 0; entry < number(directory, std::uint16_t{}); ++entry) {
        const std::size_t at = directory + 2 + 12 * entry;
        if (number(at, std::uint16_t{}) != kRowsPerStrip) continue;
        std::memcpy(&file.at(at + 2), &kLong, sizeof kLong);
        std::memcpy(&file.at(at + 8), &rows, sizeof rows);
    }
    test::write_bytes(path, file);
}

// Returns texels of the file as Texton packs them: three channels get an alpha of 1.
Bytes packed(const StoredImage& image) {
    const Bytes& texels = image.levels.front();
    if (image.spec.nchannels != 3) return texels;
    const std::size_t channel = image.spec.format.size();
    Bytes one(channel, std::byte{0xff});
    if (image.spec.format == TypeDesc::HALF) one = {std::byte{0x00}, std::byte{0x3c}};
    if (image.spec.format == TypeDesc::FLOAT) one = {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}};
    Bytes out;
    for (std::size_t i = 0; i < texels.size(); i += 3 * channel) {
        out.insert(out.end(), texels.begin() + static_cast<std::ptrdiff_t>(i),
                   texels.begin() + static_cast<std::ptrdiff_t>(i + 3 * channel));
        out.insert(out.end(), one.begin(), one.end());
    }
    return out;
}

Bytes box_of(const Bytes& texels, std::size_t texel, const Region& box) {
    Bytes out;
    for (std::size_t y = 0; y < box.extent.height; ++y) {
        const std::size_t begin = ((box.offset.y + y) * kWidth + box.offset.x) * texel;
        out.insert(out.end(), texels.begin() + static_cast<std::ptrdiff_t>(begin),
                   texels.begin() + static_cast<std::ptrdiff_t>(begin + box.extent.width * texel));
    }
    return out;
}

// Returns the first four channels of texels of five.
Bytes first_four(const Bytes& texels, std::size_t channel) {
    Bytes first;
    for (std::size_t i = 0; i < texels.size(); i += 5 * channel)
        first.insert(first.end(), texels.begin() + static_cast<std::ptrdiff_t>(i),
                     texels.begin() + static_cast<std::ptrdiff_t>(i + 4 * channel));
    return first;
}

// Requires that Texton reads the file, and that the whole image and parts of it have the texels that were stored.
void expect_stored(const fs::path& path, const StoredImage& stored) {
    EXPECT_TRUE(chunks_of(path)) << "OpenImageIO would decode it";
    const ImageFile image = open_image(path);
    const std::size_t texel = info(image.info().format).bytes;
    const Bytes all = packed(stored);
    const Bytes expected = stored.spec.nchannels == 5 ? first_four(all, stored.spec.format.size()) : all;
    EXPECT_TRUE(same_bytes(read_part(image), expected));
    for (const Region& box :
         {Region{{0, 5}, {kWidth, 9}}, Region{{3, 31}, {80, 40}}, Region{{15, 15}, {2, 2}}, Region{{82, 70}, {1, 1}}})
        EXPECT_TRUE(same_bytes(read_part(image, {.region = box}), box_of(expected, texel, box)));
}

TEST_F(TiffTest, StripsAndTilesHaveTheTexelsThatWereStored) {
    for (const TypeDesc& type :
         {TypeDesc(TypeDesc::UINT8), TypeDesc(TypeDesc::UINT16), TypeDesc(TypeDesc::HALF), TypeDesc(TypeDesc::FLOAT)}) {
        for (const int channels : {1, 2, 3, 4, 5}) {
            for (const int chunk : {1, 7, 32, 100, -16, -128}) {  // rows of a strip; negative: sides of tiles
                StoredImage stored = stored_image(kWidth, kHeight, channels, type, 3);
                if (chunk > 0) {
                    stored.spec.attribute("tiff:RowsPerStrip", chunk);
                } else {
                    stored.spec.tile_width = stored.spec.tile_height = -chunk;
                }
                stored.spec.attribute("tiff:half", 1);  // or else halves are stored as floats
                for (const char* compression : {"zip", "lzw", "none"}) {
                    SCOPED_TRACE(fmt::format("{} x {}, chunk {}, {}", channels, type.c_str(), chunk, compression));
                    stored.spec.attribute("compression", compression);
                    expect_stored(test::store(at("a.tif"), {stored}), stored);
                }
            }
        }
    }
}

// A thread that has decoded a strip waits until another one has decoded one, too.
TEST_F(TiffTest, StripsAreDecodedBySeveralThreads) {
    if (detail::cpu_cores() == 1) GTEST_SKIP() << "one processor";
    StoredImage stored = stored_image(500, 400, 4, TypeDesc::UINT8, 3);
    stored.spec.attribute("tiff:RowsPerStrip", 8);
    const fs::path path = test::store(at("a.tif"), {stored});
    const auto chunks = chunks_of(path);
    ASSERT_TRUE(chunks);
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::thread::id> threads;
    const auto store = [&](const std::byte* from, std::size_t texels, std::byte* packed) {
        std::memcpy(packed, from, texels * 4);
        std::unique_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(60), [&] { return threads.size() > 1; });
    };
    Bytes texels(stored.levels.front().size());
    ASSERT_TRUE(chunks->read(path, detail::identity_of(path.string()), {{}, {500, 400}}, 4, texels.data(), store));
    EXPECT_GT(threads.size(), 1u);
    EXPECT_TRUE(same_bytes(texels, stored.levels.front()));
}

// OpenImageIO reads a strip as a whole.
TEST_F(TiffTest, LongStripsWithoutCompressionAreReadInParts) {
    constexpr int kSide = 1500, kRows = 700;
    StoredImage stored = stored_image(kSide, kSide, 4, TypeDesc::UINT16, 3);
    stored.spec.attribute("compression", "none");
    stored.spec.attribute("tiff:RowsPerStrip", kRows);
    const fs::path path = test::store(at("a.tif"), {stored});
    const auto chunks = chunks_of(path);
    ASSERT_TRUE(chunks);
    EXPECT_EQ(chunks->image().chunk, (Extent{kSide, kRows}));
    const ImageFile image = open_image(path);
    const Bytes& texels = stored.levels.front();
    EXPECT_TRUE(same_bytes(read_part(image), texels));
    const std::size_t row = kSide * 8;
    for (const std::size_t y : {0, 43, 44, 699, 700, 1399, 1499}) {
        const Bytes expected(texels.begin() + static_cast<std::ptrdiff_t>(y * row),
                             texels.begin() + static_cast<std::ptrdiff_t>((y + 1) * row));
        EXPECT_TRUE(same_bytes(read_part(image, {.region = Region{{0, y}, {kSide, 1}}}), expected)) << y;
    }
}

TEST_F(TiffTest, StripsCanClaimMoreRowsThanTheImageHas) {
    for (const char* compression : {"none", "zip", "lzw", "packbits"}) {
        for (const TypeDesc& type : {TypeDesc(TypeDesc::UINT8), TypeDesc(TypeDesc::UINT16)}) {
            StoredImage stored = stored_image(kWidth, kHeight, 3, type, 4);
            stored.spec.attribute("tiff:RowsPerStrip", kHeight);
            stored.spec.attribute("compression", compression);
            const fs::path path = test::store(at("a.tif"), {stored});
            for (const std::uint32_t rows : {72u, 4000u, 0x3fffffu, 0x7fffffffu, 0xffffffffu}) {
                SCOPED_TRACE(fmt::format("{}, {}, {} rows", compression, type.c_str(), rows));
                claim_rows_of_strip(path, rows);
                const ImageFile image = open_image(path);
                const Bytes texels = read_part(image);
                EXPECT_TRUE(same_bytes(texels, packed(stored)));
                const Region box{{0, 5}, {kWidth, 9}};
                EXPECT_TRUE(same_bytes(read_part(image, {.region = box}),
                                       box_of(texels, info(image.info().format).bytes, box)));
            }
        }
    }
}

TEST_F(TiffTest, PartsAndLevelsAreReadFromTheirOwnDirectories) {
    std::vector<StoredImage> parts;
    for (int part = 0; part < 3; ++part)
        parts.push_back(stored_image(20 + part, 30, 1 + part, TypeDesc::UINT8, static_cast<unsigned>(part)));
    const fs::path path = test::store(at("parts.tif"), parts);
    for (int part = 0; part < 3; ++part) {
        EXPECT_TRUE(
            same_bytes(read_part(open_image(path, {.part = part})), packed(parts[static_cast<std::size_t>(part)])))
            << part;
    }
    const StoredImage chain = test::stored_chain(100, 60, 4, TypeDesc::UINT8, 1, 16);
    const ImageFile levels = open_image(test::store(at("levels.tif"), {chain}));
    ASSERT_EQ(static_cast<std::size_t>(levels.info().levels), chain.levels.size());
    for (int level = 0; level < levels.info().levels; ++level) {
        EXPECT_TRUE(same_bytes(read_part(levels, {.level = level}), chain.levels[static_cast<std::size_t>(level)]))
            << level;
    }
}

TEST_F(TiffTest, OtherCompressionsAndTypesAreLeftToOpenImageIO) {
    StoredImage packbits = stored_image(kWidth, kHeight, 3, TypeDesc::UINT8, 3);
    packbits.spec.attribute("compression", "packbits");
    const fs::path path_of_packbits = test::store(at("a.tif"), {packbits});
    EXPECT_FALSE(chunks_of(path_of_packbits));
    EXPECT_TRUE(same_bytes(read_part(open_image(path_of_packbits)), packed(packbits)));
    for (const TypeDesc& type : {TypeDesc(TypeDesc::INT16), TypeDesc(TypeDesc::UINT32)}) {
        const StoredImage stored = stored_image(kWidth, kHeight, 1, type, 3);
        const fs::path path = test::store(at("a.tif"), {stored});
        EXPECT_FALSE(chunks_of(path)) << type.c_str();
        EXPECT_TRUE(same_bytes(read_part(open_image(path)), stored.levels.front())) << type.c_str();
    }
}

// OpenImageIO 2.4 returns other texels without an error.
TEST_F(TiffTest, DamagedChunksAreErrorsThatNameTheFile) {
    StoredImage stored = stored_image(kWidth, kHeight, 3, TypeDesc::UINT8, 3);
    stored.spec.attribute("tiff:RowsPerStrip", 8);
    const Bytes good = test::file_bytes(test::store(at("good.tif"), {stored}));
    const auto chunks = chunks_of(at("good.tif"));
    ASSERT_TRUE(chunks);
    const TiffNumbers numbers(at("good.tif"));
    const auto offsets = numbers.numbers(chunks->offsets().at, chunks->offsets().value_bytes, chunks->offsets().count);
    ASSERT_TRUE(offsets);
    for (const std::uint64_t offset : *offsets) {
        Bytes bad = good;
        bad[offset] ^= std::byte{0x0f};  // the header of the stream
        const fs::path path = test::write_bytes(at("bad.tif"), bad);
        test::expect_error([&] { (void)read_part(open_image(path)); }, ErrorCode::io, "texton::ImageFile",
                           {"bad.tif", "strip", "cannot be decompressed"});
    }
    Bytes beyond = good;  // the first strip begins after the end of the file
    std::fill_n(beyond.begin() + static_cast<std::ptrdiff_t>(chunks->offsets().at), 3, std::byte{0xff});
    const fs::path path = test::write_bytes(at("beyond.tif"), beyond);
    test::expect_error([&] { (void)read_part(open_image(path)); }, ErrorCode::io, "texton::ImageFile", {"beyond.tif"});
}

TEST_F(TiffTest, SavedFilesAreReadByOpenImageIOAndKeepTheirMetadata) {
    struct Row {
        Format format;
        std::optional<Extent> tile;
    };
    for (const Row& row : {Row{Format::r8_unorm, {}}, Row{Format::rg8_unorm, Extent{16, 16}},
                           Row{Format::rgba8_srgb, {}}, Row{Format::rgba8_unorm, Extent{64, 32}},
                           Row{Format::rgba16_unorm, {}}, Row{Format::r16_unorm, Extent{128, 128}},
                           Row{Format::r32_float, Extent{32, 64}}, Row{Format::rgba32_float, {}}}) {
        SCOPED_TRACE(fmt::format("{} {}", name(row.format), row.tile ? row.tile->width : 0));
        const Bytes texels = test::pattern(packed_bytes(row.format, {kWidth, kHeight}), 7);
        save(at("a.tif"), host_view(texels.data(), row.format, {kWidth, kHeight}),
             {.tile = row.tile,
              .attributes = {{"Artist", "somebody", "string"}, {"ICCProfile", "1, 2, 3", "uint8[3]"}}});
        OIIO::ImageSpec as_stored;
        as_stored.attribute("oiio:UnassociatedAlpha", 1);
        const auto input = OIIO::ImageInput::open(at("a.tif").string(), &as_stored);
        ASSERT_TRUE(input);
        const OIIO::ImageSpec spec = input->spec();
        EXPECT_EQ(spec.get_string_attribute("compression"), "zip");
        EXPECT_EQ(spec.get_string_attribute("Artist"), "somebody");
        EXPECT_EQ(spec.tile_width, row.tile ? static_cast<int>(row.tile->width) : 0);
        EXPECT_EQ(spec.get_string_attribute("oiio:ColorSpace") == "sRGB", row.format == Format::rgba8_srgb);
        Bytes read(texels.size());
        ASSERT_TRUE(input->read_image(0, 0, 0, spec.nchannels, spec.format, read.data())) << input->geterror();
        EXPECT_TRUE(same_bytes(read, texels));
        EXPECT_TRUE(chunks_of(at("a.tif")));
    }
}

// Levels and layers are images of their own in the file. Their offsets and sizes have 16 or 32 bits.
TEST_F(TiffTest, SavedLevelsAndLayersAreReadByOpenImageIO) {
    const auto require_images = [&](const ImageFile& image, std::size_t count, const auto& part) {
        save(at("a.tif"), image);
        const Bytes first = test::file_bytes(at("a.tif"));
        OIIO::ImageSpec as_stored;
        as_stored.attribute("oiio:UnassociatedAlpha", 1);
        const auto input = OIIO::ImageInput::open(at("a.tif").string(), &as_stored);
        ASSERT_TRUE(input);
        const bool has_levels = image.info().levels > 1;
        const auto seek = [&](std::size_t i) {
            const int index = static_cast<int>(i);
            return has_levels ? input->seek_subimage(0, index) : input->seek_subimage(index, 0);
        };
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(seek(i)) << i;
            const OIIO::ImageSpec spec = input->spec();
            Bytes read(static_cast<std::size_t>(spec.image_bytes()));
            ASSERT_TRUE(input->read_image(input->current_subimage(), input->current_miplevel(), 0, spec.nchannels,
                                          spec.format, read.data()))
                << input->geterror();
            EXPECT_TRUE(same_bytes(read, part(i))) << i;
        }
        EXPECT_FALSE(seek(count));
        EXPECT_TRUE(chunks_of(at("a.tif")));
        save(at("b.tif"), image);
        EXPECT_TRUE(same_bytes(test::file_bytes(at("b.tif")), first)) << "the order of tiles depends on threads";
    };
    for (const TypeDesc& type : {TypeDesc(TypeDesc::UINT8), TypeDesc(TypeDesc::UINT16), TypeDesc(TypeDesc::FLOAT)}) {
        for (const int channels : {1, 4}) {
            SCOPED_TRACE(fmt::format("{} x {}", channels, type.c_str()));
            const StoredImage chain = test::stored_chain(300, 200, channels, type, 1, 16);
            test::store(at("levels.tif"), {chain});
            require_images(open_image(at("levels.tif")), chain.levels.size(),
                           [&](std::size_t i) { return chain.levels[i]; });
            std::vector<StoredImage> layers;
            for (unsigned i = 0; i < 5; ++i) layers.push_back(stored_image(kWidth, kHeight, channels, type, i));
            test::store(at("layers.tif"), layers);
            require_images(open_image(at("layers.tif"), {.kind = ArrayKind::layered_2d}), layers.size(),
                           [&](std::size_t i) { return layers[i].levels.front(); });
        }
    }
}

// Texels of one value are one long string that continues into itself. Noise fills the table of strings many times.
TEST_F(TiffTest, LzwHasTheTexelsThatWereStored) {
    for (const bool is_noise : {false, true}) {
        for (const int rows : {1, 64, 300}) {
            StoredImage stored = stored_image(200, 300, 3, TypeDesc::UINT8, 3);
            if (!is_noise) std::ranges::fill(stored.levels.front(), std::byte{77});
            stored.spec.attribute("compression", "lzw");
            stored.spec.attribute("tiff:RowsPerStrip", rows);
            const fs::path path = test::store(at("a.tif"), {stored});
            EXPECT_TRUE(chunks_of(path));
            EXPECT_TRUE(same_bytes(read_part(open_image(path)), packed(stored))) << is_noise << ' ' << rows;
        }
    }
}

// A stream that was changed is an error, or it has the texels that OpenImageIO decodes from it.
TEST_F(TiffTest, ChangedLzwIsAnErrorOrWhatItsBitsMean) {
    StoredImage stored = stored_image(64, 40, 3, TypeDesc::UINT8, 3);
    for (std::size_t i = 0; i < stored.levels.front().size(); ++i)
        stored.levels.front()[i] = static_cast<std::byte>(i / 7 % 23);
    stored.spec.attribute("compression", "lzw");
    const Bytes good = test::file_bytes(test::store(at("good.tif"), {stored}));
    const auto chunks = chunks_of(at("good.tif"));
    ASSERT_TRUE(chunks);
    const TiffNumbers numbers(at("good.tif"));
    const auto value = [&](const detail::TiffField& field) {
        return numbers.number(field.at, field.value_bytes).value();
    };
    int errors = 0, decoded = 0;
    for (std::uint64_t byte = 0; byte < value(chunks->sizes()); ++byte) {
        Bytes bad = good;
        bad[value(chunks->offsets()) + byte] ^= static_cast<std::byte>(1U << byte % 8);
        const fs::path path = test::write_bytes(at("bad.tif"), bad);
        Bytes texels;
        try {
            texels = read_part(open_image(path));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::io);
            ++errors;
            continue;
        }
        ++decoded;
        StoredImage as_decoded = stored;
        const auto input = OIIO::ImageInput::open(path.string());
        ASSERT_TRUE(input && input->read_image(0, 0, 0, 3, TypeDesc::UINT8, as_decoded.levels.front().data()));
        EXPECT_TRUE(same_bytes(texels, packed(as_decoded))) << byte;
    }
    EXPECT_GT(errors, 0);
    EXPECT_GT(decoded, 0);
}

// The image is written in several bands, of which the last one ends within a strip.
TEST_F(TiffTest, ImagesOfSeveralBandsAreWrittenAndReadCompletely) {
    const Extent extent{3001, 1503};
    const Bytes texels = test::pattern(packed_bytes(Format::rgba8_unorm, extent), 5);
    save(at("a.tif"), host_view(texels.data(), Format::rgba8_unorm, extent), {.alpha = SavedAlpha::kept});
    EXPECT_TRUE(same_bytes(read_part(open_image(at("a.tif"))), texels));
}

TEST_F(TiffTest, OtherCompressionsAreWrittenByOpenImageIO) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba8_srgb}) {
        const Bytes texels = test::pattern(packed_bytes(format, {kWidth, kHeight}), 7);
        for (const char* compression : {"none", "lzw", "zip:9", "packbits"}) {
            for (const std::optional<Extent> tile : {std::optional<Extent>(), std::optional(Extent{32, 32})}) {
                SCOPED_TRACE(fmt::format("{} {} {}", name(format), compression, tile ? "tiles" : "strips"));
                save(at("a.tif"), host_view(texels.data(), format, {kWidth, kHeight}),
                     {.tile = tile, .compression = compression, .alpha = SavedAlpha::kept});
                const ImageFile image = open_image(at("a.tif"));
                EXPECT_EQ(image.info().format, format);
                EXPECT_TRUE(same_bytes(read_part(image), texels));
            }
        }
    }
}

// Values of one, four and eight bytes, values that do not fit into a field, a lens, and files of both kinds of offsets.
TEST_F(TiffTest, AttributesOfExifAreKept) {
    const Bytes texels = test::pattern(packed_bytes(Format::rgba16_unorm, {kWidth, kHeight}), 7);
    for (const char* big : {"0", "1"}) {
        for (const char* compression : {"zip", "lzw"}) {
            SCOPED_TRACE(fmt::format("{} {}", big, compression));
            save(at("a.tif"), host_view(texels.data(), Format::rgba16_unorm, {kWidth, kHeight}),
                 {.compression = compression,
                  .attributes = {{"tiff:bigtiff", big, "int"},
                                 {"Artist", "somebody", "string"},
                                 {"ExposureTime", "0.25", "float"},
                                 {"FNumber", "2.8", "float"},
                                 {"Exif:ExposureBiasValue", "-0.333333", "float"},
                                 {"Exif:LensModel", "a lens of 50 mm", "string"},
                                 {"Exif:PixelXDimension", "70000", "uint"}}});
            EXPECT_EQ(test::file_bytes(at("a.tif"))[2], big[0] == '1' ? std::byte{43} : std::byte{42});
            const ImageFile image = open_image(at("a.tif"));
            EXPECT_TRUE(same_bytes(read_part(image), texels));
            const auto value = [&](std::string_view name) {
                for (const ImageAttribute& each : image.metadata().attributes)
                    if (each.name == name) return each.value;
                return std::string("missing");
            };
            EXPECT_EQ(value("Artist"), "somebody");
            EXPECT_EQ(value("ExposureTime"), "0.25");
            EXPECT_EQ(value("FNumber"), "2.8");
            EXPECT_EQ(value("Exif:ExposureBiasValue"), "-0.333333");
            EXPECT_EQ(value("Exif:LensModel"), "a lens of 50 mm");
            EXPECT_EQ(value("Exif:PixelXDimension"), "70000");
        }
    }
}

}  // namespace
}  // namespace texton
