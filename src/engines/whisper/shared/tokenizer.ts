/**
 * Whisper's text tokens: byte-level BPE (GPT-2's) out of the `tokenizer.json` that Hugging Face writes, and
 * the special tokens of openai/whisper `whisper/tokenizer.py`.
 */

import { isoLanguage } from './languages.ts';

/** Seconds from one timestamp token to the next. */
export const TIMESTAMP_STEP_S = 0.02;
/** `<|endoftext|>` of the English-only models; the multilingual vocabulary has one more text token. */
const ENGLISH_END_OF_TEXT = 50_256;

/** What this reads of a `tokenizer.json`. */
interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** `"a b"` or `["a", "b"]`, best first. */
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

/** Ids of the tokens that steer the model. */
export interface SpecialTokens {
  readonly startOfTranscript: number;
  readonly endOfText: number;
  readonly startOfPrevious: number;
  readonly startOfLanguageModel: number;
  readonly transcribe: number;
  readonly translate: number;
  readonly noSpeech: number;
  readonly noTimestamps: number;
  /** `<|0.00|>`; the token of a time is this plus the time over {@link TIMESTAMP_STEP_S}. */
  readonly timestampBegin: number;
}

/** One model's tokens. Immutable. */
export class WhisperTokenizer {
  readonly special: SpecialTokens;
  /** False for the English-only models, which take neither a language nor a task. */
  readonly multilingual: boolean;
  /** Token of each language, by ISO code, in the vocabulary's order; empty for an English-only model. */
  readonly languages: ReadonlyMap<string, number>;
  readonly #languageOf: ReadonlyMap<number, string>;
  /** Bytes of text token `t`: `#bytes` from `#offsets[t]` to `#offsets[t + 1]`. */
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #file: TokenizerFile;
  #merges: MergeTable | undefined;

  /**
   * @param json a parsed `tokenizer.json`.
   * @throws Error that says what is missing, when it is not Whisper's.
   */
  constructor(json: unknown) {
    const file = json as TokenizerFile;
    if (!file?.model?.vocab || !Array.isArray(file.model.merges) || !Array.isArray(file.added_tokens)) {
      throw new Error('The tokenizer file lacks model.vocab, model.merges or added_tokens.');
    }
    this.#file = file;
    const added = new Map(file.added_tokens.map(({ content, id }) => [content, id]));
    this.special = specialTokens(added);
    const { endOfText, startOfTranscript, translate } = this.special;
    this.multilingual = endOfText !== ENGLISH_END_OF_TEXT;
    const languages = file.added_tokens.filter(({ id }) => id > startOfTranscript && id < translate);
    this.languages = new Map(
      this.multilingual
        ? languages.map(({ content, id }) => [isoLanguage(content.slice(2, -2)), id] as const)
        : [],
    );
    this.#languageOf = new Map([...this.languages].map(([code, id]) => [id, code]));
    [this.#bytes, this.#offsets] = tokenBytes(file.model.vocab, endOfText);
  }

  /** ISO code of a language token; undefined for any other. */
  languageOf(token: number): string | undefined {
    return this.#languageOf.get(token);
  }

  /**
   * Tokens of a text. What looks like a special token is spelled out, so no text can steer the model.
   * Time grows with the square of the longest word.
   */
  encode(text: string): number[] {
    this.#merges ??= mergeTable(this.#file.model);
    const { letters, pairs } = this.#merges;
    const tokens: number[] = [];
    for (const [piece] of text.toWellFormed().matchAll(PIECES)) {
      const word = Array.from(UTF8.encode(piece), (byte) => letters[byte] as number);
      mergeWord(word, pairs);
      for (const token of word) tokens.push(token);
    }
    return tokens;
  }

  /** Bytes of a text token's UTF-8, which may begin or end inside a character; none for other tokens. */
  bytesOf(token: number): Uint8Array {
    if (token >= this.special.endOfText) return NO_BYTES;
    return this.#bytes.subarray(this.#offsets[token], this.#offsets[token + 1]);
  }

  /** Text of the text tokens among `tokens`; what is not UTF-8 becomes U+FFFD. */
  decode(tokens: readonly number[]): string {
    let length = 0;
    for (const token of tokens) length += this.bytesOf(token).length;
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const token of tokens) {
      const part = this.bytesOf(token);
      bytes.set(part, offset);
      offset += part.length;
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  /** Seconds that a timestamp token stands for; undefined for any other. */
  timeS(token: number): number | undefined {
    const steps = token - this.special.timestampBegin;
    return steps < 0 ? undefined : steps * TIMESTAMP_STEP_S;
  }

  /**
   * Tokens that no transcript has, in order: speaker tags and notes of what is not speech, as in OpenAI's
   * `non_speech_tokens`, and the special tokens that only a prompt holds.
   */
  suppressed(): number[] {
    const found = new Set([this.#only(' -'), this.#only(" '")]);
    for (const symbol of [...NOT_SPEECH, ...MUSIC]) {
      for (const text of [symbol, ` ${symbol}`]) {
        const tokens = this.encode(text);
        if (tokens.length === 1 || MUSIC.includes(symbol)) found.add(tokens[0] as number);
      }
    }
    const { special } = this;
    for (const token of [special.startOfTranscript, special.startOfPrevious, special.startOfLanguageModel]) {
      found.add(token);
    }
    for (const token of [special.transcribe, special.translate, special.noSpeech]) found.add(token);
    return [...found].sort((a, b) => a - b);
  }

  /** Tokens that no transcript begins with: a lone space, and the end. */
  suppressedAtBegin(): number[] {
    return [this.#only(' '), this.special.endOfText];
  }

  #only(text: string): number {
    return this.encode(text)[0] as number;
  }
}

const UTF8 = new TextEncoder();
const NO_BYTES = new Uint8Array(0);

/**
 * GPT-2's cut into pieces that no token crosses. White space is Unicode's property, which JavaScript's `\s`
 * is not: that has U+FEFF and lacks U+0085.
 */
const PIECES =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** OpenAI's list of symbols that are notes about the sound, not speech. */
const NOT_SPEECH =
  '" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (\' (" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪'.split(
    ' ',
  );
/** Of these the first token is suppressed when they are several: they share their first two bytes. */
const MUSIC = [...'♩♪♫♬♭♮♯'];

function specialTokens(added: ReadonlyMap<string, number>): SpecialTokens {
  const id = (...names: string[]): number => {
    for (const name of names) {
      const found = added.get(`<|${name}|>`);
      if (found !== undefined) return found;
    }
    throw new Error(`The tokenizer file has no token <|${names.join('|> or <|')}|>.`);
  };
  const noTimestamps = id('notimestamps');
  return {
    startOfTranscript: id('startoftranscript'),
    endOfText: id('endoftext'),
    startOfPrevious: id('startofprev'),
    startOfLanguageModel: id('startoflm'),
    transcribe: id('transcribe'),
    translate: id('translate'),
    noSpeech: id('nospeech', 'nocaptions'),
    noTimestamps,
    timestampBegin: noTimestamps + 1,
  };
}

/** Character that stands for each byte in the vocabulary: GPT-2's `bytes_to_unicode`. */
function byteLetters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCodePoint(printable ? byte : next++);
  });
}

/** Bytes of the tokens below `count`, one after the other, and where each begins. */
function tokenBytes(
  vocab: Readonly<Record<string, number>>,
  count: number,
): [bytes: Uint8Array, offsets: Uint32Array] {
  const byteOf = new Map(byteLetters().map((letter, byte) => [letter, byte]));
  const spelling: string[] = new Array(count).fill('');
  for (const [text, id] of Object.entries(vocab)) if (id < count) spelling[id] = text;
  // Every letter of the vocabulary's alphabet is one UTF-16 unit and stands for one byte.
  const offsets = new Uint32Array(count + 1);
  for (let id = 0; id < count; id++)
    offsets[id + 1] = (offsets[id] as number) + (spelling[id] as string).length;
  const bytes = new Uint8Array(offsets[count] as number);
  let offset = 0;
  for (const text of spelling) {
    for (const letter of text) {
      const byte = byteOf.get(letter);
      if (byte === undefined)
        throw new Error(`The tokenizer file spells a token with ${letter}, which stands for no byte.`);
      bytes[offset++] = byte;
    }
  }
  return [bytes, offsets];
}

/** Ids of the single bytes, and for each pair that may be merged its rank and what it becomes. */
interface MergeTable {
  readonly letters: Int32Array;
  readonly pairs: ReadonlyMap<number, { readonly rank: number; readonly token: number }>;
}

/** One number for a pair of tokens; both are below 2^16. */
const pairKey = (left: number, right: number): number => left * 65_536 + right;

function mergeTable({ vocab, merges }: TokenizerFile['model']): MergeTable {
  const id = (text: string): number => {
    const found = vocab[text];
    if (found === undefined) throw new Error(`The tokenizer file merges to ${text}, which is no token.`);
    return found;
  };
  const pairs = new Map<number, { rank: number; token: number }>();
  for (const [rank, merge] of merges.entries()) {
    const [left, right] = (typeof merge === 'string' ? merge.split(' ') : merge) as [string, string];
    pairs.set(pairKey(id(left), id(right)), { rank, token: id(left + right) });
  }
  return { letters: Int32Array.from(byteLetters(), id), pairs };
}

/** Merges in place, the best pair first and everywhere, until no pair is left that may be. */
function mergeWord(word: number[], pairs: MergeTable['pairs']): void {
  while (word.length > 1) {
    let best = -1;
    let bestRank = Number.POSITIVE_INFINITY;
    let merged = 0;
    for (let index = 0; index + 1 < word.length; index++) {
      const key = pairKey(word[index] as number, word[index + 1] as number);
      const pair = pairs.get(key);
      if (pair !== undefined && pair.rank < bestRank) {
        best = key;
        bestRank = pair.rank;
        merged = pair.token;
      }
    }
    if (best < 0) return;
    let kept = 0;
    for (let index = 0; index < word.length; index++) {
      const left = word[index] as number;
      const right = word[index + 1];
      const isPair = right !== undefined && pairKey(left, right) === best;
      word[kept++] = isPair ? merged : left;
      if (isPair) index++;
    }
    word.length = kept;
  }
}
