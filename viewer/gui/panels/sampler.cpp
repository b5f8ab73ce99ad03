#include "viewer/gui/panels/sampler.h"

#include "viewer/inspect/inspected_texel.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {

SamplerPanel::SamplerPanel(Workspace& workspace)
    : LivePanel(workspace),
      stored_(new QRadioButton(tr("Stored texels"))),
      sampled_(new QRadioButton(tr("Sampled"))),
      fields_(new SamplerFields),
      problem_(new CalmText(tr("Message"))),
      reset_(new QPushButton(tr("Reset to default"))) {
    stored_->setAccessibleName(tr("Show stored texels"));
    stored_->setToolTip(tr("The canvas shows the stored texels"));
    sampled_->setAccessibleName(tr("Show sampled texels"));
    sampled_->setToolTip(tr("The canvas shows what a texture with this sampler returns"));
    reset_->setToolTip(tr("Uses the default sampler of each image"));

    auto* readings = new QHBoxLayout;
    readings->addWidget(stored_);
    readings->addWidget(sampled_);
    readings->addStretch();
    auto* column = new QVBoxLayout;
    column->addLayout(readings);
    column->addWidget(problem_);
    column->addWidget(fields_);
    column->addWidget(reset_);
    column->addStretch();
    lay_out(column);

    connect(stored_, &QRadioButton::clicked, this, [this] {
        this->workspace().change(tr("Show stored texels"), [](Session& session) { session.reading = Reading::stored; });
    });
    connect(sampled_, &QRadioButton::clicked, this, [this] {
        this->workspace().change(tr("Show sampled"), [](Session& session) { session.reading = Reading::sampled; });
    });
    connect(fields_, &SamplerFields::edited, this, [this](const Sampler& sampler) {
        this->workspace().change(
            tr("Sampler"), [&](Session& session) { session.sampler = sampler; }, "sampler");
    });
    connect(reset_, &QPushButton::clicked, this, [this] {
        this->workspace().change(tr("Default sampler"), [](Session& session) { session.sampler.reset(); });
    });
}

void SamplerPanel::refresh() {
    const Session& session = workspace().session();
    const std::shared_ptr<const Document> document = workspace().document();
    (session.reading == Reading::stored ? stored_ : sampled_)->setChecked(true);
    reset_->setEnabled(session.sampler.has_value());
    fields_->setEnabled(document || session.sampler);
    QString problem;
    if (document) {
        const Sampler sampler = sampler_of(session, *document);
        fields_->set_sampler(sampler);
        try {
            (void)document->texture(sampler, document->clamped(session.subresource).plane);
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error_text(error));
        }
    } else if (session.sampler) {
        fields_->set_sampler(*session.sampler);
    }
    problem_->say(problem);
}

}  // namespace texton::viewer
