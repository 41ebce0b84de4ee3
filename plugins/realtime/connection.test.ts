import { describe, expect, it } from 'vitest';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { CLOSE, type Socket } from '../../src/http/transport/socket.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { fakeLexicons } from '../../test/doubles/fake-lexicons.ts';
import { FakeSttEngine } from '../../test/doubles/fake-stt-engine.ts';
import { FakeTtsEngine } from '../../test/doubles/fake-tts-engine.ts';
import { FakeTurnEnd } from '../../test/doubles/fake-turn-end.ts';
import { FakeVadEngine, settled } from '../../test/doubles/fake-vad-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { noMetrics } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { ConnectionRegistry } from './connection-registry.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

/** A socket that reports `closed` before `close` returns, as those of Bun do. */
class FakeSocket implements Socket {
  readonly sent: { readonly type: string }[] = [];
  closedWith: number | undefined;
  readonly #owner: { closed(): void };

  constructor(owner: { closed(): void }) {
    this.#owner = owner;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  async ready(): Promise<void> {}

  close(code: number): void {
    if (this.closedWith !== undefined) return;
    this.closedWith = code;
    this.#owner.closed();
  }
}

interface Waits {
  /** Awaited before a usage row is stored. */
  readonly storing?: () => Promise<void> | void;
  readonly find?: StoredVoices['find'];
}

/** The limit is one concurrent connection. */
function service({ storing = () => undefined, find = async () => undefined }: Waits = {}) {
  const stt = new FakeSttEngine();
  const tts = new FakeTtsEngine();
  const vad = new FakeVadEngine();
  const log = new RecordingLogger();
  const connections = new ConnectionRegistry({
    stt: { ids: ['svc-stt'], get: () => stt },
    tts: { ids: ['svc-tts'], get: () => tts },
    text: { ids: [], get: () => undefined },
    fastSpeech: { open: () => Promise.reject(new Error('not used')) },
    conversations: { ids: [], get: () => undefined },
    vad,
    turnEnd: new FakeTurnEnd(),
    voices: { find, findSimilar: async () => undefined },
    lexicons: fakeLexicons(),
    calls: new RecordedCalls({ storing }),
    clock: new ManualClock(),
    log,
    metrics: noMetrics,
    tracer: noopTracer,
    perOrganization: 1,
    rules: {
      sttModels: ['svc-stt', 'broken'],
      ttsModels: ['svc-tts'],
      defaultSttModel: 'svc-stt',
      defaultTtsModel: 'svc-tts',
      languagesOf: (model) => {
        // An unexpected error.
        if (model === 'broken') throw new Error('private words');
        return ['en'];
      },
      maxTextCharacters: 5000,
    },
  });
  const connect = async () => {
    const { signal } = new AbortController();
    const connection = await connections.open(CALLER, new URLSearchParams(), new Headers(), signal);
    const socket = new FakeSocket(connection);
    connection.opened(socket);
    const send = (event: object) => connection.received(JSON.stringify(event));
    const speak = (response?: object) => {
      send({ type: 'session.update', session: { output_modalities: ['audio'] } });
      const content = [{ type: 'input_text', text: 'Hello.' }];
      send({ type: 'conversation.item.create', item: { role: 'user', content } });
      send({ type: 'response.create', response });
    };
    return { socket, send, speak };
  };
  return { connections, connect, vad, tts, log };
}

describe('an unexpected error', () => {
  it('closes the socket with 1011 and releases everything, including the slot', async () => {
    const { connections, connect, vad, log } = service();
    const { socket, send } = await connect();
    send({
      type: 'session.update',
      session: { audio: { input: { turn_detection: { type: 'server_vad' } } } },
    });
    send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(vad.streams).toHaveLength(1);

    send({ type: 'session.update', session: { audio: { input: { transcription: { model: 'broken' } } } } });
    expect(socket.closedWith).toBe(CLOSE.internalError);
    expect(vad.streams[0]?.isClosed).toBe(true);
    await settled();
    // It would be rejected while the slot is in use, and would not end while anything is open.
    await expect(connect()).resolves.toBeDefined();
    await connections.close();
    expect(log.lines).toMatchObject([{ level: 'error', fields: { request_id: CALLER.requestId } }]);
  });
});

describe('a session.update that names a voice', () => {
  const naming = (voice: string) => ({ type: 'session.update', session: { audio: { output: { voice } } } });
  const waiting = () => {
    const { promise, resolve } = Promise.withResolvers<SpokenVoice | undefined>();
    return { found: promise, tell: resolve };
  };

  it('is merged after the voice lookup and before any later frame', async () => {
    const { found, tell } = waiting();
    const asked: unknown[] = [];
    const { connections, connect } = service({
      find(...of) {
        asked.push(of);
        return found;
      },
    });
    const { socket, send, speak } = await connect();
    send(naming('tts-vc-voice_1'));
    send({ type: 'input_audio_buffer.append', audio: '*' });
    speak();
    await settled();
    expect(socket.sent.map(({ type }) => type)).toEqual(['session.created']);
    expect(asked).toEqual([['tts-vc-voice_1', 'a']]);
    tell(spokenVoice());
    await settled();
    expect(socket.sent.slice(1, 5)).toMatchObject([
      { type: 'session.updated', session: { audio: { output: { voice: 'tts-vc-voice_1' } } } },
      { type: 'error', error: { param: 'audio' } },
      { type: 'session.updated', session: { output_modalities: ['audio'] } },
      { type: 'conversation.item.created' },
    ]);
    expect(socket.sent.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
    await connections.close();
  });

  it('is rejected in that field if the lookup fails, and the rest applies', async () => {
    const { connections, connect, log } = service({ find: () => Promise.reject(new Error('private words')) });
    const { socket, send } = await connect();
    send({ type: 'session.update', session: { voice: 'tts-vc-voice_1', speed: 2 } });
    await settled();
    expect(socket.sent.slice(1)).toMatchObject([
      { type: 'error', error: { code: 'internal_error', param: 'session.voice' } },
      { type: 'session.updated', session: { audio: { output: { speed: 2 } } } },
    ]);
    expect(log.lines).toMatchObject([
      { message: 'voice lookup failed', fields: { request_id: CALLER.requestId } },
    ]);
    await connections.close();
  });

  it('is discarded if the client has disconnected, but close waits for the lookup', async () => {
    const { found, tell } = waiting();
    const { connections, connect } = service({ find: () => found });
    const { socket, send } = await connect();
    send(naming('tts-vc-voice_1'));
    socket.close(1000);
    let isOver = false;
    const closing = connections.close().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    tell(spokenVoice());
    await closing;
    expect(socket.sent.map(({ type }) => type)).toEqual(['session.created']);
  });
});

it('a response.create uses the session settings and ignores overrides (spec 6.1)', async () => {
  const { connections, connect, tts } = service();
  const { socket, speak } = await connect();
  speak({ modalities: ['text'], output_modalities: ['text'], model: 'none', voice: 'none' });
  await settled();
  const done = { status: 'completed', output_modalities: ['audio'] };
  expect(socket.sent.at(-1)).toMatchObject({ type: 'response.done', response: done });
  expect(tts.requests).toMatchObject([{ text: 'Hello.' }]);
  await connections.close();
});

describe('the shutdown', () => {
  it('waits for the connections until their usage rows are stored, and opens no other ones', async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const { connections, connect } = service({ storing: () => stored });
    const { socket, speak } = await connect();
    speak();
    let isOver = false;
    const closing = connections.close().then(() => {
      isOver = true;
    });
    expect(socket.closedWith).toBe(CLOSE.goingAway);
    await settled();
    expect(isOver).toBe(false);
    store();
    await closing;
    await expect(connect()).rejects.toThrow('shutting down');
  });

  it('closes busy connections immediately if its deadline has already passed', async () => {
    const { connections, connect } = service();
    const { socket, speak } = await connect();
    speak();
    await connections.drain(AbortSignal.abort());
    expect(socket.closedWith).toBe(CLOSE.goingAway);
    expect(socket.sent.map(({ type }) => type)).not.toContain('response.done');
  });
});
