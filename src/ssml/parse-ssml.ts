/**
 * Reads SSML (W3C Speech Synthesis Markup Language 1.1): `speak`, `p`, `s`, `break`, `prosody` (rate, volume), `phoneme`, `sub`,
 * `say-as`, `lang`, `voice` and `mark`. The text inside other elements is spoken as if they were absent. Documents with a DTD are
 * refused, so that only the five entities of XML and character references exist.
 */

import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { invalidRequest } from '../contract/core/error.ts';
import { similarNameHint } from '../contract/core/nearest-name.ts';
import type { GivenSounds } from '../contract/engines/engine.ts';
import { gainOf, MAX_BREAK_MS, millisecondsOf, rateOf, STRENGTHS, strengthMs } from './attribute-values.ts';
import { SAY_AS_VALUES, sayAs } from './say-as.ts';
import {
  MAX_RATE,
  type Mark,
  MIN_RATE,
  PLAIN_STYLE,
  type SpeechPart,
  type SpeechStyle,
} from './speech-parts.ts';

/** Nesting of elements. */
const MAX_DEPTH = 32;
const MAX_ELEMENTS = 5000;
/** Sum of all pauses. */
const MAX_PAUSES_MS = 120_000;
const MAX_ATTRIBUTE_CHARACTERS = 1000;
/** Elements whose text is not spoken. */
const SILENT = new Set(['metadata', 'meta', 'desc', 'lexicon']);
/** Elements that end a sentence, and the pause after them in ms. */
const BLOCKS: Readonly<Record<string, number>> = { p: 500, s: 0 };

export interface SsmlOptions {
  /** Request field of the text, for error messages. */
  readonly param: string;
}

/**
 * Returns the parts of a document. Parts without a letter or digit are kept if they are pauses or marks.
 * @param markup a document with the root `speak`.
 * @throws ServiceError `invalid_request` with line and column, for a document that is not well-formed, has a DTD, is
 *   too deep, has too long pauses, or an attribute with a value that is not allowed.
 */
export function parseSsml(markup: string, { param }: SsmlOptions): SpeechPart[] {
  const parser = new SaxesParser({ position: true, xmlns: false } as const);
  const document = new SsmlDocument((message) => {
    const { line, column } = parser;
    return invalidRequest(`'${param}', line ${line}, column ${column}: ${message}`, param, 'invalid_value');
  });
  parser.on('error', (error) => {
    // The message of the parser starts with the position.
    throw document.error(`${error.message.replace(/^[0-9]+:[0-9]+: /, '').replace(/\.$/, '')}.`);
  });
  parser.on('doctype', () => {
    throw document.error('a document type declaration is not allowed.');
  });
  parser.on('opentag', (tag) => document.open(tag));
  parser.on('closetag', () => document.close());
  parser.on('text', (text) => document.text(text));
  parser.on('cdata', (text) => document.text(text));
  parser.write(markup).close();
  return document.parts();
}

/** An open element. */
interface OpenElement {
  readonly name: string;
  readonly style: SpeechStyle;
  /** Whether the text of the element is not spoken. */
  readonly isSilent: boolean;
  /** Start in the text of the current part of an element that changes how its text is read. */
  readonly start: number;
  readonly reading: Reading | undefined;
}

type Reading =
  | { readonly kind: 'phoneme'; readonly ipa: string }
  | { readonly kind: 'sub'; readonly alias: string }
  | { readonly kind: 'say-as'; readonly interpretAs: string; readonly format: string | undefined };

class SsmlDocument {
  readonly error: (message: string) => Error;
  readonly #parts: SpeechPart[] = [];
  readonly #open: OpenElement[] = [];
  #elements = 0;
  #pausesMs = 0;
  /** Text of the current part, with single spaces. */
  #text = '';
  #givenSounds: GivenSounds[] = [];
  #marks: Mark[] = [];

  constructor(error: (message: string) => Error) {
    this.error = error;
  }

  open({ name, attributes }: SaxesTagPlain): void {
    const parent = this.#open.at(-1);
    this.#elements += 1;
    if (parent === undefined && name !== 'speak') {
      throw this.error(`the root element must be <speak>, not <${shown(name)}>.`);
    }
    if (this.#open.length === MAX_DEPTH) throw this.error(`elements are nested more than ${MAX_DEPTH} deep.`);
    if (this.#elements > MAX_ELEMENTS)
      throw this.error(`the document has more than ${MAX_ELEMENTS} elements.`);
    for (const [attribute, value] of Object.entries(attributes)) {
      if (value.length > MAX_ATTRIBUTE_CHARACTERS) {
        throw this.error(`'${shown(attribute)}' has more than ${MAX_ATTRIBUTE_CHARACTERS} characters.`);
      }
    }
    const outer = parent?.style ?? PLAIN_STYLE;
    const style = this.#styleOf(name, attributes, outer);
    const reading = this.#readingOf(name, attributes);
    if (reading !== undefined && this.#open.some((element) => element.reading !== undefined)) {
      throw this.error(`<${name}> is not allowed inside <sub>, <phoneme> or <say-as>.`);
    }
    if (style !== outer || Object.hasOwn(BLOCKS, name)) this.#endPart();
    if (name === 'break') this.#pause(this.#breakMs(attributes));
    if (name === 'mark') this.#mark(attributes);
    const isSilent = parent?.isSilent === true || SILENT.has(name);
    this.#open.push({ name, style, isSilent, start: this.#text.length, reading });
  }

  close(): void {
    const element = this.#open.at(-1);
    if (element === undefined) return;
    if (element.reading !== undefined) this.#read(element, element.reading);
    const outer = this.#open.at(-2)?.style ?? PLAIN_STYLE;
    const pauseMs = Object.hasOwn(BLOCKS, element.name) ? BLOCKS[element.name] : undefined;
    if (element.style !== outer || pauseMs !== undefined || element.name === 'speak') this.#endPart();
    this.#open.pop();
    if (pauseMs !== undefined && pauseMs > 0 && this.#parts.at(-1)?.kind === 'text') this.#pause(pauseMs);
  }

  text(text: string): void {
    const element = this.#open.at(-1);
    if (element === undefined || element.isSilent) return;
    const spaced = text.replace(/\s+/gu, ' ');
    this.#text += this.#text === '' || this.#text.endsWith(' ') ? spaced.trimStart() : spaced;
  }

  parts(): SpeechPart[] {
    return this.#parts;
  }

  #styleOf(name: string, attributes: Record<string, string>, outer: SpeechStyle): SpeechStyle {
    const language = attributes['xml:lang']?.trim() || undefined;
    const inner = language === undefined || language === outer.language ? outer : { ...outer, language };
    if (name === 'voice') {
      const voice = attributes.name?.trim();
      if (!voice) throw this.error("<voice> needs the attribute 'name'.");
      return { ...inner, voice };
    }
    if (name === 'lang' && language === undefined) throw this.error("<lang> needs the attribute 'xml:lang'.");
    if (name !== 'prosody') return inner;
    const { rate, volume } = attributes;
    const factor = rate === undefined ? 1 : rateOf(rate);
    if (factor === undefined) {
      throw this.error(
        `'rate' must be a percentage such as 80%, a factor, or x-slow, slow, medium, fast, x-fast.`,
      );
    }
    const gain = volume === undefined ? 1 : gainOf(volume);
    if (gain === undefined) {
      throw this.error(
        `'volume' must be a change such as -6dB, or silent, x-soft, soft, medium, loud, x-loud.`,
      );
    }
    if (factor === 1 && gain === 1) return inner;
    return { ...inner, rate: clamped(inner.rate * factor), gain: inner.gain * gain };
  }

  #readingOf(name: string, attributes: Record<string, string>): Reading | undefined {
    if (name === 'phoneme') {
      const { alphabet = 'ipa', ph = '' } = attributes;
      if (alphabet !== 'ipa') throw this.error(`'alphabet' must be ipa, not '${shown(alphabet)}'.`);
      if (ph.trim() === '') throw this.error("<phoneme> needs the attribute 'ph'.");
      return { kind: 'phoneme', ipa: ph.trim() };
    }
    if (name === 'sub') {
      const { alias } = attributes;
      if (alias === undefined) throw this.error("<sub> needs the attribute 'alias'.");
      return { kind: 'sub', alias };
    }
    if (name !== 'say-as') return undefined;
    const interpretAs = attributes['interpret-as'];
    if (interpretAs === undefined) throw this.error("<say-as> needs the attribute 'interpret-as'.");
    if (!SAY_AS_VALUES.includes(interpretAs)) {
      const hint = similarNameHint(interpretAs, SAY_AS_VALUES);
      throw this.error(
        `'interpret-as' must be one of ${SAY_AS_VALUES.join(', ')}, not '${shown(interpretAs)}'.${hint}`,
      );
    }
    return { kind: 'say-as', interpretAs, format: attributes.format };
  }

  /** Replaces the text of the element, or notes how it is pronounced. */
  #read({ start, style }: OpenElement, reading: Reading): void {
    const inner = this.#text.slice(start);
    if (reading.kind === 'phoneme') {
      const word = inner.trim();
      if (word === '') throw this.error('<phoneme> has no text.');
      const at = start + inner.indexOf(word);
      this.#givenSounds.push({ start: at, end: at + word.length, ipa: reading.ipa });
      return;
    }
    const spoken =
      reading.kind === 'sub'
        ? reading.alias
        : sayAs(inner, reading.interpretAs, reading.format, style.language);
    if (spoken === undefined) throw this.error("'format' must be an order of d, m and y, such as dmy.");
    this.#text = this.#text.slice(0, start) + spoken.replace(/\s+/gu, ' ');
    this.#marks = this.#marks.map(({ name, at }) => ({ name, at: Math.min(at, this.#text.length) }));
  }

  #breakMs({ time, strength }: Record<string, string>): number {
    if (time !== undefined) {
      const ms = millisecondsOf(time);
      if (ms === undefined || ms > MAX_BREAK_MS) {
        throw this.error(`'time' must be 0ms to ${MAX_BREAK_MS / 1000}s, such as 500ms or 1.5s.`);
      }
      return ms;
    }
    const ms = strengthMs(strength ?? 'medium');
    if (ms === undefined) throw this.error(`'strength' must be one of ${STRENGTHS.join(', ')}.`);
    return ms;
  }

  #pause(ms: number): void {
    if (this.#open.some((element) => element.reading !== undefined)) {
      throw this.error('<break> is not allowed inside <sub>, <phoneme> or <say-as>.');
    }
    this.#endPart();
    this.#pausesMs += ms;
    if (this.#pausesMs > MAX_PAUSES_MS) {
      throw this.error(`the pauses are longer than ${MAX_PAUSES_MS / 1000} s together.`);
    }
    const last = this.#parts.at(-1);
    if (ms === 0) return;
    if (last?.kind === 'pause') this.#parts[this.#parts.length - 1] = { kind: 'pause', ms: last.ms + ms };
    else this.#parts.push({ kind: 'pause', ms });
  }

  #mark({ name }: Record<string, string>): void {
    if (name === undefined || name.trim() === '') throw this.error("<mark> needs the attribute 'name'.");
    this.#marks.push({ name, at: this.#text.length });
  }

  #endPart(): void {
    const style = this.#open.at(-1)?.style ?? PLAIN_STYLE;
    const text = this.#text;
    const [givenSounds, marks] = [this.#givenSounds, this.#marks];
    this.#text = '';
    this.#givenSounds = [];
    this.#marks = [];
    if (text.trim() !== '') this.#parts.push({ kind: 'text', text, style, givenSounds, marks });
    else this.#parts.push(...marks.map(({ name }) => ({ kind: 'mark', name }) as const));
  }
}

function clamped(rate: number): number {
  return Math.min(MAX_RATE, Math.max(MIN_RATE, rate));
}

/** A name of the document in an error message. */
function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}
