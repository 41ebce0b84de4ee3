import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { Glob } from 'bun';

/** Files in which images are named. */
const IMAGE_FILES = ['.github/**/*.yml', '.devcontainer/*', 'docker/*', 'deploy/**/*.yaml', 'renovate.json'];
const DEVCONTAINER = '.devcontainer/devcontainer.json';
/** The host in a reference to an image: its first part has a dot or a port, or is localhost. Hosts of examples are permitted. */
const IMAGE_HOST =
  /(?:\bFROM |\bimage"?: *"?|docker:\/\/|--(?:tag|from)[ =])((?:[\w-]+(?:\.[\w-]+)+|localhost|[\w-]+(?=:\d))(?::\d+)?)\//;
const EXAMPLE_HOST = /(?:^|\.)example(?:\.(?:com|net|org))?(?::\d+)?$/;
/** A major version or a commit; a branch changes without notice. */
const PINNED_ACTION = /^[\w.-]+\/[\w./-]+@(?:v\d+(?:\.\d+)*|[\da-f]{40})$/;

interface Step {
  readonly uses?: string;
}

interface Job extends Step {
  readonly 'runs-on'?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Step[];
}

/** The parts of a workflow and of a composite action that are checked. */
interface WorkflowFile {
  readonly jobs?: Readonly<Record<string, Job>>;
  readonly runs?: { readonly steps?: readonly Step[] };
}

/**
 * Errors in the files for editors and services around the repository: workflows that do not parse, have no time limit or use actions
 * that are not pinned; a development container without its image; an .editorconfig that contradicts biome.json; another version of the
 * service than that of package.json; and image references that name a registry host, because forks and offline machines use other hosts.
 * @param root folder of the repository.
 * @returns one line each, with the path.
 */
export async function projectFileErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for (const [path, text] of await readAll(root, ['.github/**/*.yml'])) {
    try {
      errors.push(
        ...workflowErrors(root, Bun.YAML.parse(text) as WorkflowFile).map((why) => `${path}: ${why}`),
      );
    } catch (error) {
      errors.push(`${path}: is not YAML: ${(error as Error).message}`);
    }
  }
  for (const [path, text] of await readAll(root, IMAGE_FILES)) {
    for (const [index, line] of text.split('\n').entries()) {
      const host = IMAGE_HOST.exec(line)?.[1];
      if (host !== undefined && !EXAMPLE_HOST.test(host)) {
        errors.push(`${path}:${index + 1}: names the registry host ${host}; name the image without it`);
      }
    }
  }
  const others = await Promise.all([containerErrors(root), editorErrors(root), versionErrors(root)]);
  return [...errors, ...others.flat()];
}

function workflowErrors(root: string, { jobs = {}, runs }: WorkflowFile): string[] {
  const errors: string[] = [];
  const checkAction = ({ uses }: Step) => {
    if (uses === undefined) return;
    if (uses.startsWith('./')) {
      if (!existsSync(`${root}/${uses}`)) errors.push(`uses ${uses}, which does not exist`);
    } else if (!PINNED_ACTION.test(uses)) {
      errors.push(`uses ${uses}; pin a version, as in actions/checkout@v4, or a commit`);
    }
  };
  for (const [name, job] of Object.entries(jobs)) {
    checkAction(job);
    const isOwn = job.uses === undefined;
    if (isOwn && job['timeout-minutes'] === undefined) errors.push(`job ${name} has no timeout-minutes`);
    for (const step of job.steps ?? []) checkAction(step);
  }
  for (const step of runs?.steps ?? []) checkAction(step);
  return errors;
}

/** The stage of an image in which the development container runs, if it does not exist. */
async function containerErrors(root: string): Promise<string[]> {
  const settings = Bun.file(`${root}/${DEVCONTAINER}`);
  if (!(await settings.exists())) return [];
  const { build } = (await settings.json()) as {
    readonly build?: { readonly dockerfile: string; readonly target: string };
  };
  if (build === undefined) return [];
  const path = posix.join(posix.dirname(DEVCONTAINER), build.dockerfile);
  const file = Bun.file(`${root}/${path}`);
  const stages = (await file.exists()) ? (await file.text()).matchAll(/^FROM .* AS (\S+)$/gm) : [];
  const hasTarget = [...stages].some(([, name]) => name === build.target);
  return hasTarget ? [] : [`${DEVCONTAINER}: ${path} has no stage ${build.target}`];
}

/** Differences between the section [*] of .editorconfig and the formatter in biome.json. */
async function editorErrors(root: string): Promise<string[]> {
  const [editorConfig, biome] = [Bun.file(`${root}/.editorconfig`), Bun.file(`${root}/biome.json`)];
  if (!(await editorConfig.exists())) return ['.editorconfig is missing'];
  const { formatter } = (await biome.json()) as {
    readonly formatter: {
      readonly indentStyle: string;
      readonly indentWidth: number;
      readonly lineWidth: number;
    };
  };
  const general = /^\[\*\]\n([^[]*)/m.exec(await editorConfig.text())?.[1] ?? '';
  const lines = new Set(general.split('\n').map((line) => line.trim()));
  return [
    `indent_style = ${formatter.indentStyle}`,
    `indent_size = ${formatter.indentWidth}`,
    `max_line_length = ${formatter.lineWidth}`,
  ]
    .filter((line) => !lines.has(line))
    .map((line) => `.editorconfig: [*] must have '${line}', as biome.json`);
}

/** Images of another version than that of package.json, and a changelog without a section for it. */
async function versionErrors(root: string): Promise<string[]> {
  const { version } = (await Bun.file(`${root}/package.json`).json()) as { readonly version: string };
  const errors: string[] = [];
  for (const [path, text] of await readAll(root, ['deploy/**/*.yaml'])) {
    for (const [, tag] of text.matchAll(/\/voice-service:(\d[\w.]*)/g)) {
      if (tag !== version)
        errors.push(`${path}: has the image ${tag}, but package.json the version ${version}`);
    }
  }
  const changelog = await Bun.file(`${root}/CHANGELOG.md`).text();
  if (!changelog.includes(`\n## [${version}]`)) errors.push(`CHANGELOG.md: has no section [${version}]`);
  return errors;
}

async function readAll(root: string, patterns: readonly string[]): Promise<[path: string, text: string][]> {
  const paths = patterns.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })]);
  return await Promise.all(
    paths.map(async (path): Promise<[string, string]> => [path, await Bun.file(`${root}/${path}`).text()]),
  );
}
