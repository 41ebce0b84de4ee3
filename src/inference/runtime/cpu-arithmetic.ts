/** Selects the integer arithmetic that this processor computes fast and without saturation. */

import { readFileSync } from 'node:fs';
import type { Arithmetic } from '../onnx/convolution-product.ts';

/** Flags in /proc/cpuinfo of x86 instructions that multiply uint8 by int8 into 32 bits. */
const DOT_PRODUCT_FLAGS = ['avx512_vnni', 'avx_vnni', 'amx_int8'];

/** Returns the format of weights for the execution provider, see {@link Arithmetic}. */
export function arithmeticFor(provider: 'cpu' | 'cuda', cpu = describeCpu()): Arithmetic {
  if (provider === 'cuda') return 'float16';
  if (cpu.architecture !== 'x64') return 'int8';
  return DOT_PRODUCT_FLAGS.some((flag) => cpu.flags.has(flag)) ? 'int8' : 'uint8';
}

export interface CpuDescription {
  /** As in `process.arch`. */
  readonly architecture: string;
  readonly flags: ReadonlySet<string>;
}

/** Reads the processor flags on Linux. On other systems there are none, which selects the arithmetic that is always exact. */
function describeCpu(): CpuDescription {
  let info = '';
  try {
    info = readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    // Not Linux.
  }
  const flags = /^flags\s*:\s*(.*)$/m.exec(info)?.[1]?.split(' ') ?? [];
  return { architecture: process.arch, flags: new Set(flags) };
}
