/**
 * Runs before `start`, `dev`, `test`, `check` and `bench`: installs the locked packages, builds the native addon and
 * the console, and downloads the model files. Each step is skipped if its result is up to date. Until the
 * packages are installed, only modules without packages may be loaded: all others are imported inside the
 * steps.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/kit/clock.ts';
import { StopSignals } from '../src/kit/process/stop-signals.ts';
import { sha256 } from '../src/kit/storage/content-hash.ts';
import { isStorageFull, isUnwritable } from '../src/kit/storage/disk-errors.ts';
import { withFileLock } from '../src/kit/storage/file-lock.ts';
import { currentPlatform, unsupportedPlatform } from './setup/platform.ts';
import { trimPackages } from './setup/trim-packages.ts';

const root = join(import.meta.dir, '..');
const stop = new AbortController();
const signals = new StopSignals(systemClock);
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (signals.received() === 'exit') process.exit(SIGNAL_EXIT_CODE);
    stop.abort(new Error('Stopped.'));
  });
}

interface Purpose {
  /** The packages of the service and of its build, or all packages, including those of tests and checks. */
  readonly packages: 'production' | 'all';
  /** Engines of the model catalog whose files are needed in addition to the configured models; undefined: no models. */
  readonly engines?: readonly string[];
}

const PURPOSES: Readonly<Record<string, Purpose>> = {
  start: { packages: 'production', engines: [] },
  dev: { packages: 'all', engines: [] },
  check: { packages: 'all' },
  test: {
    packages: 'all',
    engines: ['test'],
  },
  bench: { packages: 'all', engines: ['bench'] },
  // A container image is built without models; they are downloaded to its volume at the first start.
  image: { packages: 'production' },
};

const INSTALLED = 'installed';
/** Of a process that a signal ended, in shells. */
const SIGNAL_EXIT_CODE = 130;

/** A failed step, with a message for the user. */
class SetupError extends Error {
  override readonly name = 'SetupError';
}

async function main(args: readonly string[]): Promise<void> {
  const unsupported = unsupportedPlatform(currentPlatform());
  if (unsupported !== undefined) throw new SetupError(unsupported);
  const name = args.find((arg) => arg.startsWith('--for='))?.slice('--for='.length) ?? 'start';
  const purpose = PURPOSES[name];
  if (purpose === undefined || args.some((arg) => !arg.startsWith('--for=') && arg !== '--gpu')) {
    throw new SetupError(`Usage: bun run setup [--for=${Object.keys(PURPOSES).join('|')}] [--gpu]`);
  }
  const { packages, engines } = purpose;
  const onWait = () => log('another set-up is running in this checkout; waiting for it …');
  const lock = join(root, '.cache', 'setup.lock');
  const prepare = async () => {
    if ((await step('packages', () => installPackages(packages))) === INSTALLED) return true;
    await step('native addon', buildAddon);
    await step('console', bundleConsole);
    if (args.includes('--gpu')) await step('GPU packages', addGpuPackages);
    return false;
  };
  // In a read-only checkout, steps can only find that their results are up to date, which needs no lock.
  const isInstalled = (await mayWrite(dirname(lock)))
    ? await withFileLock(lock, { signal: stop.signal, onWait }, prepare)
    : await prepare();
  if (isInstalled) return await continueInNewProcess(args);
  if (engines !== undefined) await step('models', () => downloadModels(engines));
  if (name === 'test') await step('packages and graphs of tests', prepareForTests);
}

/** Whether this process may create files in a folder, or the folder itself. */
async function mayWrite(folder: string): Promise<boolean> {
  try {
    await access(existsSync(folder) ? folder : dirname(folder), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a step and logs its duration and result. */
async function step(name: string, work: () => Promise<string>): Promise<string> {
  stop.signal.throwIfAborted();
  const startMs = performance.now();
  const outcome = await work();
  log(`${name}: ${outcome} (${((performance.now() - startMs) / 1000).toFixed(2)} s)`);
  return outcome;
}

/** Runs the other steps in a new process, because this one started without the packages. */
async function continueInNewProcess(args: readonly string[]): Promise<void> {
  const rest = Bun.spawn([process.execPath, import.meta.path, ...args], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  });
  // A signal to the process group also reaches the child, which reports it.
  const forward = () => rest.kill('SIGTERM');
  stop.signal.addEventListener('abort', forward, { once: true });
  process.exitCode = await rest.exited;
}

/**
 * Installs the packages if the lock file, a package file or the runtime changed, or if more packages are needed than are
 * installed.
 */
async function installPackages(needed: Purpose['packages']): Promise<string> {
  const stampPath = join(root, 'node_modules', '.setup-stamp');
  const inputs = ['bun.lock', 'package.json', 'native/package.json', 'web/package.json'].map((name) =>
    readFileSync(join(root, name), 'utf8'),
  );
  const digest = sha256([Bun.version, process.platform, process.arch, ...inputs].join('\n'));
  const stamps = { production: `${digest} production`, all: `${digest} all` };
  const stamp = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : undefined;
  if (stamp === stamps.all || stamp === stamps[needed]) return 'as locked';
  if (!(await mayWrite(root))) {
    throw new SetupError(
      `The packages are not installed or outdated, and ${root} is read-only. Run the same command once where it is writable.`,
    );
  }
  log('packages: installing the packages of bun.lock …');
  const options = ['--frozen-lockfile', ...(needed === 'production' ? ['--production'] : [])];
  const install = Bun.spawn([process.execPath, 'install', ...options], {
    cwd: root,
    stdin: 'ignore',
    stdout: process.stderr.fd,
    stderr: 'inherit',
    signal: stop.signal,
  });
  const exitCode = await install.exited;
  stop.signal.throwIfAborted();
  if (exitCode !== 0) {
    throw new SetupError(
      `Installing the packages failed (exit code ${exitCode}); see the output above. For network errors, check the registry and proxy settings; if they name the lock file, package.json and bun.lock do not belong together.`,
    );
  }
  trimPackages(join(root, 'node_modules'), { os: process.platform, cpu: process.arch });
  writeFileSync(stampPath, stamps[needed]);
  return INSTALLED;
}

async function buildAddon(): Promise<string> {
  const { buildNative } = await import('./build-native.ts');
  try {
    return (await buildNative((line) => log(`native addon: ${line}`))) ? 'built' : 'up to date';
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function bundleConsole(): Promise<string> {
  const { buildConsole, messageOf } = await import('./build-console.ts');
  try {
    return (await buildConsole()) ? 'built' : 'up to date';
  } catch (error) {
    throw new SetupError(`Building the console failed: ${messageOf(error)}`, { cause: error });
  }
}

async function addGpuPackages(): Promise<string> {
  const { installGpuPackages } = await import('./setup/gpu-packages.ts');
  try {
    await installGpuPackages(root, stop.signal);
    return 'installed';
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function prepareForTests(): Promise<string> {
  const { prepareTests } = await import('./setup/prepare-tests.ts');
  return await prepareTests(root);
}

/** Attempts per request for files without which the service starts; it tries again while it serves. */
const OPTIONAL_ATTEMPTS = 2;

/** Verifies the files of the models that are loaded at the start by SHA-256 and downloads missing ones. */
async function downloadModels(extraEngines: readonly string[]): Promise<string> {
  const { loadConfigAndPlugins } = await import('../server/config.ts');
  const { enginesOfPlugins, entriesForModels, hubFilesForModels, modelsAtStart } = await import(
    '../src/engines/needed-files.ts'
  );
  const { fetchEntries } = await import('../src/models/fetch.ts');
  const { fetchHubFiles } = await import('../src/models/hub.ts');
  const { createProgress } = await import('../src/models/progress.ts');
  const { ModelFetchError } = await import('../src/models/source-error.ts');
  const { config } = await loadConfigAndPlugins();
  const models = modelsAtStart(config.models, config.requiredModels);
  const engines = [...enginesOfPlugins(config.plugins), ...extraEngines];
  const entries = entriesForModels({ ...models, chat: new Map() }, engines);
  const progress = createProgress(process.stderr);
  const options = { signal: stop.signal, progress, hub: config.hub };
  let fetched = await fetchEntries(config.modelsDir, entries, options);
  let files = countFiles(entries);
  const fewAttempts = { ...options, timing: { attempts: OPTIONAL_ATTEMPTS } };
  const fetchOptional = async (count: number, fetch: () => Promise<number>) => {
    try {
      fetched += await fetch();
      files += count;
    } catch (error) {
      if (!(error instanceof ModelFetchError)) throw error;
      log(`models: ${error.message}`);
      log('models: the service starts without this model and tries again.');
    }
  };
  const text = entriesForModels(models, engines).filter((entry) => !entries.includes(entry));
  for (const entry of text) {
    await fetchOptional(entry.files.length, () => fetchEntries(config.modelsDir, [entry], fewAttempts));
  }
  for (const hubFiles of hubFilesForModels(models)) {
    await fetchOptional(hubFiles.paths.length, () => fetchHubFiles(config.modelsDir, hubFiles, fewAttempts));
  }
  return `${files} files in ${config.modelsDir} have their sha256, ${fetched} fetched`;
}

function countFiles(entries: readonly { readonly files: readonly unknown[] }[]): number {
  return entries.reduce((count, { files }) => count + files.length, 0);
}

/** Expected errors have a message for the user; unexpected ones show their stack. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const forPeople = ['SetupError', 'ConfigError', 'ModelFetchError'];
  if (stop.signal.aborted || forPeople.includes(error.name)) return error.message;
  if (isUnwritable(error)) return `${error.message}. Grant this user write access to ${root}.`;
  if (isStorageFull(error)) return `${error.message}. Free some space on the disk that holds ${root}.`;
  return error.stack ?? error.message;
}

function log(line: string): void {
  process.stderr.write(`setup: ${line}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`setup failed: ${textOf(error)}\n`);
  process.exitCode = stop.signal.aborted ? SIGNAL_EXIT_CODE : 1;
}
