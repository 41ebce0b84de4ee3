import { type LaunchedService, type LaunchOptions, launchService, SERVICE_KEY } from './launcher.ts';

/** A plugin of GET /v1/plugins. */
export interface WirePlugin {
  readonly name: string;
  readonly enabled: boolean;
  readonly state: string;
  readonly switchable: boolean;
  readonly routes: readonly string[];
  readonly needs: readonly string[];
  readonly needed_by: readonly string[];
}

/** A launched service whose organization `a` may switch plugins. */
export interface PluginService extends LaunchedService {
  plugin(name: string): Promise<WirePlugin>;
  /** Requests a switch without waiting for its completion. */
  requestSwitch(name: string, enabled: boolean): Promise<Response>;
  /** Switches a plugin and waits until the switch is complete. */
  switch(name: string, enabled: boolean): Promise<void>;
  /** Waits until a plugin is in a state. */
  until(name: string, state: string): Promise<void>;
  post(path: string, body: unknown): Promise<Response>;
}

const POLL_MS = 20;
const TIMEOUT_MS = 120_000;

export async function launchPluginService(options: LaunchOptions): Promise<PluginService> {
  const service = await launchService({ ...options, config: `operators = ["a"]\n${options.config ?? ''}` });
  const post = (path: string, body: unknown) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const plugin = async (name: string) => {
    const { data } = (await (await service.fetch('/v1/plugins')).json()) as { data: WirePlugin[] };
    const found = data.find((each) => each.name === name);
    if (found === undefined) throw new Error(`unknown plugin ${name}`);
    return found;
  };
  const requestSwitch = (name: string, enabled: boolean) => post(`/v1/plugins/${name}`, { enabled });
  const until = async (name: string, state: string) => {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const now = (await plugin(name)).state;
      if (now === state) return;
      if (now === 'failed' || performance.now() > deadline)
        throw new Error(`${name} is ${now}, not ${state}`);
      await Bun.sleep(POLL_MS);
    }
  };
  return {
    ...service,
    post,
    plugin,
    requestSwitch,
    until,
    async switch(name, enabled) {
      const response = await requestSwitch(name, enabled);
      if (!response.ok) throw new Error(await response.text());
      await until(name, enabled ? 'on' : 'off');
    },
  };
}

/** Repeats a request until `stop` is called and a number of requests have ended. `stop` returns their errors. */
export function load(request: () => Promise<void>, atLeast: number): { stop(): Promise<unknown[]> } {
  let stopped = false;
  const running = (async () => {
    const errors: unknown[] = [];
    let count = 0;
    for (; !stopped || count < atLeast; count += 1) {
      await request().catch((error: unknown) => errors.push(error));
    }
    return errors;
  })();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}
