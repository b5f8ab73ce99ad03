#pragma once
#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <texton/kernel.h>

namespace texton::viewer {

/// Input fields for the parameters of a kernel, created from the descriptions in the kernel registry. The KernelInfo
/// must outlive the widget.
class ParameterFields : public QWidget {
    Q_OBJECT

public:
    explicit ParameterFields(const KernelInfo& kernel, QWidget* parent = nullptr);

    /// Shows the values. Parameters without a value get their defaults. Does not emit edited().
    void set_values(const std::map<std::string, ParameterValue>& values);

Q_SIGNALS:
    /// Emitted for changes by the user only.
    void edited(const std::string& name, const texton::ParameterValue& value);

private:
    using Show = std::function<void(const ParameterValue&)>;

    // Each creates a field and sets `show` to the function that shows a value in it.
    QWidget* make_flag(const ParameterInfo& parameter, Show& show);
    QWidget* make_number(const ParameterInfo& parameter, Show& show);
    QWidget* make_integer(const ParameterInfo& parameter, Show& show);
    QWidget* make_choice(const ParameterInfo& parameter, Show& show);
    QWidget* make_text(const ParameterInfo& parameter, Show& show);
    QWidget* make_numbers(const ParameterInfo& parameter, Show& show);
    QWidget* make_list(const ParameterInfo& parameter, Show& show);

    struct Field {
        const ParameterInfo* parameter;
        Show show;
    };
    std::vector<Field> fields_;
};

}  // namespace texton::viewer
