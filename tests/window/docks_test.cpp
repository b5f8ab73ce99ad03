// Arrangement of the docks in windows of different sizes.
#include <QScrollArea>
#include <QScrollBar>

#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

class DocksTest : public test::WindowFixture {
protected:
    /// Expects that no dock is cut off or covers the canvas, which keeps 200 pixels and a part of the height.
    void expect_room(const std::string& where, int parts = 2) {
        const QRect seen = canvas().rect().translated(canvas().mapTo(&window(), QPoint()));
        EXPECT_GE(seen.width(), 200) << where;
        EXPECT_GE(seen.height(), window().height() / parts) << where;
        EXPECT_TRUE(window().rect().contains(seen)) << where;
        for (const auto& [id, dock] : window().docks()) {
            if (!is_in_front(id.toUtf8())) continue;
            EXPECT_TRUE(window().rect().contains(dock->geometry())) << id.toStdString() << ", " << where;
            EXPECT_FALSE(dock->geometry().intersects(seen)) << id.toStdString() << ", " << where;
        }
    }
    /// Returns true if the dock is not behind another tab. Qt places such docks outside of the window.
    bool is_in_front(const char* id) {
        const QDockWidget* dock = window().docks().at(id);
        return !dock->isHidden() && window().rect().intersects(dock->geometry());
    }
    void resize(QSize size) {
        window().resize(size);
        arrange();
    }
    /// Waits until the docks are arranged, which happens in the next turn of the event loop.
    void arrange() {
        settle();
        QTest::qWait(1);
        settle();
    }
};

TEST_F(DocksTest, DocksNeitherCoverTheCanvasNorAreCutAtTheSmallestSize) {
    start(test::session_with({"card.png"}), {640, 400});
    resize({640, 400});
    expect_room("usual panels");
    window().show_panel("compare", true);
    resize({641, 401});
    expect_room("with another panel");
    for (const PanelInfo& panel : panels()) window().show_panel(panel.id, true);
    resize({640, 400});
    expect_room("all panels");
}

TEST_F(DocksTest, AWindowHasTheSizeThatTheLastOneHad) {
    start(test::session_with({"card.png"}), {760, 620});
    ASSERT_TRUE(window().close());
    MainWindow next(workspace());
    next.resize(1280, 800);
    next.restore();
    EXPECT_EQ(next.size(), QSize(760, 620));
}

TEST_F(DocksTest, AllPanelsOfASmallWindowCanBeReachedByTabs) {
    start(test::session_with({"card.png"}), {640, 400});
    resize({640, 400});
    const auto& docks = window().docks();
    QDockWidget* files = docks.at("files");
    EXPECT_TRUE(is_in_front("files")) << "the first panel is in front";
    EXPECT_EQ(files->widget()->geometry(), files->rect()) << "the tab has the title, so that the dock needs none";
    const QList<QDockWidget*> tabs = window().tabifiedDockWidgets(files);
    for (const char* id : {"subresource", "inspector", "display"}) EXPECT_TRUE(tabs.contains(docks.at(id))) << id;
    window().show_panel("display", true);
    settle();
    EXPECT_TRUE(is_in_front("display"));
    EXPECT_FALSE(is_in_front("files"));
}

TEST_F(DocksTest, LargerWindowRestoresTheArrangement) {
    start(test::session_with({"card.png"}), {1280, 800});
    resize({1280, 800});
    const auto& docks = window().docks();
    window().addDockWidget(Qt::BottomDockWidgetArea, docks.at("inspector"));
    const std::vector<std::string> open = session().panels;
    resize({640, 400});
    EXPECT_EQ(window().dockWidgetArea(docks.at("inspector")), window().dockWidgetArea(docks.at("files")));
    window().show_panel("sampler", true);
    window().show_panel("subresource", false);
    resize({1300, 820});
    expect_room("large again");
    EXPECT_LT(docks.at("files")->widget()->height(), docks.at("files")->height()) << "the dock has a title";
    EXPECT_EQ(window().dockWidgetArea(docks.at("files")), Qt::LeftDockWidgetArea);
    EXPECT_EQ(window().dockWidgetArea(docks.at("display")), Qt::RightDockWidgetArea);
    EXPECT_EQ(window().dockWidgetArea(docks.at("inspector")), Qt::BottomDockWidgetArea) << "as the user placed it";
    EXPECT_TRUE(docks.at("subresource")->isHidden());
    EXPECT_FALSE(docks.at("sampler")->isHidden());
}

TEST_F(DocksTest, PanelsOpenedWithTheWindowAreNotCut) {
    std::vector<std::vector<std::string>> combinations = {{"lod-map", "byte-map", "files"},
                                                          {"byte-map", "sampler", "files", "display"}};
    for (const PanelInfo& panel : panels()) {
        combinations.push_back({panel.id.toStdString()});
        for (const char* usual : {"files", "subresource"})
            if (panel.id != usual) combinations.back().push_back(usual);
    }
    for (const QSize size : {QSize(640, 400), QSize(1280, 800), QSize(1920, 1080)}) {
        for (const auto& open : combinations) {
            Session session = test::session_with({"card.png"});
            session.panels = open;
            start(session, size);
            arrange();
            std::string where = std::to_string(size.width());
            for (const std::string& id : open) where += " " + id;
            expect_room(where, 3);
            EXPECT_EQ(window().size(), size) << where;
            EXPECT_TRUE(is_in_front(open.front().c_str())) << where;
            if (size.width() < 1280) continue;
            for (const auto& [id, dock] : window().docks()) {
                const auto* scroll = static_cast<QScrollArea*>(dock->widget());
                if (!is_in_front(id.toUtf8()) || scroll->widget()->minimumSizeHint().width() > 384) continue;
                EXPECT_FALSE(scroll->horizontalScrollBar()->isVisible()) << id.toStdString() << ", " << where;
            }
        }
    }
}

TEST_F(DocksTest, LargerWindowGivesDocksTheirPreferredWidths) {
    Session session = test::session_with({"card.png"});
    session.panels = {"lod-map", "byte-map", "files"};
    start(session, {640, 400});
    resize({1920, 1080});
    expect_room("large");
    for (const char* id : {"lod-map", "files"}) {
        const QDockWidget* dock = window().docks().at(id);
        EXPECT_TRUE(is_in_front(id));
        EXPECT_GE(dock->width(), dock->sizeHint().width()) << id;
    }
}

// Qt emits visibilityChanged() while it visits the items of its layout of the docks. A slot that moves a dock deletes
// items that Qt visits next.
TEST_F(DocksTest, DocksAreMovedOnlyAfterQtHasLaidThemOut) {
    Session session = test::session_with({"card.png"});
    session.panels = {"files", "kernel"};
    start(session, {640, 750});  // wide enough for panels on one side
    resize({640, 750});
    const auto areas = [&] {
        std::map<QString, Qt::DockWidgetArea> all;
        for (const auto& [id, dock] : window().docks()) all[id] = window().dockWidgetArea(dock);
        return all;
    };
    const std::map<QString, Qt::DockWidgetArea> wide = areas();
    bool shows = false;
    int signals_seen = 0;
    for (const auto& [id, dock] : window().docks()) {
        QObject::connect(dock, &QDockWidget::visibilityChanged, &window(), [&] {
            if (!shows) return;
            ++signals_seen;
            EXPECT_TRUE(areas() == wide) << "moved while Qt emits a signal";
        });
    }
    for (const char* id : {"display", "histogram", "annotations"}) {
        shows = true;
        window().show_panel(id, true);
        shows = false;
        settle();
        EXPECT_EQ(window().dockWidgetArea(window().docks().at("files")), Qt::RightDockWidgetArea) << id;
        window().show_panel(id, false);
        settle();
        EXPECT_TRUE(areas() == wide) << id;
    }
    EXPECT_GT(signals_seen, 0);
}

TEST_F(DocksTest, ImagesTakeTheHeightThatOtherPanelsDoNotNeed) {
    start(test::session_with({"card.png"}), {1280, 800});
    resize({1280, 800});
    EXPECT_GT(window().docks().at("files")->height(), 2 * window().docks().at("subresource")->height());
}

}  // namespace
}  // namespace texton::viewer
