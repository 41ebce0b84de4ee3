import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import type { LlamaQuestion } from '../shared/prompt.ts';
import { StopText } from './stop-text.ts';
import { CallReader } from './tool-call-reader.ts';

/** Makes events of what a model writes. */
export class LlamaAnswer {
  #kind: LlamaQuestion['answer'];
  readonly #opens: string;
  readonly #calls: CallReader;
  readonly #text: StopText;
  /** What has come while it may still be text or calls. */
  #begin = '';

  constructor({ answer, words }: Pick<LlamaQuestion, 'answer' | 'words'>, stop: readonly string[]) {
    this.#kind = answer;
    this.#opens = words.opens;
    this.#calls = new CallReader(words);
    this.#text = new StopText(stop);
  }

  /** Whether a stop text has come, and nothing after it counts. */
  get stopped(): boolean {
    return this.#text.stopped;
  }

  push(piece: string): TextEvent[] {
    this.#begin += piece;
    if (this.#kind === 'either') {
      if (this.#opens.startsWith(this.#begin)) return [];
      this.#kind = this.#begin.startsWith(this.#opens) ? 'calls' : 'text';
    }
    const text = this.#begin;
    this.#begin = '';
    return this.#kind === 'calls' ? this.#calls.push(text) : textEvents(this.#text.push(text));
  }

  /** @param complete whether the model had nothing more to say. */
  end(complete: boolean, tokens: TokenUsage): TextEvent[] {
    const reason: FinishReason = !complete ? 'length' : this.#calls.calls > 0 ? 'tool_calls' : 'stop';
    return [...textEvents(this.#text.end()), { kind: 'end', reason, tokens }];
  }
}

function textEvents(text: string): TextEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
