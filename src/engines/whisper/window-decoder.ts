/**
 * Transcribes one window of at most 30 s: spectrogram, encoder, then token by token, with the guards of
 * openai/whisper (`transcribe.py`, decode_with_fallback): what loops or is unlikely is tried again, hotter.
 *
 * Text leaves while it is decoded and is never taken back. Whatever looks like a loop or like silence is held
 * until it is decided, and an attempt that follows a failed one goes on behind the text that has left.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../contract/audio.ts';
import type { TranscriptionRequest, TranscriptWord } from '../../contract/engine.ts';
import { FULL_FRAMES, HOP_LENGTH, LogMel } from './log-mel.ts';
import { compressionRatio, loopAtEnd, mostTokens, quickTokens, repeatedAtEnd } from './loop-guard.ts';
import type { SpeechGate } from './speech-gate.ts';
import { spreadWords } from './spread-words.ts';
import { likeliestOf, probabilityOf, seededRandom, TokenRules } from './token-rules.ts';
import {
  type DecoderStep,
  type EncodedWindow,
  FRAME_MULTIPLE,
  type WhisperGraphs,
} from './whisper-graphs.ts';
import type { WhisperTokenizer } from './whisper-tokenizer.ts';
import { type WindowSegment, windowSegments } from './window-segments.ts';
import { WordStream } from './word-stream.ts';
import { wordTimes } from './word-times.ts';

/** One window, with what the ones before it told. */
export interface WhisperRequest
  extends Pick<TranscriptionRequest, 'task' | 'prompt' | 'temperature' | 'timestamps'> {
  /** Mono, 16 kHz, at most 30 s. */
  readonly samples: Float32Samples;
  /** ISO code; absent: detected. */
  readonly language: string | undefined;
  /** What was detected in the window before; it takes more than a doubt to change it. */
  readonly likelyLanguage: string | undefined;
  /** Text tokens of the window before, which this one continues. */
  readonly previous: readonly number[];
  /** When speech ended before this window, in seconds of this one: 0 or less. */
  readonly lastSpeechS: number;
}

export type WhisperResult =
  /** The next words of the window. */
  | { readonly kind: 'text'; readonly text: string }
  /** The last result. */
  | ({ readonly kind: 'window' } & WindowTranscript);

export interface WindowTranscript {
  /**
   * Seconds of the window that were transcribed; undefined for all. A text with times may end while somebody still
   * speaks: what follows wants a window of its own.
   */
  readonly heardS?: number | undefined;
  /** ISO code; undefined when none was given and nothing was said. */
  readonly language: string | undefined;
  /** Text tokens, for the next window; empty when that should not build on this one. */
  readonly carryOver: readonly number[];
  /** Of the caller's prompt. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** In seconds of the window; empty when no times were asked for. */
  readonly segments: readonly WindowSegment[];
  readonly words: readonly TranscriptWord[];
}

/** Frames of silence that are encoded behind the audio, before the kept silence takes over: half a second. */
const PADDING_FRAMES = 50;
/** Decoder steps of one pass: long enough to be worth a message, short enough to share the process. */
const STEPS_PER_PASS = 8;
/** Thresholds of openai/whisper. */
const LEAST_LOG_PROBABILITY = -1;
const MOST_COMPRESSION = 2.4;
const NO_SPEECH = 0.6;
/** Text of an attempt that is less likely than this so far is held until the attempt is judged. */
const DOUBTFUL_LOG_PROBABILITY = -0.7;
/** Less than this behind a text's end is the end of its last word. */
const LEAST_REST_S = 1;
/** A window whose text ends sooner is not gone on from there: audio that confuses the model would be many windows. */
const LEAST_HEARD_S = 1;
/** How sure the model must be that the speaker has changed the language. */
const LANGUAGE_CHANGE = 0.8;
/** A peak below this, -60 dB of full scale, is silence, whatever a model makes of it. */
const SILENT_PEAK = 0.001;
/** Tokens of the window before that are given as context: the model's half less a little, in OpenAI's code. */
const MOST_CARRIED = 96;
/** Above this temperature a text is too far from the audio to be continued (openai/whisper, transcribe.py). */
const MOST_TEMPERATURE_CARRIED = 0.5;
/** The same request gives the same text, sampled or not. */
const SEED = 20;

/** How one attempt at a window differs from the one before. */
interface Plan {
  readonly temperature: number;
  /** All 30 s are encoded, and what earlier windows said is forgotten. */
  readonly careful: boolean;
}

const FALLBACKS: readonly Plan[] = [
  { temperature: 0, careful: false },
  { temperature: 0, careful: true },
  { temperature: 0.4, careful: true },
  { temperature: 0.8, careful: true },
];

/** What an attempt came to. */
interface Attempt {
  readonly plan: Plan;
  /** Text and timestamps, without the end. */
  readonly tokens: readonly number[];
  readonly averageLogProbability: number;
  readonly failed: boolean;
}

export interface WindowDecoderParts {
  readonly graphs: WhisperGraphs;
  readonly tokenizer: WhisperTokenizer;
  readonly gate: Pick<SpeechGate, 'hearsSpeech'>;
}

export class WindowDecoder {
  readonly #graphs: WhisperGraphs;
  readonly #tokenizer: WhisperTokenizer;
  readonly #rules: TokenRules;
  readonly #mel: LogMel;
  readonly #gate: Pick<SpeechGate, 'hearsSpeech'>;

  constructor({ graphs, tokenizer, gate }: WindowDecoderParts) {
    this.#gate = gate;
    this.#graphs = graphs;
    this.#tokenizer = tokenizer;
    this.#rules = new TokenRules(tokenizer.special, tokenizer.suppressed(), tokenizer.suppressedAtBegin());
    this.#mel = new LogMel(graphs.melBands);
  }

  /** One pass for each `next()`: the encoder, then a few tokens at a time. */
  async *decode(asked: WhisperRequest): AsyncGenerator<WhisperResult | null, void, undefined> {
    let request = asked;
    if (isSilent(request.samples) || !(await this.#gate.hearsSpeech(request.samples))) {
      yield { kind: 'window', ...nothingSaid(request.language) };
      return;
    }
    const window = new Window(this.#graphs, this.#mel, request.samples);
    await window.encoded(false);
    yield null;

    const { special } = this.#tokenizer;
    const start = await this.#graphs.step(await window.encoded(false), [special.startOfTranscript]);
    const noSpeech = probabilityOf(start.logits, special.noSpeech);
    const language = request.language ?? this.#detect(start, request.likelyLanguage);
    // Text of another language is no context.
    if (request.likelyLanguage !== undefined && request.likelyLanguage !== language) {
      request = { ...request, previous: [] };
    }
    const text = new LeavingText(this.#tokenizer, request.task === 'translate' ? 'en' : language);

    const attempts: Attempt[] = [];
    for (const plan of plansFor(request)) {
      // Of a full window without context, the careful way is the way that has failed.
      const isNew = !window.isFull || this.#earlier(request).length > 0 || plan.temperature > 0;
      if (attempts.length > 0 && !isNew) continue;
      // A pass of its own: it may have to encode the window again.
      if (attempts.length > 0) yield null;
      const attempt = yield* this.#attempt(window, request, language, plan, noSpeech, text);
      if (isNoSpeech(attempt, noSpeech)) {
        yield { kind: 'window', ...nothingSaid(request.language) };
        return;
      }
      attempts.push(attempt);
      if (!attempt.failed) break;
    }
    const attempt = best(attempts, text.left);
    const rest = text.finish(attempt.tokens);
    if (rest !== '') yield { kind: 'text', text: rest };
    yield { kind: 'window', ...(await this.#transcript(window, request, language, attempt, noSpeech)) };
  }

  /** Decodes the window once; gives text that may leave, a few tokens at a time. */
  async *#attempt(
    window: Window,
    request: WhisperRequest,
    language: string,
    plan: Plan,
    noSpeech: number,
    text: LeavingText,
  ): AsyncGenerator<WhisperResult | null, Attempt, undefined> {
    const { special } = this.#tokenizer;
    const encoded = await window.encoded(plan.careful);
    const tokens = [...text.left];
    const prompt = this.#prompt(request, language, plan);
    const options = {
      timestamps: request.timestamps !== 'none',
      latestTimestamp: special.timestampBegin + Math.floor(window.durationS * 50),
      temperature: plan.temperature,
      random: seededRandom(SEED),
    };
    const longest = Math.min(
      mostTokens(window.durationS),
      this.#graphs.textPositions / 2 - 1,
      this.#graphs.textPositions - prompt.length,
    );
    let step = await this.#graphs.step(encoded, [...prompt, ...tokens]);
    let sum = 0;
    let chosen = 0;
    for (;;) {
      const { token, logProbability } = this.#rules.choose(step.logits, tokens, options);
      sum += logProbability;
      chosen += 1;
      const average = sum / chosen;
      if (token === special.endOfText) {
        return { plan, tokens, averageLogProbability: average, failed: this.#isUnlikely(tokens, average) };
      }
      tokens.push(token);
      const said = tokens.filter((each) => each < special.endOfText);
      const isLong = said.length > quickTokens(window.durationS) || tokens.length >= longest;
      const loop = isLong ? loopAtEnd(said) : undefined;
      if (loop || tokens.length >= longest) {
        const repeated = loop ? repeatedAtEnd(said) : 0;
        const length = Math.max(text.left.length, lengthBefore(tokens, repeated, special.endOfText));
        return { plan, tokens: tokens.slice(0, length), averageLogProbability: average, failed: true };
      }
      if (chosen % STEPS_PER_PASS === 0) {
        const held = noSpeech > NO_SPEECH || average < DOUBTFUL_LOG_PROBABILITY;
        const more = held ? '' : text.leave(tokens);
        yield more === '' ? null : { kind: 'text', text: more };
      }
      step = await this.#graphs.step(encoded, [token], step.cache);
    }
  }

  #isUnlikely(tokens: readonly number[], averageLogProbability: number): boolean {
    return (
      averageLogProbability < LEAST_LOG_PROBABILITY ||
      compressionRatio(this.#tokenizer.decode(tokens)) > MOST_COMPRESSION
    );
  }

  /** What the decoder is told before the text: earlier text, language, task. */
  #prompt(request: WhisperRequest, language: string, plan: Plan): number[] {
    const { special, languages } = this.#tokenizer;
    const earlier = plan.careful ? [] : this.#earlier(request);
    const prompt = earlier.length > 0 ? [special.startOfPrevious, ...earlier] : [];
    prompt.push(special.startOfTranscript);
    const languageToken = languages.get(language);
    if (languageToken !== undefined) prompt.push(languageToken, special[request.task]);
    if (request.timestamps === 'none') prompt.push(special.noTimestamps);
    return prompt;
  }

  /** The caller's prompt before the first window, the text of the one before later ones. */
  #earlier({ prompt, previous }: WhisperRequest): number[] {
    return previous.length > 0 ? previous.slice(-MOST_CARRIED) : this.#promptTokens(prompt);
  }

  /** At most the half of the model's tokens, the end of the text (openai/whisper, decoding.py). */
  #promptTokens(prompt: string | undefined): number[] {
    const most = this.#graphs.textPositions / 2 - 1;
    return prompt ? this.#tokenizer.encode(` ${prompt.trim()}`).slice(-most) : [];
  }

  #detect({ logits }: DecoderStep, before: string | undefined): string {
    const tokenizer = this.#tokenizer;
    if (!tokenizer.multilingual) return 'en';
    const { token, probability } = likeliestOf(logits, tokenizer.languages.values());
    if (before !== undefined && probability < LANGUAGE_CHANGE) return before;
    return tokenizer.languageOf(token) ?? 'en';
  }

  /** Where the text ends, when it ends with a time behind which somebody speaks on; else undefined. */
  async #heardS(tokens: readonly number[], { samples }: WhisperRequest): Promise<number | undefined> {
    const endS = this.#tokenizer.timeS(tokens.at(-1) ?? 0) ?? 0;
    const rest = samples.subarray(Math.round(endS * LISTEN_RATE_HZ));
    if (endS < LEAST_HEARD_S || rest.length < LEAST_REST_S * LISTEN_RATE_HZ) return undefined;
    return (await this.#gate.hearsSpeech(rest)) ? endS : undefined;
  }

  async #transcript(
    window: Window,
    request: WhisperRequest,
    language: string,
    attempt: Attempt,
    noSpeechProbability: number,
  ): Promise<WindowTranscript> {
    const { special } = this.#tokenizer;
    const { plan, tokens, averageLogProbability } = attempt;
    const textTokens = tokens.filter((token) => token < special.endOfText);
    const transcript = {
      heardS: await this.#heardS(tokens, request),
      language,
      carryOver: plan.temperature > MOST_TEMPERATURE_CARRIED || attempt.failed ? [] : textTokens,
      promptTokens: this.#promptTokens(request.prompt).length,
      outputTokens: textTokens.length,
      words: [],
    };
    if (request.timestamps === 'none') return { ...transcript, segments: [] };
    const segments = windowSegments(this.#tokenizer, tokens, window.durationS, {
      temperature: plan.temperature,
      averageLogProbability,
      noSpeechProbability,
    });
    if (request.timestamps === 'segment') return { ...transcript, segments };
    const prompt = this.#prompt({ ...request, timestamps: 'none' }, language, { ...plan, careful: true });
    const encoded = await window.encoded(plan.careful);
    const attention = await this.#graphs.align(encoded, [
      ...prompt,
      ...segments.flatMap((each) => each.tokens),
    ]);
    const textLanguage = request.task === 'translate' ? 'en' : language;
    if (attention === undefined) {
      return { ...transcript, segments, words: spreadWords(this.#tokenizer, segments, textLanguage) };
    }
    const timed = wordTimes(this.#tokenizer, {
      attention,
      firstRow: prompt.length - 1,
      segments,
      language: textLanguage,
      durationS: window.durationS,
      lastSpeechS: request.lastSpeechS,
    });
    return {
      ...transcript,
      segments: segments.map((segment, i) => ({
        ...segment,
        startS: timed[i]?.startS ?? segment.startS,
        endS: timed[i]?.endS ?? segment.endS,
      })),
      words: timed.flatMap((segment) => segment.words),
    };
  }
}

/** The audio of a window and its encodings, each made when it is first needed. */
class Window {
  readonly durationS: number;
  readonly #graphs: WhisperGraphs;
  readonly #mel: LogMel;
  readonly #samples: Float32Samples;
  #short: EncodedWindow | undefined;
  #full: EncodedWindow | undefined;

  constructor(graphs: WhisperGraphs, mel: LogMel, samples: Float32Samples) {
    this.#graphs = graphs;
    this.#mel = mel;
    this.#samples = samples;
    this.durationS = samples.length / LISTEN_RATE_HZ;
  }

  /** Whether its audio fills 30 s, or the graphs take no less. */
  get isFull(): boolean {
    return this.#shortFrames() === FULL_FRAMES;
  }

  async encoded(full: boolean): Promise<EncodedWindow> {
    if (full || this.isFull) {
      this.#full ??= await this.#encode(FULL_FRAMES);
      return this.#full;
    }
    this.#short ??= await this.#encode(this.#shortFrames());
    return this.#short;
  }

  #encode(frames: number): Promise<EncodedWindow> {
    return this.#graphs.encode(this.#mel.frames(this.#samples, frames), frames);
  }

  #shortFrames(): number {
    if (!this.#graphs.shortWindows) return FULL_FRAMES;
    const heard = Math.ceil(this.#samples.length / HOP_LENGTH) + PADDING_FRAMES;
    return Math.min(FULL_FRAMES, Math.ceil(heard / FRAME_MULTIPLE) * FRAME_MULTIPLE);
  }
}

/** The text that has left, which later attempts have to begin with. */
class LeavingText {
  /** Tokens whose text has left, or waits for the end of its word. */
  left: readonly number[] = [];
  readonly #words: WordStream;
  readonly #endOfText: number;

  constructor(tokenizer: WhisperTokenizer, language: string) {
    this.#words = new WordStream(tokenizer, language);
    this.#endOfText = tokenizer.special.endOfText;
  }

  /** Lets everything leave but a tail that repeats what stands before it. */
  leave(tokens: readonly number[]): string {
    const held = repeatedAtEnd(tokens.filter((token) => token < this.#endOfText));
    return this.#push(tokens.slice(0, lengthBefore(tokens, held, this.#endOfText)));
  }

  /** The rest of the tokens that were decided for. */
  finish(tokens: readonly number[]): string {
    return this.#push(tokens) + this.#words.flush();
  }

  #push(tokens: readonly number[]): string {
    let text = '';
    for (const token of tokens.slice(this.left.length)) text += this.#words.push(token);
    if (tokens.length > this.left.length) this.left = tokens;
    return text;
  }
}

/** How many tokens there are before the last `count` of text and the times among those. */
function lengthBefore(tokens: readonly number[], count: number, endOfText: number): number {
  let length = tokens.length;
  for (let left = count; left > 0 && length > 0; length--) if ((tokens[length - 1] ?? 0) < endOfText) left--;
  return length;
}

function plansFor({ temperature = 0 }: WhisperRequest): readonly Plan[] {
  if (temperature === 0) return FALLBACKS;
  return [
    { temperature, careful: false },
    { temperature, careful: true },
  ];
}

/** openai/whisper: silence is what the model takes for it, unless it is sure of a text all the same. */
function isNoSpeech({ averageLogProbability }: Attempt, noSpeech: number): boolean {
  return noSpeech > NO_SPEECH && averageLogProbability < LEAST_LOG_PROBABILITY;
}

/** The one that did not fail, else the likeliest; one that begins with what has left, as the last always does. */
function best(attempts: readonly Attempt[], left: readonly number[]): Attempt {
  const possible = attempts.filter(({ tokens }) => left.every((token, i) => token === tokens[i]));
  return possible.reduce((a, b) => {
    if (a.failed !== b.failed) return a.failed ? b : a;
    return b.averageLogProbability > a.averageLogProbability ? b : a;
  });
}

function isSilent(samples: Float32Samples): boolean {
  return samples.every((sample) => Math.abs(sample) < SILENT_PEAK);
}

function nothingSaid(language: string | undefined): WindowTranscript {
  return { language, carryOver: [], promptTokens: 0, outputTokens: 0, segments: [], words: [] };
}
