import type { TextEnd, TextEvent, TextTokens } from '../../contract/text.ts';
import { CallReader } from './call-reader.ts';
import { CALL_OPENS } from './call-text.ts';
import type { LlamaQuestion } from './llama-question.ts';
import { StopText } from './stop-text.ts';

/** Makes events of what a model writes. */
export class LlamaAnswer {
  #kind: LlamaQuestion['answer'];
  readonly #calls = new CallReader();
  readonly #text: StopText;

  constructor(kind: LlamaQuestion['answer'], stop: readonly string[]) {
    this.#kind = kind;
    this.#text = new StopText(stop);
  }

  /** Whether a stop text has come, and nothing after it counts. */
  get stopped(): boolean {
    return this.#text.stopped;
  }

  push(piece: string): TextEvent[] {
    if (piece === '') return [];
    // The grammar lets no text begin as a call does.
    if (this.#kind === 'either') this.#kind = piece.startsWith(CALL_OPENS.slice(0, 1)) ? 'calls' : 'text';
    return this.#kind === 'calls' ? this.#calls.push(piece) : textEvents(this.#text.push(piece));
  }

  /** @param complete whether the model had nothing more to say. */
  end(complete: boolean, tokens: TextTokens): TextEvent[] {
    const reason: TextEnd = !complete ? 'length' : this.#calls.calls > 0 ? 'tool_calls' : 'stop';
    return [...textEvents(this.#text.end()), { kind: 'end', reason, tokens }];
  }
}

function textEvents(text: string): TextEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
