/**
 * The tokenizer of Whisper: byte-level BPE as in GPT-2, read from a Hugging Face `tokenizer.json`, and the special tokens
 * of openai/whisper `whisper/tokenizer.py`.
 */

import { isoLanguage } from './languages.ts';

/** Difference of two consecutive timestamp tokens, in seconds. */
export const TIMESTAMP_STEP_S = 0.02;
/** `<|endoftext|>` of the English-only models; the multilingual vocabulary has one more text token. */
const ENGLISH_END_OF_TEXT = 50_256;

/** The fields of `tokenizer.json` that are used. */
interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** `"a b"` or `["a", "b"]`, best first. */
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

/** Ids of the control tokens of the model. */
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

/** The tokenizer of one model. Immutable. */
export class WhisperTokenizer {
  readonly special: SpecialTokens;
  /** False for English-only models, whose prompt contains neither a language nor a task. */
  readonly multilingual: boolean;
  /** Token of each language by ISO code, in the order of the vocabulary. Empty for an English-only model. */
  readonly languages: ReadonlyMap<string, number>;
  readonly #languageOf: ReadonlyMap<number, string>;
  /** The bytes of text token `t` are `#bytes` from `#offsets[t]` to `#offsets[t + 1]`. */
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #file: TokenizerFile;
  #merges: MergeTable | undefined;

  /**
   * @param json a parsed `tokenizer.json`.
   * @throws Error that names the missing part when it is not a tokenizer of Whisper.
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

  /** Returns the ISO code of a language token; undefined for other tokens. */
  languageOf(token: number): string | undefined {
    return this.#languageOf.get(token);
  }

  /**
   * Encodes a text. Names of special tokens in it are encoded as plain text, so that a text cannot control the model. The
   * run time is quadratic in the length of the longest word.
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

  /** Returns the UTF-8 bytes of a text token, which may start or end within a character. Empty for other tokens. */
  bytesOf(token: number): Uint8Array {
    if (token >= this.special.endOfText) return NO_BYTES;
    return this.#bytes.subarray(this.#offsets[token], this.#offsets[token + 1]);
  }

  /** Decodes the text tokens among `tokens`. Invalid UTF-8 is decoded as U+FFFD. */
  decode(tokens: readonly number[]): string {
    let length = 0;
    for (const token of tokens) length += this.bytesOf(token).length;
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const token of tokens) {
      const tokenBytes = this.bytesOf(token);
      bytes.set(tokenBytes, offset);
      offset += tokenBytes.length;
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  /** Returns the time of a timestamp token, in seconds; undefined for other tokens. */
  timeS(token: number): number | undefined {
    const steps = token - this.special.timestampBegin;
    return steps < 0 ? undefined : steps * TIMESTAMP_STEP_S;
  }

  /**
   * Returns the tokens that transcripts must not contain, in order: speaker tags and annotations of sounds, as in
   * `non_speech_tokens` of openai/whisper, and the special tokens of prompts.
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

  /** Returns the tokens that transcripts must not start with: a single space, and the end of text. */
  suppressedAtStart(): number[] {
    return [this.#only(' '), this.special.endOfText];
  }

  #only(text: string): number {
    return this.encode(text)[0] as number;
  }
}

const UTF8 = new TextEncoder();
const NO_BYTES = new Uint8Array(0);

/**
 * The pre-tokenization of GPT-2. Matches white space by its Unicode property, in contrast to `\s` of JavaScript, which
 * includes U+FEFF and lacks U+0085.
 */
const PIECES =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** Symbols of sound annotations, from openai/whisper. */
const NOT_SPEECH =
  '" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (\' (" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪'.split(
    ' ',
  );
/** Symbols of several tokens. Their first token is suppressed, because they share their first two bytes. */
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

/** The character of each byte in the vocabulary: `bytes_to_unicode` of GPT-2. */
function byteLetters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCodePoint(printable ? byte : next++);
  });
}

/** Returns the concatenated bytes of the tokens below `count`, and the start of each token. */
function tokenBytes(
  vocab: Readonly<Record<string, number>>,
  count: number,
): [bytes: Uint8Array, offsets: Uint32Array] {
  const byteOf = new Map(byteLetters().map((letter, byte) => [letter, byte]));
  const spelling: string[] = new Array(count).fill('');
  for (const [text, id] of Object.entries(vocab)) if (id < count) spelling[id] = text;
  // Every letter of the alphabet of the vocabulary is one UTF-16 unit and represents one byte.
  const offsets = new Uint32Array(count + 1);
  for (let id = 0; id < count; id++)
    offsets[id + 1] = (offsets[id] as number) + (spelling[id] as string).length;
  const bytes = new Uint8Array(offsets[count] as number);
  let offset = 0;
  for (const text of spelling) {
    for (const letter of text) {
      const byte = byteOf.get(letter);
      if (byte === undefined)
        throw new Error(`The tokenizer file has a token with ${letter}, which does not represent a byte.`);
      bytes[offset++] = byte;
    }
  }
  return [bytes, offsets];
}

/** Token ids of the single bytes, and the rank and result of each pair that can be merged. */
interface MergeTable {
  readonly letters: Int32Array;
  readonly pairs: ReadonlyMap<number, { readonly rank: number; readonly token: number }>;
}

/** Key of a pair of tokens, both of which are below 2^16. */
const pairKey = (left: number, right: number): number => left * 65_536 + right;

function mergeTable({ vocab, merges }: TokenizerFile['model']): MergeTable {
  const id = (text: string): number => {
    const found = vocab[text];
    if (found === undefined)
      throw new Error(`The tokenizer file has a merge of ${text}, which is not in the vocabulary.`);
    return found;
  };
  const pairs = new Map<number, { rank: number; token: number }>();
  for (const [rank, merge] of merges.entries()) {
    const [left, right] = (typeof merge === 'string' ? merge.split(' ') : merge) as [string, string];
    pairs.set(pairKey(id(left), id(right)), { rank, token: id(left + right) });
  }
  return { letters: Int32Array.from(byteLetters(), id), pairs };
}

/** Merges pairs in place, in the order of their rank, until no pair can be merged. */
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
    let length = 0;
    for (let index = 0; index < word.length; index++) {
      const left = word[index] as number;
      const right = word[index + 1];
      const isPair = right !== undefined && pairKey(left, right) === best;
      word[length++] = isPair ? merged : left;
      if (isPair) index++;
    }
    word.length = length;
  }
}
