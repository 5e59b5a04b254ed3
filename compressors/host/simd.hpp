// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Included before Highway in every file of kernels: scalar (the compiler's base), AVX2 and AVX-512
/// are enough, and each more target is compile time. hwy::DisableTargets narrows
/// them further at run time (tests, tersor-bench --target).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
