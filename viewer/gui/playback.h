#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// What is played: the frames of an image, or its subresources along one dimension.
enum class PlaybackAxis : std::uint8_t { frames, slices, layers, faces, levels };

/// Shows the frames, slices, layers, faces or levels of the current image one after the other, at a rate; the first
/// follows the last. The reference is played along, so that both can be compared: it shows the same subresource, and
/// its own frames if it has some. Each one is shown, and none is added to the undo history. Worker threads load the
/// next frames. For the GUI thread only; the workspace must outlive the object.
class Playback : public QObject {
    Q_OBJECT

public:
    explicit Playback(Workspace& workspace, QObject* parent = nullptr);
    ~Playback() override;

    /// Returns what can be played of the current image: the dimensions of which it has several.
    std::vector<PlaybackAxis> axes() const;
    /// Sets what is played. The default, and the choice for images that do not have it, is the first of axes().
    void choose(PlaybackAxis axis);
    /// Returns what is played of the current image; nullopt: nothing.
    std::optional<PlaybackAxis> axis() const;

    /// Plays from the frame or subresource that is shown. Resets the numbers of frames.
    void start(double frames_per_second);
    void stop();
    /// Changes the rate. The present frame is shown for the time of the new rate.
    void set_rate(double frames_per_second);
    bool is_running() const noexcept { return runs_; }
    /// Returns the number of frames or subresources that were shown since start().
    std::size_t shown() const noexcept { return shown_; }
    /// Returns how many of these frames were shown more than half of the time of a frame too late. The times of the
    /// following frames count from then.
    std::size_t late() const noexcept { return late_; }

Q_SIGNALS:
    /// shown() or late() has changed.
    void counted();
    /// The playback stopped because the current image has nothing to play.
    void ended();

private:
    /// The images that are played, by their indices in the session.
    using Sources = std::vector<std::pair<std::size_t, Source>>;
    using Frames = std::vector<std::shared_ptr<const Document>>;

    Sources played() const;
    Sources at(std::size_t step) const;
    void restart();
    void load_ahead();
    void load(std::size_t step);
    void tick();
    bool is_waiting();
    bool count_if_late();
    void show_next_frame();
    void show_next_part(PlaybackAxis along);
    void show(const Frames& frames);
    double now() const { return static_cast<double>(clock_.nsecsElapsed()) / 1e6; }

    Workspace& workspace_;
    QTimer timer_;
    QElapsedTimer clock_;
    double period_ = 1000;  // milliseconds
    double due_ = 0;        // when the next frame is to be shown
    bool runs_ = false;
    std::optional<PlaybackAxis> chosen_{};
    Sources first_;                        // step 0
    Sources seen_;                         // what was shown last; something else means that the user chose a frame
    std::vector<std::size_t> counts_;      // number of frames of each played image
    std::size_t step_ = 0;                 // of the frame that was shown last
    std::map<std::size_t, Frames> ready_;  // by step
    std::set<std::size_t> loading_;        // steps
    std::uint64_t run_ = 0;                // results of earlier runs are ignored
    std::size_t shown_ = 0;
    std::size_t late_ = 0;
};

}  // namespace texton::viewer
