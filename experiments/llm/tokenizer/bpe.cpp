#include <tessera/tokenizer/bpe.hpp>
#include <tessera/tokenizer/utf8.hpp>

#include <algorithm>
#include <queue>

namespace tessera::llm {
namespace {

constexpr std::int32_t none = -1;

/// A run of characters in the list; empty once it was merged into its left neighbour.
struct Symbol {
    std::string_view text;
    std::int32_t previous = none;
    std::int32_t next = none;
};

/// A pair that could be merged. It is stale if either symbol has changed since, which their sizes tell.
struct Candidate {
    float score = 0.0F;
    std::int32_t left = none;
    std::int32_t right = none;
    std::size_t size = 0;

    /// Priority queues serve the greatest first.
    bool operator<(const Candidate& other) const {
        return score < other.score || (score == other.score && left > other.left);
    }
};

class Merger {
public:
    Merger(std::string_view text, const PieceScore& score)
        : score_(score) {
        while (!text.empty()) {
            const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
            const auto index = static_cast<std::int32_t>(symbols_.size());
            symbols_.push_back({text.substr(0, length), index - 1, index + 1});
            text.remove_prefix(length);
        }
        if (!symbols_.empty()) symbols_.back().next = none;
    }

    std::vector<std::string_view> run() {
        for (std::size_t i = 1; i < symbols_.size(); ++i) {
            propose(static_cast<std::int32_t>(i) - 1, static_cast<std::int32_t>(i));
        }
        while (!candidates_.empty()) {
            const Candidate best = candidates_.top();
            candidates_.pop();
            if (is_current(best)) merge(best);
        }
        std::vector<std::string_view> pieces;
        for (std::int32_t i = symbols_.empty() ? none : 0; i != none; i = at(i).next)
            pieces.push_back(at(i).text);
        return pieces;
    }

private:
    Symbol& at(std::int32_t index) { return symbols_[static_cast<std::size_t>(index)]; }

    void propose(std::int32_t left, std::int32_t right) {
        if (left == none || right == none) return;
        const std::size_t size = at(left).text.size() + at(right).text.size();
        const auto score = score_({at(left).text.data(), size});
        if (score) candidates_.push({*score, left, right, size});
    }

    bool is_current(const Candidate& candidate) {
        const Symbol& left = at(candidate.left);
        const Symbol& right = at(candidate.right);
        return !left.text.empty() && !right.text.empty() &&
               left.text.size() + right.text.size() == candidate.size;
    }

    void merge(const Candidate& pair) {
        Symbol& left = at(pair.left);
        Symbol& right = at(pair.right);
        left.text = {left.text.data(), pair.size};
        left.next = right.next;
        if (right.next != none) at(right.next).previous = pair.left;
        right.text = {};
        propose(left.previous, pair.left);
        propose(pair.left, left.next);
    }

    const PieceScore& score_;
    std::vector<Symbol> symbols_;
    std::priority_queue<Candidate> candidates_;
};

} // namespace

std::vector<std::string_view> merge_pairs(std::string_view text, const PieceScore& score) {
    return Merger(text, score).run();
}

} // namespace tessera::llm
