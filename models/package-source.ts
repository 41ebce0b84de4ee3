import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackagePart } from './model-files.ts';
import { reason, SourceError } from './source-error.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Rejects when it cannot be started, takes too long or `signal` aborts. */
export type RunCommand = (
  argv: readonly string[],
  options: { cwd?: string | undefined; timeoutMs: number; signal: AbortSignal },
) => Promise<CommandResult>;

const RESOLVE_TIMEOUT_MS = 180_000;
const FETCH_TIMEOUT_MS = 3_600_000;

/** {@link RunCommand} by a child process without input. */
export const runCommand: RunCommand = async (argv, { cwd, timeoutMs, signal }) => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const child = Bun.spawn([...argv], {
    ...(cwd === undefined ? {} : { cwd }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal: AbortSignal.any([signal, timeout]),
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  signal.throwIfAborted();
  if (timeout.aborted && child.signalCode !== null)
    throw new Error(`it took longer than ${timeoutMs / 1000} s`);
  return { exitCode, stdout, stderr };
};

/** How a package is written in commands and messages. */
export function packageLabel(part: PackagePart): string {
  return part.ecosystem === 'pypi' ? `${part.name}==${part.version}` : `${part.name}@${part.version}`;
}

/**
 * Asks the ecosystem's own client, as it is set up on this machine (mirrors, proxies, certificates), where
 * the archives lie. All parts are of one ecosystem or several; each ecosystem is asked once.
 * @returns one address for each part, in order.
 * @throws SourceError when a client is missing, old, or does not know a package.
 */
export async function resolveArchives(
  parts: readonly PackagePart[],
  signal: AbortSignal,
  run: RunCommand = runCommand,
): Promise<string[]> {
  const pypi = parts.filter((part) => part.ecosystem === 'pypi');
  const npm = parts.filter((part) => part.ecosystem === 'npm');
  const urls = new Map<PackagePart, string>();
  if (pypi.length > 0) await resolvePypi(pypi, urls, signal, run);
  for (const part of npm) urls.set(part, await resolveNpm(part, signal, run));
  return parts.map((part) => {
    const url = urls.get(part);
    if (url === undefined) throw new SourceError(`pip did not say where ${packageLabel(part)} lies`);
    return url;
  });
}

interface PipReport {
  readonly install?: readonly {
    readonly download_info?: { readonly url?: string };
    readonly metadata?: { readonly name?: string };
  }[];
}

/** A dry run of pip reads the index (and package metadata), not the archives themselves. */
async function resolvePypi(
  parts: readonly PackagePart[],
  urls: Map<PackagePart, string>,
  signal: AbortSignal,
  run: RunCommand,
): Promise<void> {
  const argv = [
    'install',
    '--dry-run',
    '--ignore-installed',
    '--report',
    '-',
    ...PIP_OPTIONS,
    ...parts.map(packageLabel),
  ];
  const { stdout } = await runClient(
    'pip',
    ['python3', '-m', 'pip', ...argv],
    RESOLVE_TIMEOUT_MS,
    signal,
    run,
  );
  let report: PipReport;
  try {
    report = JSON.parse(stdout) as PipReport;
  } catch (error) {
    throw new SourceError('pip printed no readable report', { cause: error });
  }
  for (const part of parts) {
    const found = report.install?.find((item) => normalName(item.metadata?.name) === normalName(part.name));
    const url = found?.download_info?.url;
    if (url !== undefined) urls.set(part, url);
  }
}

// The archives hold data only: the Python that would import them, and what it would need, do not matter.
const PIP_OPTIONS = [
  '--no-deps',
  '--ignore-requires-python',
  '--only-binary',
  ':all:',
  '--no-input',
  '--quiet',
];

// A published version never changes, so npm's cache is as good as its index. With npm's own retries a machine
// without network would wait for minutes before the next source gets its turn.
const NPM_OPTIONS = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];

async function resolveNpm(part: PackagePart, signal: AbortSignal, run: RunCommand): Promise<string> {
  const argv = ['npm', 'view', packageLabel(part), 'dist.tarball', '--json', ...NPM_OPTIONS];
  const { stdout } = await runClient('npm', argv, RESOLVE_TIMEOUT_MS, signal, run);
  try {
    const url: unknown = JSON.parse(stdout);
    if (typeof url === 'string') return url;
  } catch (error) {
    throw new SourceError('npm printed no readable answer', { cause: error });
  }
  throw new SourceError(`npm did not say where ${packageLabel(part)} lies`);
}

/**
 * Lets the ecosystem's client fetch an archive itself, without resume: the way that works where an index
 * asks for credentials that only the client knows.
 * @param dir an empty folder for the archive.
 * @returns path of the archive.
 * @throws SourceError when the client fails.
 */
export async function fetchWithClient(
  part: PackagePart,
  dir: string,
  signal: AbortSignal,
  run: RunCommand = runCommand,
): Promise<string> {
  if (part.ecosystem === 'pypi') {
    const argv = ['python3', '-m', 'pip', 'download', '--dest', dir, ...PIP_OPTIONS, packageLabel(part)];
    await runClient('pip', argv, FETCH_TIMEOUT_MS, signal, run);
  } else {
    const argv = ['npm', 'pack', packageLabel(part), '--pack-destination', dir, '--silent', ...NPM_OPTIONS];
    await runClient('npm', argv, FETCH_TIMEOUT_MS, signal, run);
  }
  const [archive] = await readdir(dir);
  if (archive === undefined) throw new SourceError(`the client left no archive of ${packageLabel(part)}`);
  return join(dir, archive);
}

async function runClient(
  client: string,
  argv: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
  run: RunCommand,
): Promise<CommandResult> {
  let result: CommandResult;
  try {
    result = await run(argv, { timeoutMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new SourceError(`${client} could not be run (${reason(error)})`, { cause: error });
  }
  if (result.exitCode !== 0) {
    const lines = result.stderr.trim().split('\n');
    const last = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '';
    throw new SourceError(`${client} failed with exit code ${result.exitCode}: ${last.trim().slice(0, 300)}`);
  }
  return result;
}

/** The Python index treats case, `-`, `_` and `.` in names as equal (PEP 503). */
function normalName(name: string | undefined): string | undefined {
  return name?.toLowerCase().replace(/[-_.]+/g, '-');
}
