#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera {

/// Finds rows of a column by the hash of their value: open addressing over row numbers, because a node for
/// each of millions of rows would cost several times the column itself.
class RowIndex {
public:
    /// The row among those with `hash` for which equal(row) holds.
    template <typename Equal>
    std::optional<std::uint32_t> find(std::size_t hash, Equal&& equal) const {
        if (slots_.empty()) return std::nullopt;
        const auto short_hash = static_cast<std::uint32_t>(hash);
        for (std::size_t i = start(short_hash); slots_[i].row_plus_one != 0;
             i = (i + 1) & (slots_.size() - 1))
            if (slots_[i].hash == short_hash && equal(slots_[i].row_plus_one - 1))
                return slots_[i].row_plus_one - 1;
        return std::nullopt;
    }

    void insert(std::size_t hash, std::uint32_t row) {
        if ((count_ + 1) * 2 > slots_.size()) grow();
        place({static_cast<std::uint32_t>(hash), row + 1});
        ++count_;
    }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t row_plus_one = 0; ///< 0: free
    };

    std::size_t start(std::uint32_t hash) const {
        return (std::size_t{hash} * 0x9E3779B97F4A7C15ULL >> 20U) & (slots_.size() - 1);
    }

    void place(Slot slot) {
        std::size_t i = start(slot.hash);
        while (slots_[i].row_plus_one != 0)
            i = (i + 1) & (slots_.size() - 1);
        slots_[i] = slot;
    }

    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.row_plus_one != 0) place(slot);
    }

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

} // namespace tessera
