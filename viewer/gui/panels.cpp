#include "viewer/gui/panel.h"

#include "viewer/gui/panels/compare.h"
#include "viewer/gui/panels/display.h"
#include "viewer/gui/panels/files.h"
#include "viewer/gui/panels/histogram.h"
#include "viewer/gui/panels/inspector.h"
#include "viewer/gui/panels/kernel.h"
#include "viewer/gui/panels/sampler.h"
#include "viewer/gui/panels/subresource.h"

namespace texton::viewer {
namespace {

template <class Panel>
PanelInfo panel(const char* id, const QString& title, const QString& tip, PanelArea area) {
    return {id, title, tip, area, [](Workspace& workspace) { return new Panel(workspace); }};
}

QString tr(const char* text) { return QObject::tr(text); }

}  // namespace

const std::vector<PanelInfo>& panels() {
    static const std::vector<PanelInfo> all{
        panel<FilesPanel>("files", tr("Pictures"), tr("The open pictures, in small"), PanelArea::left),
        panel<SubresourcePanel>("subresource", tr("Parts"), tr("Level, layer, face, slice and plane that are seen"),
                                PanelArea::left),
        panel<KernelPanel>("kernel", tr("Kernel"), tr("A kernel that is run on the picture"), PanelArea::left),
        panel<InspectorPanel>("inspector", tr("Inspector"), tr("One texel: stored, sampled and shown"),
                              PanelArea::right),
        panel<DisplayPanel>("display", tr("Display"), tr("From texels to colours on the screen"), PanelArea::right),
        panel<HistogramPanel>("histogram", tr("Histogram"), tr("How often values come"), PanelArea::right),
        panel<SamplerPanel>("sampler", tr("Sampler"), tr("How the picture is sampled"), PanelArea::right),
        panel<ComparePanel>("compare", tr("Compare"), tr("How two pictures differ, and where"), PanelArea::right),
    };
    return all;
}

}  // namespace texton::viewer
