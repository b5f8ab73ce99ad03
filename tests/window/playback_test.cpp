// Playback of the slices, layers, faces and levels of an image. frames_test.cpp tests playback of frames.
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QSpinBox>
#include <QToolButton>

#include "tests/window/panel_test.h"
#include "viewer/gui/playback.h"

namespace texton::viewer::test {
namespace {

class PlaybackTest : public PanelTest {
protected:
    // Plays until `count` subresources were shown, and returns them.
    std::vector<SubresourceIndex> played(PlaybackAxis axis, std::size_t count) {
        Playback playback(*workspace_);
        playback.choose(axis);
        EXPECT_EQ(playback.axis(), axis);
        std::vector<SubresourceIndex> out;
        QObject::connect(&playback, &Playback::counted, [&] {
            if (playback.shown() > 0) out.push_back(session().subresource);
        });
        playback.start(200);
        EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() >= count; }, kPatience));
        playback.stop();
        settle();
        return out;
    }
};

TEST_F(PlaybackTest, EachSubresourceIsShownInOrderAndTheFirstFollowsTheLast) {
    struct Played {
        const char* asset;
        PlaybackAxis axis;
        std::size_t count;
        std::size_t (*index)(const SubresourceIndex&);
    };
    const Played all[] = {
        {"phantom.dds", PlaybackAxis::slices, 36, [](const SubresourceIndex& at) { return at.slice; }},
        {"layers.dds", PlaybackAxis::layers, 3, [](const SubresourceIndex& at) { return at.layer; }},
        {"cube.dds", PlaybackAxis::faces, 6, [](const SubresourceIndex& at) { return std::size_t(at.face); }},
        {"cube.dds", PlaybackAxis::levels, 6, [](const SubresourceIndex& at) { return std::size_t(at.level); }}};
    for (const Played& each : all) {
        open("subresource", {each.asset});
        const ArrayInfo& array = workspace_->shown()->info();
        const std::size_t count = each.axis == PlaybackAxis::layers   ? array.layers
                                  : each.axis == PlaybackAxis::levels ? std::size_t(array.levels)
                                                                      : each.count;
        const std::vector<SubresourceIndex> seen = played(each.axis, count + 2);
        for (std::size_t i = 0; i < seen.size(); ++i)
            EXPECT_EQ(each.index(seen[i]), (i + 1) % count) << each.asset << " " << i;
        EXPECT_FALSE(workspace_->history().can_undo());
    }
}

TEST_F(PlaybackTest, PlaybackHasTheRateAndCountsSubresourcesThatAreLate) {
    open("subresource", {"phantom.dds"});
    Playback playback(*workspace_);
    QElapsedTimer clock;
    clock.start();
    playback.start(50);
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() == 10; }, kPatience));
    EXPECT_GE(clock.elapsed(), 10 * 20 - 1) << "none is shown before its time";
    playback.start(50);
    QTest::qSleep(200);  // the thread of the window is blocked
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() > 0; }, kPatience));
    EXPECT_EQ(playback.shown(), 1u) << "late ones are shown, too";
    EXPECT_EQ(playback.late(), 1u) << "the numbers count from the start";
}

TEST_F(PlaybackTest, TheReferenceIsPlayedAlong) {
    Session session = session_with({"layers.dds", "layers.dds"});
    session.reference = 1;
    session.compare.mode = CompareMode::absolute;
    open_session("subresource", session);
    ASSERT_NE(workspace_->against(), nullptr);
    const auto first = value_at(*workspace_->shown(), {}, 3, 3);
    bool differs = false;
    Playback playback(*workspace_);
    QObject::connect(&playback, &Playback::counted, [&] {
        const Scene scene = workspace_->scene(16, 16);
        const SubresourceIndex at = scene.session.subresource;
        EXPECT_EQ(value_at(*scene.shown, at, 3, 3), value_at(*scene.against, at, 3, 3));
        differs = differs || value_at(*scene.against, at, 3, 3) != first;
    });
    playback.start(100);
    EXPECT_TRUE(QTest::qWaitFor([&] { return playback.shown() >= 4; }, kPatience));
    EXPECT_TRUE(differs) << "the layers are not equal";
}

TEST_F(PlaybackTest, WhatIsPlayedCanBeChosenIfTheImageHasSeveralDimensions) {
    open("subresource", {"cube.dds", "phantom.dds", "card.png"});
    auto* axis = find<QComboBox>("What is played");
    EXPECT_TRUE(axis->isVisible());
    image("playback");
    choose("What is played", "levels");
    find<QSpinBox>("Images per second")->setValue(60);
    click(find<QToolButton>("Play"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return session().subresource.level >= 2; }, kPatience));
    EXPECT_EQ(session().subresource.face, 0);
    EXPECT_TRUE(QTest::qWaitFor([&] { return find<QLabel>("Late frames")->text().contains("late"); }, kPatience));
    choose("What is played", "faces");
    EXPECT_TRUE(QTest::qWaitFor([&] { return session().subresource.face >= 2; }, kPatience));

    workspace_->look([](Session& session) { session.current = 1; });
    EXPECT_TRUE(QTest::qWaitFor([&] { return session().subresource.slice >= 2; }, kPatience))
        << "an image without faces plays what it has";
    EXPECT_FALSE(axis->isVisible()) << "a volume has slices only";
    auto* stop = find<QToolButton>("Stop");
    workspace_->look([](Session& session) { session.current = 2; });
    EXPECT_TRUE(QTest::qWaitFor([&] { return !stop->isChecked(); }, kPatience)) << "there is nothing to play";
}

}  // namespace
}  // namespace texton::viewer::test
