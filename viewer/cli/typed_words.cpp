#include "viewer/cli/typed_words.h"

#include <fstream>

namespace texton::cli {

std::vector<std::string> typed_words() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

}  // namespace texton::cli
