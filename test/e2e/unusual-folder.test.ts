import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${NO_TEXT}`;

test('the service runs in a folder whose name has spaces and non-ASCII letters', async () => {
  const checkout = mkdtempSync(join(tmpdir(), 'a ø 100% checkout-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const parts = [
    'src',
    'server',
    'plugins',
    'packages',
    'web',
    'docs',
    'README.md',
    'package.json',
    'tsconfig.json',
  ];
  for (const part of parts) cpSync(join(ROOT, part), join(checkout, part), { recursive: true });
  for (const part of ['node_modules', 'native']) symlinkSync(join(ROOT, part), join(checkout, part));
  const service = await launchService({
    config: CONFIG,
    env: { PLUGINS: 'speech' },
    main: join(checkout, 'server/main.ts'),
  });
  onTestFinished(async () => void (await service.stop()));
  const response = await speakStreamed(service, 'Hello.');
  expect(response.status).toBe(200);
  expect((await response.bytes()).length).toBeGreaterThan(10_000);
  expect(await service.stop()).toBe(0);
});
