/** HTTP requests of the partner platform: replies of the assistant and their speech. */

/** The three headers that carry a key. */
export type KeyHeader = 'authorization' | 'x-api-key' | 'x-partner-secret';

export interface PlatformOptions {
  /** URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly key: string;
  readonly keyHeader?: KeyHeader;
  readonly chatModel?: string;
  readonly voiceModel?: string;
  /** Maximum number of tokens of a reply. */
  readonly maxTokens?: number;
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface Timed<T> {
  readonly value: T;
  /** From the request to the first token or byte. */
  readonly firstMs: number;
}

/** Timeout of the speech of one text. */
const SOUND_TIMEOUT_MS = 30_000;

/** The header that contains the key. */
export function keyHeaders(key: string, header: KeyHeader = 'authorization'): Record<string, string> {
  return { [header]: header === 'authorization' ? `Bearer ${key}` : key };
}

export class CallPlatform {
  readonly #options: PlatformOptions;

  constructor(options: PlatformOptions) {
    this.#options = options;
  }

  /** Requests the assistant's reply as the platform does: streamed, with the call's metadata. */
  async reply(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Timed<string>> {
    const { chatModel = 'smollm2-135m-instruct', maxTokens = 250 } = this.#options;
    const startMs = performance.now();
    const response = await this.#post('/v1/chat/completions', signal, {
      model: chatModel,
      messages,
      temperature: 0.5,
      max_tokens: maxTokens,
      stream: true,
      metadata: { campaign: 'simulated' },
      call: { id: 'call', orgId: 'org' },
      phoneNumber: { number: '+15550100' },
      customer: { number: '+15550101' },
    });
    let firstMs: number | undefined;
    let text = '';
    let rest = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue;
        const { choices } = JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] };
        const content = choices[0]?.delta?.content ?? '';
        if (content !== '') firstMs ??= performance.now() - startMs;
        text += content;
      }
    }
    return { value: text, firstMs: firstMs ?? performance.now() - startMs };
  }

  /**
   * Requests the speech of one piece of a reply.
   * @param onSamples receives the samples as they arrive.
   */
  async speak(
    text: string,
    rateHz: number,
    onSamples: (samples: Int16Array) => void,
    signal: AbortSignal,
  ): Promise<Timed<number>> {
    const { voiceModel = 'svc-tts' } = this.#options;
    const startMs = performance.now();
    const response = await this.#post(`/v1/voices/partner?model=${voiceModel}`, signal, {
      message: {
        type: 'voice-request',
        text,
        sampleRate: rateHz,
        timestamp: Date.now(),
        call: { id: 'call', orgId: 'org' },
        assistant: { id: 'assistant', name: 'Ann' },
      },
    });
    let firstMs: number | undefined;
    let bytes = 0;
    let odd = Buffer.alloc(0);
    for await (const chunk of response.body ?? []) {
      firstMs ??= performance.now() - startMs;
      bytes += chunk.length;
      const all = Buffer.concat([odd, chunk]);
      const whole = all.length - (all.length % 2);
      odd = Buffer.from(all.subarray(whole));
      onSamples(new Int16Array(new Uint8Array(all.subarray(0, whole)).buffer));
    }
    return { value: bytes, firstMs: firstMs ?? performance.now() - startMs };
  }

  /** Returns the complete speech of a text. */
  async sound(text: string, rateHz: number): Promise<Int16Array<ArrayBuffer>> {
    const parts: Int16Array[] = [];
    const onSamples = (samples: Int16Array) => void parts.push(samples);
    await this.speak(text, rateHz, onSamples, AbortSignal.timeout(SOUND_TIMEOUT_MS));
    const all = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  async #post(path: string, signal: AbortSignal, body: object): Promise<Response> {
    const { baseUrl, key, keyHeader } = this.#options;
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...keyHeaders(key, keyHeader) },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

/** Minimum length of a spoken piece in characters (`chunkPlan.minCharacters`). */
const MIN_PIECE = 30;

/** Splits a reply after punctuation, like the platform. */
export function spokenPieces(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const part of text.match(/[^.!?;:,)]*[.!?;:,)]*/g) ?? []) {
    piece += part;
    if (piece.trim().length >= MIN_PIECE) pieces.push(piece.trim());
    if (piece.trim().length >= MIN_PIECE) piece = '';
  }
  if (piece.trim() !== '') pieces.push(piece.trim());
  return pieces;
}
