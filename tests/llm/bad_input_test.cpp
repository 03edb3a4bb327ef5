#include "checkpoint_writer.hpp"
#include "program.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace {

using namespace tessera::llm;

std::string shipped_model() {
    return (test::data_folder() / "stories260K-hf").string();
}

std::string shipped_text() {
    return (test::data_folder() / "wiki.test.raw").string();
}

/// Runs it and checks for exit code 2, no output and one message that names `part`.
void check_refused(const std::vector<std::string>& arguments, const std::string& part) {
    const auto outcome = test::run_program(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("tessera-llm: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.find(part) != std::string::npos);
}

std::vector<std::string> evaluate(const std::string& model, const std::string& text,
                                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"evaluate", "--model", model, "--data", text, "--limit", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

} // namespace

TEST_CASE("wrong usage is answered in one line") {
    check_refused({"evalaute"}, "did you mean 'evaluate'");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--precison", "fp32"}),
                  "did you mean '--precision'");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--precision", "int5.5"}), "choose one of");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--context", "1"}), "--context 1");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--group-size", "0"}), "--group-size 0");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--device", "gpu"}), "--device gpu");
    check_refused(evaluate(shipped_model(), shipped_text(), {"--device", "cuda:99"}), "--device cuda:99");
    check_refused({"evaluate", "--model", shipped_model()}, "--data is required");
    check_refused({"benchmark", "--model", shipped_model(), "--generate", "1"}, "--generate 1");
}

TEST_CASE("contexts beyond the model's positions and too short texts are refused") {
    const test::TemporaryFolder folder;
    check_refused(evaluate(shipped_model(), shipped_text(), {"--context", "513"}), "512 positions");
    test::write_text(folder.file("short"), "too short\n");
    check_refused(evaluate(shipped_model(), folder.file("short")), "too short");
    test::write_text(folder.file("empty"), "");
    check_refused(evaluate(shipped_model(), folder.file("empty"), {"--definition", "gptq"}), "too short");
    check_refused(evaluate(shipped_model(), folder.file("absent")), "not a file");
}

TEST_CASE("bad checkpoints are refused with the path and the remedy") {
    const test::TemporaryFolder folder;
    const std::string model = folder.path().string();
    check_refused(evaluate(folder.file("absent"), shipped_text()), "absent: not a folder");
    std::filesystem::copy(shipped_model(), folder.path(), std::filesystem::copy_options::recursive);
    std::filesystem::resize_file(folder.path() / "model.safetensors", 500'000);
    check_refused(evaluate(model, shipped_text()), "model.safetensors: ");
    test::write_text(folder.path() / "model.safetensors", std::string(64, '\xFF'));
    check_refused(evaluate(model, shipped_text()), "limit");
    test::write_text(folder.path() / "model.safetensors", test::safetensors_of(test::small_tensors()));
    check_refused(evaluate(model, shipped_text()), "; ");
    std::filesystem::remove(folder.path() / "model.safetensors");
    check_refused(evaluate(model, shipped_text()), "neither model.safetensors");

    test::write_text(folder.path() / "config.json", test::small_config());
    test::write_text(folder.path() / "model.safetensors", test::safetensors_of(test::small_tensors()));
    check_refused(evaluate(model, shipped_text(), {"--context", "16"}), "512 pieces, the model only 16");
    std::filesystem::remove(folder.path() / "tokenizer.model");
    check_refused(evaluate(model, shipped_text()), "tokenizer.model: not found");
    test::write_text(folder.path() / "config.json", "{");
    check_refused(evaluate(model, shipped_text()), "config.json: invalid JSON");
}
