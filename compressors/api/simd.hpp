// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Included before Highway in every file of kernels: scalar (the compiler's base), AVX2 and AVX-512
/// are enough, and each more target is compile time. TERSOR_TARGETS in the environment of a test
/// narrows them (see set_targets).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
