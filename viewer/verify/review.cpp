#include "viewer/verify/review.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/new_file.h"
#include "viewer/model/json_file.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/case_filter.h"
#include "viewer/verify/failure_groups.h"
#include "viewer/verify/image_difference.h"
#include "viewer/verify/suite_text.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::string problem;
    std::optional<std::string> text = read_json_text(path, problem);
    if (text) return std::move(*text);
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = "Give the path of a suite, a JSON file."});
}

// Returns true if `criteria` are `all`, or those of one of its devices.
bool belongs_to(const Criteria* criteria, const Criteria& all) {
    return criteria == &all || std::ranges::any_of(all.devices, [criteria](const DeviceCriteria& each) {
               return criteria == &each.criteria;
           });
}

// Returns the index of the pattern that the criteria of an image belong to; nothing if they are those of the case.
std::optional<std::size_t> pattern_of(const Case& of, const Criteria* criteria) {
    const auto in = [criteria](const std::vector<ImagePattern>& patterns) -> std::optional<std::size_t> {
        const auto found = std::ranges::find_if(
            patterns, [criteria](const ImagePattern& each) { return belongs_to(criteria, each.criteria); });
        if (found == patterns.end()) return {};
        return static_cast<std::size_t>(found - patterns.begin());
    };
    if (const auto* command = std::get_if<CommandCase>(&of.work)) return in(command->images);
    if (const auto* files = std::get_if<FilesCase>(&of.work)) return in(files->images);
    if (const auto* folders = std::get_if<FoldersCase>(&of.work)) return in(folders->images);
    return {};
}

[[noreturn]] void refuse_mask(const Criteria& criteria, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::verify",
                 .problem = fmt::format("{}: {}", criteria.where, problem),
                 .remedy = std::move(remedy)});
}

}  // namespace

SuiteRun::SuiteRun(const ReviewOptions& review, const Device& on_device)
    : options(review),
      text(text_of(review.suite)),
      suite(read_suite(review.suite, review.outside, review.commands)),
      is_complete(review.filter.empty() && !review.quick),
      device(on_device),
      cases(matching_cases(suite, review.filter, review.quick)),
      notes(read_notes(notes_path(review.suite))) {}

void SuiteRun::run(RunOptions options) {
    std::vector<char> is_done(cases.size());
    options.done = [&is_done, done = std::move(options.done), stop = options.stop](std::size_t index) {
        is_done[index] = stop.stop_requested() ? 0 : 1;  // its command may have been killed
        if (done) done(index);
    };
    std::vector<Result> all = run_cases(cases, suite, device, options);
    if (options.stop.stop_requested()) {
        is_complete = false;
        std::vector<const Case*> completed;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!is_done[i]) continue;
            completed.push_back(cases[i]);
            results.push_back(std::move(all[i]));
        }
        cases = std::move(completed);
    } else {
        results = std::move(all);
    }
}

Review::Review(std::shared_ptr<const SuiteRun> run)
    : run_(std::move(run)),
      notes_(run_->notes),
      groups_(failure_groups(run_->cases, run_->results)),
      decisions_(run_->results.size()) {
    number_groups();
    for (const Case& each : run_->suite.cases)
        if (const auto note = notes_.find(each.name); note != notes_.end()) kept_.insert(*note);
    for (const auto& group : groups_) {
        for (const std::size_t index : group) {
            const auto note = notes_.find(run_->cases[index]->name);
            if (note != notes_.end()) decisions_[index] = {Verdict::rejected, note->second.note};
        }
    }
}

void Review::number_groups() {
    number_of_group_.assign(decisions_.size(), groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
        for (const std::size_t index : groups_[g]) number_of_group_[index] = g;
}

std::span<const std::size_t> Review::group_of(std::size_t index) const {
    const std::size_t number = number_of_group_.at(index);
    if (number == groups_.size()) return {};
    return groups_[number];
}

std::size_t Review::count(Verdict verdict) const {
    std::size_t count = 0;
    for (const auto& group : groups_)
        for (const std::size_t index : group) count += decisions_[index].verdict == verdict ? 1 : 0;
    return count;
}

bool Review::is_approvable(std::size_t index) const {
    return !group_of(index).empty() && verify::is_approvable(*run_->cases[index], run_->results[index]);
}

// --- decisions -------------------------------------------------------------------------------------------------------

std::size_t Review::approve(std::span<const std::size_t> indices) {
    std::vector<std::size_t> approvable;
    std::ranges::copy_if(indices, std::back_inserter(approvable), [this](std::size_t i) { return is_approvable(i); });
    decide(approvable, {Verdict::approved, {}});
    return approvable.size();
}

void Review::reject(std::span<const std::size_t> indices, const std::string& note) {
    decide(indices, {Verdict::rejected, note});
}

void Review::reopen(std::span<const std::size_t> indices) { decide(indices, {}); }

void Review::decide(std::span<const std::size_t> indices, const Decision& decision) {
    Step step;
    for (const std::size_t index : indices) {
        if (decisions_.at(index) == decision) continue;
        step.decisions.emplace_back(index, decisions_[index]);
        decisions_[index] = decision;
    }
    if (step.decisions.empty()) return;
    step.shown = step.decisions.front().first;
    undo_.push_back(std::move(step));
    redo_.clear();
}

std::size_t Review::exchange(std::vector<Step>& from, std::vector<Step>& to) {
    Step step = std::move(from.back());
    from.pop_back();
    for (auto& [index, decision] : step.decisions) std::swap(decisions_[index], decision);
    if (step.masks) std::swap(masks_, *step.masks);
    to.push_back(std::move(step));
    return to.back().shown;
}

// --- masks -----------------------------------------------------------------------------------------------------------

MaskPosition Review::position_of(std::size_t index, std::size_t image) const {
    const Case& of = *run_->cases[index];
    return {of.entry, pattern_of(of, run_->results[index].criteria.at(image))};
}

// Returns true if the criteria of an image are those of a device that has a mask of its own.
bool Review::has_own_mask(std::size_t index, std::size_t image) const {
    const Case& of = *run_->cases[index];
    const Criteria* criteria = run_->results[index].criteria.at(image);
    const auto differs = [criteria](const Criteria& all) {
        return criteria != &all && belongs_to(criteria, all) && criteria->mask.rectangles != all.mask.rectangles;
    };
    const std::vector<ImagePattern>* patterns = nullptr;
    if (const auto* command = std::get_if<CommandCase>(&of.work)) patterns = &command->images;
    if (const auto* files = std::get_if<FilesCase>(&of.work)) patterns = &files->images;
    if (const auto* folders = std::get_if<FoldersCase>(&of.work)) patterns = &folders->images;
    return differs(of.criteria) ||
           (patterns != nullptr && std::ranges::any_of(*patterns, differs, &ImagePattern::criteria));
}

Criteria Review::criteria(std::size_t index, std::size_t image) const {
    Criteria out = *run_->results[index].criteria.at(image);
    const auto changed = masks_.find(position_of(index, image));
    if (changed != masks_.end()) out.mask.rectangles = changed->second;
    return out;
}

std::vector<std::string> Review::cases_of_mask(std::size_t index, std::size_t image) const {
    std::vector<std::string> names;
    for (const Case& each : run_->suite.cases)
        if (each.entry == position_of(index, image).entry) names.push_back(each.name);
    return names;
}

void Review::set_mask(std::size_t index, std::size_t image, std::vector<Region> rectangles) {
    const Criteria now = criteria(index, image);
    if (now.mask.file)
        refuse_mask(now, "the mask is the image " + now.mask.file->filename().string(), "Edit that image.");
    if (now.mask.alpha)
        refuse_mask(now, "the mask is the alpha of images, which rectangles would replace",
                    "Edit the suite if rectangles are better.");
    if (has_own_mask(index, image))
        refuse_mask(now, "the mask belongs to 'devices'",
                    "Insert \"mask\": " + mask_text(rectangles) + " into the suite.");
    if (now.mask.rectangles == rectangles) return;
    const MaskPosition position = position_of(index, image);
    for (std::size_t i = 0; i < run_->results.size(); ++i) {
        const Result& result = run_->results[i];
        for (std::size_t k = 0; k < result.images.size(); ++k) {
            if (position_of(i, k) != position) continue;
            const Extent& extent = result.images[k].extent;
            for (const Region& each : rectangles) {
                if (each.offset.x + each.extent.width <= extent.width &&
                    each.offset.y + each.extent.height <= extent.height)
                    continue;
                refuse_mask(now,
                            fmt::format("the rectangle {} reaches beyond an image of case '{}' with the same mask, "
                                        "which is {}",
                                        mask_text({each}), run_->cases[i]->name, to_string(extent)),
                            "Draw a rectangle that all these images contain, or edit the suite.");
            }
        }
    }
    (void)with_mask(run_->text, position.entry, position.pattern, rectangles);  // throws if it cannot be written
    undo_.push_back({{}, masks_, index});
    redo_.clear();
    masks_[position] = std::move(rectangles);
    if (masks_[position] == run_->results[index].criteria[image]->mask.rectangles) masks_.erase(position);
}

// --- applying --------------------------------------------------------------------------------------------------------

RejectedCases Review::rejected() const {
    RejectedCases out = kept_;
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
        const std::string& name = run_->cases[i]->name;
        if (decisions_[i].verdict != Verdict::rejected) {
            out.erase(name);
        } else if (!out.contains(name) || out[name].note != decisions_[i].note) {
            out[name] = {decisions_[i].note, run_->results[i].message};
        }
    }
    return out;
}

bool Review::has_changes() const { return count(Verdict::approved) > 0 || !masks_.empty() || rejected() != notes_; }

Review::Changes Review::changes() const {
    Changes out;
    for (std::size_t i = 0; i < decisions_.size(); ++i)
        if (decisions_[i].verdict == Verdict::approved) out.approved.push_back(i);
    if (run_->is_complete) out.unused = unused_references(run_->suite);
    out.masks = masks_.size();
    out.notes = rejected() != notes_;
    return out;
}

Review::Writing Review::prepare(bool removes_unused) const {
    Writing out{.run = run_, .changes = changes(), .suite = run_->text, .notes = rejected()};
    if (!removes_unused) out.changes.unused.clear();
    for (const auto& [position, rectangles] : masks_)
        out.suite = with_mask(out.suite, position.entry, position.pattern, rectangles);
    return out;
}

void Review::write(const Writing& writing) {
    const SuiteRun& run = *writing.run;
    const Changes& changes = writing.changes;
    if (changes.masks > 0 && text_of(run.options.suite) != run.text)
        throw Error({.code = ErrorCode::io,
                     .object = "texton::verify",
                     .problem = fmt::format("{} was changed after it was run", run.options.suite.string()),
                     .remedy = "Run the suite again, and draw the masks again."});
    write_update(run.suite, run.device, run.options.variant, run.cases, run.results,
                 {.changed = changes.approved, .unused = changes.unused});
    if (changes.masks > 0) detail::write_file("texton::verify", run.options.suite, writing.suite);
    if (changes.notes) write_notes(notes_path(run.options.suite), writing.notes);
}

void Review::finish(const Writing& writing) {
    notes_ = kept_ = writing.notes;
    masks_.clear();
    undo_.clear();
    redo_.clear();
    for (const std::size_t i : writing.changes.approved) {
        std::erase(groups_[number_of_group_[i]], i);
        decisions_[i] = {};
    }
    std::erase_if(groups_, [](const auto& group) { return group.empty(); });
    number_groups();
}

std::string exceeded_limits(const Result& result, std::size_t image, const Criteria& criteria) {
    const ImageDifference difference =
        difference_of(result.reference->images.at(image), result.images.at(image), criteria);
    if (difference.exceeded.empty()) return {};
    return fmt::format("{} of {} texels differ: {}", difference.comparison.all.differing, difference.texels,
                       difference.exceeded);
}

}  // namespace texton::verify
