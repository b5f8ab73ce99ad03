#pragma once
#include <QDialog>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>

#include "viewer/gui/actions.h"

namespace texton::viewer {

/// Lists all actions with their keys and descriptions, or those that contain the words of the search line. Lets the
/// user change the keys.
class KeysDialog : public QDialog {
    Q_OBJECT

public:
    KeysDialog(Actions& actions, QWidget* parent);

private:
    void fill();
    void filter();
    void show_current();
    void show_holder(const QKeySequence& keys);
    void choose();

    Actions& actions_;
    QLineEdit* search_;
    QTreeWidget* list_;
    QKeySequenceEdit* keys_;
    QLabel* note_;
    QLabel* holder_;
};

}  // namespace texton::viewer
