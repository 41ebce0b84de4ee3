import { describe, expect, it } from 'vitest';
import {
  FakeVadEngine,
  type FakeVadOptions,
  Gate,
  type ScriptedVadEvent,
  settled,
} from '../../test/doubles/fake-vad-engine.ts';
import { decodeToFloat32 } from '../audio/codec.ts';
import {
  DEFAULT_VAD_SETTINGS,
  type VadEngine,
  type VadEvent,
  type VadSettings,
} from '../contract/engines/engine.ts';
import type { AudioFormat } from './audio-format.ts';
import { TurnAudio, TurnDroppedError } from './turn-audio.ts';
import { type SegmentedTurn, type SegmenterEvent, TurnSegmenter } from './turn-segmenter.ts';

const RATE_HZ = 16_000;
const PCM_16K: AudioFormat = { encoding: 'pcm16', rateHz: RATE_HZ };
const PCM_24K: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
const MULAW: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };
const VAD: VadSettings = DEFAULT_VAD_SETTINGS;
const LIMIT_BYTES = 25 * 1024 * 1024;
const ms = (value: number) => value * (RATE_HZ / 1000);

/** Samples that encode their position, as bytes. At 16 kHz they pass through unchanged. */
function counting(fromMs: number, toMs: number): Uint8Array {
  const samples = Int16Array.from({ length: ms(toMs - fromMs) }, (_, i) => ms(fromMs) + i);
  return new Uint8Array(samples.buffer);
}

const countingFloat = (fromMs: number, toMs: number) => decodeToFloat32(counting(fromMs, toMs), 'pcm16');

function listening(options: FakeVadOptions = {}, maxBufferedBytes = LIMIT_BYTES, softMaxTurnS?: number) {
  const vad = new FakeVadEngine(options);
  const events: SegmenterEvent[] = [];
  const segmenter = new TurnSegmenter({
    vad,
    maxBufferedBytes,
    ...(softMaxTurnS === undefined ? {} : { softMaxTurnS }),
    report: (event) => events.push(event),
  });
  return { vad, events, segmenter };
}

/** One turn: speech from 500 to 1500 ms, detected at 700; its pause detected at 1600, its end at 2000. */
const oneTurn: readonly ScriptedVadEvent[] = [
  { atSample: ms(700), event: { kind: 'started', onsetSample: ms(500), startSample: ms(200) } },
  { atSample: ms(1600), event: { kind: 'paused', endSample: ms(1500) } },
  { atSample: ms(2000), event: { kind: 'stopped', endSample: ms(1500) } },
];

/** Events as text, with turns as letters in order of appearance. */
function describeEvents(events: readonly SegmenterEvent[]): string[] {
  const names = new Map<string, string>();
  const nameOf = (id: string) => {
    const name = names.get(id) ?? 'abcdefgh'[names.size] ?? '?';
    names.set(id, name);
    return name;
  };
  const line = (event: SegmenterEvent): string => {
    switch (event.kind) {
      case 'speech_started':
        return `${nameOf(event.turn.itemId)} started ${event.audioStartMs}`;
      case 'speech_stopped':
        return `${nameOf(event.itemId)} stopped ${event.audioEndMs}`;
      case 'committed':
        return `${nameOf(event.turn.itemId)} committed`;
      case 'dropped':
        return `${nameOf(event.itemId)} dropped`;
      case 'detector_failed':
        return `failed: ${event.error instanceof Error ? event.error.message : event.error}`;
    }
  };
  return events.map(line);
}

function turnsOf(events: readonly SegmenterEvent[]): SegmentedTurn[] {
  return events.flatMap((event) => (event.kind === 'committed' ? event.turn : []));
}

/** Everything that a reader receives: samples, and the sample counts at which pauses occurred. */
async function read(turn: SegmentedTurn | undefined) {
  const samples: number[] = [];
  const pauses: number[] = [];
  for await (const piece of turn?.audio ?? []) {
    if (piece === 'pause') pauses.push(samples.length);
    else for (const sample of piece) samples.push(sample);
  }
  return { samples: Float32Array.from(samples), pauses };
}

describe('with manual commits, the segmenter', () => {
  it('creates a turn from the appended audio and starts over', async () => {
    const { segmenter, events, vad } = listening();
    segmenter.configure(PCM_16K, undefined);
    expect(segmenter.append(counting(0, 50))).toBe(true);
    segmenter.append(counting(50, 80));
    expect(segmenter.bufferedBytes).toBe(2 * ms(80));
    expect(segmenter.commit()).toBe(true);
    expect(segmenter.bufferedBytes).toBe(0);
    segmenter.append(counting(80, 90));
    expect(segmenter.commit()).toBe(true);
    expect(describeEvents(events)).toEqual(['a committed', 'b committed']);
    const [first, second] = turnsOf(events);
    expect(first?.audio.unreadBytes).toBe(2 * ms(80));
    expect((await read(first)).samples).toEqual(countingFloat(0, 80));
    expect((await read(second)).samples).toEqual(countingFloat(80, 90));
    expect(vad.streams).toEqual([]);
  });

  it('rejects a commit of nothing or of a partial sample', () => {
    const { segmenter, events } = listening();
    expect(segmenter.commit()).toBe(false);
    segmenter.append(new Uint8Array(0));
    segmenter.append(new Uint8Array([7]));
    expect(segmenter.commit()).toBe(false);
    expect(segmenter.bufferedBytes).toBe(1);
    segmenter.append(new Uint8Array([7]));
    expect(segmenter.commit()).toBe(true);
    segmenter.clear();
    expect(segmenter.commit()).toBe(false);
    expect(describeEvents(events)).toEqual(['a committed']);
  });

  it('joins a sample split across appends, and discards a partial sample with its buffer', async () => {
    const { segmenter, events } = listening();
    segmenter.configure(PCM_16K, undefined);
    const bytes = counting(0, 10);
    segmenter.append(bytes.subarray(0, 33));
    segmenter.append(bytes.subarray(33));
    segmenter.append(new Uint8Array([1]));
    segmenter.commit();
    segmenter.append(counting(10, 20));
    segmenter.append(new Uint8Array([1]));
    segmenter.clear();
    segmenter.append(counting(20, 30));
    segmenter.commit();
    const [first, second] = turnsOf(events);
    expect((await read(first)).samples).toEqual(countingFloat(0, 10));
    expect((await read(second)).samples).toEqual(countingFloat(20, 30));
  });

  it('rejects an append that exceeds the limit as a whole', async () => {
    const { segmenter, events } = listening({}, 2 * ms(100));
    segmenter.configure(PCM_16K, undefined);
    expect(segmenter.append(counting(0, 99))).toBe(true);
    expect(segmenter.append(counting(0, 2))).toBe(false);
    expect(segmenter.append(counting(99, 100))).toBe(true);
    expect(segmenter.append(new Uint8Array(1))).toBe(false);
    expect(segmenter.append(new Uint8Array(0))).toBe(true);
    expect(segmenter.bufferedBytes).toBe(2 * ms(100));
    segmenter.commit();
    expect(segmenter.append(counting(100, 200))).toBe(true);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(0, 100));
  });

  it('keeps the format of each part of the audio', async () => {
    const { segmenter, events } = listening();
    segmenter.configure(MULAW, undefined);
    segmenter.append(new Uint8Array(800).fill(0x80));
    segmenter.configure(PCM_16K, undefined);
    segmenter.append(counting(0, 100));
    segmenter.append(new Uint8Array([1]));
    segmenter.configure(PCM_24K, undefined);
    segmenter.configure(PCM_16K, undefined);
    segmenter.append(counting(100, 200));
    segmenter.commit();
    const { samples } = await read(turnsOf(events)[0]);
    expect(samples.length).toBe(ms(300));
    expect(samples.slice(ms(100))).toEqual(countingFloat(0, 200));
  });
});

describe('a detected turn', () => {
  it('is reported when detected, with sample positions, and read while it arrives', async () => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    const readings: ReturnType<typeof read>[] = [];
    const seen: string[] = [];
    for (let at = 0; at < 3000; at += 20) {
      segmenter.append(counting(at, at + 20));
      await settled();
      while (seen.length < events.length) {
        const event = events[seen.length];
        seen.push(`${event?.kind} at ${at + 20}`);
        if (event?.kind === 'speech_started') readings.push(read(event.turn));
      }
    }
    expect(seen).toEqual(['speech_started at 700', 'speech_stopped at 2000', 'committed at 2000']);
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 2000', 'a committed']);
    const received = await readings[0];
    expect(received?.samples).toEqual(countingFloat(200, 1600));
    expect(received?.pauses).toEqual([ms(1400)]);
    expect(vad.streams.map(({ settings, rateHz, maxUnderWay }) => [settings, rateHz, maxUnderWay])).toEqual([
      [VAD, RATE_HZ, 1],
    ]);
    expect(vad.streams[0]?.samples).toEqual(countingFloat(0, 3000));
  });

  it('has the same audio if all of it arrives in one append and is processed in chunks', async () => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 3500));
    expect(events).toEqual([]);
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 2000', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1600));
    expect(vad.streams[0]?.pieces).toEqual([RATE_HZ, RATE_HZ, RATE_HZ, RATE_HZ / 2]);
  });

  it('continues after a pause', async () => {
    const script: ScriptedVadEvent[] = [
      ...oneTurn.slice(0, 2),
      { atSample: ms(1800), event: { kind: 'resumed' } },
      { atSample: ms(3100), event: { kind: 'paused', endSample: ms(3000) } },
      { atSample: ms(3500), event: { kind: 'stopped', endSample: ms(3000) } },
    ];
    const { segmenter, events } = listening({ script: () => script });
    segmenter.configure(PCM_16K, VAD);
    let received: ReturnType<typeof read> | undefined;
    for (let at = 0; at < 4000; at += 50) {
      segmenter.append(counting(at, at + 50));
      await settled();
      const [first] = events;
      if (first?.kind === 'speech_started') received ??= read(first.turn);
    }
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 3500', 'a committed']);
    expect(await received).toEqual({ samples: countingFloat(200, 3100), pauses: [ms(1400), ms(2900)] });
  });

  it('ends with its speech if the silence duration is 0', async () => {
    const script: ScriptedVadEvent[] = [
      ...oneTurn.slice(0, 1),
      { atSample: ms(1600), event: { kind: 'paused', endSample: ms(1500) } },
      { atSample: ms(1600), event: { kind: 'stopped', endSample: ms(1500) } },
    ];
    const { segmenter, events } = listening({ script: () => script });
    segmenter.configure(PCM_16K, { ...VAD, silenceDurationMs: 0 });
    segmenter.append(counting(0, 2000));
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1500', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1500));
  });

  it('pauses its reader as soon as 100 ms have arrived, without a further detector event', async () => {
    const gate = new Gate();
    const script: ScriptedVadEvent[] = [
      ...oneTurn.slice(0, 1),
      { atSample: ms(1520), event: { kind: 'paused', endSample: ms(1500) } },
    ];
    const { segmenter, events } = listening({ script: () => script, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 760));
    await gate.next();
    segmenter.append(counting(760, 1520));
    await gate.next();
    const [first] = events;
    const given: (number | 'pause')[] = [];
    const reading = (async () => {
      if (first?.kind !== 'speech_started') throw new Error('not started');
      for await (const piece of first.turn.audio) given.push(piece === 'pause' ? piece : piece.length);
    })();
    segmenter.append(counting(1520, 1599));
    await settled();
    expect(given).not.toContain('pause');
    segmenter.append(counting(1599, 1700));
    await settled();
    expect(given.at(-1)).toBe('pause');
    const samples = given.filter((each) => each !== 'pause');
    expect(samples.reduce((sum, length) => sum + length, 0)).toBe(ms(1400));
    segmenter.commit();
    await reading;
  });

  it('that paused is delivered up to that pause, even if the detector then finds an earlier end', async () => {
    const script: ScriptedVadEvent[] = [
      ...oneTurn.slice(0, 1),
      { atSample: ms(1520), event: { kind: 'paused', endSample: ms(1500) } },
      { atSample: ms(1550), event: { kind: 'resumed' } },
      { atSample: ms(1580), event: { kind: 'paused', endSample: ms(1400) } },
      { atSample: ms(2000), event: { kind: 'stopped', endSample: ms(1400) } },
    ];
    for (const stepMs of [10, 50, 3000]) {
      const { segmenter, events } = listening({ script: () => script });
      segmenter.configure(PCM_16K, VAD);
      for (let at = 0; at < 3000; at += stepMs) {
        segmenter.append(counting(at, at + stepMs));
        await settled();
      }
      expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1900', 'a committed']);
      expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1600));
    }
  });

  it('leaves the audio after its speech for a later turn or commit', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 2000));
    await settled();
    expect(segmenter.bufferedBytes).toBe(2 * ms(500));
    segmenter.commit();
    expect((await read(turnsOf(events)[1])).samples).toEqual(countingFloat(1500, 2000));
  });

  it('that is committed ends as if silence followed, at any rate', async () => {
    const bytes = counting(0, 1500);
    const script = oneTurn.slice(0, 1);
    const { segmenter, events, vad } = listening({ script: () => script });
    segmenter.configure(PCM_24K, VAD);
    segmenter.append(bytes);
    await settled();
    segmenter.commit();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1000', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(
      (await read({ itemId: 'item_', audio: TurnAudio.of(bytes, PCM_24K) })).samples.slice(ms(200)),
    );
    expect(vad.streams[0]?.rateHz).toBe(RATE_HZ);
  });

  it('contains all appended audio when committed, processed or not', async () => {
    const gate = new Gate();
    const { segmenter, events, vad } = listening({ script: () => oneTurn, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 700));
    await gate.next();
    segmenter.append(counting(700, 800));
    segmenter.append(counting(800, 900));
    expect(segmenter.commit()).toBe(true);
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 900', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 900));
    expect([segmenter.bufferedBytes, vad.streams[0]?.isClosed]).toEqual([0, true]);
    expect(segmenter.commit()).toBe(false);
    // The late result of the first stream is ignored.
    segmenter.append(counting(900, 1600));
    await gate.next();
    await gate.next();
    expect(describeEvents(events).slice(3)).toEqual(['b started 1100']);
    expect(vad.streams[1]?.samples).toEqual(countingFloat(900, 1600));
  });

  it('is dropped by a clear: its reader throws and the detector restarts', async () => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await settled();
    const [first] = events;
    const reading = read(first?.kind === 'speech_started' ? first.turn : undefined);
    segmenter.clear();
    await expect(reading).rejects.toThrow(TurnDroppedError);
    expect([segmenter.bufferedBytes, vad.streams[0]?.isClosed]).toEqual([0, true]);
    segmenter.clear();
    segmenter.append(counting(1000, 3200));
    await settled();
    expect(describeEvents(events)).toEqual([
      'a started 200',
      'a dropped',
      'b started 1200',
      'b stopped 3000',
      'b committed',
    ]);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(1200, 2600));
  });

  it('ends at the limit without a pause, and the following audio is transcribed', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn.slice(0, 1) }, 2 * ms(10_000));
    segmenter.configure(PCM_16K, VAD);
    let received: ReturnType<typeof read> | undefined;
    for (let atMs = 0; atMs < 12_000; atMs += 100) {
      expect(segmenter.append(counting(atMs, atMs + 100))).toBe(true);
      await settled();
      const [first] = events;
      if (first?.kind === 'speech_started') received ??= read(first.turn);
    }
    // Audio before the turn no longer counts.
    expect((await received)?.samples).toEqual(countingFloat(200, 10_200));
    expect(events.map(({ kind }) => kind)).toEqual([
      'speech_started',
      'speech_stopped',
      'committed',
      'speech_started',
    ]);
    expect(events[1]).toMatchObject({ audioEndMs: 10_200 });
  });

  it('ends at the limit within a sample, whose second byte is still to come', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn.slice(0, 1) }, 2 * ms(10_000));
    segmenter.configure(PCM_16K, VAD);
    const bytes = counting(0, 12_000);
    const pieceBytes = 2 * ms(100) + 1;
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      expect(segmenter.append(bytes.slice(at, at + pieceBytes))).toBe(true);
      await settled();
    }
    segmenter.commit();
    const [first, second] = turnsOf(events);
    const cut = (await read(first)).samples;
    expect(cut).toEqual(countingFloat(200, 12_000).subarray(0, cut.length));
    const rest = (await read(second)).samples;
    expect(rest.length).toBeGreaterThan(0);
    expect(rest).toEqual(countingFloat(0, 12_000).subarray(-rest.length));
  });

  it('rejects audio that arrives faster than it is processed, and keeps the buffer', async () => {
    const { segmenter } = listening({ script: () => oneTurn.slice(0, 1) }, 2 * ms(1000));
    segmenter.configure(PCM_16K, VAD);
    expect(segmenter.append(counting(0, 1000))).toBe(true);
    expect(segmenter.append(counting(1000, 1100))).toBe(false);
    expect(segmenter.bufferedBytes).toBe(2 * ms(1000));
    expect(segmenter.commit()).toBe(true);
    expect(segmenter.append(counting(1000, 1100))).toBe(true);
  });
});

describe('with detection and without speech, the segmenter', () => {
  it('retains the audio in which a turn may start, however long the silence', async () => {
    const { segmenter } = listening({}, 2 * ms(4000));
    segmenter.configure(PCM_16K, VAD);
    for (let at = 0; at < 20_000; at += 100) {
      expect(segmenter.append(counting(at, at + 100))).toBe(true);
      await settled();
    }
    expect(segmenter.bufferedBytes).toBe(2 * ms(300 + 100 + 1040));
  });

  it('commits the retained audio and restarts the detector', async () => {
    const { segmenter, events, vad } = listening();
    segmenter.configure(PCM_16K, VAD);
    expect(segmenter.commit()).toBe(false);
    for (let at = 0; at < 4000; at += 100) {
      segmenter.append(counting(at, at + 100));
      await settled();
    }
    expect(segmenter.commit()).toBe(true);
    expect(describeEvents(events)).toEqual(['a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(4000 - 1440, 4000));
    expect(vad.streams[0]?.isClosed).toBe(true);
    segmenter.append(counting(4000, 4100));
    await settled();
    expect(vad.streams[1]?.samples).toEqual(countingFloat(4000, 4100));
  });

  it('starts a turn no earlier than the retained audio', async () => {
    const script: ScriptedVadEvent[] = [
      { atSample: ms(6000), event: { kind: 'started', onsetSample: ms(300), startSample: 0 } },
    ];
    const { segmenter, events } = listening({ script: () => script });
    segmenter.configure(PCM_16K, VAD);
    for (let at = 0; at < 6000; at += 1000) {
      segmenter.append(counting(at, at + 1000));
      await settled();
    }
    expect(describeEvents(events)).toEqual([`a started ${5000 - 1440}`]);
  });

  it('opens no detector stream before there is audio', () => {
    const { segmenter, vad } = listening();
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(new Uint8Array(1));
    segmenter.clear();
    expect(vad.streams).toEqual([]);
  });
});

describe('configure', () => {
  it('has no effect if nothing changes', async () => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await settled();
    segmenter.configure({ ...PCM_16K }, { ...VAD });
    segmenter.append(counting(1000, 2100));
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 2000', 'a committed']);
    expect(vad.streams.length).toBe(1);
  });

  it.each([
    ['another detection', PCM_16K, { ...VAD, silenceDurationMs: 300 }],
    ['another format', PCM_24K, VAD],
    ['manual commits', PCM_16K, undefined],
  ])('%s ends an active turn', async (_, format, detection) => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await settled();
    segmenter.append(counting(1000, 1100));
    segmenter.configure(format, detection);
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1100', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1100));
    expect([segmenter.bufferedBytes, vad.streams[0]?.isClosed]).toEqual([0, true]);
  });

  it('processes the buffered audio with the new detection, from its first sample', async () => {
    const { segmenter, events, vad } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, undefined);
    segmenter.append(counting(0, 100));
    segmenter.commit();
    segmenter.append(counting(100, 1100));
    segmenter.configure(PCM_16K, VAD);
    await settled();
    expect(vad.streams[0]?.samples).toEqual(countingFloat(100, 1100));
    expect(describeEvents(events)).toEqual(['a committed', 'b started 300']);
  });

  it('keeps a partial sample when a turn ends, but not when the format changes', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    const bytes = counting(0, 1000);
    segmenter.append(bytes.subarray(0, -1));
    await settled();
    segmenter.configure(PCM_16K, undefined);
    segmenter.append(bytes.subarray(-1));
    segmenter.append(counting(1000, 1010));
    segmenter.commit();
    const [first, second] = turnsOf(events);
    const all = countingFloat(0, 1010);
    expect((await read(first)).samples).toEqual(all.slice(ms(200), ms(1000) - 1));
    expect((await read(second)).samples).toEqual(all.slice(ms(1000) - 1));
  });

  it('discards audio of the previous format once detection continues in the new one', async () => {
    const { segmenter } = listening();
    segmenter.configure(PCM_24K, undefined);
    segmenter.append(new Uint8Array(48_000));
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 100));
    expect(segmenter.bufferedBytes).toBe(48_000 + 2 * ms(100));
    await settled();
    expect(segmenter.bufferedBytes).toBe(2 * ms(100));
  });

  it('keeps the buffered audio when detection is turned off', async () => {
    const { segmenter, events } = listening();
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 100));
    segmenter.configure(PCM_16K, undefined);
    await settled();
    segmenter.append(counting(100, 200));
    segmenter.commit();
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(0, 200));
  });

  it('counts ms across formats', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn });
    segmenter.configure(MULAW, undefined);
    segmenter.append(new Uint8Array(8 * 1000));
    segmenter.commit();
    segmenter.configure(PCM_24K, undefined);
    segmenter.append(new Uint8Array(2 * 24 * 500));
    segmenter.clear();
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 2100));
    await settled();
    expect(describeEvents(events)).toEqual([
      'a committed',
      'b started 1700',
      'b stopped 3500',
      'b committed',
    ]);
  });
});

describe('a failing detector', () => {
  it('ends the turn; another stream starts with the next append', async () => {
    const gate = new Gate();
    const { segmenter, events, vad } = listening({ script: () => oneTurn, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await gate.next();
    segmenter.append(counting(1000, 1100));
    segmenter.append(counting(1100, 1200));
    await gate.next(new Error('died'));
    expect(describeEvents(events)).toEqual([
      'a started 200',
      'failed: died',
      'a stopped 1200',
      'a committed',
    ]);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1200));
    segmenter.append(counting(1200, 2200));
    await gate.next();
    expect(describeEvents(events).slice(4)).toEqual(['b started 1400']);
    expect(vad.streams.length).toBe(2);
  });

  it.each(['completes a write', 'fails'])('that %s after it was closed causes no event', async (how) => {
    const writes: PromiseWithResolvers<readonly VadEvent[]>[] = [];
    const vad = new FakeVadEngine();
    const late: VadEngine = {
      openStream: () => ({
        write: () => {
          const write = Promise.withResolvers<readonly VadEvent[]>();
          writes.push(write);
          return write.promise;
        },
        end: async () => [],
        close: () => undefined,
      }),
      ready: () => vad.ready(),
      close: () => vad.close(),
    };
    const events: SegmenterEvent[] = [];
    const segmenter = new TurnSegmenter({
      vad: late,
      maxBufferedBytes: LIMIT_BYTES,
      report: (event) => events.push(event),
    });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    segmenter.clear();
    segmenter.append(counting(1000, 4000));
    if (how === 'completes a write') writes[0]?.resolve([oneTurn[0]?.event ?? { kind: 'resumed' }]);
    else writes[0]?.reject(new Error('closed'));
    await settled();
    expect(events).toEqual([]);
    // The first second of the second stream is still being processed.
    expect(writes.length).toBe(2);
    expect(segmenter.bufferedBytes).toBe(2 * ms(3000));
    segmenter.close();
  });

  it('is reported once until it recovers, and all buffered audio is processed', async () => {
    const gate = new Gate();
    let refusal: Error | undefined = new Error('closed');
    const { segmenter, events, vad } = listening({
      script: () => oneTurn,
      before: gate.wait,
      refusal: () => refusal,
    });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 100));
    segmenter.append(counting(100, 200));
    refusal = undefined;
    segmenter.append(counting(200, 300));
    await gate.next(new Error('died'));
    segmenter.append(counting(300, 1000));
    await gate.next();
    segmenter.append(counting(1000, 1100));
    await gate.next(new Error('died again'));
    expect(describeEvents(events)).toEqual([
      'failed: closed',
      'a started 200',
      'failed: died again',
      'a stopped 1100',
      'a committed',
    ]);
    expect(vad.streams.map(({ samples }) => samples)).toEqual([
      countingFloat(0, 300),
      countingFloat(0, 1100),
    ]);
  });
});

describe('close', () => {
  it('closes the stream, drops an active turn without an event, and ignores further calls', async () => {
    const gate = new Gate();
    const { segmenter, events, vad } = listening({ script: () => oneTurn, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await gate.next();
    const [first] = events;
    const reading = read(first?.kind === 'speech_started' ? first.turn : undefined);
    const dropped = expect(reading).rejects.toThrow(TurnDroppedError);
    segmenter.append(counting(1000, 2100));
    segmenter.close();
    segmenter.close();
    await gate.next();
    await dropped;
    expect(segmenter.append(counting(0, 100))).toBe(true);
    expect([segmenter.commit(), segmenter.bufferedBytes]).toEqual([false, 0]);
    segmenter.clear();
    segmenter.configure(PCM_24K, undefined);
    expect(describeEvents(events)).toEqual(['a started 200']);
    expect([vad.streams.length, vad.streams[0]?.isClosed]).toEqual([1, true]);
  });

  it('keeps committed turns readable', async () => {
    const { segmenter, events } = listening();
    segmenter.configure(PCM_16K, undefined);
    segmenter.append(counting(0, 100));
    segmenter.commit();
    segmenter.close();
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(0, 100));
  });
});

it('the report callback may call the segmenter, and events stay in order', () => {
  const vad = new FakeVadEngine();
  const events: SegmenterEvent[] = [];
  const segmenter = new TurnSegmenter({
    vad,
    maxBufferedBytes: LIMIT_BYTES,
    report: (event) => {
      if (events.length < 2) {
        segmenter.append(counting(0, 10));
        segmenter.commit();
      }
      events.push(event);
    },
  });
  segmenter.append(counting(0, 10));
  segmenter.commit();
  expect(describeEvents(events)).toEqual(['a committed', 'b committed', 'c committed']);
  segmenter.close();
});

describe('a turn longer than the soft limit', () => {
  /** Speech from 500 ms on, with pauses at 1500 and 2500 ms after which it continues. */
  const pausing: readonly ScriptedVadEvent[] = [
    { atSample: ms(700), event: { kind: 'started', onsetSample: ms(500), startSample: ms(200) } },
    { atSample: ms(1600), event: { kind: 'paused', endSample: ms(1500) } },
    { atSample: ms(1700), event: { kind: 'resumed' } },
    { atSample: ms(2560), event: { kind: 'paused', endSample: ms(2500) } },
  ];
  /** The next stream starts at 2500 ms. */
  const goingOn: readonly ScriptedVadEvent[] = [
    { atSample: ms(200), event: { kind: 'started', onsetSample: ms(100), startSample: 0 } },
    { atSample: ms(600), event: { kind: 'paused', endSample: ms(500) } },
    { atSample: ms(1000), event: { kind: 'stopped', endSample: ms(500) } },
  ];
  const script = (stream: number) => (stream === 0 ? pausing : goingOn);

  it('ends at its next pause, and the following audio is the next turn without loss or overlap', async () => {
    const { segmenter, events, vad } = listening({ script }, LIMIT_BYTES, 2);
    segmenter.configure(PCM_16K, VAD);
    for (let at = 0; at < 4000; at += 20) {
      segmenter.append(counting(at, at + 20));
      await settled();
    }
    expect(describeEvents(events)).toEqual([
      'a started 200',
      'a stopped 2500',
      'a committed',
      'b started 2500',
      'b stopped 3500',
      'b committed',
    ]);
    const [first, second] = turnsOf(events);
    // The silence that the detector has processed belongs to the first turn as well.
    expect((await read(first)).samples).toEqual(countingFloat(200, 2560));
    expect((await read(second)).samples).toEqual(countingFloat(2500, 3100));
    expect(vad.streams).toHaveLength(2);
  });

  it('continues if the pause is already over when it is detected', async () => {
    const { segmenter, events } = listening({ script }, LIMIT_BYTES, 1);
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1700));
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200']);
    segmenter.append(counting(1700, 2600));
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 2500', 'a committed']);
  });

  it('is not cut if no soft limit is set', async () => {
    const { segmenter, events } = listening({ script });
    segmenter.configure(PCM_16K, VAD);
    for (let at = 0; at < 4000; at += 20) segmenter.append(counting(at, at + 20));
    await settled();
    expect(describeEvents(events)).toEqual(['a started 200']);
  });
});

it('an append of less than one sample does not block the stream', async () => {
  const { segmenter, events } = listening({ script: () => oneTurn });
  segmenter.configure(PCM_16K, VAD);
  for (let at = 0; at < 2100; at += 100) {
    const bytes = counting(at, at + 100);
    for (const piece of [bytes.subarray(0, 7), bytes.subarray(7), new Uint8Array(0)]) {
      segmenter.append(piece);
      await settled();
    }
  }
  expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 2000', 'a committed']);
});

describe('end', () => {
  it('ends an active turn with all received audio and ignores further audio', async () => {
    const { segmenter, events } = listening({ script: () => oneTurn });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    await settled();
    await segmenter.end();
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1000', 'a committed']);
    expect((await read(turnsOf(events)[0])).samples).toEqual(countingFloat(200, 1000));
    expect(segmenter.append(counting(1000, 1100))).toBe(true);
    expect(segmenter.bufferedBytes).toBe(0);
  });

  it('waits for pending detection, which may find a turn', async () => {
    const gate = new Gate();
    const { segmenter, events } = listening({ script: () => oneTurn, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1800));
    let ended = false;
    const ending = segmenter.end().then(() => {
      ended = true;
    });
    await gate.next();
    expect([ended, describeEvents(events)]).toEqual([false, ['a started 200']]);
    await gate.next();
    await ending;
    expect(describeEvents(events)).toEqual(['a started 200', 'a stopped 1800', 'a committed']);
  });

  it('finds the turn that follows a cut', async () => {
    const started = { kind: 'started', onsetSample: 0, startSample: 0 } as const;
    const script = (stream: number): ScriptedVadEvent[] =>
      stream === 0
        ? [
            { atSample: ms(100), event: started },
            { atSample: ms(1000), event: { kind: 'paused', endSample: ms(900) } },
          ]
        : [{ atSample: ms(100), event: started }];
    const { segmenter, events } = listening({ script }, LIMIT_BYTES, 0.5);
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1500));
    await segmenter.end();
    expect(describeEvents(events)).toEqual([
      'a started 0',
      'a stopped 900',
      'a committed',
      'b started 900',
      'b stopped 1500',
      'b committed',
    ]);
  });

  it.each<[string, FakeVadOptions, string[]]>([
    ['it contains only silence', {}, []],
    ['the detector fails', { refusal: () => new Error('gone') }, ['failed: gone']],
  ])('creates no turn when %s', async (_, options, lines) => {
    const { segmenter, events } = listening(options);
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 300));
    await segmenter.end();
    await segmenter.end();
    expect(describeEvents(events)).toEqual(lines);
  });

  it('resolves immediately when the segmenter is closed', async () => {
    const gate = new Gate();
    const { segmenter, events } = listening({ script: () => oneTurn, before: gate.wait });
    segmenter.configure(PCM_16K, VAD);
    segmenter.append(counting(0, 1000));
    const ending = segmenter.end();
    segmenter.close();
    await gate.next();
    await ending;
    expect(describeEvents(events)).toEqual([]);
  });
});
