/**
 * Transcribes one window of at most 30 s: spectrogram, encoder, then token by token, with the guards of
 * openai/whisper (`transcribe.py`, decode_with_fallback): what loops or is unlikely is tried again, hotter.
 *
 * Text leaves while it is decoded and is never taken back. Whatever looks like a loop or like silence is held
 * until it is decided, and an attempt that follows a failed one goes on behind the text that has left.
 */

import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import type { WhisperGraphs } from '../shared/graphs.ts';
import { LogMel } from '../shared/log-mel.ts';
import {
  compressionRatio,
  endsInLoop,
  mostTokens,
  quickTokens,
  repeatedAtEnd,
} from '../shared/loop-guard.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { TIMESTAMP_STEP_S, type WhisperTokenizer } from '../shared/tokenizer.ts';
import { type WindowSegment, windowSegments } from '../shared/window-segments.ts';
import { spreadWords } from '../timestamps/spread-words.ts';
import { wordTimes } from '../timestamps/word-times.ts';
import {
  type Attempt,
  best,
  type Fault,
  isNoSpeech,
  isWorthwhile,
  MIN_LOG_PROBABILITY,
  NO_SPEECH,
  type Plan,
  plansFor,
} from './decoding-attempt.ts';
import type { SpeechGate } from './speech-gate.ts';
import { LeavingText, lengthBefore } from './text-stream.ts';
import { likeliestOf, probabilityOf, TokenRules } from './token-rules.ts';
import { WindowAudio } from './window-audio.ts';

/** Decoder steps of one pass: long enough to be worth a message, short enough to share the process. */
const STEPS_PER_PASS = 8;
/** A text that compresses better repeats itself (openai/whisper, transcribe.py). */
const MAX_COMPRESSION = 2.4;
/** Characters of a prompt that are looked at: more than the model's half of tokens can hold. */
const PROMPT_CHARACTERS = 2_000;
/** Text of an attempt that is less likely than this so far is held until the attempt is judged. */
const DOUBTFUL_LOG_PROBABILITY = -0.7;
/** Less than this behind a text's end is the end of its last word. */
const MIN_REST_S = 1;
/** A window whose text ends sooner is not gone on from there: audio that confuses the model would be many windows. */
const MIN_HEARD_S = 1;
/** How much later than a soft onset the detector of speech may be. */
const ONSET_S = 0.5;
/** How sure the model must be that the speaker has changed the language. */
const LANGUAGE_CHANGE = 0.8;
/**
 * Tokens of the window before that are given as context: its last sentence. OpenAI gives 223; in five minutes of
 * speech 96 misheard as many words as 32 and took a tenth longer.
 */
const MAX_CARRIED = 32;
/** Above this temperature a text is too far from the audio to be continued (openai/whisper, transcribe.py). */
const MAX_TEMPERATURE_CARRIED = 0.5;
/** The same request gives the same text, sampled or not. */
const SEED = 20;

/** A window that is being decoded. */
interface Decoding {
  readonly request: WhisperRequest;
  readonly audio: WindowAudio;
  /** When somebody begins to speak. */
  readonly speechFromS: number;
  /** Spoken; ISO code. */
  readonly language: string;
  /** Written. */
  readonly textLanguage: string;
  /** Tokens of the caller's prompt. */
  readonly promptTokens: number;
  /** Tokens of the text before: the window before this one, or the caller's prompt. */
  readonly earlier: readonly number[];
  readonly noSpeechProbability: number;
  readonly text: LeavingText;
}

export interface WindowDecoderParts {
  readonly graphs: WhisperGraphs;
  readonly tokenizer: WhisperTokenizer;
  readonly gate: Pick<SpeechGate, 'speechFromS'>;
}

export class WindowDecoder {
  readonly #graphs: WhisperGraphs;
  readonly #tokenizer: WhisperTokenizer;
  readonly #rules: TokenRules;
  readonly #mel: LogMel;
  readonly #gate: Pick<SpeechGate, 'speechFromS'>;

  constructor({ graphs, tokenizer, gate }: WindowDecoderParts) {
    this.#gate = gate;
    this.#graphs = graphs;
    this.#tokenizer = tokenizer;
    this.#rules = new TokenRules(tokenizer.special, tokenizer.suppressed(), tokenizer.suppressedAtBegin());
    this.#mel = new LogMel(graphs.shape.melBands);
  }

  /** One pass for each `next()`: the encoder, then a few tokens at a time. */
  async *decode(request: WhisperRequest): AsyncGenerator<WhisperResult | null, void, undefined> {
    const speechFromS = await this.#gate.speechFromS(request.samples);
    if (speechFromS === undefined) {
      yield { kind: 'window', ...nothingSaid(request.language) };
      return;
    }
    const audio = new WindowAudio(this.#graphs, this.#mel, request.samples);
    await audio.encoded(false);
    yield null;

    const decoding = await this.#begin(request, audio, speechFromS);
    const attempts: Attempt[] = [];
    for (const plan of plansFor(request.temperature ?? 0)) {
      // Of a full window without context, the careful way is the way that has failed.
      const isSame = audio.isFull && decoding.earlier.length === 0;
      if (isSame && attempts.at(-1)?.plan.temperature === plan.temperature) continue;
      if (!isWorthwhile(plan, attempts.at(-1))) break;
      // A pass of its own: it may have to encode the window again.
      if (attempts.length > 0) yield null;
      const attempt = yield* this.#attempt(decoding, plan);
      if (isNoSpeech(attempt, decoding.noSpeechProbability)) {
        yield { kind: 'window', ...nothingSaid(request.language) };
        return;
      }
      attempts.push(attempt);
    }
    const attempt = best(attempts, decoding.text.left);
    const rest = decoding.text.finish(attempt.tokens);
    if (rest !== '') yield { kind: 'text', text: rest, language: decoding.textLanguage };
    yield { kind: 'window', ...(await this.#transcript(decoding, attempt)) };
  }

  /** What the first look at the audio tells: whether somebody speaks, and which language. */
  async #begin(request: WhisperRequest, audio: WindowAudio, speechFromS: number): Promise<Decoding> {
    const { special } = this.#tokenizer;
    const { logits } = await this.#graphs.step(await audio.encoded(false), [special.startOfTranscript]);
    const language = request.language ?? this.#detect(logits, request.likelyLanguage);
    const textLanguage = request.task === 'translate' ? 'en' : language;
    const promptTokens = this.#promptTokens(request.prompt);
    // Text of another language is no context.
    const isContinued = request.likelyLanguage === undefined || request.likelyLanguage === language;
    const previous = isContinued ? request.previous.slice(-MAX_CARRIED) : [];
    return {
      request,
      audio,
      speechFromS,
      language,
      textLanguage,
      promptTokens: promptTokens.length,
      earlier: previous.length > 0 ? previous : promptTokens,
      noSpeechProbability: probabilityOf(logits, special.noSpeech),
      text: new LeavingText(this.#tokenizer, textLanguage),
    };
  }

  /** Decodes the window once; gives text that may leave, a few tokens at a time. */
  async *#attempt(decoding: Decoding, plan: Plan): AsyncGenerator<WhisperResult | null, Attempt, undefined> {
    const { special } = this.#tokenizer;
    const { request, audio, text, textLanguage, noSpeechProbability } = decoding;
    const encoded = await audio.encoded(plan.careful);
    const tokens = [...text.left];
    const prompt = this.#prompt(
      decoding,
      plan.careful ? [] : decoding.earlier,
      request.timestamps !== 'none',
    );
    const options = {
      timestamps: request.timestamps !== 'none',
      latestTimestamp: special.timestampBegin + Math.floor(audio.durationS / TIMESTAMP_STEP_S),
      temperature: plan.temperature,
      random: seededRandom(SEED),
    };
    const longest = Math.min(
      mostTokens(audio.durationS),
      this.#graphs.shape.textPositions / 2 - 1,
      this.#graphs.shape.textPositions - prompt.length,
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
        return { plan, tokens, averageLogProbability: average, fault: this.#faultOf(tokens, average) };
      }
      tokens.push(token);
      const said = tokens.filter((each) => each < special.endOfText);
      const isLong = said.length > quickTokens(audio.durationS) || tokens.length >= longest;
      const isLoop = isLong && endsInLoop(said);
      if (isLoop || tokens.length >= longest) {
        const repeated = isLoop ? repeatedAtEnd(said) : 0;
        const length = Math.max(text.left.length, lengthBefore(tokens, repeated, special.endOfText));
        return { plan, tokens: tokens.slice(0, length), averageLogProbability: average, fault: 'loops' };
      }
      if (chosen % STEPS_PER_PASS === 0) {
        const held = noSpeechProbability > NO_SPEECH || average < DOUBTFUL_LOG_PROBABILITY;
        const more = held ? '' : text.leave(tokens);
        yield more === '' ? null : { kind: 'text', text: more, language: textLanguage };
      }
      step = await this.#graphs.step(encoded, [token], step.cache);
    }
  }

  /** @param tokens that ended by themselves, before they were more than could be said. */
  #faultOf(tokens: readonly number[], averageLogProbability: number): Fault | undefined {
    if (averageLogProbability < MIN_LOG_PROBABILITY) return 'unlikely';
    return compressionRatio(this.#tokenizer.decode(tokens)) > MAX_COMPRESSION ? 'repeats' : undefined;
  }

  /** What the decoder is told before the text: earlier text, language, task, whether times are wanted. */
  #prompt({ request, language }: Decoding, earlier: readonly number[], timestamps: boolean): number[] {
    const { special, languages } = this.#tokenizer;
    const prompt = earlier.length > 0 ? [special.startOfPrevious, ...earlier] : [];
    prompt.push(special.startOfTranscript);
    const languageToken = languages.get(language);
    if (languageToken !== undefined) prompt.push(languageToken, special[request.task]);
    if (!timestamps) prompt.push(special.noTimestamps);
    return prompt;
  }

  /** At most the half of the model's tokens, the end of the text (openai/whisper, decoding.py). */
  #promptTokens(prompt = ''): readonly number[] {
    const text = prompt.trim().slice(-PROMPT_CHARACTERS);
    const most = this.#graphs.shape.textPositions / 2 - 1;
    return text === '' ? [] : this.#tokenizer.encode(` ${text}`).slice(-most);
  }

  #detect(logits: Float32Array, before: string | undefined): string {
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
    if (endS < MIN_HEARD_S || rest.length < MIN_REST_S * LISTEN_RATE_HZ) return undefined;
    return (await this.#gate.speechFromS(rest)) === undefined ? undefined : endS;
  }

  async #transcript(decoding: Decoding, attempt: Attempt): Promise<WindowTranscript> {
    const { request, audio, language, promptTokens, noSpeechProbability } = decoding;
    const { plan, tokens, averageLogProbability, fault } = attempt;
    const text = tokens.filter((token) => token < this.#tokenizer.special.endOfText);
    const transcript = {
      heardS: await this.#heardS(tokens, request),
      language,
      carryOver: fault || plan.temperature > MAX_TEMPERATURE_CARRIED ? [] : text,
      promptTokens,
      outputTokens: text.length,
    };
    if (request.timestamps === 'none') return { ...transcript, segments: [], words: [] };
    const fromS = Math.max(0, decoding.speechFromS - ONSET_S);
    const segments = windowSegments(
      this.#tokenizer,
      tokens,
      { fromS, toS: audio.durationS },
      {
        temperature: plan.temperature,
        averageLogProbability,
        noSpeechProbability,
      },
    );
    if (request.timestamps === 'segment') return { ...transcript, segments, words: [] };
    const timed = await this.#timed(decoding, plan, segments, transcript.heardS ?? audio.durationS);
    return { ...transcript, ...timed };
  }

  /** Words with their times; the segments' own ends follow them where they can be told. */
  async #timed(
    decoding: Decoding,
    plan: Plan,
    segments: readonly WindowSegment[],
    durationS: number,
  ): Promise<Pick<WindowTranscript, 'segments' | 'words'>> {
    const { request, audio, textLanguage } = decoding;
    const prompt = this.#prompt(decoding, [], false);
    const attention = await this.#graphs.align(await audio.encoded(plan.careful), [
      ...prompt,
      ...segments.flatMap((each) => each.tokens),
    ]);
    if (attention === undefined) {
      return { segments, words: spreadWords(this.#tokenizer, segments, textLanguage) };
    }
    const timed = wordTimes(this.#tokenizer, {
      attention,
      firstRow: prompt.length - 1,
      segments,
      language: textLanguage,
      durationS,
      pauses: audio.pauses(),
      lastSpeechS: request.lastSpeechS,
    });
    return {
      segments: segments.map((segment, i) => ({
        ...segment,
        startS: timed[i]?.startS ?? segment.startS,
        endS: timed[i]?.endS ?? segment.endS,
      })),
      words: timed.flatMap((segment) => segment.words),
    };
  }
}

function nothingSaid(language: string | undefined): WindowTranscript {
  return { language, carryOver: [], promptTokens: 0, outputTokens: 0, segments: [], words: [] };
}
