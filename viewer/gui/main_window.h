#pragma once
#include <QLabel>
#include <QMainWindow>
#include <QStackedWidget>
#include <QStringList>
#include <memory>

#include "viewer/gui/canvas.h"

namespace texton::viewer {

/// One window: a canvas, or a calm page that says why there is no picture, and a status bar.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    MainWindow(const Device& device, QStringList files);

    /// False if the file could not be shown; the window then says why.
    bool open(const QString& path);
    /// All files, the first one last, so that it stays: why those that could not be shown were not.
    QStringList open_all();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void make_actions();
    void choose_file();
    void step(int by);
    void show_message(const QString& headline, const QString& details);
    void show_hover(QPoint texel);
    void show_status();

    Device device_;
    QString problem_;  // of the file opened last
    QStringList files_;
    qsizetype current_ = 0;
    std::shared_ptr<const Document> document_;
    Canvas* canvas_;
    QLabel* message_;
    QStackedWidget* pages_;
    QLabel* hover_label_;
    QLabel* picture_label_;
    QLabel* zoom_label_;
    QLabel* device_label_;
};

}  // namespace texton::viewer
