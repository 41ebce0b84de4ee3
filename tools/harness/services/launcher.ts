import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../patience.ts';

const MAIN = resolve(import.meta.dirname, '../../../server/main.ts');

/** API keys of a launched service, unless `env` replaces them. */
export const SERVICE_KEY = 'test-key-of-a';
export const OTHER_KEY = 'test-key-of-b';

/** CONFIG section: transcription by an upstream without a server, so that no model is loaded. */
export const NO_RECOGNISER = `
[models."svc-stt"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** CONFIG section: speech by an upstream without a server. */
export const NO_SPEAKER = `
[models."svc-tts"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** CONFIG section: embeddings by an upstream without a server. */
export const NO_EMBEDDINGS = `
[models."all-minilm-l6-v2"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;

/** CONFIG sections: text and embeddings by an upstream without a server. */
export const NO_TEXT = `
[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
${NO_EMBEDDINGS}`;

/** A CONFIG that loads no model. */
export const NO_MODELS = NO_SPEAKER + NO_RECOGNISER + NO_TEXT;

/**
 * Whether the service is launched by a test. Several tests run at the same time, so the threads of a model would compete for
 * cores and spin while they wait for each other, which costs several times more processor time than one thread.
 */
const IN_TESTS = process.env.VITEST !== undefined;

export interface LaunchOptions {
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text of the CONFIG file. Default: the defaults of the service, with real models. Tests run models in one thread. */
  readonly config?: string;
  /** Folder owned by the caller. Default: a new folder that {@link LaunchedService.stop} removes. */
  readonly dataDir?: string;
  /** The launch is complete when this path returns 200. Default: `/readyz`. */
  readonly until?: '/healthz' | '/readyz';
  /** Entry file, for tests that add plugins. Default: `server/main.ts`. */
  readonly main?: string;
}

/** A service that runs, and keys of two organizations. */
export interface ServiceAccess {
  readonly baseUrl: string;
  readonly key: string;
  /** Of another organization. */
  readonly otherKey: string;
  /** Sends a request, with {@link key} unless `init` has headers. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface LaunchedService extends ServiceAccess {
  readonly pid: number;
  readonly dataDir: string;
  /** Resolves with the exit code when the process has exited. */
  readonly exited: Promise<number>;
  /** The output so far, including that of inference processes: log lines, the key of the first start, errors. */
  output(): string;
  /** The log lines so far. */
  log(): Record<string, unknown>[];
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGUSR2'): void;
  /**
   * Sends SIGTERM, removes the folders and returns the exit code. Idempotent.
   * @throws Error with the output if the process does not exit in time; it is killed then.
   */
  stop(): Promise<number>;
}

/** The process exited, or was killed after a long time, before it was ready. */
export class LaunchError extends Error {
  readonly exitCode: number;
  readonly output: string;

  constructor(exitCode: number, output: string) {
    super(`the service exited with code ${exitCode} before it was ready:\n${output}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/**
 * Starts the service in a separate process on a free port.
 * @throws LaunchError if the process exits before it is ready.
 */
export async function launchService(options: LaunchOptions = {}): Promise<LaunchedService> {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  const dataDir = options.dataDir ?? join(folder, 'data');
  const configPath = join(folder, 'service.toml');
  const config = IN_TESTS ? withOneThread(options.config ?? '') : options.config;
  if (config !== undefined) writeFileSync(configPath, config);
  const { PATH, HOME, MODELS_DIR, XDG_CACHE_HOME, LD_LIBRARY_PATH } = process.env;
  const env = {
    PATH,
    HOME,
    MODELS_DIR,
    XDG_CACHE_HOME,
    LD_LIBRARY_PATH,
    PORT: '0',
    DATA_DIR: dataDir,
    API_KEYS: `${SERVICE_KEY}:a,${OTHER_KEY}:b`,
    CONFIG: config === undefined ? undefined : configPath,
    ...options.env,
  };
  const child = Bun.spawn([process.execPath, options.main ?? MAIN], {
    // Not the repository, because a service.toml of the developer would change the configuration.
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
  // Separate from stdout, because a line of one stream may arrive in the middle of a line of the other.
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
  const isReady = await untilOk(`${baseUrl}${options.until ?? '/readyz'}`, child.exited);
  if (!isReady) {
    if (child.exitCode === null) child.kill('SIGKILL');
    const exitCode = await child.exited;
    await reading;
    cleanUp();
    throw new LaunchError(exitCode, output + errors);
  }

  let stopped: Promise<number> | undefined;
  return {
    ...serviceAccess(baseUrl, SERVICE_KEY, OTHER_KEY),
    pid: child.pid,
    dataDir,
    exited: child.exited.then(async (exitCode) => {
      await reading;
      return exitCode;
    }),
    output: () => output + errors,
    log: () => logLines(output),
    signal: (name) => child.kill(name),
    stop() {
      stopped ??= (async () => {
        child.kill('SIGTERM');
        const limit = new AbortController();
        const isLate = await Promise.race([
          child.exited.then(() => false),
          sleep(STOP_LIMIT_MS, true, { signal: limit.signal }).catch(() => false),
        ]);
        limit.abort();
        if (isLate) child.kill('SIGKILL');
        const exitCode = await child.exited;
        await reading;
        cleanUp();
        if (isLate)
          throw new Error(`the service did not stop within ${STOP_LIMIT_MS} ms:\n${output + errors}`);
        return exitCode;
      })();
      return stopped;
    },
  };
}

/** Access to a service at a URL. */
export function serviceAccess(baseUrl: string, key: string, otherKey: string): ServiceAccess {
  return {
    baseUrl,
    key,
    otherKey,
    fetch: (path, init = {}) =>
      fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` }, ...init }),
  };
}

/** Sets the threads of inference processes and language models, unless a CONFIG sets them. */
function withOneThread(config: string): string {
  if (/^\s*threads\s*=/m.test(config)) return config;
  const [before, after] = config.split('[inference]', 2);
  return `${before}\n[inference]\nthreads = 1\n${after ?? ''}`;
}

const POLL_MS = 50;
/** Models may be converted during the first start. */
const START_LIMIT_MS = 4 * PATIENCE_MS;
const STOP_LIMIT_MS = 2 * PATIENCE_MS;

/** Waits until a URL returns 200. Returns false if the process exits first, or if it takes too long. */
async function untilOk(url: string, exited: Promise<number>): Promise<boolean> {
  let isRunning = true;
  void exited.then(() => {
    isRunning = false;
  });
  const deadline = performance.now() + START_LIMIT_MS;
  while (isRunning && performance.now() < deadline) {
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

/** The complete JSON lines of an output, without other lines. */
function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Requests the speech of a text as streamed PCM. */
export function speakStreamed(service: ServiceAccess, input: string): Promise<Response> {
  return service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts', input, response_format: 'pcm' }),
  });
}

/**
 * Ids of the running child processes of a process.
 * @param command part of their command line. Default: all child processes.
 */
export function childrenOf(pid: number, command = ''): number[] {
  const output = Bun.spawnSync(['ps', '-o', 'pid=,args=', '--ppid', String(pid)]).stdout.toString();
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line.includes(command));
  return lines.map((line) => Number.parseInt(line, 10));
}

/** Part of the command line of inference processes. */
export const INFERENCE = 'inference-worker';
