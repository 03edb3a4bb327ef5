#include <tessera/base/fd.hpp>
#include <tessera/program/report.hpp>

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include <fcntl.h>

namespace tessera::llm {
namespace {

bool is_non_finite(const Report& value) {
    return value == "NaN" || value == "Infinity" || value == "-Infinity";
}

std::string metric_line(const Metric& metric, const Report& value) {
    const bool is_text = value.is_string() && !is_non_finite(value);
    if (is_text) return Report{{"metric", metric.key}, {"text", value}}.dump() + "\n";
    Report line{{"metric", metric.key}, {"value", value}};
    if (!metric.unit.empty()) line["unit"] = metric.unit;
    if (!metric.direction.empty()) line["direction"] = metric.direction;
    return line.dump() + "\n";
}

} // namespace

Report json_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

void print_report(const Report& report, OutputFormat format) {
    if (format == OutputFormat::json) {
        fmt::print("{}\n", report.dump());
        return;
    }
    for (const auto& [key, value] : report.items()) {
        fmt::print("{:<26} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
}

void append_metrics(const Report& report, const std::vector<Metric>& metrics) {
    const char* const path = std::getenv("TESSERA_METRICS");
    if (path == nullptr || *path == '\0') return;
    std::string lines;
    for (const Metric& metric : metrics)
        lines += metric_line(metric, report.at(metric.key));
    const UniqueFd fd = open_file(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    write_all(fd.get(), lines, path);
}

} // namespace tessera::llm
