#pragma once
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "viewer/gui/actions.h"

namespace texton::viewer {

/// Letters find actions; Enter runs the chosen one.
class CommandPalette : public QDialog {
    Q_OBJECT

public:
    CommandPalette(Actions& actions, QWidget* parent);

    /// The letters are in the text in their order; what matches closer together comes first.
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
