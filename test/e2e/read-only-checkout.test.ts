import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CAN_MOUNT, mountReadOnly } from '../../tools/harness/servers/small-disk.ts';
import { NO_MODELS } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';

const ROOT = join(import.meta.dirname, '../..');

test('`bun run start` serves from a read-only checkout that is set up', async (context) => {
  needs(context, CAN_MOUNT, 'the right to mount a folder');
  const checkout = await mountReadOnly(ROOT);
  onTestFinished(() => checkout.close());
  const folder = mkdtempSync(join(tmpdir(), 'read-only-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const configPath = join(folder, 'service.toml');
  writeFileSync(configPath, NO_MODELS);
  const start = (env: Readonly<Record<string, string>>) => {
    const { PATH, HOME, MODELS_DIR } = process.env;
    const own = { PORT: '0', PLUGINS: 'partner', API_KEYS: 'test-key-of-a:a', CONFIG: configPath };
    return Bun.spawn([process.execPath, 'run', 'start'], {
      cwd: checkout.folder,
      env: { PATH, HOME, MODELS_DIR, ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  // The default DATA_DIR is in the checkout.
  const refused = start({});
  expect(await refused.stderr.text()).toMatch(
    /Cannot start: The database .* cannot be opened: EROFS.* Set DATA_DIR to a folder that the service can write\./,
  );
  expect(await refused.exited).toBe(1);

  const started = start({ DATA_DIR: join(folder, 'data') });
  let output = '';
  const decoder = new TextDecoder();
  for await (const chunk of started.stderr) {
    output += decoder.decode(chunk, { stream: true });
    if (!output.includes('Ready. Console: ')) continue;
    started.kill('SIGTERM');
    break;
  }
  expect(output).toContain('setup: native addon: up to date');
  expect(output).toContain('Ready. Console: ');
  await started.exited;
});
