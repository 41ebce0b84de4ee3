import { RealtimeClient, type ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import { appends, silentPcm } from '../../tools/harness/services/realtime-service.ts';
import type { OpenEntry } from '../report/ledger.ts';
import { type SoakClient, WITHIN_MS } from '../site/soak-client.ts';
import type { Load } from './load.ts';
import type { Material, Spoken } from './material.ts';
import { codeOf, endOf, isServerError, type TurnEnd } from './socket-ends.ts';
import { transcriptViolation } from './transcription-load.ts';

const TURNS = 2;
/** Longer than the silence that ends a turn. */
const SILENCE_MS = 1500;

const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const FAILED = 'conversation.item.input_audio_transcription.failed';

class RealtimeRound {
  readonly #client: SoakClient;
  readonly #socket: RealtimeClient;
  readonly #node: string;

  constructor(client: SoakClient, socket: RealtimeClient, node: string) {
    this.#client = client;
    this.#socket = socket;
    this.#node = node;
  }

  /** Sends a turn and waits for its transcript. */
  async transcribe({ pcm, transcript }: Spoken, isDetected: boolean): Promise<boolean> {
    return await this.#record('realtime transcription', async () => {
      const socket = this.#socket;
      const audio = isDetected ? Buffer.concat([pcm, silentPcm(SILENCE_MS)]) : Buffer.from(pcm);
      for (const piece of appends(audio)) socket.send({ type: 'input_audio_buffer.append', audio: piece });
      if (!isDetected) socket.send({ type: 'input_audio_buffer.commit' });
      const event = await socket.next(
        (each) => [COMPLETED, FAILED].includes(each.type) || isServerError(each),
      );
      if (event.type !== COMPLETED) return { end: 'failed', detail: codeOf(event) };
      return transcriptViolation(transcript, String(event.transcript)) ?? { end: 'right' };
    });
  }

  /** Requests speech for a text. */
  async speak({ text, pcm }: Spoken): Promise<boolean> {
    return await this.#record('realtime speech', async () => {
      const socket = this.#socket;
      const content = [{ type: 'input_text', text }];
      socket.send({ type: 'conversation.item.create', item: { role: 'user', content } });
      socket.send({ type: 'response.create' });
      const events = await socket.collect((event) => event.type === 'response.done' || isServerError(event));
      const done = events.at(-1) as ServerEventFrame;
      if (done.type === 'error') return { end: 'failed', detail: codeOf(done) };
      const { status } = done.response as { status: string };
      if (status !== 'completed') return { end: 'failed', detail: `a response with status ${status}` };
      const audio = events.filter(({ type }) => type === 'response.audio.delta');
      const bytes = audio.reduce((sum, { delta }) => sum + Buffer.byteLength(String(delta), 'base64'), 0);
      if (bytes === pcm.length) return { end: 'right' };
      return { end: 'wrong', detail: `${bytes} bytes of speech instead of ${pcm.length}` };
    });
  }

  /** Sends a turn and terminates the connection before its transcript. */
  disconnect({ pcm }: Spoken): void {
    const entry = this.#begin('realtime transcription');
    for (const audio of appends(Buffer.from(pcm))) {
      this.#socket.send({ type: 'input_audio_buffer.append', audio });
    }
    this.#socket.send({ type: 'input_audio_buffer.commit' });
    this.#socket.terminate();
    entry.end('left');
  }

  async #record(load: string, turn: () => Promise<TurnEnd>): Promise<boolean> {
    const entry = this.#begin(load);
    const { end, detail } = await turn().catch(endOf);
    entry.end(end, detail);
    return end === 'right';
  }

  #begin(load: string): OpenEntry {
    const { ledger } = this.#client.parts;
    return ledger.begin({ load, organization: this.#client.account, node: this.#node, rows: 'one' });
  }
}

async function realtimeRound(client: SoakClient, { sentences }: Material, at: number): Promise<void> {
  const node = client.node();
  const { ledger } = client.parts;
  const entry = ledger.begin({
    load: 'realtime connection',
    organization: client.account,
    node: node.name,
    rows: 'none',
  });
  let socket: RealtimeClient;
  try {
    const url = `${node.service.baseUrl.replace('http', 'ws')}/v1/realtime`;
    socket = await RealtimeClient.connect(url, { headers: client.headers, timeoutMs: WITHIN_MS });
  } catch (error) {
    entry.end('unreachable', error instanceof Error ? error.message : '');
    return;
  }
  const isDetected = at % 2 === 1;
  try {
    const turn_detection = isDetected ? { type: 'server_vad' } : null;
    const session = { output_modalities: ['audio'], audio: { input: { turn_detection } } };
    socket.send({ type: 'session.update', session });
    await socket.next('session.updated');
    const round = new RealtimeRound(client, socket, node.name);
    for (let turn = 0; turn < TURNS; turn += 1) {
      const spoken = sentences[(at + turn) % sentences.length] as Spoken;
      if (at % 4 === 2 && turn === 1) {
        round.disconnect(spoken);
        entry.end('left');
        return;
      }
      if (!(await round.transcribe(spoken, isDetected))) break;
      if (!(await round.speak(spoken))) break;
    }
    await socket.close();
    entry.end('right');
  } catch (error) {
    const { end, detail } = endOf(error);
    entry.end(end, detail);
  } finally {
    socket.terminate();
  }
}

/** Connections with manual and detected turns and speech responses; some disconnect half-way. */
export const realtimeLoad: Load = {
  name: 'realtime',
  organization: 'realtime',
  site: 'main',
  pauseMs: 4000,
  round: realtimeRound,
};
