/**
 * One reply of the assistant: the language model generates text, which is split into clauses and synthesized while more text is
 * generated. A reply can run before it is adopted by a response; until then nothing is reported and nothing is billed.
 */

import type { Caller } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { type Id, newId } from '../../contract/core/id.ts';
import type { ConversationModel } from '../../contract/engines/conversation.ts';
import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { FinishReason, TextRequest, TokenUsage } from '../../contract/engines/text.ts';
import { requireModel } from '../../contract/model-table.ts';
import type { Slots } from '../../contract/plugin.ts';
import { billedGeneration } from '../../generate/billed-generation.ts';
import { once } from '../../kit/async/once.ts';
import { PlaybackClock } from '../../kit/playback-clock.ts';
import { codePoints } from '../../kit/validation/code-points.ts';
import { billedSynthesis } from '../../speak/billed-synthesis.ts';
import { selectVoice, type VoiceLookup } from '../../speak/stored-voices.ts';
import { WordTimeline } from '../../speak/word-timeline.ts';
import { SpeechUsageMeter } from '../../usage/usage-meters.ts';
import { toErrorBody } from '../events/errors.ts';
import type { ErrorBody } from '../events/server-events.ts';
import type { ReplyLanguage, ResponseSettings } from '../settings.ts';
import type { ReplyEvent } from '../state/conversation-machine.ts';
import type { ReplyRequest } from '../state/reply-request.ts';
import { ClauseQueue } from './clause-queue.ts';
import { HeldCalls } from './held-calls.ts';
import { ReasoningFilter } from './reasoning-filter.ts';
import { ToolCalls } from './tool-calls.ts';

/** Length of the first audio of a reply in ms: shorter than the default, which sounds slightly better. */
const FIRST_AUDIO_MS = 500;
/** Maximum audio per event in ms. Short pieces keep the delay of a cancellation low. */
const MAX_PIECE_MS = 100;
/** Characters for which credits are reserved: per output token, and without a limit of tokens. */
const MAX_CHARACTERS_PER_TOKEN = 6;
const MAX_REPLY_CHARACTERS = 5_000;
const FIRST_TOKEN_TIMEOUT_MS = 20_000;
/** Fields of the session that name the voice and the language. */
const VOICE_PARAM = 'session.audio.output.voice';
const LANGUAGE_PARAM = 'session.audio.output.language';

export interface ReplyDeps extends Pick<Slots, 'text' | 'tts' | 'calls' | 'clock' | 'lexicons'> {
  readonly voices: VoiceLookup;
  readonly caller: Caller;
  readonly model: ConversationModel;
  /** Replaces the speech engine of the model for its default voice. */
  readonly fasterSpeech: TtsEngine | undefined;
  /** Maximum time until the first token in ms. Default: 20 s. */
  readonly firstTokenTimeoutMs?: number;
  /**
   * Resolves when the transport can take more audio.
   * @throws the reason of the signal after an abort.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Called for each event of an adopted reply, until it is stopped. */
  readonly report: (responseId: Id<'resp_'>, event: ReplyEvent) => void;
  /** Called once for an adopted reply. @param atMs monotonic time of the first token, which may precede the adoption. */
  readonly onFirstToken: (responseId: Id<'resp_'>, atMs: number) => void;
  /** Called with an error that fails the reply. */
  readonly onError: (error: unknown) => void;
}

export class Reply {
  readonly request: ReplyRequest;
  readonly #deps: ReplyDeps;
  readonly #signal: AbortSignal;
  readonly #calls: HeldCalls;
  readonly #adopted = Promise.withResolvers<void>();
  /** Events before the adoption. */
  #held: ReplyEvent[] = [];
  #responseId: Id<'resp_'> | undefined;
  #hasMessage = false;
  /** Monotonic time of the first token. */
  #firstTokenMs: number | undefined;

  /** @param signal stops the reply, which then reports nothing more. */
  constructor(request: ReplyRequest, deps: ReplyDeps, signal: AbortSignal) {
    this.request = request;
    this.#deps = deps;
    this.#signal = signal;
    this.#calls = new HeldCalls(deps.calls);
  }

  /** Generates the reply. Resolves at its end; never rejects. */
  async run(): Promise<void> {
    // A stopped reply must not wait for its adoption.
    const stopped = () => {
      this.#calls.drop();
      this.#adopted.resolve();
    };
    this.#signal.addEventListener('abort', stopped, { once: true });
    try {
      const { request } = this;
      if (request.kind === 'failure') await this.#fail(request.error, false);
      else if (request.settings.modality === 'audio') await this.#generateSpeech(request);
      else await this.#generateText(request);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#deps.onError(error);
      await this.#fail(toErrorBody(error), isOutOfCredits(error));
    } finally {
      this.#signal.removeEventListener('abort', stopped);
    }
  }

  /** Makes the reply that of a response: opens its calls, then reports its events, including the earlier ones. */
  async adopt(responseId: Id<'resp_'>): Promise<void> {
    try {
      await this.#calls.open();
    } catch (error) {
      this.#held = [];
      if (!this.#signal.aborted) {
        this.#deps.report(responseId, {
          kind: 'failed',
          error: toErrorBody(error),
          isFatal: isOutOfCredits(error),
        });
      }
      return;
    }
    this.#responseId = responseId;
    if (this.#firstTokenMs !== undefined) this.#deps.onFirstToken(responseId, this.#firstTokenMs);
    for (const event of this.#held.splice(0)) this.#report(event);
    this.#adopted.resolve();
  }

  async #generateText(request: ReplyRequest & { kind: 'generate' }): Promise<void> {
    const filter = new ReasoningFilter();
    const add = (text: string) => {
      if (text === '') return;
      this.#startMessage();
      this.#report({ kind: 'text', delta: text });
    };
    const result = await this.#generate(request, (text) => add(filter.push(text)), this.#signal);
    add(filter.end());
    this.#reportCalls(result, request.settings);
    this.#report(endOf(result, 0));
  }

  async #generateSpeech(request: ReplyRequest & { kind: 'generate' }): Promise<void> {
    const { settings } = request;
    const failed = new AbortController();
    const signal = AbortSignal.any([this.#signal, failed.signal]);
    const playback = new PlaybackClock();
    const clauses = new ClauseQueue({ aheadMs: () => playback.aheadMs(this.#deps.clock.monotonicMs()) });
    const filter = new ReasoningFilter();
    let speech: Promise<number> | undefined;
    const speakText = (text: string) => {
      if (!clauses.push(text) && speech === undefined) return;
      this.#startMessage();
      speech ??= this.#speak(clauses, settings, playback, signal);
      speech.catch((error: unknown) => failed.abort(error));
    };
    try {
      const result = await this.#generate(request, (text) => speakText(filter.push(text)), signal);
      speakText(filter.end());
      clauses.end();
      // Functions run while the rest of the message is spoken.
      this.#reportCalls(result, settings);
      this.#report(endOf(result, (await speech) ?? 0));
    } catch (error) {
      clauses.fail(error);
      failed.abort(error);
      await speech?.catch(() => undefined);
      throw failed.signal.reason ?? error;
    } finally {
      clauses.close();
    }
  }

  /** Runs the language model. Resolves with its result when it is complete and billed. */
  async #generate(
    { messages, settings }: ReplyRequest & { kind: 'generate' },
    onText: (text: string) => void,
    stop: AbortSignal,
  ): Promise<Generated> {
    const { text, caller, model, firstTokenTimeoutMs = FIRST_TOKEN_TIMEOUT_MS } = this.#deps;
    const engine = requireModel(text, model.llm);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooSlow()), firstTokenTimeoutMs);
    const signal = AbortSignal.any([stop, late.signal]);
    const calls = new ToolCalls();
    const { tools, toolChoice, parallelToolCalls, temperature, maxOutputTokens, reasoningEffort } = settings;
    const request: Omit<TextRequest, 'fairnessKey'> = {
      messages,
      tools,
      toolChoice,
      parallelToolCalls,
      reasoningEffort,
      stop: [],
      sampling: { temperature },
      maxTokens: maxOutputTokens,
      priority: 'realtime',
      output: { kind: 'text' },
    };
    try {
      const events = billedGeneration(
        { engine, model: model.llm, request, calls: this.#calls, caller },
        signal,
      );
      for await (const event of events) {
        clearTimeout(timer);
        this.#markFirstToken();
        if (event.kind === 'end') return { calls, reason: event.reason, tokens: event.tokens };
        if (event.kind === 'text' || event.kind === 'refusal') onText(event.text);
        else if (event.kind !== 'reasoning') calls.add(event);
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error('the engine ended without a final event');
  }

  /** Synthesizes clauses as they arrive. Resolves with the audio tokens. */
  async #speak(
    clauses: AsyncIterable<string>,
    settings: ResponseSettings,
    playback: PlaybackClock,
    signal: AbortSignal,
  ): Promise<number> {
    const { tts, voices, clock, lexicons, caller, model, fasterSpeech, ready } = this.#deps;
    const { outputFormat, speed, voice: voiceId, language, maxOutputTokens } = settings;
    const { encoding, rateHz } = outputFormat;
    const maxCharacters =
      maxOutputTokens === undefined ? MAX_REPLY_CHARACTERS : maxOutputTokens * MAX_CHARACTERS_PER_TOKEN;
    const meter = new SpeechUsageMeter({ characters: 0, maxCharacters, speed });
    const timeline = new WordTimeline({
      onWords: (words) => this.#report({ kind: 'clause', words, startMs: words[0]?.startMs ?? 0 }),
      onRetimed: (words) => this.#report({ kind: 'retimed', words }),
    });
    const audio = billedSynthesis(
      {
        calls: this.#calls,
        caller,
        model: model.tts,
        clock,
        lexicons,
        meter,
        encoding,
        playback,
        maxChunkMs: MAX_PIECE_MS,
        request: {
          text: clauses,
          speed,
          rateHz,
          priority: 'realtime',
          delivery: 'stream',
          fairnessKey: caller.keyId,
          firstAudioMs: FIRST_AUDIO_MS,
          onWords: (words) => timeline.addWords(words),
        },
        async selectVoice() {
          const own = requireModel(tts, model.tts);
          const tag = spokenTag(own, language);
          const hasFasterVoice =
            voiceId === undefined && (tag === undefined || fasterSpeech?.languageOf?.(tag));
          const engine = (hasFasterVoice && fasterSpeech) || own;
          const { organization } = caller;
          return {
            engine,
            ...(await selectVoice(voices, engine, {
              id: voiceId,
              model: model.tts,
              param: VOICE_PARAM,
              language: tag,
              languageParam: LANGUAGE_PARAM,
              organization,
            })),
          };
        },
        onSentence: (clause) => {
          meter.addCharacters(codePoints(clause));
          timeline.startClause(clause);
        },
        onChunk: (bytes) => {
          const lengthMs = (bytes.length * 1000) / (rateHz * (encoding === 'pcm16' ? 2 : 1));
          timeline.addAudio(lengthMs);
          this.#report({ kind: 'audio', audio: bytes, lengthMs });
        },
      },
      signal,
    );
    for await (const _ of audio) {
      await this.#adopted.promise;
      await ready(signal);
    }
    timeline.endClause();
    return meter.tokens.output;
  }

  /** Speaks the fallback message, unless a message has started, and fails the response. */
  async #fail(error: ErrorBody, isFatal: boolean): Promise<void> {
    const { fallbackMessage } = this.#deps.model;
    const { settings } = this.request;
    if (fallbackMessage !== undefined && settings.modality === 'audio' && !this.#hasMessage && !isFatal) {
      try {
        this.#startMessage();
        await this.#speak(once(fallbackMessage), settings, new PlaybackClock(), this.#signal);
      } catch (failure) {
        if (!this.#signal.aborted) this.#deps.onError(failure);
      }
    }
    this.#report({ kind: 'failed', error, isFatal });
  }

  #startMessage(): void {
    if (this.#hasMessage) return;
    this.#hasMessage = true;
    this.#report({ kind: 'message_started', itemId: newId('item_') });
  }

  #reportCalls({ calls, reason }: Generated, { tools }: ResponseSettings): void {
    // The last call may be incomplete.
    if (reason === 'length') return;
    for (const { id, name, arguments: args } of calls.complete(tools)) {
      this.#report({ kind: 'call', itemId: newId('item_'), callId: id, name, arguments: args });
    }
  }

  #report(event: ReplyEvent): void {
    if (this.#signal.aborted) return;
    if (this.#responseId === undefined) this.#held.push(event);
    else this.#deps.report(this.#responseId, event);
  }

  #markFirstToken(): void {
    if (this.#firstTokenMs !== undefined) return;
    this.#firstTokenMs = this.#deps.clock.monotonicMs();
    if (this.#responseId !== undefined) this.#deps.onFirstToken(this.#responseId, this.#firstTokenMs);
  }
}

/** Result of the language model. */
interface Generated {
  readonly calls: ToolCalls;
  readonly reason: FinishReason;
  readonly tokens: TokenUsage;
}

function endOf({ reason, tokens }: Generated, audioTokens: number): ReplyEvent {
  const ends = { length: 'max_output_tokens', content_filter: 'content_filter' } as const;
  const end = reason === 'length' || reason === 'content_filter' ? ends[reason] : 'completed';
  return { kind: 'ended', end, usage: { text: tokens, audioTokens } };
}

/** The language that an engine is asked to speak; undefined: that of the voice. */
function spokenTag(engine: TtsEngine, language: ReplyLanguage | undefined): string | undefined {
  if (language?.source !== 'transcription') return language?.tag;
  return engine.languageOf?.(language.tag);
}

function isOutOfCredits(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === 'insufficient_quota';
}

function tooSlow(): ServiceError {
  return new ServiceError('timeout', 'The language model did not respond in time.', {
    code: 'upstream_error',
  });
}
