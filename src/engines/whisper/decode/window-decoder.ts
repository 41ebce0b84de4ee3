/**
 * Transcribes one window of at most 30 s: computes the spectrogram, runs the encoder, and decodes token by token. As in
 * openai/whisper (`transcribe.py`, decode_with_fallback), repetitive or unlikely text is decoded again with a higher
 * temperature.
 *
 * Text is emitted during decoding and is final. Text that may be a loop or silence is buffered until the attempt is
 * complete, and a later attempt continues after the emitted text.
 */

import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { keywordList } from '../../../kit/text/keyword-list.ts';
import type { WhisperGraphs } from '../shared/graphs.ts';
import { LogMel } from '../shared/log-mel.ts';
import {
  compressionRatio,
  endsInLoop,
  fastSpeechTokens,
  maxSpeechTokens,
  repeatedAtEnd,
} from '../shared/loop-guard.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { TIMESTAMP_STEP_S, type WhisperTokenizer } from '../shared/tokenizer.ts';
import { type WindowSegment, windowSegments } from '../shared/window-segments.ts';
import { spreadWords } from '../timestamps/spread-words.ts';
import { wordTimes } from '../timestamps/word-times.ts';
import {
  type Attempt,
  type AttemptIssue,
  isNoSpeech,
  isWorthwhile,
  MIN_LOG_PROBABILITY,
  NO_SPEECH,
  type Plan,
  plansFor,
  selectAttempt,
} from './decoding-attempt.ts';
import { FINAL_MARKS, SentenceEnd } from './sentence-end.ts';
import type { SpeechGate } from './speech-gate.ts';
import { EmittedText, firstOf, lengthBefore } from './text-stream.ts';
import { likeliestOf, probabilityOf, TokenRules } from './token-rules.ts';
import { WindowAudio } from './window-audio.ts';

/** Tokens per inference step: enough to amortize the message, few enough to share the process. */
const TOKENS_PER_STEP = 8;
/** Compression ratio above which a text is repetitive (openai/whisper, transcribe.py). */
const MAX_COMPRESSION = 2.4;
/** Number of characters of a prompt that are encoded: more than half of the model's tokens can contain. */
const PROMPT_CHARACTERS = 2_000;
/** Average log probability of an attempt below which its text is buffered until the attempt is complete. */
const DOUBTFUL_LOG_PROBABILITY = -0.7;
/** Minimum duration of audio after the end of the text that is checked for speech. Less is the end of the last word. */
const MIN_REST_S = 1;
/**
 * Minimum duration of text after which the next window may start. A lower value would split audio that confuses the model
 * into many windows.
 */
const MIN_TRANSCRIBED_S = 1;
/** Maximum lag of the speech detector after a soft onset. */
const ONSET_S = 0.5;
/** Minimum probability of a change of the language. */
const LANGUAGE_CHANGE = 0.8;
/**
 * Maximum number of tokens of the previous window that are used as context: its last sentence. openai/whisper uses 223. In
 * five minutes of speech, 96 tokens caused as many word errors as 32 and took 10 % longer.
 */
const MAX_CONTEXT_TOKENS = 32;
/** Maximum temperature of a text that is used as context (openai/whisper, transcribe.py). */
const MAX_CONTEXT_TEMPERATURE = 0.5;
/** Fixed seed, so that equal requests give equal texts. */
const SEED = 20;

/** State of the decoding of a window. */
interface Decoding {
  readonly request: WhisperRequest;
  readonly audio: WindowAudio;
  /** Start of speech, in seconds of the window. */
  readonly speechStartS: number;
  /** ISO code of the spoken language. */
  readonly language: string;
  /** ISO code of the language of the text. */
  readonly textLanguage: string;
  /** Number of tokens of the caller's prompt and keywords. */
  readonly promptTokens: number;
  /** Tokens of the keywords, and of the preceding text: of the previous window, or of the caller's prompt. */
  readonly context: readonly number[];
  readonly noSpeechProbability: number;
  readonly text: EmittedText;
}

export interface WindowDecoderDeps {
  readonly graphs: WhisperGraphs;
  readonly tokenizer: WhisperTokenizer;
  readonly gate: Pick<SpeechGate, 'speechStartS'>;
}

export class WindowDecoder {
  readonly #graphs: WhisperGraphs;
  readonly #tokenizer: WhisperTokenizer;
  readonly #rules: TokenRules;
  readonly #mel: LogMel;
  readonly #gate: Pick<SpeechGate, 'speechStartS'>;
  readonly #finalMarks: readonly number[];

  constructor({ graphs, tokenizer, gate }: WindowDecoderDeps) {
    this.#gate = gate;
    this.#graphs = graphs;
    this.#tokenizer = tokenizer;
    this.#rules = new TokenRules(tokenizer.special, tokenizer.suppressed(), tokenizer.suppressedAtStart());
    this.#mel = new LogMel(graphs.shape.melBands);
    this.#finalMarks = FINAL_MARKS.flatMap((mark) => {
      const tokens = tokenizer.encode(mark);
      return tokens.length === 1 ? tokens : [];
    });
  }

  /** Decodes a window. Each `next()` is one inference step: first the encoder, then a few tokens. */
  async *decode(request: WhisperRequest): AsyncGenerator<WhisperResult | null, void, undefined> {
    const speechStartS = await this.#gate.speechStartS(request.samples);
    if (speechStartS === undefined) {
      yield { kind: 'window', ...emptyTranscript(request.language) };
      return;
    }
    const audio = new WindowAudio(this.#graphs, this.#mel, request.samples);
    await audio.encoded(false);
    yield null;

    const decoding = await this.#startDecoding(request, audio, speechStartS);
    const attempts: Attempt[] = [];
    for (const plan of plansFor(request.temperature ?? 0)) {
      // For a full window without context, a careful attempt equals the failed one.
      const isSame = audio.isFull && decoding.context.length === 0;
      if (isSame && attempts.at(-1)?.plan.temperature === plan.temperature) continue;
      if (!isWorthwhile(plan, attempts.at(-1))) break;
      // A separate inference step, because the attempt may encode the window again.
      if (attempts.length > 0) yield null;
      const attempt = yield* this.#attempt(decoding, plan);
      if (isNoSpeech(attempt, decoding.noSpeechProbability)) {
        yield { kind: 'window', ...emptyTranscript(request.language) };
        return;
      }
      attempts.push(attempt);
    }
    const attempt = selectAttempt(attempts, decoding.text.emitted.tokens);
    const rest = decoding.text.finish(attempt);
    if (rest.text !== '') yield { kind: 'text', ...rest, language: decoding.textLanguage };
    yield { kind: 'window', ...(await this.#transcript(decoding, attempt)) };
  }

  /** Runs the first decoder step, which gives the language and the no-speech probability. */
  async #startDecoding(request: WhisperRequest, audio: WindowAudio, speechStartS: number): Promise<Decoding> {
    const { special } = this.#tokenizer;
    const { logits } = await this.#graphs.step(await audio.encoded(false), [special.startOfTranscript]);
    const language = request.language ?? this.#detectLanguage(logits, request);
    const textLanguage = request.task === 'translate' ? 'en' : language;
    const promptTokens = this.#promptTokens(request.prompt);
    const keywords = this.#keywordTokens(request.keywords);
    // Text in another language is not used as context.
    const isContinued = request.likelyLanguage === undefined || request.likelyLanguage === language;
    const previous = isContinued ? request.previous.slice(-MAX_CONTEXT_TOKENS) : [];
    return {
      request,
      audio,
      speechStartS,
      language,
      textLanguage,
      promptTokens: promptTokens.length + keywords.length,
      context: this.#context(keywords, previous.length > 0 ? previous : promptTokens),
      noSpeechProbability: probabilityOf(logits, special.noSpeech),
      text: new EmittedText(this.#tokenizer, textLanguage, request.textTokens ?? false),
    };
  }

  /** Decodes the window once. Yields the emitted text after every few tokens. */
  async *#attempt(decoding: Decoding, plan: Plan): AsyncGenerator<WhisperResult | null, Attempt, undefined> {
    const { special } = this.#tokenizer;
    const { request, audio, text, textLanguage, noSpeechProbability } = decoding;
    const encoded = await audio.encoded(plan.careful);
    const tokens = [...text.emitted.tokens];
    const logProbabilities = [...text.emitted.logProbabilities];
    const prompt = this.#prompt(
      decoding,
      plan.careful ? [] : decoding.context,
      request.timestamps !== 'none',
    );
    const options = {
      timestamps: request.timestamps !== 'none',
      latestTimestamp: special.timestampBegin + Math.floor(audio.durationS / TIMESTAMP_STEP_S),
      temperature: plan.temperature,
      random: seededRandom(SEED),
    };
    const maxLength = Math.min(
      maxSpeechTokens(audio.durationS),
      this.#maxContextTokens,
      this.#graphs.shape.textPositions - prompt.length,
    );
    let step = await this.#graphs.step(encoded, [...prompt, ...tokens]);
    const sentenceEnd = new SentenceEnd(this.#finalMarks);
    let sum = 0;
    let chosen = 0;
    for (;;) {
      const { token, logProbability } = this.#rules.choose(step.logits, tokens, options);
      sentenceEnd.add(token, logProbability, step.logits);
      sum += logProbability;
      chosen += 1;
      const average = sum / chosen;
      if (token === special.endOfText) {
        return {
          plan,
          tokens,
          logProbabilities,
          averageLogProbability: average,
          issue: this.#issueOf(tokens, average),
          sentenceEnd: sentenceEnd.probability,
        };
      }
      tokens.push(token);
      logProbabilities.push(logProbability);
      const textTokens = tokens.filter((each) => each < special.endOfText);
      const isLong = textTokens.length > fastSpeechTokens(audio.durationS) || tokens.length >= maxLength;
      const isLoop = isLong && endsInLoop(textTokens);
      if (isLoop || tokens.length >= maxLength) {
        const repeated = isLoop ? repeatedAtEnd(textTokens) : 0;
        const length = Math.max(
          text.emitted.tokens.length,
          lengthBefore(tokens, repeated, special.endOfText),
        );
        return {
          plan,
          ...firstOf({ tokens, logProbabilities }, length),
          averageLogProbability: average,
          issue: 'loops',
          sentenceEnd: 0,
        };
      }
      if (chosen % TOKENS_PER_STEP === 0) {
        const isDoubtful = noSpeechProbability > NO_SPEECH || average < DOUBTFUL_LOG_PROBABILITY;
        const delta = isDoubtful ? undefined : text.emit({ tokens, logProbabilities });
        yield delta?.text ? { kind: 'text', ...delta, language: textLanguage } : null;
      }
      step = await this.#graphs.step(encoded, [token], step.cache);
    }
  }

  /** Returns the issue of a complete text. @param tokens of an attempt that reached the end of text. */
  #issueOf(tokens: readonly number[], averageLogProbability: number): AttemptIssue | undefined {
    if (averageLogProbability < MIN_LOG_PROBABILITY) return 'unlikely';
    return compressionRatio(this.#tokenizer.decode(tokens)) > MAX_COMPRESSION ? 'repeats' : undefined;
  }

  /** Returns the prompt of the decoder: context, language, task, and whether timestamps are requested. */
  #prompt({ request, language }: Decoding, context: readonly number[], timestamps: boolean): number[] {
    const { special, languages } = this.#tokenizer;
    const prompt = context.length > 0 ? [special.startOfPrevious, ...context] : [];
    prompt.push(special.startOfTranscript);
    const languageToken = languages.get(language);
    if (languageToken !== undefined) prompt.push(languageToken, special[request.task]);
    if (!timestamps) prompt.push(special.noTimestamps);
    return prompt;
  }

  /** Encodes the end of the caller's prompt. */
  #promptTokens(prompt = ''): readonly number[] {
    const text = prompt.trim().slice(-PROMPT_CHARACTERS);
    return text === '' ? [] : this.#tokenizer.encode(` ${text}`).slice(-this.#maxContextTokens);
  }

  /** Encodes the keywords, as many as fit next to the text of the previous window. */
  #keywordTokens(keywords: readonly string[] | undefined): readonly number[] {
    const text = keywordList(keywords).slice(0, PROMPT_CHARACTERS);
    if (text === '') return [];
    return this.#tokenizer.encode(` ${text}`).slice(0, this.#maxContextTokens - MAX_CONTEXT_TOKENS);
  }

  /** Joins the keywords and the end of the preceding text. */
  #context(keywords: readonly number[], preceding: readonly number[]): readonly number[] {
    const length = Math.min(preceding.length, this.#maxContextTokens - keywords.length);
    return [...keywords, ...preceding.slice(preceding.length - length)];
  }

  /** Half of the tokens of the model (openai/whisper, decoding.py). */
  get #maxContextTokens(): number {
    return this.#graphs.shape.textPositions / 2 - 1;
  }

  /** Returns the likeliest language among those of the request. */
  #detectLanguage(logits: Float32Array, { languages, likelyLanguage: before }: WhisperRequest): string {
    const tokenizer = this.#tokenizer;
    if (!tokenizer.multilingual) return 'en';
    const candidates = languages?.flatMap((code) => tokenizer.languages.get(code) ?? []);
    const { token, probability } = likeliestOf(logits, candidates ?? tokenizer.languages.values());
    if (before !== undefined && probability < LANGUAGE_CHANGE) return before;
    return tokenizer.languageOf(token) ?? 'en';
  }

  /** Returns the end of the text if it ends with a timestamp and speech follows; otherwise undefined. */
  async #transcribedS(tokens: readonly number[], { samples }: WhisperRequest): Promise<number | undefined> {
    const endS = this.#tokenizer.timeS(tokens.at(-1) ?? 0) ?? 0;
    const rest = samples.subarray(Math.round(endS * LISTEN_RATE_HZ));
    if (endS < MIN_TRANSCRIBED_S || rest.length < MIN_REST_S * LISTEN_RATE_HZ) return undefined;
    return (await this.#gate.speechStartS(rest)) === undefined ? undefined : endS;
  }

  async #transcript(decoding: Decoding, attempt: Attempt): Promise<WindowTranscript> {
    const { request, audio, language, promptTokens, noSpeechProbability } = decoding;
    const { plan, tokens, averageLogProbability, issue } = attempt;
    const text = tokens.filter((token) => token < this.#tokenizer.special.endOfText);
    const transcript = {
      transcribedS: await this.#transcribedS(tokens, request),
      language,
      carryOver: issue || plan.temperature > MAX_CONTEXT_TEMPERATURE ? [] : text,
      promptTokens,
      outputTokens: text.length,
      sentenceEnd: attempt.sentenceEnd,
    };
    if (request.timestamps === 'none') return { ...transcript, segments: [], words: [] };
    const fromS = Math.max(0, decoding.speechStartS - ONSET_S);
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
    const timed = await this.#alignWords(
      decoding,
      plan,
      segments,
      transcript.transcribedS ?? audio.durationS,
    );
    return { ...transcript, ...timed };
  }

  /** Returns the words with their times, and the segments with times adjusted to the words if an alignment exists. */
  async #alignWords(
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

function emptyTranscript(language: string | undefined): WindowTranscript {
  return {
    language,
    carryOver: [],
    promptTokens: 0,
    outputTokens: 0,
    segments: [],
    words: [],
    sentenceEnd: 0,
  };
}
