#pragma once

#include <tessera/quantization/precision.hpp>
#include <tessera/text/windows.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace tessera::llm {

enum class OutputFormat { json, text };

/// What evaluate and benchmark share.
struct CommonOptions {
    std::string model;
    Precision precision;
    std::int64_t group_size = 128;
    std::string device = "cpu";
    int threads = 1;
    OutputFormat format = OutputFormat::text;
};

struct EvaluateOptions {
    CommonOptions common;
    std::string task;
    std::string data;
    Definition definition = Definition::study;
    std::int64_t context = 512;
    /// 0: all windows.
    std::int64_t limit = 0;
    /// Windows in one forward pass; 0: one on the CPU, 16 on a GPU.
    std::int64_t batch = 0;
};

struct BenchmarkOptions {
    CommonOptions common;
    /// Text that the prompts are taken from; empty: random tokens.
    std::string data;
    std::int64_t batch = 1;
    std::int64_t prompt = 128;
    std::int64_t generate = 64;
    std::int64_t warmup = 1;
    std::int64_t repetitions = 5;
    std::uint64_t seed = 0;
};

/// Text to print, such as help or the version, instead of working.
struct Notice {
    std::string text;
};

using Command = std::variant<Notice, EvaluateOptions, BenchmarkOptions>;

/// Throws UserError for anything that the program does not understand.
Command parse_command_line(int argc, const char* const* argv);

} // namespace tessera::llm
