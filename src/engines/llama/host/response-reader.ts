import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import type { LlamaPrompt } from '../shared/prompt.ts';
import { StopText } from './stop-text.ts';
import { ToolCallReader } from './tool-call-reader.ts';

/** Converts the output of a model to events. */
export class LlamaResponseReader {
  #kind: LlamaPrompt['answer'];
  readonly #opens: string;
  readonly #calls: ToolCallReader;
  readonly #text: StopText;
  /** Start of the output, buffered until it is clear whether it is text or tool calls. */
  #buffer = '';

  constructor({ answer, words }: Pick<LlamaPrompt, 'answer' | 'words'>, stop: readonly string[]) {
    this.#kind = answer;
    this.#opens = words.opens;
    this.#calls = new ToolCallReader(words);
    this.#text = new StopText(stop);
  }

  /** Whether a stop sequence was found. Later output is ignored. */
  get stopped(): boolean {
    return this.#text.stopped;
  }

  push(piece: string): TextEvent[] {
    this.#buffer += piece;
    if (this.#kind === 'either') {
      if (this.#opens.startsWith(this.#buffer)) return [];
      this.#kind = this.#buffer.startsWith(this.#opens) ? 'calls' : 'text';
    }
    const text = this.#buffer;
    this.#buffer = '';
    return this.#kind === 'calls' ? this.#calls.push(text) : textEvents(this.#text.push(text));
  }

  /** @param complete whether the model finished before its token limit. */
  end(complete: boolean, tokens: TokenUsage): TextEvent[] {
    const reason: FinishReason = !complete ? 'length' : this.#calls.calls > 0 ? 'tool_calls' : 'stop';
    return [...textEvents(this.#text.end()), { kind: 'end', reason, tokens }];
  }
}

function textEvents(text: string): TextEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
