import type { TestContext } from 'vitest';
import { arithmeticFor } from '../../src/inference/runtime/cpu-arithmetic.ts';

/**
 * Skips a test of int8 weights on processors without dot-product instructions: their products saturate there, and the
 * service gives these processors uint8 weights.
 */
export function needsArithmetic(context: TestContext, arithmetic: string): void {
  if (arithmetic === 'int8' && arithmeticFor('cpu') !== 'int8')
    context.skip('int8 saturates on this processor');
}
