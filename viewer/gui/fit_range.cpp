#include "viewer/gui/fit_range.h"

#include <QPointer>
#include <optional>

#include "viewer/inspect/region_statistics.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {

void fit_range(Workspace& workspace, const TexelBox& box, QObject* guard, std::function<void(const QString&)> done) {
    const std::shared_ptr<const Document> shown = workspace.shown();
    if (!shown) return;
    const Session& session = workspace.session();
    workspace.jobs().start(
        "fit range",
        [&workspace, shown, box, done = std::move(done), guard = QPointer(guard), subresource = session.subresource,
         channels = session.display.channels](const CancellationToken&) -> Jobs::Finish {
            std::optional<ValueRange> range;
            QString problem;
            try {
                const RegionStatistics found = region_statistics(*shown, subresource, box);
                range = display_range(found, shown->info(shown->clamped(subresource).plane).format, channels);
                if (!range) problem = QObject::tr("There are no finite values in this area.");
            } catch (const std::exception& error) {
                problem = QString::fromStdString(error_text(error));
            }
            return [&workspace, guard, done, range, problem] {
                if (!guard) return;
                done(problem);
                if (!range) return;
                workspace.change(QObject::tr("Fit range"), [&](Session& now) {
                    now.display.low = range->low;
                    now.display.high = range->high;
                    now.display.exposure = 0;
                });
            };
        });
}

}  // namespace texton::viewer
