import { describe, expect, test } from 'vitest';
import { barSegments, parseTiming, stageTimes, type TurnTiming, withStage } from './turn-timing.ts';

const TURN: TurnTiming = { id: 'item_1', input: 'voice', endMs: 1000, measured: {}, reported: {} };

describe('withStage', () => {
  test('sets the time after the end of the input once', () => {
    const measured = withStage(withStage(TURN, 'decision', 1234.4), 'decision', 2000);
    expect(measured.measured).toEqual({ decision: 234 });
  });

  test('is never negative', () => {
    expect(withStage(TURN, 'transcript', 990).measured).toEqual({ transcript: 0 });
  });
});

describe('stageTimes', () => {
  test('prefers the times of the service', () => {
    const turn = { ...TURN, measured: { decision: 300, audio: 900 }, reported: { audio: 850, token: 500 } };
    expect(stageTimes(turn)).toEqual({ decision: 300, token: 500, audio: 850 });
  });
});

describe('parseTiming', () => {
  test('reads the fields', () => {
    const timing = { turn_decision_ms: 210.4, transcript_ms: 260, first_token_ms: 500, first_audio_ms: 700 };
    expect(parseTiming(timing)).toEqual({ decision: 210, transcript: 260, token: 500, audio: 700 });
  });

  test('ignores what is missing, unknown or not a number', () => {
    const timing = {
      turn_decision_ms: null,
      transcript_ms: '9',
      first_token_ms: -1,
      first_audio_ms: 5,
      x: 1,
    };
    expect(parseTiming(timing)).toEqual({ audio: 5 });
    for (const value of [undefined, null, 'fast', 3, []]) expect(parseTiming(value)).toEqual({});
  });
});

describe('barSegments', () => {
  test('are consecutive', () => {
    expect(barSegments({ decision: 200, transcript: 250, token: 500, audio: 700 })).toEqual([
      { stage: 'decision', startMs: 0, endMs: 200 },
      { stage: 'transcript', startMs: 200, endMs: 250 },
      { stage: 'token', startMs: 250, endMs: 500 },
      { stage: 'audio', startMs: 500, endMs: 700 },
    ]);
  });

  test('skip missing stages, and stages that ended early have no length', () => {
    expect(barSegments({ decision: 200, transcript: 150, audio: 700 })).toEqual([
      { stage: 'decision', startMs: 0, endMs: 200 },
      { stage: 'transcript', startMs: 200, endMs: 200 },
      { stage: 'audio', startMs: 200, endMs: 700 },
    ]);
    expect(barSegments({})).toEqual([]);
  });
});
