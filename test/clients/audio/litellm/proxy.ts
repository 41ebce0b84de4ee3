/** LiteLLM's proxy in front of the service. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonPackages } from '../../../../tools/harness/clients/python.ts';
import { onReservedPort } from '../../../../tools/harness/servers/reserved-port.ts';
import { runWithParent } from '../../../../tools/harness/servers/run-with-parent.ts';
import type { ClientSettings } from '../scenario.ts';

/** The key of its clients. */
const KEY = 'sk-9f2c41d07be84a6f8d35c20b71ea64f0';
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

export interface Proxy {
  readonly baseURL: string;
  readonly key: string;
  close(): Promise<void>;
}

/** Starts the proxy with the models of the settings. @param env is added to its environment. */
export async function startProxy(
  settings: ClientSettings,
  env: Readonly<Record<string, string>>,
): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'litellm-test-'));
  const config = join(folder, 'litellm.yaml');
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ model_list: modelsOf(settings) }));
  const { PATH = '', HOME = '' } = process.env;
  const variables = {
    PATH,
    HOME,
    PYTHONPATH: await pythonPackages(REQUIREMENTS),
    LITELLM_MASTER_KEY: KEY,
    ...env,
    // Otherwise it downloads the prices of models.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
  const { shell, address } = await onReservedPort((port) => startProcess(config, port, variables));
  return {
    baseURL: `${address}/v1`,
    key: KEY,
    async close() {
      shell.stdin.end();
      await shell.exited;
      await rm(folder, { recursive: true });
    },
  };
}

function modelsOf({ baseURL, key, speech, transcription, chat, embeddings }: ClientSettings) {
  const modes = { audio_speech: speech, audio_transcription: transcription, chat, embedding: embeddings };
  return Object.entries(modes).map(([mode, name]) => ({
    model_name: name,
    litellm_params: { model: `openai/${name}`, api_base: baseURL, api_key: key },
    model_info: { mode },
  }));
}

/** @throws Error with the output if the proxy exits before it answers. */
async function startProcess(config: string, port: number, env: Readonly<Record<string, string>>) {
  const address = `http://127.0.0.1:${port}`;
  const proxy = ['python3', '-m', 'litellm.proxy.proxy_cli', '--config', config];
  const listen = ['--host', '127.0.0.1', '--port', String(port)];
  const shell = Bun.spawn(['sh', '-c', runWithParent('TERM'), ...proxy, ...listen], {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const errors = new Response(shell.stderr).text();
  while (!(await fetch(`${address}/health/liveliness`).catch(() => undefined))?.ok) {
    if (shell.exitCode !== null) throw new Error(`LiteLLM did not start: ${await errors}`);
    await Bun.sleep(50);
  }
  return { shell, address };
}
