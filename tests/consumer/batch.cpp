// Applies a pipeline to an image twice. The second run finds that nothing is left.
#include <texton/batch.h>
#include <texton/error.h>

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: batch IN.png\n";
        return 2;
    }
    std::ofstream("pipeline.json") << R"({"steps": [{"kernel": "gaussian"}]})";
    try {
        texton::Batch batch({.pipeline = "pipeline.json", .inputs = {argv[1]}, .output = "made/{stem}_blurred.png"});
        const texton::BatchSummary first =
            batch.run([](const texton::BatchEvent& event) { std::cout << event.item.input << event.failure << '\n'; });
        const texton::BatchSummary second = batch.run();
        std::cout << first.done << " done, then " << second.skipped << " skipped\n";
        return first.done == 1 && second.skipped == 1 && std::filesystem::exists(batch.items().front().outputs.front())
                   ? 0
                   : 1;
    } catch (const texton::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
