#include "viewer/gui/panel.h"
#include "viewer/gui/panels/byte_map.h"
#include "viewer/gui/panels/compare.h"
#include "viewer/gui/panels/deferred.h"
#include "viewer/gui/panels/display.h"
#include "viewer/gui/panels/files.h"
#include "viewer/gui/panels/footprint.h"
#include "viewer/gui/panels/histogram.h"
#include "viewer/gui/panels/inspector.h"
#include "viewer/gui/panels/kernel.h"
#include "viewer/gui/panels/kind_matrix.h"
#include "viewer/gui/panels/lod_map.h"
#include "viewer/gui/panels/probe.h"
#include "viewer/gui/panels/reproduce.h"
#include "viewer/gui/panels/residency.h"
#include "viewer/gui/panels/round_trip.h"
#include "viewer/gui/panels/sampler.h"
#include "viewer/gui/panels/sampler_compare.h"
#include "viewer/gui/panels/subresource.h"
#include "viewer/gui/panels/timeline.h"
#include "viewer/gui/panels/ulp_map.h"

namespace texton::viewer {
namespace {

template <class Panel>
PanelInfo panel(const char* id, const QString& title, const QString& tip, PanelArea area) {
    return {id, title, tip, area, [](Workspace& workspace) { return new Panel(workspace); }};
}

QString tr(const char* text) { return QObject::tr(text); }

}  // namespace

const std::vector<PanelInfo>& panels() {
    using enum PanelArea;
    static const std::vector<PanelInfo> all{
        panel<FilesPanel>("files", tr("Pictures"), tr("The open pictures, in small"), left),
        panel<SubresourcePanel>("subresource", tr("Parts"), tr("Level, layer, face, slice and plane that are seen"),
                                left_below),
        panel<KernelPanel>("kernel", tr("Kernel"), tr("A kernel that is run on the picture"), left_below),
        panel<InspectorPanel>("inspector", tr("Inspector"), tr("One texel: stored, sampled and shown"), right),
        panel<DisplayPanel>("display", tr("Display"), tr("From texels to colours on the screen"), right_below),
        panel<HistogramPanel>("histogram", tr("Histogram"), tr("How often values come"), right),
        panel<SamplerPanel>("sampler", tr("Sampler"), tr("How the picture is sampled"), right_below),
        panel<ComparePanel>("compare", tr("Compare"), tr("How two pictures differ, and where"), right_below),
        panel<FootprintPanel>("footprint", tr("Footprint"), tr("The texels that lead to a fetch, with their weights"),
                              bottom),
        panel<ProbePanel>("probe", tr("Probe"), tr("A fetch by its coordinates, and a line of them as curves"), bottom),
        panel<UlpMapPanel>("ulp-map", tr("Ulp map"), tr("Where the GPU and its model return different bits"),
                           right_below),
        panel<SamplerComparePanel>("sampler-compare", tr("Samplers A | B"),
                                   tr("Which field of a sampler makes the difference"), right_below),
        panel<LodMapPanel>("lod-map", tr("Level of detail"), tr("Which levels a sampler takes across a plane"),
                           right_below),
        panel<ByteMap>("byte-map", tr("Byte map"), tr("The picture in pitched memory, byte by byte, with its padding"),
                       right_below),
        panel<ResidencyPanel>("residency", tr("Residency"),
                              tr("The picture as a sparse array: tiles with memory and without"), right_below),
        panel<DeferredPanel>("deferred", tr("Deferred memory"),
                             tr("The life of an array whose memory comes later, step by step"), right_below),
        panel<ReproducePanel>("reproduce", tr("Reproduce"),
                              tr("What is seen as commands, as a C++ program and as a session"), bottom),
        panel<KindMatrixPanel>("kinds", tr("Kinds"),
                               tr("The picture in every kind of array and memory: sizes, times, samplers"), bottom),
        panel<TimelinePanel>("timeline", tr("Timeline"), tr("When the picture was decoded and copied, and how fast"),
                             bottom),
        panel<RoundTripPanel>("round-trip", tr("Round trip"),
                              tr("Whether every byte comes back from the device as it was"), bottom),
    };
    return all;
}

}  // namespace texton::viewer
