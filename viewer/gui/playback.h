#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Shows the frames of the current image one after the other, at a rate; the first follows the last. If the reference
/// has frames, it is played along, so that frames can be compared. Each frame is shown. Worker threads load the next
/// frames. For the GUI thread only; the workspace must outlive the object.
class Playback : public QObject {
    Q_OBJECT

public:
    explicit Playback(Workspace& workspace, QObject* parent = nullptr);
    ~Playback() override;

    /// Plays from the frame that is shown. Resets the numbers of frames.
    void start(double frames_per_second);
    void stop();
    /// Changes the rate. The present frame is shown for the time of the new rate.
    void set_rate(double frames_per_second);
    bool is_running() const noexcept { return runs_; }
    /// Returns the number of frames that were shown since start().
    std::size_t shown() const noexcept { return shown_; }
    /// Returns how many of these frames were shown more than half of the time of a frame too late. The times of the
    /// following frames count from then.
    std::size_t late() const noexcept { return late_; }

Q_SIGNALS:
    /// shown() or late() has changed.
    void counted();

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
    void show(const Frames& frames);
    double now() const { return static_cast<double>(clock_.nsecsElapsed()) / 1e6; }

    Workspace& workspace_;
    QTimer timer_;
    QElapsedTimer clock_;
    double period_ = 1000;  // milliseconds
    double due_ = 0;        // when the next frame is to be shown
    bool runs_ = false;
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
