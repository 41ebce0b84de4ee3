import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../server/config.ts';
import { ESPEAK_ENGINE } from '../../src/engines/espeak/shared/files.ts';
import { cachedFilePath, catalog, catalogEntry, entriesForEngines } from '../../src/models/model-files.ts';
import { NO_MODELS } from '../../tools/harness/services/launcher.ts';
import { startHubServer } from '../doubles/hub-server.ts';
import { ggufFile } from '../generators/gguf-writer.ts';
import { onPiperHub } from '../generators/piper-voices.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { repetitions } from '../harness/tier.ts';

const root = join(import.meta.dirname, '..', '..');

/** Runs a script with the model cache in `modelsDir`. */
async function run(
  script: string,
  args: readonly string[],
  modelsDir: string,
  env: Readonly<Record<string, string>> = {},
) {
  const child = Bun.spawn([process.execPath, join(root, 'scripts', script), ...args], {
    cwd: root,
    env: { ...process.env, MODELS_DIR: modelsDir, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

describe('bun run models', () => {
  test('list prints every entry with its licence and state', async () => {
    const { stdout, exitCode } = await run('models.ts', ['list'], await tempDir());
    expect(exitCode).toBe(0);
    for (const { id, licence } of catalog) {
      expect(stdout).toContain(`${id}: `);
      expect(stdout).toContain(licence);
    }
    expect(stdout.match(/; not on disk$/gm)).toHaveLength(catalog.length);
    expect(stdout).toMatch(/^kokoro-voices: .*\n {2}used by svc-tts, tts-1, /m);
    expect(stdout).toMatch(/^ {2}used by qwen2\.5-0\.5b-instruct; memory 491\.4 MB$/m);
  });

  test('fetch of a conversation model downloads its parts', async () => {
    const config = join(await tempDir(), 'service.toml');
    await writeFile(config, '[models.talk]\nkind = "conversation"\nllm = "smollm2-135m-instruct"\n');
    const { modelsDir } = loadConfig(process.env);
    const parts = await run('models.ts', ['fetch', 'svc-stt', 'smollm2-135m-instruct', 'svc-tts'], modelsDir);
    const fetched = await run('models.ts', ['fetch', 'talk'], modelsDir, { CONFIG: config });
    const countOf = ({ stdout }: { readonly stdout: string }) => Number(stdout.split(' ')[0]);
    // Voice activity and end-of-turn detection.
    expect(countOf(fetched)).toBe(countOf(parts) + 2);
    expect(fetched.stdout).toContain('0 files were downloaded');
  });

  test('fetch downloads the files of a model id, and list shows them', async () => {
    const bytes = ggufFile([{ key: 'general.architecture', type: 'string', value: 'none' }]);
    const { origin } = await startHubServer({
      files: { 'owner/model/resolve/main/weights.gguf': { bytes, isLarge: true } },
    });
    const modelsDir = await tempDir();
    const config = join(await tempDir(), 'service.toml');
    await writeFile(config, '[models.own]\nkind = "llama"\nweights = "hf:owner/model/weights.gguf"\n');
    const env = { CONFIG: config, HF_ENDPOINT: origin };
    const fetched = await run('models.ts', ['fetch', 'own'], modelsDir, env);
    expect(fetched).toMatchObject({
      exitCode: 0,
      stdout: `1 models are in ${modelsDir}; 1 files were downloaded.\n`,
    });
    const again = await run('models.ts', ['fetch', 'hf:owner/model/weights.gguf'], modelsDir, env);
    expect(again.stdout).toContain('0 files were downloaded');
    const { stdout } = await run('models.ts', ['list'], modelsDir, env);
    expect(stdout).toMatch(/^hf:owner\/model\/weights\.gguf: .*; on disk\n {2}used by own; memory/m);
  });

  test('fetch downloads a Piper voice by its name, and list shows its licence and size', async () => {
    const voice = 'de_DE-thorsten-medium';
    const files = onPiperHub(voice, { graph: new Uint8Array(2_000_000), settings: {} }, '* License: CC0\n');
    const { origin } = await startHubServer({ files });
    const modelsDir = await tempDir();
    // Its phonemes are those of eSpeak NG, which other tests have downloaded.
    await mkdir(join(modelsDir, 'sha256'));
    const { modelsDir: real } = loadConfig(process.env);
    for (const { files } of entriesForEngines([ESPEAK_ENGINE])) {
      for (const { sha256 } of files) {
        await symlink(cachedFilePath(real, sha256), cachedFilePath(modelsDir, sha256));
      }
    }
    const config = join(await tempDir(), 'service.toml');
    await writeFile(config, `[models.piper-de]\nkind = "piper"\nvoice = "${voice}"\n`);
    const env = { CONFIG: config, HF_ENDPOINT: origin };
    const before = await run('models.ts', ['list'], modelsDir, env);
    expect(before.stdout).toMatch(
      /^de_DE-thorsten-medium: size unknown until downloaded; licence of the repository; not on disk\n {2}used by piper-de\n {2}repository rhasspy\/piper-voices$/m,
    );
    const fetched = await run('models.ts', ['fetch', voice], modelsDir, env);
    expect(fetched.exitCode).toBe(0);
    const { stdout } = await run('models.ts', ['list'], modelsDir, env);
    expect(stdout).toMatch(/^de_DE-thorsten-medium: 2\.0 MB; CC0; on disk\n {2}used by piper-de$/m);
  });

  test('path reports the fetch command of a missing file', async () => {
    const { stderr, exitCode } = await run('models.ts', ['path', 'kokoro-vocabulary'], await tempDir());
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/config\.json .* is missing .*bun run models fetch kokoro-vocabulary/);
  });

  test('verify reports a corrupt file and fails', async () => {
    const modelsDir = await tempDir();
    const [file] = catalogEntry('kokoro-vocabulary').files;
    if (file === undefined) throw new Error('The entry has no file.');
    const path = cachedFilePath(modelsDir, file.sha256);
    await mkdir(dirname(path));
    await writeFile(path, new Uint8Array(file.bytes));
    const { stdout, exitCode } = await run('models.ts', ['verify'], modelsDir);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^corrupt: config\.json of kokoro-vocabulary: sha256 is/m);
    expect(stdout).toMatch(/^0 good, 1 corrupt, \d+ not in the cache\.$/m);
  });

  const INVALID: [string[], number, RegExp][] = [
    [['fetch', 'nonsense'], 1, /Unknown model entry 'nonsense'\. Known entries: kokoro-82m-int8/],
    [['path'], 2, /Usage/],
    [['nonsense'], 2, /Usage/],
    [[], 2, /Usage/],
  ];
  test.each(INVALID.slice(0, repetitions(2, INVALID.length)))('rejects %j', async (args, code, message) => {
    const { stderr, exitCode } = await run('models.ts', args, await tempDir());
    expect(exitCode).toBe(code);
    expect(stderr).toMatch(message);
  });
});

test('setup fails with one line that names the path without write access', async () => {
  const checkout = await tempDir();
  for (const path of ['scripts', 'src/models/source-error.ts', 'src/contract', 'src/engines', 'src/kit']) {
    await cp(join(root, path), join(checkout, path), { recursive: true });
  }
  // Even root cannot write to this folder.
  await symlink('/sys/kernel', join(checkout, '.cache'));
  const child = Bun.spawn([process.execPath, join(checkout, 'scripts/setup.ts')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  expect(await child.stderr.text()).toMatch(
    /^setup failed: E\w+: .*setup\.lock'\. Grant this user write access to .*\n$/,
  );
  expect(await child.exited).toBe(1);
});

test('setup succeeds without a model of a hub that cannot be reached', async () => {
  const config = join(await tempDir(), 'service.toml');
  const away = '[models.ear]\nkind = "whisper"\nweights = "hf:owner/ear"\n';
  await writeFile(config, `${NO_MODELS}${away}`);
  const { modelsDir } = loadConfig(process.env);
  // Nothing listens on this port.
  const env = { CONFIG: config, HF_ENDPOINT: 'http://127.0.0.1:9', PLUGINS: 'speech' };
  const { stderr, exitCode } = await run('setup.ts', [], modelsDir, env);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^setup: models: Downloading owner\/ear from http:\/\/127\.0\.0\.1:9 failed: /m);
  expect(stderr).toContain('the service starts without this model and tries again.');
});

test('setup rejects an unknown purpose', async () => {
  const { stderr, exitCode } = await run('setup.ts', ['--for=nonsense'], await tempDir());
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    'setup failed: Usage: bun run setup [--for=start|dev|check|test|bench|image] [--gpu]\n',
  );
});
