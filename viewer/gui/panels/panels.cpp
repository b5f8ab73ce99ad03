#include "viewer/gui/panel.h"
#include "viewer/gui/panels/annotations.h"
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
#include "viewer/gui/panels/parts.h"
#include "viewer/gui/panels/probe.h"
#include "viewer/gui/panels/reproduce.h"
#include "viewer/gui/panels/residency.h"
#include "viewer/gui/panels/review.h"
#include "viewer/gui/panels/round_trip.h"
#include "viewer/gui/panels/sampler.h"
#include "viewer/gui/panels/sampler_compare.h"
#include "viewer/gui/panels/streaming.h"
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
        panel<FilesPanel>("files", tr("Images"), tr("Open images with thumbnails"), left),
        panel<ReviewPanel>("review", tr("Review"), tr("Failing cases of a suite, and decisions about them"),
                           left_below),
        panel<SubresourcePanel>("subresource", tr("Subresource"), tr("Visible level, layer, face, slice and plane"),
                                left_below),
        panel<PartsPanel>("parts", tr("Parts"), tr("Parts of the file, and layers of their channels"), left_below),
        panel<KernelPanel>("kernel", tr("Kernel"), tr("Kernel that runs on the image, and its parameters"), left_below),
        panel<InspectorPanel>("inspector", tr("Inspector"), tr("Stored, sampled and displayed values of a texel"),
                              right),
        panel<DisplayPanel>("display", tr("Display"), tr("Range, exposure, channels and color maps of the canvas"),
                            right_below),
        panel<HistogramPanel>("histogram", tr("Histogram"),
                              tr("Distribution of the values, with minimum, mean and maximum"), right),
        panel<SamplerPanel>("sampler", tr("Sampler"), tr("Sampler for the image"), right_below),
        panel<ComparePanel>("compare", tr("Compare"), tr("Differences between two images"), right_below),
        panel<AnnotationsPanel>("annotations", tr("Annotations"), tr("Arrows, boxes, text and rulers over the image"),
                                right_below),
        panel<FootprintPanel>("footprint", tr("Footprint"), tr("Texels that contribute to a fetch, with their weights"),
                              bottom),
        panel<ProbePanel>("probe", tr("Probe"), tr("Fetch at entered coordinates, and a plot of fetches along a line"),
                          bottom),
        panel<UlpMapPanel>("ulp-map", tr("Ulp map"),
                           tr("Positions where the GPU and the CPU device return different bits"), right_below),
        panel<SamplerComparePanel>("sampler-compare", tr("Samplers A | B"),
                                   tr("Comparison of two samplers, field by field"), right_below),
        panel<LodMapPanel>("lod-map", tr("Level of detail"), tr("Levels that the sampler selects across a plane"),
                           right_below),
        panel<ByteMap>("byte-map", tr("Byte map"), tr("Image in pitched memory, byte by byte, with padding"),
                       right_below),
        panel<ResidencyPanel>("residency", tr("Residency"),
                              tr("Image as a sparse array, with mapped and unmapped tiles"), right_below),
        panel<StreamingPanel>("streaming", tr("Streaming"),
                              tr("Tiles of an image that does not fit memory: resident, coarser and failed ones"),
                              right_below),
        panel<DeferredPanel>("deferred", tr("Deferred memory"), tr("Life cycle of a deferred array, step by step"),
                             right_below),
        panel<ReproducePanel>("reproduce", tr("Reproduce"),
                              tr("Current view as commands, as a C++ program and as a session"), bottom),
        panel<KindMatrixPanel>("kinds", tr("Kinds"),
                               tr("Image in every kind of array and memory: sizes, times and samplers"), bottom),
        panel<TimelinePanel>("timeline", tr("Timeline"), tr("Times and rates of decoding and copying the image"),
                             bottom),
        panel<RoundTripPanel>("round-trip", tr("Round trip"), tr("Compares every byte after an upload and a download"),
                              bottom),
    };
    return all;
}

}  // namespace texton::viewer
