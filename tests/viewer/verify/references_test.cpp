// Files of references: image files, stores, updates of several files, and the choice among several references.
#include <sys/resource.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/model/sha256.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/stored_reference.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

HostImage drawn(Format format, Extent extent = {5, 3}, std::uint32_t seed = 1) {
    HostImage image(format, extent);
    const HostArray noise =
        draw({.seed = seed}, {.format = format, .extent = {extent.width, extent.height * extent.depth}});
    image.texels = noise.levels[0].texels;
    return image;
}

class ReferenceFilesTest : public testing::Test {
protected:
    Reference reference(std::vector<HostImage> images, const std::string& variant = "") const {
        return {.path = reference_path(folder_.at("refs"), "a", variant),
                .images = std::move(images),
                .inputs = {"00ff"},
                .device = "a device",
                .driver = 13000,
                .toolkit = "0.1.0",
                .compute_capability = "9.0",
                .driver_release = "580.159.04",
                .cpu = "a processor"};
    }
    void write(const Reference& reference, bool as_images, const ReferencePlaces& places = {}) const {
        FileUpdate update;
        add_files(update, stored_reference(reference, as_images), reference.path, places);
        update.complete();
    }
    /// Returns the names of the files in a folder.
    std::vector<std::string> files(const std::string& folder = "refs") const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.at(folder)))
            names.push_back(entry.path().filename().string());
        return names;
    }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_.at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    ReferencePlaces store() const { return {.store = folder_.at("store"), .within = {}}; }
    void refused(const std::string& name, std::initializer_list<std::string_view> fragments) const {
        expect_error([&] { (void)read_reference(folder_.at("refs/" + name)); }, ErrorCode::io,
                     "texton::verify::read_reference", fragments);
    }

    test::ImageFolder folder_;
};

// --- image files -----------------------------------------------------------------------------------------------------

TEST_F(ReferenceFilesTest, EveryFormatIsReadBackWithAllBitsFromTheKindOfFileThatHoldsIt) {
    const auto ending = [](const FormatInfo& format, bool has_slices) -> std::string {
        const bool is_color = format.kind == FormatKind::unorm || format.kind == FormatKind::srgb;
        if (format.layout != FormatLayout::plain || (!is_color && format.kind != FormatKind::floating)) return "";
        // DDS lacks these formats.
        const bool is_missing = format.format == Format::r8_srgb || format.format == Format::rg8_srgb;
        if (has_slices) return is_missing ? "" : ".dds";
        return is_color ? ".png" : ".exr";
    };
    for (const FormatInfo& format : formats()) {
        if (format.layout == FormatLayout::planar || format.layout == FormatLayout::block) continue;
        for (const Extent extent : {Extent{5, 3}, Extent{1, 1}, Extent{4, 3, 2}}) {
            HostImage image(format.format, extent);
            for (std::size_t i = 0; i < image.texels.size(); ++i) image.texels[i] = static_cast<std::byte>(i * 37 + 11);
            const Reference written = reference({image});
            const StoredReference stored = stored_reference(written, true);
            EXPECT_EQ(stored.parts.at(0).ending, ending(format, extent.depth > 1))
                << format.name << ' ' << to_string(extent);
            write(written, true);
            const fs::path path = written.path.string() + (stored.has_images() ? ".json" : "");
            EXPECT_EQ(read_reference(path).images, written.images) << format.name << ' ' << to_string(extent);
        }
    }
}

TEST_F(ReferenceFilesTest, ImageFileKeepsSpecialValuesOfFloats) {
    HostImage image(Format::r32_float, {4, 1});
    const std::array<std::uint32_t, 4> bits{0x80000000, 0x7fc00001, 0xff800000, 0x00000001};
    std::memcpy(image.texels.data(), bits.data(), image.texels.size());
    write(reference({image}), true);
    EXPECT_THAT(files(), UnorderedElementsAre("a.exr", "a.texref.json"));
    EXPECT_EQ(read_reference(folder_.at("refs/a.texref.json")).images.at(0).texels, image.texels);
}

TEST_F(ReferenceFilesTest, ImageFilesHaveAFixedDateSoThatEqualImagesHaveEqualFiles) {
    const StoredReference stored = stored_reference(reference({drawn(Format::rgba16_float)}), true);
    const std::vector<std::byte>& bytes = stored.parts.at(0).bytes;
    EXPECT_THAT(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                HasSubstr("1970:01:01 00:00:00"));
}

TEST_F(ReferenceFilesTest, HeaderHasTheOriginAndTheNamesOfTheFiles) {
    HostImage photo = drawn(Format::rgba8_unorm);
    photo.name = "out/photo.png";
    photo.file_channels = 3;
    const Reference written = reference({photo, drawn(Format::r16_float)}, "sm_90");
    write(written, true);
    EXPECT_THAT(files(), UnorderedElementsAre("a@sm_90.texref.json", "a@sm_90+1.png", "a@sm_90+2.exr"));
    const Json header = Json::parse(text("refs/a@sm_90.texref.json"));
    EXPECT_EQ(header["images"][0]["file"], "a@sm_90+1.png");
    EXPECT_EQ(header["images"][0]["sha256"], sha256(photo.texels));
    EXPECT_EQ(header["driver_release"], "580.159.04");
    EXPECT_EQ(header["inputs"], Json({"00ff"}));
    const Reference read = read_reference(folder_.at("refs/a@sm_90.texref.json"));
    EXPECT_EQ(read.images, written.images);
    EXPECT_EQ(read.device, "a device");
    EXPECT_EQ(read.driver, 13000);
    EXPECT_EQ(read.driver_release, "580.159.04");
    EXPECT_EQ(read.compute_capability, "9.0");
    EXPECT_EQ(read.cpu, "a processor");
    EXPECT_EQ(ReferenceFolder(folder_.at("refs")).read("a").size(), 1U);
}

TEST_F(ReferenceFilesTest, OneImageThatNoFileHoldsKeepsTheWholeReferenceInOneFile) {
    write(reference({drawn(Format::rgba8_unorm), drawn(Format::rgba8_snorm)}), true);
    EXPECT_THAT(files(), ElementsAre("a.texref"));
}

TEST_F(ReferenceFilesTest, AnotherFormReplacesTheFilesOfTheOldOne) {
    const HostImage image = drawn(Format::rgba8_unorm);
    write(reference({image, image}), true);
    EXPECT_THAT(files(), UnorderedElementsAre("a.texref.json", "a+1.png", "a+2.png"));
    write(reference({image}), true);
    EXPECT_THAT(files(), UnorderedElementsAre("a.texref.json", "a.png"));
    write(reference({image}), false);
    EXPECT_THAT(files(), ElementsAre("a.texref"));
    write(reference({image}), false, store());
    EXPECT_THAT(files(), ElementsAre("a.texref.json"));
    write(reference({image}), true);
    EXPECT_THAT(files(), UnorderedElementsAre("a.texref.json", "a.png"));
    EXPECT_THAT(files_of_reference(folder_.at("refs/a.texref.json")),
                UnorderedElementsAre(folder_.at("refs/a.texref.json"), folder_.at("refs/a.png")));
}

TEST_F(ReferenceFilesTest, DamagedFilesAndHeadersAreNamed) {
    write(reference({drawn(Format::rgba8_unorm)}), true);
    const std::string header = text("refs/a.texref.json");
    const auto with = [&](const std::string& old, const std::string& replacement) {
        std::string changed = header;
        const std::size_t at = changed.find(old);
        ASSERT_NE(at, std::string::npos) << old;
        std::ofstream(folder_.at("refs/a.texref.json")) << changed.replace(at, old.size(), replacement);
    };
    for (const char* name : {"../a.png", "b.png", "a.txt", "a.png/../a.png", "a+x.png", ""}) {
        with("\"a.png\"", fmt::format("\"{}\"", name));
        refused("a.texref.json", {"a.texref.json is not a reference"});
    }
    with("\"width\": 5", "\"width\": 4");
    refused("a.texref.json", {"a.texref.json is not a reference"});
    with("\"cpu\": \"a processor\"", "\"cpu\": 3");
    refused("a.texref.json", {"a.texref.json is not a reference"});
    with("\"file\": \"a.png\"", "\"stored\": \"../a.png\"");
    refused("a.texref.json", {"a.texref.json is not a reference"});
    std::ofstream(folder_.at("refs/a.texref.json")) << "[1, 2]";
    refused("a.texref.json", {"a.texref.json is not a reference"});
    std::ofstream(folder_.at("refs/a.texref.json")) << header;
    write_image(folder_.at("refs/a.png"), Format::rgba8_unorm, {5, 3}, std::vector<std::byte>(60));
    refused("a.texref.json", {"a.texref.json contains texels that do not match its SHA-256"});
    std::ofstream(folder_.at("refs/a.png")) << "no image";
    EXPECT_THROW((void)read_reference(folder_.at("refs/a.texref.json")), Error);
    fs::remove(folder_.at("refs/a.png"));
    refused("a.texref.json", {"a.png", "cannot be read"});
}

TEST_F(ReferenceFilesTest, PointersOfGitLfsAreNamedWithTheCommandThatDownloadsTheFiles) {
    for (const bool as_images : {false, true}) {
        const Reference written = reference({drawn(Format::rgba8_unorm)});
        write(written, as_images);
        for (const std::string& name : files()) {
            const std::string path = "refs/" + name, whole = text(path);
            std::ofstream(folder_.at(path)) << "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1234\n";
            const fs::path header = folder_.at(as_images ? "refs/a.texref.json" : "refs/a.texref");
            expect_error([&] { (void)read_reference(header); }, ErrorCode::io, "texton::verify::read_reference",
                         {name + " is a pointer of Git LFS", "git lfs pull"});
            std::ofstream(folder_.at(path), std::ios::binary) << whole;
            EXPECT_EQ(read_reference(header).images, written.images);
        }
    }
}

TEST_F(ReferenceFilesTest, FilesThatADamagedHeaderNamesDoNotBelongToTheReference) {
    fs::create_directories(folder_.at("refs"));
    std::ofstream(folder_.at("refs/b.png")) << "of another case";
    std::ofstream(folder_.at("refs/a.texref.json")) << R"({"images": [{"file": "b.png"}]})";
    EXPECT_THAT(files_of_reference(folder_.at("refs/a.texref.json")), ElementsAre(folder_.at("refs/a.texref.json")));
}

TEST_F(ReferenceFilesTest, SymbolicLinkThatLeadsOutIsNeitherReadNorWritten) {
    const ReferencePlaces within{.store = {}, .within = folder_.at("refs")};
    const Reference written = reference({drawn(Format::rgba8_unorm)});
    write(written, true);
    fs::rename(folder_.at("refs/a.png"), folder_.at("moved.png"));
    fs::create_symlink("../moved.png", folder_.at("refs/a.png"));
    const fs::path path = folder_.at("refs/a.texref.json");
    expect_error([&] { (void)read_reference(path, within); }, ErrorCode::not_permitted, "", {"a.png"});
    EXPECT_EQ(read_reference(path).images, written.images);
    const std::string before = text("moved.png");
    expect_error(
        [&] {
            write(reference({drawn(Format::rgba8_unorm, {9, 9})}), true, within);
        },
        ErrorCode::not_permitted, "", {"a.png"});
    EXPECT_EQ(text("moved.png"), before);
}

// --- stores ----------------------------------------------------------------------------------------------------------

TEST_F(ReferenceFilesTest, EqualImagesOfSeveralReferencesAreStoredOnce) {
    const HostImage image = drawn(Format::rgba8_unorm), other = drawn(Format::rgba8_snorm);
    write(reference({image, other}), false, store());
    write(reference({image}, "sm_90"), false, store());
    EXPECT_THAT(files("store"), UnorderedElementsAre(sha256(image.texels), sha256(other.texels)));
    EXPECT_THAT(files(), UnorderedElementsAre("a.texref.json", "a@sm_90.texref.json"));
    EXPECT_EQ(read_reference(folder_.at("refs/a.texref.json"), store()).images, (std::vector{image, other}));
    refused("a.texref.json", {"a.texref.json is kept in a store, but the suite names none", "--store"});
}

TEST_F(ReferenceFilesTest, StoreOfImageFilesHasTheHashesOfTheFiles) {
    const HostImage image = drawn(Format::rgba8_unorm);
    write(reference({image}), true, store());
    ASSERT_EQ(files("store").size(), 1U);
    const std::string name = files("store").front(), bytes = text("store/" + name);
    EXPECT_EQ(name, sha256(std::as_bytes(std::span(bytes))) + ".png");
    EXPECT_EQ(read_reference(folder_.at("refs/a.texref.json"), store()).images.at(0), image);
}

TEST_F(ReferenceFilesTest, DamagedFileOfAStoreIsNamedAndReplacedByTheNextUpdate) {
    const HostImage image = drawn(Format::rgba8_unorm);
    write(reference({image}), false, store());
    const std::string name = files("store").front();
    std::string bytes = text("store/" + name);
    bytes[0] = static_cast<char>(bytes[0] ^ 1);
    std::ofstream(folder_.at("store/" + name), std::ios::binary) << bytes;
    expect_error([&] { (void)read_reference(folder_.at("refs/a.texref.json"), store()); }, ErrorCode::io,
                 "texton::verify::read_reference", {name, "do not match its name"});
    write(reference({image}), false, store());
    EXPECT_EQ(read_reference(folder_.at("refs/a.texref.json"), store()).images.at(0), image);
}

TEST_F(ReferenceFilesTest, SymbolicLinkInAStoreIsNotFollowed) {
    const HostImage image = drawn(Format::rgba8_unorm);
    fs::create_directories(folder_.at("store"));
    std::ofstream(folder_.at("precious")) << "text";
    fs::create_symlink("../precious", folder_.at("store") / sha256(image.texels));
    expect_error([&] { write(reference({image}), false, store()); }, ErrorCode::io, "texton::verify::read_reference",
                 {"is a symbolic link"});
    EXPECT_EQ(text("precious"), "text");
}

TEST_F(ReferenceFilesTest, ReadersNeverSeeAHalfWrittenFileOfASharedFolder) {
    // Two writers replace the same reference by turns, as two machines would, while readers read it.
    const std::array<HostImage, 2> images{drawn(Format::rgba8_unorm, {64, 64}, 1),
                                          drawn(Format::rgba8_unorm, {64, 64}, 2)};
    write(reference({images[0]}), false, store());
    std::atomic<bool> done = false;
    std::atomic<std::size_t> reads = 0, others = 0;
    const auto write_often = [&](const HostImage& image) {
        for (int i = 0; i < 20; ++i) write(reference({image}), false, store());
    };
    const auto read_often = [&] {
        while (!done) {
            const Reference read = read_reference(folder_.at("refs/a.texref.json"), store());
            others += read.images.at(0) == images[0] || read.images.at(0) == images[1] ? 0 : 1;
            ++reads;
        }
    };
    std::jthread reader(read_often), second_reader(read_often);
    { const std::jthread a(write_often, images[0]), b(write_often, images[1]); }
    while (reads < 10) std::this_thread::yield();
    done = true;
    EXPECT_EQ(others, 0U);
    EXPECT_EQ(files("store").size(), 2U);
}

// --- updates ---------------------------------------------------------------------------------------------------------

TEST_F(ReferenceFilesTest, FileThatCannotBeWrittenLeavesAllFilesOfAnUpdateUnchanged) {
    fs::create_directories(folder_.at("refs/c"));
    std::ofstream(folder_.at("refs/a")) << "old";
    std::ofstream(folder_.at("refs/left")) << "old";
    const std::string fresh = "new";
    {
        FileUpdate update;
        update.remove(folder_.at("refs/left"));
        update.add(folder_.at("refs/a"), std::as_bytes(std::span(fresh)));
        update.add(folder_.at("refs/b"), std::as_bytes(std::span(fresh)));
        expect_error([&] { update.add(folder_.at("refs/c"), std::as_bytes(std::span(fresh))); }, ErrorCode::io,
                     "texton::verify::write_update", {"c", "is a folder"});
        EXPECT_EQ(text("refs/a"), "old");
    }
    EXPECT_THAT(files(), UnorderedElementsAre("a", "c", "left"));
    EXPECT_EQ(text("refs/a"), "old");
}

TEST_F(ReferenceFilesTest, FileThatCannotBeRenamedLeavesAllFilesOfAnUpdateUnchanged) {
    fs::create_directories(folder_.at("refs"));
    std::ofstream(folder_.at("target")) << "old";
    fs::create_symlink(folder_.at("target"), folder_.at("refs/a"));
    std::ofstream(folder_.at("refs/left")) << "old";
    const std::string fresh = "new";
    {
        FileUpdate update;
        update.remove(folder_.at("refs/left"));
        for (const char* name : {"refs/a", "refs/b", "refs/in/c"})
            update.add(folder_.at(name), std::as_bytes(std::span(fresh)));
        fs::remove_all(folder_.at("refs/in"));
        expect_error([&] { update.complete(); }, ErrorCode::io, "texton::verify::write_update", {"c"});
        EXPECT_EQ(text("refs/a"), "old");
    }
    EXPECT_THAT(files(), UnorderedElementsAre("a", "left"));
    EXPECT_EQ(text("target"), "old");
    EXPECT_TRUE(fs::is_symlink(folder_.at("refs/a")));
}

TEST_F(ReferenceFilesTest, FileThatCannotBeRemovedLeavesAllFilesOfAnUpdateUnchanged) {
    fs::create_directories(folder_.at("refs/left/inside"));
    std::ofstream(folder_.at("refs/a")) << "old";
    std::ofstream(folder_.at("refs/gone")) << "old";
    const std::string fresh = "new";
    {
        FileUpdate update;
        update.add(folder_.at("refs/a"), std::as_bytes(std::span(fresh)));
        update.add(folder_.at("refs/b"), std::as_bytes(std::span(fresh)));
        update.remove(folder_.at("refs/gone"));
        update.remove(folder_.at("refs/left"));
        expect_error([&] { update.complete(); }, ErrorCode::io, "texton::verify::write_update", {"left", "cannot be"});
    }
    EXPECT_THAT(files(), UnorderedElementsAre("a", "gone", "left"));
    EXPECT_EQ(text("refs/a"), "old");
    EXPECT_EQ(text("refs/gone"), "old");
}

TEST_F(ReferenceFilesTest, UpdateOfManyFilesNeedsFewOpenFiles) {
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few { 100, before.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    FileUpdate update;
    for (int i = 0; i < 300; ++i) update.add(folder_.at(fmt::format("refs/{}", i)), {});
    update.complete();
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(files().size(), 300U);
}

// --- several references ----------------------------------------------------------------------------------------------

class SeveralReferencesTest : public testing::Test {
protected:
    SeveralReferencesTest() { write("x.png", 0); }
    void write(const std::string& name, int value) const {
        write_image(folder_.at(name), Format::r8_unorm, {2, 1},
                    std::vector<std::byte>{static_cast<std::byte>(value), std::byte{0}});
    }
    Suite suite(const std::string& keys = "", const std::string& keys_of_case = "") const {
        std::ofstream(folder_.at("s.json"))
            << "{" << keys << R"("cases": [{"name": "a", "images": "x.png")" << keys_of_case << "}]}";
        return read_suite(folder_.at("s.json"));
    }
    static Result run(const Suite& suite) { return run_case(suite.cases.front(), suite, Device::cpu()); }
    /// Approves an image with this value, as if a device with these fields had made it.
    void approve(int value, const std::string& variant, const std::string& device, const std::string& cpu) const {
        write("x.png", value);
        const Result result = run(suite(R"("references": "none",)"));
        write_reference({.path = reference_path(folder_.at("s"), "a", variant),
                         .images = result.images,
                         .inputs = {},
                         .device = device,
                         .toolkit = "0",
                         .cpu = cpu});
        write("x.png", 0);
    }
    static std::string name_of_reference(const Result& result) { return result.reference->path.filename().string(); }

    const viewer::DeviceFields here_ = viewer::fields_of(Device::cpu());
    test::ImageFolder folder_;
};

TEST_F(SeveralReferencesTest, ReferenceWithTheMostEqualFieldsIsNamedWhenNonePasses) {
    approve(9, "", "other", "other");
    approve(90, "here", here_.name, here_.cpu);
    approve(8, "near", "other", here_.cpu);
    const Result result = run(suite());
    EXPECT_EQ(result.outcome, Outcome::differs);
    EXPECT_EQ(name_of_reference(result), "a@here.texref");
    EXPECT_THAT(result.equal_fields, ElementsAre("device", "cpu"));
    EXPECT_THAT(result.message, HasSubstr("max ulp 90"));
}

TEST_F(SeveralReferencesTest, ReferenceWithTheMostEqualFieldsIsNamedWhenSeveralPass) {
    approve(1, "", "other", "other");
    approve(2, "here", here_.name, here_.cpu);
    const Result result = run(suite("", R"(, "tolerance": {"ulp": 2})"));
    EXPECT_EQ(result.outcome, Outcome::passed);
    EXPECT_EQ(name_of_reference(result), "a@here.texref");
}

TEST_F(SeveralReferencesTest, AnyVariantPassesUnlessOnlyTheMatchingOneCounts) {
    approve(0, "other", "other", "other");
    approve(7, "here", here_.name, "other");
    const Result any = run(suite());
    EXPECT_EQ(any.outcome, Outcome::passed);
    EXPECT_TRUE(any.equal);
    EXPECT_EQ(name_of_reference(any), "a@other.texref");
    const Result matching = run(suite(R"("variants": "matching",)"));
    EXPECT_EQ(matching.outcome, Outcome::differs);
    EXPECT_EQ(name_of_reference(matching), "a@here.texref");
    EXPECT_EQ(run(suite(R"("variants": "any",)")).outcome, Outcome::passed);
    expect_error([&] { (void)suite(R"("variants": "all",)"); }, ErrorCode::bad_argument, "texton::verify",
                 {"s.json: 'variants' is \"all\""});
}

TEST_F(SeveralReferencesTest, FieldsThatAReferenceLacksAreNotEqual) {
    const Reference old{.path = {}, .images = {}, .inputs = {}, .device = "d", .toolkit = "0"};
    EXPECT_THAT(equal_fields(old, {.name = "d"}), ElementsAre("device"));
    const Reference full{.path = {},
                         .images = {},
                         .inputs = {},
                         .device = "d",
                         .driver = 13000,
                         .toolkit = "0",
                         .compute_capability = "9.0",
                         .driver_release = "580.1",
                         .cpu = "c"};
    const viewer::DeviceFields same{
        .name = "d", .compute_capability = "9.0", .driver_release = "580.1", .driver_version = 13000, .cpu = "c"};
    EXPECT_THAT(equal_fields(full, same),
                ElementsAre("device", "compute_capability", "driver_release", "driver_version", "cpu"));
}

// --- limits by device ------------------------------------------------------------------------------------------------

TEST_F(SeveralReferencesTest, LimitsOfAMatchingDeviceApply) {
    approve(5, "", "other", "other");
    const auto passes = [&](const std::string& keys, const std::string& keys_of_case = "") {
        return run(suite(keys, keys_of_case)).outcome == Outcome::passed;
    };
    const std::string cpu = R"({"match": {"name": "CPU device*"}, "tolerance": {"ulp": 5}})";
    const std::string gpu = R"({"match": {"name": "NVIDIA*"}, "tolerance": {"ulp": 5}})";
    EXPECT_TRUE(passes(R"("devices": [)" + cpu + "],"));
    EXPECT_FALSE(passes(R"("devices": [)" + gpu + "],"));
    EXPECT_TRUE(passes(R"("devices": [)" + gpu + "," + cpu + "],"));
    EXPECT_TRUE(passes("", R"(, "tolerance": {"ulp": 1}, "devices": [)" + cpu + "]"));
    // The keys of a case apply instead of those of the suite, and its devices before those of the suite.
    EXPECT_FALSE(passes(R"("devices": [)" + cpu + "],", R"(, "tolerance": {"ulp": 4})"));
    EXPECT_FALSE(passes(R"("devices": [)" + cpu + "],",
                        R"(, "devices": [{"match": {"name": "CPU*"}, "tolerance": {"ulp": 4}}])"));
    EXPECT_TRUE(passes(R"("tolerance": {"ulp": 5},)"));
    EXPECT_TRUE(passes("", R"(, "devices": [{"match": {"compute_capability": "0.?"}, "mask": [[0, 0, 1, 1]]}])"));
}

TEST_F(SeveralReferencesTest, LimitsOfADeviceApplyToFoldersToo) {
    fs::create_directories(folder_.at("old"));
    fs::create_directories(folder_.at("new"));
    write("old/x.png", 0);
    write("new/x.png", 3);
    std::ofstream(folder_.at("s.json")) << R"({"cases": [{"name": "a", "folders": ["old", "new"],
        "devices": [{"match": {"name": "CPU device*"}, "tolerance": {"ulp": 3}}]}]})";
    EXPECT_EQ(run(read_suite(folder_.at("s.json"))).outcome, Outcome::passed);
}

TEST_F(SeveralReferencesTest, AllPatternsOfAMatchMustFit) {
    const viewer::DeviceFields gpu{.name = "NVIDIA H100 80GB HBM3",
                                   .compute_capability = "9.0",
                                   .driver_release = "580.159.04",
                                   .driver_version = 13000,
                                   .cpu = "AMD EPYC 9534"};
    const auto match = [](const std::string& keys) {
        const Json value = Json::parse(R"({"match": {)" + keys + "}}");
        JsonObject object(value, "here");
        return read_device_match(object);
    };
    EXPECT_TRUE(match(R"("name": "NVIDIA*", "driver_release": "580.*", "cpu": "*EPYC*")").matches(gpu));
    EXPECT_TRUE(match(R"("driver_version": "13000", "compute_capability": "9.[0-9]")").matches(gpu));
    EXPECT_FALSE(match(R"("name": "NVIDIA*", "driver_release": "575.*")").matches(gpu));
    EXPECT_FALSE(match(R"("name": "NVIDIA")").matches(gpu));
    const auto refused = [&](const std::string& keys, std::initializer_list<std::string_view> fragments) {
        expect_error([&] { (void)match(keys); }, ErrorCode::bad_argument, "texton::verify", fragments);
    };
    refused("", {"here: 'match' is empty", "texton devices"});
    refused(R"("name": "")", {"'match': 'name' is empty"});
    refused(R"("device": "x")", {"'device' is not a known key"});
    refused(R"("driver_version": 13000)", {"'driver_version' is 13000"});
    for (const auto& [keys, fragment] :
         {std::pair(R"("devices": [],)", "'devices' is []"),
          {R"("devices": [{"tolerance": {"ulp": 1}}],)", "'devices', 1: 'match' is missing"},
          {R"("devices": [{"match": {"cpu": "x"}, "limits": 1}],)", "'limits' is not a known key"},
          {R"("devices": [{"match": {"cpu": "x"}, "devices": []}],)", "'devices' is not a known key"}})
        expect_error([&] { (void)suite(keys); }, ErrorCode::bad_argument, "texton::verify", {fragment});
}

TEST(DriverReleaseTest, VersionIsFoundInTheTextOfTheKernelModule) {
    EXPECT_EQ(
        viewer::driver_release_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Aug  5 20:35:50 "
                                  "UTC 2025\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
        "580.159.04");
    EXPECT_EQ(viewer::driver_release_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.51.03  Release "
                                        "Build  (builder@host)"),
              "575.51.03");
    EXPECT_EQ(viewer::driver_release_in("no module\nGCC version: 12.2.0"), "");
    EXPECT_EQ(viewer::driver_release_in(""), "");
}

TEST(DriverReleaseTest, GpuHasADriverWithAReleaseAndTheCpuDeviceHasNone) {
    EXPECT_EQ(viewer::fields_of(Device::cpu()).driver_release, "");
    EXPECT_NE(viewer::fields_of(Device::cpu()).cpu, "");
    if (!Device::why_no_cuda().empty()) GTEST_SKIP() << Device::why_no_cuda();
    EXPECT_THAT(viewer::fields_of(Device::best()).driver_release, testing::MatchesRegex("[0-9]+\\.[0-9.]+"));
}

}  // namespace
}  // namespace texton::verify
