/** Finds the words of a pronunciation lexicon in a text, in time proportional to the text. */

import type { Lexicon, LexiconEntry } from '../contract/stores/lexicon-store.ts';
import { keepsCase } from '../kit/validation/lexicon-entry.ts';

/** A word of the text that the lexicon has. */
export interface LexiconMatch {
  /** First and last + 1 UTF-16 unit in the text. */
  readonly start: number;
  readonly end: number;
  /** End of the possessive `'s` that follows it; otherwise `end`. */
  readonly possessiveEnd: number;
  readonly entry: LexiconEntry;
}

/** Scripts without spaces between words: each character is a unit. Katakana has runs, which are mostly single words. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const UNIT = new RegExp(
  `[\\p{sc=Katakana}ー]+|[${UNSPACED}]\\p{M}*|(?:(?![\\p{sc=Katakana}ー${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+|\\S`,
  'gu',
);
const WORD = /^[\p{L}\p{M}\p{N}]/u;
/** Between letters, these make one word: `can't`, `example.com`, `a@b`. Hyphens do not: `Nguyen-Smith` has two. */
const JOINING = new Set(["'", '.', '@', '_']);
/** What is before the apostrophe of an elision: `l'Oréal`, `d'Artagnan`, `qu'Anna`. */
const ELIDED = /^(?:\p{L}|qu)$/iu;

/** A run of letters and digits, or another character. */
interface Unit {
  readonly text: string;
  /** In the form that is compared in any case. */
  readonly folded: string;
  readonly start: number;
  readonly end: number;
  /** Whether white space precedes it. */
  readonly isSpaced: boolean;
}

interface Node {
  readonly next: Map<string, Node>;
  /** Entries that end here, the most specific first. */
  readonly entries: Candidate[];
}

interface Candidate {
  readonly entry: LexiconEntry;
  /** The units of a word that is matched in its own case; undefined: in any case. */
  readonly exact: readonly string[] | undefined;
  readonly rank: readonly number[];
}

export class LexiconMatcher {
  readonly #root: Node = { next: new Map(), entries: [] };

  constructor({ own, shared }: Lexicon) {
    for (const entry of own) this.#add(entry, 1);
    for (const entry of shared) this.#add(entry, 0);
  }

  /**
   * The words of the text that have an entry, in order, without overlaps: the longest of those that start first. Of several entries,
   * those of the organization take precedence, then words in their own case, then the most specific language.
   * @param appliesTo whether entries of a language apply to the text. Called only if the text has a word with such an entry.
   */
  find(text: string, appliesTo: (language: string) => boolean): LexiconMatch[] {
    const matches: LexiconMatch[] = [];
    if (this.#root.next.size === 0) return matches;
    const units = unitsOf(text);
    for (let at = 0; at < units.length; ) {
      const match = startsWord(units, at) ? this.#longest(units, at, appliesTo) : undefined;
      if (match !== undefined) matches.push(match.found);
      at = match?.next ?? at + 1;
    }
    return matches;
  }

  #longest(units: readonly Unit[], from: number, appliesTo: (language: string) => boolean) {
    let node: Node | undefined = this.#root;
    const ends: { readonly next: number; readonly entries: readonly Candidate[] }[] = [];
    for (let at = from; at < units.length; at++) {
      const unit = units[at] as Unit;
      node = node.next.get(at === from ? unit.folded : pathOf(unit));
      if (node === undefined) break;
      if (node.entries.length > 0 && endsWord(units, at)) ends.push({ next: at + 1, entries: node.entries });
    }
    for (const { next, entries } of ends.reverse()) {
      const spoken = units.slice(from, next);
      const found = entries.find(
        ({ entry: { language }, exact }) =>
          (exact === undefined || exact.every((text, index) => text === spoken[index]?.text)) &&
          (language === undefined || appliesTo(language)),
      );
      const [start, end] = [units[from]?.start, units[next - 1]?.end];
      if (found === undefined || start === undefined || end === undefined) continue;
      const possessiveEnd = isPossessive(units, next) ? (units[next + 1]?.end ?? end) : end;
      return { next, found: { start, end, possessiveEnd, entry: found.entry } };
    }
    return undefined;
  }

  #add(entry: LexiconEntry, owner: number): void {
    const units = unitsOf(entry.word);
    let node = this.#root;
    for (const [index, unit] of units.entries()) {
      const path = index === 0 ? unit.folded : pathOf(unit);
      const existing = node.next.get(path);
      const following = existing ?? { next: new Map(), entries: [] };
      if (existing === undefined) node.next.set(path, following);
      node = following;
    }
    const exact = keepsCase(entry.word) ? units.map(({ text }) => text) : undefined;
    const subtags = entry.language?.split('-').length ?? 0;
    node.entries.push({ entry, exact, rank: [owner, Number(exact !== undefined), subtags] });
    node.entries.sort((a, b) => compareRanks(b.rank, a.rank));
  }
}

/** Compiled lexicons; an entry is garbage-collected with its lexicon. */
const compiled = new WeakMap<Lexicon, LexiconMatcher>();

/** The matcher of a lexicon, compiled with its first use. Undefined for a lexicon without entries. */
export function matcherOf(lexicon: Lexicon): LexiconMatcher | undefined {
  if (lexicon.own.length === 0 && lexicon.shared.length === 0) return undefined;
  const matcher = compiled.get(lexicon) ?? new LexiconMatcher(lexicon);
  compiled.set(lexicon, matcher);
  return matcher;
}

/**
 * Whether an entry of a language applies to texts of another one: `en` applies to `en-GB` (RFC 4647, section 3.3.1).
 * @param spoken BCP 47 tag in any form, because tags for engines of unknown languages are as the client wrote them.
 */
export function includesLanguage(language: string, spoken: string): boolean {
  const [range, tag] = [language.toLowerCase(), spoken.toLowerCase().replaceAll('_', '-')];
  return tag === range || tag.startsWith(`${range}-`);
}

function unitsOf(text: string): Unit[] {
  let end = 0;
  return [...text.matchAll(UNIT)].map(({ 0: written, index }) => {
    const isSpaced = index > end;
    end = index + written.length;
    const normal = written === '’' ? "'" : written.normalize('NFC');
    return { text: normal, folded: normal.toLowerCase(), start: index, end, isSpaced };
  });
}

/** White space is part of a phrase: `New York` is not `NewYork`, and `C++` not `C + +`. */
function pathOf({ folded, isSpaced }: Unit): string {
  return isSpaced ? ` ${folded}` : folded;
}

function startsWord(units: readonly Unit[], at: number): boolean {
  const [before, joint, first] = [units[at - 2], units[at - 1], units[at]];
  if (!isWord(first) || first.isSpaced || joint?.isSpaced !== false) return true;
  if (!JOINING.has(joint.text) || !isWord(before)) return true;
  return joint.text === "'" && ELIDED.test(before.text) && !isAfterWord(units, at - 2);
}

function endsWord(units: readonly Unit[], at: number): boolean {
  const [last, joint, after] = [units[at], units[at + 1], units[at + 2]];
  if (!isWord(last) || joint === undefined || joint.isSpaced || !JOINING.has(joint.text)) return true;
  return !isWord(after) || after.isSpaced || isPossessive(units, at + 1);
}

/** Whether the possessive ending starts at a unit. */
function isPossessive(units: readonly Unit[], at: number): boolean {
  const [joint, ending, joint2, after] = units.slice(at, at + 4);
  if (joint?.text !== "'" || joint.isSpaced || ending?.folded !== 's' || ending.isSpaced) return false;
  return !(joint2?.isSpaced === false && JOINING.has(joint2.text) && isWord(after) && !after.isSpaced);
}

/** Whether a unit continues a word: its apostrophe is not the first one. */
function isAfterWord(units: readonly Unit[], at: number): boolean {
  const [before, joint, unit] = [units[at - 2], units[at - 1], units[at]];
  return unit?.isSpaced === false && joint?.isSpaced === false && JOINING.has(joint.text) && isWord(before);
}

function isWord(unit: Unit | undefined): unit is Unit {
  return unit !== undefined && WORD.test(unit.text);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return (a[differing] ?? 0) - (b[differing] ?? 0);
}
