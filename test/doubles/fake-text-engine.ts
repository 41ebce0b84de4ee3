import type { TextEngine, TextEvent, TextRequest, TokenUsage } from '../../src/contract/engines/text.ts';

/** Events of a response. A missing `end` is added: reason `tool_calls` after a call, otherwise `stop`. */
export type FakeAnswer = readonly TextEvent[];

export interface FakeTextOptions {
  readonly contextTokens?: number | undefined;
  /** Response to the request with index `at`. Default: the text pieces 'Hel' and 'lo.'. */
  readonly answer?: (request: TextRequest, at: number) => FakeAnswer;
  /** Token counts of an added `end`. */
  readonly tokens?: TokenUsage;
  /** Awaited before each event, including the end. */
  readonly before?: (event: TextEvent, index: number, signal: AbortSignal) => Promise<void> | void;
  /** Error that is thrown instead of the end. */
  readonly failure?: (request: TextRequest) => unknown;
  /** Error that is thrown before the first event. */
  readonly refusal?: (request: TextRequest) => unknown;
}

export const FAKE_TOKENS: TokenUsage = { input: 12, output: 5, cached: 4, reasoning: 0 };

/** Text events. */
export function said(...texts: readonly string[]): TextEvent[] {
  return texts.map((text) => ({ kind: 'text', text }));
}

/** Events of the tool call with an index; its arguments are split into pieces. */
export function called(index: number, name: string, ...pieces: readonly string[]): TextEvent[] {
  const args: TextEvent[] = pieces.map((text) => ({ kind: 'tool_arguments', index, text }));
  return [{ kind: 'tool_call', index, id: `call_${index}`, name }, ...args];
}

/** A scripted text engine without a model that records its requests. */
export class FakeTextEngine implements TextEngine {
  readonly contextTokens: number | undefined;
  readonly requests: TextRequest[] = [];
  /** Number of requests that ended before their `end` event. */
  leftEarly = 0;
  closed = false;
  readonly #options: FakeTextOptions;

  constructor(options: FakeTextOptions = {}) {
    this.#options = options;
    this.contextTokens = options.contextTokens;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    const { before, failure, refusal } = this.#options;
    const at = this.requests.push(request) - 1;
    let ended = false;
    try {
      signal.throwIfAborted();
      const error = refusal?.(request);
      if (error !== undefined) {
        ended = true;
        throw error;
      }
      for (const [index, event] of this.#answer(request, at).entries()) {
        await before?.(event, index, signal);
        signal.throwIfAborted();
        if (event.kind === 'end') {
          ended = true;
          const error = failure?.(request);
          if (error !== undefined) throw error;
        }
        yield event;
      }
    } finally {
      if (!ended) this.leftEarly += 1;
    }
  }

  ready() {
    return { ready: !this.closed };
  }

  async close() {
    this.closed = true;
  }

  #answer(request: TextRequest, at: number): FakeAnswer {
    const { answer = () => said('Hel', 'lo.'), tokens = FAKE_TOKENS } = this.#options;
    const events = answer(request, at);
    if (events.at(-1)?.kind === 'end') return events;
    const calls = events.some(({ kind }) => kind === 'tool_call');
    return [...events, { kind: 'end', reason: calls ? 'tool_calls' : 'stop', tokens }];
  }
}
