import { FrameFuzz } from './frame-fuzz.ts';

/** Random client frames of conversations: valid, damaged, or meaningless. */

type Json = unknown;

const WORDS = [
  'Say it.',
  'One. Two! Three?',
  '',
  ' ',
  '🙂',
  '\u0000',
  '\ud800',
  'ß'.repeat(3000),
  'x',
] as const;
const NUMBERS = [0, -0, -1, 0.5, 1e21, -1e308, 2 ** 53, 60, 100, 5000, 30_000];
const JUNK: readonly Json[] = [
  null,
  true,
  [],
  {},
  [[]],
  'server_vad',
  'audio/pcm',
  'root',
  'realtime',
  'resp_1',
];
const TOOL = { type: 'function', name: 'weather', description: 'Weather.', parameters: { type: 'object' } };

export class ConversationFuzz {
  readonly #random: () => number;
  readonly #plain: FrameFuzz;
  /** Ids of items and responses of the server. */
  #ids: readonly string[] = ['item_none', 'resp_none'];
  #count = 0;

  constructor(random: () => number) {
    this.#random = random;
    this.#plain = new FrameFuzz(random);
  }

  /** Ids that the next frames may name. */
  know(ids: readonly string[]): void {
    if (ids.length > 0) this.#ids = ids;
  }

  /** The next frame, serialized. */
  next(): string | Uint8Array {
    const kind = this.#random();
    if (kind < 0.25) return this.#plain.next();
    if (kind < 0.65) return JSON.stringify(this.#valid());
    if (kind < 0.98) return JSON.stringify(this.#damaged(this.#valid()));
    return JSON.stringify({ ...this.#valid(), padding: this.#huge() });
  }

  #valid(): object {
    const event = this.#event();
    this.#count += 1;
    return this.#random() < 0.6 ? { ...event, event_id: `f${this.#count}` } : event;
  }

  #event(): object {
    return this.#pick<() => object>([
      () => ({ type: 'input_audio_buffer.append', audio: new Uint8Array(this.#below(8000)).toBase64() }),
      () => ({ type: 'input_audio_buffer.append', audio: new Uint8Array(this.#below(8000)).toBase64() }),
      () => ({ type: 'input_audio_buffer.commit' }),
      () => ({ type: 'input_audio_buffer.clear' }),
      () => ({ type: 'conversation.item.create', item: this.#item(), ...this.#position() }),
      () => ({ type: 'conversation.item.create', item: this.#item(), ...this.#position() }),
      () => ({ type: 'conversation.item.delete', item_id: this.#id() }),
      () => ({ type: 'conversation.item.retrieve', item_id: this.#id() }),
      () => ({
        type: 'conversation.item.truncate',
        item_id: this.#id(),
        content_index: 0,
        audio_end_ms: this.#pick(NUMBERS),
      }),
      () => ({ type: 'response.create' }),
      () => ({ type: 'response.create', response: this.#response() }),
      () => ({ type: 'response.create', response: { ...this.#response(), conversation: 'none' } }),
      () => ({ type: 'response.cancel' }),
      () => ({ type: 'response.cancel', response_id: this.#id() }),
      () => ({ type: 'output_audio_buffer.clear' }),
      () => ({ type: 'session.update', session: this.#session() }),
      () => ({ type: 'session.update', session: { type: 'realtime', ...this.#session() } }),
    ])();
  }

  #item(): object {
    const text = this.#pick(WORDS);
    const id = this.#random() < 0.3 ? { id: this.#pick([`mine_${this.#below(20)}`, this.#id()]) } : {};
    const item = this.#pick<object>([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] },
      { type: 'function_call', name: 'weather', arguments: '', call_id: `call_${this.#below(5)}` },
      { type: 'function_call_output', call_id: `call_${this.#below(5)}`, output: text },
      { type: 'item_reference', id: this.#id() },
    ]);
    return { ...id, ...item };
  }

  #position(): object {
    return this.#random() < 0.3 ? { previous_item_id: this.#pick(['root', this.#id(), null]) } : {};
  }

  #response(): object {
    return this.#pick<object>([
      { output_modalities: ['text'], metadata: { count: this.#count } },
      { output_modalities: ['audio'], instructions: this.#pick(WORDS) },
      { input: [this.#item(), this.#item()] },
      { input: [] },
      { tools: [TOOL], tool_choice: 'required' },
      { audio: { output: { voice: this.#pick(['marin', 'tts-vc-voice_1', 'unknown']) } } },
      { max_output_tokens: this.#pick(NUMBERS) },
    ]);
  }

  #session(): object {
    return this.#pick<object>([
      { output_modalities: this.#pick([['text'], ['audio'], ['text', 'audio']]) },
      { instructions: this.#pick(WORDS), tools: [TOOL], tool_choice: this.#pick(['auto', 'weather', TOOL]) },
      { audio: { input: { turn_detection: this.#detection() } } },
      { turn_detection: this.#detection() },
      { audio: { input: { format: { type: this.#pick(['audio/pcm', 'audio/pcmu']), rate: 24_000 } } } },
      { audio: { output: { format: { type: 'audio/pcma' }, speed: this.#pick(NUMBERS) } } },
      { voice: this.#pick(['alloy', 'tts-vc-voice_1', 7]), truncation: this.#pick(['auto', 'disabled', 7]) },
      { max_output_tokens: this.#pick(NUMBERS), tracing: 'auto', temperature: this.#pick(NUMBERS) },
      { model: 'gpt-realtime', include: ['response.timing'] },
    ]);
  }

  #detection(): Json {
    return this.#pick<Json>([
      null,
      { type: 'server_vad', idle_timeout_ms: this.#pick(NUMBERS) },
      { type: 'server_vad', interrupt_response: this.#random() < 0.5 },
      { type: 'semantic_vad', eagerness: this.#pick(['low', 'high', 'quick']) },
      { type: 'semantic_vad', create_response: this.#random() < 0.5 },
    ]);
  }

  /** A value with a part replaced, removed or added. */
  #damaged(value: Json): Json {
    if (Array.isArray(value) && value.length > 0) {
      const place = this.#below(value.length);
      return value.with(place, this.#damaged(value[place]));
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#junk();
    const names = Object.keys(value);
    if (names.length === 0) return this.#junk();
    const name = this.#pick(names);
    const { [name]: inner, ...rest } = value as Record<string, Json>;
    const action = this.#random();
    if (action < 0.1) return { ...value, [this.#pick(['__proto__', 'constructor', 'type'])]: this.#junk() };
    return action < 0.3 ? rest : { ...rest, [name]: this.#damaged(inner) };
  }

  #junk(): Json {
    const kind = this.#random();
    if (kind < 0.02) return this.#deep();
    if (kind < 0.04) return this.#huge();
    return this.#pick<Json>([...JUNK, ...NUMBERS, ...WORDS]);
  }

  #deep(): Json {
    let value: Json = 1;
    for (let level = this.#pick([20, 63, 64, 65, 500]); level > 0; level--)
      value = level % 2 ? [value] : { a: value };
    return value;
  }

  #huge(): string {
    return 'x'.repeat(this.#pick([16_000, 70_000, 1_100_000]));
  }

  #id(): string {
    return this.#random() < 0.3 ? `mine_${this.#below(20)}` : this.#pick(this.#ids);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }
}
