import { describe, expect, it } from 'vitest';
import { CLOSE, type Socket } from '../../src/http/socket.ts';
import { noMetrics } from '../../test/support/doubles.ts';
import { FakeSttEngine } from '../../test/support/fake-stt-engine.ts';
import { FakeTtsEngine } from '../../test/support/fake-tts-engine.ts';
import { FakeVadEngine, settled } from '../../test/support/fake-vad-engine.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RecordedCalls } from '../../test/support/recorded-calls.ts';
import { RecordingLogger } from '../../test/support/recording-logger.ts';
import type { Connection } from './connection.ts';
import { Connections } from './connections.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

/** A socket that is closed before `close` returns, as Bun's are. */
class FakeSocket implements Socket {
  readonly sent: { readonly type: string }[] = [];
  closedWith: number | undefined;
  readonly #owner: Connection;

  constructor(owner: Connection) {
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

/** @param storing awaited before a usage row is stored. One connection may be open at once. */
function service(storing: () => Promise<void> | void = () => undefined) {
  const stt = new FakeSttEngine();
  const tts = new FakeTtsEngine();
  const vad = new FakeVadEngine();
  const log = new RecordingLogger();
  const connections = new Connections({
    stt: { ids: ['svc-stt'], get: () => stt },
    tts: { ids: ['svc-tts'], get: () => tts },
    vad,
    calls: new RecordedCalls({ storing }),
    clock: new ManualClock(),
    log,
    metrics: noMetrics,
    perOrganization: 1,
    rules: {
      sttModels: ['svc-stt'],
      ttsModels: ['svc-tts'],
      defaultSttModel: 'svc-stt',
      defaultTtsModel: 'svc-tts',
      languagesOf: () => ['en'],
      // Something that nobody foresaw.
      isVoice: () => {
        throw new Error('private words');
      },
      maxTextCharacters: 5000,
    },
  });
  const connect = () => {
    const connection = connections.open(CALLER, new URLSearchParams(), new Headers());
    const socket = new FakeSocket(connection);
    connection.opened(socket);
    const send = (event: object) => connection.received(JSON.stringify(event));
    const speak = () => {
      send({ type: 'session.update', session: { output_modalities: ['audio'] } });
      const content = [{ type: 'input_text', text: 'Hello.' }];
      send({ type: 'conversation.item.create', item: { role: 'user', content } });
      send({ type: 'response.create' });
    };
    return { socket, send, speak };
  };
  return { connections, connect, vad, log };
}

describe('a fault that nobody foresaw', () => {
  it('closes the socket with 1011 and frees everything, its place too', async () => {
    const { connections, connect, vad, log } = service();
    const { socket, send } = connect();
    send({
      type: 'session.update',
      session: { audio: { input: { turn_detection: { type: 'server_vad' } } } },
    });
    send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(vad.streams).toHaveLength(1);

    send({ type: 'session.update', session: { audio: { output: { voice: 'any' } } } });
    expect(socket.closedWith).toBe(CLOSE.serverFault);
    expect(vad.streams[0]?.isClosed).toBe(true);
    await settled();
    // It would be refused while the place is taken, and would not end while anything is open.
    expect(() => connect()).not.toThrow();
    await connections.close();
    expect(log.lines).toMatchObject([{ level: 'error', fields: { request_id: CALLER.requestId } }]);
  });
});

describe('the end of the service', () => {
  it('waits for what was opened after an earlier end, until its row is stored', async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const { connections, connect } = service(() => stored);
    connect();
    await connections.close();

    const { socket, speak } = connect();
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
    expect(() => connect()).not.toThrow();
    await connections.close();
  });

  it('closes at once what is busy when its time was over before it began', async () => {
    const { connections, connect } = service();
    const { socket, speak } = connect();
    speak();
    await connections.drain(AbortSignal.abort());
    expect(socket.closedWith).toBe(CLOSE.goingAway);
    expect(socket.sent.map(({ type }) => type)).not.toContain('response.done');
  });
});
