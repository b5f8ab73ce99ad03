#pragma once
// Review of the cases of a suite that do not pass: decisions about them, with undo, and what applying them writes.
#include <compare>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "viewer/verify/review_notes.h"
#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// What is reviewed, and how. The options are those of `texton verify`.
struct ReviewOptions {
    std::filesystem::path suite{};
    std::string filter{};   ///< only cases whose names match are run
    bool quick = false;     ///< of each matrix, only cases that cover all pairs of its values are run
    std::string variant{};  ///< approved results become variants with this name; empty: they become the references
    Outside outside = Outside::refused;
    Commands commands = Commands::refused;
};

/// A suite, the cases of it that are run, and their results. The cases and the criteria of the results belong to
/// `suite`, so the object cannot be copied or moved.
struct SuiteRun {
    ReviewOptions options;
    std::string text;                ///< contents of the file of the suite
    Suite suite;                     ///< all cases
    bool is_complete = true;         ///< all cases of the suite are run, so unused references can be found
    Device device = Device::cpu();   ///< device of the cases
    std::vector<const Case*> cases;  ///< cases that are run
    std::vector<Result> results;     ///< of `cases`; empty until run() returned
    RejectedCases notes;             ///< notes of an earlier review

    /// Reads a suite and the notes beside it. Throws the errors of read_suite(), matching_cases() and read_notes().
    SuiteRun(const ReviewOptions& options, const Device& device);
    SuiteRun(const SuiteRun&) = delete;
    SuiteRun& operator=(const SuiteRun&) = delete;

    /// Runs the cases. If `options.stop` is requested, `cases` and `results` keep only the cases that were completed.
    void run(RunOptions options);
};

/// The verdict of a reviewer on a case.
enum class Verdict : std::uint8_t {
    undecided,
    approved,  ///< the result becomes the reference
    rejected   ///< the result is wrong; the note says why
};

/// The decision about a case.
struct Decision {
    Verdict verdict = Verdict::undecided;
    std::string note;  ///< of a rejection
    bool operator==(const Decision&) const = default;
};

/// The part of a suite that a mask belongs to: an entry of "cases", or a pattern of its "images".
struct MaskPosition {
    std::size_t entry = 0;
    std::optional<std::size_t> pattern;
    auto operator<=>(const MaskPosition&) const = default;
};

/// Decisions about the cases of a run that do not pass. Cases are identified by their index in the run. Nothing is
/// written before write(). Not thread-safe.
class Review {
public:
    /// `run` is a suite that was run. Cases that its notes reject are rejected again.
    explicit Review(std::shared_ptr<const SuiteRun> run);

    const SuiteRun& run() const noexcept { return *run_; }
    /// Returns the run, to keep it alive.
    const std::shared_ptr<const SuiteRun>& shared_run() const noexcept { return run_; }
    /// Returns the groups of failure_groups(), without approved cases that were written.
    const std::vector<std::vector<std::size_t>>& groups() const noexcept { return groups_; }
    /// Returns the group of a case, or an empty list if it is in no group.
    std::span<const std::size_t> group_of(std::size_t index) const;
    /// Returns the decision about a case.
    const Decision& decision(std::size_t index) const { return decisions_.at(index); }
    /// Returns the number of cases in groups with a verdict.
    std::size_t count(Verdict verdict) const;
    /// Returns true if the images of a case can become its reference.
    bool is_approvable(std::size_t index) const;

    /// Approves the cases that can be approved. Returns their number.
    std::size_t approve(std::span<const std::size_t> indices);
    /// Rejects cases, with a note.
    void reject(std::span<const std::size_t> indices, const std::string& note);
    /// Makes cases undecided.
    void reopen(std::span<const std::size_t> indices);

    /// Returns the criteria of an image of a case, with the mask of set_mask().
    Criteria criteria(std::size_t index, std::size_t image) const;
    /// Returns the names of the cases that share the mask of an image.
    std::vector<std::string> cases_of_mask(std::size_t index, std::size_t image) const;
    /// Sets the rectangles that are not compared in an image of a case. Other images of the case, and other cases of
    /// its matrix, can have the same mask. Throws Error{bad_argument} if a rectangle reaches beyond one of these images,
    /// or if the mask is a file, the alpha of images or the mask of a device, and the errors of with_mask().
    void set_mask(std::size_t index, std::size_t image, std::vector<Region> rectangles);

    bool can_undo() const noexcept { return !undo_.empty(); }  ///< Returns true if a decision can be undone.
    bool can_redo() const noexcept { return !redo_.empty(); }  ///< Returns true if a decision can be redone.
    /// Undoes the last decision and returns the index of its first case. Precondition: can_undo().
    std::size_t undo() { return exchange(undo_, redo_); }
    /// Repeats the decision that was undone last, and returns the index of its first case. Precondition: can_redo().
    std::size_t redo() { return exchange(redo_, undo_); }

    /// Returns the number of masks that were changed.
    std::size_t changed_masks() const noexcept { return masks_.size(); }
    /// Returns true if write() has something to write.
    bool has_changes() const;
    /// What write() writes and removes.
    struct Changes {
        std::vector<std::size_t> approved;          ///< cases whose images become references
        std::vector<std::filesystem::path> unused;  ///< references that belong to no case; removed only on request
        std::size_t masks = 0;                      ///< masks in the suite
        bool notes = false;                         ///< the rejections differ from the file of notes
    };
    /// Returns what write() would write now. Reads the folder of the references.
    Changes changes() const;
    /// Everything that write() needs. Does not refer to the review.
    struct Writing {
        std::shared_ptr<const SuiteRun> run;
        Changes changes;
        std::string suite;    ///< new text of the suite, if masks changed
        RejectedCases notes;  ///< new notes
    };
    /// Returns what must be written. If `removes_unused` is true, references that belong to no case are removed.
    Writing prepare(bool removes_unused) const;
    /// Writes the references of the approved cases as `texton verify --update` does, then the masks into the suite, and
    /// then the notes on rejections beside it. Blocks. Thread-safe.
    ///
    /// Throws Error{io} before anything is written if masks changed and the suite was changed after it was run, and the
    /// errors of write_update() and write_notes().
    static void write(const Writing& writing);
    /// Removes the approved cases from the groups, after they were written. Nothing can be undone then.
    void finish(const Writing& writing);

private:
    using Masks = std::map<MaskPosition, std::vector<Region>>;
    // A decision: the values to exchange with the current ones.
    struct Step {
        std::vector<std::pair<std::size_t, Decision>> decisions;
        std::optional<Masks> masks;
        std::size_t shown = 0;
    };

    void number_groups();
    void decide(std::span<const std::size_t> indices, const Decision& decision);
    std::size_t exchange(std::vector<Step>& from, std::vector<Step>& to);
    MaskPosition position_of(std::size_t index, std::size_t image) const;
    bool has_own_mask(std::size_t index, std::size_t image) const;
    RejectedCases rejected() const;

    std::shared_ptr<const SuiteRun> run_;
    RejectedCases notes_;  // as the file contains them
    RejectedCases kept_;   // of cases that exist
    std::vector<std::vector<std::size_t>> groups_;
    std::vector<std::size_t> number_of_group_;  // of each case; the number of groups if it is in none
    std::vector<Decision> decisions_;           // of all cases
    Masks masks_;
    std::vector<Step> undo_;
    std::vector<Step> redo_;
};

/// Returns which limits an image exceeds, as messages of results do; empty if it passes. Thread-safe. Throws the errors
/// of difference_of().
[[nodiscard]] std::string exceeded_limits(const Result& result, std::size_t image, const Criteria& criteria);

}  // namespace texton::verify
