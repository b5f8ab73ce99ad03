#pragma once
#include <QImage>
#include <QObject>
#include <QPainter>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "viewer/model/jobs.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// A scene's plane of pixels in tiles, which jobs make from the middle of the canvas outward: first quick ones of what is seen, then
/// full ones, then those around. Until a tile is there, what older ones show of its place is drawn in its stead, scaled. Full ones that
/// are read from files have a job of their own, row after row from above, so that no other waits for it.
class CanvasTiles : public QObject {
    Q_OBJECT

public:
    /// `tag` is the begin of the tags of its jobs.
    CanvasTiles(Jobs& jobs, std::string tag, QObject* parent);

    /// What is seen from now on, of a scene that is no wipe. Tiles that are still good are kept.
    void show(const Scene& scene);
    /// `clip` of the canvas; the painter counts in pixels of the screen.
    void paint(QPainter& painter, const QRect& clip) const;
    /// All that is seen is there, in full.
    bool is_complete() const;
    /// Something of the scene is there, if only quick.
    bool has_pixels() const;
    /// ... by the display of now.
    bool shows_display() const;
    /// At a pixel of the plane, if its tile is there.
    std::optional<QRgb> pixel(int x, int y) const;
    /// Why the scene has no tiles; empty if it has.
    const QString& problem() const noexcept { return problem_; }
    /// How much of what is seen is there in full, while that is being read from files; none else.
    std::optional<double> share_of_files() const;
    /// Leaves what is seen as it is, until something else is.
    void stop_files();
    std::size_t bytes() const;

Q_SIGNALS:
    void updated();
    /// Files could not be read: what is seen stays as it is.
    void files_failed(QString why);

private:
    using Key = std::pair<int, int>;  // column, row
    struct Tile {
        QImage image;
        std::shared_ptr<const Values> values;  // where there is room to keep them
        std::uint64_t display = 0;             // which of the displays that were it was made for
        bool full = false;
    };
    /// Tiles of the same content at the same zoom.
    struct Layer {
        Scene content;
        std::map<Key, Tile> tiles;
        bool of_files = false;  // its full tiles are read from files
        double zoom() const { return content.session.view.zoom; }
        bool shows(const Scene& other) const;
    };
    /// What a slot's job makes.
    struct Work {
        Scene content;
        std::vector<Key> keys;
        bool makes(const Layer& layer, const Key& key) const;
    };
    struct Wish {
        bool of_overview = false;
        Key key;
        Quality quality = Quality::quick;
        std::shared_ptr<const Values> values;
    };

    void set_layer(const Scene& content);
    std::set<Key> keys_in(const PixelBox& box) const;
    std::optional<Wish> next_wish() const;
    std::optional<Wish> wish_for(const Layer& layer, bool of_overview, const std::set<Key>& keys,
                                 Quality quality) const;
    void start_jobs();
    void start_reading();
    void stop_reading();
    void start(std::size_t slot, const std::vector<Wish>& wishes);
    void store(const Scene& content, const Key& key, Tile tile);
    void trim();
    QRect place_of(const Layer& layer, const Key& key) const;

    Jobs& jobs_;
    std::string tag_;
    Scene scene_;
    PlanePixel origin_;
    std::set<Key> seen_;    // tiles of the scene on the canvas
    std::set<Key> around_;  // and of a ring about them
    std::set<Key> overview_keys_;
    Layer current_;
    Layer overview_;           // all of the picture, small
    std::deque<Layer> older_;  // the newest last
    std::uint64_t display_ = 1;
    std::array<std::optional<Work>, 3> busy_;  // by slot; of the last, what is read from files
    bool reads_files_ = true;                  // nobody stopped it, and it did not fail
    QString problem_;
};

}  // namespace texton::viewer
