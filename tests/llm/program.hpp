#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::llm::test {

struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;

    nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs tessera-llm of this build, with additions to the environment such as "NAME=value".
Outcome run_program(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {});

/// evaluate of the shipped checkpoint on a text, with further arguments; checks that it succeeds.
nlohmann::json evaluate_shipped(const std::string& text, const std::vector<std::string>& more);

} // namespace tessera::llm::test
