#pragma once

#include <tessera/campaign/campaign.hpp>
#include <tessera/campaign/compiled_text.hpp>
#include <tessera/campaign/matrix.hpp>
#include <tessera/campaign/resource_reader.hpp>
#include <tessera/campaign/step_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// A step of the campaign file with everything bound that can be bound once: it gives the meaning (for the
/// key) and the resolved form of the step at any point of the matrix by appending prepared fragments.
class StepCompiler {
public:
    /// Reports every problem that the final text of some point has.
    StepCompiler(Campaign campaign, Problems& problems, Problems& warnings);

    StepCompiler(const StepCompiler&) = delete;
    StepCompiler& operator=(const StepCompiler&) = delete;

    /// False if the matrix itself was refused, so that nothing else is of use.
    bool is_complete() const { return !segments_.empty(); }

    const Campaign& campaign() const { return campaign_; }

    const Matrix& matrix() const { return matrix_; }

    /// Appends the canonical form of the step's meaning, without its end that tells repeats apart.
    void append_meaning(const PointContext& context, std::string& out) const;
    void append_repeat(const PointContext& context, std::string& out) const;

    /// True if append_meaning() differs between the repeats of a point.
    bool meaning_depends_on_repeat() const { return depends_on_repeat_; }

    PointContext context(const std::vector<std::uint32_t>& codes, std::uint32_t repeat) const;

    /// All but what only a plan knows: the cell and the axes.
    StepSpec resolve(const PointContext& context) const;
    Resources resources(const PointContext& context) const;
    std::optional<double> timeout_s(const PointContext& context) const;
    const std::string& executor(const PointContext& context) const;
    std::string accelerator(const PointContext& context) const;

    /// Reports resources that are wrong at this point.
    void check_resources(const PointContext& context, Problems& problems) const;

    /// The axes whose values the resources depend on.
    std::vector<std::size_t> resource_axes() const;

private:
    /// A part of the meaning: constant bytes, a placeholder, or what depends on the point in another way.
    struct Segment {
        enum class Kind : std::uint8_t { constant, binding, argument, fields_by_code, devices, executor };
        Kind kind = Kind::constant;
        std::string bytes;
        Binding binding;
    };

    struct CompiledResources {
        std::optional<CompiledResource> devices;
        std::optional<CompiledResource> cores;
        std::optional<CompiledResource> memory;
        std::optional<CompiledResource> timeout;
    };

    void compile(Problems& problems, Problems& warnings);
    void compile_texts(Binder& binder, Problems& problems);
    void compile_resources(Binder& binder, Problems& problems);
    void check_arguments(const SeenCodes& seen, Problems& problems) const;
    void find_executors();
    void add_accelerator();
    void add_models(Binder& binder, const SeenCodes& seen, Problems& warnings);
    void add_constant(std::string_view bytes);
    void add_text(const CompiledText& text);
    std::uint32_t devices(const PointContext& context) const;
    std::uint32_t default_devices(const PointContext& context) const;

    Campaign campaign_;
    Matrix matrix_;
    std::vector<CompiledText> command_;
    std::vector<std::pair<std::string, CompiledText>> env_;
    std::optional<CompiledText> stdin_;
    std::vector<CompiledText> keep_;
    CompiledResources resources_;
    std::size_t accelerator_axis_ = 0;          ///< one past the last axis if there is none
    std::vector<std::string> executor_by_code_; ///< of the accelerator; one entry if there is none
    std::vector<Segment> segments_;
    bool depends_on_repeat_ = false;
};

} // namespace tessera
