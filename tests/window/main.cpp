// Runs the window tests on Qt's offscreen platform with temporary settings.
#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/running_test.h"
#include "viewer/gui/application.h"
#include "viewer/gui/theme.h"

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    setenv("TEXTON_CPU_MEMORY", "1073741824", 1);  // small, so that a test can allocate all of it
    testing::InitGoogleTest(&argc, argv);
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    texton::test::name_running_test();
    const QTemporaryDir folder;
    QStandardPaths::setTestModeEnabled(true);
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    QApplication::setOrganizationName("texton");
    QApplication::setApplicationName("texton-window-tests");
    const texton::viewer::Application application(argc, argv);
    texton::viewer::apply_theme(*qApp);
    return RUN_ALL_TESTS();
}
