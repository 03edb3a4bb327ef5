#pragma once

#include <tessera/campaign/plan.hpp>
#include <tessera/campaign/step_compiler.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Fills a plan: one pass over the points of the matrix gives every cell its id and its step, and finds
/// points that would silently share one.
class PlanBuilder {
public:
    PlanBuilder(Plan& plan, const StepCompiler& compiler);

    /// Reports axes that change nothing to `problems`.
    void build(Problems& problems);

private:
    /// Points that share a step though they differ in these axes, none of them a label.
    struct Conflict {
        std::uint64_t count = 0;
        PointIndex first = 0;
        PointIndex second = 0;
    };

    void prepare_cell_fragments();
    void add_point(PointIndex point);
    void note_conflict(PointIndex first, PointIndex second);
    void report_conflicts(Problems& problems) const;
    std::string describe(PointIndex point) const;
    void group_cells_by_step();
    void make_digest();

    Plan* plan_;
    const StepCompiler* compiler_;
    std::vector<std::size_t> axes_by_name_;
    std::vector<std::vector<std::string>> cell_fragments_; ///< by axis and code: its part of a cell id
    std::vector<PointContext> repeats_;                    ///< with the codes of the current point
    std::vector<std::uint32_t> codes_;
    std::string meaning_;
    std::string cell_meaning_;
    std::map<std::vector<std::size_t>, Conflict> conflicts_;
};

/// Checks the resources of every point; of many points with the same values of the axes that matter only one.
void check_all_resources(const StepCompiler& compiler, Problems& problems);

} // namespace tessera
