/** Splits incoming audio into turns. `turn-machine.ts` decides; this class performs the effects. */

import { type Id, newId } from '../contract/core/id.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { VadEngine, VadEvent, VadSettings } from '../contract/engines/engine.ts';
import { MachineRunner } from '../kit/async/machine-runner.ts';
import { type AudioFormat, sameFormat } from './audio-format.ts';
import { type DetectionTiming, detectionTiming, listenSamples, sameDetection } from './detection-timing.ts';
import { DetectorFeed } from './detector-feed.ts';
import { InputBuffer } from './input-buffer.ts';
import { RecentAudio } from './recent-audio.ts';
import { TurnAudio } from './turn-audio.ts';
import { initial, next, type TurnEffect, type TurnEvent, type TurnState } from './turn-machine.ts';

/** A stretch of audio that is transcribed as a unit: detected speech, or audio committed by the client. */
export interface SegmentedTurn {
  readonly itemId: Id<'item_'>;
  readonly audio: TurnAudio;
}

/**
 * Events in order. Positions are in ms of all audio since the segmenter was created, across formats and
 * turns.
 */
export type SegmenterEvent =
  /**
   * The detector found speech. The turn starts here, including its prefix padding; its audio is still
   * arriving.
   */
  | { readonly kind: 'speech_started'; readonly turn: SegmentedTurn; readonly audioStartMs: number }
  /** The turn ended, usually after the configured silence. `committed` follows immediately. */
  | {
      readonly kind: 'speech_stopped';
      readonly itemId: Id<'item_'>;
      /** End of the audio of the turn. */
      readonly audioEndMs: number;
      /** End of its speech, before the silence that ended the turn. */
      readonly speechEndMs: number;
    }
  /** The audio of the turn is complete. */
  | { readonly kind: 'committed'; readonly turn: SegmentedTurn }
  /** A started turn was cleared. Its reader throws `TurnDroppedError`. */
  | { readonly kind: 'dropped'; readonly itemId: Id<'item_'> }
  /** The detector failed. Reported once until it processes audio again. An active turn has been committed. */
  | { readonly kind: 'detector_failed'; readonly error: unknown };

/** Events of pauses inside a turn, in order with the other events. */
export type PauseEvent =
  /** A pause has reached a length. */
  | { readonly kind: 'paused'; readonly itemId: Id<'item_'>; readonly pauseMs: number }
  /** Speech continues after a pause of any length. */
  | { readonly kind: 'resumed'; readonly itemId: Id<'item_'> };

/** Observer of the pauses inside turns. */
export interface PauseObserver {
  /** Lengths in ms, ascending, at which a pause is reported. */
  readonly marksMs: readonly number[];
  readonly report: (event: PauseEvent) => void;
}

export interface TurnSegmenterDeps {
  readonly vad: VadEngine;
  /** Maximum number of buffered bytes between commits. */
  readonly maxBufferedBytes: number;
  /** A detected turn with this much audio (s) ends at its next pause of any length. Default: no limit. */
  readonly softMaxTurnS?: number;
  readonly pauses?: PauseObserver;
  /** Seconds of audio that are retained for {@link TurnSegmenter.recentAudio}. Default: 0. */
  readonly recentAudioS?: number;
  /** Called for each event, before the call that caused it returns. */
  readonly report: (event: SegmenterEvent) => void;
}

/** A turn whose audio is arriving. Positions refer to the buffer. */
interface ActiveTurn {
  readonly turn: SegmentedTurn;
  readonly startSample: number;
  /** Position up to which audio was delivered to the reader. */
  deliveredSample: number;
  /** Position up to which audio may be delivered, once it has arrived. */
  targetSample: number;
  /** Whether a pause is to be delivered once `targetSample` is reached. */
  isPausePending: boolean;
  /** End of the speech before the current pause. */
  pausedSample: number;
  /** Number of reported marks of the current pause. */
  pauseMarks: number;
}

/**
 * Splits one audio stream into turns. Every call takes effect before it returns.
 * Bytes are buffered as received and converted to samples when a detector or a reader needs them. A partial sample at the
 * end of an append is completed by the next append, or discarded by a commit, a clear or a format change.
 * With turn detection, audio is processed in the background and discarded once no turn can start in it. When
 * detection is turned on, all buffered audio of the current format is searched for speech. A turn ended by
 * the detector extends `TAIL_MS` past its speech; the next turn may start where that speech ended.
 */
export class TurnSegmenter {
  readonly #deps: TurnSegmenterDeps;
  #format: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
  /** Position of the first sample of the current format. */
  #formatStartMs = 0;
  #detection: VadSettings | undefined;
  /** Only the calls and the detector dispatch events, never an effect or a report: each event takes effect at its call. */
  readonly #machine = new MachineRunner<TurnState, TurnEvent, TurnEffect>({
    initial,
    next,
    perform: (effect) => this.#perform(effect),
    failed: (error) => {
      throw error;
    },
  });
  /** Buffered audio by format. The last buffer has the current format. Empty before the first audio. */
  #buffers: InputBuffer[] = [];
  #feed: DetectorFeed | undefined;
  /** Timing of the current feed. */
  #timing: DetectionTiming = { retained: 0, lookback: 0, tail: 0, silence: 0 };
  #active: ActiveTurn | undefined;
  /** Audio that the detector has processed. Undefined: not retained. */
  readonly #recent: RecentAudio | undefined;
  #isDetectorFailing = false;
  #isClosed = false;
  #isEnding = false;
  /** Events that are reported after the current transition, so that the callback may call the segmenter. */
  #pendingEvents: (SegmenterEvent | PauseEvent)[] = [];
  #isReporting = false;

  constructor(deps: TurnSegmenterDeps) {
    this.#deps = deps;
    if (deps.recentAudioS !== undefined) this.#recent = new RecentAudio(deps.recentAudioS);
  }

  /**
   * Sets the format of subsequent audio and the turn detection; undefined means that the client commits
   * turns. Commits an active turn, unless nothing changes. Audio outside a turn stays buffered.
   */
  configure(format: AudioFormat, detection: VadSettings | undefined): void {
    const isOther = !sameFormat(format, this.#format);
    if (this.#isClosed || (!isOther && sameDetection(detection, this.#detection))) return;
    this.#machine.dispatch({ kind: 'configured', by: detection ? 'detector' : 'client' });
    const buffer = this.#buffers.at(-1);
    if (isOther && buffer) {
      this.#formatStartMs += (buffer.receivedSamples * 1000) / buffer.format.rateHz;
      if (buffer.isEmpty) this.#buffers.pop()?.close();
      this.#buffers.push(new InputBuffer(format));
    }
    this.#format = format;
    this.#detection = detection;
    this.#detect();
    this.#reportPending();
  }

  /**
   * Appends bytes, which the caller must not modify afterwards. Returns false, without effect, if the buffer
   * limit would be exceeded. A detected turn that reaches the limit is committed, so that continuous speech
   * is transcribed.
   */
  append(bytes: Uint8Array): boolean {
    if (this.#isClosed || this.#isEnding) return true;
    if (this.bufferedBytes + bytes.length > this.#deps.maxBufferedBytes) {
      // The limit counts all audio of an active turn. If the retained bytes fit, committing that turn frees
      // capacity.
      if (this.#retainedBytes() + bytes.length > this.#deps.maxBufferedBytes) return false;
      this.#machine.dispatch({ kind: 'limit_reached' });
    }
    this.#buffer().push(bytes);
    if (this.#machine.state.kind === 'manual') return true;
    if (this.#active?.isPausePending) this.#deliver(this.#active);
    this.#detect();
    this.#reportPending();
    return true;
  }

  /** Ends the turn with the last appended byte. Returns false if nothing is buffered. */
  commit(): boolean {
    const hasAudio = this.#active !== undefined || this.#buffers.some(({ isEmpty }) => !isEmpty);
    this.#machine.dispatch({ kind: 'commit_requested', hasAudio });
    this.#reportPending();
    return hasAudio;
  }

  /** Discards the buffered audio and drops an active turn. */
  clear(): void {
    this.#machine.dispatch({ kind: 'clear_requested' });
    this.#reportPending();
  }

  /** Ends the active turn in its present pause. No effect if this turn is not active or speech continues. */
  endPausedTurn(itemId: Id<'item_'>): void {
    const active = this.#active;
    if (active?.turn.itemId !== itemId) return;
    this.#machine.dispatch({ kind: 'turn_completed', endSample: active.pausedSample });
    this.#detect();
    this.#reportPending();
  }

  /**
   * Returns the last `recentAudioS` of the active turn that the detector has processed, mono at 16 kHz; in a reported
   * pause, up to its last mark. Empty without an active turn.
   */
  recentAudio(): Float32Samples {
    const active = this.#active;
    if (active === undefined || this.#recent === undefined) return new Float32Array(0);
    const marksMs = this.#deps.pauses?.marksMs ?? [];
    const markMs = marksMs[active.pauseMarks - 1];
    const processed = this.#feed?.processedSample ?? active.startSample;
    const end = markMs === undefined ? processed : active.pausedSample + listenSamples(markMs);
    return this.#recent.samples(active.startSample, end);
  }

  /**
   * Bytes since the last commit that count towards the limit: all audio of an active turn, read or not, and
   * the audio in which a later turn may start.
   */
  get bufferedBytes(): number {
    const bytes = this.#retainedBytes();
    return this.#active ? Math.max(bytes, this.#buffer().bytesFrom(this.#active.startSample)) : bytes;
  }

  #retainedBytes(): number {
    return this.#buffers.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0);
  }

  /**
   * Ends the stream: processes the buffered audio and then ends an active turn. Resolves when all events are
   * reported. Audio outside a turn is discarded.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    let feed: DetectorFeed | undefined;
    do {
      this.#detect();
      feed = this.#feed;
      await feed?.settled;
      // After a turn is cut, the rest of its audio is processed by a new detector stream.
    } while (feed !== this.#feed && !this.#isDetectorFailing && !this.#isClosed);
    if (this.#isClosed) return;
    this.configure(this.#format, undefined);
    this.#clearBuffer();
  }

  /** Closes the detector stream and drops an active turn without an event. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#feed?.close();
    this.#feed = undefined;
    this.#active?.turn.audio.drop();
    this.#active = undefined;
    this.#replaceBuffers();
  }

  /** Returns the buffer of the current format. */
  #buffer(): InputBuffer {
    let buffer = this.#buffers.at(-1);
    if (!buffer) {
      buffer = new InputBuffer(this.#format);
      this.#buffers.push(buffer);
    }
    return buffer;
  }

  #replaceBuffers(...buffers: InputBuffer[]): void {
    for (const buffer of this.#buffers) if (!buffers.includes(buffer)) buffer.close();
    this.#buffers = buffers;
  }

  #perform(effect: TurnEffect): void {
    switch (effect.kind) {
      case 'start_turn':
        this.#startTurn(effect.startSample);
        break;
      case 'pause_turn':
        this.#withTurn((active) => {
          active.targetSample = Math.max(active.targetSample, effect.endSample + this.#timing.tail);
          active.isPausePending = true;
          active.pausedSample = effect.endSample;
        });
        break;
      case 'resume_turn':
        this.#withTurn((active) => {
          active.isPausePending = false;
          // Also after a pause that was too short for a mark: its transcript may have been reported.
          this.#pendingEvents.push({ kind: 'resumed', itemId: active.turn.itemId });
          active.pauseMarks = 0;
        });
        break;
      case 'stop_turn':
        this.#stopTurn(effect.endSample);
        break;
      case 'cut_turn':
        this.#cutTurn(effect.endSample);
        break;
      case 'end_turn':
        this.#endTurn();
        break;
      case 'drop_turn':
        this.#dropTurn();
        break;
      case 'commit_buffered':
        this.#commitBuffered();
        break;
      case 'clear_buffer':
        this.#clearBuffer();
        break;
      case 'restart_detector':
        this.#feed?.close();
        this.#feed = undefined;
        break;
      case 'report_failure':
        if (!this.#isDetectorFailing)
          this.#pendingEvents.push({ kind: 'detector_failed', error: effect.error });
        this.#isDetectorFailing = true;
        break;
      case 'reject_commit':
        break;
      default:
        effect satisfies never;
    }
  }

  #startTurn(startSample: number): void {
    const buffer = this.#buffer();
    const start = Math.min(buffer.endSample, Math.max(buffer.startSample, startSample));
    const turn: SegmentedTurn = { itemId: newId('item_'), audio: new TurnAudio() };
    this.#active = {
      turn,
      startSample: start,
      deliveredSample: start,
      targetSample: start,
      isPausePending: false,
      pausedSample: start,
      pauseMarks: 0,
    };
    this.#pendingEvents.push({ kind: 'speech_started', turn, audioStartMs: this.#toMs(start) });
  }

  #stopTurn(endSample: number): void {
    this.#withTurn((active) => {
      const buffer = this.#buffer();
      active.targetSample = Math.max(active.targetSample, endSample + this.#timing.tail);
      active.isPausePending = false;
      this.#deliver(active);
      active.turn.audio.end();
      this.#close(active, Math.min(buffer.endSample, endSample + this.#timing.silence), endSample);
      buffer.converted.discardBefore(endSample);
    });
  }

  /** Only processed audio is known to be silent. The rest of the pause belongs to the next turn. */
  #cutTurn(endSample: number): void {
    this.#withTurn((active) => {
      const quietSample = Math.max(endSample, this.#feed?.processedSample ?? endSample);
      active.targetSample = Math.max(
        active.targetSample,
        Math.min(endSample + this.#timing.tail, quietSample),
      );
      this.#deliver(active);
      active.turn.audio.end();
      this.#close(active, endSample);
      this.#buffer().converted.discardBefore(endSample);
    });
  }

  #endTurn(): void {
    this.#withTurn((active) => {
      const buffer = this.#buffer();
      active.turn.audio.end(buffer.takeFrom(active.deliveredSample));
      this.#close(active, buffer.endSample);
    });
  }

  #close({ turn }: ActiveTurn, endSample: number, speechEndSample = endSample): void {
    this.#active = undefined;
    this.#pendingEvents.push(
      {
        kind: 'speech_stopped',
        itemId: turn.itemId,
        audioEndMs: this.#toMs(endSample),
        speechEndMs: this.#toMs(speechEndSample),
      },
      { kind: 'committed', turn },
    );
  }

  #dropTurn(): void {
    this.#withTurn(({ turn }) => {
      this.#active = undefined;
      turn.audio.drop();
      this.#pendingEvents.push({ kind: 'dropped', itemId: turn.itemId });
    });
  }

  #commitBuffered(): void {
    const parts = this.#buffers.flatMap((buffer) => buffer.takeFrom(buffer.startSample));
    this.#clearBuffer();
    const turn: SegmentedTurn = { itemId: newId('item_'), audio: TurnAudio.fromParts(parts) };
    this.#pendingEvents.push({ kind: 'committed', turn });
  }

  #clearBuffer(): void {
    const buffer = this.#buffers.at(-1);
    if (buffer) this.#replaceBuffers(new InputBuffer(this.#format, buffer.receivedSamples));
  }

  #withTurn(change: (active: ActiveTurn) => void): void {
    if (this.#active) change(this.#active);
  }

  /** Delivers all permitted audio to the reader of a turn. */
  #deliver(active: ActiveTurn): void {
    const buffer = this.#buffer();
    const to = buffer.convert(active.targetSample);
    if (to > active.deliveredSample) {
      active.turn.audio.add(buffer.converted, active.deliveredSample, to);
      active.deliveredSample = to;
    }
    if (active.isPausePending && active.deliveredSample >= active.targetSample) {
      active.turn.audio.pause();
      active.isPausePending = false;
    }
  }

  /** Starts detection on audio that is not processed yet. */
  #detect(): void {
    const buffer = this.#buffers.at(-1);
    if (this.#detection === undefined || !buffer || buffer.isEmpty) return;
    try {
      this.#feed ??= this.#openFeed(buffer, this.#detection);
    } catch (error) {
      this.#machine.dispatch({ kind: 'detector_failed', error });
      return;
    }
    this.#feed.start();
  }

  #openFeed(buffer: InputBuffer, detection: VadSettings): DetectorFeed {
    const stream = this.#deps.vad.openStream(detection, LISTEN_RATE_HZ);
    this.#timing = detectionTiming(detection);
    return new DetectorFeed({
      stream,
      buffer,
      onProcessed: (from, to, events) => {
        this.#recent?.add(buffer.converted, from, to);
        this.#handleDetectorEvents(events);
      },
      onFailure: (error) => {
        this.#machine.dispatch({ kind: 'detector_failed', error });
        this.#reportPending();
      },
    });
  }

  #handleDetectorEvents(events: readonly VadEvent[]): void {
    this.#isDetectorFailing = false;
    for (const [at, event] of events.entries())
      this.#machine.dispatch(this.#longTurnPause(event, events[at + 1]) ?? event);
    const buffer = this.#buffer();
    const processed = this.#feed?.processedSample ?? buffer.startSample;
    const active = this.#active;
    if (active) {
      if (this.#machine.state.kind === 'speaking') {
        active.targetSample = Math.max(active.targetSample, processed - this.#timing.lookback);
      }
      this.#deliver(active);
      if (this.#machine.state.kind === 'paused') this.#reportPause(active, processed);
    }
    buffer.converted.discardBefore(
      Math.min(processed - this.#timing.retained, active?.deliveredSample ?? processed),
    );
    if (this.#buffers.length > 1) this.#replaceBuffers(buffer);
    this.#reportPending();
  }

  #reportPause(active: ActiveTurn, processed: number): void {
    const marksMs = this.#deps.pauses?.marksMs ?? [];
    for (
      let pauseMs = marksMs[active.pauseMarks];
      pauseMs !== undefined && processed - active.pausedSample >= listenSamples(pauseMs);
      pauseMs = marksMs[active.pauseMarks]
    ) {
      active.pauseMarks += 1;
      this.#pendingEvents.push({ kind: 'paused', itemId: active.turn.itemId, pauseMs });
    }
  }

  /**
   * Returns the event that cuts a long turn at a pause; undefined if the turn is not long, or if the pause is
   * already over.
   */
  #longTurnPause(event: VadEvent, following: VadEvent | undefined): TurnEvent | undefined {
    const { softMaxTurnS = Number.POSITIVE_INFINITY } = this.#deps;
    if (event.kind !== 'paused' || following !== undefined || !this.#active) return undefined;
    const { endSample } = event;
    if (endSample - this.#active.startSample < softMaxTurnS * LISTEN_RATE_HZ) return undefined;
    return { kind: 'long_turn_paused', endSample };
  }

  #toMs(sample: number): number {
    return Math.round(this.#formatStartMs + (sample * 1000) / LISTEN_RATE_HZ);
  }

  #report(event: SegmenterEvent | PauseEvent): void {
    if (event.kind === 'paused' || event.kind === 'resumed') this.#deps.pauses?.report(event);
    else this.#deps.report(event);
  }

  #reportPending(): void {
    if (this.#isReporting || this.#pendingEvents.length === 0) return;
    this.#isReporting = true;
    try {
      for (let event = this.#pendingEvents.shift(); event; event = this.#pendingEvents.shift())
        this.#report(event);
    } finally {
      this.#isReporting = false;
    }
  }
}
