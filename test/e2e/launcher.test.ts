import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { NO_MODELS } from '../../tools/harness/services/launcher.ts';

const MAIN = resolve(import.meta.dirname, '../../server/main.ts');

/**
 * `npx bun run start` starts a shell, a runner and the service. SIGTERM to npx kills only the shell; the runner and the
 * service do not receive it.
 */
test('the service stops gracefully when the npx process that started it ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  const configPath = join(folder, 'service.toml');
  const runner = join(folder, 'runner.ts');
  writeFileSync(configPath, NO_MODELS);
  writeFileSync(runner, `Bun.spawnSync([process.execPath, ${JSON.stringify(MAIN)}], { stdout: 'inherit' });`);
  const shell = Bun.spawn(['sh', '-c', `'${process.execPath}' '${runner}'; true`], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      API_KEYS: 'test-key:a',
      CONFIG: configPath,
      npm_execpath: '/usr/lib/node_modules/npm/bin/npm-cli.js',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const decoder = new TextDecoder();
  for await (const chunk of shell.stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (shell.exitCode === null && output.includes('"msg":"started"')) shell.kill('SIGKILL');
  }
  // The pipe is closed, so the service, its last writer, has exited.
  expect(output).toContain('"msg":"stopping"');
  expect(output).toContain('"msg":"stopped"');
  rmSync(folder, { recursive: true });
});
