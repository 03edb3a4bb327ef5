#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/store/aggregate.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace tessera {

namespace {

double mean_of(std::span<const double> values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

double sample_deviation(std::span<const double> values) {
    const double mean = mean_of(values);
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median_of(std::span<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// P(-t <= T <= t), by the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3
/// and 26.7.4).
double central_probability(double t, std::uint64_t degrees) {
    const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
    const double cosine = std::cos(angle);
    const bool odd = degrees % 2 == 1;
    double sum = 0;
    double term = odd ? cosine : 1;
    for (std::uint64_t i = odd ? 3 : 2; i <= degrees; i += 2) {
        sum += term;
        term *= cosine * cosine * static_cast<double>(i - 1) / static_cast<double>(i);
    }
    if (odd) return 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
    return std::sin(angle) * sum;
}

} // namespace

Aggregate parse_aggregate(std::string_view name) {
    for (std::size_t i = 0; i < aggregate_names.size(); ++i)
        if (aggregate_names[i] == name) return static_cast<Aggregate>(i);
    const std::vector<std::string> names(aggregate_names.begin(), aggregate_names.end());
    throw UserError(fmt::format("unknown aggregate '{}'{}; there are {}", name, did_you_mean(name, names),
                                fmt::join(names, ", ")));
}

double student_t95(std::uint64_t degrees) {
    constexpr std::uint64_t series_limit = 2000;
    if (degrees > series_limit) {
        // The first term of Cornish and Fisher's expansion about the normal quantile; its error is below 1e-6
        // here.
        constexpr double normal = 1.959963984540054;
        return normal + (normal * normal * normal + normal) / (4 * static_cast<double>(degrees));
    }
    double low = 0;
    double high = 16; // above 12.706, the value for one degree
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (central_probability(middle, degrees) < 0.95 ? low : high) = middle;
    }
    return (low + high) / 2;
}

TableCell aggregate(Aggregate kind, std::span<double> values) {
    const std::size_t needed = kind == Aggregate::std || kind == Aggregate::ci95 ? 2 : 1;
    if (kind == Aggregate::count) return static_cast<std::int64_t>(values.size());
    if (values.size() < needed) return {};
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
        return std::numeric_limits<double>::quiet_NaN();
    switch (kind) {
    case Aggregate::min:
        return *std::min_element(values.begin(), values.end());
    case Aggregate::max:
        return *std::max_element(values.begin(), values.end());
    case Aggregate::median:
        return median_of(values);
    case Aggregate::std:
        return sample_deviation(values);
    case Aggregate::ci95:
        return student_t95(values.size() - 1) * sample_deviation(values) /
               std::sqrt(static_cast<double>(values.size()));
    default:
        return mean_of(values);
    }
}

} // namespace tessera
