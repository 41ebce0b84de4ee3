import { beforeAll, describe, expect, test } from 'vitest';
import { type RealtimeAccess, silentPcm } from '../../tools/harness/services/realtime-service.ts';
import { embeddedService, type GroupServiceAccess } from '../harness/group-servers.ts';
import { shake as shakeHands } from '../harness/handshake.ts';
import { type NodeClient, openNodeClient } from '../harness/node-client.ts';

/** WebSocket transport, with the `ws` package in Node and with raw upgrade requests. */

let service: GroupServiceAccess & RealtimeAccess;
beforeAll(async () => {
  service = await embeddedService();
});

const headers = () => ({ authorization: `Bearer ${service.key}` });

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
  ])('accepts a key with the subprotocol prefix %s and selects %s', async (prefix, protocol) => {
    for (const url of [service.baseUrl, service.tlsUrl]) {
      for (const offered of [`realtime, ${prefix}${service.key}`, `${prefix}${service.key}, realtime`]) {
        const { status, headers: responseHeaders } = await shake(
          { 'sec-websocket-protocol': offered },
          { url },
        );
        expect([status, responseHeaders['sec-websocket-protocol']]).toEqual([101, protocol]);
      }
    }
  });

  test('accepts a key in a header and selects only offered subprotocols', async () => {
    for (const name of ['authorization', 'x-api-key', 'x-partner-secret']) {
      const value = name === 'authorization' ? headers().authorization : service.key;
      const { status, headers: responseHeaders } = await shake({ [name]: value });
      expect([status, responseHeaders['sec-websocket-protocol']]).toEqual([101, undefined]);
    }
    const { headers: responseHeaders } = await shake({ ...headers(), 'sec-websocket-protocol': 'realtime' });
    expect(responseHeaders['sec-websocket-protocol']).toBe('realtime');
  });

  test.each(['/v1/models', '/v1/keys', '/v1/usage'])(
    'accepts no key in a subprotocol on %s, which opens no WebSocket',
    async (path) => {
      const offered = { 'sec-websocket-protocol': `realtime, bearer.${service.key}` };
      const { status, body } = await shake(offered, { path });
      expect(status).toBe(401);
      expect(JSON.parse(body).error.code).toBe('missing_api_key');
    },
  );

  test('accepts a valid key next to other credentials', async () => {
    const offered = `realtime, bearer.${service.key}`;
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer ', 'Bearer token-of-a-proxy']) {
      expect((await shake({ authorization, 'sec-websocket-protocol': offered })).status).toBe(101);
    }
  });

  test('ignores repeated slashes in the path', async () => {
    for (const path of ['//v1/realtime', '/v1//realtime', '//v1///realtime?model=svc-stt']) {
      for (const url of [service.baseUrl, service.tlsUrl]) {
        expect((await shake(headers(), { path, url })).status).toBe(101);
      }
    }
  });

  test('ignores unknown query parameters and models', async () => {
    const path = '/v1/realtime?model=gpt-realtime&intent=transcription&colour=red';
    expect((await shake(headers(), { path })).status).toBe(101);
  });

  test.each<[string, () => Record<string, string>, string]>([
    ['no key', () => ({}), 'missing_api_key'],
    ['no key among subprotocols', () => ({ 'sec-websocket-protocol': 'realtime' }), 'missing_api_key'],
    ['a wrong key in a header', () => ({ authorization: 'Bearer wrong' }), 'invalid_api_key'],
    [
      'a wrong key in a subprotocol',
      () => ({ 'sec-websocket-protocol': 'realtime, bearer.wrong' }),
      'invalid_api_key',
    ],
    [
      'two different valid keys',
      () => ({ ...headers(), 'sec-websocket-protocol': `realtime, bearer.${service.otherKey}` }),
      'invalid_api_key',
    ],
  ])('rejects %s with 401 and an error body', async (_, more, code) => {
    for (const url of [service.baseUrl, service.tlsUrl]) {
      const response = await shake(more(), { url });
      expect(response.status).toBe(401);
      expect(response.headers['content-type']).toMatch(/application\/json/);
      expect(response.headers['x-request-id']).toMatch(/^req_/);
      const { error } = JSON.parse(response.body);
      expect(error).toEqual({
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code,
      });
    }
  });

  test('returns 404 for a call_id', async () => {
    const { status, body } = await shake(headers(), { path: '/v1/realtime?call_id=rtc_1' });
    expect(status).toBe(404);
    expect(JSON.parse(body).error.message).toEqual(expect.any(String));
  });

  test('returns 426 with instructions for a request without upgrade', async () => {
    const response = await service.fetch('/v1/realtime');
    expect(response.status).toBe(426);
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(/WebSocket/);
  });
});

describe('the ws package', () => {
  async function open(options: Readonly<Record<string, unknown>> = {}): Promise<NodeClient> {
    const client = openNodeClient('plain-ws.mjs', {
      url: service.socketUrl,
      options: { headers: headers(), ...options },
    });
    await client.event('session.created');
    return client;
  }
  /** An event with an immediate response. */
  const clear = { type: 'input_audio_buffer.clear' };

  test.each([false, true])('works with compression offered: %s', async (perMessageDeflate) => {
    const client = await open({ perMessageDeflate });
    client.do({ send: { ...clear, event_id: 'x'.repeat(500) } });
    await client.event('input_audio_buffer.cleared');
    // A compressible message.
    client.do({ send: { type: 'input_audio_buffer.append', audio: silentPcm(20_000).toString('base64') } });
    client.do({ send: { type: 'input_audio_buffer.commit' } });
    await client.event('input_audio_buffer.committed');
    client.do({ close: { code: 1000 } });
    expect(await client.until('close', ({ kind }) => kind === 'close')).toMatchObject({ code: 1000 });
    expect(client.messages.filter(({ kind }) => kind === 'error')).toEqual([]);
  });

  test('a pong has the data of the ping', async () => {
    const client = await open();
    client.do({ ping: 'are you there' });
    expect(await client.until('pong', ({ kind }) => kind === 'pong')).toMatchObject({
      data: 'are you there',
    });
  });

  test('accepts fragmented messages', async () => {
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

  test('rejects an append beyond a buffer of 25 MiB', async () => {
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
  ])('a browser client that offers %s gets GA event names: %s', async (offer, ga) => {
    const client = openNodeClient('plain-ws.mjs', {
      url: service.socketUrl,
      protocols: ['realtime', `openai-insecure-api-key.${service.key}`, offer],
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

  test.each([1000, 1001, 3000, 4999])('echoes the close code %i', async (code) => {
    const client = await open();
    client.do({ close: { code, reason: 'done' } });
    expect(await client.until('close', ({ kind }) => kind === 'close')).toMatchObject({ code });
  });

  test('cancels the response of a disconnected client', async () => {
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
      .poll(async () => {
        const page = (await (await service.fetch('/v1/usage?limit=1')).json()) as {
          data: { status: string; characters: number }[];
        };
        return page.data[0];
      })
      .toMatchObject({ status: 'cancelled', endpoint: '/v1/audio/speech' });
  });
});

test('the log has no keys and no texts', async () => {
  const output = await service.output();
  expect(output.split('\n').length).toBeGreaterThan(10);
  expect(output).not.toMatch(/test-key-of|Grüße|client has gone/);
});
