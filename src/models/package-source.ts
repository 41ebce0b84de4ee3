import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackagePart } from './model-files.ts';
import { reason, SourceError } from './source-error.ts';

/** A version of a package. */
export interface PackageVersion extends Pick<PackagePart, 'ecosystem' | 'name' | 'version' | 'isSource'> {
  /** Selects one wheel of a Python package. Absent: any, because only data is read. */
  readonly wheel?: { readonly python: string; readonly platform: string };
}

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it exits. Rejects if it cannot be started, exceeds the timeout, or `signal` is aborted. */
export type RunCommand = (
  argv: readonly string[],
  options: { cwd?: string | undefined; timeoutMs: number; signal: AbortSignal },
) => Promise<CommandResult>;

const RESOLVE_TIMEOUT_MS = 180_000;
const FETCH_TIMEOUT_MS = 3_600_000;

/** {@link RunCommand} with a child process without standard input. */
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
  if (timeout.aborted && child.signalCode !== null) throw new Error(`timeout after ${timeoutMs / 1000} s`);
  return { exitCode, stdout, stderr };
};

/** A package with its version, in the syntax of its client. */
export function packageLabel(part: PackageVersion): string {
  return part.ecosystem === 'pypi' ? `${part.name}==${part.version}` : `${part.name}@${part.version}`;
}

/**
 * Resolves the download URLs of archives with the package clients of their ecosystems, which use the configuration of this
 * host (mirrors, proxies, certificates).
 * @returns one URL per part, in order.
 * @throws SourceError if a client is missing or outdated, or a package is unknown.
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
    if (url === undefined) throw new SourceError(`pip returned no URL for ${packageLabel(part)}`);
    return url;
  });
}

interface PipReport {
  readonly install?: readonly {
    readonly download_info?: { readonly url?: string };
    readonly metadata?: { readonly name?: string };
  }[];
}

/** Uses a dry run of pip, which reads the index and package metadata, but not the archives. */
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
    ...parts.flatMap(sourceOptions),
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
    throw new SourceError('invalid report of pip', { cause: error });
  }
  for (const part of parts) {
    const found = report.install?.find((item) => normalName(item.metadata?.name) === normalName(part.name));
    const url = found?.download_info?.url;
    if (url !== undefined) urls.set(part, url);
  }
}

// The archives are only read as data, so the Python version and dependencies are irrelevant.
const PIP_OPTIONS = [
  '--no-deps',
  '--ignore-requires-python',
  '--only-binary',
  ':all:',
  '--no-input',
  '--quiet',
];

/** Allows the source archive of one package, after {@link PIP_OPTIONS}. */
const sourceOptions = ({ name, isSource }: PackageVersion) => (isSource ? ['--no-binary', name] : []);

// A published version never changes, so npm may answer from its cache. With npm's default retries, a host without network
// would wait for minutes before the next source is tried.
const NPM_OPTIONS = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];

async function resolveNpm(part: PackagePart, signal: AbortSignal, run: RunCommand): Promise<string> {
  const argv = ['npm', 'view', packageLabel(part), 'dist.tarball', '--json', ...NPM_OPTIONS];
  const { stdout } = await runClient('npm', argv, RESOLVE_TIMEOUT_MS, signal, run);
  try {
    const url: unknown = JSON.parse(stdout);
    if (typeof url === 'string') return url;
  } catch (error) {
    throw new SourceError('invalid output of npm', { cause: error });
  }
  throw new SourceError(`npm returned no URL for ${packageLabel(part)}`);
}

/**
 * Fetches an archive with the package client itself, without resuming. This works for indexes that require credentials that
 * only the client has.
 * @param dir an empty folder for the archive.
 * @returns path of the archive.
 * @throws SourceError if the client fails.
 */
export async function fetchWithClient(
  part: PackageVersion,
  dir: string,
  signal: AbortSignal,
  run: RunCommand = runCommand,
): Promise<string> {
  if (part.ecosystem === 'pypi') {
    const { wheel } = part;
    const target = wheel ? ['--python-version', wheel.python, '--platform', wheel.platform] : [];
    const options = ['--dest', dir, ...PIP_OPTIONS, ...sourceOptions(part), ...target];
    const argv = ['python3', '-m', 'pip', 'download', ...options, packageLabel(part)];
    await runClient('pip', argv, FETCH_TIMEOUT_MS, signal, run);
  } else {
    const argv = ['npm', 'pack', packageLabel(part), '--pack-destination', dir, '--silent', ...NPM_OPTIONS];
    await runClient('npm', argv, FETCH_TIMEOUT_MS, signal, run);
  }
  const [archive] = await readdir(dir);
  if (archive === undefined)
    throw new SourceError(`the client downloaded no archive of ${packageLabel(part)}`);
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

/** Normalizes a package name: PyPI ignores case and treats `-`, `_` and `.` as equal (PEP 503). */
function normalName(name: string | undefined): string | undefined {
  return name?.toLowerCase().replace(/[-_.]+/g, '-');
}
