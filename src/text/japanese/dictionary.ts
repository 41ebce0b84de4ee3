/**
 * A compiled dictionary of MeCab, as UniDic has: words by their first letters, and the costs of words and of their neighbours
 * (MeCab 0.996: dictionary.cpp, char_property.h, connector.cpp, darts.h). Its files are mapped, so that only the pages that a text
 * touches are read, and processes share them.
 */

/** An entry of a word. */
export interface Entry {
  /** Context classes, for {@link Dictionary.connectionCost}. */
  readonly left: number;
  readonly right: number;
  readonly cost: number;
  /** For {@link Dictionary.features}. */
  readonly feature: number;
  readonly isUnknown: boolean;
}

/** A class of characters: how words that are not in the dictionary are made of them. */
export interface CharacterClass {
  /** Bits of all classes that the character belongs to. */
  readonly kinds: number;
  readonly main: number;
  /** Unknown words have up to this number of characters. */
  readonly maxLength: number;
  /** Unknown words also have all following characters of the class. */
  readonly groups: boolean;
  /** Unknown words are candidates next to known ones. */
  readonly always: boolean;
}

/** Paths of `sys.dic`, `unk.dic`, `char.bin` and `matrix.bin`. */
export interface DictionaryFiles {
  readonly words: string;
  readonly unknown: string;
  readonly characters: string;
  readonly connections: string;
}

const MAGIC = 0xef718f77;
const HEADER_BYTES = 72;
const TOKEN_BYTES = 16;
const CLASS_NAME_BYTES = 32;

export class Dictionary {
  readonly #words: WordFile;
  readonly #unknown: readonly (readonly Entry[])[];
  readonly #unknownWords: WordFile;
  readonly #classes: Uint32Array;
  readonly #connections: Int16Array;
  readonly #rightClasses: number;
  /** The class of spaces, which separate words. */
  readonly space: CharacterClass;

  /** Maps the files. @throws Error if one is missing or not a dictionary in UTF-8. */
  constructor(files: DictionaryFiles) {
    this.#words = new WordFile(files.words, false);
    this.#unknownWords = new WordFile(files.unknown, true);
    const connections = Bun.mmap(files.connections);
    const [right = 0, left = 0] = new Uint16Array(connections.buffer, 0, 2);
    if (connections.length !== 4 + 2 * right * left) throw new Error('matrix.bin is not a table of MeCab.');
    this.#rightClasses = right;
    this.#connections = new Int16Array(connections.buffer, 4);
    const characters = Bun.mmap(files.characters);
    const count = new DataView(characters.buffer).getUint32(0, true);
    const names = Array.from({ length: count }, (_, i) => {
      const start = 4 + i * CLASS_NAME_BYTES;
      return textUntilZero(characters.subarray(start, start + CLASS_NAME_BYTES), 0);
    });
    this.#classes = new Uint32Array(characters.buffer, 4 + count * CLASS_NAME_BYTES);
    this.#unknown = names.map((name) => this.#unknownWords.exactly(Buffer.from(name)));
    this.space = this.classOf(0x20);
  }

  /** Calls back with the length in bytes and each entry of the words that are a prefix of `text` from `start`, shorter ones first. */
  prefixes(text: Uint8Array, start: number, found: (bytes: number, entry: Entry) => void): void {
    this.#words.prefixes(text, start, found);
  }

  /** Entries of unknown words that begin with a character of the class. */
  unknownWords({ main }: CharacterClass): readonly Entry[] {
    return this.#unknown[main] ?? [];
  }

  /** Characters outside the basic plane are of the class of U+0000, as in MeCab. */
  classOf(codePoint: number): CharacterClass {
    const bits = this.#classes[codePoint < this.#classes.length ? codePoint : 0] ?? 0;
    return {
      kinds: bits & 0x3ffff,
      main: (bits >>> 18) & 0xff,
      maxLength: (bits >>> 26) & 0xf,
      groups: (bits & 0x40000000) !== 0,
      always: bits >>> 31 === 1,
    };
  }

  connectionCost(right: number, left: number): number {
    return this.#connections[right + this.#rightClasses * left] ?? 0;
  }

  /** The columns of a word, separated by commas. */
  features(entry: Entry): string {
    return (entry.isUnknown ? this.#unknownWords : this.#words).features(entry.feature);
  }
}

/** `sys.dic` or `unk.dic`: a double array of UTF-8 bytes, entries and features. */
class WordFile {
  /** Pairs of base and check. */
  readonly #array: Int32Array;
  readonly #tokens: DataView;
  readonly #features: Uint8Array;

  constructor(
    path: string,
    private readonly isUnknown: boolean,
  ) {
    const bytes = Bun.mmap(path);
    const header = new DataView(bytes.buffer);
    if (bytes.length < HEADER_BYTES || (header.getUint32(0, true) ^ MAGIC) >>> 0 !== bytes.length) {
      throw new Error('The file is not a dictionary of MeCab.');
    }
    const [arrayBytes, tokenBytes, featureBytes] = [24, 28, 32].map((at) => header.getUint32(at, true));
    const charset = textUntilZero(bytes.subarray(40, HEADER_BYTES), 0).toLowerCase();
    if (!/^utf-?8$/.test(charset)) throw new Error(`The dictionary is not in UTF-8 but in ${charset}.`);
    const tokens = HEADER_BYTES + (arrayBytes ?? 0);
    const features = tokens + (tokenBytes ?? 0);
    this.#array = new Int32Array(bytes.buffer, HEADER_BYTES, (arrayBytes ?? 0) / 4);
    this.#tokens = new DataView(bytes.buffer, tokens, tokenBytes);
    this.#features = bytes.subarray(features, features + (featureBytes ?? 0));
  }

  prefixes(text: Uint8Array, start: number, found: (bytes: number, entry: Entry) => void): void {
    let base = this.#array[0] ?? 0;
    for (let at = start; ; at++) {
      const value = this.#array[2 * base] ?? 0;
      if (at > start && value < 0 && this.#array[2 * base + 1] === base) {
        for (const entry of this.#entries(-value - 1)) found(at - start, entry);
      }
      if (at >= text.length) return;
      const next = base + (text[at] ?? 0) + 1;
      if (this.#array[2 * next + 1] !== base) return;
      base = this.#array[2 * next] ?? 0;
    }
  }

  exactly(word: Uint8Array): readonly Entry[] {
    const entries: Entry[] = [];
    this.prefixes(word, 0, (bytes, entry) => {
      if (bytes === word.length) entries.push(entry);
    });
    return entries;
  }

  features(at: number): string {
    return textUntilZero(this.#features, at);
  }

  /** @param value index of the first entry, and in the last 8 bits their number. */
  #entries(value: number): Entry[] {
    return Array.from({ length: value & 0xff }, (_, i) => {
      const at = ((value >>> 8) + i) * TOKEN_BYTES;
      return {
        left: this.#tokens.getUint16(at, true),
        right: this.#tokens.getUint16(at + 2, true),
        cost: this.#tokens.getInt16(at + 6, true),
        feature: this.#tokens.getUint32(at + 8, true),
        isUnknown: this.isUnknown,
      };
    });
  }
}

function textUntilZero(bytes: Uint8Array, start: number): string {
  return Buffer.from(bytes.subarray(start, bytes.indexOf(0, start))).toString();
}
