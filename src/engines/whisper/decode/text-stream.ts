/** Emission of text during decoding. Emitted text is final. */

import type { TranscriptDelta } from '../../../contract/engines/engine.ts';
import { TextTokens } from '../../../kit/text/text-tokens.ts';
import { repeatedAtEnd } from '../shared/loop-guard.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import { WordStream } from './word-stream.ts';

/** Text and timestamp tokens. */
export interface ChosenTokens {
  readonly tokens: readonly number[];
  /** Log probability of each token. */
  readonly logProbabilities: readonly number[];
}

/** The emitted text, with which later attempts must start. */
export class EmittedText {
  /** Tokens whose text is emitted, or buffered until the end of its word. */
  emitted: ChosenTokens = { tokens: [], logProbabilities: [] };
  readonly #tokenizer: WhisperTokenizer;
  readonly #words: WordStream;
  readonly #endOfText: number;
  /** Undefined if the tokens of the text are not requested. */
  readonly #textTokens: TextTokens | undefined;

  /** @param reportsTokens whether the text has its tokens. */
  constructor(tokenizer: WhisperTokenizer, language: string, reportsTokens: boolean) {
    this.#tokenizer = tokenizer;
    this.#words = new WordStream(tokenizer, language);
    this.#endOfText = tokenizer.special.endOfText;
    this.#textTokens = reportsTokens ? new TextTokens() : undefined;
  }

  /** Returns the new text of the tokens, except a repetitive tail. */
  emit(chosen: ChosenTokens): TranscriptDelta {
    const repeated = repeatedAtEnd(chosen.tokens.filter((token) => token < this.#endOfText));
    const text = this.#push(firstOf(chosen, lengthBefore(chosen.tokens, repeated, this.#endOfText)));
    return { text, tokens: this.#textTokens?.take(text) };
  }

  /** Returns the remaining text of the selected tokens. */
  finish(chosen: ChosenTokens): TranscriptDelta {
    return { text: this.#push(chosen) + this.#words.flush(), tokens: this.#textTokens?.flush() };
  }

  #push(chosen: ChosenTokens): string {
    let text = '';
    for (let index = this.emitted.tokens.length; index < chosen.tokens.length; index++) {
      const token = chosen.tokens[index] ?? 0;
      text += this.#words.push(token);
      if (token >= this.#endOfText) continue;
      const logProbability = chosen.logProbabilities[index] ?? 0;
      this.#textTokens?.push({ bytes: [...this.#tokenizer.bytesOf(token)], logProbability });
    }
    if (chosen.tokens.length > this.emitted.tokens.length) this.emitted = chosen;
    return text;
  }
}

/** Returns the first `length` tokens. */
export function firstOf({ tokens, logProbabilities }: ChosenTokens, length: number): ChosenTokens {
  return { tokens: tokens.slice(0, length), logProbabilities: logProbabilities.slice(0, length) };
}

/** Returns the number of tokens before the last `count` text tokens and the timestamps among them. */
export function lengthBefore(tokens: readonly number[], count: number, endOfText: number): number {
  let length = tokens.length;
  for (let remaining = count; remaining > 0 && length > 0; length--)
    if ((tokens[length - 1] ?? 0) < endOfText) remaining--;
  return length;
}
