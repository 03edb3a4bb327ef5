#pragma once

#include <tessera/base/value.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/tables.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A column of a query, over the cells of the tables. A coded one has few different values: what is to be
/// done with each (a comparison, a conversion) is done once a code.
struct CellColumn {
    std::string header;

    /// If coded: the value of each code, in the order in which they are sorted, and the code of a cell.
    std::vector<std::optional<Value>> dictionary;
    std::function<std::uint32_t(std::uint32_t cell)> code;

    /// Else: the value of a cell.
    std::function<std::optional<Value>(std::uint32_t cell)> compute;

    bool coded() const { return static_cast<bool>(code); }

    std::optional<Value> value(std::uint32_t cell) const {
        return coded() ? dictionary[code(cell)] : compute(cell);
    }
};

/// Finds columns by the names that users write: axes, "axis.field", repeat, cell, status, metrics ("NAME",
/// "NAME.baseline", and "metric:NAME" where an axis has the name), and what is known of the cell's attempt
/// ("duration_s" or "attempt.duration_s"). `tables` and `state` must outlive it and the columns.
class CellColumns {
public:
    CellColumns(const Tables& tables, const CampaignState& state);

    /// Throws UserError with a suggestion for an unknown name; `option` is where it stood. If no metric was
    /// recorded yet, an unknown name may become one: it is taken for a metric without values if
    /// `may_be_metric`.
    CellColumn find(const std::string& name, std::string_view option, bool may_be_metric = false) const;

    /// Headers of the columns of a row: axes, repeat, cell, status.
    std::vector<std::string> identity_names() const;

    /// Headers of all metrics: those that the campaign declares, then others of accepted attempts in the
    /// order of recording.
    std::vector<std::string> metric_names() const;

    /// Each name that find() takes, but for "metric:" and "attempt." forms.
    std::vector<std::string> all_names() const;

private:
    struct MetricSeries {
        std::string name;
        MetricRole role = MetricRole::value;
    };

    const AxisColumn* axis_of(const std::string& name) const; ///< nullptr if `name` is no axis nor axis.field
    std::optional<CellColumn> find_axis(const std::string& name) const;
    std::optional<CellColumn> find_identity(const std::string& name) const;
    std::optional<CellColumn> find_metric(const std::string& name) const;
    CellColumn metric_column(const MetricSeries& series) const;
    CellColumn axis_column(const AxisColumn& axis, const std::string& name, const std::string& field) const;
    std::string metric_header(const MetricSeries& series) const;
    bool is_identity_name(const std::string& name) const;
    void list_metrics();

    const Tables& tables_;
    const CampaignState& state_;
    std::vector<std::size_t> axes_;
    std::vector<MetricSeries> metrics_;
};

/// What is known of the attempt that a cell shows: its accepted one, else the last. Empty for an unknown
/// name.
std::optional<CellColumn> attempt_column(const Tables& tables, const CampaignState& state,
                                         const std::string& name);

/// The names that attempt_column takes.
std::vector<std::string> attempt_column_names();

} // namespace tessera
