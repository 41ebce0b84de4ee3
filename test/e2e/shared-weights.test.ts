import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, launchService, NO_MODELS, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';

const CONFIG = `
${NO_MODELS}
[models.one]
kind = "llama"
weights = "smollm2-135m-instruct"
slots = 1
context_tokens = 512
default_max_tokens = 2

[models.other]
kind = "llama"
weights = "smollm2-135m-instruct"
slots = 2
context_tokens = 256
default_max_tokens = 3

[models.away]
kind = "llama"
weights = "hf:owner/model/weights.gguf"
required = true
`;

test('models with the same weights share a process, and one that cannot be downloaded is unavailable', async () => {
  const service = await launchService({
    config: CONFIG,
    // Nothing listens on this port.
    env: { PLUGINS: 'responses', HF_ENDPOINT: 'http://127.0.0.1:9' },
    until: '/healthz',
  });
  onTestFinished(async () => void (await service.stop()));
  const ask = async (model: string) => {
    const response = await service.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Count to one hundred.' }] }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  await expect.poll(async () => (await ask('one')).status).toBe(200);
  expect(childrenOf(service.pid, 'llama')).toHaveLength(1);
  // Each keeps its own limit of the output.
  expect((await ask('one')).body).toMatchObject({ usage: { completion_tokens: 2 } });
  expect((await ask('other')).body).toMatchObject({ usage: { completion_tokens: 3 } });

  expect(await ask('away')).toMatchObject({
    status: 503,
    body: {
      error: { code: 'model_loading', message: expect.stringContaining("Model 'away' is unavailable: ") },
    },
  });
  // It is required, so a load balancer must not use this process.
  const readyz = await service.fetch('/readyz');
  expect(readyz.status).toBe(503);
  expect(await readyz.json()).toMatchObject({
    status: 'unavailable',
    models: { one: { ready: true }, other: { ready: true }, away: { ready: false, required: true } },
  });
  const listed = (await (await service.fetch('/v1/models/away')).json()) as { load: { state: string } };
  expect(['downloading', 'failed']).toContain(listed.load.state);
});
