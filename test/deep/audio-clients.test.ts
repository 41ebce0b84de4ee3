import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ranks from 'js-tiktoken/ranks/cl100k_base';
import { afterAll, beforeAll, onTestFinished, test } from 'vitest';
import { HAS_PIP } from '../../tools/harness/clients/python.ts';
import { type LaunchedService, launchService } from '../../tools/harness/services/launcher.ts';
import { startProxy } from '../clients/audio/litellm/proxy.ts';
import {
  expectResults,
  OPENAI_CHECKS,
  PROXY_CHECKS,
  runPythonClient,
  settingsOf,
} from '../clients/audio/scenario.ts';
import { needs } from '../harness/needs.ts';

/**
 * Unmodified Python frameworks with the real models of the default configuration: only URL, key and names of models are set.
 * test/e2e/audio-clients.test.ts has the SDKs of OpenAI and Vercel.
 */

/** Where LangChain's tokenizer looks for the file of cl100k_base before it downloads it. */
const RANKS_URL = 'https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken';
const TEXT_CHECKS = ['chat', 'streamed chat', 'embeddings'];

let service: LaunchedService;
let folder: string;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audio-clients-'));
  await writeFile(join(folder, createHash('sha1').update(RANKS_URL).digest('hex')), tiktokenFile());
  env = { TIKTOKEN_CACHE_DIR: folder };
  service = await launchService();
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

/** The file of cl100k_base: a token in base64 and its rank per line. Each line of `bpe_ranks` has a first rank and tokens. */
function tiktokenFile(): string {
  const lines = ranks.bpe_ranks.split('\n').flatMap((line) => {
    const [, first = '', ...tokens] = line.split(' ');
    return tokens.map((token, at) => `${token} ${Number(first) + at}\n`);
  });
  return lines.join('');
}

/** Version 2 of the OpenAI SDK for Python. */
const VERSION_2 = { requirements: 'requirements-2.txt' };

test.for([
  { client: 'openai', checks: OPENAI_CHECKS, ...VERSION_2 },
  { client: 'livekit', checks: ['speech', 'json'], dependencies: false },
  { client: 'pipecat', checks: ['speech', 'json'], dependencies: false },
  { client: 'langchain', checks: TEXT_CHECKS },
  { client: 'llama-index', checks: TEXT_CHECKS },
])('$client', async ({ client, checks, ...packages }, context) => {
  needs(context, HAS_PIP, 'Python with pip');
  expectResults(await runPythonClient(client, settingsOf(service), { env, ...packages }), checks);
});

test('LiteLLM as a proxy', async (context) => {
  needs(context, HAS_PIP, 'Python with pip');
  const proxy = await startProxy(settingsOf(service), env);
  onTestFinished(proxy.close);
  const { baseURL, key } = proxy;
  const settings = { ...settingsOf(service), baseURL, key, viaProxy: true };
  expectResults(await runPythonClient('openai', settings, VERSION_2), PROXY_CHECKS);
  expectResults(await runPythonClient('langchain', settings, { env }), TEXT_CHECKS);
});
