#include <texton/batch.h>

#include <fstream>
#include <iostream>

void batch_example() {
    std::ofstream("pipeline.json") << R"({"steps": [{"kernel": "gaussian", "parameters": {"sigma": 2}}]})";
    texton::Batch batch({.pipeline = "pipeline.json",
                         .inputs = {"phantom_0.png", "phantom_1.png", "phantom_2.png"},
                         .output = "blurred/{stem}.png",
                         .device = "cpu",
                         .workers = 2});
    const texton::BatchSummary first = batch.run([](const texton::BatchEvent& event) { std::cout << event.failure; });
    const texton::BatchSummary second = batch.run();  // computes what is missing, changed or failed: nothing
    std::cout << first.done << " images, then " << second.skipped << " done before\n";
}

// Prints:
// 3 images, then 3 done before
