// The images of the current case have paths "review:/RUN/CASE/IMAGE/ROLE/NAME", which name no files: a function makes
// them. So the session tells which case is shown, also after an undo.
#include "viewer/gui/suite_review.h"

#include <QPointer>
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/end_on_signals.h"
#include "viewer/text/error_text.h"
#include "viewer/verify/suite_text.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;
using verify::HostImage;
using verify::ImagePair;
using verify::Verdict;

constexpr const char* kRunTag = "review";
constexpr const char* kMaskTag = "review mask";
constexpr const char* kOutlines = "mask";
const QColor kMaskColor(255, 140, 60);

enum class Role : std::uint8_t { reference, result, flip_map };

// What the path of an image names.
struct MadeImage {
    int run = 0;
    std::size_t index = 0;
    std::size_t image = 0;
    Role role = Role::result;
};

Source source_of(const MadeImage& image, const std::string& name_of_case) {
    static constexpr const char* kRoles[] = {"reference", "result", "FLIP map"};
    std::string name = fmt::format("{} {}", name_of_case, kRoles[static_cast<std::size_t>(image.role)]);
    std::ranges::replace(name, '/', ':');  // the last part of a path is its title
    return {.paths = {fmt::format("{}/{}/{}/{}/{}/{}", Workspace::kMadeImages, image.run, image.index, image.image,
                                  static_cast<int>(image.role), name)}};
}

std::optional<MadeImage> made_image(const Source& source) {
    if (!Workspace::is_made(source)) return {};
    const QStringList parts = QString::fromStdString(source.paths.front().string()).split('/');
    if (parts.size() < 5) return {};
    return MadeImage{parts[1].toInt(), parts[2].toULongLong(), parts[3].toULongLong(),
                     static_cast<Role>(std::clamp(parts[4].toInt(), 0, 2))};
}

std::shared_ptr<const Document> document_of(const HostImage& image, const Device& device, const std::string& title) {
    verify::HostArray array;
    array.info = {.format = image.format,
                  .extent = image.extent,
                  .kind = image.extent.depth > 1 ? ArrayKind::array_3d : ArrayKind::array_2d};
    array.levels = {image};
    return Document::of(verify::upload(device, array), title);
}

std::shared_ptr<const Document> make_document(const verify::SuiteRun& run, int number, const Source& source,
                                              const Device& device) {
    const std::optional<MadeImage> made = made_image(source);
    if (!made || made->run != number)
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = "the image belongs to an earlier run of the suite",
                     .remedy = "Choose a case in the panel Review."});
    const ImagePair pair = verify::image_pairs(run.results.at(made->index)).at(made->image);
    const std::string title = source.paths.front().filename().string();
    switch (made->role) {
        case Role::reference: return document_of(*pair.expected, device, title);
        case Role::result: return document_of(*pair.actual, device, title);
        case Role::flip_map: break;
    }
    return document_of(verify::flip_map(*pair.expected, *pair.actual), device, title);
}

// Commands do not receive the signals of the terminal, and their folders must be removed. Therefore a signal that ends
// the program stops them first.
void run_suite(verify::SuiteRun& run, const verify::RunOptions& options, std::stop_source stop, bool has_commands) {
    if (!has_commands) return run.run(options);
    const StopOnSignals signals;
    const std::stop_callback both(signals.token(), [&stop] { stop.request_stop(); });
    run.run(options);
    StopOnSignals::end_if_stopped();
}

bool have_same_shape(const ImagePair& pair) {
    return pair.expected != nullptr && pair.actual != nullptr && pair.expected->format == pair.actual->format &&
           pair.expected->extent == pair.actual->extent;
}

QString text(const std::exception& error) { return QString::fromStdString(error_text(error)); }

bool overlap(const Region& a, const TexelBox& b) {
    return a.offset.x < b.x + b.width && b.x < a.offset.x + a.extent.width && a.offset.y < b.y + b.height &&
           b.y < a.offset.y + a.extent.height;
}

}  // namespace

SuiteReview::SuiteReview(Workspace& workspace, const verify::ReviewOptions& options)
    : workspace_(workspace), options_(options) {
    workspace_.set_review(this);
    connect(&workspace_, &Workspace::changed, this, &SuiteReview::follow_session);
    connect(&workspace_, &Workspace::documents_changed, this, &SuiteReview::show_mask);
    start(std::make_shared<verify::SuiteRun>(options_, workspace_.device()));
}

SuiteReview::~SuiteReview() {
    stop_.request_stop();
    workspace_.set_review(nullptr);
}

// --- running ---------------------------------------------------------------------------------------------------------

void SuiteReview::run_again() {
    if (is_busy()) return;
    try {
        start(std::make_shared<verify::SuiteRun>(options_, workspace_.device()));
    } catch (const std::exception& error) {
        Q_EMIT failed(text(error));
    }
}

void SuiteReview::cancel() {
    if (!running_) return;
    canceled_ = true;
    stop_.request_stop();
}

void SuiteReview::start(std::shared_ptr<verify::SuiteRun> run) {
    running_ = std::move(run);
    stop_ = std::stop_source();
    done_ = 0;
    canceled_ = false;
    workspace_.set_notice({tr("Running %1").arg(QString::fromStdString(options_.suite.filename().string())), {}});
    const QPointer<SuiteReview> self(this);
    const auto done = [self](std::size_t) {
        QMetaObject::invokeMethod(
            self,
            [self] {
                if (!self || !self->running_) return;
                const auto cases = static_cast<double>(std::max<std::size_t>(1, self->running_->cases.size()));
                Q_EMIT self->workspace_.progressed(static_cast<double>(++self->done_) / cases, tr("Running cases"));
                Q_EMIT self->changed();
            },
            Qt::QueuedConnection);
    };
    const bool has_commands = options_.commands == verify::Commands::allowed;
    workspace_.jobs().start(
        kRunTag, [self, run = running_, done, stop = stop_, has_commands](const CancellationToken&) -> Jobs::Finish {
            QString why;
            try {
                run_suite(*run, {.done = done, .stop = stop.get_token()}, stop, has_commands);
            } catch (const std::exception& error) {
                why = text(error);
            }
            return [self, run, why] {
                if (!self || self->running_ != run) return;
                self->running_.reset();
                Q_EMIT self->workspace_.progressed(-1, {});
                try {
                    self->show_results(run);
                } catch (const std::exception& error) {
                    Q_EMIT self->failed(text(error));
                }
                if (!why.isEmpty()) Q_EMIT self->failed(why);
            };
        });
    Q_EMIT changed();
}

void SuiteReview::show_results(std::shared_ptr<const verify::SuiteRun> run) {
    const std::string shown = current_ && review_ ? review_->run().cases[*current_]->name : "";
    current_.reset();
    images_.clear();
    undo_.clear();
    redo_.clear();
    review_ = std::make_unique<verify::Review>(run);
    const int number = ++number_;
    workspace_.make_images_by([run, number](const Source& source, const Device& device) {
        return make_document(*run, number, source, device);
    });
    const std::vector<std::size_t> indices = order();
    if (indices.empty())
        return show_none(canceled_ ? tr("No completed case fails") : tr("No case fails"),
                         tr("%1 cases were run.").arg(run->cases.size()));
    const auto again =
        std::ranges::find_if(indices, [&](std::size_t index) { return run->cases[index]->name == shown; });
    show(again != indices.end() ? *again : indices.front());
}

void SuiteReview::show_none(const QString& headline, const QString& details) {
    current_.reset();
    images_.clear();
    mask_note_.clear();
    workspace_.look([](Session& session) {
        session.images.clear();
        session.reference.reset();
    });
    workspace_.set_notice({headline, details});
    show_mask();
    Q_EMIT changed();
}

// Shows the case that follows the current one in `before`, if the current one is not in the list any more.
void SuiteReview::show_rest(const std::vector<std::size_t>& before) {
    const std::vector<std::size_t> rest = order();
    if (rest.empty())
        return show_none(tr("No failing case is left"), tr("The approved results are the references now."));
    const auto is_left = [&](std::size_t index) { return std::ranges::find(rest, index) != rest.end(); };
    const auto at = std::ranges::find(before, current_.value_or(before.front()));
    const auto next = std::find_if(at, before.end(), is_left);
    show(next != before.end() ? *next : rest.front());
    Q_EMIT changed();
}

QString SuiteReview::status() const {
    const QString name = QString::fromStdString(options_.suite.filename().string());
    if (running_) return tr("%1: %2 of %3 cases were run").arg(name).arg(done_).arg(running_->cases.size());
    if (!review_) return name;
    std::size_t failing = 0;
    for (const auto& group : review_->groups()) failing += group.size();
    QString out = tr("%1: %2 of %3 cases fail").arg(name).arg(failing).arg(review_->run().cases.size());
    if (canceled_) out += tr(" (canceled)");
    if (const std::size_t n = review_->count(Verdict::approved)) out += tr(", %1 approved").arg(n);
    if (const std::size_t n = review_->count(Verdict::rejected)) out += tr(", %1 rejected").arg(n);
    if (const std::size_t n = review_->changed_masks())
        out += n == 1 ? tr(", 1 mask changed") : tr(", %1 masks changed").arg(n);
    return out;
}

// --- the current case ------------------------------------------------------------------------------------------------

std::vector<std::size_t> SuiteReview::order() const {
    std::vector<std::size_t> out;
    if (!review_) return out;
    for (const auto& group : review_->groups()) out.insert(out.end(), group.begin(), group.end());
    return out;
}

const ImagePair* SuiteReview::pair() const { return image_ < images_.size() ? &images_[image_] : nullptr; }

void SuiteReview::show(std::size_t index) {
    if (current_ == index) return;
    const std::vector<ImagePair> images = verify::image_pairs(review_->run().results.at(index));
    set_current(index, images.empty() ? 0 : verify::worst_pair(review_->run().results[index], images));
    show_images();
}

void SuiteReview::show_image(std::size_t image) {
    if (!current_ || image >= images_.size() || image == image_) return;
    set_current(*current_, image);
    show_images();
}

void SuiteReview::set_current(std::size_t index, std::size_t image) {
    if (current_ != index) mask_note_.clear();
    current_ = index;
    images_ = verify::image_pairs(review_->run().results[index]);
    image_ = image;
    worst_ = 0;
}

void SuiteReview::step(int by, bool only_undecided) {
    const std::vector<std::size_t> indices = order();
    if (indices.empty() || !current_) return;
    const auto count = static_cast<std::ptrdiff_t>(indices.size());
    std::ptrdiff_t at = std::ranges::find(indices, *current_) - indices.begin();
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        at = ((at + by) % count + count) % count;
        const std::size_t index = indices[static_cast<std::size_t>(at)];
        if (!only_undecided || review_->decision(index).verdict == Verdict::undecided) return show(index);
    }
}

QString SuiteReview::reason(const verify::Result& result) {
    // The message names an option of `texton verify`.
    if (result.outcome == verify::Outcome::no_reference)
        return tr("The case has no reference. Approve the result to make it the reference.");
    return QString::fromStdString(result.message);
}

// Makes the images of the current case those of the session.
void SuiteReview::show_images() {
    const verify::SuiteRun& run = review_->run();
    const std::string& name = run.cases[*current_]->name;
    const verify::Result& result = run.results[*current_];
    QString details = reason(result);
    if (!result.output.empty()) details += "\n\n" + QString::fromStdString(result.output);
    workspace_.set_notice(
        {tr("%1: %2").arg(QString::fromStdString(name), QString::fromLatin1(verify::name(result.outcome))), details});
    workspace_.look([&](Session& session) {
        const auto shown = workspace_.shown();
        session.images.clear();
        session.reference.reset();
        session.selection.reset();
        session.pins.clear();
        session.kernel = {};
        session.layout = Layout::single;
        const ImagePair* images = pair();
        if (images == nullptr) return;
        const auto add = [&](Role role) {
            session.images.push_back(source_of({number_, *current_, image_, role}, name));
            return session.images.size() - 1;
        };
        if (images->expected != nullptr) session.current = add(Role::reference);
        if (images->expected != nullptr && images->actual != nullptr) session.reference = 0;
        if (images->actual != nullptr) session.current = add(Role::result);
        if (have_same_shape(*images)) add(Role::flip_map);
        const Extent& extent = (images->actual != nullptr ? images->actual : images->expected)->extent;
        session.fits = session.fits || !shown || shown->whole().extent != extent;
        session.subresource = {};
        if (images->image && *images->image < result.comparisons.size()) {
            const std::vector<WorstTexel>& worst = result.comparisons[*images->image].worst;
            if (!worst.empty()) session.subresource.slice = worst.front().at.z;
        }
        apply_view(session);
    });
    workspace_.show_side_by_side(view_ == ReviewView::side_by_side);
    show_mask();
    Q_EMIT changed();
}

// An undo of the session can show the images of another case.
void SuiteReview::follow_session() {
    const Session& session = workspace_.session();
    if (!review_ || session.images.empty()) return;
    const std::optional<MadeImage> made = made_image(session.images.front());
    if (!made || made->run != number_) return;
    if (current_ != made->index || image_ != made->image) {
        set_current(made->index, made->image);
        Q_EMIT changed();
    }
    show_mask();
}

void SuiteReview::set_view(ReviewView view) {
    view_ = view;
    workspace_.look([this](Session& session) { apply_view(session); });
    workspace_.show_side_by_side(view == ReviewView::side_by_side);
    Q_EMIT changed();
}

// Images of different sizes or formats can be compared by eye only.
void SuiteReview::apply_view(Session& session) const {
    const ImagePair* images = pair();
    session.compare.against = Against::reference;
    session.compare.mode = CompareMode::none;
    if (images == nullptr || images->expected == nullptr || images->actual == nullptr) return;
    session.reference = 0;
    session.current = 1;
    switch (view_) {
        case ReviewView::side_by_side:
        case ReviewView::flip: return;
        case ReviewView::wipe: session.compare.mode = CompareMode::wipe; return;
        case ReviewView::difference:
            if (have_same_shape(*images)) session.compare.mode = CompareMode::absolute;
            return;
        case ReviewView::ulp_map:
            if (have_same_shape(*images)) session.compare.mode = CompareMode::ulp;
            return;
        case ReviewView::flip_map:
            if (have_same_shape(*images)) session.current = 2;
            return;
    }
}

void SuiteReview::flip() {
    if (view_ != ReviewView::flip) return set_view(ReviewView::flip);
    workspace_.look([](Session& session) {
        if (session.reference) session.current = session.current == *session.reference ? 1 : *session.reference;
    });
}

void SuiteReview::show_worst() {
    constexpr double kSeenWell = 16;  // pixels per texel
    const ImagePair* images = pair();
    const auto& comparisons = current_ ? review_->run().results[*current_].comparisons : std::vector<Comparison>();
    if (images == nullptr || !images->image || *images->image >= comparisons.size() ||
        comparisons[*images->image].worst.empty()) {
        Q_EMIT failed(tr("No texel of the image differs, or the images cannot be compared."));
        return;
    }
    const std::vector<WorstTexel>& worst = comparisons[*images->image].worst;
    const Offset at = worst[worst_++ % worst.size()].at;
    workspace_.change(tr("Show the worst texel"), [&](Session& session) {
        session.subresource.slice = at.z;
        session.pins = {{static_cast<double>(at.x) + 0.5, static_cast<double>(at.y) + 0.5}};
        session.view = {std::max(session.view.zoom, kSeenWell), session.pins.front()};
        session.fits = false;
    });
}

// --- decisions -------------------------------------------------------------------------------------------------------

void SuiteReview::decided() {
    undo_.push_back(workspace_.history().steps());
    redo_.clear();
    Q_EMIT changed();
}

void SuiteReview::approve(bool group) {
    if (is_busy() || !current_) return;
    const std::vector<std::size_t> one{*current_};
    const std::span<const std::size_t> all = group ? review_->group_of(*current_) : std::span(one);
    if (!review_->is_approvable(*current_)) {
        Q_EMIT failed(verify::has_references(*review_->run().cases[*current_])
                          ? tr("The case has no images, so there is nothing to approve.")
                          : tr("A case of two folders has no references, so there is nothing to approve."));
        return;
    }
    if (std::ranges::any_of(all, [this](std::size_t i) {
            return review_->decision(i).verdict != Verdict::approved && review_->is_approvable(i);
        })) {
        review_->approve(all);
        decided();
    }
    step(1, true);
}

void SuiteReview::reject(bool group) {
    if (is_busy() || !current_) return;
    const std::string note = review_->decision(*current_).note;
    const std::vector<std::size_t> one{*current_};
    const std::span<const std::size_t> all = group ? review_->group_of(*current_) : std::span(one);
    const verify::Decision rejected{Verdict::rejected, note};
    if (std::ranges::all_of(all, [&](std::size_t i) { return review_->decision(i) == rejected; })) return;
    review_->reject(all, note);
    decided();
}

void SuiteReview::set_note(const QString& note) {
    if (is_busy() || !current_) return;
    const verify::Decision next{Verdict::rejected, note.toStdString()};
    if (review_->decision(*current_) == next) return;
    review_->reject(std::vector{*current_}, next.note);
    decided();
}

void SuiteReview::reopen() {
    if (is_busy() || !current_ || review_->decision(*current_).verdict == Verdict::undecided) return;
    review_->reopen(std::vector{*current_});
    decided();
}

bool SuiteReview::undoes_next() const {
    return !is_busy() && !undo_.empty() && workspace_.history().steps() <= undo_.back();
}

bool SuiteReview::redoes_next() const {
    return !is_busy() && !redo_.empty() && redo_.back() <= workspace_.history().steps();
}

void SuiteReview::undo() {
    if (!undoes_next()) return;
    redo_.push_back(undo_.back());
    undo_.pop_back();
    show(review_->undo());
    judge_mask();
    Q_EMIT changed();
}

void SuiteReview::redo() {
    if (!redoes_next()) return;
    undo_.push_back(redo_.back());
    redo_.pop_back();
    show(review_->redo());
    judge_mask();
    Q_EMIT changed();
}

// --- masks -----------------------------------------------------------------------------------------------------------

void SuiteReview::mask_selection() {
    const std::optional<TexelBox> box = workspace_.session().selection;
    if (is_busy() || !current_ || !pair()) return;
    if (!pair()->image) {
        Q_EMIT failed(tr("The case has no result to mask."));
        return;
    }
    if (!box) {
        Q_EMIT failed(tr("No texels are selected. Drag over the image with Shift held."));
        return;
    }
    std::vector<Region> rectangles = review_->criteria(*current_, *pair()->image).mask.rectangles;
    const Region added{{box->x, box->y, 0}, {box->width, box->height, 1}};
    if (std::ranges::find(rectangles, added) == rectangles.end()) {
        rectangles.push_back(added);
        if (!set_mask(std::move(rectangles))) return;
    }
    workspace_.look([](Session& session) { session.selection.reset(); });
}

void SuiteReview::unmask() {
    if (is_busy() || !current_ || !pair() || !pair()->image) return;
    std::optional<TexelBox> box = workspace_.session().selection;
    if (!box) {
        const std::optional<SeenTexel> texel = workspace_.pointed();
        if (texel && texel->at.x >= 0 && texel->at.y >= 0)
            box = TexelBox{static_cast<std::size_t>(texel->at.x), static_cast<std::size_t>(texel->at.y), 1, 1};
    }
    std::vector<Region> rectangles = review_->criteria(*current_, *pair()->image).mask.rectangles;
    const auto removed = box ? std::erase_if(rectangles, [&](const Region& each) { return overlap(each, *box); }) : 0;
    if (removed == 0) {
        Q_EMIT failed(tr("No rectangle of the mask is here. Point at one, or select a part of it."));
        return;
    }
    if (set_mask(std::move(rectangles))) workspace_.look([](Session& session) { session.selection.reset(); });
}

bool SuiteReview::set_mask(std::vector<Region> rectangles) {
    try {
        review_->set_mask(*current_, *pair()->image, std::move(rectangles));
    } catch (const std::exception& error) {
        Q_EMIT failed(text(error));
        return false;
    }
    decided();
    judge_mask();
    return true;
}

QString SuiteReview::mask_text() const {
    if (!current_ || !pair() || !pair()->image) return {};
    const std::vector<Region> rectangles = review_->criteria(*current_, *pair()->image).mask.rectangles;
    return QString("\"mask\": %1").arg(QString::fromStdString(verify::mask_text(rectangles)));
}

// Outlines the rectangles of the mask on the canvas.
void SuiteReview::show_mask() {
    std::vector<Outline> outlines;
    const auto shown = workspace_.shown();
    if (current_ && pair() && pair()->image && shown) {
        const SubresourceIndex subresource = shown->in_array(shown->clamped(workspace_.session().subresource));
        const double side = workspace_.texel_side();
        for (const Region& each : review_->criteria(*current_, *pair()->image).mask.rectangles)
            outlines.push_back({subresource, static_cast<double>(each.offset.x) / side,
                                static_cast<double>(each.offset.y) / side,
                                static_cast<double>(each.extent.width) / side,
                                static_cast<double>(each.extent.height) / side, kMaskColor, tr("mask")});
    }
    workspace_.outline(kOutlines, std::move(outlines));
}

// Compares the images of the current case again, with the masks that were edited.
void SuiteReview::judge_mask() {
    show_mask();
    mask_note_.clear();
    if (!current_ || review_->changed_masks() == 0) return;
    const std::size_t index = *current_;
    if (review_->run().results[index].comparisons.empty()) return;
    std::vector<verify::Criteria> criteria;
    for (std::size_t k = 0; k < review_->run().results[index].images.size(); ++k)
        criteria.push_back(review_->criteria(index, k));
    const std::size_t sharing = pair()->image ? review_->cases_of_mask(index, *pair()->image).size() : 1;
    const QPointer<SuiteReview> self(this);
    const auto judge = [self, index, sharing, criteria, run = review_->shared_run()]() -> Jobs::Finish {
        const verify::Result& result = run->results[index];
        QString note = tr("With the mask, the case passes.");
        try {
            for (std::size_t k = 0; k < criteria.size(); ++k) {
                const std::string exceeded = verify::exceeded_limits(result, k, criteria[k]);
                if (exceeded.empty()) continue;
                note = tr("With the mask: %1").arg(QString::fromStdString(exceeded));
                break;
            }
        } catch (const std::exception& error) {
            note = text(error);
        }
        if (sharing > 1) note += tr(" The mask belongs to %1 cases of a matrix.").arg(sharing);
        return [self, index, note] {
            if (!self || self->current_ != index) return;
            self->mask_note_ = note;
            Q_EMIT self->changed();
        };
    };
    workspace_.jobs().start(kMaskTag, [judge](const CancellationToken&) { return judge(); });
}

// --- applying --------------------------------------------------------------------------------------------------------

void SuiteReview::apply(bool removes_unused) {
    if (is_busy() || !review_) return;
    const verify::Review::Writing writing = review_->prepare(removes_unused);
    writes_ = true;
    const QPointer<SuiteReview> self(this);
    workspace_.jobs().start(kRunTag, [self, writing](const CancellationToken&) -> Jobs::Finish {
        QString why;
        try {
            verify::Review::write(writing);
        } catch (const std::exception& error) {
            why = text(error);
        }
        return [self, writing, why] {
            if (!self) return;
            self->writes_ = false;
            if (!why.isEmpty()) {
                Q_EMIT self->changed();
                Q_EMIT self->failed(why);
                return;
            }
            const std::vector<std::size_t> before = self->order();
            self->review_->finish(writing);
            self->undo_.clear();
            self->redo_.clear();
            self->mask_note_.clear();
            self->workspace_.tell(tr("The decisions were written."));
            if (writing.changes.masks > 0) return self->run_again();
            self->show_rest(before);
        };
    });
    Q_EMIT changed();
}

}  // namespace texton::viewer
