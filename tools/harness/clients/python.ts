import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cachedPackages } from './package-cache.ts';

/** Whether Python with pip is installed; for `needs(context, HAS_PIP, 'Python with pip')`. */
export const HAS_PIP = (() => {
  const python = Bun.which('python3');
  return python !== null && Bun.spawnSync([python, '-m', 'pip', '--version']).success;
})();

/** The packages and versions of a script's requirements.txt, separated by commas. */
export async function pinnedFor(script: string): Promise<string> {
  return (await readFile(requirementsOf(script), 'utf8')).trim().split('\n').join(', ');
}

/** How packages are installed. */
export interface PackageOptions {
  /** False installs only the packages of the file, because some dependencies are large and unused. */
  readonly dependencies?: boolean;
}

export interface PythonOptions extends PackageOptions {
  /** File next to the script with the packages. Default: requirements.txt. */
  readonly requirements?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a Python script with the packages of a file next to it, which the first run installs into the cache of the user.
 * @param input JSON for standard input.
 * @returns the output lines that are JSON objects.
 * @throws Error with the error output if the script fails.
 */
export async function runPython<Line>(
  script: string,
  input: object,
  { requirements, env = {}, ...packages }: PythonOptions = {},
): Promise<Line[]> {
  const PYTHONPATH = await pythonPackages(requirementsOf(script, requirements), packages);
  const output = await run(['python3', script], `${JSON.stringify(input)}\n`, { ...env, PYTHONPATH });
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

/** The folder with the packages of a requirements.txt. Not a virtual environment, because the module `venv` may be missing. */
export async function pythonPackages(
  requirements: string,
  { dependencies = true }: PackageOptions = {},
): Promise<string> {
  return cachedPackages('test-python', requirements, async (folder) => {
    const pip = ['python3', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    if (!dependencies) pip.push('--no-deps');
    await run([...pip, '--target', folder, '-r', requirements]);
  });
}

function requirementsOf(script: string, name = 'requirements.txt'): string {
  return join(dirname(script), name);
}

async function run(
  command: readonly string[],
  input = '',
  env: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    stdin: new Blob([input]),
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with code ${exitCode}:\n${errors}`);
  return output;
}
