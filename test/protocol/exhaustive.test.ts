import { describe, expect, test } from 'vitest';
import type { ClientCommand } from '../../plugins/realtime/state/realtime-machine.ts';
import {
  appended,
  clientSent,
  detected,
  drained,
  late,
  opened,
  type Simulation,
  settled,
  spoke,
  transcribed,
} from '../doubles/simulated-connection.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Plays every sequence of client events and engine results up to a depth on the pure state machines of a connection.
 * All server frames follow the order rules, and everything that was started can end.
 */

const item = { role: 'user', content: [{ type: 'input_text', text: 'Say it.' }] } as const;
const detection = (type: object | null): ClientCommand => ({
  type: 'session.update',
  session: { audio: { input: { turn_detection: type } } },
});

type Action = (before: Simulation) => Simulation | undefined;
const send =
  (event: ClientCommand): Action =>
  (before) =>
    clientSent(before, event);

const ALPHABET: Readonly<Record<string, Action>> = {
  append: (before) => (before.hasAudio ? undefined : appended(before)),
  commit: send({ type: 'input_audio_buffer.commit' }),
  clear: send({ type: 'input_audio_buffer.clear' }),
  'detect turns': (before) =>
    before.turn.kind === 'manual' ? clientSent(before, detection({ type: 'server_vad' })) : undefined,
  'detect none': (before) =>
    before.turn.kind === 'manual' ? undefined : clientSent(before, detection(null)),
  'create item': send({ type: 'conversation.item.create', item }),
  'create response': send({ type: 'response.create' }),
  'cancel response': send({ type: 'response.cancel' }),
  'speech starts': (before) => detected(before, 'started'),
  'speech stops': (before) => detected(before, 'stopped'),
  'detector fails': (before) => detected(before, 'detector_failed'),
  words: (before) => transcribed(before, 'delta'),
  transcript: (before) => transcribed(before, 'completed'),
  'no transcript': (before) => transcribed(before, 'failed'),
  audio: (before) => spoke(before, 'audio'),
  'audio ends': (before) => spoke(before, 'ended'),
  'audio fails': (before) => spoke(before, 'failed'),
  'late facts': late,
  drain: (before) => (before.isDeaf ? undefined : drained(before)),
};
const ACTIONS = Object.entries(ALPHABET);

interface Walk {
  readonly from: string;
  readonly start: (dialect: 'spec' | 'ga') => Simulation;
  readonly depth: number;
  readonly sequences: number;
}

const BUSY_CONNECTION = [
  ...['append', 'commit', 'append', 'commit'],
  ...['detect turns', 'append', 'speech starts', 'create response'],
];
const WALKS: readonly Walk[] = [
  {
    from: 'a connection with the audio modality',
    start: configured,
    depth: repetitions(4, 6),
    sequences: repetitions(4038, 300_647),
  },
  {
    from: 'an open turn, two commits and a response in flight',
    start: (dialect) =>
      BUSY_CONNECTION.reduce((now, name) => ALPHABET[name]?.(now) ?? now, configured(dialect)),
    depth: repetitions(4, 5),
    sequences: repetitions(35_708, 460_091),
  },
];

function configured(dialect: 'spec' | 'ga'): Simulation {
  const speaking = clientSent(opened({ dialect }), {
    type: 'session.update',
    session: { output_modalities: ['audio'] },
  });
  return clientSent(speaking, { type: 'conversation.item.create', item });
}

/** Plays every sequence of up to `steps` further steps. @returns the number of sequences. */
function walk(before: Simulation, steps: number, path: readonly string[]): number {
  let sequences = 0;
  for (const [name, act] of ACTIONS) {
    const after = act(before);
    if (after === undefined) continue;
    sequences += 1;
    const now = [...path, name];
    expectNoViolation(after, now);
    // A closed connection sends nothing.
    if (steps === 1 || after.ended) continue;
    expectNoViolation(settled(after), [...now, 'completion of everything']);
    sequences += walk(after, steps - 1, now);
  }
  return sequences;
}

function expectNoViolation({ violations }: Simulation, path: readonly string[]): void {
  const [first] = violations;
  if (first !== undefined) expect.fail(`${path.join(', ')}: ${first.rule}: ${first.message}`);
}

for (const { from, start, depth, sequences } of WALKS) {
  describe(`from ${from}`, () => {
    test.each(['spec', 'ga'] as const)(
      `all ${sequences} sequences of up to ${depth} steps follow the rules in the %s dialect`,
      (dialect) => {
        const initial = start(dialect);
        expectNoViolation(initial, []);
        expect(walk(initial, depth, [])).toBe(sequences);
      },
    );
  });
}
