// The packets of tev's protocol: every type and version, and packets that lie.
#include "viewer/live/tev_packet.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viewer/live/refused.h"
#include "viewer/live/tev_image.h"

namespace texton::viewer::tev {
namespace {

class Writer {
public:
    explicit Writer(std::uint8_t type) : bytes_(kLengthBytes) { number(type); }
    template <class Number>
    Writer& number(Number value) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
        return *this;
    }
    Writer& flag(bool value) { return number(static_cast<std::uint8_t>(value)); }
    Writer& size(std::int32_t value) { return number(value); }
    Writer& text(const std::string& value) {
        for (const char c : value) number(c);
        return number('\0');
    }
    std::vector<std::byte> bytes() const {
        std::vector<std::byte> packet = bytes_;
        const auto length = static_cast<std::uint32_t>(packet.size());
        std::memcpy(packet.data(), &length, sizeof(length));
        return packet;
    }

private:
    std::vector<std::byte> bytes_;
};

Packet parsed(const Writer& writer) {
    static std::vector<std::byte> kept;  // values of a packet refer to its bytes
    kept = writer.bytes();
    return parse_packet(kept);
}

void expect_refused(const Writer& writer, std::string_view fragment) {
    viewer::expect_refused([&] { (void)parsed(writer); }, ErrorCode::bad_argument, fragment);
}

TEST(TevPacketTest, FilesAreOpenedReloadedAndClosed) {
    const auto first = std::get<OpenImage>(parsed(Writer(0).flag(true).text("/tmp/a.exr:R,G")));
    EXPECT_EQ(first.path, "/tmp/a.exr");
    EXPECT_EQ(first.channels, "R,G");
    EXPECT_TRUE(first.focus);
    EXPECT_EQ(std::get<OpenImage>(parsed(Writer(0).flag(true).text("a.exr"))).path, "a.exr");
    const auto second = std::get<OpenImage>(parsed(Writer(7).flag(false).text("a:b.exr").text("RGB")));
    EXPECT_EQ(second.path, "a:b.exr");
    EXPECT_EQ(second.channels, "RGB");
    EXPECT_FALSE(second.focus);
    EXPECT_EQ(std::get<ReloadImage>(parsed(Writer(1).flag(true).text("name"))).name, "name");
    EXPECT_EQ(std::get<CloseImage>(parsed(Writer(2).text("name"))).name, "name");
}

TEST(TevPacketTest, EachVersionOfAnUpdateSaysWhereItsValuesAre) {
    Writer one(3);
    one.flag(false).text("image").text("G").size(1).size(2).size(2).size(1).number(1.5f).number(2.5f);
    auto update = std::get<UpdateImage>(parsed(one));
    ASSERT_EQ(update.channels.size(), 1u);
    EXPECT_EQ(update.x, 1u);
    EXPECT_EQ(update.y, 2u);
    EXPECT_EQ(update.value(update.channels[0], 1), 2.5f);

    Writer two(5);
    two.flag(false).text("image").size(2).text("R").text("G").size(0).size(0).size(2).size(1);
    for (const float value : {1.f, 2.f, 3.f, 4.f}) two.number(value);
    update = std::get<UpdateImage>(parsed(two));
    EXPECT_EQ(update.value(update.channels[1], 0), 3.f);

    Writer three(6);
    three.flag(false).text("image").size(2).text("R").text("G").size(0).size(0).size(2).size(1);
    for (const std::int64_t value : {1, 0, 2, 2}) three.number(value);  // offsets, strides
    for (const float value : {1.f, 2.f, 3.f, 4.f}) three.number(value);
    update = std::get<UpdateImage>(parsed(three));
    EXPECT_EQ(update.value(update.channels[0], 1), 4.f);
    EXPECT_EQ(update.value(update.channels[1], 1), 3.f);
}

TEST(TevPacketTest, CommandsOfVectorGraphicsHaveTheirNumbers) {
    Writer writer(8);
    writer.flag(true).text("image").flag(true).size(3);
    writer.number(std::uint8_t{10}).number(1.f).number(2.f);
    writer.number(std::uint8_t{21}).number(3.f).number(4.f).text("words");
    writer.number(std::uint8_t{5});
    const auto graphics = std::get<VectorGraphics>(parsed(writer));
    EXPECT_TRUE(graphics.append);
    ASSERT_EQ(graphics.commands.size(), 3u);
    EXPECT_EQ(graphics.commands[0], (Command{Verb::move_to, {1, 2}}));
    EXPECT_EQ(graphics.commands[1], (Command{Verb::text, {3, 4}, "words"}));
    EXPECT_EQ(graphics.commands[2], (Command{Verb::stroke}));
}

TEST(TevPacketTest, PacketsThatLieAreRefused) {
    const auto create = [](std::int32_t width, std::int32_t height, std::int32_t channels) {
        return Writer(4).flag(false).text("image").size(width).size(height).size(channels).text("R");
    };
    EXPECT_EQ(std::get<CreateImage>(parsed(create(4, 5, 1))).height, 5u);
    expect_refused(create(0, 5, 1), "the width is 0");
    expect_refused(create(4, -1, 1), "the height is -1");
    expect_refused(create(4, 5, 0), "number of channels is 0");
    expect_refused(create(4, 5, 3), "number of channels is 3, but only 2 bytes follow");
    expect_refused(create(4, 5, 2), "ends inside its channel names");
    expect_refused(Writer(4).flag(false).text(""), "name of the image is empty");
    expect_refused(Writer(2).number('a'), "ends inside its name");
    expect_refused(Writer(99).flag(false), "no packet of type 99");
    expect_refused(Writer(1), "ends before its flag");

    const auto update = [](std::int64_t offset, std::int64_t stride) {
        Writer writer(6);
        writer.flag(false).text("image").size(1).text("R").size(0).size(0).size(2).size(2);
        writer.number(offset).number(stride);
        for (int i = 0; i < 4; ++i) writer.number(1.f);
        return writer;
    };
    EXPECT_NO_THROW((void)parsed(update(0, 1)));
    EXPECT_NO_THROW((void)parsed(update(3, 0)));
    expect_refused(update(-1, 1), "offset of a channel is -1");
    expect_refused(update(0, -1), "stride of a channel is -1");
    expect_refused(update(1, 1), "but 4 values follow");
    expect_refused(update(0, 2), "but 4 values follow");
    expect_refused(update(4, 0), "but 4 values follow");
    expect_refused(update(INT64_MAX, INT64_MAX), "but 4 values follow");

    expect_refused(Writer(8).flag(false).text("image").flag(false).size(1000), "number of commands is 1000");
    expect_refused(Writer(8).flag(false).text("image").flag(false).size(1).number(std::uint8_t{26}), "command 26");
    expect_refused(Writer(8).flag(false).text("image").flag(false).size(1).number(std::uint8_t{10}).number(1.f),
                   "ends before its numbers");

    std::vector<std::byte> longer = create(4, 5, 1).bytes();
    longer.push_back(std::byte{});
    viewer::expect_refused([&] { (void)parse_packet(longer); }, ErrorCode::bad_argument, "announces another length");
    const std::array<std::byte, 4> empty{std::byte{4}};
    viewer::expect_refused([&] { (void)packet_length(empty); }, ErrorCode::bad_argument, "4 bytes");
}

TEST(TevPacketTest, EveryPrefixOfAPacketIsRefused) {
    Writer writer(6);
    writer.flag(false).text("image").size(1).text("R").size(0).size(0).size(2).size(1);
    writer.number(std::int64_t{0}).number(std::int64_t{1}).number(1.f).number(2.f);
    const std::vector<std::byte> whole = writer.bytes();
    EXPECT_NO_THROW((void)parse_packet(whole));
    for (std::size_t length = kLengthBytes + 1; length < whole.size(); ++length) {
        std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const auto announced = static_cast<std::uint32_t>(length);
        std::memcpy(part.data(), &announced, sizeof(announced));
        viewer::expect_refused([&] { (void)parse_packet(part); }, ErrorCode::bad_argument, "");
    }
}

TEST(TevImageTest, NamesOfChannelsDecideWhereTheirValuesAre) {
    const auto image = [](std::vector<std::string> channels) {
        return Image({.name = "image", .width = 2, .height = 1, .channels = std::move(channels)}, 1 << 20);
    };
    EXPECT_EQ(image({"Y"}).format(), Format::r32_float);
    EXPECT_EQ(image({"U", "V"}).format(), Format::rg32_float);
    Image colors = image({"B", "G", "R"});
    EXPECT_EQ(colors.format(), Format::rgba32_float);
    EXPECT_EQ(*colors.texels(), (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1}));
    const std::vector<float> values{7, 8};
    UpdateImage update{.name = "image", .width = 2, .height = 1, .channels = {{"R", 0, 1}}};
    update.values = std::as_bytes(std::span(values));
    const auto before = colors.texels();
    colors.update(update);
    EXPECT_EQ(*colors.texels(), (std::vector<float>{7, 0, 0, 1, 8, 0, 0, 1}));
    EXPECT_EQ((*before)[0], 0) << "texels that were handed out have changed";
    EXPECT_EQ(*image({"R", "G", "B", "A"}).texels(), std::vector<float>(8));
    const Image layers = image({"n.X", "n.Y", "n.Z", "a.R", "a.G", "a.B", "a.A", "a.Q"});
    EXPECT_EQ(layers.extent(), (Extent{2, 1, 3}));
    EXPECT_EQ((*layers.texels())[3], 1) << "the first layer has no alpha";
    EXPECT_EQ((*layers.texels())[8 + 3], 0) << "the second layer has alpha";
}

TEST(TevImageTest, UpdatesOfOtherTexelsAndChannelsAreRefused) {
    Image image({.name = "image", .width = 3, .height = 2, .channels = {"R"}}, 1 << 20);
    const std::vector<float> values(6, 1);
    UpdateImage update{.name = "image", .x = 1, .y = 0, .width = 3, .height = 1, .channels = {{"R", 0, 1}}};
    update.values = std::as_bytes(std::span(values));
    viewer::expect_refused([&] { image.update(update); }, ErrorCode::out_of_bounds, "3 x 1");
    update.x = 0;
    update.channels = {{"R", 0, 1}, {"G", 0, 1}};
    viewer::expect_refused([&] { image.update(update); }, ErrorCode::bad_argument, "no channel 'G'");
    EXPECT_EQ(*image.texels(), std::vector<float>(6));
    viewer::expect_refused([] { Image({.name = "image", .width = 300, .height = 200, .channels = {"R"}}, 1000); },
                           ErrorCode::out_of_memory, "240000 bytes");
}

}  // namespace
}  // namespace texton::viewer::tev
