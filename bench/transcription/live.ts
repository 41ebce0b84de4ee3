/** Latency of the final transcript of live audio, with pauses marked as by a turn detector. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { AudioChunk } from '../../src/contract/engines/engine.ts';
import type { Utterance } from '../corpus/clip.ts';
import { readWav } from '../corpus/wav-file.ts';
import { finalText, type TurnSegmenter } from '../listening.ts';
import type { Row } from '../report.ts';

const PIECE_S = 0.1;
/** Silence after which a detector marks a pause, and after which it ends the turn. */
const PAUSE_AFTER_S = 0.2;
const COMMIT_AFTER_S = 0.5;
const LENGTHS_S = [3, 8];
const CLIPS = 2;

/** Time from the commit to the final text, with and without the marks, for utterances near each length. */
export async function liveRows(utterances: readonly Utterance[], { engine }: TurnSegmenter): Promise<Row[]> {
  const clean = utterances.filter(({ noise, voice }) => noise === 'none' && voice === 'piper');
  const rows: Row[] = [];
  for (const lengthS of LENGTHS_S) {
    const byDistance = clean.toSorted(
      (a, b) => Math.abs(a.seconds - lengthS) - Math.abs(b.seconds - lengthS),
    );
    for (const marks of [true, false]) {
      let sum = 0;
      for (const { audio } of byDistance.slice(0, CLIPS)) {
        const live = new LiveAudio(await readWav(audio), marks);
        await finalText(engine, live.pieces(), 'en');
        sum += performance.now() - live.committedAtMs;
      }
      rows.push({
        measure: `commit → final text, about ${lengthS} s that arrived live, ${marks ? 'with' : 'without'} a pause marked`,
        ours: sum / CLIPS,
        unit: 'ms',
      });
    }
  }
  return rows;
}

class LiveAudio {
  readonly #speech: Float32Samples;
  readonly #marks: boolean;
  /** Time of the last piece. */
  committedAtMs = 0;

  constructor(speech: Float32Samples, marks: boolean) {
    this.#speech = speech;
    this.#marks = marks;
  }

  /**
   * The speech and then silence, each piece at the time of its last sample. With marks, the silence after the pause is not
   * sent, as by a client that waits for the end of the turn.
   */
  async *pieces(): AsyncGenerator<AudioChunk, void, undefined> {
    const start = performance.now();
    const piece = PIECE_S * LISTEN_RATE_HZ;
    const pauseAt = this.#speech.length + PAUSE_AFTER_S * LISTEN_RATE_HZ;
    const end = this.#speech.length + COMMIT_AFTER_S * LISTEN_RATE_HZ;
    let paused = false;
    for (let at = 0; at < end; at += piece) {
      const until = Math.min(end, at + piece);
      await Bun.sleep(Math.max(0, start + (until * 1000) / LISTEN_RATE_HZ - performance.now()));
      if (paused) continue;
      const samples = new Float32Array(until - at);
      samples.set(this.#speech.subarray(at, until));
      yield samples;
      if (this.#marks && until >= pauseAt) {
        paused = true;
        yield 'pause';
      }
    }
    this.committedAtMs = performance.now();
  }
}
