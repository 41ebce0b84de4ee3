import type { TextEngine, TextEvent, TextRequest, TokenUsage } from '../../src/contract/engines/text.ts';

/** What an answer is made of. An `end` that is not there is added: `tool_calls` after a call, else `stop`. */
export type FakeAnswer = readonly TextEvent[];

export interface FakeTextOptions {
  readonly contextTokens?: number | undefined;
  /** The answer to a request, which is the `at`th, counted from 0. Default: {@link said} 'Hel', 'lo.'. */
  readonly answer?: (request: TextRequest, at: number) => FakeAnswer;
  /** Tokens of each end that is added. */
  readonly tokens?: TokenUsage;
  /** Awaited before each event of an answer, the end too: a delay, or a gate that the test opens. */
  readonly before?: (event: TextEvent, index: number, signal: AbortSignal) => Promise<void> | void;
  /** Thrown in the place of the end. */
  readonly failure?: (request: TextRequest) => unknown;
  /** Thrown before the first event. */
  readonly refusal?: (request: TextRequest) => unknown;
}

export const FAKE_TOKENS: TokenUsage = { input: 12, output: 5, cached: 4, reasoning: 0 };

/** A text in these pieces. */
export function said(...texts: readonly string[]): TextEvent[] {
  return texts.map((text) => ({ kind: 'text', text }));
}

/** The `index`th call of an answer, with its arguments in these pieces. */
export function called(index: number, name: string, ...pieces: readonly string[]): TextEvent[] {
  const args: TextEvent[] = pieces.map((text) => ({ kind: 'tool_arguments', index, text }));
  return [{ kind: 'tool_call', index, id: `call_${index}`, name }, ...args];
}

/** A language model without a model: it answers what the script says and remembers what it was asked. */
export class FakeTextEngine implements TextEngine {
  readonly contextTokens: number | undefined;
  readonly requests: TextRequest[] = [];
  /** Requests that their consumer or their signal ended before the end came. */
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
    let over = false;
    try {
      signal.throwIfAborted();
      const refused = refusal?.(request);
      if (refused !== undefined) {
        over = true;
        throw refused;
      }
      for (const [index, event] of this.#answer(request, at).entries()) {
        await before?.(event, index, signal);
        signal.throwIfAborted();
        if (event.kind === 'end') {
          over = true;
          const error = failure?.(request);
          if (error !== undefined) throw error;
        }
        yield event;
      }
    } finally {
      if (!over) this.leftEarly += 1;
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
