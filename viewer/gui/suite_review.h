#pragma once
#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "viewer/gui/workspace.h"
#include "viewer/verify/image_pairs.h"
#include "viewer/verify/review.h"

namespace texton::viewer {

/// How the canvas shows an image of a case and its reference.
enum class ReviewView : std::uint8_t { side_by_side, wipe, flip, difference, flip_map, ulp_map };

/// Runs a suite on worker threads, and shows its failing cases in a workspace, which must outlive the object: the images
/// of the current case are the images of the session. For the GUI thread only.
class SuiteReview : public QObject {
    Q_OBJECT

public:
    /// Reads the suite, and starts to run it. Throws the errors of SuiteRun.
    SuiteReview(Workspace& workspace, const verify::ReviewOptions& options);
    ~SuiteReview() override;

    /// Reads and runs the suite again. Decisions that were not applied are lost.
    void run_again();
    /// Stops the run. Commands are killed. The cases that were completed can be reviewed.
    void cancel();
    bool is_running() const noexcept { return running_ != nullptr; }
    /// Returns the number of cases of the suite that is running; 0 if none is.
    std::size_t cases() const noexcept { return running_ ? running_->cases.size() : 0; }
    /// Returns how many of these cases are complete.
    std::size_t done() const noexcept { return done_; }
    /// Returns whether the suite is run or changes are written: no decision can be made.
    bool is_busy() const noexcept { return is_running() || writes_; }
    /// Returns the decisions about the last run, or null before its end.
    const verify::Review* review() const noexcept { return review_.get(); }
    /// Returns a description of the run, and of the decisions.
    QString status() const;

    /// Returns the index of the current case in the run, or nothing if no case fails.
    std::optional<std::size_t> current() const noexcept { return current_; }
    void show(std::size_t index);
    /// Shows the next case (1) or the previous one (-1) in the order of the list. Can skip cases with a verdict.
    void step(int by, bool only_undecided);
    /// Returns the images of the current case.
    const std::vector<verify::ImagePair>& images() const noexcept { return images_; }
    std::size_t image() const noexcept { return image_; }
    void show_image(std::size_t image);
    ReviewView view() const noexcept { return view_; }
    void set_view(ReviewView view);
    /// Shows the reference instead of the result, or the result again.
    void flip();
    /// Pins the worst texel of the current image, or the next worst one, and shows it at the center of the canvas.
    void show_worst();

    /// Approves the current case, or all cases of its group, and shows the next undecided case.
    void approve(bool group);
    /// Rejects the current case, or all cases of its group. Keeps the note of the current case.
    void reject(bool group);
    void set_note(const QString& note);
    void reopen();
    /// Adds the selected texels to the mask of the current image.
    void mask_selection();
    /// Removes the rectangles from the mask that overlap the selection or, without a selection, the pointed texel.
    void unmask();
    /// Returns the mask of the current image as JSON, with its key.
    QString mask_text() const;
    /// Returns why a case does not pass, and what the user can do.
    static QString reason(const verify::Result& result);
    /// Returns what the masks change for the current case; empty if masks were not edited.
    const QString& mask_note() const noexcept { return mask_note_; }

    /// Returns whether the next undo reverts a decision, and not a later change of the view.
    bool undoes_next() const;
    bool redoes_next() const;
    void undo();
    void redo();

    bool has_changes() const { return review_ && review_->has_changes(); }
    /// Writes the decisions on a worker thread. If masks changed, runs the suite again.
    void apply(bool removes_unused);

Q_SIGNALS:
    void changed();
    /// A decision was refused, or could not be written.
    void failed(QString why);
    /// The user rejected a case by its key, and may enter a note now.
    void note_wanted();

private:
    void start(std::shared_ptr<verify::SuiteRun> run);
    void show_results(std::shared_ptr<const verify::SuiteRun> run);
    void follow_session();
    void set_current(std::size_t index, std::size_t image);
    void show_images();
    void show_none(const QString& headline, const QString& details);
    void show_rest(const std::vector<std::size_t>& before);
    void apply_view(Session& session) const;
    void decided();
    bool set_mask(std::vector<Region> rectangles);
    void show_mask();
    void judge_mask();
    std::vector<std::size_t> order() const;
    const verify::ImagePair* pair() const;

    Workspace& workspace_;
    verify::ReviewOptions options_;
    std::shared_ptr<verify::SuiteRun> running_;
    std::stop_source stop_;
    std::size_t done_ = 0;  // cases of the run that are complete
    bool canceled_ = false;
    bool writes_ = false;
    int number_ = 0;  // of the run; part of the paths of its images
    std::unique_ptr<verify::Review> review_;
    std::optional<std::size_t> current_;
    std::vector<verify::ImagePair> images_;
    std::size_t image_ = 0;
    ReviewView view_ = ReviewView::side_by_side;
    std::size_t worst_ = 0;  // number of worst texels that were shown of the current image
    QString mask_note_;
    std::vector<std::size_t> undo_;  // number of changes of the session before each decision
    std::vector<std::size_t> redo_;
};

}  // namespace texton::viewer
