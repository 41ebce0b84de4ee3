import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONVERSATION_RULES,
  checkTrace,
  type RuleName,
  type TraceEntry,
} from '../../tools/trace-check/check.ts';
import { ACTIONS } from '../generators/conversation-actions.ts';
import {
  again,
  at,
  isWhole,
  rejectsEvent,
  type Spot,
  spotsOf,
} from '../generators/conversation-mutant-tools.ts';
import { MUTATIONS } from '../generators/conversation-mutants.ts';
import { RECORDINGS, recorded } from '../generators/conversation-recordings.ts';
import { opened, type Simulation, settled } from '../generators/conversation-simulation.ts';

/** Mutants of recorded conversations violate the expected rules. */

const recordings = new Map<string, readonly TraceEntry[]>();

/** The idle time is too long for a test with the real clock. */
function idleTimeout(): readonly TraceEntry[] {
  const entries: TraceEntry[] = [];
  const steps = ['let responses continue', 'respond', 'reply ends', 'idle time elapses', 'reply speaks'];
  const play = (before: Simulation, name: string) => ACTIONS[name]?.(before) ?? expect.fail(name);
  settled(
    steps.reduce(
      play,
      opened(false, (entry) => entries.push(entry)),
    ),
  );
  return entries;
}

beforeAll(async () => {
  for (const name of RECORDINGS) recordings.set(name, await recorded(name));
  recordings.set('an idle timeout', idleTimeout());
});

test('the recordings violate no rule', () => {
  for (const [name, trace] of recordings) expect(checkTrace(trace), name).toEqual([]);
});

describe('mutants are detected', () => {
  const violated = new Set<RuleName>();

  test.each(MUTATIONS)('$name', ({ detectedBy, mutants }) => {
    const expected = detectedBy.map((rule) =>
      rule === 'plain/session-first' ? 'session-first' : `conversation/${rule}`,
    );
    let count = 0;
    for (const [name, trace] of recordings) {
      for (const mutant of mutants(trace)) {
        count += 1;
        const rules = checkTrace(mutant).map(({ rule }) => rule);
        for (const rule of rules) violated.add(rule);
        expect(
          expected.some((rule) => rules.includes(rule as RuleName)),
          `${name}: ${[...new Set(rules)].join(', ')}`,
        ).toBe(true);
      }
    }
    expect(count).toBeGreaterThan(0);
  });

  test('every rule detects one', () => {
    const rules = Object.keys(CONVERSATION_RULES).map((rule) => `conversation/${rule}` as RuleName);
    expect(rules.filter((rule) => !violated.has(rule))).toEqual([]);
  });
});

describe('a frame of the server that is', () => {
  /** Whether the trace without the frame, or with the frame again, is another valid one. */
  function isValidEither({ frame, type, ...spot }: Spot): boolean {
    // The duration of the audio is unknown.
    if (/output_audio\.delta$/.test(type)) return true;
    // An update may have further errors.
    if (type === 'error') return !rejectsEvent({ frame, type, ...spot });
    // A failed transcription has no transcript.
    if (/transcription\.delta$/.test(type)) return !isTranscribed(frame.item_id, spot.trace);
    // Speech that is cut off ends with a part of its words.
    return /output_audio_transcript\.delta$/.test(type) && !isWhole({ frame, type, ...spot });
  }

  const isTranscribed = (itemId: unknown, trace: readonly TraceEntry[]) =>
    spotsOf(trace).some(({ type, frame }) => type.endsWith('.completed') && frame.item_id === itemId);

  test.each([
    ['missing', () => []],
    ['repeated', (frame: Spot['frame']) => [frame, again(frame)]],
  ])('%s is detected', (_, change) => {
    for (const [name, trace] of recordings) {
      for (const spot of spotsOf(trace).filter((each) => !isValidEither(each))) {
        const frames = change(spot.frame).map((frame): TraceEntry => ({ from: 'server', frame }));
        const mutant = trace.toSpliced(spot.at, 1, ...frames);
        expect(checkTrace(mutant), `${name}: ${spot.type} at ${spot.at}`).not.toEqual([]);
      }
    }
  });

  /** Whether two adjacent frames may have either order. */
  function areApart(first: Spot, second: Spot): boolean {
    const types = [first.type, second.type];
    const isEach = (pattern: RegExp) => types.every((type) => pattern.test(type));
    const responses = [first, second].map(({ frame }) => frame.response_id ?? at(frame, 'response.id'));
    const outputs = [first, second].map(({ frame }) => frame.output_index);
    const isRequested = spotsOf(first.trace, 'client').some(({ type }) => type === 'response.create');
    const answers = types.filter((type) =>
      /^error$|updated$|cleared$|(retrieved|truncated|deleted)$/.test(type),
    );
    // Text and audio of speech, and errors of one update, have no order. Answers are independent of the engines. Deltas of the same kind are compared as a whole.
    return (
      first.type === second.type ||
      (isEach(/output_audio(_transcript)?\./) &&
        types.filter((type) => type.includes('transcript')).length === 1) ||
      answers.length === 1 ||
      // A response that the client requests may wait for a transcript.
      (isRequested && isEach(/transcription\.|^response\.created$/)) ||
      // A commit may wait until it is known whether its turn is an interruption.
      [first, second].some(({ frame }) => at(frame, 'error.code') === 'input_audio_buffer_commit_empty') ||
      (responses.every((id) => id !== undefined) && responses[0] !== responses[1]) ||
      (outputs.every((index) => index !== undefined) && outputs[0] !== outputs[1])
    );
  }

  test('swapped with the next one is detected', () => {
    for (const [name, trace] of recordings) {
      for (const first of spotsOf(trace)) {
        const second = spotsOf(trace).find(({ at: place }) => place === first.at + 1);
        if (second === undefined || areApart(first, second)) continue;
        const [a, b] = [trace[first.at], trace[second.at]] as [TraceEntry, TraceEntry];
        const mutant = trace.toSpliced(first.at, 2, b, a);
        expect(checkTrace(mutant), `${name}: ${first.type}, ${second.type} at ${first.at}`).not.toEqual([]);
      }
    }
  });
});
