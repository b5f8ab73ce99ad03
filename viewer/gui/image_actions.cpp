// Actions of the Image and Compare menus: the shown subresource, its display, and comparisons.
#include <algorithm>
#include <cmath>

#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/fit_range.h"
#include "viewer/gui/main_window.h"
#include "viewer/model/frames.h"
#include "viewer/model/session_names.h"

namespace texton::viewer {
namespace {

// Returns the index `by` steps further of `count`, with wrap-around.
std::size_t stepped(std::size_t index, int by, std::size_t count) {
    const auto n = static_cast<std::ptrdiff_t>(count);
    return static_cast<std::size_t>(((static_cast<std::ptrdiff_t>(index) + by) % n + n) % n);
}

void show_image(Workspace& workspace, std::size_t index) {
    workspace.change(MainWindow::tr("Show image"), [&](Session& session) {
        if (index < session.images.size()) session.current = index;
    });
}

void step_image(Workspace& workspace, int by) {
    const std::size_t count = workspace.session().images.size();
    if (count != 0) show_image(workspace, stepped(workspace.session().current, by, count));
}

void set_reference(Workspace& workspace, std::size_t index) {
    workspace.change(MainWindow::tr("Reference"), [&](Session& session) {
        if (index >= session.images.size()) return;
        session.reference = session.reference == index ? std::nullopt : std::optional(index);
    });
}

void step_level(Workspace& workspace, int by) {
    const auto shown = workspace.shown();
    if (!shown) return;
    workspace.change(
        MainWindow::tr("Level"),
        [&](Session& session) {
            session.subresource.level = std::max(0, shown->clamped(session.subresource).level + by);
            session.subresource = shown->clamped(session.subresource);
            session.fits = true;
        },
        "level");
}

// Steps through the slices of a volume, or through the layers and faces of other arrays.
void step_slice(Workspace& workspace, int by) {
    const auto shown = workspace.shown();
    if (!shown) return;
    workspace.change(
        MainWindow::tr("Slice"),
        [&](Session& session) {
            SubresourceIndex& subresource = session.subresource = shown->clamped(session.subresource);
            const ArrayInfo& row = shown->whole(subresource.plane);
            const std::size_t count = slice_count(row, subresource.level);
            const std::size_t faces = is_cube(row.kind) ? 6 : 1;
            const std::size_t now = row.kind == ArrayKind::array_3d
                                        ? subresource.slice
                                        : subresource.layer * faces + static_cast<std::size_t>(subresource.face);
            const std::size_t next = stepped(now, by, count);
            subresource.slice = row.kind == ArrayKind::array_3d ? next : 0;
            subresource.layer = row.kind == ArrayKind::array_3d ? 0 : next / faces;
            subresource.face = static_cast<int>(next % faces);
            subresource = shown->clamped(subresource);
        },
        "slice");
}

void step_frame(Workspace& workspace, int by) {
    if (workspace.frames() > 1)
        workspace.show_frame(
            stepped(frame_of(workspace.session().images[workspace.session().current]), by, workspace.frames()));
}

void toggle_channel(Workspace& workspace, std::size_t channel) {
    workspace.change(MainWindow::tr("Channels"), [&](Session& session) {
        session.display.luminance = false;
        session.display.channels[channel] = !session.display.channels[channel];
    });
}

void add_exposure(Workspace& workspace, float stops) {
    workspace.change(
        MainWindow::tr("Exposure"),
        [&](Session& session) {
            session.display.exposure = std::clamp(session.display.exposure + stops, -32.0f, 32.0f);
        },
        "exposure");
}

void scale_gamma(Workspace& workspace, float by) {
    workspace.change(
        MainWindow::tr("Gamma"),
        [&](Session& session) {
            const float steps = std::round(session.display.gamma * 10 + by);
            session.display.gamma = std::clamp(steps / 10, 0.1f, 8.0f);
        },
        "gamma");
}

void step_metric(Workspace& workspace, int by) {
    workspace.change(MainWindow::tr("Metric"), [&](Session& session) {
        const auto mode = static_cast<std::size_t>(session.compare.mode);
        session.compare.mode = static_cast<CompareMode>(stepped(mode, by, kCompareModes.size()));
    });
}

void nudge_pin(Workspace& workspace, double x, double y) {
    const auto shown = workspace.shown();
    if (!shown) return;
    const Extent extent = canvas_extent(workspace.scene(1, 1));
    workspace.change(
        MainWindow::tr("Move the pin"),
        [&](Session& session) {
            if (session.pins.empty()) return;
            Position& pin = session.pins.back();
            pin.x = std::clamp(std::floor(pin.x) + x, 0.0, static_cast<double>(extent.width) - 1) + 0.5;
            pin.y = std::clamp(std::floor(pin.y) + y, 0.0, static_cast<double>(extent.height) - 1) + 0.5;
        },
        "nudge");
}

void up_or_down(Workspace& workspace, int by) {
    if (workspace.session().pins.empty()) {
        step_image(workspace, by);
    } else {
        nudge_pin(workspace, 0, by);
    }
}

void normalize(MainWindow& window) {
    Workspace& workspace = window.workspace();
    const auto box = window.canvas().visible_texels();
    if (!box) return workspace.tell(MainWindow::tr("No part of the image is visible."));
    fit_range(workspace, *box, &window, [&workspace](const QString& problem) {
        if (!problem.isEmpty()) workspace.tell(problem);
    });
}

void add_display_actions(Actions& actions, Workspace& workspace, const QString& menu) {
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    constexpr const char* kIds[] = {"red", "green", "blue", "alpha"};
    const QString names[] = {tr("&Red"), tr("&Green"), tr("&Blue"), tr("&Alpha")};
    constexpr Qt::Key kKeys[] = {Qt::Key_R, Qt::Key_G, Qt::Key_B, Qt::Key_A};
    for (std::size_t i = 0; i < 4; ++i) {
        actions.add({kIds[i],
                     menu,
                     names[i],
                     tr("Shows or hides the channel; a single channel is shown in gray"),
                     {kKeys[i]},
                     [&workspace, i] { toggle_channel(workspace, i); },
                     [&workspace, i] { return workspace.session().display.channels[i]; }});
    }
    actions.add({"color", menu, tr("&Color"), tr("Shows all channels"), {Qt::Key_C}, [&workspace] {
                     workspace.change(MainWindow::tr("Color"), [](Session& session) {
                         session.display.channels = {true, true, true, true};
                         session.display.luminance = false;
                     });
                 }});
    actions.add({"luminance",
                 menu,
                 tr("&Luminance"),
                 tr("Shows the luminance of the colors"),
                 {Qt::Key_L},
                 [&workspace] {
                     workspace.change(MainWindow::tr("Luminance"),
                                      [](Session& session) { session.display.luminance = !session.display.luminance; });
                 },
                 [&workspace] { return workspace.session().display.luminance; }});
    actions.add({"brighter",
                 menu,
                 tr("Br&ighter"),
                 tr("Increases the exposure by half a stop"),
                 {Qt::Key_BracketRight, Qt::Key_E},
                 [&workspace] { add_exposure(workspace, 0.5f); }});
    actions.add({"darker",
                 menu,
                 tr("&Darker"),
                 tr("Decreases the exposure by half a stop"),
                 {Qt::Key_BracketLeft, QKeySequence(Qt::SHIFT | Qt::Key_E)},
                 [&workspace] { add_exposure(workspace, -0.5f); }});
    actions.add({"more-gamma",
                 menu,
                 tr("Incr&ease gamma"),
                 {},
                 {Qt::Key_ParenRight, QKeySequence(Qt::SHIFT | Qt::Key_ParenRight)},
                 [&workspace] { scale_gamma(workspace, 1); }});
    actions.add({"less-gamma",
                 menu,
                 tr("Decrease ga&mma"),
                 {},
                 {Qt::Key_ParenLeft, QKeySequence(Qt::SHIFT | Qt::Key_ParenLeft)},
                 [&workspace] { scale_gamma(workspace, -1); }});
    actions.add({"reset-display",
                 menu,
                 tr("Reset displa&y"),
                 tr("Restores the default display settings"),
                 {Qt::Key_0},
                 [&workspace] {
                     workspace.change(MainWindow::tr("Reset display"), [](Session& session) { session.display = {}; });
                 }});
    actions.add({"reading",
                 menu,
                 tr("&Sampled"),
                 tr("Shows what a texture with the sampler returns, instead of the stored texels"),
                 {Qt::Key_S},
                 [&workspace] {
                     workspace.change(MainWindow::tr("Switch between stored and sampled"), [](Session& session) {
                         session.reading = session.reading == Reading::stored ? Reading::sampled : Reading::stored;
                     });
                 },
                 [&workspace] { return workspace.session().reading == Reading::sampled; }});
}

// One action for each mode of comparison, for the command palette and for keys.
void add_compare_modes(Actions& actions, Workspace& workspace) {
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString tips[] = {tr("Shows the image without a comparison"),
                            tr("Shows the image on one side of a line, and the other image on the other side"),
                            tr("Shows the differences of the values, with sign"),
                            tr("Shows the absolute differences of the values"),
                            tr("Shows the differences relative to the values"),
                            tr("Shows the squared differences of the values"),
                            tr("Shows the distance of the values in ulps")};
    static_assert(std::size(tips) == kCompareModes.size());
    for (const auto& [name, mode] : kCompareModes) {
        const QString id(name);
        actions.add({"compare-" + id,
                     {},
                     tr("Compare: %1").arg(id),
                     tips[static_cast<std::size_t>(mode)],
                     {},
                     [&workspace, mode = mode] {
                         workspace.change(MainWindow::tr("Metric"),
                                          [mode](Session& session) { session.compare.mode = mode; });
                     },
                     [&workspace, mode = mode] { return workspace.session().compare.mode == mode; },
                     [&workspace, mode = mode] {
                         const Session& session = workspace.session();
                         return mode == CompareMode::none || session.compare.against != Against::reference ||
                                session.reference.has_value();
                     }});
    }
}

void add_choice_actions(Actions& actions, Workspace& workspace) {
    for (int i = 1; i <= 9; ++i) {
        const auto index = static_cast<std::size_t>(i - 1);
        const auto is_there = [&workspace, index] { return index < workspace.session().images.size(); };
        actions.add({QString("image-%1").arg(i),
                     {},
                     MainWindow::tr("Image %1").arg(i),
                     {},
                     {QKeySequence(Qt::Key_0 + i)},
                     [&workspace, index] { show_image(workspace, index); },
                     {},
                     is_there});
        actions.add({QString("reference-%1").arg(i),
                     {},
                     MainWindow::tr("Reference %1").arg(i),
                     {},
                     {QKeySequence(Qt::SHIFT | static_cast<Qt::Key>(Qt::Key_0 + i))},
                     [&workspace, index] { set_reference(workspace, index); },
                     {},
                     is_there});
    }
}

}  // namespace

void add_image_actions(MainWindow& window) {
    Actions& actions = window.actions();
    Workspace& workspace = window.workspace();
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString menu = tr("&Image");
    const auto has_pin = [&workspace] { return !workspace.session().pins.empty(); };

    actions.add(
        {"previous", menu, tr("&Previous image"), tr("Shows the previous image"), {Qt::Key_PageUp}, [&workspace] {
             step_image(workspace, -1);
         }});
    actions.add({"next", menu, tr("&Next image"), tr("Shows the next image"), {Qt::Key_PageDown}, [&workspace] {
                     step_image(workspace, 1);
                 }});
    actions.add({"finer-level",
                 menu,
                 tr("&Finer level"),
                 tr("Shows the next finer mip level"),
                 {QKeySequence("<"), QKeySequence("Shift+<")},
                 [&workspace] { step_level(workspace, -1); }});
    actions.add({"coarser-level",
                 menu,
                 tr("C&oarser level"),
                 tr("Shows the next coarser mip level"),
                 {QKeySequence(">"), QKeySequence("Shift+>")},
                 [&workspace] { step_level(workspace, 1); }});
    actions.add({"previous-slice",
                 menu,
                 tr("Pre&vious slice"),
                 tr("Shows the previous slice, layer or face"),
                 {QKeySequence(Qt::CTRL | Qt::Key_PageUp)},
                 [&workspace] { step_slice(workspace, -1); }});
    actions.add({"next-slice",
                 menu,
                 tr("Ne&xt slice"),
                 tr("Shows the next slice, layer or face"),
                 {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
                 [&workspace] { step_slice(workspace, 1); }});
    const auto has_frames = [&workspace] { return workspace.frames() > 1; };
    actions.add({"previous-frame",
                 menu,
                 tr("Previo&us frame"),
                 tr("Shows the previous frame of a video file or of numbered files"),
                 {Qt::Key_Comma},
                 [&workspace] { step_frame(workspace, -1); },
                 {},
                 has_frames});
    actions.add({"next-frame",
                 menu,
                 tr("Nex&t frame"),
                 tr("Shows the next frame of a video file or of numbered files"),
                 {Qt::Key_Period},
                 [&workspace] { step_frame(workspace, 1); },
                 {},
                 has_frames});
    add_display_actions(actions, workspace, menu);
    actions.add({"normalize",
                 menu,
                 tr("Normali&ze"),
                 tr("Sets black and white to the lowest and the highest visible value"),
                 {Qt::Key_N},
                 [&window] { normalize(window); },
                 {},
                 [&workspace] { return workspace.shown() != nullptr; }});

    const QString compare = tr("&Compare");
    actions.add({"make-reference",
                 compare,
                 tr("Use as &reference"),
                 tr("Compares other images with this one"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
                 [&workspace] { set_reference(workspace, workspace.session().current); },
                 [&workspace] { return workspace.session().reference == workspace.session().current; },
                 [&workspace] { return !workspace.session().images.empty(); }});
    actions.add({"next-metric",
                 compare,
                 tr("&Next metric"),
                 tr("Selects the next mode of comparison: wipe, difference, ulps and others"),
                 {QKeySequence(Qt::CTRL | Qt::Key_Right)},
                 [&workspace] { step_metric(workspace, 1); }});
    actions.add(
        {"previous-metric", compare, tr("&Previous metric"), {}, {QKeySequence(Qt::CTRL | Qt::Key_Left)}, [&workspace] {
             step_metric(workspace, -1);
         }});
    actions.add({"side-by-side",
                 compare,
                 tr("Side &by side"),
                 tr("Shows the reference beside the image, with the same zoom and position"),
                 {Qt::Key_W},
                 [&workspace] { workspace.show_side_by_side(!workspace.is_side_by_side()); },
                 [&workspace] { return workspace.is_side_by_side(); },
                 [&workspace] { return workspace.session().reference.has_value(); }});
    actions.add({"other-device",
                 compare,
                 tr("Other &device"),
                 tr("Switches between the CPU device and the GPU"),
                 {QKeySequence(Qt::CTRL | Qt::Key_D)},
                 [&workspace] {
                     const auto other = workspace.other_device();
                     if (!other) return workspace.tell(QString::fromStdString(Device::why_no_cuda()));
                     workspace.change(MainWindow::tr("Other device"), [&](Session& session) {
                         session.device = other->kind() == DeviceKind::cpu ? "cpu" : "cuda";
                     });
                 },
                 {},
                 [&workspace] { return workspace.other_device().has_value(); }});

    actions.add({"up",
                 {},
                 tr("Up"),
                 tr("Moves the pin up by one texel; without a pin, shows the previous image"),
                 {Qt::Key_Up},
                 [&workspace] { up_or_down(workspace, -1); }});
    actions.add({"down",
                 {},
                 tr("Down"),
                 tr("Moves the pin down by one texel; without a pin, shows the next image"),
                 {Qt::Key_Down},
                 [&workspace] { up_or_down(workspace, 1); }});
    actions.add({"left",
                 {},
                 tr("Left"),
                 tr("Moves the pin left by one texel"),
                 {Qt::Key_Left},
                 [&workspace] { nudge_pin(workspace, -1, 0); },
                 {},
                 has_pin});
    actions.add({"right",
                 {},
                 tr("Right"),
                 tr("Moves the pin right by one texel"),
                 {Qt::Key_Right},
                 [&workspace] { nudge_pin(workspace, 1, 0); },
                 {},
                 has_pin});
    actions.add({"unpin",
                 compare,
                 tr("Remove pins and &selection"),
                 tr("Removes the selected annotation, or else all pins and the selection"),
                 {Qt::Key_Delete},
                 [&workspace] {
                     AnnotationTool& tool = workspace.annotation_tool();
                     if (tool.selected()) return tool.remove(*tool.selected());
                     workspace.change(MainWindow::tr("Remove pins and selection"), [](Session& session) {
                         session.pins.clear();
                         session.selection.reset();
                     });
                 },
                 {},
                 [&workspace] {
                     return !workspace.session().pins.empty() || workspace.session().selection ||
                            workspace.annotation_tool().selected();
                 }});
    add_choice_actions(actions, workspace);
    add_compare_modes(actions, workspace);
}

}  // namespace texton::viewer
