import { RealtimeClient, type ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import { appends } from '../../tools/harness/services/realtime-service.ts';
import type { CallEnd } from '../report/ledger.ts';
import { type SoakClient, WITHIN_MS } from '../site/soak-client.ts';
import { CONVERSATION_MODEL } from '../site/soak-config.ts';
import type { Load } from './load.ts';
import type { Material, Spoken } from './material.ts';
import { codeOf, endOf, isServerError } from './socket-ends.ts';
import { transcriptViolation } from './transcription-load.ts';

const TURNS = 2;
const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const FAILED = 'conversation.item.input_audio_transcription.failed';
const AUDIO = 'response.output_audio.delta';

/** One turn: each of its parts has one usage row. */
class Turn {
  readonly #client: SoakClient;
  readonly #node: string;
  readonly #transcription;
  readonly #text;
  readonly #speech;

  constructor(client: SoakClient, node: string) {
    this.#client = client;
    this.#node = node;
    this.#transcription = this.#begin('conversation transcription');
    this.#text = this.#begin('conversation text');
    this.#speech = this.#begin('conversation speech');
  }

  /** Speaks and waits for the spoken reply. @param leaves disconnect at the first audio. @returns whether all parts were right. */
  async take(socket: RealtimeClient, { pcm, transcript }: Spoken, leaves: boolean): Promise<boolean> {
    try {
      for (const audio of appends(Buffer.from(pcm)))
        socket.send({ type: 'input_audio_buffer.append', audio });
      socket.send({ type: 'input_audio_buffer.commit' });
      socket.send({ type: 'response.create' });
      const event = await socket.next(({ type }) => type === COMPLETED || type === FAILED);
      if (event.type === FAILED) return this.#endAll('failed', codeOf(event));
      const violation = transcriptViolation(transcript, String(event.transcript));
      this.#transcription.end(violation?.end ?? 'right', violation?.detail);
      if (leaves) {
        await socket.next((event) => event.type === AUDIO || event.type === 'response.done');
        socket.terminate();
        return this.#endAll('left');
      }
      const events = await socket.collect((event) => event.type === 'response.done' || isServerError(event));
      return this.#endReply(events);
    } catch (error) {
      const { end, detail } = endOf(error);
      return this.#endAll(end, detail);
    }
  }

  #endReply(events: readonly ServerEventFrame[]): boolean {
    const last = events.at(-1) as ServerEventFrame;
    if (last.type === 'error') return this.#endAll('failed', codeOf(last));
    const { status } = last.response as { status: string };
    // The reply may be longer than the limit of the session.
    if (status !== 'completed' && status !== 'incomplete') {
      return this.#endAll('failed', `a response with status ${status}`);
    }
    const hasAudio = events.some(({ type }) => type === AUDIO);
    this.#text.end('right');
    this.#speech.end(hasAudio ? 'right' : 'failed', hasAudio ? undefined : 'a reply without audio');
    return hasAudio;
  }

  /** Ends the parts that have not ended. */
  #endAll(end: CallEnd, detail?: string): false {
    for (const entry of [this.#transcription, this.#text, this.#speech]) entry.end(end, detail);
    return false;
  }

  #begin(load: string) {
    const { ledger } = this.#client.parts;
    return ledger.begin({ load, organization: this.#client.account, node: this.#node, rows: 'one' });
  }
}

async function conversationRound(client: SoakClient, { sentences }: Material, at: number): Promise<void> {
  const node = client.node();
  const entry = client.parts.ledger.begin({
    load: 'conversation connection',
    organization: client.account,
    node: node.name,
    rows: 'none',
  });
  let socket: RealtimeClient;
  try {
    const url = `${node.service.baseUrl.replace('http', 'ws')}/v1/realtime?model=${CONVERSATION_MODEL}`;
    socket = await RealtimeClient.connect(url, { headers: client.headers, timeoutMs: WITHIN_MS });
  } catch (error) {
    entry.end('unreachable', error instanceof Error ? error.message : '');
    return;
  }
  try {
    const audio = { input: { turn_detection: null, transcription: { language: 'en' } } };
    socket.send({ type: 'session.update', session: { type: 'realtime', max_output_tokens: 24, audio } });
    await socket.next('session.updated');
    for (let turn = 0; turn < TURNS; turn++) {
      const spoken = sentences[(at + turn) % sentences.length] as Spoken;
      const leaves = at % 3 === 2 && turn === 1;
      if (!(await new Turn(client, node.name).take(socket, spoken, leaves))) break;
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

/** Spoken conversations with the embedded language model; some callers hang up during a reply. */
export const conversationLoad: Load = {
  name: 'conversations',
  organization: 'conversations',
  site: 'main',
  pauseMs: 8000,
  round: conversationRound,
};
