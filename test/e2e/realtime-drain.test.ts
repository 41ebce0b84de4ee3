import { afterEach, expect, test } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { tempDir } from '../harness/temp-dir.ts';

/** Stopping the real process while a real model speaks over WebSockets. */

const CONFIG = `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${NO_TEXT}`;
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. '.repeat(4);

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const open = (running: LaunchedService) =>
  RealtimeClient.connect(`${running.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
    timeoutMs: 60_000,
  });

async function speaking(running: LaunchedService) {
  const client = await open(running);
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  const content = [{ type: 'input_text', text: TEXT }];
  client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
  client.send({ type: 'response.create' });
  await client.next('response.audio.delta');
  return client;
}

test('SIGTERM closes an idle connection immediately and a speaking one after its response, both with 1001', async () => {
  service = await launchService({ config: CONFIG });
  const idle = await open(service);
  await idle.next('session.created');
  const busy = await speaking(service);

  service.signal('SIGTERM');
  expect((await idle.closed).code).toBe(1001);
  // Whatever is still asked for is refused, and nothing that runs is cut off.
  busy.send({ type: 'response.create', event_id: 'late' });
  expect((await busy.closed).code).toBe(1001);
  expect(busy.events).toContainEqual(
    expect.objectContaining({
      type: 'error',
      error: expect.objectContaining({ code: 'internal_error', event_id: 'late' }),
    }),
  );
  expect(busy.events.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
  // Frames that broke the order or a schema are reported here.
  await Promise.all([idle.close(), busy.close()]);
  expect(await service.exited).toBe(0);
  expect(service.log().some(({ level }) => level === 'error')).toBe(false);
});

test('SIGTERM: when the grace time is over, a connection that still speaks is closed with 1001', async () => {
  const dataDir = await tempDir();
  service = await launchService({ config: CONFIG, dataDir, env: { SHUTDOWN_GRACE_MS: '0' } });
  const busy = await speaking(service);
  service.signal('SIGTERM');
  expect((await busy.closed).code).toBe(1001);
  expect(busy.events.some(({ type }) => type === 'response.done')).toBe(false);
  await busy.close();
  expect(await service.exited).toBe(0);

  // What was made is not forgotten.
  const again = await launchService({ config: CONFIG, dataDir });
  service = again;
  const { data } = (await (await again.fetch('/v1/usage')).json()) as { data: object[] };
  expect(data).toMatchObject([{ endpoint: '/v1/audio/speech', status: 'cancelled' }]);
});
