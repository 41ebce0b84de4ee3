/** Splits Japanese text into the words of a dictionary: the path of least cost, as in MeCab 0.996 (viterbi.cpp, tokenizer.cpp). */

import type { CharacterClass, Dictionary, Entry } from './dictionary.ts';

/** A word of a text. */
export interface Segment {
  readonly surface: string;
  /** Position in the text, in UTF-16 units. */
  readonly start: number;
  readonly isUnknown: boolean;
  /** The columns of its dictionary entry. */
  readonly features: readonly string[];
}

/** Unknown words of more characters are not made of a whole group. */
const MAX_GROUP = 24;
/** Longer texts are split here, so that the memory of a path is bounded; a cut inside a word only changes that word. */
const MAX_TEXT = 2_000;

/** A word on the path of least cost to its end. */
interface Node {
  readonly entry: Entry;
  /** Byte positions; `start` is after spaces. */
  readonly start: number;
  readonly end: number;
  readonly cost: number;
  readonly before: Node | undefined;
}

/** The segments of a text, without spaces. Linear in its length. */
export function segmentsOf(text: string, dictionary: Dictionary): Segment[] {
  const segments: Segment[] = [];
  for (let from = 0; from < text.length; ) {
    const end = endOfPart(text, from);
    for (const segment of pathOf(text.slice(from, end), dictionary)) {
      segments.push({ ...segment, start: from + segment.start });
    }
    from = end;
  }
  return segments;
}

function endOfPart(text: string, from: number): number {
  if (text.length - from <= MAX_TEXT) return text.length;
  const part = text.slice(from, from + MAX_TEXT);
  const mark = Math.max(...['。', '、', '.', ',', ' '].map((char) => part.lastIndexOf(char)));
  if (mark > 0) return from + mark + 1;
  return from + MAX_TEXT - (/[\ud800-\udbff]$/.test(part) ? 1 : 0);
}

function pathOf(text: string, dictionary: Dictionary): Segment[] {
  const bytes = Buffer.from(text);
  const characters = charactersOf(text, dictionary);
  /** Character by its first byte. */
  const byByte = new Map(characters.map((character, i) => [character.byte, i]));
  const ends: (Node[] | undefined)[] = [[{ entry: BOUNDARY, start: 0, end: 0, cost: 0, before: undefined }]];
  for (let at = 0; at < bytes.length; at++) {
    const before = ends[at];
    if (before === undefined) continue;
    const first = skipSpaces(characters, byByte.get(at) ?? 0, dictionary.space);
    const start = characters[first]?.byte ?? bytes.length;
    if (start >= bytes.length) continue;
    for (const { end, entry } of candidates(bytes, characters, first, dictionary)) {
      const node = connected(entry, start, end, before, dictionary);
      // MeCab looks at the latest candidate first, which decides between equal costs.
      const others = ends[end] ?? [];
      others.unshift(node);
      ends[end] = others;
    }
  }
  const last = ends.findLast((nodes) => nodes !== undefined) ?? [];
  const path: Segment[] = [];
  const end = connected(BOUNDARY, bytes.length, bytes.length, last, dictionary);
  for (let node = end.before; node?.before !== undefined; node = node.before) {
    path.push({
      surface: bytes.toString('utf8', node.start, node.end),
      start: characters[byByte.get(node.start) ?? 0]?.start ?? 0,
      isUnknown: node.entry.isUnknown,
      features: dictionary.features(node.entry).split(','),
    });
  }
  return path.reverse();
}

const BOUNDARY: Entry = { left: 0, right: 0, cost: 0, feature: 0, isUnknown: false };

function connected(
  entry: Entry,
  start: number,
  end: number,
  before: readonly Node[],
  dictionary: Dictionary,
): Node {
  let best: Node | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of before) {
    const cost = node.cost + dictionary.connectionCost(node.entry.right, entry.left) + entry.cost;
    if (cost < least) {
      least = cost;
      best = node;
    }
  }
  return { entry, start, end, cost: least, before: best };
}

interface Character {
  readonly byte: number;
  readonly start: number;
  readonly kind: CharacterClass;
}

function charactersOf(text: string, dictionary: Dictionary): Character[] {
  const characters: Character[] = [];
  let [byte, start] = [0, 0];
  for (const character of text) {
    characters.push({ byte, start, kind: dictionary.classOf(character.codePointAt(0) ?? 0) });
    byte += Buffer.byteLength(character);
    start += character.length;
  }
  return characters;
}

const isOneKind = (a: CharacterClass, b: CharacterClass) => (a.kinds & b.kinds) !== 0;

/** Index of the first character after `at` that is not of the class of the one before it. */
function endOfGroup(characters: readonly Character[], at: number, kind: CharacterClass): number {
  let [end, previous] = [at, kind];
  for (
    let next = characters[end];
    next !== undefined && isOneKind(previous, next.kind);
    next = characters[end]
  ) {
    previous = next.kind;
    end++;
  }
  return end;
}

function skipSpaces(characters: readonly Character[], at: number, space: CharacterClass): number {
  return endOfGroup(characters, at, space);
}

/** The known and unknown words that start with a character. */
function candidates(
  bytes: Uint8Array,
  characters: readonly Character[],
  first: number,
  dictionary: Dictionary,
): { readonly end: number; readonly entry: Entry }[] {
  const found: { end: number; entry: Entry }[] = [];
  const { byte = 0, kind } = characters[first] ?? {};
  if (kind === undefined) return found;
  dictionary.prefixes(bytes, byte, (length, entry) => found.push({ end: byte + length, entry }));
  if (found.length > 0 && !kind.always) return found;
  const addUnknown = (end: number) => {
    const at = characters[end]?.byte ?? bytes.length;
    for (const entry of dictionary.unknownWords(kind)) found.push({ end: at, entry });
  };
  const group = kind.groups ? endOfGroup(characters, first + 1, kind) : undefined;
  // The first character is not counted.
  if (group !== undefined && group - first - 1 <= MAX_GROUP) addUnknown(group);
  for (let length = 1; length <= kind.maxLength && first + length <= characters.length; length++) {
    if (first + length === group) continue;
    addUnknown(first + length);
    const next = characters[first + length];
    if (next === undefined || !isOneKind(kind, next.kind)) break;
  }
  if (found.length === 0) addUnknown(first + 1);
  // MeCab prepends each candidate.
  return found.reverse();
}
