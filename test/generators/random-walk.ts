import fc from 'fast-check';
import type { TraceEntry } from '../../tools/trace-check/check.ts';
import {
  detected,
  late,
  type Opening,
  opened,
  received,
  recordClientFrame,
  type Simulation,
  STORED_VOICE,
  settled,
  spoke,
  transcribed,
} from '../doubles/simulated-connection.ts';

/** Random conversations with delays between client and server. */

const text = (words: string) => ({ type: 'input_text', text: words });
const append = { type: 'input_audio_buffer.append', audio: 'AAAA' };
const update = (session: unknown) => ({ type: 'session.update', session });
const input = (fields: object) => update({ audio: { input: fields } });
const create = (item: unknown, more: object = {}) => ({ type: 'conversation.item.create', item, ...more });
const userMessage = (words: string, more: object = {}) => ({ role: 'user', content: [text(words)], ...more });

/** Client frames; texts and bytes are sent unchanged. */
const FRAMES: readonly unknown[] = [
  append,
  append,
  { ...append, audio: '' },
  { ...append, audio: '*' },
  { ...append, audio: 'AAA' },
  { type: 'input_audio_buffer.commit' },
  { type: 'input_audio_buffer.commit' },
  { type: 'input_audio_buffer.clear' },
  create(userMessage('Say it.')),
  create(userMessage('One. Two? 三。'), { previous_item_id: 'root' }),
  create(userMessage('Mine.', { id: 'mine' })),
  create(userMessage('Behind.'), { previous_item_id: 'mine' }),
  create({ role: 'assistant', content: [{ type: 'output_text', text: 'Yours.' }] }),
  create({ role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }, text('')] }),
  create({ type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' }),
  create({ role: 'user' }),
  { type: 'response.create' },
  { type: 'response.create' },
  { type: 'response.create', response: { modalities: ['text'], metadata: { a: 'b' } } },
  { type: 'response.create', response: 7 },
  { type: 'response.cancel' },
  { type: 'response.cancel', response_id: 'resp_other' },
  { type: 'conversation.item.retrieve', item_id: 'mine' },
  { type: 'conversation.item.truncate', item_id: 'mine', content_index: 0, audio_end_ms: 5 },
  { type: 'conversation.item.delete', item_id: 'mine' },
  update({ output_modalities: ['audio'] }),
  update({ type: 'realtime', output_modalities: ['audio'], audio: { output: { voice: { id: 'alloy' } } } }),
  update({ type: 'translation', colour: 'red' }),
  update({ audio: { output: { format: { type: 'audio/pcmu' }, voice: STORED_VOICE } } }),
  update({}),
  update(null),
  input({ turn_detection: { type: 'server_vad' } }),
  input({ turn_detection: { type: 'server_vad', threshold: 2, prefix_padding_ms: 0 } }),
  input({ turn_detection: { type: 'semantic_vad' } }),
  input({ turn_detection: null }),
  input({ format: { type: 'audio/pcma' }, noise_reduction: {} }),
  input({ transcription: { language: 'xx' } }),
  { type: 'transcription_session.update', session: { turn_detection: null, voice: null } },
  { type: 'dance' },
  [],
  'not json',
  new Uint8Array(3),
];

export type Step =
  | { readonly kind: 'send'; readonly frame: number; readonly isNamed: boolean }
  | { readonly kind: 'serve' }
  | { readonly kind: 'engine'; readonly fact: number };

const DETECTOR_FAILS = 3;
const FACTS: readonly ((before: Simulation) => Simulation | undefined)[] = [
  (before) => detected(before, 'started'),
  (before) => detected(before, 'paused'),
  (before) => detected(before, 'stopped'),
  (before) => detected(before, 'detector_failed'),
  (before) => transcribed(before, 'delta'),
  (before) => transcribed(before, 'completed'),
  (before) => transcribed(before, 'failed'),
  (before) => spoke(before, 'audio'),
  (before) => spoke(before, 'ended'),
  (before) => spoke(before, 'failed'),
  late,
];

/** Whether a step fails the detector. Its error can be taken for the response to any event, so rules are lenient. */
export function failsDetector(each: Step): boolean {
  return each.kind === 'engine' && each.fact === DETECTOR_FAILS;
}

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      frame: fc.nat(FRAMES.length - 1),
      isNamed: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ kind: 'serve' } as const) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('engine' as const), fact: fc.nat(FACTS.length - 1) }),
  },
);

/** Serializes the frame of a step. */
function serialize(frame: unknown, eventId: string | undefined): string | Uint8Array {
  if (typeof frame === 'string' || frame instanceof Uint8Array) return frame;
  const isObject = !Array.isArray(frame) && eventId !== undefined;
  return JSON.stringify(isObject ? { ...(frame as object), event_id: eventId } : frame);
}

/** The trace entry of a frame. */
function traceFrame(frame: string | Uint8Array): unknown {
  if (typeof frame !== 'string') return { binary: frame.length };
  return frame === 'not json' ? frame : JSON.parse(frame);
}

export interface Walk {
  /** All frames and the end. */
  readonly entries: readonly TraceEntry[];
  /** Violations by the state machines. */
  readonly violations: Simulation['violations'];
}

/** Plays the steps, then completes everything. */
export function play(steps: readonly Step[], opening: Omit<Opening, 'watch'>): Walk {
  const entries: TraceEntry[] = [];
  let now = opened({ ...opening, watch: (entry) => entries.push(entry) });
  const inbox: (string | Uint8Array)[] = [];
  const serve = () => {
    const frame = inbox.shift();
    if (frame !== undefined) now = received(now, frame);
  };
  for (const [index, each] of steps.entries()) {
    if (each.kind === 'serve') serve();
    else if (each.kind === 'engine') now = FACTS[each.fact]?.(now) ?? now;
    else {
      const frame = serialize(FRAMES[each.frame], each.isNamed ? `c${index}` : undefined);
      now = recordClientFrame(now, traceFrame(frame));
      inbox.push(frame);
    }
  }
  while (inbox.length > 0) serve();
  return { entries, violations: settled(now).violations };
}
