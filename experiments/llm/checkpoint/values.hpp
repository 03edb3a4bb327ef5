#pragma once

namespace tessera::llm {

struct TensorView;

/// False if the tensor, of dtype F32, F16 or BF16, holds a NaN or an infinity.
bool all_finite(const TensorView& tensor);

} // namespace tessera::llm
