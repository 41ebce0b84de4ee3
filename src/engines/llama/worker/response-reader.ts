import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import type { ResponseFormat } from '../shared/protocol.ts';
import { StopText } from './stop-text.ts';
import { ToolCallReader } from './tool-call-reader.ts';

/** Converts the output of a model to events. */
export class LlamaResponseReader {
  #kind: ResponseFormat['kind'];
  readonly #opens: string;
  readonly #calls: ToolCallReader;
  readonly #text: StopText;
  /** Start of the output, buffered until it is clear whether it is text or tool calls. */
  #buffer = '';

  constructor({ kind, syntax, stop }: ResponseFormat) {
    this.#kind = kind;
    this.#opens = syntax.opens;
    this.#calls = new ToolCallReader(syntax);
    this.#text = new StopText(stop);
  }

  /** Whether a stop sequence was found. Later output is ignored. */
  get stopped(): boolean {
    return this.#text.stopped;
  }

  push(piece: string): TextEvent[] {
    this.#buffer += piece;
    if (this.#kind === 'text_or_calls') {
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
