import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';
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

/** A fake client that returns one result and records its arguments. */
function client(answer: Partial<CommandResult>) {
  const calls: (readonly string[])[] = [];
  const run = async (argv: readonly string[]): Promise<CommandResult> => {
    calls.push(argv);
    return { exitCode: 0, stdout: '', stderr: '', ...answer };
  };
  return { calls, run };
}

describe('resolveArchives', () => {
  test('resolves the URL with a dry run of pip, without dependencies', async () => {
    const report = {
      install: [
        { download_info: { url: 'https://mirror.invalid/v.whl' }, metadata: { name: 'Some_Voices' } },
      ],
    };
    const { calls, run } = client({ stdout: JSON.stringify(report) });
    expect(await resolveArchives([wheel], signal, run)).toEqual(['https://mirror.invalid/v.whl']);
    expect(calls[0]?.slice(0, 5)).toEqual(['python3', '-m', 'pip', 'install', '--dry-run']);
    expect(calls[0]).toEqual(
      expect.arrayContaining(['--no-deps', '--only-binary', ':all:', 'some-voices==1.2.0']),
    );
  });

  test('lets pip read a source archive of the packages that have no other', async () => {
    const report = {
      install: [
        { download_info: { url: 'https://mirror.invalid/v.tar.gz' }, metadata: { name: 'some-voices' } },
      ],
    };
    const { calls, run } = client({ stdout: JSON.stringify(report) });
    const urls = await resolveArchives([{ ...wheel, isSource: true }], signal, run);
    expect(urls).toEqual(['https://mirror.invalid/v.tar.gz']);
    // The later option of pip applies.
    expect(calls[0]?.join(' ')).toMatch(
      /--only-binary :all: .*--no-binary some-voices some-voices==1\.2\.0$/,
    );
  });

  test('resolves the URL with npm', async () => {
    const { calls, run } = client({ stdout: '"https://mirror.invalid/v.tgz"\n' });
    expect(await resolveArchives([tarball], signal, run)).toEqual(['https://mirror.invalid/v.tgz']);
    expect(calls[0]?.slice(0, 5)).toEqual(['npm', 'view', '@scope/voices@1.2.0', 'dist.tarball', '--json']);
  });

  test.each([
    ['nothing', '', 'invalid output of npm'],
    ['something else', '{"a":1}', 'npm returned no URL for @scope/voices@1.2.0'],
  ])('rejects output of npm that is %s', async (_name, stdout, message) => {
    await expect(resolveArchives([tarball], signal, client({ stdout }).run)).rejects.toThrow(message);
  });

  test('fails if a client is missing', async () => {
    const run = () => Promise.reject(new Error('Executable not found'));
    await expect(resolveArchives([wheel], signal, run)).rejects.toMatchObject({
      name: 'SourceError',
      message: 'pip could not be run (Executable not found)',
    });
  });

  test('rejects with the reason of an abort', async () => {
    const stopped = new Error('stopped by the test');
    const run = () => Promise.reject(new Error('killed'));
    await expect(resolveArchives([wheel], AbortSignal.abort(stopped), run)).rejects.toBe(stopped);
  });
});

describe('fetchWithClient', () => {
  test.each([
    [wheel, ['python3', '-m', 'pip', 'download', '--dest']],
    [tarball, ['npm', 'pack', '@scope/voices@1.2.0', '--pack-destination']],
  ])('returns the archive that the client downloaded', async (part, start) => {
    const dir = await tempDir();
    const calls: (readonly string[])[] = [];
    const path = await fetchWithClient(part, dir, signal, async (argv) => {
      calls.push(argv);
      await writeFile(join(dir, 'archive'), 'x');
      return { exitCode: 0, stdout: '', stderr: '' };
    });
    expect(path).toBe(join(dir, 'archive'));
    expect(calls[0]?.slice(0, start.length)).toEqual(start);
    expect(calls[0]).toContain(dir);
  });

  test('selects a wheel', async () => {
    const dir = await tempDir();
    const selected = { ...wheel, wheel: { python: '3.12', platform: 'manylinux_2_28_x86_64' } };
    let argv: readonly string[] = [];
    await fetchWithClient(selected, dir, signal, async (command) => {
      argv = command;
      await writeFile(join(dir, 'archive'), 'x');
      return { exitCode: 0, stdout: '', stderr: '' };
    });
    expect(argv.join(' ')).toContain('--python-version 3.12 --platform manylinux_2_28_x86_64');
  });

  test('fails if the client downloaded nothing', async () => {
    const dir = await tempDir();
    await expect(fetchWithClient(wheel, dir, signal, client({}).run)).rejects.toThrow(
      `no archive of ${packageLabel(wheel)}`,
    );
  });
});

describe('runCommand', () => {
  const script = (code: string) => [process.execPath, '-e', code];
  const options = { timeoutMs: 20_000, signal };

  test('returns output and exit code', async () => {
    const result = await runCommand(
      script('console.log("out"); console.error("err"); process.exit(3)'),
      options,
    );
    expect(result).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('kills a program after the timeout', async () => {
    const endless = runCommand(script('setInterval(() => {}, 1000)'), { ...options, timeoutMs: 50 });
    await expect(endless).rejects.toThrow('timeout after 0.05 s');
  });

  test('rejects if the program does not exist', async () => {
    await expect(runCommand(['no-such-program-here'], options)).rejects.toThrow();
  });
});
