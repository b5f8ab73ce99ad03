#include "viewer/gui/workspace.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QPointer>
#include <algorithm>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "viewer/gui/annotation_tool.h"
#include "viewer/model/frames.h"
#include "viewer/model/image_parts.h"
#include "viewer/model/kernel_result.h"
#include "viewer/model/streamed_image.h"
#include "viewer/render/image_list.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kKernelTag = "kernel";
constexpr const char* kExportTag = "export";
constexpr int kThreadsForFiles = 2;  // additional threads, as threads that read files mostly wait

QString text(const std::exception& error) { return QString::fromStdString(error_text(error)); }

// Begin of the keys of images on a device.
std::string key_begin(const Device& device) {
    return fmt::format("{} {} ", device.kind() == DeviceKind::cpu ? "cpu" : "cuda", device.index());
}

std::string loading_tag(const std::string& key) { return "load " + key; }

// Returns a callback that reports each percent once, on the GUI thread, and stops the operation after cancellation.
OnImageProgress telling(const QPointer<Workspace>& workspace, const QString& what, const CancellationToken& token) {
    return [workspace, what, token, percent = -1](const ImageProgress& progress) mutable {
        const double share =
            static_cast<double>(progress.done) / static_cast<double>(std::max<std::size_t>(progress.total, 1));
        if (static_cast<int>(share * 100) != percent) {
            percent = static_cast<int>(share * 100);
            QMetaObject::invokeMethod(
                workspace,
                [workspace, share, what, token] {
                    if (workspace && !token.canceled()) Q_EMIT workspace->progressed(share, what);
                },
                Qt::QueuedConnection);
        }
        return !token.canceled();
    };
}

}  // namespace

// Passes changes of streamed images from their threads to the workspace, as long as it exists. Changes before the GUI
// thread has seen the last one are one change.
struct Workspace::Arrivals {
    std::mutex mutex;
    Workspace* workspace = nullptr;
    bool is_posted = false;

    void post() {
        const std::lock_guard lock(mutex);
        if (workspace == nullptr || is_posted) return;
        is_posted = true;
        QMetaObject::invokeMethod(
            workspace,
            [workspace = workspace, this] {
                {
                    const std::lock_guard seen(mutex);
                    is_posted = false;
                }
                Q_EMIT workspace->texels_arrived();
            },
            Qt::QueuedConnection);
    }
};

Workspace::Workspace(const Session& session, const ImageMemory& memory, QObject* parent)
    : QObject(parent),
      session_(session),
      device_(device_named(session.device)),
      memory_(memory),
      arrivals_(std::make_shared<Arrivals>()),
      annotation_tool_(new AnnotationTool(*this)),
      jobs_(std::make_unique<Jobs>(
          static_cast<int>(std::max(2u, std::thread::hardware_concurrency())) + kThreadsForFiles,
          [this](std::function<void()> finish) {
              QMetaObject::invokeMethod(
                  this, [finish = std::move(finish)] { finish(); }, Qt::QueuedConnection);
          },
          [this](const std::string&, const std::string& why) { tell(QString::fromStdString(why)); })) {
    arrivals_->workspace = this;
    load_missing();
}

Workspace::~Workspace() {
    {
        const std::lock_guard lock(arrivals_->mutex);
        arrivals_->workspace = nullptr;
    }
    jobs_.reset();
}

// --- session ---------------------------------------------------------------------------------------------------------

void Workspace::change(const QString& what, const std::function<void(Session&)>& edit, const QString& tag) {
    Session next = session_;
    edit(next);
    if (next == session_) return;
    history_.add(what.toStdString(), session_, tag.toStdString());
    set_session(std::move(next));
}

void Workspace::look(const std::function<void(Session&)>& edit) {
    Session next = session_;
    edit(next);
    if (next != session_) set_session(std::move(next));
}

void Workspace::replace(const QString& what, const Session& session) {
    change(what, [&](Session& now) { now = session; });
}

void Workspace::undo() {
    if (history_.can_undo()) set_session(history_.undo(session_));
}

void Workspace::redo() {
    if (history_.can_redo()) set_session(history_.redo(session_));
}

void Workspace::set_session(Session next) {
    if (next.current >= next.images.size()) next.current = next.images.empty() ? 0 : next.images.size() - 1;
    if (next.reference && *next.reference >= next.images.size()) next.reference.reset();
    std::erase_if(next.annotations, [&](const Annotation& each) { return each.image >= next.images.size(); });
    if (next.device != session_.device) {
        try {
            device_ = device_named(next.device);
        } catch (const std::exception& error) {
            next.device = session_.device;
            tell(text(error));
        }
    }
    const Session before = std::move(session_);
    session_ = std::move(next);
    if (before.current != session_.current || before.images != session_.images) hovered_.reset();
    load_missing();
    run_kernel();
    Q_EMIT changed(before);
}

// --- documents -------------------------------------------------------------------------------------------------------

std::string Workspace::key_of(const Source& source, const Device& device) {
    Session alone;
    alone.images = {source};
    std::string key = key_begin(device) + to_json(alone);
    // JSON replaces bytes that are not UTF-8, so it does not distinguish all paths.
    for (const std::filesystem::path& path : source.paths) key += path.native() + '\0';
    return key;
}

void Workspace::open(const std::vector<Source>& sources) {
    if (sources.empty()) return;
    change(tr("Open"), [&](Session& session) {
        session.current = session.images.size();
        session.images.insert(session.images.end(), sources.begin(), sources.end());
        session.fits = true;
        session.subresource = {};
        session.pins.clear();
        session.selection.reset();
    });
}

bool Workspace::is_made(const Source& source) {
    return is_live(source) || (!source.paths.empty() && source.paths.front().native().starts_with(kMadeImages));
}

bool Workspace::is_live(const Source& source) {
    return !source.paths.empty() && source.paths.front().native().starts_with(kLiveImages);
}

bool Workspace::is_needed(const Source& source) const {
    return std::ranges::any_of(needed_documents(), [&](const auto& each) { return each.second.first == source; });
}

void Workspace::put(const Source& source, std::shared_ptr<const Document> document) {
    const std::string key = key_of(source, device_);
    jobs_->drop(loading_tag(key));
    std::erase_if(entries_, [&](const auto& each) { return each.second.source == source && each.first != key; });
    entries_[key] = {.source = source, .document = std::move(document)};
    load_missing();
    run_kernel();
    Q_EMIT documents_changed();
}

void Workspace::draw(std::vector<tev::Command> commands) {
    if (commands == drawing_) return;
    drawing_ = std::move(commands);
    Q_EMIT outlines_changed();
}

void Workspace::set_notice(const Notice& notice) {
    notice_ = notice;
    Q_EMIT documents_changed();
}

void Workspace::set_color_table(const std::optional<ColorTableError>& table) {
    color_table_ = table;
    Q_EMIT color_table_changed();
}

void Workspace::show_side_by_side(bool shown) {
    if (shown == side_by_side_) return;
    side_by_side_ = shown;
    Q_EMIT changed(session_);
}

void Workspace::reload(std::size_t index) {
    if (index >= session_.images.size()) return;
    const Source& source = session_.images[index];
    std::erase_if(entries_, [&](const auto& each) { return each.second.source == source && !each.second.loading; });
    load_missing();
    run_kernel();
}

void Workspace::show_frame(std::size_t frame) {
    if (frame >= frames()) return;
    change(
        tr("Frame"), [frame](Session& session) { set_frame(session.images[session.current], frame); }, "frame");
}

void Workspace::show_loaded(const std::vector<std::pair<std::size_t, std::shared_ptr<const Document>>>& frames) {
    for (const auto& [index, document] : frames)
        entries_[key_of(document->source(), device_)] = {.source = document->source(), .document = document};
    look([&](Session& session) {
        for (const auto& [index, document] : frames)
            if (index < session.images.size()) session.images[index] = document->source();
    });
    Q_EMIT documents_changed();
}

std::size_t Workspace::frames() const {
    const std::shared_ptr<const Document> current = document();
    return current ? current->frames() : 1;
}

QString Workspace::title(std::size_t index) const {
    if (index >= session_.images.size()) return {};
    const std::shared_ptr<const Document> shown = document(index);
    if (shown && shown->live_frame() > 0) return QString::fromStdString(shown->title());
    if (!shown || !shown->is_numbered()) return QString::fromStdString(title_of(session_.images[index]));
    return tr("%1 (frame %2 of %3)")
        .arg(QString::fromStdString(shown->title()))
        .arg(frame_of(shown->source()))
        .arg(shown->frames());
}

void Workspace::close(std::size_t index) {
    if (index >= session_.images.size()) return;
    const std::string kernel = session_.kernel.name;
    const QString title = QString::fromStdString(title_of(session_.images[index]));
    change(tr("Close"), [index](Session& session) { close_image(session, index); });
    if (!kernel.empty() && session_.kernel.name.empty() && !session_.images.empty())
        tell(tr("Kernel %1 was removed because its input %2 was closed.").arg(QString::fromStdString(kernel), title));
}

void Workspace::export_texels(const QString& path) {
    const std::shared_ptr<const Document> document = shown();
    if (!document) return;
    if (is_exporting()) {
        tell(tr("%1 was not written: another export is running. Wait until it is finished, or cancel it.").arg(path));
        return;
    }
    const QString title = QFileInfo(path).fileName();
    const QPointer<Workspace> self(this);
    jobs_->start(kExportTag, [self, document, path, title](const CancellationToken& token) -> Jobs::Finish {
        QString said = tr("Saved %1.").arg(path);
        try {
            const bool is_elsewhere = document->is_planar() || document->is_finer_in_files({});
            const bool has_three = document->file().metadata().read_channels.size() == 3;
            save(path.toStdString(), is_elsewhere ? document->file() : image_of(document->array()),
                 {.alpha = has_three ? SavedAlpha::unless_opaque : SavedAlpha::automatic,
                  .progress = telling(self, title, token)});
        } catch (const std::exception& error) {
            said = text(error);
        }
        return [self, said] {
            if (!self) return;
            Q_EMIT self->progressed(-1, {});
            self->tell(said);
        };
    });
    Q_EMIT progressed(0, title);
}

bool Workspace::is_exporting() const { return jobs_->busy(kExportTag); }

void Workspace::cancel_files() {
    if (is_exporting()) {
        jobs_->drop(kExportTag);
        tell(tr("The export was canceled."));
    }
    for (auto& [key, entry] : entries_) {
        if (!entry.loading) continue;
        jobs_->drop(loading_tag(key));
        entry.loading = false;
        entry.document.reset();
        entry.problem = tr("Loading was canceled. Choose File > Reload to load the image again.");
    }
    Q_EMIT progressed(-1, {});
    Q_EMIT documents_changed();
}

// Only the current image, the reference, the kernel's inputs and the comparison's image are loaded. Others are loaded
// when needed.
std::map<std::string, std::pair<Source, Device>> Workspace::needed_documents() const {
    std::map<std::string, std::pair<Source, Device>> needed_documents;
    const auto want = [&](std::size_t index, const Device& device) {
        if (index >= session_.images.size()) return;
        needed_documents.emplace(key_of(session_.images[index], device), std::pair(session_.images[index], device));
    };
    want(session_.current, device_);
    if (session_.reference) want(*session_.reference, device_);
    for (const std::size_t index : session_.kernel.more_inputs) want(index, device_);
    if (session_.compare.mode != CompareMode::none && session_.compare.against == Against::device) {
        if (const auto other = other_device()) want(session_.current, *other);
    }
    return needed_documents;
}

void Workspace::load_missing() {
    // Documents of open images stay loaded, even if they are not needed now. Documents of closed images are released,
    // and those of other frames when the frame that replaces them is loaded.
    std::vector<Entry> released;
    std::erase_if(entries_, [&](const auto& each) {
        const bool open = std::ranges::find(session_.images, each.second.source) != session_.images.end();
        if (!open && each.second.loading) jobs_->drop(loading_tag(each.first));
        if (!open) released.push_back(each.second);
        return !open;
    });
    ++uses_;
    for (const auto& [key, what] : needed_documents()) {
        if (const auto known = entries_.find(key); known != entries_.end()) {
            known->second.used = uses_;
            continue;
        }
        const auto former =
            std::ranges::find_if(released, [&source = what.first, &device = what.second](const Entry& each) {
                return each.document && each.document->device() == device &&
                       (is_other_frame(source, each.source) || is_other_part(source, each.source));
            });
        load(key, what.first, what.second, former != released.end() ? former->document : nullptr);
    }
}

void Workspace::load(const std::string& key, const Source& source, const Device& device,
                     std::shared_ptr<const Document> former) {
    entries_[key] = {.source = source, .document = std::move(former), .loading = true, .used = uses_};
    const QString title = QString::fromStdString(title_of(source));
    const QPointer<Workspace> self(this);
    const ImageMaker maker = is_live(source) ? live_maker_ : is_made(source) ? maker_ : nullptr;
    const StreamingOptions streaming{.budget = memory_.streamed, .max_loaded = memory_.loaded};
    jobs_->start(loading_tag(key), [=](const CancellationToken& token) -> Jobs::Finish {
        Entry made{.source = source};
        try {
            made.document =
                maker ? maker(source, device) : Document::open(source, device, telling(self, title, token), streaming);
        } catch (const Error& error) {
            made.problem = text(error);
            made.lacks_memory = error.code() == ErrorCode::out_of_memory;
        } catch (const std::exception& error) {
            made.problem = text(error);
        }
        return [self, key, device, made = std::move(made)]() mutable {
            if (!self || !self->entries_.contains(key)) return;
            const bool halved = made.document && made.document->halvings() > 0 && !made.document->streamed();
            const std::size_t bytes = halved ? packed_bytes(made.document->info()) : 0;
            if ((halved || made.lacks_memory) && self->drop_unseen(device, bytes)) {
                made.document.reset();
                return self->load(key, made.source, device, nullptr);
            }
            if (made.document && made.document->streamed())
                made.document->streamed()->on_change([arrivals = self->arrivals_] { arrivals->post(); });
            made.used = self->entries_[key].used;
            self->entries_[key] = std::move(made);
            self->release_oldest();
            Q_EMIT self->progressed(-1, {});
            self->run_kernel();
            Q_EMIT self->documents_changed();
        };
    });
    Q_EMIT documents_changed();
}

void Workspace::set_image_memory(std::size_t bytes) {
    memory_.loaded = bytes;
    release_oldest();
    Q_EMIT documents_changed();
}

void Workspace::release_oldest() {
    const std::size_t limit = memory_.loaded.value_or(device_.memory().total / 2);
    const auto needed = needed_documents();
    const auto bytes_of = [](const Document& document) {
        return packed_bytes(document.info()) + (document.is_planar() ? packed_bytes(document.info(1)) : 0);
    };
    std::size_t held = 0;
    for (const auto& [key, entry] : entries_) held += entry.document ? bytes_of(*entry.document) : 0;
    while (held > limit) {
        auto oldest = entries_.end();
        for (auto each = entries_.begin(); each != entries_.end(); ++each) {
            const Entry& entry = each->second;
            // Only their program can make live images again.
            if (!entry.document || entry.loading || needed.contains(each->first) || is_made(entry.source)) continue;
            if (oldest == entries_.end() || entry.used < oldest->second.used) oldest = each;
        }
        if (oldest == entries_.end()) return;
        held -= bytes_of(*oldest->second.document);
        entries_.erase(oldest);
    }
}

bool Workspace::drop_unseen(const Device& device, std::size_t bytes) {
    const auto seen = needed_documents();
    const auto is_unseen = [&](const auto& each) {
        const auto& document = each.second.document;
        return document && document->device() == device && !seen.contains(each.first);
    };
    std::size_t held = 0;
    for (const auto& each : entries_) held += is_unseen(each) ? packed_bytes(each.second.document->info()) : 0;
    // One halving less needs four times the memory, that is three times `bytes` in addition.
    if (held == 0 || held < 3 * bytes) return false;
    std::erase_if(entries_, is_unseen);
    Q_EMIT documents_changed();
    return true;
}

const Workspace::Entry* Workspace::entry(std::size_t index, const Device& device) const {
    if (index >= session_.images.size()) return nullptr;
    // Comparing sources is much faster than making a key, and this function is called for every image in the list.
    const std::string on_device = key_begin(device);
    const Source& source = session_.images[index];
    const auto found = std::ranges::find_if(
        entries_, [&](const auto& each) { return each.second.source == source && each.first.starts_with(on_device); });
    return found != entries_.end() ? &found->second : nullptr;
}

std::shared_ptr<const Document> Workspace::document(std::size_t index) const {
    const Entry* found = entry(index, device_);
    return found != nullptr ? found->document : nullptr;
}

QString Workspace::problem(std::size_t index) const {
    const Entry* found = entry(index, device_);
    return found != nullptr ? found->problem : QString();
}

bool Workspace::is_loading(std::size_t index) const {
    const Entry* found = entry(index, device_);
    return found != nullptr && found->loading;
}

std::optional<Device> Workspace::other_device() const {
    if (device_.kind() == DeviceKind::cuda) return Device::cpu();
    if (!Device::why_no_cuda().empty()) return {};
    return Device::cuda();
}

// --- kernels and comparison ------------------------------------------------------------------------------------------

QString Workspace::kernel_obstacle() const {
    if (!document()) return {};  // problem() of the image is reported instead
    const QString kernel = QString::fromStdString(session_.kernel.name);
    for (const std::size_t index : session_.kernel.more_inputs) {
        if (index >= session_.images.size())
            return tr("%1 needs another input image, which is not open. Choose one in the Kernel panel.").arg(kernel);
        if (!problem(index).isEmpty())
            return tr("%1, an input of %2, could not be loaded. %3")
                .arg(QString::fromStdString(title_of(session_.images[index])), kernel, problem(index));
    }
    return {};
}

void Workspace::run_kernel() {
    const KernelChoice& kernel = session_.kernel;
    std::vector<std::shared_ptr<const Document>> inputs{document()};
    for (const std::size_t index : kernel.more_inputs) inputs.push_back(document(index));
    const bool ready =
        !kernel.name.empty() && std::ranges::all_of(inputs, [](const auto& each) { return each != nullptr; });
    std::string key;
    if (ready) {
        Session alone;
        alone.kernel = {.name = kernel.name, .parameters = kernel.parameters, .more_inputs = {}};
        alone.sampler = session_.sampler;
        key = to_json(alone);
        for (const auto& input : inputs) key += fmt::format(" {}", static_cast<const void*>(input.get()));
    }
    if (!ready) {
        kernel_key_.clear();
        kernel_problem_ = kernel_obstacle();
        jobs_->drop(kKernelTag);
        if (kernel_result_) {
            kernel_result_.reset();
            Q_EMIT documents_changed();
        }
        return;
    }
    if (key == kernel_key_) return;
    kernel_key_ = key;
    const QPointer<Workspace> self(this);
    jobs_->start(kKernelTag,
                 [self, kernel, inputs, sampler = session_.sampler](const CancellationToken&) -> Jobs::Finish {
                     KernelResult result;
                     QString problem;
                     try {
                         result = viewer::run_kernel(kernel, inputs, sampler);
                     } catch (const std::exception& error) {
                         problem = text(error);
                     }
                     return [self, result = std::move(result), problem] {
                         if (!self) return;
                         self->kernel_result_ = result.document;
                         self->kernel_problem_ = problem;
                         self->kernel_milliseconds_ = result.milliseconds;
                         Q_EMIT self->documents_changed();
                     };
                 });
}

std::shared_ptr<const Document> Workspace::shown() const {
    // While a changed kernel runs, its last result stays visible.
    return session_.kernel.name.empty() || !kernel_problem_.isEmpty() ? document() : kernel_result_;
}

std::shared_ptr<const Document> Workspace::against() const {
    if (session_.compare.mode == CompareMode::none) return nullptr;
    switch (session_.compare.against) {
        case Against::reference: return session_.reference ? document(*session_.reference) : nullptr;
        case Against::sampler: return shown();
        case Against::device: break;
    }
    const std::optional<Device> other = other_device();
    const Entry* found = other ? entry(session_.current, *other) : nullptr;
    return found != nullptr ? found->document : nullptr;
}

Scene Workspace::scene(int width, int height) const { return {session_, shown(), against(), width, height}; }

// --- hovered and outlined texels -------------------------------------------------------------------------------------

void Workspace::hover(const std::optional<SeenTexel>& texel) {
    if (texel == hovered_) return;
    hovered_ = texel;
    Q_EMIT hover_changed();
}

std::optional<SeenTexel> Workspace::pointed() const {
    if (session_.pins.empty()) return hovered_;
    return SeenTexel{session_.subresource, session_.pins.back()};
}

std::optional<SeenTexel> Workspace::inspected() const {
    const std::optional<SeenTexel> texel = pointed();
    const std::shared_ptr<const Document> document = shown();
    return texel && document ? in_array(*document, *texel) : texel;
}

double Workspace::texel_side() const {
    const std::shared_ptr<const Document> document = shown();
    return document ? std::ldexp(1.0, document->halvings(document->clamped(session_.subresource))) : 1;
}

SeenTexel Workspace::in_files(const SeenTexel& of_array) const {
    const std::shared_ptr<const Document> document = shown();
    return document ? viewer::in_files(*document, session_.subresource, of_array) : of_array;
}

void Workspace::outline(const QString& owner, std::vector<Outline> outlines) {
    if (outlines.empty() && !outlines_.contains(owner)) return;
    outlines_[owner] = std::move(outlines);
    Q_EMIT outlines_changed();
}

std::vector<Outline> Workspace::outlines() const {
    std::vector<Outline> all;
    for (const auto& [owner, each] : outlines_) {
        for (Outline outline : each) {
            const SeenTexel first = in_files({outline.subresource, {outline.x, outline.y}});
            const Position end =
                in_files({outline.subresource, {outline.x + outline.width, outline.y + outline.height}}).at;
            outline.subresource = first.subresource;
            outline.x = first.at.x;
            outline.y = first.at.y;
            outline.width = end.x - first.at.x;
            outline.height = end.y - first.at.y;
            all.push_back(outline);
        }
    }
    return all;
}

// --- streamed images -------------------------------------------------------------------------------------------------

void Workspace::see(const QObject* canvas, std::vector<Seen> seen) {
    std::map<std::shared_ptr<StreamedImage>, std::vector<StreamedPart>> parts;
    for (const auto& [owner, each] : seen_) {
        for (const Seen& image : each) parts[image.image];  // without parts unless it is seen now
    }
    seen_[canvas] = std::move(seen);
    for (const auto& [owner, each] : seen_) {
        for (const Seen& image : each) {
            std::vector<StreamedPart>& all = parts[image.image];
            all.insert(all.end(), image.parts.begin(), image.parts.end());
        }
    }
    for (auto& [image, all] : parts) image->look(std::move(all));
}

bool Workspace::streams_settled() const {
    for (const auto& [owner, each] : seen_) {
        if (std::ranges::any_of(each, [](const Seen& image) { return !image.image->settled(); })) return false;
    }
    return true;
}

void Workspace::tell(const QString& text) { Q_EMIT told(text); }

void Workspace::settle() {
    bool settled = false;
    do {
        settled = streams_settled();  // before the events: among them is the last change of a streamed image
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        // The results of the last jobs may start further jobs.
        if (jobs_->idle()) QCoreApplication::processEvents();
    } while (!settled || !jobs_->idle());
}

}  // namespace texton::viewer
