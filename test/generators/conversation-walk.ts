import fc from 'fast-check';
import type { TraceEntry } from '../../tools/trace-check/check.ts';
import { CLIENT_FRAMES, ENDS, ITEM_FRAMES, lastItemId, REPORTS } from './conversation-actions.ts';
import { opened, received, recordClientFrame, type Simulation, settled } from './conversation-simulation.ts';

/** Random conversations with delays between client and server. */

const INVALID: readonly unknown[] = [
  { type: 'dance' },
  { type: 'input_audio_buffer.append', audio: '*' },
  { type: 'input_audio_buffer.append' },
  { type: 'conversation.item.create', item: { type: 'message', role: 'user' } },
  { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'none', output: '' } },
  { type: 'conversation.item.retrieve', item_id: 7 },
  { type: 'response.create', response: { output_modalities: ['smell'] } },
  { type: 'response.create', response: { input: [{ type: 'item_reference', id: 'none' }] } },
  { type: 'response.cancel', response_id: 'resp_other' },
  { type: 'output_audio_buffer.clear' },
  {
    type: 'session.update',
    session: { instructions: 'New.', colour: 'red', audio: { output: { speed: 9 } } },
  },
  { type: 'session.update' },
  [],
  'not json',
  new Uint8Array(3),
];
/** The idle timeout is rare without its own frames. */
const IDLE = new Array(4).fill(CLIENT_FRAMES['let responses continue']);
const FRAMES = [...Object.values(CLIENT_FRAMES), ...IDLE, ...INVALID];
const ITEMS = Object.values(ITEM_FRAMES);
const ENGINES = [...Object.values(REPORTS), ...new Array(4).fill(REPORTS['idle time elapses'])];
const CLOSES = Object.values(ENDS);

export type Step =
  | { readonly kind: 'send'; readonly frame: number; readonly isNamed: boolean }
  | { readonly kind: 'item'; readonly frame: number; readonly isNamed: boolean }
  | { readonly kind: 'serve' }
  | { readonly kind: 'engine'; readonly report: number }
  | { readonly kind: 'end'; readonly report: number };

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      frame: fc.nat(FRAMES.length - 1),
      isNamed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('item' as const),
      frame: fc.nat(ITEMS.length - 1),
      isNamed: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.constant({ kind: 'serve' } as const) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('engine' as const), report: fc.nat(ENGINES.length - 1) }),
  },
);
/** The last step of a walk. */
export const lastStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('end' as const),
  report: fc.nat(CLOSES.length - 1),
});

/** Serializes a frame. Valid ones have their own `event_id` or none. */
function serialize(frame: unknown, eventId: string | undefined): string | Uint8Array {
  if (typeof frame === 'string' || frame instanceof Uint8Array) return frame;
  if (Array.isArray(frame)) return '[]';
  const { event_id: _, ...fields } = frame as Record<string, unknown>;
  return JSON.stringify(eventId === undefined ? fields : { ...fields, event_id: eventId });
}

function traceFrame(frame: string | Uint8Array): unknown {
  if (typeof frame !== 'string') return { binary: frame.length };
  return frame === 'not json' ? frame : JSON.parse(frame);
}

export interface Walk {
  /** All frames and the end. */
  readonly entries: readonly TraceEntry[];
  readonly end: Simulation;
}

/** Plays the steps, then completes everything. */
export function play(steps: readonly Step[], isBeta: boolean): Walk {
  const entries: TraceEntry[] = [];
  let now = opened(isBeta, (entry) => entries.push(entry));
  const inbox: (string | Uint8Array)[] = [];
  const serve = () => {
    const frame = inbox.shift();
    if (frame !== undefined) now = received(now, frame);
  };
  for (const [index, each] of steps.entries()) {
    if (now.hasEnded) break;
    if (each.kind === 'serve') serve();
    else if (each.kind === 'engine') now = ENGINES[each.report]?.(now) ?? now;
    else if (each.kind === 'end') now = CLOSES[each.report]?.(now) ?? now;
    else {
      const source = each.kind === 'send' ? FRAMES[each.frame] : ITEMS[each.frame]?.(lastItemId(now));
      const frame = serialize(source, each.isNamed ? `c${index}` : undefined);
      now = recordClientFrame(now, traceFrame(frame));
      inbox.push(frame);
    }
  }
  while (inbox.length > 0 && !now.hasEnded) serve();
  return { entries, end: settled(now) };
}
