import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

/** Keys that a launched service knows unless the options say otherwise. */
export const SERVICE_KEY = 'test-key-of-a';
export const OTHER_KEY = 'test-key-of-b';

/** A part of CONFIG: transcription without a model, an upstream at a port without a server. */
export const NO_RECOGNISER = `
[models."svc-stt"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** A part of CONFIG: a voice that loads no model, as above. */
export const NO_SPEAKER = `
[models."svc-tts"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** A part of CONFIG: what writes and embeds loads no model, as above. */
export const NO_TEXT = `
[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"

[models."all-minilm-l6-v2"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** A CONFIG that loads no model. */
export const NO_MODELS = NO_SPEAKER + NO_RECOGNISER + NO_TEXT;

export interface LaunchOptions {
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text of the CONFIG file; absent means the service's defaults, with real models. */
  readonly config?: string;
  /** Kept by the caller; absent means a fresh folder that {@link LaunchedService.stop} removes. */
  readonly dataDir?: string;
  /** The path that must answer 200 before the launch is done. */
  readonly until?: '/healthz' | '/readyz';
  /** Entry file, for tests that add plugins of their own; the real one when absent. */
  readonly main?: string;
}

export interface LaunchedService {
  readonly baseUrl: string;
  readonly pid: number;
  readonly dataDir: string;
  /** The exit code, once the process has ended. */
  readonly exited: Promise<number>;
  /** Everything printed so far, by inference processes too: log lines, the key of a first start, errors. */
  output(): string;
  /** The log lines so far. */
  log(): Record<string, unknown>[];
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGUSR2'): void;
  /** Sends a request with the key of organization `a`, unless `init` names its own headers. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** SIGTERM, then the exit code. Removes the folders. Idempotent. */
  stop(): Promise<number>;
}

/** A process that ended before it served. */
export class LaunchError extends Error {
  readonly exitCode: number;
  readonly output: string;

  constructor(exitCode: number, output: string) {
    super(`the service ended with code ${exitCode} before it served:\n${output}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/**
 * Starts the real service in a process of its own, on a free port and with a fresh DATA_DIR.
 * @throws LaunchError when it ends before it serves.
 */
export async function launchService(options: LaunchOptions = {}): Promise<LaunchedService> {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  const dataDir = options.dataDir ?? join(folder, 'data');
  const configPath = join(folder, 'service.toml');
  if (options.config !== undefined) writeFileSync(configPath, options.config);
  const { PATH, HOME, MODELS_DIR, XDG_CACHE_HOME, LD_LIBRARY_PATH } = process.env;
  const env = {
    ...{ PATH, HOME, MODELS_DIR, XDG_CACHE_HOME, LD_LIBRARY_PATH },
    PORT: '0',
    DATA_DIR: dataDir,
    API_KEYS: `${SERVICE_KEY}:a,${OTHER_KEY}:b`,
    CONFIG: options.config === undefined ? undefined : configPath,
    ...options.env,
  };
  const child = Bun.spawn([process.execPath, options.main ?? MAIN], {
    // Not the repository: a developer's own service.toml must not change what is tested.
    cwd: folder,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const cleanUp = () => rmSync(folder, { recursive: true, force: true });

  let output = '';
  const serving = Promise.withResolvers<number>();
  const readingOutput = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk, { stream: true });
      const port = logLines(output).find((line) => line.msg === 'listening')?.port;
      if (typeof port === 'number') serving.resolve(port);
    }
  })();
  // Kept apart, because a line of the one may come in the middle of a line of the other.
  let errors = '';
  const readingErrors = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) errors += decoder.decode(chunk, { stream: true });
  })();
  const reading = Promise.all([readingOutput, readingErrors]);
  void child.exited.then(async (exitCode) => {
    await reading;
    serving.reject(new LaunchError(exitCode, output + errors));
  });

  let port: number;
  try {
    port = await serving.promise;
  } catch (error) {
    cleanUp();
    throw error;
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  await untilOk(`${baseUrl}${options.until ?? '/readyz'}`, async () => {
    const exitCode = await child.exited;
    await reading;
    return new LaunchError(exitCode, output + errors);
  });

  let stopped: Promise<number> | undefined;
  return {
    baseUrl,
    pid: child.pid,
    dataDir,
    exited: child.exited.then(async (exitCode) => {
      await reading;
      return exitCode;
    }),
    output: () => output + errors,
    log: () => logLines(output),
    signal: (name) => child.kill(name),
    fetch: (path, init = {}) =>
      fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${SERVICE_KEY}` }, ...init }),
    stop() {
      stopped ??= (async () => {
        child.kill('SIGTERM');
        const exitCode = await child.exited;
        await reading;
        cleanUp();
        return exitCode;
      })();
      return stopped;
    },
  };
}

const POLL_MS = 50;

/** Waits until a URL answers 200. @throws what `end` resolves to, when that comes first. */
async function untilOk(url: string, end: () => Promise<LaunchError>): Promise<void> {
  let ended: LaunchError | undefined;
  void end().then((error) => {
    ended = error;
  });
  while (ended === undefined) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await Bun.sleep(POLL_MS);
  }
  throw ended;
}

/** The complete JSON lines of an output; other lines are left out. */
function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Asks a launched service to speak a text as streamed pcm. */
export function speakStreamed(service: LaunchedService, input: string): Promise<Response> {
  return service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts', input, response_format: 'pcm' }),
  });
}

/**
 * Ids of the processes that a process has started and that live.
 * @param command a part of their command line; absent means all.
 */
export function childrenOf(pid: number, command = ''): number[] {
  const output = Bun.spawnSync(['ps', '-o', 'pid=,args=', '--ppid', String(pid)]).stdout.toString();
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line.includes(command));
  return lines.map((line) => Number.parseInt(line, 10));
}

/** A part of the command line of inference processes. */
export const INFERENCE = 'inference-worker';
