import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadOfMachine } from './machine-load.ts';
import { type FileResult, hasFailed, PROGRESS_FILE, ProgressReader } from './progress.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const REPORTER = join(import.meta.dirname, 'progress-reporter.ts');
const POLL_MS = 500;
/** Time for vitest to end after SIGTERM. */
const GRACE_MS = 5000;

export interface VitestRun {
  /** Folder of the vitest configuration. */
  readonly root: string;
  /** Arguments of vitest: the configuration, projects, files. */
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The run is stopped if no test ends for this time, in ms. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

/** The results of a run of vitest. */
export interface VitestResult {
  /** Of all files that started. A file without an end, because vitest crashed or was stopped, has an error. */
  readonly files: readonly FileResult[];
  /** Errors that belong to no file. */
  readonly errors: readonly string[];
}

/** Runs vitest under Bun in a process group of its own, which ends with the run. */
export async function runVitest(run: VitestRun): Promise<VitestResult> {
  const scratch = mkdtempSync(join(tmpdir(), 'voice-service-test-'));
  const progressPath = join(scratch, 'progress.jsonl');
  writeFileSync(progressPath, '');
  const progress = new ProgressReader(progressPath);
  const vitest = Bun.spawn(
    [
      process.execPath,
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      `--root=${run.root}`,
      '--passWithNoTests',
      '--pool=threads',
      '--reporter=default',
      `--reporter=${REPORTER}`,
      ...run.args,
    ],
    {
      cwd: ROOT,
      env: { ...process.env, ...run.env, [PROGRESS_FILE]: progressPath },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    },
  );
  const killGroup = (name: 'SIGTERM' | 'SIGKILL') => {
    try {
      process.kill(-vitest.pid, name);
    } catch {
      // The group has ended.
    }
  };
  const stop = async () => {
    killGroup('SIGTERM');
    await Promise.race([vitest.exited, Bun.sleep(GRACE_MS)]);
    killGroup('SIGKILL');
  };
  run.signal.addEventListener('abort', stop, { once: true });

  const files = new Map<string, FileResult>();
  const running = new Set<string>();
  const errors: string[] = [];
  let isFinished = false;
  let stalled: string | undefined;
  let lastProgressMs = performance.now();
  const read = () => {
    for (const event of progress.next()) {
      lastProgressMs = performance.now();
      if (event.type === 'start') running.add(event.file);
      if (event.type === 'end') {
        running.delete(event.file);
        files.set(event.file, event);
      }
      if (event.type === 'finish') {
        isFinished = true;
        errors.push(...event.errors);
      }
    }
  };
  let exitCode: number | undefined;
  void vitest.exited.then((code) => {
    exitCode = code;
  });
  while (exitCode === undefined) {
    await Promise.race([vitest.exited, Bun.sleep(POLL_MS)]);
    read();
    if (stalled === undefined && performance.now() - lastProgressMs > run.stallMs) {
      stalled = `no test has ended for ${Math.round(run.stallMs / 60_000)} minutes`;
      console.log(`${stalled}; running: ${[...running].join(', ') || 'no file'}`);
      await stop();
    }
  }
  read();
  // Services and servers of tests that did not end.
  killGroup('SIGKILL');
  rmSync(scratch, { recursive: true });

  const unfinished = stalled ?? `vitest exited with code ${exitCode} before the file ended`;
  for (const file of running) {
    files.set(file, { file, durationMs: 0, tests: [], errors: [unfinished], load: loadOfMachine() });
  }
  const results = [...files.values()];
  // For example an invalid configuration, or an error between two files.
  if (exitCode !== 0 && errors.length === 0 && !results.some(hasFailed)) {
    errors.push(isFinished ? `vitest exited with code ${exitCode}` : unfinished);
  }
  return { files: results, errors };
}
