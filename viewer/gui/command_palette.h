#pragma once
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "viewer/gui/actions.h"

namespace texton::viewer {

/// Finds actions by letters of their text. Enter runs the selected action.
class CommandPalette : public QDialog {
    Q_OBJECT

public:
    CommandPalette(Actions& actions, QWidget* parent);

    /// Returns the distance between the first and the last matched letter, or nullopt if the text does not contain the
    /// letters in this order. Spaces in `letters` and case are ignored.
    static std::optional<int> distance(const QString& letters, const QString& text);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();
    void run();

    Actions& actions_;
    QLineEdit* line_;
    QListWidget* list_;
};

}  // namespace texton::viewer
