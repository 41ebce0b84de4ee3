import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { sine, wavFile } from '../../../tools/harness/media/wav-files.ts';

test('a file of half an hour is read with bounded memory', async () => {
  // The samples are a sparse region of the file: silence.
  const path = join(await tempDir(), 'upload');
  await writeFile(
    path,
    wavFile(
      { kind: 'int', bits: 16, rateHz: 8000, channels: 1, claims: { dataBytes: 28_800_000 } },
      sine(0, 8000),
    ),
  );
  await truncate(path, 44 + 28_800_000);
  // In a separate process, because other tests change the memory of this one.
  const script = join(await tempDir(), 'half-an-hour.ts');
  await writeFile(
    script,
    `import { audioFileReader } from ${JSON.stringify(join(import.meta.dirname, 'audio-file-reader.ts'))};
    const reader = audioFileReader({ environment: {} });
    const before = process.memoryUsage.rss();
    const { samples } = await reader.openFile(${JSON.stringify(path)}, 8000, 'file', new AbortController().signal);
    let total = 0;
    for await (const block of samples) total += block.length;
    console.log(JSON.stringify({ total, grownBytes: process.memoryUsage.rss() - before }));
    await reader.close();`,
  );
  const child = Bun.spawn([process.execPath, script], { stdout: 'pipe', stderr: 'inherit' });
  const { total, grownBytes } = JSON.parse(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(total).toBe(1800 * 8000);
  // All samples as floats would be 58 MB.
  expect(grownBytes).toBeLessThan(40 * 2 ** 20);
});
