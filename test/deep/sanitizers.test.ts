import { expect, test } from 'vitest';
import { missingBuildTool, runNativeTests } from '../../scripts/build-native.ts';

const missing = missingBuildTool();

// Skipped only with a prebuilt addon: without a compiler, the addon cannot be built.
test.skipIf(missing !== undefined)(
  `the C++ tests pass under AddressSanitizer and UBSan${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const output = await runNativeTests(() => undefined);
    expect(output).toMatch(/^\d{4,} checks, 0 failed$/m);
  },
  300_000,
);
