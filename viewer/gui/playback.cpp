#include "viewer/gui/playback.h"

#include <QPointer>
#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "viewer/model/frames.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "play ";
constexpr std::size_t kMaxAhead = 16;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;  // of the frames that are loaded ahead

std::string tag_of(std::size_t step) { return kTag + std::to_string(step % kMaxAhead); }

std::size_t bytes_of(const Document& document) {
    return packed_bytes(document.info()) + (document.is_planar() ? packed_bytes(document.info(1)) : 0);
}

}  // namespace

Playback::Playback(Workspace& workspace, QObject* parent) : QObject(parent), workspace_(workspace) {
    timer_.setSingleShot(true);
    timer_.setTimerType(Qt::PreciseTimer);
    connect(&timer_, &QTimer::timeout, this, &Playback::tick);
    connect(&workspace_, &Workspace::documents_changed, this, [this] {
        if (runs_ && !timer_.isActive()) tick();
    });
}

Playback::~Playback() = default;

// Images whose frames are not known yet are not played.
Playback::Sources Playback::played() const {
    const Session& session = workspace_.session();
    Sources out;
    const auto add = [&](std::size_t index) {
        const auto document = workspace_.document(index);
        if (document && document->frames() > 1 && document->live_frame() == 0)
            out.emplace_back(index, session.images[index]);
    };
    if (session.images.empty()) return out;
    add(session.current);
    if (!out.empty() && session.reference && *session.reference != session.current) add(*session.reference);
    return out;
}

Playback::Sources Playback::at(std::size_t step) const {
    Sources out = first_;
    for (std::size_t i = 0; i < out.size(); ++i)
        set_frame(out[i].second, (frame_of(first_[i].second) + step) % counts_[i]);
    return out;
}

std::vector<PlaybackAxis> Playback::axes() const {
    std::vector<PlaybackAxis> out;
    if (workspace_.frames() > 1) out.push_back(PlaybackAxis::frames);
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (!shown) return out;
    const SubresourceIndex at = shown->clamped(workspace_.session().subresource);
    const ArrayInfo& array = shown->whole(at.plane);
    if (array.kind == ArrayKind::array_3d && level_extent(array, at.level).depth > 1)
        out.push_back(PlaybackAxis::slices);
    if (is_layered(array.kind) && array.layers > 1) out.push_back(PlaybackAxis::layers);
    if (is_cube(array.kind)) out.push_back(PlaybackAxis::faces);
    if (array.levels > 1) out.push_back(PlaybackAxis::levels);
    return out;
}

std::optional<PlaybackAxis> Playback::axis() const {
    const std::vector<PlaybackAxis> all = axes();
    if (all.empty()) return std::nullopt;
    return chosen_ && std::ranges::find(all, *chosen_) != all.end() ? *chosen_ : all.front();
}

void Playback::choose(PlaybackAxis axis) {
    chosen_ = axis;
    if (runs_) restart();
}

void Playback::start(double frames_per_second) {
    runs_ = true;
    shown_ = late_ = 0;
    clock_.start();
    set_rate(frames_per_second);
    restart();
    Q_EMIT counted();
}

void Playback::set_rate(double frames_per_second) {
    period_ = 1000 / frames_per_second;
    if (!runs_) return;
    due_ = now() + period_;
    timer_.start(static_cast<int>(std::ceil(period_)));
}

void Playback::stop() {
    runs_ = false;
    timer_.stop();
    ++run_;
    for (const std::size_t step : loading_) workspace_.jobs().drop(tag_of(step));
    loading_.clear();
    ready_.clear();
}

// Begins at the frames or the subresource that are shown now.
void Playback::restart() {
    ++run_;
    for (const std::size_t step : loading_) workspace_.jobs().drop(tag_of(step));
    loading_.clear();
    ready_.clear();
    step_ = 0;
    first_ = seen_ = axis() == PlaybackAxis::frames ? played() : Sources{};
    counts_.clear();
    for (const auto& [index, source] : seen_) counts_.push_back(workspace_.document(index)->frames());
    due_ = now() + period_;
    timer_.start(static_cast<int>(std::ceil(period_)));
    load_ahead();
}

void Playback::load_ahead() {
    if (seen_.empty()) return;
    std::size_t bytes = 1;
    for (const auto& [index, source] : seen_)
        if (const auto document = workspace_.document(index)) bytes += bytes_of(*document);
    const std::size_t cores = std::max(2u, std::thread::hardware_concurrency());
    const std::size_t ahead = std::clamp<std::size_t>(kMaxBytes / bytes, 1, std::min(cores, kMaxAhead));
    for (std::size_t step = step_ + 1; step <= step_ + ahead; ++step) {
        if (!ready_.contains(step) && !loading_.contains(step)) load(step);
    }
}

void Playback::load(std::size_t step) {
    loading_.insert(step);
    const QPointer<Playback> self(this);
    const Sources sources = at(step);
    workspace_.jobs().start(tag_of(step),
                            [self, sources, step, run = run_,
                             device = workspace_.device()](const CancellationToken& token) -> Jobs::Finish {
                                Frames frames;
                                QString problem;
                                try {
                                    for (const auto& [index, source] : sources)
                                        frames.push_back(Document::open(source, device, [&token](const ImageProgress&) {
                                            return !token.canceled();
                                        }));
                                } catch (const std::exception& error) {
                                    problem = QString::fromStdString(error_text(error));
                                }
                                return [self, step, run, frames, problem] {
                                    if (!self || self->run_ != run) return;
                                    self->loading_.erase(step);
                                    // An empty list stands for frames that cannot be loaded.
                                    if (!problem.isEmpty()) self->workspace_.tell(problem);
                                    self->ready_[step] = problem.isEmpty() ? frames : Frames{};
                                    if (!self->timer_.isActive()) self->tick();
                                };
                            });
}

void Playback::tick() {
    if (!runs_) return;
    const std::optional<PlaybackAxis> along = axis();
    if (along && *along != PlaybackAxis::frames) return show_next_part(*along);
    if (along) return show_next_frame();
    if (workspace_.is_loading(workspace_.session().current)) return;  // continues when the image is loaded
    stop();
    Q_EMIT ended();
}

// Returns false if the next one is due. Otherwise starts the timer.
bool Playback::is_waiting() {
    const double wait = due_ - now();
    if (wait > 0.5) timer_.start(static_cast<int>(std::lround(wait)));
    return wait > 0.5;
}

// Sets the time of the one after the next. Returns whether the next one is late.
bool Playback::count_if_late() {
    const double time = now();
    const bool is_late = time > due_ + period_ / 2;
    due_ = (is_late ? time : due_) + period_;
    return is_late;
}

void Playback::show_next_part(PlaybackAxis along) {
    if (is_waiting()) return;
    const std::shared_ptr<const Document> shown = workspace_.shown();
    SubresourceIndex next = shown->clamped(workspace_.session().subresource);
    const ArrayInfo& array = shown->whole(next.plane);
    switch (along) {
        case PlaybackAxis::frames: break;
        case PlaybackAxis::slices: next.slice = (next.slice + 1) % level_extent(array, next.level).depth; break;
        case PlaybackAxis::layers: next.layer = (next.layer + 1) % array.layers; break;
        case PlaybackAxis::faces: next.face = (next.face + 1) % 6; break;
        case PlaybackAxis::levels: next.level = (next.level + 1) % array.levels; break;
    }
    late_ += count_if_late();
    ++shown_;
    workspace_.look([&](Session& session) { session.subresource = next; });
    if (!runs_) return;  // a listener of the workspace stopped it
    timer_.start(std::max(0, static_cast<int>(std::lround(due_ - now()))));
    Q_EMIT counted();
}

void Playback::show_next_frame() {
    if (seen_.empty() || played() != seen_) {
        // The user chose another frame or image, or it is still loading.
        if (!workspace_.is_loading(workspace_.session().current)) restart();
        return;
    }
    if (is_waiting()) return;
    const auto next = ready_.find(step_ + 1);
    if (next == ready_.end()) return load_ahead();  // the job continues here
    const Frames frames = std::move(next->second);
    ready_.erase(next);
    const bool is_late = count_if_late();
    ++step_;
    if (!frames.empty()) {
        seen_ = at(step_);
        ++shown_;
        late_ += is_late;
        show(frames);
    }
    if (!runs_) return;  // a listener of the workspace stopped it
    load_ahead();
    timer_.start(std::max(0, static_cast<int>(std::lround(due_ - now()))));
    Q_EMIT counted();
}

void Playback::show(const Frames& frames) {
    std::vector<std::pair<std::size_t, std::shared_ptr<const Document>>> images;
    for (std::size_t i = 0; i < frames.size(); ++i) images.emplace_back(seen_[i].first, frames[i]);
    workspace_.show_loaded(images);
}

}  // namespace texton::viewer
