#pragma once

#include <tessera/campaign/campaign.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

using PointIndex = std::uint32_t;

/// One value that an axis takes, with the fields of its definition.
struct AxisValue {
    Value value; ///< of a table: its name
    Definition definition;
};

/// One dimension of the matrix as the plan sees it.
struct Axis {
    std::string name;
    Place place;
    std::vector<AxisValue>
        values; ///< of the product, then those that only includes use; code c means values[c - 1]
    std::uint32_t default_code = 0; ///< from [matrix.defaults], 0 if there is none
    bool label = false;             ///< may change nothing
    bool machine = false;           ///< is no part of identity

    /// The TOML type of its values, or "mixed".
    std::string type() const;
};

/// The points of a campaign: the product of its axes (zipped ones move together) without what is excluded,
/// then what is included. Points are numbered, the axis that stands first in the file changing slowest, and
/// their codes computed from the number; only what is excluded or included takes memory.
class Matrix {
public:
    /// A bound on memory: a plan keeps some tens of bytes a cell.
    static constexpr std::uint64_t max_cells = 100'000'000;

    /// Reports to `problems` what is wrong; the result is then of no use. Rules that match nothing are
    /// `warnings`.
    Matrix(const Campaign& campaign, Problems& problems, Problems& warnings);

    /// In the order of the file; axes that only includes have come last.
    const std::vector<Axis>& axes() const { return axes_; }

    PointIndex point_count() const { return product_count_ + static_cast<PointIndex>(added_.size()); }

    /// Points of the product that an exclude rule took away.
    std::uint64_t excluded_count() const { return excluded_count_; }

    /// 0 if the axis is unset at this point, else 1 + the index of its value.
    std::uint32_t code(PointIndex point, std::size_t axis) const;

    /// Codes of all axes of a point.
    void codes(PointIndex point, std::vector<std::uint32_t>& out) const;

    /// The index of an axis, axes().size() if there is none of this name.
    std::size_t find_axis(std::string_view name) const;

private:
    struct Dimension {
        std::uint32_t size = 1;
        std::uint32_t stride = 1;
    };

    static constexpr std::size_t no_dimension = std::numeric_limits<std::size_t>::max();

    void add_axes(const Campaign& campaign);
    bool add_dimensions(const Campaign& campaign, Problems& problems);
    std::uint32_t code_of(std::size_t axis, const Value& value, const Campaign& campaign);
    void exclude(const Campaign& campaign, Problems& warnings);
    void include(const IncludeRule& rule, const Campaign& campaign, Problems& problems);
    void set_code(PointIndex point, std::size_t axis, std::uint32_t code);
    void check_added(Problems& problems) const;
    std::optional<PointIndex> find_in_product(const std::vector<std::uint32_t>& codes) const;
    std::string describe(PointIndex point) const;

    std::vector<Axis> axes_;
    std::vector<std::size_t> dimension_of_axis_; ///< no_dimension for axes that only includes have
    std::vector<Dimension> dimensions_;
    PointIndex product_count_ = 1;
    bool filtered_ = false;
    std::vector<std::uint32_t> kept_; ///< numbers in the product that remain; used if something is excluded
    std::vector<std::vector<std::uint32_t>>
        extension_codes_;                           ///< by axis, then by point of the product; mostly empty
    std::vector<std::vector<std::uint32_t>> added_; ///< codes of added points
    std::vector<Place> added_places_;
    std::uint64_t excluded_count_ = 0;
};

} // namespace tessera
