/** Random client frames: valid, damaged or meaningless. */

type Json = unknown;

const SPOKEN = ['Say it.', 'One. Two! Three?', '', ' ', '🙂', '\u0000', '\ud800', 'ß'.repeat(3000), 'x'];
const KEYS = [
  'type',
  'event_id',
  'session',
  'audio',
  'item',
  'response',
  '__proto__',
  'constructor',
  'toString',
  '',
];
const NUMBERS = [0, -0, -1, 0.5, 1e21, -1e308, 5e-324, 2 ** 53, 8000, 16_000, 48_001, 25 * 2 ** 20];
const TEXTS = [
  ...SPOKEN,
  'audio/pcm',
  'audio/pcmu',
  'server_vad',
  'semantic_vad',
  'realtime',
  'root',
  'null',
  'svc-stt',
];

export class FrameFuzz {
  readonly #random: () => number;
  #eventCount = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The next frame, serialized. */
  next(): string | Uint8Array {
    const kind = this.#random();
    if (kind < 0.45) return JSON.stringify(this.#valid());
    if (kind < 0.8) return JSON.stringify(this.#damaged(this.#valid(), 1 + Math.floor(this.#random() * 3)));
    if (kind < 0.9) return this.#brokenText();
    if (kind < 0.93) return new Uint8Array(Math.floor(this.#random() * 40));
    return JSON.stringify(this.#json(3));
  }

  #valid(): Json {
    const event = this.#pick<() => object>([
      () => ({ type: 'input_audio_buffer.append', audio: this.#audio() }),
      () => ({ type: 'input_audio_buffer.append', audio: this.#audio() }),
      () => ({ type: 'input_audio_buffer.append', audio: this.#audio() }),
      () => ({ type: 'input_audio_buffer.commit' }),
      () => ({ type: 'input_audio_buffer.clear' }),
      () => ({ type: 'conversation.item.create', ...this.#item() }),
      () => ({ type: 'conversation.item.create', ...this.#item() }),
      () => ({ type: 'response.create' }),
      () => ({ type: 'response.create', response: this.#json(2) }),
      () => ({ type: 'response.cancel' }),
      () => ({ type: 'response.cancel', response_id: this.#pick(TEXTS) }),
      () => ({ type: 'conversation.item.retrieve', item_id: this.#itemId() }),
      () => ({ type: 'conversation.item.delete', item_id: this.#itemId() }),
      () => ({
        type: 'conversation.item.truncate',
        item_id: this.#itemId(),
        content_index: 0,
        audio_end_ms: this.#pick(NUMBERS),
      }),
      () => ({ type: 'output_audio_buffer.clear' }),
      () => ({ type: 'session.update', session: this.#session() }),
      () => ({ type: 'session.update', session: this.#session() }),
      () => ({ type: 'transcription_session.update', session: this.#session() }),
    ])();
    return this.#random() < 0.6 ? { ...event, event_id: this.#eventId() } : event;
  }

  #eventId(): string {
    this.#eventCount += 1;
    const id = `c${this.#eventCount}`;
    return this.#random() < 0.05 ? this.#pick(['', id.repeat(200), '\ud800', '👩‍👩‍👧', '"\\', 'c1']) : id;
  }

  #audio(): string {
    const bytes = new Uint8Array(Math.floor(this.#random() * 4000));
    const from = Math.floor(this.#random() * 256);
    for (let at = 0; at < bytes.length; at++) bytes[at] = from + at * 7;
    return bytes.toBase64();
  }

  #itemId(): string {
    return `mine_${Math.floor(this.#random() * 50)}`;
  }

  #item(): object {
    const text = this.#pick(SPOKEN);
    const item = this.#pick<() => object>([
      () => ({ role: 'user', content: [{ type: 'input_text', text }] }),
      () => ({ role: 'user', type: 'message', content: [{ type: 'input_audio', transcript: null }] }),
      () => ({ role: 'system', content: [{ type: 'input_text', text }] }),
      () => ({ role: 'assistant', content: [{ type: 'audio', transcript: text }] }),
      () => ({ type: 'function_call_output', call_id: 'call', output: text }),
    ])();
    const id = this.#random() < 0.4 ? { id: this.#itemId() } : {};
    const position =
      this.#random() < 0.3 ? { previous_item_id: this.#pick(['root', this.#itemId(), null]) } : {};
    return { item: { ...id, ...item }, ...position };
  }

  #session(): object {
    const format = { type: this.#pick(['audio/pcm', 'audio/pcmu', 'audio/pcma', 'audio/opus']) };
    const rate = this.#random() < 0.5 ? { rate: this.#pick(NUMBERS) } : {};
    return this.#pick<() => object>([
      () => ({ output_modalities: ['audio'] }),
      () => ({ output_modalities: ['audio'] }),
      () => ({ output_modalities: this.#json(2) }),
      () => ({ audio: { input: { turn_detection: { type: 'server_vad' } } } }),
      () => ({
        audio: { input: { turn_detection: { type: 'server_vad', threshold: this.#pick(NUMBERS) } } },
      }),
      () => ({ audio: { input: { turn_detection: null } } }),
      () => ({ audio: { input: { format: { ...format, ...rate } } } }),
      () => ({ audio: { output: { format: { ...format, ...rate } } } }),
      () => ({ audio: { input: { noise_reduction: this.#json(1) } } }),
      () => ({ audio: { input: { transcription: { language: this.#pick(['en', 'de', 'xx', '']) } } } }),
      () => ({ type: this.#pick(['transcription', 'translation', 'realtime', 'music']) }),
      () => ({ voice: this.#pick(TEXTS), instructions: this.#json(2) }),
      () => this.#json(3) as object,
    ])();
  }

  /** A value with parts replaced, removed or added. */
  #damaged(value: Json, times: number): Json {
    let damaged = value;
    for (let time = 0; time < times; time++) damaged = this.#damagedOnce(damaged);
    return damaged;
  }

  #damagedOnce(value: Json): Json {
    if (Array.isArray(value) && value.length > 0 && this.#random() < 0.7) {
      const at = Math.floor(this.#random() * value.length);
      return value.with(at, this.#damagedOnce(value[at]));
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const names = Object.keys(value);
      const name = this.#pick(names);
      const { [name]: inner, ...rest } = value as Record<string, Json>;
      const action = this.#random();
      if (names.length === 0 || action < 0.15) return { ...value, [this.#pick(KEYS)]: this.#json(2) };
      if (action < 0.35) return rest;
      return { ...rest, [name]: this.#damagedOnce(inner) };
    }
    return this.#json(2);
  }

  #json(depth: number): Json {
    const kinds = ['text', 'number', 'flag', 'nothing', 'deep'];
    switch (this.#pick(depth > 0 ? [...kinds, 'list', 'object', 'object'] : kinds)) {
      case 'text':
        return this.#pick(TEXTS);
      case 'number':
        return this.#pick(NUMBERS);
      case 'flag':
        return this.#random() < 0.5;
      case 'nothing':
        return null;
      case 'deep':
        return this.#random() < 0.1 ? this.#deep() : {};
      case 'list':
        return Array.from({ length: Math.floor(this.#random() * 4) }, () => this.#json(depth - 1));
      default:
        return Object.fromEntries(
          Array.from({ length: Math.floor(this.#random() * 4) }, () => [
            this.#pick(KEYS),
            this.#json(depth - 1),
          ]),
        );
    }
  }

  #deep(): Json {
    let value: Json = 1;
    const levels = this.#pick([5, 20, 63, 64, 65, 500]);
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  }

  #brokenText(): string {
    const valid = JSON.stringify(this.#valid());
    const at = Math.floor(this.#random() * valid.length);
    return this.#pick([
      () => valid.slice(0, at),
      () => valid + valid,
      () => `${valid.slice(0, at)}\u0000${valid.slice(at)}`,
      () => valid.replace('{', '{"type":"dance",'),
      () => valid.replace('{', '{"number":1e400,'),
      () => valid.replace('{', '{"__proto__":{"type":"input_audio_buffer.clear"},'),
      () => '[['.repeat(2000),
      () => '',
      () => 'null',
      () => '"\\ud800"',
      () => `\ufeff${valid}`,
      () => `{"type":"session.update","session":{"a":[${'0,'.repeat(60_000)}0]}}`,
    ])();
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}
