import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import type { ResponseFormat } from '../shared/protocol.ts';
import type { ToolCallSyntax } from '../shared/tool-call-syntax.ts';
import { StopText } from './stop-text.ts';
import { ToolCallReader } from './tool-call-reader.ts';

/** Converts the output of a model to events. */
export class LlamaResponseReader {
  #kind: ResponseFormat['kind'];
  /** Beginnings of tool calls, with their syntax. */
  readonly #heads: readonly { readonly text: string; readonly syntax: ToolCallSyntax }[];
  #calls: ToolCallReader;
  readonly #text: StopText;
  /** Start of the output, buffered until it is clear whether it is text or tool calls. */
  #buffer = '';

  constructor({ kind, syntax, bareCalls, toolNames, stop }: ResponseFormat) {
    this.#kind = kind;
    const bareHeads = bareCalls.flatMap((bare) =>
      toolNames.map((name) => ({ text: `${bare.opens}${name}${bare.nameEnds}`, syntax: bare })),
    );
    this.#heads = [{ text: syntax.opens, syntax }, ...bareHeads];
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
      const head = this.#heads.find(({ text }) => this.#buffer.startsWith(text));
      if (head === undefined && this.#mayBeCall()) return [];
      this.#kind = head === undefined ? 'text' : 'calls';
      if (head !== undefined) this.#calls = new ToolCallReader(head.syntax);
    }
    const text = this.#buffer;
    this.#buffer = '';
    return this.#kind === 'calls' ? this.#calls.push(text) : textEvents(this.#text.push(text));
  }

  /** @param complete whether the model finished before its token limit. */
  end(complete: boolean, tokens: TokenUsage): TextEvent[] {
    const reason: FinishReason = !complete ? 'length' : this.#calls.calls > 0 ? 'tool_calls' : 'stop';
    // The truncated start of a call is not text.
    const undecided = this.#kind === 'text_or_calls' && complete ? this.#text.push(this.#buffer) : '';
    const rest = undecided + this.#text.end();
    return [...textEvents(rest), { kind: 'end', reason, tokens }];
  }

  /** Whether the buffered output is the start of a call. */
  #mayBeCall(): boolean {
    return this.#heads.some(({ text }) => text.startsWith(this.#buffer));
  }
}

function textEvents(text: string): TextEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
