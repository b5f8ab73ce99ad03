#include "viewer/gui/panel.h"

#include "viewer/gui/panels/byte_map.h"
#include "viewer/gui/panels/deferred.h"
#include "viewer/gui/panels/kind_matrix.h"
#include "viewer/gui/panels/reproduce.h"
#include "viewer/gui/panels/residency.h"
#include "viewer/gui/panels/round_trip.h"
#include "viewer/gui/panels/timeline.h"

namespace texton::viewer {
namespace {

template <class Panel>
QWidget* make(Workspace& workspace) {
    return new Panel(workspace);
}

QString tr(const char* text) { return QObject::tr(text); }

}  // namespace

const std::vector<PanelInfo>& panels() {
    static const std::vector<PanelInfo> all{
        {"byte-map", tr("Byte map"), tr("The picture in pitched memory, byte by byte, with its padding"),
         PanelArea::right, make<ByteMap>},
        {"residency", tr("Residency"), tr("The picture as a sparse array: tiles with memory and without"),
         PanelArea::right, make<ResidencyPanel>},
        {"deferred", tr("Deferred memory"), tr("The life of an array whose memory comes later, step by step"),
         PanelArea::right, make<DeferredPanel>},
        {"reproduce", tr("Reproduce"), tr("What is seen as commands, as a C++ program and as a session"),
         PanelArea::bottom, make<ReproducePanel>},
        {"kinds", tr("Kinds"), tr("The picture in every kind of array and memory: sizes, times, samplers"),
         PanelArea::bottom, make<KindMatrixPanel>},
        {"timeline", tr("Timeline"), tr("When the picture was decoded and copied, and how fast"), PanelArea::bottom,
         make<TimelinePanel>},
        {"round-trip", tr("Round trip"), tr("Whether every byte comes back from the device as it was"),
         PanelArea::bottom, make<RoundTripPanel>},
    };
    return all;
}

}  // namespace texton::viewer
