/** Streaming text to speech: mono samples at any rate. */

import { Resampler } from '../audio/resampler.ts';
import { splitSentences } from '../audio/sentences.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { GivenSounds, SpokenWord, SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { PlaybackClock } from '../kit/playback-clock.ts';
import type { LexiconMatcher } from './lexicon-matcher.ts';
import { readWithLexicon, soundsWithin, WrittenWords } from './lexicon-text.ts';
import { possibleLanguages, SentenceLanguages } from './sentence-languages.ts';

/** Maximum length of a text of the engine in UTF-16 units: at least as strict as the rule of {@link SynthesisRequest.text}. */
const MAX_PIECE_CHARACTERS = 600;

/** What a text with markup changes for a part of it. */
type PieceStyle = Pick<SynthesisRequest, 'voice' | 'voiceName' | 'language' | 'speed'>;

/** A part of a text with markup. */
export type SpokenPiece =
  | {
      readonly kind: 'text';
      /** Of any length. */
      readonly text: string;
      readonly style: PieceStyle;
      /** Linear factor of the samples. */
      readonly gain: number;
      readonly givenSounds: readonly GivenSounds[];
    }
  | { readonly kind: 'pause'; readonly ms: number };

/** A synthesis request. */
export interface SynthesizeTextRequest
  extends Omit<SynthesisRequest, 'aheadMs' | 'text' | 'givenSounds' | 'detectedLanguage'> {
  /**
   * A text of any length, its sentences as they arrive, each short enough for {@link SynthesisRequest.text}, or the parts of a text
   * with markup, whose styles replace that of the request.
   */
  readonly text: string | AsyncIterable<string> | readonly SpokenPiece[];
  /** Sample rate of the result in Hz, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}. */
  readonly rateHz: number;
  /** How words are pronounced, unless the markup gives their sounds. */
  readonly lexicon?: LexiconMatcher | undefined;
}

export interface SynthesisObserver {
  /**
   * Called for each sentence as it starts, including blank ones, and with an empty text for a pause. Together the sentences are the
   * text.
   */
  onSentence?(sentence: string): void;
  /** @param samples number of samples that the engine generated, at its rate. */
  onGenerated?(samples: number): void;
  /** Playback of the listener, which is updated. Default: it starts with the first audio. */
  readonly playback?: PlaybackClock;
}

export interface SynthesisOutput<Chunk> {
  readonly clock: Clock;
  /** Converts generated samples at the requested rate. Each chunk is yielded before the next one is created. */
  chunksOf(samples: Float32Samples): Iterable<Chunk>;
}

/**
 * Synthesizes text sentence by sentence (spec 4.3, rules 1 and 2). Yields the chunks of the samples in order,
 * converted to the requested rate; yields nothing if the text contains no speakable text. A sentence starts
 * after the audio of the previous one was consumed, so a consumer that stops pulling stops the synthesis.
 * @throws the errors of the engine, and the reason of the signal after an abort.
 */
export async function* synthesizeText<Chunk>(
  engine: TtsEngine,
  { rateHz, lexicon, ...request }: SynthesizeTextRequest,
  { clock, chunksOf }: SynthesisOutput<Chunk>,
  signal: AbortSignal,
  observer: SynthesisObserver = {},
): AsyncGenerator<Chunk, void, undefined> {
  const { playback = new PlaybackClock() } = observer;
  const resampler =
    engine.rateHz === rateHz
      ? undefined
      : new Resampler({ fromHz: engine.rateHz, toHz: rateHz, format: 'float32' });
  const output = function* (generated: Float32Samples): Generator<Chunk> {
    const samples = resampler ? resampler.push(generated) : generated;
    if (samples.length === 0) return;
    playback.addAudio((samples.length * 1000) / rateHz, clock.monotonicMs());
    yield* chunksOf(samples);
  };
  try {
    for await (const { text, pauseMs = 0, gain = 1, ...style } of stepsOf(engine, request)) {
      observer.onSentence?.(text);
      if (pauseMs > 0) yield* output(new Float32Array(Math.round((pauseMs * engine.rateHz) / 1000)));
      if (text.trim() === '') continue;
      for (const piece of enginePieces(engine, { ...request, ...style, text }, lexicon)) {
        const sentence = { ...piece.request, aheadMs: playback.aheadMs(clock.monotonicMs()) };
        for await (const chunk of engine.synthesize(sentence, signal)) {
          observer.onGenerated?.(chunk.length);
          piece.onGenerated?.(chunk.length);
          yield* output(gain === 1 ? chunk : amplified(chunk, gain));
        }
      }
    }
    const rest = resampler?.flush();
    if (rest && rest.length > 0) for (const piece of chunksOf(rest)) yield piece;
  } finally {
    resampler?.close();
  }
}

/** A sentence, or a pause with an empty text. */
interface Step extends Partial<PieceStyle>, Pick<SynthesisRequest, 'detectedLanguage'> {
  readonly text: string;
  readonly pauseMs?: number;
  readonly gain?: number;
  readonly givenSounds?: readonly GivenSounds[];
}

/** The sentences with the languages that are detected, unless the request or the markup names them. */
async function* stepsOf(
  engine: TtsEngine,
  request: Pick<SynthesizeTextRequest, 'text' | keyof PieceStyle>,
): AsyncGenerator<Step, void, undefined> {
  const { text } = request;
  const detected = new SentenceLanguages();
  if (typeof text === 'string') {
    const possible = possibleLanguages(engine, request);
    const sentences = splitSentences(text);
    const languages = possible && detected.all(sentences, possible);
    for (const [index, sentence] of sentences.entries()) {
      yield { text: sentence, detectedLanguage: languages?.[index] };
    }
  } else if (Symbol.asyncIterator in text) {
    const possible = possibleLanguages(engine, request);
    for await (const sentence of text) {
      yield { text: sentence, detectedLanguage: possible && detected.next(sentence, possible) };
    }
  } else for (const piece of text) yield* stepsOfPiece(engine, request, piece, detected);
}

function* stepsOfPiece(
  engine: TtsEngine,
  request: Pick<SynthesizeTextRequest, keyof PieceStyle>,
  piece: SpokenPiece,
  detected: SentenceLanguages,
): Generator<Step> {
  if (piece.kind === 'pause') {
    yield { text: '', pauseMs: piece.ms };
    return;
  }
  const { text, style, gain, givenSounds } = piece;
  const possible = possibleLanguages(engine, { ...request, ...style });
  const sentences = splitSentences(text);
  const languages = possible && detected.all(sentences, possible);
  let at = 0;
  for (const [index, sentence] of sentences.entries()) {
    const [from, to] = [at, at + sentence.length];
    yield {
      ...style,
      text: sentence,
      detectedLanguage: languages?.[index],
      gain,
      givenSounds: soundsWithin(givenSounds, from, to),
    };
    at = to;
  }
}

/** A request to the engine. */
interface EnginePiece {
  readonly request: Omit<SynthesisRequest, 'aheadMs'>;
  /** Counts the samples that the engine generated for it. */
  readonly onGenerated?: (samples: number) => void;
}

/** The requests for a sentence: one, unless the readings of its words make it too long. */
function* enginePieces(
  engine: TtsEngine,
  sentence: EnginePiece['request'],
  lexicon: LexiconMatcher | undefined,
): Generator<EnginePiece, void, undefined> {
  const { text, givenSounds = [], onWords } = sentence;
  const language = () => ({
    spoken: engine.textLanguage?.(sentence) ?? sentence.language,
    find: (tag: string) => engine.languageOf?.(tag),
  });
  const read = lexicon && readWithLexicon(text, givenSounds, lexicon, language);
  if (read === undefined) {
    yield { request: sentence };
    return;
  }
  const { replacements } = read;
  const isLonger = replacements.length > 0 && read.text.length > MAX_PIECE_CHARACTERS;
  const pieces = isLonger ? splitSentences(read.text) : [read.text];
  const words = onWords && new WrittenWords(text, replacements, onWords);
  let [at, samples] = [0, 0];
  for (const piece of pieces) {
    const [from, to] = [at, at + piece.length];
    const offsetMs = (samples * 1000) / engine.rateHz;
    words?.skipTo(from);
    const request = {
      ...sentence,
      text: piece,
      givenSounds: soundsWithin(read.givenSounds, from, to),
      ...(words && { onWords: (spoken: readonly SpokenWord[]) => words.add(spoken, offsetMs) }),
    };
    const onGenerated = (count: number) => {
      samples += count;
    };
    if (piece.trim() !== '') yield { request, onGenerated };
    at = to;
  }
  words?.end();
}

/** Full scale is kept, so that louder speech is limited instead of wrapped around. */
function amplified(samples: Float32Samples, gain: number): Float32Samples {
  return samples.map((sample) => Math.max(-1, Math.min(1, sample * gain)));
}
