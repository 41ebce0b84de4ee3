import { describe, expect, it } from 'vitest';
import { MAX_BUFFERED_BYTES, MAX_PENDING_TURNS } from '../../plugins/realtime/limits.ts';
import type { RealtimeClient, ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import { OrderedSttEngine, OrderedTtsEngine, OrderedVadEngine } from '../doubles/scripted-engines.ts';
import { shake } from '../harness/handshake.ts';
import { realtimeAppOfTest } from '../harness/realtime-app.ts';
import { KEY_A, KEY_B } from '../harness/test-app.ts';

/** The limits of a connection that waits for a recogniser, and of an organization: each is reached here. */

function setUp(perOrganization = 10) {
  const stt = new OrderedSttEngine();
  const tts = new OrderedTtsEngine();
  const vad = new OrderedVadEngine();
  const app = realtimeAppOfTest({ stt, tts, vad, perOrganization });
  return { app, stt, tts, vad };
}

const append = (bytes: number) => ({
  type: 'input_audio_buffer.append',
  event_id: 'append',
  audio: new Uint8Array(bytes).toBase64(),
});

const errorsOf = (events: readonly ServerEventFrame[]) =>
  events
    .filter(({ type }) => type === 'error')
    .map(({ error }) => error as { code: string; message: string });

async function commit(client: RealtimeClient, bytes: number): Promise<ServerEventFrame[]> {
  client.send(append(bytes));
  client.send({ type: 'input_audio_buffer.commit', event_id: 'commit' });
  return client.handled();
}

describe('the connection limit of an organization', () => {
  it('rejects further connections with 429 before the upgrade, without effect on others', async () => {
    const { app } = setUp(2);
    const [one, two] = [await app.connect(), await app.connect()];
    const { status, body } = await shake(app.url.replace('ws:', 'http:'), { 'x-api-key': KEY_A });
    expect(status).toBe(429);
    expect(JSON.parse(body).error).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('2 of 2 realtime connections in flight'),
    });
    const other = await app.connect('', { headers: { authorization: `Bearer ${KEY_B}` } });
    await other.close('quiet');
    await one.close('quiet');
    await expect
      .poll(() =>
        app.connect().then(
          (client) => client.close(),
          () => 'full',
        ),
      )
      .toBeUndefined();
    await two.close('quiet');
  });
});

describe('the audio of all connections', () => {
  it('is limited per organization and in total, until it is transcribed or cleared', async () => {
    const [stt, tts, vad] = [new OrderedSttEngine(), new OrderedTtsEngine(), new OrderedVadEngine()];
    const app = realtimeAppOfTest({
      stt,
      tts,
      vad,
      audioMemory: { bytesPerKey: 10_000, totalBytes: 15_000 },
    });
    const [one, two] = [await app.connect(), await app.connect()];
    const other = await app.connect('', { headers: { authorization: `Bearer ${KEY_B}` } });
    const errorOf = async (client: RealtimeClient, bytes: number) => {
      client.send(append(bytes));
      return errorsOf(await client.handled());
    };
    expect(await errorOf(one, 6000)).toEqual([]);
    expect(await errorOf(two, 6000)).toMatchObject([
      { code: 'buffer_overflow', param: 'audio', message: expect.stringContaining('of this organization') },
    ]);
    expect(await errorOf(other, 6000)).toEqual([]);
    expect(await errorOf(other, 3200)).toMatchObject([
      { code: 'buffer_overflow', message: expect.stringContaining('of the service') },
    ]);
    one.send({ type: 'input_audio_buffer.clear' });
    await one.handled();
    // The transcription of the first commit reads its audio; the second one waits.
    for (const bytes of [480, 6000]) expect(errorsOf(await commit(two, bytes))).toEqual([]);
    expect(await errorOf(one, 6000)).toHaveLength(1);
    for (let turn = 0; turn < 2; turn += 1) {
      stt.give({ stt: 'final' });
      await two.next('conversation.item.input_audio_transcription.completed');
    }
    expect(await errorOf(one, 6000)).toEqual([]);
    await one.close('quiet');
    await expect.poll(() => errorOf(two, 6000)).toEqual([]);
    await two.close('quiet');
    await other.close('quiet');
  });
});

describe('pending commits', () => {
  it(`are limited to ${MAX_PENDING_TURNS}; a rejected commit keeps its audio in the buffer`, async () => {
    const { app, stt } = setUp();
    const client = await app.connect();
    for (let at = 0; at <= MAX_PENDING_TURNS; at++) expect(errorsOf(await commit(client, 4800))).toEqual([]);
    const [refusal] = errorsOf(await commit(client, 4800));
    expect(refusal).toMatchObject({ code: 'invalid_request_error', event_id: 'commit' });
    expect(refusal?.message).toContain(`At most ${MAX_PENDING_TURNS} commits may be waiting`);
    stt.give({ stt: 'final' });
    await client.next('conversation.item.input_audio_transcription.completed');
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('input_audio_buffer.committed');
    await client.close();
  });

  it('are limited in bytes: appends are rejected until a transcription ends', async () => {
    const { app, stt } = setUp();
    const client = await app.connect();
    const half = MAX_BUFFERED_BYTES / 2 + 2;
    // The transcription of the first commit is already reading its audio.
    for (const bytes of [4800, half, half]) expect(errorsOf(await commit(client, bytes))).toEqual([]);
    client.send(append(4800));
    const [refusal] = errorsOf(await client.handled());
    expect(refusal).toMatchObject({ code: 'buffer_overflow', param: 'audio', event_id: 'append' });
    expect(refusal?.message).toContain('waiting for transcription');
    stt.give({ stt: 'final' });
    await client.next('conversation.item.input_audio_transcription.completed');
    await expect.poll(async () => errorsOf(await commit(client, 4800)).length).toBe(0);
    await client.close();
  });
});

describe('pending turns of server_vad', () => {
  it(`are limited to ${MAX_PENDING_TURNS}; then appends are rejected until a turn ends`, async () => {
    const { app, stt, vad } = setUp();
    const turns = MAX_PENDING_TURNS + 20;
    vad.give({ vad: Array.from({ length: turns }, (_, at) => [at * 1000, at * 1000 + 200] as const) });
    const client = await app.connect();
    const input = { format: { type: 'audio/pcm', rate: 8000 }, turn_detection: { type: 'server_vad' } };
    client.send({ type: 'session.update', session: { audio: { input } } });
    await client.next('session.updated');
    let rejected: { code: string; message: string } | undefined;
    let committed = 0;
    for (let at = 0; at < turns && rejected === undefined; at++) {
      client.send(append(16_000));
      const events = await client.handled();
      [rejected] = errorsOf(events);
      committed += events.filter(({ type }) => type === 'input_audio_buffer.committed').length;
    }
    expect(rejected).toMatchObject({ code: 'buffer_overflow', param: 'audio' });
    expect(rejected?.message).toContain(`${MAX_PENDING_TURNS} committed turns are waiting`);
    expect(committed).toBe(MAX_PENDING_TURNS + 1);
    stt.give({ stt: 'final' });
    await client.next('conversation.item.input_audio_transcription.completed');
    client.send(append(1600));
    expect(errorsOf(await client.handled())).toEqual([]);
    await client.close();
  });
});

describe('a draining connection', () => {
  it('rejects events, ignores audio, completes its response and closes with 1001', async () => {
    const { app, tts } = setUp();
    const client = await app.connect();
    client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
    const content = [{ type: 'input_text', text: 'Hello.' }];
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
    client.send({ type: 'response.create' });
    await client.next('response.created');
    const drained = app.connections.drain(new AbortController().signal);
    client.send({ type: 'input_audio_buffer.append', event_id: 'bad', audio: '?' });
    client.send(append(4800));
    client.send({ type: 'input_audio_buffer.commit', event_id: 'late' });
    const errors = errorsOf(await client.handled());
    expect(errors).toMatchObject([
      { code: 'invalid_request_error', event_id: 'bad' },
      { code: 'internal_error', event_id: 'late' },
    ]);
    tts.give({ tts: 'audio', ms: 100 });
    tts.give({ tts: 'end' });
    await client.next('response.done');
    expect(await client.closed).toMatchObject({ code: 1001 });
    await drained;
    await client.close();
  });
});
