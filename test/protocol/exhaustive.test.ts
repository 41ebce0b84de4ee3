import { describe, expect, test } from 'vitest';
import type { ClientCommand } from '../../plugins/realtime/state/realtime-machine.ts';
import {
  appended,
  asked,
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
 * Every sequence of client events and engine facts to a depth, over the pure machines of a connection: the frames
 * that they send keep every order rule, and everything that was started can end after any sequence.
 */

const item = { role: 'user', content: [{ type: 'input_text', text: 'Say it.' }] } as const;
const detection = (type: object | null): ClientCommand => ({
  type: 'session.update',
  session: { audio: { input: { turn_detection: type } } },
});

type Action = (before: Simulation) => Simulation | undefined;
const ask =
  (event: ClientCommand): Action =>
  (before) =>
    asked(before, event);

const ALPHABET: Readonly<Record<string, Action>> = {
  append: (before) => (before.hasAudio ? undefined : appended(before)),
  commit: ask({ type: 'input_audio_buffer.commit' }),
  clear: ask({ type: 'input_audio_buffer.clear' }),
  'detect turns': (before) =>
    before.turn.kind === 'manual' ? asked(before, detection({ type: 'server_vad' })) : undefined,
  'detect none': (before) => (before.turn.kind === 'manual' ? undefined : asked(before, detection(null))),
  'create item': ask({ type: 'conversation.item.create', item }),
  'create response': ask({ type: 'response.create' }),
  'cancel response': ask({ type: 'response.cancel' }),
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
  readonly begin: (dialect: 'spec' | 'ga') => Simulation;
  readonly depth: number;
  readonly sequences: number;
}

const IN_THE_MIDDLE = [
  ...['append', 'commit', 'append', 'commit'],
  ...['detect turns', 'append', 'speech starts', 'create response'],
];
const WALKS: readonly Walk[] = [
  {
    from: 'a connection that may speak',
    begin: configured,
    depth: repetitions(5, 6),
    sequences: repetitions(34_198, 300_647),
  },
  {
    from: 'an open turn, two commits and a response in flight',
    begin: (dialect) =>
      IN_THE_MIDDLE.reduce((now, name) => ALPHABET[name]?.(now) ?? now, configured(dialect)),
    depth: repetitions(4, 5),
    sequences: repetitions(35_708, 460_091),
  },
];

function configured(dialect: 'spec' | 'ga'): Simulation {
  const speaking = asked(opened({ dialect }), {
    type: 'session.update',
    session: { output_modalities: ['audio'] },
  });
  return asked(speaking, { type: 'conversation.item.create', item });
}

/** Walks every sequence of so many more steps, and fewer. @returns how many there are. */
function walk(before: Simulation, steps: number, path: readonly string[]): number {
  let sequences = 0;
  for (const [name, act] of ACTIONS) {
    const after = act(before);
    if (after === undefined) continue;
    sequences += 1;
    const now = [...path, name];
    expectKept(after, now);
    // A connection that was closed answers nothing more.
    if (steps === 1 || after.ended) continue;
    expectKept(settled(after), [...now, 'and all that began ends']);
    sequences += walk(after, steps - 1, now);
  }
  return sequences;
}

function expectKept({ violations }: Simulation, path: readonly string[]): void {
  const [first] = violations;
  if (first !== undefined) expect.fail(`${path.join(', ')}: ${first.rule}: ${first.message}`);
}

for (const { from, begin, depth, sequences } of WALKS) {
  describe(`from ${from}`, () => {
    test.each(['spec', 'ga'] as const)(
      `all ${sequences} sequences of up to ${depth} steps keep every rule, with the %s names`,
      (dialect) => {
        const beginning = begin(dialect);
        expectKept(beginning, []);
        expect(walk(beginning, depth, [])).toBe(sequences);
      },
    );
  });
}
