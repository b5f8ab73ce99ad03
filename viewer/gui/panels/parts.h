#pragma once
#include <QTreeWidget>
#include <filesystem>
#include <vector>

#include "viewer/gui/live_panel.h"
#include "viewer/model/image_parts.h"

namespace texton::viewer {

/// Panel that lists the parts of the current file and the layers of their channels. The selected one is shown.
class PartsPanel : public LivePanel {
    Q_OBJECT

public:
    explicit PartsPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    /// The file whose parts are listed.
    struct Listed {
        Source source;
        std::filesystem::file_time_type time;
        bool operator==(const Listed&) const = default;
    };

    void read(const Listed& file);
    void list(const std::vector<ImagePart>& parts);
    void mark_current();
    void choose_current();

    QTreeWidget* tree_;
    CalmText* note_;
    std::optional<Listed> listed_;
    std::vector<ImagePart> parts_;
    bool refreshing_ = false;
};

}  // namespace texton::viewer
