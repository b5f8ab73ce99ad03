// Actions of the Review menu: the failing cases of a suite, how they are shown, and decisions about them.
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QMessageBox>

#include "viewer/gui/main_window.h"
#include "viewer/gui/suite_review.h"

namespace texton::viewer {
namespace {

QString tr(const char* text) { return MainWindow::tr(text); }

// Lists what is written, and asks.
void apply(MainWindow& window, SuiteReview& review) {
    const verify::Review::Changes changes = review.review()->changes();
    QStringList lines;
    if (!changes.approved.empty()) lines.append(tr("References to write: %1").arg(changes.approved.size()));
    if (changes.masks > 0)
        lines.append(tr("Masks to write into %1: %2. Then the suite is run again.")
                         .arg(QString::fromStdString(review.review()->run().options.suite.filename().string()))
                         .arg(changes.masks));
    if (changes.notes)
        lines.append(tr("Rejections are written to %1.")
                         .arg(QString::fromStdString(
                             verify::notes_path(review.review()->run().options.suite).filename().string())));
    if (lines.isEmpty() && changes.unused.empty()) return window.workspace().tell(tr("There is nothing to apply."));
    QMessageBox box(QMessageBox::Question, tr("Apply the review"), lines.join('\n'),
                    QMessageBox::Apply | QMessageBox::Cancel, &window);
    if (lines.isEmpty()) box.setText(tr("No case has a decision."));
    auto* unused = new QCheckBox(tr("Remove references of cases that do not exist: %1").arg(changes.unused.size()));
    QStringList names;
    for (const auto& path : changes.unused) names.append(QString::fromStdString(path.filename().string()));
    unused->setToolTip(names.join('\n'));
    unused->setVisible(!changes.unused.empty());
    box.setCheckBox(unused);
    if (changes.unused.empty()) box.setCheckBox(nullptr);
    box.setDefaultButton(QMessageBox::Apply);
    if (box.exec() == QMessageBox::Apply) review.apply(box.checkBox() != nullptr && box.checkBox()->isChecked());
}

void run_again(MainWindow& window, SuiteReview& review) {
    if (review.has_changes() &&
        QMessageBox::question(&window, tr("Run again"), tr("Decisions were not applied. Discard them?"),
                              QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Cancel) != QMessageBox::Discard)
        return;
    review.run_again();
}

void add_view_actions(Actions& actions, SuiteReview& review, const QString& menu) {
    struct View {
        const char* id;
        QString text;
        QString tip;
        ReviewView view;
    };
    const View views[] = {
        {"review-sides", tr("Reference &beside result"), tr("Shows both images with the same zoom and position"),
         ReviewView::side_by_side},
        {"review-wipe", tr("&Wipe"), tr("Shows the result to the left of a line, and the reference to the right"),
         ReviewView::wipe},
        {"review-blink", tr("&Flip"), tr("Shows one image; H shows the other one"), ReviewView::flip},
        {"review-difference", tr("&Difference"), tr("Shows the absolute differences"), ReviewView::difference},
        {"review-flip-map", tr("FLIP &map"), tr("Shows the perceived difference of each texel"), ReviewView::flip_map},
        {"review-ulp-map", tr("&Ulp map"), tr("Shows the ulp distance of each texel"), ReviewView::ulp_map}};
    int number = 1;
    for (const View& each : views) {
        actions.add({each.id,
                     menu,
                     each.text,
                     each.tip,
                     {QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number++))},
                     [&review, view = each.view] { review.set_view(view); },
                     [&review, view = each.view] { return review.view() == view; },
                     [&review] { return review.current().has_value(); }});
    }
    actions.add({"review-worst",
                 menu,
                 tr("Worst &texel"),
                 tr("Shows the texel with the largest difference, then the next ones"),
                 {Qt::Key_U},
                 [&review] { review.show_worst(); },
                 {},
                 [&review] { return review.current().has_value(); }});
    actions.add({"review-flip",
                 menu,
                 tr("Show the ot&her image"),
                 tr("Shows the reference instead of the result, or the result again"),
                 {Qt::Key_H},
                 [&review] { review.flip(); },
                 {},
                 [&review] { return review.current().has_value(); }});
}

}  // namespace

void add_review_actions(MainWindow& window) {
    SuiteReview* const found = window.workspace().review();
    if (found == nullptr) return;
    SuiteReview& review = *found;
    Actions& actions = window.actions();
    const QString menu = tr("&Review");
    const auto has_case = [&review] { return review.current().has_value(); };
    const auto can_decide = [&review] { return !review.is_busy() && review.current().has_value(); };
    const auto add = [&](const char* id, const QString& text, const QString& tip, const QKeySequence& keys,
                         const std::function<void()>& run, const std::function<bool()>& is_able) {
        actions.add({id, menu, text, tip, {keys}, run, {}, is_able});
    };

    add(
        "review-next", tr("&Next case"), {}, Qt::Key_J, [&review] { review.step(1, false); }, has_case);
    add(
        "review-previous", tr("&Previous case"), {}, Qt::Key_K, [&review] { review.step(-1, false); }, has_case);
    add(
        "review-next-undecided", tr("Ne&xt undecided case"), {}, Qt::SHIFT | Qt::Key_J,
        [&review] { review.step(1, true); }, has_case);
    add(
        "review-previous-undecided", tr("Pre&vious undecided case"), {}, Qt::SHIFT | Qt::Key_K,
        [&review] { review.step(-1, true); }, has_case);
    const auto has_images = [&review] { return review.images().size() > 1; };
    add(
        "review-next-image", tr("Next &image of the case"), {}, Qt::Key_I,
        [&review] { review.show_image((review.image() + 1) % review.images().size()); }, has_images);
    add(
        "review-previous-image", tr("Previous ima&ge of the case"), {}, Qt::SHIFT | Qt::Key_I,
        [&review] {
            const std::size_t count = review.images().size();
            review.show_image((review.image() + count - 1) % count);
        },
        has_images);
    add(
        "review-approve", tr("&Approve"), tr("Makes the result the reference when the review is applied"), Qt::Key_Y,
        [&review] { review.approve(false); }, can_decide);
    add(
        "review-approve-group", tr("Approve g&roup"), tr("Approves all cases that differ in the same way"),
        Qt::SHIFT | Qt::Key_Y, [&review] { review.approve(true); }, can_decide);
    add(
        "review-reject", tr("R&eject"), tr("Rejects the result; the panel Review has a field for a note"), Qt::Key_D,
        [&window, &review] {
            review.reject(false);
            Q_EMIT review.note_wanted();
            window.actions().refresh();
        },
        can_decide);
    add(
        "review-reject-group", tr("Reje&ct group"), tr("Rejects all cases that differ in the same way"),
        Qt::SHIFT | Qt::Key_D, [&review] { review.reject(true); }, can_decide);
    add(
        "review-reopen", tr("Rem&ove the decision"), tr("Makes the case undecided"), Qt::Key_O,
        [&review] { review.reopen(); }, can_decide);
    add(
        "review-mask", tr("Add selection to mas&k"),
        tr("Texels of the mask are not compared. Shift+drag selects texels"), Qt::Key_M,
        [&review] { review.mask_selection(); }, can_decide);
    add(
        "review-unmask", tr("Remove from ma&sk"), tr("Removes the rectangles at the selection or at the mouse pointer"),
        Qt::SHIFT | Qt::Key_M, [&review] { review.unmask(); }, can_decide);
    add(
        "review-copy-mask", tr("Copy mask as &JSON"), tr("Copies the rectangles, to insert them into a suite by hand"),
        {}, [&review] { QApplication::clipboard()->setText(review.mask_text()); },
        [&review] { return !review.mask_text().isEmpty(); });
    add_view_actions(actions, review, menu);
    add(
        "review-apply", tr("App&ly..."), tr("Writes references, masks and notes"), Qt::CTRL | Qt::Key_Return,
        [&window, &review] { apply(window, review); },
        [&review] { return !review.is_busy() && review.review() != nullptr; });
    add(
        "review-run", tr("Run again"), tr("Reads and runs the suite again"), Qt::SHIFT | Qt::Key_F5,
        [&window, &review] { run_again(window, review); }, [&review] { return !review.is_busy(); });
    QObject::connect(&review, &SuiteReview::changed, &window, [&window] { window.actions().refresh(); });
    QObject::connect(&review, &SuiteReview::failed, &window.workspace(), &Workspace::tell);
}

}  // namespace texton::viewer
