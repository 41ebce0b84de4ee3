/** A text with markup as a synthesis: voices and languages are selected before it starts, and marks get their times from its words. */

import type { SpokenWord, TtsEngine } from '../contract/engines/engine.ts';
import { MAX_RATE, MIN_RATE, type SpeechPart } from '../ssml/speech-parts.ts';
import { type RequestedVoice, type SelectedVoice, selectVoice, type VoiceLookup } from './stored-voices.ts';
import type { SpokenPiece } from './synthesize-text.ts';

/** A position of the markup and its time from the start of the audio. */
export interface TimedMark {
  readonly name: string;
  readonly timeMs: number;
}

export interface MarkedVoices {
  readonly voices: VoiceLookup;
  readonly engine: TtsEngine;
  /** Voice and language of text without markup. */
  readonly requested: RequestedVoice;
  /** Name of the request field with the markup, for error messages about its voices and languages. */
  readonly textParam: string;
  /** Speaking rate of the request. */
  readonly speed: number;
}

/**
 * Selects the voice and the language of each part.
 * @throws the errors of {@link selectVoice}.
 */
export async function spokenPieces(
  parts: readonly SpeechPart[],
  { voices, engine, requested, textParam, speed }: MarkedVoices,
): Promise<SpokenPiece[]> {
  const selected = new Map<string, SelectedVoice>();
  const voiceOf = async (id: string | undefined, language: string | undefined): Promise<SelectedVoice> => {
    const key = JSON.stringify([id, language]);
    const known = selected.get(key);
    if (known !== undefined) return known;
    const voice = await selectVoice(voices, engine, {
      ...requested,
      ...(id !== undefined && { id, param: textParam }),
      ...(language !== undefined && { language, languageParam: textParam }),
    });
    selected.set(key, voice);
    return voice;
  };
  const pieces: SpokenPiece[] = [];
  for (const part of parts) {
    if (part.kind === 'pause') pieces.push(part);
    if (part.kind !== 'text') continue;
    const { text, givenSounds, style } = part;
    const voice = await voiceOf(style.voice, style.language);
    const rate = Math.min(MAX_RATE, Math.max(MIN_RATE, speed * style.rate));
    pieces.push({ kind: 'text', text, givenSounds, gain: style.gain, style: { ...voice, speed: rate } });
  }
  return pieces;
}

/** Gives each mark the start of the first word after it, or the end of the last word. */
export class MarkTimes {
  /** In order; positions in the joined texts of the parts. */
  readonly #marks: { readonly name: string; readonly at: number }[] = [];
  readonly #report: (marks: readonly TimedMark[]) => void;
  #position = 0;
  #endMs = 0;

  constructor(parts: readonly SpeechPart[], report: (marks: readonly TimedMark[]) => void) {
    this.#report = report;
    let length = 0;
    for (const part of parts) {
      if (part.kind === 'mark') this.#marks.push({ name: part.name, at: length });
      if (part.kind !== 'text') continue;
      for (const { name, at } of part.marks) this.#marks.push({ name, at: length + at });
      length += part.text.length;
    }
  }

  /** @param words of the whole text, in order. Together they are the text. */
  addWords(words: readonly SpokenWord[]): void {
    for (const { text, startMs, endMs } of words) {
      this.#take(this.#position, startMs);
      this.#position += text.length;
      this.#endMs = endMs;
    }
  }

  /** The audio is complete. */
  end(): void {
    this.#take(Number.POSITIVE_INFINITY, this.#endMs);
  }

  #take(position: number, timeMs: number): void {
    const count = this.#marks.findIndex(({ at }) => at > position);
    const passed = this.#marks.splice(0, count === -1 ? this.#marks.length : count);
    if (passed.length > 0) this.#report(passed.map(({ name }) => ({ name, timeMs })));
  }
}
