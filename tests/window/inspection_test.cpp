// The panels that explain sampling: footprint, probe, ulp map, samplers A and B, levels of detail.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QTreeWidget>

#include <texton/copy.h>

#include "tests/window/fixture.h"
#include "viewer/gui/panels/footprint.h"
#include "viewer/gui/panels/lod_map.h"
#include "viewer/gui/panels/probe.h"
#include "viewer/gui/panels/sampler_compare.h"
#include "viewer/gui/panels/ulp_map.h"

namespace texton::viewer {
namespace {

using test::session_with;

/// Returns the child with this accessible name.
template <class Widget>
Widget& named(QWidget& parent, const QString& name) {
    for (Widget* child : parent.findChildren<Widget*>()) {
        if (child->accessibleName() == name) return *child;
    }
    throw std::runtime_error("no child is named " + name.toStdString());
}

class InspectionTest : public test::WindowFixture {
protected:
    void pin(Position texel) {
        workspace().change("Pin", [&](Session& session) { session.pins = {texel}; });
        settle();
    }
    /// Types a number into the field.
    void type(NumberEdit& field, const QString& text) {
        field.setFocus();
        field.selectAll();
        QTest::keyClicks(&field, text);
        QTest::keyClick(&field, Qt::Key_Return);
        settle();
    }
    void choose(QComboBox& box, int index) {
        box.setFocus();
        QTest::keyClick(&box, Qt::Key_Home);
        for (int i = 0; i < index; ++i) QTest::keyClick(&box, Qt::Key_Down);
        settle();
        ASSERT_EQ(box.currentIndex(), index);
    }
    /// Saves the panel as a PNG for manual checks if TEXTON_PANEL_IMAGES names a folder.
    static void image(QWidget& panel, const char* name) {
        const QString folder = qEnvironmentVariable("TEXTON_PANEL_IMAGES");
        if (!folder.isEmpty()) panel.grab().save(folder + "/" + name + ".png");
    }
    /// Returns the message that the panel shows in place of its contents.
    static QString said(QWidget& panel) {
        const CalmText& text = named<CalmText>(panel, "Message");
        return text.isHidden() ? QString() : text.text();
    }

    static Session with_levels() {
        Session session = session_with({"levels.dds"});
        session.sampler = Sampler{.address = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                                  .filter = Filter::linear,
                                  .mip_filter = Filter::linear,
                                  .normalized_coordinates = true,
                                  .max_anisotropy = 8};
        session.reading = Reading::sampled;
        return session;
    }
};

// --- all panels ------------------------------------------------------------------------------------------------------

const char* const kPanels[] = {"footprint", "probe", "ulp-map", "sampler-compare", "lod-map"};

TEST_F(InspectionTest, EveryPanelAcceptsEveryKindOfImage) {
    Session session = session_with({"odd_1x1.png", "card.png", "nan_and_inf.exr", "cube.dds", "layers.dds",
                                    "levels.dds", "phantom.dds", "bc1.dds", "bc6h.dds", "levels.exr"});
    Source frames{.paths = {test::asset("nv12_128x72.yuv")}, .options = {}};
    frames.options.raw = RawFrames{.format = Format::nv12, .extent = {128, 72}};
    session.images.push_back(frames);
    Source integers{.paths = {test::asset("odd_7x5.png")}, .options = {}};
    integers.options.format = Format::rgba8_uint;
    session.images.push_back(integers);
    Source flat = integers;
    flat.options = {.kind = ArrayKind::layered_1d};
    session.images.push_back(flat);
    session.pins = {{0.6, 0.4}};
    start(session);
    for (const char* id : kPanels) window().show_panel(id, true);
    for (std::size_t i = 0; i < session.images.size(); ++i) {
        workspace().change("ImageFile", [&](Session& to) {
            to.current = i;
            to.pins = {{0.6, 0.4}};
        });
        settle();
        SCOPED_TRACE(session.images[i].paths.front().filename().string());
        ASSERT_TRUE(workspace().document()) << workspace().problem(i).toStdString();
        for (const char* id : kPanels) {
            window().show_panel(id, true);
            settle();
            QWidget& dock = *window().docks().at(id);
            const QString text = said(dock);
            EXPECT_FALSE(text.contains("texton")) << id << ": " << text.toStdString();
        }
        QTableView& table = named<QTableView>(*window().docks().at("footprint"), "Texels of the footprint");
        window().show_panel("footprint", true);
        settle();
        EXPECT_GT(table.model()->rowCount(), 0);
        window().show_panel("probe", true);
        settle();
        EXPECT_NE(named<QLabel>(*window().docks().at("probe"), "Results").text(), QString());
    }
}

TEST_F(InspectionTest, EveryPanelReportsThatNoImageIsOpen) {
    start(std::vector<std::string>{});
    for (const char* id : kPanels) {
        window().show_panel(id, true);
        settle();
        EXPECT_EQ(said(*window().docks().at(id)), "No image is shown.") << id;
    }
    workspace().open({{.paths = {"/nowhere/at_all.png"}, .options = {}}});
    settle();
    for (const char* id : kPanels) {
        window().show_panel(id, true);
        settle();
        EXPECT_EQ(said(*window().docks().at(id)), "No image is shown.") << id;
    }
}

TEST_F(InspectionTest, InvalidSamplerIsExplainedByTheMessageOfTheLibrary) {
    start({"card.png"});
    pin({3, 3});
    workspace().change("Sampler", [](Session& session) {
        session.sampler = Sampler{.address = {AddressMode::wrap, AddressMode::clamp, AddressMode::clamp}};
    });
    settle();
    for (const char* id : {"footprint", "probe", "lod-map"}) {
        window().show_panel(id, true);
        settle();
        EXPECT_TRUE(said(*window().docks().at(id)).contains("needs normalized coordinates")) << id;
    }
}

TEST_F(InspectionTest, PanelSettingsAreInTheSessionAndCanBeUndone) {
    Session session = with_levels();
    session.probe.operation = FetchOperation::gather;
    session.footprint.fetch = FootprintFetch::gradients;
    start(session);
    pin({20, 20});
    struct Asked {
        const char* panel;
        const char* control;
        int index;
        std::function<int(const Session&)> of;
    };
    const Asked all[] = {
        {"footprint", "Fetch", 2, [](const Session& s) { return static_cast<int>(s.footprint.fetch); }},
        {"footprint", "Channel", 3, [](const Session& s) { return s.footprint.channel; }},
        {"probe", "Component", 2, [](const Session& s) { return s.probe.component; }},
        {"ulp-map", "Region", 1, [](const Session& s) { return static_cast<int>(s.ulp_region.whole); }},
        {"lod-map", "Quantity", 4, [](const Session& s) { return static_cast<int>(s.lod_quantity); }},
        {"histogram", "Scope", 2, [](const Session& s) { return static_cast<int>(s.histogram_scope); }}};
    for (const Asked& asked : all) {
        SCOPED_TRACE(asked.control);
        window().show_panel(asked.panel, true);
        settle();
        QComboBox& box = named<QComboBox>(*window().docks().at(asked.panel), asked.control);
        const int before = asked.of(this->session());
        ASSERT_EQ(box.currentIndex(), before) << "the box shows the value of the session";
        box.setFocus();
        while (box.currentIndex() < asked.index) QTest::keyClick(&box, Qt::Key_Down);
        settle();
        EXPECT_EQ(asked.of(this->session()), asked.index);
        while (asked.of(this->session()) != before && workspace().history().can_undo()) workspace().undo();
        settle();
        EXPECT_EQ(box.currentIndex(), before);
    }
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    type(named<NumberEdit>(panel, "Rotation of a pixel in degrees"), "30");
    EXPECT_EQ(this->session().footprint.turn, 30);
    workspace().undo();
    settle();
    EXPECT_EQ(named<NumberEdit>(panel, "Rotation of a pixel in degrees").value(), 0);
}

TEST_F(InspectionTest, PlottedRangeIsInTheSessionButNotInTheHistory) {
    Session session = session_with({"card.png"});
    session.probe.plot_first = 0.5;
    session.probe.plot_last = 0.75;
    start(session);
    LinePlot& plot = *this->panel<ProbePanel>("probe").findChild<LinePlot*>();
    EXPECT_EQ(plot.first(), 0.5);
    EXPECT_EQ(plot.last(), 0.75);
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_Plus);
    settle();
    EXPECT_EQ(this->session().probe.plot_first, 0.5625);
    EXPECT_EQ(this->session().probe.plot_last, 0.6875);
    EXPECT_FALSE(workspace().history().can_undo()) << "changing the view is not an undo step";
}

TEST_F(InspectionTest, GatherOfOneChannelReturnsFourTexels) {
    Session session = session_with({"odd_7x5.png"});
    session.images.front().options.format = Format::r8_unorm;
    session.probe.operation = FetchOperation::gather;
    session.sampler = Sampler{.normalized_coordinates = true};
    start(session);
    const QStringList results = named<QLabel>(panel<ProbePanel>("probe"), "Results").text().split('\n');
    constexpr int kLines = 5;  // the name of the device, and a line for each result
    ASSERT_EQ(results.size(), test::uses_gpu() ? 2 * kLines + 1 : kLines) << "the CPU device is listed beside a GPU";
    EXPECT_TRUE(results[kLines - 1].startsWith('w')) << results[kLines - 1].toStdString();
    if (test::uses_gpu()) {
        EXPECT_EQ(results.last().toStdString(), "0 ulps");
    }
}

TEST_F(InspectionTest, FootprintUsesTheGatheredComponentOfTheProbe) {
    Session session = session_with({"card.png"});
    session.probe = {.operation = FetchOperation::gather, .u = 20.0f / 481, .v = 10.0f / 321, .component = 2};
    session.sampler = Sampler{.normalized_coordinates = true};
    session.footprint.fetch = FootprintFetch::probe;
    start(session);
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    const QString blue = named<QLabel>(panel, "Results").text();
    EXPECT_TRUE(blue.startsWith("model  0  0  0  0\n")) << blue.toStdString() << ": the red bar";
    workspace().change("Red", [](Session& to) { to.probe.component = 0; });
    settle();
    const QString red = named<QLabel>(panel, "Results").text();
    EXPECT_TRUE(red.startsWith("model  1  1  1  1\n")) << red.toStdString();
}

// --- footprint -------------------------------------------------------------------------------------------------------

TEST_F(InspectionTest, FootprintListsAndOutlinesTexelsUntilThePanelCloses) {
    Session session = session_with({"odd_7x5.png"});
    session.sampler = Sampler{.filter = Filter::linear};
    start(session);
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    EXPECT_TRUE(said(panel).contains("Point at a texel"));
    QTableView& table = named<QTableView>(panel, "Texels of the footprint");
    const QAbstractItemModelTester tester(table.model());
    pin({3.25, 2});
    ASSERT_EQ(table.model()->rowCount(), 4);
    const auto cell = [&](int row, int column) { return table.model()->index(row, column).data().toString(); };
    EXPECT_EQ(cell(0, 3), "2, 1");
    EXPECT_EQ(cell(0, 4), "32/256");
    EXPECT_EQ(cell(3, 3), "3, 2");
    EXPECT_EQ(cell(3, 4), "96/256");
    const QStringList results = named<QLabel>(panel, "Results").text().split('\n');
    ASSERT_GE(results.size(), 3);
    EXPECT_EQ(results[1].sliced(5), results[0].sliced(5)) << "the CPU line is below the model line";
    EXPECT_TRUE(results.last().startsWith(test::uses_gpu() ? "GPU 0 ulps" : "CPU 0 ulps"))
        << results.last().toStdString();
    std::vector<Outline> outlines = workspace().outlines();
    ASSERT_EQ(outlines.size(), 4u);
    EXPECT_EQ(outlines.front().x, 2);
    EXPECT_EQ(outlines.front().label, "32");
    window().show_panel("footprint", false);
    settle();
    EXPECT_TRUE(workspace().outlines().empty());
}

TEST_F(InspectionTest, FootprintHidesRedundantColumnsAndFitsANarrowDock) {
    Session session = session_with({"odd_7x5.png", "levels.dds"});
    session.sampler = Sampler{.filter = Filter::linear};
    session.panels = {"files", "inspector", "display"};
    start(session, {1024, 640});
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    pin({3.25, 2});
    QTableView& table = named<QTableView>(panel, "Texels of the footprint");
    const auto shown = [&] {
        QStringList names;
        for (int i = 0; i < table.model()->columnCount(); ++i)
            if (!table.isColumnHidden(i)) names.append(table.model()->headerData(i, Qt::Horizontal).toString());
        return names;
    };
    EXPECT_EQ(shown(), (QStringList{"Read", "Weight", "Value", "Term", "Sum"}));
    EXPECT_FALSE(table.horizontalScrollBar()->isVisible()) << table.width();
    pin({0, 0});
    EXPECT_EQ(shown(), (QStringList{"Requested", "Read", "Weight", "Value", "Term", "Sum"}))
        << "at an edge the panel also shows the requested texels";
    workspace().change("Levels", [](Session& to) {
        to.current = 1;
        to.sampler = {};
        to.pins = {{20.5, 10.5}};
    });
    settle();
    EXPECT_EQ(shown(), (QStringList{"Level", "Read", "Weight", "Value", "Term", "Sum"}));
}

TEST_F(InspectionTest, FootprintsColumnsFollowTheWidthOfThePanel) {
    Session session = session_with({"odd_7x5.png"});
    session.sampler = Sampler{.filter = Filter::linear};
    start(session);
    pin({3.25, 2});
    FootprintPanel panel(workspace());
    panel.resize(600, 400);
    panel.show();
    settle();
    QTableView& table = named<QTableView>(panel, "Texels of the footprint");
    ASSERT_EQ(table.model()->rowCount(), 4);
    // Narrower than columns with all space between them, and wider than without.
    const int width = panel.width() - table.viewport()->width() + table.horizontalHeader()->length() - 30;
    for (const QSize size : {QSize(width, 400), QSize(width, 190), QSize(width + 12, 190), QSize(width, 400)}) {
        panel.resize(size);
        QApplication::processEvents();
        EXPECT_EQ(table.verticalScrollBar()->isVisible(), size.height() == 190) << "the bar beside the columns";
        EXPECT_FALSE(table.horizontalScrollBar()->isVisible()) << size.width() << " x " << size.height();
    }
}

TEST_F(InspectionTest, FootprintFollowsTheMouseWithoutAPin) {
    start({"odd_7x5.png"});
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    hover(on_canvas({5.5, 1.5}));
    settle();
    QTableView& table = named<QTableView>(panel, "Texels of the footprint");
    ASSERT_GT(table.model()->rowCount(), 0);
    bool read = false;
    for (int row = 0; row < table.model()->rowCount(); ++row)
        read |= table.model()->index(row, 3).data().toString() == "5, 1";
    EXPECT_TRUE(read);
}

TEST_F(InspectionTest, GradientsGiveAnAnisotropicFootprint) {
    start(with_levels());
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    pin({20, 20});
    choose(named<QComboBox>(panel, "Fetch"), 1);
    type(named<NumberEdit>(panel, "Longer side of a pixel in texels"), "8");
    EXPECT_TRUE(named<QLabel>(panel, "Results").text().contains("samples, anisotropy ratio"));
    const int samples = named<QTableView>(panel, "Texels of the footprint").model()->rowCount();
    EXPECT_EQ(samples, 16) << "eight sample positions at column centers, between two rows";
    type(named<NumberEdit>(panel, "Longer side of a pixel in texels"), "1");
    EXPECT_LT(named<QTableView>(panel, "Texels of the footprint").model()->rowCount(), samples);
}

TEST_F(InspectionTest, FootprintOfAKernelPixelListsItsSourceTexels) {
    Session session = session_with({"odd_7x5.png"});
    session.kernel.name = "gaussian";
    start(session);
    FootprintPanel& panel = this->panel<FootprintPanel>("footprint");
    pin({3.5, 2.5});
    EXPECT_TRUE(named<QLabel>(panel, "Results").text().contains("is the weighted sum of"))
        << said(panel).toStdString() << workspace().kernel_problem().toStdString();
    EXPECT_GT(named<QTableView>(panel, "Texels of the footprint").model()->rowCount(), 4);
}

// --- probe -----------------------------------------------------------------------------------------------------------

TEST_F(InspectionTest, TypedCoordinateIsFetchedAndCanBeUndone) {
    Session session = session_with({"odd_2x1.png"});
    session.sampler = Sampler{.filter = Filter::linear, .normalized_coordinates = true};
    start(session);
    ProbePanel& panel = this->panel<ProbePanel>("probe");
    QElapsedTimer time;
    time.start();
    type(named<NumberEdit>(panel, "Point, u"), "0.25");
    EXPECT_EQ(this->session().probe.u, 0.25f);
    const QString left = named<QLabel>(panel, "Results").text();
    type(named<NumberEdit>(panel, "Point, u"), "0.75");
    EXPECT_NE(named<QLabel>(panel, "Results").text(), left);
    const bool together = time.elapsed() < test::kTogether;
    workspace().undo();
    settle();
    if (together) {
        EXPECT_EQ(this->session().probe.u, 0.5f) << "both values are one undo step";
    }
    choose(named<QComboBox>(panel, "Operation"), 1);
    EXPECT_EQ(this->session().probe.operation, FetchOperation::lod);
    choose(named<QComboBox>(panel, "Operation"), 4);
    EXPECT_TRUE(said(panel).contains("texel fetches were requested"));
}

TEST_F(InspectionTest, PlotIsZoomedAndMovedByKeysAndWheel) {
    start({"card.png"});
    ProbePanel& panel = this->panel<ProbePanel>("probe");
    LinePlot& plot = *panel.findChild<LinePlot*>();
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_Plus);
    EXPECT_EQ(plot.first(), 0.25);
    EXPECT_EQ(plot.last(), 0.75);
    QTest::keyClick(&plot, Qt::Key_Right);
    EXPECT_NEAR(plot.first(), 0.3, 1e-12);
    QTest::keyClick(&plot, Qt::Key_Home);
    EXPECT_EQ(plot.last() - plot.first(), 1);
    hover(plot, plot.rect().center());
    settle();
    EXPECT_TRUE(named<CalmText>(panel, "Fetch under the mouse").text().startsWith("("));
    QWheelEvent event(QPointF(plot.rect().center()), plot.mapToGlobal(QPointF(plot.rect().center())), {}, {0, 480},
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot, &event);
    settle();
    EXPECT_NEAR(plot.last() - plot.first(), 0.25, 1e-9);
}

TEST_F(InspectionTest, ProbeButtonUsesTheInspectedTexel) {
    start({"card.png"});
    ProbePanel& panel = this->panel<ProbePanel>("probe");
    pin({120.5, 80.25});
    QTest::mouseClick(panel.findChild<QPushButton*>(), Qt::LeftButton);
    settle();
    EXPECT_FLOAT_EQ(session().probe.u, 120.5f / 481);
    EXPECT_FLOAT_EQ(session().probe.v, 80.25f / 321);
    EXPECT_EQ(session().probe.line_to[1], session().probe.v);
}

// --- ulps ------------------------------------------------------------------------------------------------------------

TEST_F(InspectionTest, UlpMapReportsEqualityAndAClickShowsThePosition) {
    start({"odd_7x5.png"});
    UlpMapPanel& panel = this->panel<UlpMapPanel>("ulp-map");
    if (!workspace().other_device()) {
        EXPECT_TRUE(said(panel).contains("This computer has no GPU"));
    }
    panel.set_twin([](const Array& shown) { return Array(shown.block()); });
    settle();
    EXPECT_TRUE(said(panel).endsWith("fetches return the same bits on both devices.")) << said(panel).toStdString();
    choose(named<QComboBox>(panel, "Region"), 1);
    choose(named<QComboBox>(panel, "Points along a texel"), 1);
    EXPECT_EQ(said(panel), "All 140 fetches return the same bits on both devices.");
    MapView& map = *panel.findChild<MapView*>();
    QTest::mouseClick(&map, Qt::LeftButton, {}, map.rect().center());
    settle();
    ASSERT_EQ(session().pins.size(), 1u);
    EXPECT_NEAR(session().pins[0].x, 3.5, 0.5);
    EXPECT_NEAR(session().pins[0].y, 2.5, 0.5);
    EXPECT_EQ(session().view.center, session().pins[0]);
    workspace().undo();
    EXPECT_TRUE(session().pins.empty());
}

TEST_F(InspectionTest, UlpMapMarksTheDifferingTexelAndShowsItsPosition) {
    Session session = session_with({"odd_7x5.png"});
    session.sampler = Sampler{};
    session.ulp_region = {.whole = true, .points = 2};
    start(session);
    UlpMapPanel& panel = this->panel<UlpMapPanel>("ulp-map");
    panel.set_twin([](const Array& shown) {
        Array made(shown.device(), shown.info());
        copy(made.view(), shown.view());
        std::array<std::byte, 4> texel{std::byte{255}, std::byte{0}, std::byte{255}, std::byte{0}};
        copy(made.view().region({.offset = {5, 1}, .extent = {1, 1}}),
             host_view(static_cast<const void*>(texel.data()), shown.info().format, {1, 1}));
        return made;
    });
    settle();
    EXPECT_TRUE(said(panel).startsWith("4 of 140 fetches differ, by up to ")) << said(panel).toStdString();
    EXPECT_TRUE(said(panel).endsWith(" ulps at (5.25, 1.25).")) << said(panel).toStdString();
    QPushButton& worst = named<QPushButton>(panel, "Go to the largest distance");
    // One texel of the map has a color that differs from all others.
    MapView& map = *panel.findChild<MapView*>();
    const QImage seen = map.grab().toImage();
    const auto color = [&](double x, double y) {
        const double side = std::min(map.width() / 7.0, map.height() / 5.0);
        const double ratio = seen.devicePixelRatio();
        return seen.pixelColor(static_cast<int>((map.width() / 2.0 + (x - 3.5) * side) * ratio),
                               static_cast<int>((map.height() / 2.0 + (y - 2.5) * side) * ratio));
    };
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 7; ++x)
            EXPECT_EQ(color(x + 0.6, y + 0.6) != color(0.6, 0.6), x == 5 && y == 1) << x << ", " << y;
    }
    const QString bars = named<QWidget>(panel, "Histogram of ulps").accessibleDescription();
    EXPECT_TRUE(bars.startsWith("0: 136; ")) << bars.toStdString();
    image(panel, "ulp_map_differing");
    QTest::mouseClick(&worst, Qt::LeftButton);
    settle();
    ASSERT_EQ(this->session().pins.size(), 1u);
    EXPECT_EQ(this->session().pins[0], (Position{5.5, 1.5}));
}

TEST_F(InspectionTest, FloatingPanelReportsTheSameCanvas) {
    Session session = session_with({"card.png"});
    session.second_sampler = Sampler{.filter = Filter::point};
    start(session);
    SamplerComparePanel& panel = this->panel<SamplerComparePanel>("sampler-compare");
    const QString docked = said(panel);
    EXPECT_TRUE(docked.contains("visible pixels differ")) << docked.toStdString();
    const QSize before = canvas().size();
    window().docks().at("sampler-compare")->setFloating(true);
    settle();
    canvas().setFixedSize(before);
    settle();
    EXPECT_EQ(said(panel), docked);
}

// --- samplers --------------------------------------------------------------------------------------------------------

TEST_F(InspectionTest, ChangedFieldOfTheSecondSamplerIsListed) {
    start({"card.png"});
    SamplerComparePanel& panel = this->panel<SamplerComparePanel>("sampler-compare");
    EXPECT_TRUE(said(panel).startsWith("B is the same as A"));
    Sampler second = workspace().document()->standard_sampler();
    second.filter = Filter::point;
    Q_EMIT panel.findChild<SamplerFields*>()->edited(second);
    settle();
    EXPECT_EQ(session().second_sampler, second);
    QTreeWidget& table = named<QTreeWidget>(panel, "Differing fields");
    ASSERT_EQ(table.topLevelItemCount(), 1);
    EXPECT_EQ(table.topLevelItem(0)->text(0), "filter");
    EXPECT_EQ(table.topLevelItem(0)->text(1), "linear");
    EXPECT_EQ(table.topLevelItem(0)->text(2), "point");
    EXPECT_TRUE(said(panel).contains("visible pixels differ"));
}

TEST_F(InspectionTest, ButtonsWipeSwapAndCopySamplers) {
    start({"card.png"});
    SamplerComparePanel& panel = this->panel<SamplerComparePanel>("sampler-compare");
    const auto press = [&](const QString& text) {
        for (QPushButton* button : panel.findChildren<QPushButton*>()) {
            if (button->text() != text) continue;
            QTest::mouseClick(button, Qt::LeftButton);
            settle();
            return;
        }
        FAIL() << "no button named " << text.toStdString();
    };
    press("Wipe A | B");
    EXPECT_EQ(session().compare.mode, CompareMode::wipe);
    EXPECT_EQ(session().compare.against, Against::sampler);
    EXPECT_EQ(session().reading, Reading::sampled);
    const Sampler first = workspace().document()->standard_sampler();
    Sampler second = first;
    second.border[1] = 1;
    workspace().change("B", [&](Session& session) { session.second_sampler = second; });
    press("Swap");
    EXPECT_EQ(session().sampler, second);
    EXPECT_EQ(session().second_sampler, first);
    press("A to B");
    EXPECT_EQ(session().second_sampler, second);
    press("Wipe A | B");
    EXPECT_EQ(session().compare.mode, CompareMode::none);
}

// --- levels of detail ------------------------------------------------------------------------------------------------

TEST_F(InspectionTest, PlaneCanBeShownAndTheLevelUnderTheCursorIsReported) {
    start(with_levels());
    LodMapPanel& panel = this->panel<LodMapPanel>("lod-map");
    QCheckBox& plane = *panel.findChild<QCheckBox*>();
    QTest::keyClick(&plane, Qt::Key_Space);
    settle();
    EXPECT_TRUE(session().lod_plane.shown);
    type(named<NumberEdit>(panel, "Tilt"), "70");
    EXPECT_EQ(session().lod_plane.tilt, 70);
    MapView& map = *panel.findChild<MapView*>();
    map.setFocus();
    QTest::keyClick(&map, Qt::Key_Down, Qt::ShiftModifier);
    settle();
    const CalmText& text = named<CalmText>(panel, "Level of detail under the mouse");
    EXPECT_TRUE(text.text().startsWith("lod ")) << text.text().toStdString();
    EXPECT_TRUE(text.text().contains("ratio")) << text.text().toStdString();
    workspace().undo();
    settle();
    EXPECT_EQ(session().lod_plane.tilt, 60);
}

}  // namespace
}  // namespace texton::viewer
