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

/** A real service whose organization `a` may switch plugins. */
export interface PluginService extends LaunchedService {
  plugin(name: string): Promise<WirePlugin>;
  /** Asks for a switch. */
  ask(name: string, enabled: boolean): Promise<Response>;
  /** Switches, and waits until it is done. */
  switch(name: string, enabled: boolean): Promise<void>;
  /** Waits until a plugin is in a state. */
  until(name: string, state: string): Promise<void>;
  post(path: string, body: unknown): Promise<Response>;
}

const POLL_MS = 20;
const LIMIT_MS = 120_000;

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
  const ask = (name: string, enabled: boolean) => post(`/v1/plugins/${name}`, { enabled });
  const until = async (name: string, state: string) => {
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      const now = (await plugin(name)).state;
      if (now === state) return;
      if (now === 'failed' || performance.now() > deadline)
        throw new Error(`${name} is ${now}, not ${state}`);
      await Bun.sleep(POLL_MS);
    }
  };
  return {
    ...{ ...service, post, plugin, ask, until },
    async switch(name, enabled) {
      const answer = await ask(name, enabled);
      if (!answer.ok) throw new Error(await answer.text());
      await until(name, enabled ? 'on' : 'off');
    },
  };
}

/** Asks again and again until it is stopped. */
export function load(ask: () => Promise<void>): { stop(): Promise<{ count: number; faults: unknown[] }> } {
  let stopped = false;
  const running = (async () => {
    const faults: unknown[] = [];
    let count = 0;
    for (; !stopped; count += 1) await ask().catch((fault: unknown) => faults.push(fault));
    return { count, faults };
  })();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}
