#pragma once
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <memory>
#include <vector>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

struct Thumbnail;

/// The open pictures: which is shown, which is the reference, and what stands in the way of others.
class FilesPanel : public LivePanel {
    Q_OBJECT

public:
    explicit FilesPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    // How a picture looks in small, as far as that is known.
    struct Small {
        Source source;
        std::weak_ptr<const Document> of;  // empty: of the files
        QIcon icon;
        QString words;
    };

    QWidget* make_buttons();
    QWidget* make_progress();
    void add_key(const QKeySequence& keys, const std::function<void()>& run);
    void move(int by);
    void toggle_reference();
    void show_progress(double share, const QString& what);
    Small* small_of(const Source& source);
    void show_item(std::size_t index);
    QString note() const;
    void make_next_thumbnail();

    QListWidget* list_;
    QPushButton* reference_ = nullptr;
    QPushButton* reload_ = nullptr;
    QPushButton* close_ = nullptr;
    QWidget* loading_ = nullptr;
    QProgressBar* progress_ = nullptr;
    CalmText* problem_;
    std::vector<Small> small_;
    bool refreshing_ = false;
};

}  // namespace texton::viewer
