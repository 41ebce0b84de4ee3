import { describe, expect, test } from 'vitest';
import { FakeVadEngine, type ScriptedVadEvent, settled } from '../../test/doubles/fake-vad-engine.ts';
import { decodeToFloat32 } from '../audio/codec.ts';
import { DEFAULT_VAD_SETTINGS } from '../contract/engines/engine.ts';
import type { AudioFormat } from './audio-format.ts';
import { type PauseEvent, type SegmenterEvent, TurnSegmenter } from './turn-segmenter.ts';

/** Tests the reports of pauses inside turns, and the decisions that they allow. */

const RATE_HZ = 16_000;
const FORMAT: AudioFormat = { encoding: 'pcm16', rateHz: RATE_HZ };
const ms = (value: number) => value * (RATE_HZ / 1000);

/** Samples that encode their position, as bytes. At 16 kHz they pass through unchanged. */
function counting(fromMs: number, toMs: number): Uint8Array {
  const samples = Int16Array.from({ length: ms(toMs - fromMs) }, (_, i) => ms(fromMs) + i);
  return new Uint8Array(samples.buffer);
}

const RECENT_AUDIO_S = 10;

/** Speech from 500 to 1500 ms, then from 2200 to 3000 ms. */
const TWO_PAUSES: readonly ScriptedVadEvent[] = [
  { atSample: ms(700), event: { kind: 'started', onsetSample: ms(500), startSample: ms(200) } },
  { atSample: ms(1600), event: { kind: 'paused', endSample: ms(1500) } },
  { atSample: ms(2300), event: { kind: 'resumed' } },
  { atSample: ms(3100), event: { kind: 'paused', endSample: ms(3000) } },
];

function segmented(script: readonly ScriptedVadEvent[] = TWO_PAUSES) {
  const vad = new FakeVadEngine({ script: (stream) => (stream === 0 ? script : []) });
  const events: (SegmenterEvent | PauseEvent)[] = [];
  const segmenter = new TurnSegmenter({
    vad,
    maxBufferedBytes: 1024 * 1024,
    report: (event) => events.push(event),
    pauses: { marksMs: [200, 600], report: (event) => events.push(event) },
    recentAudioS: RECENT_AUDIO_S,
  });
  segmenter.configure(FORMAT, { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: 2000 });
  const append = async (fromMs: number, toMs: number) => {
    for (let at = fromMs; at < toMs; at += 20) {
      segmenter.append(counting(at, at + 20));
      await settled();
    }
  };
  return { vad, segmenter, events, append };
}

const kinds = (events: readonly (SegmenterEvent | PauseEvent)[]) =>
  events.map((event) => (event.kind === 'paused' ? `paused ${event.pauseMs}` : event.kind));

describe('pauses', () => {
  test('are reported at each mark, and when speech continues', async () => {
    const { events, append } = segmented();
    await append(0, 3400);
    expect(kinds(events)).toEqual(['speech_started', 'paused 200', 'paused 600', 'resumed', 'paused 200']);
  });

  test('that end before the first mark are only reported as ended', async () => {
    const { events, append } = segmented([
      ...TWO_PAUSES.slice(0, 2),
      { atSample: ms(1650), event: { kind: 'resumed' } },
    ]);
    await append(0, 2000);
    expect(kinds(events)).toEqual(['speech_started', 'resumed']);
  });

  test('can end the turn, and the following audio is searched for the next one', async () => {
    const { events, append, segmenter, vad } = segmented();
    await append(0, 1700);
    const [started] = events;
    if (started?.kind !== 'speech_started') throw new Error('no turn has started');
    segmenter.endPausedTurn(started.turn.itemId);
    segmenter.endPausedTurn(started.turn.itemId);
    await append(1700, 1800);
    expect(kinds(events).slice(2)).toEqual(['speech_stopped', 'committed']);
    expect(events[2]).toMatchObject({ audioEndMs: 1500 });
    const [, second] = vad.streams;
    expect(second?.samples[0]).toBe(decodeToFloat32(counting(1500, 1501), 'pcm16')[0]);
    expect(started.turn.audio.lengthS).toBe(1.4);
  });

  test('that are over do not end the turn', async () => {
    const { events, append, segmenter } = segmented();
    await append(0, 2400);
    const [started] = events;
    if (started?.kind !== 'speech_started') throw new Error('no turn has started');
    segmenter.endPausedTurn(started.turn.itemId);
    segmenter.endPausedTurn('item_other');
    expect(kinds(events).at(-1)).toBe('resumed');
  });
});

describe('the recent audio', () => {
  test('is that of the turn, up to the mark of its pause', async () => {
    const { append, segmenter } = segmented();
    await append(0, 400);
    expect(segmenter.recentAudio()).toHaveLength(0);
    await append(400, 1000);
    expect(segmenter.recentAudio()).toEqual(decodeToFloat32(counting(200, 1000), 'pcm16'));
    await append(1000, 1780);
    expect(segmenter.recentAudio()).toEqual(decodeToFloat32(counting(200, 1700), 'pcm16'));
  });

  test('is limited', async () => {
    const { append, segmenter } = segmented(TWO_PAUSES.slice(0, 1));
    await append(0, 400);
    await append(400, (RECENT_AUDIO_S + 2) * 1000);
    const recent = segmenter.recentAudio();
    const toMs = (RECENT_AUDIO_S + 2) * 1000;
    expect(recent).toEqual(decodeToFloat32(counting(toMs - RECENT_AUDIO_S * 1000, toMs), 'pcm16'));
  });
});
