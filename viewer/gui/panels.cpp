#include "viewer/gui/panel.h"

namespace texton::viewer {

const std::vector<PanelInfo>& panels() {
    static const std::vector<PanelInfo> all{};
    return all;
}

}  // namespace texton::viewer
