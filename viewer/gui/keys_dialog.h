#pragma once
#include <QDialog>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QTreeWidget>

#include "viewer/gui/actions.h"

namespace texton::viewer {

/// Lists all actions with their keys and descriptions, and lets the user change the keys.
class KeysDialog : public QDialog {
    Q_OBJECT

public:
    KeysDialog(Actions& actions, QWidget* parent);

private:
    void fill();
    void show_current();
    void choose();

    Actions& actions_;
    QTreeWidget* list_;
    QKeySequenceEdit* keys_;
    QLabel* note_;
};

}  // namespace texton::viewer
