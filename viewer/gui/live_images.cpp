// The path of a live image is "live:/NUMBER/NAME". The number stands for the name, which can contain slashes.
#include "viewer/gui/live_images.h"

#include <QPointer>
#include <algorithm>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>

#include "viewer/model/host_image.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr int kPatience = 200;         // milliseconds
constexpr std::size_t kMaxArrays = 3;  // shown, waiting, being copied
// Maximum number of frames whose shared memory documents hold: the one that the canvas shows, and the next one. The
// newest frame can be a third one, of which the document has a copy. The program always finds memory for another one.
constexpr std::size_t kMaxHeld = 2;
static_assert(kMaxHeld + 2 <= detail::FrameMemory::kSlots);

Source source_of(const std::string& name, std::uint64_t number) {
    std::string title = name;
    std::ranges::replace(title, '/', ':');  // the last part of a path is its title
    return {.paths = {fmt::format("{}/{}/{}", Workspace::kLiveImages, number, title)}};
}

std::string title_of_frame(const Source& source, const LiveFrame& frame, bool has_ended) {
    std::string title = fmt::format("{} (frame {}", title_of(source), frame.number);
    if (frame.dropped > 0) title += fmt::format(", {} dropped", frame.dropped);
    if (has_ended) title += ", program ended";
    return title + ")";
}

ArrayInfo info_of(const LiveFrame& frame, const Device& device) {
    ArrayInfo info{.format = frame.format, .extent = {frame.extent.width, frame.extent.height}};
    if (frame.extent.depth > 1) {
        info.kind = ArrayKind::layered_2d;
        info.layers = frame.extent.depth;
    }
    info.usage = verify::usage_for_kernels(device, info);
    return info;
}

// Copies a frame to the array. If `holds_frame` is true, the document keeps the frame instead, and copies it when the
// array is needed: the canvas reads only the texels that it shows.
std::shared_ptr<const Document> document_of(const std::shared_ptr<const LiveFrame>& frame, const std::string& title,
                                            Array array, bool holds_frame) {
    if (holds_frame) return Document::of_frame(std::move(array), frame->texels, frame, title, frame->number);
    copy(array.view(), host_view(static_cast<const void*>(frame->texels.data()), frame->format, frame->extent));
    return Document::of_frame(std::move(array), title, frame->number);
}

}  // namespace

LiveImages::LiveImages(Workspace& workspace, const LiveServer::Options& options, QObject* parent)
    : QObject(parent), workspace_(workspace), server_(options, [this] {
          QMetaObject::invokeMethod(
              this, [this] { update(); }, Qt::QueuedConnection);
      }) {
    patience_.setSingleShot(true);
    patience_.setInterval(kPatience);
    connect(&patience_, &QTimer::timeout, this, [this] {
        // A frame that is replaced before it is whole would never be seen.
        if (canvas_renders_ && canvas_renders_()) return patience_.start();
        frame_painted();
    });
    connect(&workspace_, &Workspace::changed, this, [this](const Session& before) {
        const Session& now = workspace_.session();
        const bool same = before.images == now.images && before.current == now.current &&
                          before.reference == now.reference && before.kernel == now.kernel &&
                          before.device == now.device;
        // Later, because the workspace is still changing.
        if (!same)
            QMetaObject::invokeMethod(
                this, [this] { update(); }, Qt::QueuedConnection);
    });
    workspace_.make_live_images_by(
        [shown = shown_](const Source& source, const Device& device) { return make(*shown, source, device); });
}

LiveImages::~LiveImages() {
    workspace_.make_live_images_by(nullptr);
    for (auto& [name, image] : images_) workspace_.jobs().drop("live " + name);
}

bool LiveImages::is_open(const Source& source) const {
    const std::vector<Source>& open = workspace_.session().images;
    return std::ranges::find(open, source) != open.end();
}

bool LiveImages::is_current(const Image& image) const {
    const Session& session = workspace_.session();
    return session.current < session.images.size() && session.images[session.current] == image.source;
}

// Returns the index of a live image, or of the file with this path or name; the number of images if there is none.
std::size_t LiveImages::index_of(const std::string& name) const {
    const std::vector<Source>& open = workspace_.session().images;
    const auto live = images_.find(name);
    if (live != images_.end() && is_open(live->second.source))
        return static_cast<std::size_t>(std::ranges::find(open, live->second.source) - open.begin());
    const auto named = [&](const Source& each) {
        return !Workspace::is_made(each) && !each.paths.empty() &&
               (each.paths.front() == name || title_of(each) == name);
    };
    return static_cast<std::size_t>(std::ranges::find_if(open, named) - open.begin());
}

void LiveImages::update() {
    const std::vector<LiveImage> states = server_.images();
    for (const std::string& message : server_.take_messages()) workspace_.tell(QString::fromStdString(message));
    forget_closed_images(states);
    add_new_images(states);
    for (const LiveRequest& request : server_.take_requests()) answer(request);
    for (const LiveImage& state : states) {
        const auto image = images_.find(state.name);
        if (image != images_.end() && is_open(image->second.source) && workspace_.is_needed(image->second.source))
            copy_newest(image->second, state);
    }
    draw();
}

// An image of an ended program or of a client is released when the user closes it. That of a running program is hidden,
// so that the user can undo the closing.
void LiveImages::forget_closed_images(const std::vector<LiveImage>& states) {
    for (auto& [name, image] : images_) {
        if (is_open(image.source)) {
            image.is_closed = false;
            continue;
        }
        image.is_closed = true;
        image.arrays.clear();
        image.next.reset();
        const auto state = std::ranges::find(states, name, &LiveImage::name);
        if (state != states.end() && state->creation == image.creation && (state->has_ended || !state->is_program)) {
            server_.close(name);
            const std::lock_guard lock(shown_->mutex);
            shown_->frames.erase(image.source.paths.front());
        }
    }
}

void LiveImages::add_new_images(const std::vector<LiveImage>& states) {
    for (const LiveImage& state : states) {
        const auto known = images_.find(state.name);
        if (known != images_.end() && known->second.creation == state.creation) continue;
        const std::shared_ptr<const LiveFrame> frame = server_.frame(state.name);
        if (!frame) continue;  // announced, but not drawn yet
        Image& image = images_[state.name];
        if (known == images_.end()) {
            image.name = state.name;
            image.source = source_of(state.name, ++next_source_);
        }
        image.creation = state.creation;
        if (is_open(image.source)) continue;
        image.is_closed = false;
        {
            const std::lock_guard lock(shown_->mutex);
            shown_->frames[image.source.paths.front()] = frame;
        }
        workspace_.look([&](Session& session) {
            session.images.push_back(image.source);
            if (session.images.size() == 1) session.fits = true;
        });
    }
}

std::shared_ptr<const Document> LiveImages::make(Shown& shown, const Source& source, const Device& device) {
    std::shared_ptr<const LiveFrame> frame;
    {
        const std::lock_guard lock(shown.mutex);
        const auto found = shown.frames.find(source.paths.front());
        if (found != shown.frames.end()) frame = found->second;
    }
    if (!frame) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = "the image belongs to a program that this window has not received",
                     .remedy = "Start the program again."});
    }
    return document_of(frame, title_of_frame(source, *frame, false), Array(device, info_of(*frame, device)), false);
}

void LiveImages::copy_newest(Image& image, const LiveImage& state) {
    if (image.copies || image.next || state.version == image.version) return;
    if (is_current(image) && waits_for_canvas_) return;  // a later frame may be ready then
    const std::shared_ptr<const LiveFrame> frame = server_.frame(image.name);
    if (!frame) return;
    image.version = state.version;
    image.copies = true;
    const Device device = workspace_.device();
    const ArrayInfo info = info_of(*frame, device);
    std::erase_if(image.arrays, [&](const Array& each) { return each.info() != info || each.device() != device; });
    Array free;
    for (const Array& each : image.arrays)
        if (each.block().use_count() == 1) free = each;
    {
        const std::lock_guard lock(shown_->mutex);
        shown_->frames[image.source.paths.front()] = frame;
    }
    std::erase_if(image.held, [](const auto& each) { return each.expired(); });
    const bool is_held = std::ranges::any_of(image.held, [&](const auto& each) { return each.lock() == frame; });
    const bool holds_frame = frame->extent.depth == 1 && (is_held || image.held.size() < kMaxHeld);
    if (holds_frame && !is_held) image.held.push_back(frame);
    const std::string title = title_of_frame(image.source, *frame, state.has_ended);
    const QPointer<LiveImages> self(this);
    workspace_.jobs().start("live " + image.name, [=, name = image.name](const CancellationToken&) -> Jobs::Finish {
        std::shared_ptr<const Document> document;
        Array array = free;
        QString problem;
        try {
            if (array.block() == nullptr) array = Array(device, info);
            document = document_of(frame, title, array, holds_frame);
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error_text(error));
        }
        return [self, name, document, array, problem] {
            if (!self) return;
            const auto found = self->images_.find(name);
            if (found == self->images_.end()) return;
            Image& image = found->second;
            image.copies = false;
            if (!document) return self->workspace_.tell(problem);
            const bool known =
                std::ranges::any_of(image.arrays, [&](const Array& each) { return each.block() == array.block(); });
            if (!known && image.arrays.size() < kMaxArrays) image.arrays.push_back(array);
            image.next = document;
            self->put(image);
        };
    });
}

// Shows the next frame, unless the canvas has not painted the current one yet.
void LiveImages::put(Image& image) {
    if (!image.next) return;
    const bool is_current = this->is_current(image);
    if (is_current && waits_for_canvas_) return;
    if (!is_open(image.source) || image.next->device() != workspace_.device()) {
        image.next.reset();
        return;
    }
    if (is_current) {
        waits_for_canvas_ = true;
        patience_.start();
    }
    workspace_.put(image.source, std::exchange(image.next, nullptr));
    update();
}

void LiveImages::frame_painted() {
    patience_.stop();
    waits_for_canvas_ = false;
    for (auto& [name, image] : images_) put(image);
    update();
}

void LiveImages::answer(const LiveRequest& request) {
    const std::size_t count = workspace_.session().images.size();
    const std::size_t index = index_of(request.name);
    const auto select = [&] {
        if (index < count && workspace_.session().current != index)
            workspace_.look([&](Session& session) { session.current = index; });
    };
    switch (request.kind) {
        case LiveRequest::Kind::open: {
            const std::size_t before = workspace_.session().current;
            if (index == count) workspace_.open({{.paths = {request.name}}});
            if (index < count && request.focus) select();
            if (index == count && count > 0 && !request.focus)
                workspace_.look([&](Session& session) { session.current = before; });
            return;
        }
        case LiveRequest::Kind::reload:
            if (index == count) return workspace_.tell(tr("%1 is not open.").arg(QString::fromStdString(request.name)));
            if (!Workspace::is_made(workspace_.session().images[index])) workspace_.reload(index);
            if (request.focus) select();
            return;
        case LiveRequest::Kind::close:
            if (index < count) workspace_.close(index);
            server_.close(request.name);
            return;
        case LiveRequest::Kind::show: return select();
    }
}

// Shows the vector graphics of the current image.
void LiveImages::draw() {
    const Session& session = workspace_.session();
    std::vector<tev::Command> commands;
    if (session.current < session.images.size()) {
        const Source& source = session.images[session.current];
        const auto live = std::ranges::find_if(images_, [&](const auto& each) { return each.second.source == source; });
        if (live != images_.end()) {
            commands = server_.graphics(live->first);
        } else if (!source.paths.empty()) {
            commands = server_.graphics(source.paths.front().string());
            if (commands.empty()) commands = server_.graphics(title_of(source));
        }
    }
    workspace_.draw(std::move(commands));
}

}  // namespace texton::viewer
