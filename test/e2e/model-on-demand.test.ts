import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { loadConfig } from '../../server/config.ts';
import { sha256 } from '../../src/kit/storage/content-hash.ts';
import { resolveModelFiles } from '../../src/models/model-files.ts';
import { type LaunchedService, launchService, NO_MODELS } from '../../tools/harness/services/launcher.ts';
import { startHubServer } from '../doubles/hub-server.ts';
import { HAS_CHROMIUM } from '../harness/chromium.ts';
import { launchBrowser, openConsole, screenshot } from '../harness/console-browser.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { inDeepTier } from '../harness/tier.ts';

/** A real language model that is downloaded from a local model hub and loaded by its first request. */

const CONFIG = `${NO_MODELS}
[models.large]
kind = "llama"
weights = "hf:owner/model/weights.gguf"
slots = 1
context_tokens = 512
[inference]
model_idle_seconds = 1
`;
const POLL = { interval: 100 };

let weights: Uint8Array;
beforeAll(() => {
  const { modelsDir } = loadConfig(process.env);
  weights = readFileSync(Object.values(resolveModelFiles(modelsDir, 'smollm2-135m-instruct'))[0] ?? '');
});
afterAll(() => {
  weights = new Uint8Array();
});

/** A service without the weights, and a hub that sends half of them until `release`. */
async function setUp() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isHeld = true;
  const half = weights.length >> 1;
  const hub = await startHubServer({
    files: { 'owner/model/resolve/main/weights.gguf': { bytes: weights, isLarge: true } },
    intercept: ({ server, method, range }, response) => {
      if (server !== 'storage' || method !== 'GET' || range !== undefined || !isHeld) return false;
      isHeld = false;
      response.writeHead(200, { 'content-length': weights.length });
      response.write(weights.subarray(0, half));
      void released.then(() => response.end(weights.subarray(half)));
      return true;
    },
  });
  const modelsDir = await tempDir();
  const launch = async () => {
    const service = await launchService({
      config: `operators = ["a"]\n${CONFIG}`,
      env: { HF_ENDPOINT: hub.origin, MODELS_DIR: modelsDir, PLUGINS: 'responses' },
    });
    onTestFinished(async () => void (await service.stop()));
    return service;
  };
  return { launch, hub, modelsDir, release, half };
}

function ask(service: LaunchedService): Promise<Response> {
  return service.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer test-key-of-a', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'large',
      messages: [{ role: 'user', content: 'Say hello.' }],
      max_tokens: 5,
    }),
  });
}
const stateOf = async (service: LaunchedService) =>
  ((await (await service.fetch('/v1/models/large')).json()) as { load: { state: string } }).load;

test('requests get 503 with the progress, then an answer; an idle model is unloaded and loaded again', async () => {
  const { launch, hub, release } = await setUp();
  const service = await launch();
  expect(await stateOf(service)).toEqual({ state: 'not_loaded' });
  expect(await (await service.fetch('/readyz')).json()).toMatchObject({
    status: 'ready',
    models: { large: { ready: true, required: false } },
  });

  const [first, second] = await Promise.all([ask(service), ask(service)]);
  for (const response of [first, second]) {
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'model_loading' } });
  }
  // The half that the hub has sent.
  await expect.poll(() => stateOf(service), POLL).toMatchObject({ state: 'downloading', percent: 50 });
  const during = (await (await ask(service)).json()) as { error: { message: string } };
  expect(during.error.message).toContain("Model 'large' is being downloaded: 50 % done.");

  release();
  await expect.poll(async () => (await ask(service)).status, POLL).toBe(200);
  const gets = hub.requests.filter(({ server, method }) => server === 'storage' && method === 'GET');
  expect(gets).toHaveLength(1);

  // Unloaded after one second; the next request waits for the load instead of 503.
  await expect.poll(() => stateOf(service), POLL).toEqual({ state: 'not_loaded' });
  const again = await ask(service);
  expect(again.status).toBe(200);
  const { choices } = (await again.json()) as { choices: { message: { content: string } }[] };
  expect(choices[0]?.message.content).not.toBe('');
});

inDeepTier(() => {
  test('a stopped service keeps the received bytes, and the next start resumes the download', async () => {
    const { launch, hub, modelsDir, half } = await setUp();
    const stopped = await launch();
    await ask(stopped);
    await expect.poll(() => stateOf(stopped), POLL).toMatchObject({ percent: 50 });
    expect(await stopped.stop()).toBe(0);
    expect(Bun.file(`${modelsDir}/partial/${sha256(weights)}.part`).size).toBe(half);

    const service = await launch();
    expect((await ask(service)).status).toBe(503);
    await expect.poll(async () => (await ask(service)).status, POLL).toBe(200);
    expect(hub.requests.findLast(({ server }) => server === 'storage')?.range).toBe(`bytes=${half}-`);
  });
});

test('the console starts a download and shows its progress', async (context: TestContext) => {
  needs(context, HAS_CHROMIUM, 'Chromium');
  const { launch } = await setUp();
  const service = await launch();
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page } = await openConsole(browser, service.baseUrl, { path: '/models' });
  await page.getByRole('button', { name: 'Download and load now: large' }).click();
  await page.getByText('Downloading: 50 %').waitFor();
  const bar = page.getByRole('progressbar', { name: 'Download of large' });
  expect(await bar.getAttribute('aria-valuenow')).toBe('50');
  await screenshot(page, 'models-download');
});
