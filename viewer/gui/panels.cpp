#include "viewer/gui/panel.h"
#include "viewer/gui/panels/footprint.h"
#include "viewer/gui/panels/lod_map.h"
#include "viewer/gui/panels/probe.h"
#include "viewer/gui/panels/sampler_compare.h"
#include "viewer/gui/panels/ulp_map.h"

namespace texton::viewer {
namespace {

template <class Panel>
PanelInfo row(const char* id, const QString& title, const QString& tip, PanelArea area) {
    return {id, title, tip, area, [](Workspace& workspace) { return new Panel(workspace); }};
}

}  // namespace

const std::vector<PanelInfo>& panels() {
    const auto tr = [](const char* text) { return QObject::tr(text); };
    static const std::vector<PanelInfo> all{
        row<FootprintPanel>("footprint", tr("Footprint"), tr("The texels that lead to a fetch, with their weights"),
                            PanelArea::bottom),
        row<ProbePanel>("probe", tr("Probe"), tr("A fetch by its coordinates, and a line of them as curves"),
                        PanelArea::bottom),
        row<UlpMapPanel>("ulp_map", tr("Ulp map"), tr("Where the GPU and its model return different bits"),
                         PanelArea::right),
        row<SamplerComparePanel>("sampler_compare", tr("Samplers A | B"),
                                 tr("Which field of a sampler makes the difference"), PanelArea::right),
        row<LodMapPanel>("lod_map", tr("Level of detail"), tr("Which levels a sampler takes across a plane"),
                         PanelArea::right)};
    return all;
}

}  // namespace texton::viewer
