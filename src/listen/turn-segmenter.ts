/**
 * Audio as it arrives to turns: what is buffered, who speaks from when to when, what was committed. What is to be
 * done when is said by `turn-machine.ts`; here it is done.
 */

import { type Id, newId } from '../contract/core/id.ts';
import type { VadEngine, VadEvent, VadSettings } from '../contract/engines/engine.ts';
import { type AudioFormat, sameFormat } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import { type DetectionTiming, detectionTiming, sameDetection } from './detection-timing.ts';
import { DetectorFeed } from './detector-feed.ts';
import { TurnAudio } from './turn-audio.ts';
import { initial, next, type TurnEffect, type TurnEvent, type TurnState } from './turn-machine.ts';

/** What somebody said, or what was committed by hand. */
export interface Turn {
  readonly itemId: Id<'item'>;
  readonly audio: TurnAudio;
}

/** Facts, in order. Positions are ms of all audio since the listener was made, across formats and turns. */
export type SegmenterEvent =
  /** The detector found speech, which with its prefix begins here; the turn's audio is still arriving. */
  | { readonly kind: 'speech_started'; readonly turn: Turn; readonly audioStartMs: number }
  /** Its turn is over, after the silence that ended it; `committed` follows at once. */
  | { readonly kind: 'speech_stopped'; readonly itemId: Id<'item'>; readonly audioEndMs: number }
  /** The turn's audio is complete. */
  | { readonly kind: 'committed'; readonly turn: Turn }
  /** A turn that had started was cleared; its reader throws `TurnDroppedError`. */
  | { readonly kind: 'dropped'; readonly itemId: Id<'item'> }
  /** Told once until the detector answers again; a turn that was open has ended. */
  | { readonly kind: 'detector_failed'; readonly error: unknown };

export interface TurnSegmenterDeps {
  readonly vad: VadEngine;
  /** Most bytes that may be buffered between commits. */
  readonly limitBytes: number;
  /** A turn of the detector that has this much audio ends with its next pause, however short. Absent: never. */
  readonly longTurnS?: number;
  /** Called for each event, before the call that led to it returns. */
  readonly report: (event: SegmenterEvent) => void;
}

/** A turn whose audio is arriving. Positions are those of the run. */
interface OpenTurn {
  readonly turn: Turn;
  readonly startSample: number;
  /** What its reader has been given, */
  givenSample: number;
  /** and may be given, as soon as it has arrived. */
  dueSample: number;
  /** Then comes a pause, which is told once. */
  isPauseDue: boolean;
}

/**
 * Listens to one stream of audio. Nothing here waits: every call takes effect before it returns.
 *
 * Bytes are held as they came; they are decoded when a detector or a reader wants them. Half a sample at the end
 * of an append waits for its other half, until a commit, a clear or another format. Under detection the audio
 * goes to the detector as it is judged, and what no turn can begin with any more is forgotten. Speech is looked
 * for in all that is held when detection begins, in the present format. A turn that stopped by itself ends
 * `TAIL_MS` after its speech, whenever that became known; the next may begin where that speech ended.
 */
export class TurnSegmenter {
  readonly #parts: TurnSegmenterDeps;
  #format: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
  /** Position of the first sample of the format. */
  #formatStartMs = 0;
  #detection: VadSettings | undefined;
  #state: TurnState = initial;
  /** What is held, a run for each format; the last is of the present one. None before the first audio. */
  #runs: AudioQueue[] = [];
  #feed: DetectorFeed | undefined;
  /** Of the feed. */
  #reach: DetectionTiming = { kept: 0, behind: 0, tail: 0, silence: 0 };
  #open: OpenTurn | undefined;
  #isFailing = false;
  #isClosed = false;
  #isEnding = false;
  /** Events that wait until the listener is done, so that whoever is told may call it. */
  #untold: SegmenterEvent[] = [];
  #isTelling = false;

  constructor(parts: TurnSegmenterDeps) {
    this.#parts = parts;
  }

  /**
   * From now on audio comes in this format; turns are detected, or (undefined) committed by hand. A turn that is
   * open ends, unless nothing changes. What is held without a turn stays.
   */
  configure(format: AudioFormat, detection: VadSettings | undefined): void {
    const isOther = !sameFormat(format, this.#format);
    if (this.#isClosed || (!isOther && sameDetection(detection, this.#detection))) return;
    this.#step({ kind: 'configured', by: detection ? 'detector' : 'hand' });
    const run = this.#runs.at(-1);
    if (isOther && run) {
      this.#formatStartMs += (run.endSample * 1000) / run.format.rateHz;
      if (run.heldSamples === 0) this.#runs.pop();
      this.#runs.push(new AudioQueue(format));
    }
    this.#format = format;
    this.#detection = detection;
    this.#detect();
    this.#tell();
  }

  /**
   * Takes bytes, which must not be changed any more; false, and nothing is taken, beyond the limit. A turn of the
   * detector that reaches the limit ends as by a commit, so that somebody who never pauses is heard on.
   */
  append(bytes: Uint8Array): boolean {
    if (this.#isClosed || this.#isEnding) return true;
    if (this.heldBytes + bytes.length > this.#parts.limitBytes) {
      // What is really kept may fit still: then it is the open turn that is too long, and nobody else ends it.
      if (this.#keptBytes() + bytes.length > this.#parts.limitBytes) return false;
      this.#step({ kind: 'limit_reached' });
    }
    this.#run().push(bytes);
    if (this.#state.kind === 'manual') return true;
    if (this.#open?.isPauseDue) this.#give(this.#open);
    this.#detect();
    this.#tell();
    return true;
  }

  /** Ends the turn here: all that was appended belongs to it. False when nothing is buffered. */
  commit(): boolean {
    const isHeld = this.#open !== undefined || this.#runs.some((run) => run.heldSamples > 0);
    this.#step({ kind: 'commit_asked', isHeld });
    this.#tell();
    return isHeld;
  }

  /** Drops what is buffered, and an open turn. */
  clear(): void {
    this.#step({ kind: 'clear_asked' });
    this.#tell();
  }

  /**
   * Bytes since the last commit, as the limit counts them: all of an open turn, whether it was read or not, and
   * what a later turn may begin with.
   */
  get heldBytes(): number {
    const bytes = this.#keptBytes();
    return this.#open ? Math.max(bytes, this.#run().bytesFrom(this.#open.startSample)) : bytes;
  }

  #keptBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.heldBytes, 0);
  }

  /**
   * No more audio comes. What is held is judged first, then an open turn ends; resolves when all is told. Audio that
   * no turn was found in is forgotten.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    let feed: DetectorFeed | undefined;
    do {
      this.#detect();
      feed = this.#feed;
      await feed?.settled;
      // A turn that was cut leaves its rest to another stream.
    } while (feed !== this.#feed && !this.#isFailing && !this.#isClosed);
    if (this.#isClosed) return;
    this.configure(this.#format, undefined);
    this.#forgetHeld();
  }

  /** Frees the detector's stream and drops an open turn without a word. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#feed?.close();
    this.#feed = undefined;
    this.#open?.turn.audio.drop();
    this.#open = undefined;
    this.#runs = [];
  }

  /** Of the present format. */
  #run(): AudioQueue {
    let run = this.#runs.at(-1);
    if (!run) {
      run = new AudioQueue(this.#format);
      this.#runs.push(run);
    }
    return run;
  }

  #step(event: TurnEvent): void {
    const { state, effects } = next(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: TurnEffect): void {
    switch (effect.kind) {
      case 'open_turn':
        this.#openTurn(effect.startSample);
        break;
      case 'pause_turn':
        this.#withTurn((open) => {
          open.dueSample = Math.max(open.dueSample, effect.endSample + this.#reach.tail);
          open.isPauseDue = true;
        });
        break;
      case 'resume_turn':
        this.#withTurn((open) => {
          open.isPauseDue = false;
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
      case 'commit_held':
        this.#commitHeld();
        break;
      case 'forget_held':
        this.#forgetHeld();
        break;
      case 'restart_detector':
        this.#feed?.close();
        this.#feed = undefined;
        break;
      case 'tell_failure':
        if (!this.#isFailing) this.#untold.push({ kind: 'detector_failed', error: effect.error });
        this.#isFailing = true;
        break;
      case 'refuse_commit':
        break;
      default:
        effect satisfies never;
    }
  }

  #openTurn(startSample: number): void {
    const run = this.#run();
    const start = Math.min(run.endSample, Math.max(run.startSample, startSample));
    const turn: Turn = { itemId: newId('item'), audio: new TurnAudio() };
    this.#open = { turn, startSample: start, givenSample: start, dueSample: start, isPauseDue: false };
    this.#untold.push({ kind: 'speech_started', turn, audioStartMs: this.#atMs(start) });
  }

  #stopTurn(endSample: number): void {
    this.#withTurn((open) => {
      const run = this.#run();
      open.dueSample = Math.max(open.dueSample, endSample + this.#reach.tail);
      open.isPauseDue = false;
      this.#give(open);
      open.turn.audio.end('open');
      this.#close(open, Math.min(run.endSample, endSample + this.#reach.silence));
      run.forget(endSample);
    });
  }

  /** Of the pause only what has been judged is known to be quiet; the rest belongs to the next turn. */
  #cutTurn(endSample: number): void {
    this.#withTurn((open) => {
      const run = this.#run();
      const quietSample = Math.max(endSample, this.#feed?.judgedSample ?? endSample);
      open.dueSample = Math.max(open.dueSample, Math.min(endSample + this.#reach.tail, quietSample));
      this.#give(open);
      open.turn.audio.end('open');
      this.#close(open, endSample);
      run.forget(endSample);
    });
  }

  #endTurn(): void {
    this.#withTurn((open) => {
      const run = this.#run();
      open.dueSample = run.endSample;
      open.isPauseDue = false;
      this.#give(open);
      open.turn.audio.end('silence');
      this.#close(open, run.endSample);
      run.forget(run.endSample);
    });
  }

  #close({ turn }: OpenTurn, endSample: number): void {
    this.#open = undefined;
    this.#untold.push(
      { kind: 'speech_stopped', itemId: turn.itemId, audioEndMs: this.#atMs(endSample) },
      { kind: 'committed', turn },
    );
  }

  #dropTurn(): void {
    this.#withTurn(({ turn }) => {
      this.#open = undefined;
      turn.audio.drop();
      this.#untold.push({ kind: 'dropped', itemId: turn.itemId });
    });
  }

  #commitHeld(): void {
    const runs = this.#runs;
    this.#forgetHeld();
    const turn: Turn = { itemId: newId('item'), audio: TurnAudio.ofRuns(runs) };
    this.#untold.push({ kind: 'committed', turn });
  }

  #forgetHeld(): void {
    const run = this.#runs.at(-1);
    this.#runs = run ? [new AudioQueue(this.#format, run.endSample)] : [];
  }

  #withTurn(change: (open: OpenTurn) => void): void {
    if (this.#open) change(this.#open);
  }

  /** Gives a turn's reader what it may have. */
  #give(open: OpenTurn): void {
    const run = this.#run();
    const to = Math.min(run.endSample, open.dueSample);
    if (to > open.givenSample) {
      open.turn.audio.add(run, open.givenSample, to);
      open.givenSample = to;
    }
    if (open.isPauseDue && open.givenSample >= open.dueSample) {
      open.turn.audio.pause();
      open.isPauseDue = false;
    }
  }

  /** Has the detector judge what it has not. */
  #detect(): void {
    const run = this.#runs.at(-1);
    if (this.#detection === undefined || !run || run.heldSamples === 0) return;
    try {
      this.#feed ??= this.#openFeed(run, this.#detection);
    } catch (error) {
      this.#step({ kind: 'detector_failed', error });
      return;
    }
    this.#feed.more();
  }

  #openFeed(run: AudioQueue, detection: VadSettings): DetectorFeed {
    const { rateHz } = run.format;
    const stream = this.#parts.vad.open(detection, rateHz);
    this.#reach = detectionTiming(detection, rateHz);
    return new DetectorFeed({
      stream,
      run,
      judged: (events) => this.#judged(events),
      failed: (error) => {
        this.#step({ kind: 'detector_failed', error });
        this.#tell();
      },
    });
  }

  #judged(events: readonly VadEvent[]): void {
    this.#isFailing = false;
    for (const [at, event] of events.entries()) this.#step(this.#cutBy(event, events[at + 1]) ?? event);
    const run = this.#run();
    const judged = this.#feed?.judgedSample ?? run.startSample;
    const open = this.#open;
    if (open) {
      if (this.#state.kind === 'speaking') {
        open.dueSample = Math.max(open.dueSample, judged - this.#reach.behind);
      }
      this.#give(open);
    }
    run.forget(Math.min(judged - this.#reach.kept, open?.givenSample ?? judged));
    if (this.#runs.length > 1) this.#runs = [run];
    this.#tell();
  }

  /** What is made of a pause of a turn that is long; undefined for all else. Nobody waits for one that is over. */
  #cutBy(event: VadEvent, following: VadEvent | undefined): TurnEvent | undefined {
    const { longTurnS = Number.POSITIVE_INFINITY } = this.#parts;
    if (event.kind !== 'paused' || following !== undefined || !this.#open) return undefined;
    const { endSample } = event;
    if (endSample - this.#open.startSample < longTurnS * this.#format.rateHz) return undefined;
    return { kind: 'long_turn_paused', endSample };
  }

  #atMs(sample: number): number {
    return Math.round(this.#formatStartMs + (sample * 1000) / this.#format.rateHz);
  }

  #tell(): void {
    if (this.#isTelling || this.#untold.length === 0) return;
    this.#isTelling = true;
    try {
      for (let event = this.#untold.shift(); event; event = this.#untold.shift()) this.#parts.report(event);
    } finally {
      this.#isTelling = false;
    }
  }
}
