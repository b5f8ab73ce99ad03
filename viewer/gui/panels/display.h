#pragma once
#include <QCheckBox>
#include <QPushButton>
#include <QToolButton>
#include <array>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

/// Panel for all fields of Display, with buttons that fit the range to the values of the image.
class DisplayPanel : public LivePanel {
    Q_OBJECT

public:
    explicit DisplayPanel(Workspace& workspace);

protected:
    void refresh() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Fit : std::uint8_t { view, selection, all };

    QWidget* make_channels();
    QWidget* make_range();
    QWidget* make_fits();
    void add_color(QFormLayout* form);
    void refresh_color();
    QString color_table_text() const;
    void edit(const QString& what, const char* id, const std::function<void(Display&)>& edit);
    // Shows only this channel, or all channels if it is the only one already.
    void solo(std::size_t channel);
    void fit(Fit to);

    std::array<QToolButton*, 4> channels_{};
    QToolButton* luminance_ = nullptr;
    SliderField* exposure_;
    SliderField* gamma_;
    NumberEdit* low_ = nullptr;
    NumberEdit* high_ = nullptr;
    QPushButton* fit_selection_ = nullptr;
    std::vector<QPushButton*> fits_;
    CalmText* problem_;
    QComboBox* false_color_;
    QCheckBox* mark_nan_;
    QCheckBox* mark_range_;
    QCheckBox* zebra_;
    QComboBox* tone_curve_;
    QLineEdit* config_;
    QComboBox* input_;
    QComboBox* color_display_;
    QComboBox* color_view_;
    CalmText* color_problem_;
    CalmText* color_table_;
    QPushButton* reset_;
};

}  // namespace texton::viewer
