/** The turns of the user: splits the audio, decides which speech is a turn and when it ends, and transcribes it. */

import type { Caller } from '../../contract/accounts/caller.ts';
import type { Id } from '../../contract/core/id.ts';
import { LISTEN_RATE_HZ } from '../../contract/engines/audio.ts';
import type { TranscriptionRequest, TranscriptPreview } from '../../contract/engines/engine.ts';
import type { TurnEndDetector } from '../../contract/engines/turn-end.ts';
import { requireModel } from '../../contract/model-table.ts';
import type { Slots } from '../../contract/plugin.ts';
import { once } from '../../kit/async/once.ts';
import { sampleBytes } from '../../listen/audio-format.ts';
import type { Turn, TurnTranscriptionEvent } from '../../listen/turn.ts';
import {
  type PauseEvent,
  type SegmentedTurn,
  type SegmenterEvent,
  TurnSegmenter,
} from '../../listen/turn-segmenter.ts';
import { Turns } from '../../listen/turns.ts';
import { toErrorBody } from '../events/errors.ts';
import type { TranscriptionUsage } from '../events/server-events.ts';
import type { Playback } from '../playback.ts';
import { type ConversationSettings, MAX_BUFFERED_BYTES } from '../settings.ts';
import type { Event } from '../state/conversation-machine.ts';
import { isEchoOf, repeatsSpeech } from './echo.ts';
import { ECHO_TAIL_MS, guardDecision, PROBE_MS } from './interruption-guard.ts';
import { type SpeechContent, speechContent } from './speech-content.ts';
import { PAUSE_MARKS_MS, TurnEnd } from './turn-end.ts';
import { TurnGate } from './turn-gate.ts';
import { endsInsideValue } from './unfinished-value.ts';

/** Speech (samples) and playback (ms) that are compared to recognize an echo. */
const ECHO_SPEECH_SAMPLES = 0.8 * LISTEN_RATE_HZ;
const ECHO_PLAYBACK_MS = 2_500;
/** Words that may come back as an echo were played in this time before, in ms. */
const ECHO_WORDS_MS = 4_000;
/** Audio of a turn that decides about its end and about an interruption, in seconds. The turn-end detector uses 8 s. */
const RECENT_AUDIO_S = 10;

/** Events of the turns of the user. */
export type UserEvent =
  | Omit<Extract<Event, { kind: 'speech_started' }>, 'unplayedMs'>
  | Extract<
      Event,
      {
        kind:
          | 'speech_stopped'
          | 'turn_committed'
          | 'turn_dropped'
          | 'detector_failed'
          | 'transcript_delta'
          | 'transcript_completed'
          | 'transcript_failed';
      }
    >;

export interface UserTurnsDeps extends Pick<Slots, 'vad' | 'stt' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Id of the transcription model. */
  readonly model: string;
  /** Undefined: only silence ends a turn. */
  readonly turnEnd: TurnEndDetector | undefined;
  /** Whether speech during the assistant's speech is examined before it counts as an interruption. */
  readonly guardsInterruptions: boolean;
  readonly playback: Playback;
  /** Speech of the assistant that would be interrupted, in ms: infinite while it is generated; 0: nothing. */
  readonly interruptibleMs: () => number;
  /** Called in order. */
  readonly report: (event: UserEvent) => void;
  /** The transcript of a turn if it ends in its present pause. */
  readonly onPreview: (itemId: Id<'item_'>, transcript: string) => void;
  /** The last preview is wrong: speech continues, or the turn is dropped. */
  readonly onPreviewRevoked: () => void;
  /** A turn is over. @param speechEndMs monotonic time of the end of its speech, or of the commit of the client. */
  readonly onTurnEnd: (itemId: Id<'item_'>, speechEndMs: number) => void;
}

/** A turn that may not be an interruption. Its events are held until it is accepted. */
interface Candidate {
  readonly itemId: Id<'item_'>;
  content: SpeechContent | undefined;
  isEcho: boolean;
  hasEnded: boolean;
  /** Position in the received audio at which its words are examined next, in ms. */
  nextProbeMs: number;
  /** Stops the examination in progress; undefined: none is. */
  probe: AbortController | undefined;
}

export class UserTurns {
  readonly #deps: UserTurnsDeps;
  readonly #segmenter: TurnSegmenter;
  readonly #turns: Turns;
  readonly #turnEnd: TurnEnd | undefined;
  readonly #candidates = new Map<string, Candidate>();
  readonly #gate: TurnGate<UserEvent>;
  #settings: ConversationSettings;
  #receivedMs = 0;

  constructor(deps: UserTurnsDeps, settings: ConversationSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#gate = new TurnGate(deps.report);
    this.#segmenter = new TurnSegmenter({
      vad: deps.vad,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
      report: (event) => this.#segmented(event),
      pauses: { marksMs: PAUSE_MARKS_MS, report: (event) => this.#paused(event) },
      recentAudioS: RECENT_AUDIO_S,
    });
    this.#turns = new Turns({
      ...deps,
      report: (event) => this.#transcribed(event),
      onPreview: (itemId, preview) => this.#previewed(itemId, preview),
    });
    const { turnEnd: detector } = deps;
    this.#turnEnd =
      detector &&
      new TurnEnd({
        detector,
        hasTranscripts: requireModel(deps.stt, deps.model).hasPreviews,
        ended: (itemId) => this.#segmenter.endPausedTurn(itemId as Id<'item_'>),
        failed: (error) => this.#logError('end-of-turn detection failed', error),
      });
    this.configure(settings);
  }

  /** Received audio in ms. */
  get receivedMs(): number {
    return this.#receivedMs;
  }

  /** Audio that is not committed yet, in ms. */
  get bufferedMs(): number {
    return this.#durationMs(this.#segmenter.bufferedBytes);
  }

  configure(settings: ConversationSettings): void {
    this.#settings = settings;
    this.#segmenter.configure(settings.inputFormat, settings.turnDetection?.vad);
  }

  /** Appends audio in the input format. Returns false, without effect, if a buffer is full. */
  append(bytes: Uint8Array): boolean {
    if (this.#turns.pendingBytes > MAX_BUFFERED_BYTES || !this.#segmenter.append(bytes)) return false;
    this.#receivedMs += this.#durationMs(bytes.length);
    this.#examineSpeech();
    return true;
  }

  /** Ends the turn of the client. Returns false if nothing is buffered. */
  commit(): boolean {
    // The client says that the audio is a turn.
    for (const candidate of [...this.#candidates.values()]) if (!candidate.hasEnded) this.#accept(candidate);
    return this.#segmenter.commit();
  }

  clear(): void {
    this.#segmenter.clear();
  }

  /** Transcribes and bills a reported turn. */
  transcribe(itemId: Id<'item_'>): void {
    const turn = this.#turns.get(itemId);
    void turn?.confirm();
    turn?.start();
  }

  /** Accepts no more audio. Reported turns are still transcribed. Idempotent. */
  stop(): void {
    this.#segmenter.close();
    this.#turnEnd?.over();
    for (const candidate of [...this.#candidates.values()]) this.#reject(candidate);
  }

  /** Stops everything. Resolves when the engines are released and the usage rows are stored. */
  async close(): Promise<void> {
    this.stop();
    await this.#turns.close();
  }

  #segmented(event: SegmenterEvent): void {
    switch (event.kind) {
      case 'speech_started':
        this.#startTurn(event.turn, event.audioStartMs);
        break;
      case 'speech_stopped': {
        const { clock, onTurnEnd } = this.#deps;
        this.#turnEnd?.over();
        const { kind, itemId, audioEndMs, speechEndMs } = event;
        onTurnEnd(itemId, clock.monotonicMs() - Math.max(0, this.#receivedMs - speechEndMs));
        this.#gate.add(itemId, { kind, itemId, audioEndMs });
        break;
      }
      case 'committed':
        this.#commitTurn(event.turn);
        break;
      case 'dropped':
        this.#drop(event.itemId);
        break;
      case 'detector_failed':
        this.#logError('voice activity detection failed', event.error);
        this.#deps.report({ kind: 'detector_failed', error: toErrorBody(event.error) });
        break;
      default:
        event satisfies never;
    }
  }

  #startTurn(turn: SegmentedTurn, audioStartMs: number): void {
    const { itemId } = turn;
    // The transcription runs while the user speaks.
    this.#add(turn).start();
    const isCandidate = this.#mayNotInterrupt();
    if (isCandidate) {
      const nextProbeMs = this.#receivedMs + PROBE_MS;
      const unknown = { content: undefined, isEcho: false, hasEnded: false } as const;
      this.#candidates.set(itemId, { itemId, ...unknown, nextProbeMs, probe: undefined });
    }
    this.#gate.start(itemId, !isCandidate);
    this.#gate.add(itemId, { kind: 'speech_started', itemId, audioStartMs });
  }

  /** Whether speech that starts now may be something else than an interruption. */
  #mayNotInterrupt(): boolean {
    const { guardsInterruptions, interruptibleMs, playback } = this.#deps;
    if (!guardsInterruptions) return false;
    return interruptibleMs() > 0 || playback.silentMs < ECHO_TAIL_MS;
  }

  #commitTurn(turn: SegmentedTurn): void {
    const { itemId } = turn;
    const isDetected = this.#turns.get(itemId) !== undefined;
    if (!isDetected) {
      this.#add(turn);
      this.#deps.onTurnEnd(itemId, this.#deps.clock.monotonicMs());
    }
    this.#gate.add(itemId, { kind: 'turn_committed', itemId, isDetected });
    this.#gate.end(itemId);
    const candidate = this.#candidates.get(itemId);
    if (candidate === undefined) return;
    candidate.hasEnded = true;
    this.#decide(candidate);
  }

  /** A turn was cleared. */
  #drop(itemId: Id<'item_'>): void {
    this.#turnEnd?.over();
    const candidate = this.#candidates.get(itemId);
    if (candidate !== undefined) {
      this.#reject(candidate);
      return;
    }
    this.#stopTranscription(itemId);
    this.#gate.add(itemId, { kind: 'turn_dropped', itemId });
    this.#gate.end(itemId);
  }

  #stopTranscription(itemId: Id<'item_'>): void {
    this.#turns.get(itemId)?.stop();
    this.#deps.onPreviewRevoked();
  }

  /** A turn keeps the settings of the time at which it was added. */
  #add(turn: SegmentedTurn): Turn {
    const { transcription, includesLogprobs: textTokens } = this.#settings;
    const { model } = this.#deps;
    return this.#turns.add(turn, { ...transcription, model, task: 'transcribe', textTokens });
  }

  #paused(event: PauseEvent): void {
    const { itemId } = event;
    if (event.kind === 'resumed') {
      this.#turnEnd?.over();
      this.#deps.onPreviewRevoked();
      return;
    }
    const { turnDetection } = this.#settings;
    if (turnDetection?.type !== 'semantic_vad') return;
    this.#turnEnd?.paused(itemId, event.pauseMs, turnDetection.eagerness, this.#segmenter.recentAudio());
  }

  #transcribed(event: TurnTranscriptionEvent): void {
    const { itemId } = event;
    switch (event.kind) {
      case 'delta':
        this.#deps.report({ ...event, kind: 'transcript_delta' });
        break;
      case 'completed': {
        const { audio, text, output } = event.tokens;
        const usage: TranscriptionUsage = {
          type: 'tokens',
          total_tokens: audio + text + output,
          input_tokens: audio + text,
          output_tokens: output,
          input_token_details: { text_tokens: text, audio_tokens: audio },
        };
        const { transcript, textTokens } = event;
        this.#deps.report({ kind: 'transcript_completed', itemId, transcript, textTokens, usage });
        break;
      }
      case 'failed': {
        const error = toErrorBody(event.error);
        const isFatal = error.type === 'insufficient_quota';
        this.#deps.report({ kind: 'transcript_failed', itemId, error, isFatal });
        break;
      }
      default:
        event satisfies never;
    }
  }

  #previewed(itemId: Id<'item_'>, preview: TranscriptPreview | undefined): void {
    const candidate = this.#candidates.get(itemId);
    if (candidate !== undefined) {
      if (preview === undefined) this.#accept(candidate);
      else this.#examined(candidate, preview.text);
    }
    const isTurn = this.#turns.get(itemId) !== undefined && !this.#candidates.has(itemId);
    if (preview === undefined || !isTurn) return;
    // The preparation precedes the end of the turn, which uses it.
    const { text, sentenceEnd } = preview;
    this.#deps.onPreview(itemId, text);
    this.#turnEnd?.transcribed({ sentenceEnd, isInsideValue: endsInsideValue(text) });
  }

  // Speech that may be an interruption.

  /** Examines the words of long speech before its first pause. */
  #examineSpeech(): void {
    for (const candidate of this.#candidates.values()) {
      const isDue = this.#receivedMs >= candidate.nextProbeMs;
      if (candidate.hasEnded || candidate.probe !== undefined || !isDue) continue;
      candidate.nextProbeMs = this.#receivedMs + PROBE_MS;
      candidate.probe = new AbortController();
      void this.#probe(candidate, candidate.probe.signal);
    }
  }

  async #probe(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const audio = this.#segmenter.recentAudio();
    const { stt, model, caller } = this.#deps;
    const request: TranscriptionRequest = {
      ...this.#settings.transcription,
      task: 'transcribe',
      timestamps: 'none',
      priority: 'realtime',
      fairnessKey: caller.keyId,
    };
    let transcript = '';
    try {
      for await (const event of requireModel(stt, model).transcribe(once(audio), request, signal)) {
        if (event.kind === 'delta') transcript += event.text;
      }
      if (!signal.aborted) this.#examined(candidate, transcript);
    } catch (error) {
      if (signal.aborted) return;
      this.#logError('transcription failed', error);
      this.#accept(candidate);
    } finally {
      candidate.probe = undefined;
    }
  }

  #examined(candidate: Candidate, transcript: string): void {
    if (this.#candidates.get(candidate.itemId) !== candidate) return;
    candidate.content = speechContent(transcript);
    candidate.isEcho = candidate.content !== 'none' && this.#isEcho(transcript, candidate);
    this.#decide(candidate);
  }

  #isEcho(transcript: string, { hasEnded, isEcho }: Candidate): boolean {
    const { playback } = this.#deps;
    if (repeatsSpeech(transcript, playback.recentText(ECHO_WORDS_MS))) return true;
    if (hasEnded) return isEcho;
    const speech = this.#segmenter.recentAudio().slice(-ECHO_SPEECH_SAMPLES);
    return isEchoOf(speech, playback.recentAudio(ECHO_PLAYBACK_MS));
  }

  #decide(candidate: Candidate): void {
    const decision = guardDecision({ ...candidate, remainingMs: this.#deps.interruptibleMs() });
    if (decision === 'accept') this.#accept(candidate);
    else if (decision === 'reject') this.#reject(candidate);
  }

  #accept({ itemId, probe }: Candidate): void {
    probe?.abort();
    if (this.#candidates.delete(itemId)) this.#gate.open(itemId);
  }

  #reject({ itemId, probe }: Candidate): void {
    probe?.abort();
    if (!this.#candidates.delete(itemId)) return;
    this.#gate.drop(itemId);
    this.#stopTranscription(itemId);
  }

  #durationMs(bytes: number): number {
    const { inputFormat } = this.#settings;
    return (bytes * 1000) / (sampleBytes(inputFormat) * inputFormat.rateHz);
  }

  #logError(message: string, error: unknown): void {
    this.#deps.log.error(message, error, { request_id: this.#deps.caller.requestId });
  }
}
