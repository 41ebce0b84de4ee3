/** Interruptions: sounds that must not stop the assistant, and words that must. */

import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import { detectTurns, openListeningModels } from '../../conversations/detected-turn.ts';
import { spokenLines } from '../../corpus/conversations/callers.ts';
import { type InterruptionKind, interruptionClips } from '../../corpus/conversations/interruptions.ts';
import { type Row, report } from '../../report.ts';
import { quantile } from '../../statistics.ts';

/** Each longer than a clip, so that the assistant is still speaking at its end. */
const ASSISTANT = [
  'We are open from eleven in the morning until ten in the evening, and the kitchen closes half an hour earlier. On Sundays we also serve breakfast.',
  'Our restaurant is close to the station, on the left side of the main road. There is a car park behind the building, which is free for our guests.',
  'The soup of the day is tomato with basil, and as a main course I can recommend the salmon with rice and green beans. The dessert is apple cake.',
];
/** Number of the voice of the assistant. */
const ASSISTANT_VOICE = 1;
const CONCURRENT = 2;
const START_MS = 800;
const FALSE_TARGET_PERCENT = 3;

export async function benchConversationInterruptions(): Promise<void> {
  const replies = await spokenLines(ASSISTANT.map((text) => ({ text, voice: ASSISTANT_VOICE })));
  const clips = await interruptionClips(replies.map(({ samples }) => samples));
  const models = await openListeningModels();
  const starts = new Map<InterruptionKind, (number | undefined)[]>();
  try {
    const waiting = [...clips];
    const run = async () => {
      for (let clip = waiting.shift(); clip !== undefined; clip = waiting.shift()) {
        const { kind, samples, reply } = clip;
        const { samples: speech = new Float32Array() as Float32Samples, text = '' } = replies[reply] ?? {};
        const { events } = await detectTurns(models, samples, 'server_vad', { samples: speech, text });
        const start = events.find((event) => event.kind === 'speech_started');
        starts.set(kind, [...(starts.get(kind) ?? []), start?.atMs]);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, run));
  } finally {
    await models.close();
  }
  const countOf = (kind: InterruptionKind) =>
    (starts.get(kind) ?? []).filter((ms) => ms !== undefined).length;
  const kinds = [...starts.keys()].filter((kind) => kind !== 'words');
  const total = kinds.reduce((sum, kind) => sum + (starts.get(kind)?.length ?? 0), 0);
  const wrong = kinds.reduce((sum, kind) => sum + countOf(kind), 0);
  const words = starts.get('words') ?? [];
  const delays = words.flatMap((ms) => (ms === undefined ? [] : [ms - START_MS]));
  const rows: Row[] = [
    {
      measure: `${total} sounds that do not interrupt: interrupted`,
      ours: (100 * wrong) / total,
      unit: '%',
      target: FALSE_TARGET_PERCENT,
    },
    ...kinds.map(
      (kind): Row => ({
        measure: `${kind}: interrupted, of ${starts.get(kind)?.length}`,
        ours: countOf(kind),
        unit: '',
      }),
    ),
    { measure: `${words.length} interruptions: missed`, ours: words.length - delays.length, unit: '' },
    {
      measure: 'start of the words → end of the speech of the assistant, median',
      ours: quantile(delays, 0.5),
      unit: 'ms',
    },
    { measure: 'the same, p95', ours: quantile(delays, 0.95), unit: 'ms' },
  ];
  await report('conversation-interruptions', 'Conversations: interruptions', rows, [
    'Coughs and music are generated, back-channels and words are spoken by seven synthetic voices, and the echo is the speech of the assistant at -12 dB with delays of 60 to 300 ms.',
    `${CONCURRENT} callers at a time, in real time, with voice activity detection (\`server_vad\`).`,
  ]);
}
