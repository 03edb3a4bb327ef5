#pragma once

#include <tessera/base/table.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera {

enum class Aggregate : std::uint8_t {
    mean,
    min,
    max,
    median, ///< of an even number of values the mean of the two in the middle
    std,    ///< of the sample (n - 1)
    count,
    ci95, ///< half the width of the mean's 95 % confidence interval by Student's t distribution
};

inline constexpr std::array<std::string_view, 7> aggregate_names{"mean", "min",   "max", "median",
                                                                 "std",  "count", "ci95"};

/// Throws UserError with a suggestion.
Aggregate parse_aggregate(std::string_view name);

/// Of the numbers of one group; sorts them for the median. Null if there are too few: none, or below two for
/// std and ci95. A NaN among them makes the result NaN, other than `count`.
TableCell aggregate(Aggregate kind, std::span<double> values);

/// The t for which a Student-t variable of `degrees` (at least 1) degrees of freedom lies in [-t, t] with
/// probability 0.95.
double student_t95(std::uint64_t degrees);

} // namespace tessera
