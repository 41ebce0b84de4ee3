import { describe, expect, test } from 'vitest';
import { unusableGpu } from './cuda-driver.ts';

const CUDA_13_0 = 13_000;
const CUDA_13_1 = 13_010;

describe('unusableGpu', () => {
  test.each([86, 87, 89, 120, 121])('allows capability %d with any driver of CUDA 13', (capability) => {
    expect(unusableGpu({ version: CUDA_13_0, capabilities: [capability] })).toBeUndefined();
  });

  test.each([75, 80, 90, 100])('requires a newer driver for capability %d', (capability) => {
    expect(unusableGpu({ version: CUDA_13_1, capabilities: [capability] })).toBeUndefined();
    expect(unusableGpu({ version: CUDA_13_0, capabilities: [capability] })).toBe(
      `llama.cpp needs driver 590 or later (CUDA 13.1) on GPUs of compute capability ${capability / 10}${capability % 10 === 0 ? '.0' : ''}; this driver supports CUDA 13.0.`,
    );
  });

  test('rejects older GPUs', () => {
    expect(unusableGpu({ version: CUDA_13_1, capabilities: [70] })).toBe(
      'llama.cpp has no code for GPUs of compute capability 7.0; allowed: 7.5 and later.',
    );
  });

  test('checks every GPU', () => {
    expect(unusableGpu({ version: CUDA_13_0, capabilities: [89, 90] })).toContain('9.0');
    expect(unusableGpu({ version: CUDA_13_0, capabilities: [89, 86] })).toBeUndefined();
  });
});
