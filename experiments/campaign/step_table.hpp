#pragma once

#include <tessera/base/id.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tessera {

/// Step keys by index, and the index by key: a hash table of four bytes a slot, as there may be 10^6 steps.
class StepKeyTable {
public:
    std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }

    const StepKey& key(std::uint32_t index) const { return keys_[index]; }

    std::optional<std::uint32_t> find(const StepKey& key) const {
        if (slots_.empty()) return std::nullopt;
        const std::uint32_t slot = slots_[slot_of(key)];
        return slot == 0 ? std::nullopt : std::optional(slot - 1);
    }

    /// The index of a key, and whether it is new.
    std::pair<std::uint32_t, bool> insert(const StepKey& key) {
        if (slots_.size() < 2 * (keys_.size() + 1)) grow();
        std::uint32_t& slot = slots_[slot_of(key)];
        if (slot != 0) return {slot - 1, false};
        keys_.push_back(key);
        slot = size();
        return {slot - 1, true};
    }

    /// Room for this many keys.
    void reserve(std::size_t count) {
        keys_.reserve(count);
        while (slots_.size() < 2 * count)
            grow();
    }

private:
    /// Where the key is, or would be. Keys are hashes already.
    std::size_t slot_of(const StepKey& key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = std::hash<StepKey>{}(key)&mask;
        while (slots_[at] != 0 && keys_[slots_[at] - 1] != key)
            at = (at + 1) & mask;
        return at;
    }

    void grow() {
        slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
        for (std::uint32_t index = 0; index < size(); ++index)
            slots_[slot_of(keys_[index])] = index + 1;
    }

    std::vector<StepKey> keys_;
    std::vector<std::uint32_t> slots_; ///< 0 empty, else 1 + index; a power of two many, at most half full
};

} // namespace tessera
