import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import type { TraceEntry } from '../../tools/trace-check/check.ts';

/** A JSON object of the protocol. */
export type Frame = Record<string, unknown>;

export type ConversationDialect = 'spec' | 'ga';

interface SpokenResponse {
  readonly id: string;
  readonly item: Frame & { readonly id: string };
  readonly text: string;
  readonly previous: string | null;
  runsLeft: number;
}

const FORMAT = { type: 'audio/pcm', rate: 24_000 };
const WORDS = ['turn ', 'on ', 'the ', 'lights ', 'now', ', ', 'please', '.', ' é', ' 你好', ' 🙂'];
const RESPONSE_USAGE = {
  total_tokens: 9,
  input_tokens: 4,
  output_tokens: 5,
  input_token_details: {
    text_tokens: 4,
    audio_tokens: 0,
    image_tokens: 0,
    cached_tokens: 0,
    cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 0, audio_tokens: 5 },
};
const VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  create_response: false,
  interrupt_response: false,
  idle_timeout_ms: null,
};

/**
 * Generates a conversation without violations from a seed: a client that sends valid and invalid events, and an
 * independent implementation of the server by the specification, which handles events with a delay.
 * @returns the trace of the client, with a quiet end.
 */
export function legalConversation(seed: number, dialect: ConversationDialect, steps = 160): TraceEntry[] {
  return new LegalConversation(seed, dialect).run(steps);
}

class LegalConversation {
  readonly #random: () => number;
  readonly #dialect: ConversationDialect;
  readonly #entries: TraceEntry[] = [];
  readonly #inbox: unknown[] = [];
  #idCount = 0;
  #eventCount = 0;
  #session: Frame;
  #detecting = false;
  #speaking = false;
  #listening = 0;
  #buffered = false;
  #turn: { itemId: string } | undefined;
  #audioMs = 0;
  #last: string | null = null;
  #texts: string[] = [];
  readonly #items = new Map<string, Frame>();
  readonly #transcribing: { itemId: string; text: string }[] = [];
  #response: SpokenResponse | undefined;

  constructor(seed: number, dialect: ConversationDialect) {
    this.#random = seededRandom(seed);
    this.#dialect = dialect;
    this.#session = {
      id: this.#id('sess_'),
      object: 'realtime.session',
      type: 'transcription',
      audio: {
        input: {
          format: FORMAT,
          transcription: { model: 'svc-stt' },
          turn_detection: null,
          noise_reduction: null,
        },
        output: { format: FORMAT },
      },
      output_modalities: [],
      tts_model: 'svc-tts',
    };
  }

  run(steps: number): TraceEntry[] {
    this.#send({ type: 'session.created', session: this.#session });
    this.#request({
      type: 'session.update',
      session: {
        ...(this.#dialect === 'ga' ? { type: 'realtime' } : {}),
        output_modalities: ['audio'],
        audio: { input: { turn_detection: this.#chance(0.5) ? { type: 'server_vad' } : null } },
      },
    });
    for (let step = 0; step < steps; step++) this.#step();
    while (this.#inbox.length > 0) this.#handle();
    if (this.#turn !== undefined) this.#endTurn();
    while (this.#transcribing.length > 0) this.#transcribe();
    while (this.#response !== undefined) this.#speak();
    return [...this.#entries, { end: 'quiet' }];
  }

  #step(): void {
    const moves = [
      () => this.#clientMove(),
      () => this.#clientMove(),
      () => this.#handle(),
      () => this.#handle(),
      () => this.#handle(),
      () => this.#detect(),
      () => this.#transcribe(),
      () => this.#speak(),
      () => this.#speak(),
    ];
    this.#pick(moves)();
  }

  // Client.

  #clientMove(): void {
    const item = (more: Frame = {}) => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: this.#text() }],
      ...more,
    });
    const moves: readonly (() => unknown)[] = [
      () => ({ type: 'input_audio_buffer.append', audio: 'AAAAAAAA' }),
      () => ({ type: 'input_audio_buffer.append', audio: 'AAAA' }),
      () => ({ type: 'input_audio_buffer.append', audio: 'not base64!' }),
      () => ({ type: 'input_audio_buffer.commit' }),
      () => ({ type: 'input_audio_buffer.commit' }),
      () => ({ type: 'input_audio_buffer.clear' }),
      () => ({ type: 'conversation.item.create', item: item() }),
      () => ({ type: 'conversation.item.create', item: item({ id: this.#id('mine_') }) }),
      () => ({ type: 'conversation.item.create', previous_item_id: 'root', item: item() }),
      () => ({ type: 'conversation.item.create', previous_item_id: this.#anyItem(), item: item() }),
      () => ({ type: 'conversation.item.create', item: { role: 'nobody' } }),
      () => ({ type: 'conversation.item.retrieve', item_id: this.#anyItem() ?? 'item_none' }),
      () => ({ type: 'conversation.item.delete', item_id: 'item_1' }),
      () => ({ type: 'response.create' }),
      () => ({ type: 'response.create', response: { modalities: ['text'] } }),
      () => ({ type: 'response.create' }),
      () => ({ type: 'response.cancel' }),
      () => ({ type: 'response.cancel', response_id: 'resp_other' }),
      () => ({
        type: 'session.update',
        session: { audio: { input: { transcription: { language: 'en' } } } },
      }),
      () => ({
        type: 'session.update',
        session: { audio: { input: { noise_reduction: { type: 'near_field' } } } },
      }),
      () => ({
        type: 'session.update',
        session: { turn_detection: this.#chance(0.5) ? { type: 'server_vad' } : null },
      }),
      () => ({ type: 'session.update', session: 'none' }),
      () => ({ type: 'dance' }),
      () => ({ binary: 12 }),
      () => 'not json',
    ];
    const frame = this.#pick(moves)();
    this.#request(frame);
  }

  #request(frame: unknown): void {
    const named = typeof frame === 'object' && this.#chance(0.6) && !Object.hasOwn(frame as Frame, 'binary');
    const sent = named ? { ...(frame as Frame), event_id: `c${++this.#eventCount}` } : frame;
    this.#entries.push({ from: 'client', frame: sent });
    this.#inbox.push(sent);
  }

  // Server.

  #handle() {
    if (this.#inbox.length === 0) return;
    const frame = this.#inbox.shift();
    const fields = (typeof frame === 'object' ? frame : {}) as Frame;
    const reject = (code: string, param: string | null) => this.#reject(fields, code, param);
    switch (fields.type) {
      case 'session.update':
        return this.#update(fields);
      case 'input_audio_buffer.append':
        if (fields.audio === 'not base64!') return reject('invalid_request_error', 'audio');
        this.#buffered = true;
        this.#audioMs += 100;
        return;
      case 'input_audio_buffer.commit':
        if (this.#turn !== undefined) return this.#endTurn();
        if (!this.#buffered) return reject('invalid_request_error', null);
        return this.#commit(this.#id('item_'));
      case 'input_audio_buffer.clear':
        this.#turn = undefined;
        this.#buffered = false;
        return this.#send({ type: 'input_audio_buffer.cleared' });
      case 'conversation.item.create':
        return this.#createItem(fields);
      case 'conversation.item.retrieve':
        if (this.#dialect === 'spec') return reject('unsupported_feature', 'type');
        if (!this.#items.has(String(fields.item_id))) return reject('invalid_request_error', 'item_id');
        return this.#send({
          type: 'conversation.item.retrieved',
          item: this.#items.get(String(fields.item_id)),
        });
      case 'conversation.item.delete':
        return reject('unsupported_feature', 'type');
      case 'response.create':
        if (this.#response !== undefined) return reject('response_in_progress', null);
        if (!this.#speaking || this.#texts.length === 0) return reject('invalid_request_error', null);
        return this.#createResponse();
      case 'response.cancel':
        if (this.#response === undefined || fields.response_id !== undefined) {
          return reject('invalid_request_error', null);
        }
        return this.#endResponse('cancelled');
      default:
        return reject('invalid_request_error', 'type');
    }
  }

  #reject(event: Frame, code: string, param: string | null): void {
    const error = { type: 'invalid_request_error', code, message: 'refused', param };
    this.#send({ type: 'error', error: { ...error, event_id: event.event_id ?? null } });
  }

  #update(event: Frame) {
    if (typeof event.session !== 'object') return this.#reject(event, 'invalid_request_error', 'session');
    const sent = event.session as { type?: string; audio?: { input?: Frame }; turn_detection?: unknown };
    const input = sent.audio?.input ?? {};
    const detection = Object.hasOwn(sent, 'turn_detection') ? sent.turn_detection : input.turn_detection;
    if (input.noise_reduction !== undefined) {
      this.#reject(event, 'unsupported_feature', 'session.audio.input.noise_reduction');
    }
    if (detection !== undefined) {
      if (this.#turn !== undefined) this.#endTurn();
      this.#detecting = detection !== null;
    }
    if (Object.hasOwn(sent, 'output_modalities')) this.#speaking = true;
    if (input.transcription !== undefined) this.#listening += 1;
    this.#session = {
      ...this.#session,
      type: sent.type ?? this.#session.type,
      audio: {
        input: {
          format: FORMAT,
          transcription: this.#listening > 0 ? { model: 'svc-stt', language: 'en' } : { model: 'svc-stt' },
          turn_detection: this.#detecting ? VAD : null,
          noise_reduction: null,
        },
        output: { format: FORMAT },
      },
      output_modalities: this.#speaking ? ['audio'] : [],
    };
    this.#send({ type: 'session.updated', session: this.#session });
  }

  #createItem(event: Frame) {
    const sent = event.item as Frame;
    if (sent.role !== 'user') return this.#reject(event, 'invalid_request_error', 'item.role');
    const id = typeof sent.id === 'string' ? sent.id : this.#id('item_');
    const item = { ...sent, id, object: 'realtime.item', status: 'completed' };
    const behind = event.previous_item_id;
    const previous = behind === undefined ? this.#last : behind === 'root' ? null : (behind as string);
    if (previous === this.#last) this.#last = id;
    this.#items.set(id, item);
    this.#texts.push(((sent.content as Frame[])[0]?.text ?? '') as string);
    this.#send({ type: 'conversation.item.created', item, previous_item_id: previous });
    this.#announce(item, previous);
  }

  #announce(item: Frame, previous: string | null): void {
    if (this.#dialect === 'spec') return;
    this.#send({ type: 'conversation.item.added', item, previous_item_id: previous });
    this.#send({ type: 'conversation.item.done', item, previous_item_id: previous });
  }

  #detect() {
    if (!this.#detecting || !this.#buffered) return;
    if (this.#turn !== undefined) return this.#endTurn();
    this.#turn = { itemId: this.#id('item_') };
    const start = { item_id: this.#turn.itemId, audio_start_ms: this.#audioMs };
    this.#send({ type: 'input_audio_buffer.speech_started', ...start });
  }

  #endTurn(): void {
    const itemId = this.#turn?.itemId ?? '';
    this.#audioMs += 50;
    this.#send({ type: 'input_audio_buffer.speech_stopped', item_id: itemId, audio_end_ms: this.#audioMs });
    this.#turn = undefined;
    this.#commit(itemId);
  }

  #commit(itemId: string): void {
    const previous = this.#last;
    this.#buffered = false;
    this.#last = itemId;
    this.#transcribing.push({ itemId, text: '' });
    this.#send({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id: previous });
    const content = [{ type: 'input_audio', transcript: null }];
    const item = {
      id: itemId,
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content,
    };
    this.#items.set(itemId, item);
    this.#announce(item, previous);
  }

  #transcribe() {
    const [open] = this.#transcribing;
    if (open === undefined) return;
    const head = { item_id: open.itemId, content_index: 0 };
    const event = (word: string) => `conversation.item.input_audio_transcription.${word}`;
    if (this.#chance(0.6)) {
      const delta = this.#pick(WORDS);
      open.text += delta;
      return this.#send({ type: event('delta'), ...head, delta, logprobs: null });
    }
    this.#transcribing.shift();
    if (this.#chance(0.15)) {
      const error = { type: 'server_error', code: 'upstream_error', message: 'transcription failed' };
      return this.#send({ type: event('failed'), ...head, error });
    }
    const usage = {
      type: 'tokens',
      total_tokens: 12,
      input_tokens: 7,
      output_tokens: 5,
      input_token_details: { text_tokens: 0, audio_tokens: 7 },
    };
    this.#send({ type: event('completed'), ...head, transcript: open.text, logprobs: null, usage });
  }

  // Responses.

  #createResponse(): void {
    const id = this.#id('resp_');
    const message = { object: 'realtime.item', type: 'message', role: 'assistant' };
    const item = { id: this.#id('item_'), ...message, status: 'in_progress', content: [] };
    const previous = this.#last;
    this.#response = {
      id,
      item,
      text: this.#texts.at(-1) ?? '',
      previous,
      runsLeft: Math.floor(this.#random() * 4),
    };
    this.#last = item.id;
    this.#items.set(item.id, item);
    this.#send({ type: 'response.created', response: this.#responseAs('in_progress', [], null, null) });
    this.#send({ type: 'response.output_item.added', response_id: id, output_index: 0, item });
    if (this.#dialect === 'ga') {
      this.#send({ type: 'conversation.item.added', item, previous_item_id: previous });
    }
    this.#part('content_part.added', { part: { type: 'audio', transcript: '' } });
  }

  #responseAs(status: string, output: readonly Frame[], details: Frame | null, usage: Frame | null): Frame {
    return {
      object: 'realtime.response',
      id: this.#response?.id,
      status,
      status_details: details,
      output,
      conversation_id: 'conv_1',
      output_modalities: ['audio'],
      max_output_tokens: 'inf',
      audio: { output: { format: FORMAT } },
      usage,
      metadata: null,
    };
  }

  #part(name: string, more: Frame = {}): void {
    const { id, item } = this.#response as SpokenResponse;
    const place = { response_id: id, item_id: item.id, output_index: 0, content_index: 0 };
    this.#send({ type: `response.${name}`, ...place, ...more });
  }

  #speak() {
    const response = this.#response;
    if (response === undefined) return;
    if (response.runsLeft > 0) {
      response.runsLeft -= 1;
      return this.#part(`${this.#audio()}.delta`, { delta: 'AAAAAA==' });
    }
    this.#endResponse(this.#chance(0.15) ? 'failed' : 'completed');
  }

  #endResponse(status: 'completed' | 'cancelled' | 'failed'): void {
    const response = this.#response as SpokenResponse;
    const whole = status === 'completed';
    const transcript = whole ? response.text : '';
    if (whole) {
      for (const delta of transcript.match(/\S+\s*|\s+/gu) ?? []) {
        this.#part(`${this.#audio()}_transcript.delta`, { delta });
      }
      this.#part(`${this.#audio()}_transcript.done`, { transcript });
    }
    this.#part(`${this.#audio()}.done`);
    this.#part('content_part.done', { part: { type: 'audio', transcript } });
    const content = [{ type: this.#audio(), transcript }];
    const item = { ...response.item, status: whole ? 'completed' : 'incomplete', content };
    if (this.#dialect === 'ga') {
      this.#send({ type: 'conversation.item.done', item, previous_item_id: response.previous });
    }
    this.#send({ type: 'response.output_item.done', response_id: response.id, output_index: 0, item });
    const error = { type: 'server_error', code: 'upstream_error', message: 'synthesis failed' };
    const details = {
      completed: null,
      cancelled: { type: 'cancelled', reason: 'client_cancelled' },
      failed: { type: 'failed', error },
    }[status];
    const usage = whole ? RESPONSE_USAGE : null;
    this.#send({ type: 'response.done', response: this.#responseAs(status, [item], details, usage) });
    this.#items.set(item.id, item);
    this.#response = undefined;
  }

  #anyItem(): string | undefined {
    return this.#pick([...this.#items.keys()]);
  }

  #audio(): string {
    return this.#dialect === 'ga' ? 'output_audio' : 'audio';
  }

  // Shared.

  #send(event: Frame): void {
    this.#entries.push({ from: 'server', frame: { event_id: this.#id('event_'), ...event } });
  }

  #id(prefix: string): string {
    return `${prefix}${++this.#idCount}`;
  }

  #text(): string {
    return Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => this.#pick(WORDS)).join('');
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}
