#pragma once
#include <QLineEdit>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

struct Thumbnail;

/// Panel that lists the open images, with thumbnails. It marks the current image and the reference, and says why an
/// image cannot be shown.
class FilesPanel : public LivePanel {
    Q_OBJECT

public:
    explicit FilesPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    // Thumbnail and description of a source.
    struct Small {
        Source source;
        std::weak_ptr<const Document> of;  // the document of the thumbnail; empty if it was made from the files
        QIcon icon;
        QString text;
    };

    QWidget* make_buttons();
    QWidget* make_progress();
    void add_key(const QKeySequence& keys, const std::function<void()>& run);
    void move(int by);
    void toggle_reference();
    void show_progress(double share, const QString& what);
    Small* small_of(const Source& source);
    const Small* small_or_former(const Source& source);
    void show_item(std::size_t index);
    /// Many images have low rows and a filter.
    bool is_dense() const;
    void filter();
    QString note() const;
    void make_thumbnails();
    bool make_next_thumbnail(const std::string& tag);

    QLineEdit* filter_;
    QListWidget* list_;
    QPushButton* reference_ = nullptr;
    QPushButton* reload_ = nullptr;
    QPushButton* close_ = nullptr;
    QWidget* loading_ = nullptr;
    QProgressBar* progress_ = nullptr;
    CalmText* problem_;
    QIcon no_icon_;
    QIcon broken_icon_;
    std::vector<Small> small_;
    std::map<std::string, Source> making_;  // the image of the thumbnail that each job makes
    bool refreshing_ = false;
    bool is_lengthy_ = false;  // an image is loading, and some of its texels are there
};

}  // namespace texton::viewer
