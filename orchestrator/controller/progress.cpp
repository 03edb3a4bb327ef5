#include <tessera/base/text.hpp>
#include <tessera/controller/progress.hpp>

#include <nlohmann/json.hpp>

namespace tessera {

std::string to_json(const Progress& progress) {
    nlohmann::json json = {
        {"part", progress.part},           {"phase", progress.phase},     {"cells", progress.cells},
        {"succeeded", progress.succeeded}, {"reused", progress.reused},   {"failed", progress.failed},
        {"active", progress.active},       {"workers", progress.workers}, {"elapsed_s", progress.elapsed_s},
    };
    if (progress.remaining_s) json["remaining_s"] = *progress.remaining_s;
    json["running"] = nlohmann::json::array();
    for (const Progress::Running& step : progress.running)
        json["running"].push_back(
            {{"worker", step.worker}, {"what", repair_utf8(step.what)}, {"elapsed_s", step.elapsed_s}});
    json["failures"] = nlohmann::json::array();
    for (const std::string& message : progress.failures)
        json["failures"].push_back(repair_utf8(message));
    return json.dump();
}

std::optional<Progress> parse_progress(std::string_view line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
        Progress progress;
        json.at("part").get_to(progress.part);
        json.at("phase").get_to(progress.phase);
        json.at("cells").get_to(progress.cells);
        json.at("succeeded").get_to(progress.succeeded);
        json.at("reused").get_to(progress.reused);
        json.at("failed").get_to(progress.failed);
        json.at("active").get_to(progress.active);
        json.at("workers").get_to(progress.workers);
        json.at("elapsed_s").get_to(progress.elapsed_s);
        if (json.contains("remaining_s")) progress.remaining_s = json.at("remaining_s").get<double>();
        for (const auto& step : json.at("running"))
            progress.running.push_back({step.at("worker").get<std::uint32_t>(),
                                        step.at("what").get<std::string>(),
                                        step.at("elapsed_s").get<double>()});
        json.at("failures").get_to(progress.failures);
        return progress;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

} // namespace tessera
