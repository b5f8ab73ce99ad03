#pragma once
#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <texton/kernel.h>

namespace texton::viewer {

/// A field for each parameter of a kernel, made from what the registry says of it.
class ParameterFields : public QWidget {
    Q_OBJECT

public:
    explicit ParameterFields(const KernelInfo& kernel, QWidget* parent = nullptr);

    /// What is not named has its standard value. Emits nothing.
    void set_values(const std::map<std::string, ParameterValue>& values);

Q_SIGNALS:
    /// By a person.
    void edited(const std::string& name, const texton::ParameterValue& value);

private:
    using Show = std::function<void(const ParameterValue&)>;

    // Each makes a field and says how it shows a value.
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
