/** Memory of the native addon. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';

test('resamplers are freed by the garbage collector without a call of close', async () => {
  // Runs in a separate process so that other tests do not change its memory. Each round allocates 80 MB of
  // windows.
  const path = join(await tempDir(), 'garbage.ts');
  writeFileSync(
    path,
    `import { native } from ${JSON.stringify(join(import.meta.dirname, 'native.ts'))};
    const silence = new Int16Array(4_000);
    const round = async () => {
      for (let i = 0; i < 4_000; i++) {
        native.resamplerPush(native.createResampler(48_000, 8_000, 'int16', false), silence);
        if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      Bun.gc(true);
      await new Promise((resolve) => setImmediate(resolve));
      return process.memoryUsage().rss;
    };
    const first = await round();
    await round();
    console.log((await round()) - first);`,
  );
  const child = Bun.spawn([process.execPath, path], { stdout: 'pipe', stderr: 'inherit' });
  const grownBytes = Number(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(grownBytes).toBeLessThan(40 * 2 ** 20);
});
