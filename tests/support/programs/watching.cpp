// A window that reads the frames of programs until it is killed. TEXTON_SHOW selects its address.
#include <cstdlib>

#include "tests/support/show_window.h"

int main() {
    texton::test::ShowWindow window(std::getenv("TEXTON_SHOW"));
    while (true) {
        window.receive(1);
        for (const auto& image : window.images()) texton::test::ShowWindow::read(*image);
    }
}
