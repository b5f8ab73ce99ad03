#pragma once
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "viewer/gui/actions.h"

namespace texton::viewer {

/// Finds actions by letters of their text or by words of their description. Enter runs the selected action.
class CommandPalette : public QDialog {
    Q_OBJECT

public:
    CommandPalette(Actions& actions, QWidget* parent);

    /// Returns the distance between the first and the last matched letter, or nullopt if the text does not contain the
    /// letters in this order. Spaces in `letters` and case are ignored.
    static std::optional<int> distance(const QString& letters, const QString& text);
    /// Returns true if the text contains all words, each of which may be part of a longer word. Case is ignored.
    static bool has_words(const QString& words, const QString& text);

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
