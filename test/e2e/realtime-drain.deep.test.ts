import { afterEach, expect, test } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  NO_RECOGNISER,
  NO_TEXT,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { tempDir } from '../harness/temp-dir.ts';

/** Shutdown of the real process during realtime responses of a real model. */

const CONFIG = `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${NO_TEXT}`;
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. '.repeat(3);
const env = { PLUGINS: 'realtime' };

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const open = (running: LaunchedService) =>
  RealtimeClient.connect(`${running.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
    timeoutMs: 60_000,
  });

async function openSpeaking(running: LaunchedService) {
  const client = await open(running);
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  const content = [{ type: 'input_text', text: TEXT }];
  client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
  client.send({ type: 'response.create' });
  await client.next('response.audio.delta');
  return client;
}

test('SIGTERM closes idle connections immediately and others after their response, with 1001', async () => {
  service = await launchService({ config: CONFIG, env });
  const idle = await open(service);
  await idle.next('session.created');
  const busy = await openSpeaking(service);

  service.signal('SIGTERM');
  expect((await idle.closed).code).toBe(1001);
  // New responses are rejected; the running response is completed.
  busy.send({ type: 'response.create', event_id: 'late' });
  expect((await busy.closed).code).toBe(1001);
  expect(busy.events).toContainEqual(
    expect.objectContaining({
      type: 'error',
      error: expect.objectContaining({ code: 'internal_error', event_id: 'late' }),
    }),
  );
  expect(busy.events.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
  // close() fails if frames violated the order rules or a schema.
  await Promise.all([idle.close(), busy.close()]);
  expect(await service.exited).toBe(0);
  expect(service.log().some(({ level }) => level === 'error')).toBe(false);
});

test('closes connections with running responses with 1001 after the grace time', async () => {
  const dataDir = await tempDir();
  service = await launchService({ config: CONFIG, dataDir, env: { ...env, SHUTDOWN_GRACE_MS: '0' } });
  const busy = await openSpeaking(service);
  service.signal('SIGTERM');
  expect((await busy.closed).code).toBe(1001);
  expect(busy.events.some(({ type }) => type === 'response.done')).toBe(false);
  await busy.close();
  expect(await service.exited).toBe(0);

  // The usage of the cancelled response is recorded.
  const again = await launchService({ config: NO_MODELS, dataDir, env });
  service = again;
  const { data } = (await (await again.fetch('/v1/usage')).json()) as { data: object[] };
  expect(data).toMatchObject([{ endpoint: '/v1/audio/speech', status: 'cancelled' }]);
});
