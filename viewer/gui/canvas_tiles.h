#pragma once
#include <QImage>
#include <QObject>
#include <QPainter>
#include <QTimer>
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
#include "viewer/render/color_tables.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Renders the pixel plane of a scene in tiles.
///
/// Worker threads render the tiles from the center of the canvas outward: first the visible tiles in quick quality,
/// then in full quality, then a ring of tiles around them. Until a tile is ready, older tiles are drawn scaled in its
/// area. Full tiles that need texels of files are rendered by a job of their own, row by row from top to bottom, so
/// that slow files do not delay the other tiles. Tiles of a streamed image are rendered again when further texels have
/// become resident, until they have all of theirs; there is no ring around them.
///
/// For the GUI thread only; the jobs must outlive the object.
class CanvasTiles : public QObject {
    Q_OBJECT

public:
    /// `tag` is the prefix of the tags of its jobs.
    CanvasTiles(Jobs& jobs, std::string tag, QObject* parent);

    /// Renders tiles again for which texels of a streamed image may have become resident.
    void texels_arrived();
    /// Sets the scene to render, which must not be a wipe. Tiles that are still valid are kept.
    void show(const Scene& scene);
    /// Draws the area `clip` of the canvas. The coordinates of the painter are screen pixels.
    void paint(QPainter& painter, const QRect& clip) const;
    /// Whether all visible tiles have their final quality and the current display settings. Also true after an error
    /// and, for quick tiles, after stop_files().
    bool is_complete() const;
    /// Whether every visible tile of the current zoom exists, with any quality.
    bool has_pixels() const;
    /// Whether every visible tile also uses the current display settings.
    bool shows_display() const;
    /// Returns the color of a pixel of the plane, or nullopt if its tile does not exist.
    std::optional<QRgb> pixel(int x, int y) const;
    /// Returns why the scene cannot be rendered; empty if it can.
    const QString& problem() const noexcept { return problem_; }
    /// Returns the fraction of visible tiles in full quality while files are read for them, otherwise nullopt.
    std::optional<double> share_of_files() const;
    /// Cancels reading files until the view or the content of the scene changes. The quick tiles remain.
    void stop_files();
    /// Returns the memory of all tiles.
    std::size_t bytes() const;

Q_SIGNALS:
    void updated();
    /// Tables for the colors of images on a GPU were made, or are not needed: the image is on the CPU.
    void color_table_changed(const std::optional<texton::viewer::ColorTableError>& table);
    /// Files could not be read. The quick tiles remain visible.
    void files_failed(QString why);

private:
    using Key = std::pair<int, int>;  // column, row
    struct Tile {
        QImage image;
        std::shared_ptr<const Values> values;  // null if not kept to save memory
        std::uint64_t display = 0;             // version of the display settings
        std::uint64_t revision = 0;            // of the streamed image before its texels were read
        bool full = false;
    };
    /// Tiles with the same content and the same zoom.
    struct Layer {
        Scene content;
        std::map<Key, Tile> tiles;
        bool of_files = false;           // full tiles need texels of files
        std::uint64_t revision() const;  // of the streamed image; 0: the image is not streamed
        double zoom() const { return content.session.view.zoom; }
        bool shows(const Scene& other) const;
    };
    /// Tiles that the job of a slot renders.
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
    void drop_layer();
    QRect subresource_of(const Layer& layer, const Key& key) const;

    Jobs& jobs_;
    std::string tag_;
    std::shared_ptr<ColorTableCache> tables_;
    std::optional<ColorTableError> table_error_;
    Scene scene_;
    PlanePixel origin_;
    std::set<Key> seen_;    // visible tiles
    std::set<Key> around_;  // visible tiles and a ring around them
    std::set<Key> overview_keys_;
    Layer current_;
    Layer overview_;           // the whole image at a small zoom
    std::deque<Layer> older_;  // newest last
    QTimer refines_;           // runs while quick tiles are enough, because another frame of a running program may come
    std::weak_ptr<const Document> whole_;  // the last one of which all visible tiles existed
    std::uint64_t display_ = 1;
    std::vector<std::optional<Work>> busy_;  // running job per slot; the first slot reads files
    bool reads_files_ = true;                // false after cancellation or failure
    QString problem_;
};

}  // namespace texton::viewer
