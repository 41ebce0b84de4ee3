/** Applies the rules of a language to a text. */

import type { SpokenFormWord } from '../language.ts';
import type { TracedText } from '../traced-text.ts';
import { cleanText } from './clean-text.ts';

/** A written form and how it is spoken. */
export interface Rule {
  /** Global, linear, and never matches an empty string. */
  readonly pattern: RegExp;
  /** The spoken form; undefined leaves the match as written. */
  readonly speak: (match: RegExpExecArray) => string | undefined;
}

export function spokenWords(text: string, rules: readonly Rule[]): SpokenFormWord[] {
  return wordsOf(applyRules(text, rules));
}

/** Applies the rules in order: later ones see what earlier ones wrote. */
export function applyRules(text: string, rules: readonly Rule[]): TracedText {
  let traced: TracedText = cleanText(text);
  for (const { pattern, speak } of rules) {
    traced = traced.replace(pattern, (match) => speak(match) ?? match[0]);
  }
  return traced;
}

/** The words between white space. */
export function wordsOf(traced: TracedText): SpokenFormWord[] {
  return Array.from(traced.text.matchAll(/\S+/gu), ({ 0: word, index }) => ({
    text: word,
    source: traced.sourceOf(index),
  }));
}
