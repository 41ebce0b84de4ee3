import { expect, test } from 'vitest';
import onnxRuntime from '../../node_modules/onnxruntime-node/package.json' with { type: 'json' };
import { ONNX_WHEEL } from './gpu-packages.ts';

test('the CUDA provider has the version of the installed ONNX Runtime', () => {
  expect(ONNX_WHEEL.version).toBe(onnxRuntime.version);
});
