import { afterEach, expect, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  SERVICE_KEY,
} from '../support/launcher.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Stopping the real process while a real model speaks over WebSockets. */

const CONFIG = `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${NO_TEXT}`;
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. '.repeat(4);

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

interface Frame {
  readonly type: string;
  readonly response?: { readonly status: string };
}

/** A socket that remembers its frames, and how it was closed. */
function open(running: LaunchedService) {
  const socket = new WebSocket(`${running.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
  });
  const frames: Frame[] = [];
  const waiting = new Map<string, () => void>();
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as Frame;
    frames.push(frame);
    waiting.get(frame.type)?.();
  };
  return {
    frames,
    send: (event: object) => socket.send(JSON.stringify(event)),
    seen: (type: string) =>
      new Promise<void>((resolve) => {
        if (frames.some((frame) => frame.type === type)) resolve();
        else waiting.set(type, resolve);
      }),
    closed: new Promise<number>((resolve) => {
      socket.onclose = ({ code }) => resolve(code);
    }),
  };
}

async function speaking(running: LaunchedService) {
  const client = open(running);
  await client.seen('session.created');
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  const content = [{ type: 'input_text', text: TEXT }];
  client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
  client.send({ type: 'response.create' });
  await client.seen('response.audio.delta');
  return client;
}

test('SIGTERM: an idle connection is closed at once, one that speaks when its response is done, both with 1001', async () => {
  service = await launchService({ config: CONFIG });
  const idle = open(service);
  await idle.seen('session.created');
  const busy = await speaking(service);

  service.signal('SIGTERM');
  expect(await idle.closed).toBe(1001);
  // Whatever is still asked for is refused, and nothing that runs is cut off.
  busy.send({ type: 'response.create', event_id: 'late' });
  expect(await busy.closed).toBe(1001);
  expect(busy.frames).toContainEqual(
    expect.objectContaining({
      type: 'error',
      error: expect.objectContaining({ code: 'internal_error', event_id: 'late' }),
    }),
  );
  expect(busy.frames.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
  expect(await service.exited).toBe(0);
  expect(service.log().some(({ level }) => level === 'error')).toBe(false);
});

test('SIGTERM: when the grace time is over, a connection that still speaks is closed with 1001', async () => {
  const dataDir = await tempDir();
  service = await launchService({ config: CONFIG, dataDir, env: { SHUTDOWN_GRACE_MS: '0' } });
  const busy = await speaking(service);
  service.signal('SIGTERM');
  expect(await busy.closed).toBe(1001);
  expect(busy.frames.some(({ type }) => type === 'response.done')).toBe(false);
  expect(await service.exited).toBe(0);

  // What was made is not forgotten.
  const again = await launchService({ config: CONFIG, dataDir });
  service = again;
  const { data } = (await (await again.fetch('/v1/usage')).json()) as { data: object[] };
  expect(data).toMatchObject([{ endpoint: '/v1/audio/speech', status: 'cancelled' }]);
});
