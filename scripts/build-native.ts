/**
 * Builds the native addon with cmake-js if its inputs have changed.
 *
 * - bun scripts/build-native.ts              builds native/build/Release/voice_native.node
 * - bun scripts/build-native.ts --sanitize   builds and runs the C++ tests under AddressSanitizer and UBSan
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';

const require = createRequire(import.meta.url);
const NATIVE = join(import.meta.dirname, '..', 'native');
const BUILD = join(NATIVE, 'build');
const ADDON = join(BUILD, 'Release', 'voice_native.node');
const STAMP = join(BUILD, 'Release', 'voice_native.stamp');
const TESTS = join(BUILD, 'sanitize');

type Log = (line: string) => void;

/** The missing build tool, with installation instructions; undefined if all are installed. */
export function missingBuildTool(): string | undefined {
  if (Bun.which('cmake') === null) {
    return 'cmake is missing: install cmake 3.18 or later (Debian and Ubuntu: apt-get install cmake g++ make; macOS: brew install cmake)';
  }
  if (process.platform === 'win32') return undefined; // cmake finds Visual Studio by itself
  if (['c++', 'g++', 'clang++'].every((name) => Bun.which(name) === null)) {
    return 'a C++20 compiler is missing: install g++ 11 or later, or clang 14 or later (Debian and Ubuntu: apt-get install g++ make; macOS: xcode-select --install)';
  }
  return undefined;
}

/** Digest of everything that the addon depends on: sources, packages and platform. */
function inputDigest(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(NATIVE, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [join(NATIVE, 'CMakeLists.txt'), join(NATIVE, 'package.json'), ...sources.sort()]) {
    hash
      .update(`${relative(NATIVE, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  // Packages that are linked into the addon or that control the build; cmake-js provides the headers.
  const requireInCmakeJs = createRequire(require.resolve('cmake-js/package.json'));
  for (const name of ['cmake-js', 'node-addon-api', 'node-api-headers']) {
    const from = name === 'node-api-headers' ? requireInCmakeJs : require;
    const { version } = from(`${name}/package.json`) as { version: string };
    hash.update(`${name}@${version}\0`);
  }
  return hash.update(`${process.platform}-${process.arch}`).digest('hex');
}

/** Runs a command and returns its output. @throws Error with the output if it fails. */
async function run(
  command: string[],
  failure: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
    env: { ...process.env, ...environment },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${failure} (exit status ${code}):\n${out}${err}`);
  return out + err;
}

/**
 * Ensures that the addon is up to date.
 * @param log receives progress lines; not called if there is nothing to do.
 * @returns whether the addon was built.
 * @throws Error that names the missing tool, or with the compiler's output.
 */
export async function buildNative(log: Log): Promise<boolean> {
  const digest = inputDigest();
  if (existsSync(ADDON) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest) return false;
  const missing = missingBuildTool();
  if (missing !== undefined) throw new Error(`The native addon cannot be built: ${missing}.`);
  log('building with cmake');
  await rm(STAMP, { force: true });
  const cmakeJs = join(dirname(require.resolve('cmake-js/package.json')), 'bin', 'cmake-js');
  const parallel = String(availableParallelism());
  await run(
    [process.execPath, cmakeJs, 'compile', '--directory', NATIVE, '--out', BUILD, '--parallel', parallel],
    'Building the native addon failed',
  );
  if (!existsSync(ADDON))
    throw new Error('Building the native addon failed: cmake-js created no voice_native.node');
  // Renamed into place, so that an interrupted build is not taken for a complete one.
  await writeFile(`${STAMP}.new`, digest);
  await rename(`${STAMP}.new`, STAMP);
  return true;
}

/**
 * Builds the C++ tests with AddressSanitizer and UBSan and runs them, without Node.js.
 * @returns the output of the tests.
 * @throws Error with the output if a test or a sanitizer fails, or if a tool is missing.
 */
export async function runNativeTests(log: Log): Promise<string> {
  const missing = missingBuildTool();
  if (missing !== undefined) throw new Error(`The native tests cannot be built: ${missing}.`);
  log('building the native tests with sanitizers');
  await mkdir(TESTS, { recursive: true });
  const options = [
    '-DVOICE_NATIVE_TESTS=ON',
    '-DVOICE_NATIVE_SANITIZE=ON',
    '-DCMAKE_BUILD_TYPE=RelWithDebInfo',
  ];
  await run(['cmake', '-S', NATIVE, '-B', TESTS, ...options], 'Configuring the native tests failed');
  const parallel = String(availableParallelism());
  await run(['cmake', '--build', TESTS, '--parallel', parallel], 'Building the native tests failed');
  log('running the native tests');
  return run([join(TESTS, 'voice_native_test')], 'The native tests failed', {
    ASAN_OPTIONS: 'detect_leaks=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
  });
}

if (import.meta.main) {
  const log: Log = (line) => console.log(line);
  try {
    if (process.argv.includes('--sanitize')) log((await runNativeTests(log)).trim());
    else log((await buildNative(log)) ? 'built' : 'up to date');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
