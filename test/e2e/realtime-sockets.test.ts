import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import {
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
} from '../../tools/harness/services/realtime-service.ts';
import { shake as shakeHands } from '../harness/handshake.ts';
import { type NodeClient, openNodeClient } from '../harness/node-client.ts';

/** The WebSocket itself, with the `ws` package in Node and with requests by hand. */

let service: RealtimeService;
beforeAll(async () => {
  service = await launchRealtimeService();
}, 300_000);
afterAll(() => service?.stop());

const headers = { authorization: `Bearer ${SERVICE_KEY}` };

/** Requests an upgrade and returns the result. */
const shake = (
  more: Readonly<Record<string, string>>,
  { path = '/v1/realtime', url = service.baseUrl } = {},
) => shakeHands(`${url}${path}`, more);

describe('the handshake', () => {
  test.each([
    ['ext-insecure-api-key.', 'realtime'],
    ['bearer.', 'realtime'],
    ['openai-insecure-api-key.', 'realtime'],
  ])('a key behind %s opens it, and the answer is %s', async (prefix, protocol) => {
    for (const url of [service.baseUrl, service.tlsUrl]) {
      for (const offered of [`realtime, ${prefix}${SERVICE_KEY}`, `${prefix}${SERVICE_KEY}, realtime`]) {
        const { status, headers: answer } = await shake({ 'sec-websocket-protocol': offered }, { url });
        expect([status, answer['sec-websocket-protocol']]).toEqual([101, protocol]);
      }
    }
  });

  test('a header opens it, and no subprotocol is answered that was not offered', async () => {
    for (const name of ['authorization', 'x-api-key', 'x-partner-secret']) {
      const value = name === 'authorization' ? headers.authorization : SERVICE_KEY;
      const { status, headers: answer } = await shake({ [name]: value });
      expect([status, answer['sec-websocket-protocol']]).toEqual([101, undefined]);
    }
    const { headers: answer } = await shake({ ...headers, 'sec-websocket-protocol': 'realtime' });
    expect(answer['sec-websocket-protocol']).toBe('realtime');
  });

  test('unknown parameters and models of the query do not matter', async () => {
    const path = '/v1/realtime?model=gpt-realtime&intent=transcription&colour=red';
    expect((await shake(headers, { path })).status).toBe(101);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no key', {}, 'missing_api_key'],
    ['no key among subprotocols', { 'sec-websocket-protocol': 'realtime' }, 'missing_api_key'],
    ['a wrong key in a header', { authorization: 'Bearer wrong' }, 'invalid_api_key'],
    [
      'a wrong key in a subprotocol',
      { 'sec-websocket-protocol': 'realtime, bearer.wrong' },
      'invalid_api_key',
    ],
    [
      'two different keys',
      { authorization: `Bearer ${SERVICE_KEY}`, 'sec-websocket-protocol': 'realtime, bearer.wrong' },
      'invalid_api_key',
    ],
  ])('%s is 401 with a body', async (_, more, code) => {
    for (const url of [service.baseUrl, service.tlsUrl]) {
      const answer = await shake(more, { url });
      expect(answer.status).toBe(401);
      expect(answer.headers['content-type']).toMatch(/application\/json/);
      expect(answer.headers['x-request-id']).toMatch(/^req_/);
      const { error } = JSON.parse(answer.body);
      expect(error).toEqual({
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code,
      });
    }
  });

  test('a call is not found here', async () => {
    const { status, body } = await shake(headers, { path: '/v1/realtime?call_id=rtc_1' });
    expect(status).toBe(404);
    expect(JSON.parse(body).error.message).toEqual(expect.any(String));
  });

  test('a request without an upgrade gets instructions', async () => {
    const answer = await service.fetch('/v1/realtime');
    expect(answer.status).toBe(426);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(/WebSocket/);
  });
});

describe('the ws package', () => {
  async function open(options: Readonly<Record<string, unknown>> = {}): Promise<NodeClient> {
    const client = openNodeClient('plain-ws.mjs', {
      url: service.socketUrl,
      options: { headers, ...options },
    });
    await client.event('session.created');
    return client;
  }
  /** An event that the service answers immediately. */
  const clear = { type: 'input_audio_buffer.clear' };

  test.each([false, true])('with compression offered: %s', async (perMessageDeflate) => {
    const client = await open({ perMessageDeflate });
    client.do({ send: { ...clear, event_id: 'x'.repeat(500) } });
    await client.event('input_audio_buffer.cleared');
    // A message that a compressed frame would carry well.
    client.do({ send: { type: 'input_audio_buffer.append', audio: silentPcm(20_000).toString('base64') } });
    client.do({ send: { type: 'input_audio_buffer.commit' } });
    await client.event('input_audio_buffer.committed');
    client.do({ close: { code: 1000 } });
    expect(await client.until('close', ({ kind }) => kind === 'close')).toMatchObject({ code: 1000 });
    expect(client.told.filter(({ kind }) => kind === 'error')).toEqual([]);
  });

  test('a ping is answered with what it carried', async () => {
    const client = await open();
    client.do({ ping: 'are you there' });
    expect(await client.until('pong', ({ kind }) => kind === 'pong')).toMatchObject({
      data: 'are you there',
    });
  });

  test('a message may come in fragments, cut anywhere, a ping between them', async () => {
    const client = await open();
    const text = JSON.stringify({
      type: 'conversation.item.create',
      item: { role: 'user', content: [{ type: 'input_text', text: 'Grüße 🎧' }] },
    });
    const pieces = text.match(/.{1,7}/gsu) ?? [];
    expect(pieces.length).toBeGreaterThan(10);
    client.do({ pieces });
    const { item } = await client.event('conversation.item.created');
    expect(item.content).toEqual([{ type: 'input_text', text: 'Grüße 🎧' }]);
  });

  test('the buffer holds 25 MiB, and one append more is refused without it', async () => {
    const MIB = 1024 * 1024;
    const client = await open();
    // The largest valid frame: 25 MiB of audio.
    client.do({ zeros: 25 * MIB });
    client.do({ zeros: 1 });
    expect((await client.event('error')).error).toMatchObject({
      code: 'buffer_overflow',
      event_id: 'zeros_1',
    });
    client.do({ send: clear });
    await client.event('input_audio_buffer.cleared');
    client.do({ zeros: 25 * MIB + 1 });
    expect((await client.event('error')).error).toMatchObject({ code: 'buffer_overflow' });
    client.do({ send: { type: 'input_audio_buffer.commit' } });
    expect((await client.event('error')).error).toMatchObject({ code: 'invalid_request_error' });
  });

  test.each([
    ['openai-agents-sdk.0.20.0', true],
    ['openai-beta.realtime-v1', false],
    ['openai-organization.org-1', false],
  ])('a browser client that offers %s hears the GA names: %s', async (offer, ga) => {
    const client = openNodeClient('plain-ws.mjs', {
      url: service.socketUrl,
      protocols: ['realtime', `openai-insecure-api-key.${SERVICE_KEY}`, offer],
    });
    expect(await client.until('open', ({ kind }) => kind === 'open')).toMatchObject({ protocol: 'realtime' });
    const content = [{ type: 'input_text', text: 'Hello.' }];
    client.do({
      send: { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } },
    });
    await client.event('conversation.item.created');
    client.do({ send: clear });
    await client.event('input_audio_buffer.cleared');
    expect(client.events('conversation.item.added')).toHaveLength(ga ? 1 : 0);
  });

  test('a frame that is not an event is rejected, and the connection continues', async () => {
    const client = await open();
    for (const command of [
      { text: 'hello' },
      { text: '[]' },
      { text: '' },
      { binary: 'AAAA' },
      { send: { type: 'dance' } },
    ]) {
      client.do(command);
      const { error } = await client.event('error');
      expect(error).toMatchObject({ code: 'invalid_request_error', type: 'invalid_request_error' });
    }
    client.do({ send: clear });
    await client.event('input_audio_buffer.cleared');
  });

  test.each([1000, 1001, 3000, 4999])('a client that closes with %i hears the same', async (code) => {
    const client = await open();
    client.do({ close: { code, reason: 'done' } });
    expect(await client.until('close', ({ kind }) => kind === 'close')).toMatchObject({ code });
  });

  test('a client that vanishes ends what it asked for', async () => {
    const client = await open();
    client.do({ send: { type: 'session.update', session: { output_modalities: ['audio'] } } });
    await client.event('session.updated');
    const text = 'This sentence is long enough that it is still playing when the client has gone. '.repeat(
      20,
    );
    client.do({
      send: {
        type: 'conversation.item.create',
        item: { role: 'user', content: [{ type: 'input_text', text }] },
      },
    });
    client.do({ send: { type: 'response.create' } });
    await client.event('response.audio.delta');
    client.do({ terminate: true });
    await expect
      .poll(
        async () => {
          const page = (await (await service.fetch('/v1/usage?limit=1')).json()) as {
            data: { status: string; characters: number }[];
          };
          return page.data[0];
        },
        { timeout: 10_000 },
      )
      .toMatchObject({ status: 'cancelled', endpoint: '/v1/audio/speech' });
  });
});

test('neither keys nor what was said are in the log', () => {
  expect(service.log().length).toBeGreaterThan(10);
  expect(service.output()).not.toMatch(/test-key-of|Grüße|client has gone/);
});
