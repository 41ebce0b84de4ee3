import type { FrameEntry, RuleName, TraceEntry } from '../../tools/trace-check/check.ts';

/** Mutations of valid traces of conversations, and properties of their frames. */

type Fields = Readonly<Record<string, unknown>>;
type Trace = readonly TraceEntry[];
type ConversationRule = RuleName extends infer Rule
  ? Rule extends `conversation/${infer Name}`
    ? Name
    : never
  : never;

export interface Mutation {
  readonly name: string;
  readonly detectedBy: readonly (ConversationRule | 'plain/session-first')[];
  /** All mutants of a trace. */
  mutants(trace: Trace): readonly Trace[];
}

/** A frame in a trace, with the type in the names of the current protocol. */
export interface Spot {
  readonly at: number;
  readonly frame: Fields;
  readonly type: string;
  readonly trace: Trace;
}

export const CURRENT: readonly (readonly [beta: RegExp, current: string])[] = [
  [/^response\.(audio|text|audio_transcript)\./, 'response.output_$1.'],
  [/^conversation\.item\.created$/, 'conversation.item.added'],
];

function isEntry(entry: TraceEntry, from: 'server' | 'client'): entry is FrameEntry {
  return !('end' in entry) && entry.from === from && typeof entry.frame === 'object';
}

/** The frames of one side. */
export function spotsOf(trace: Trace, from: 'server' | 'client' = 'server'): readonly Spot[] {
  return trace.flatMap((entry, at) => {
    if (!isEntry(entry, from)) return [];
    const frame = entry.frame as Fields;
    const type = CURRENT.reduce((name, [beta, current]) => name.replace(beta, current), String(frame.type));
    return [{ at, frame, type, trace }];
  });
}

/** Replaces each matching frame by others; undefined: the mutation does not apply. */
export function replaced(
  types: RegExp,
  change: (spot: Spot) => readonly Fields[] | undefined,
  from: 'server' | 'client' = 'server',
): Mutation['mutants'] {
  return (trace) =>
    spotsOf(trace, from)
      .filter(({ type }) => types.test(type))
      .flatMap((spot) => {
        const frames = change(spot);
        if (frames === undefined) return [];
        return [trace.toSpliced(spot.at, 1, ...frames.map((frame): TraceEntry => ({ from, frame })))];
      });
}

export const dropped = (types: RegExp, applies: (spot: Spot) => boolean = () => true) =>
  replaced(types, (spot) => (applies(spot) ? [] : undefined));

/** The frame again, with another `event_id`. */
export const again = (frame: Fields): Fields => ({ ...frame, event_id: `${frame.event_id}_again` });

export const doubled = (types: RegExp, applies: (spot: Spot) => boolean = () => true) =>
  replaced(types, (spot) => (applies(spot) ? [spot.frame, again(spot.frame)] : undefined));

/** Sets the value at a path, if the path exists and the value is another one. */
export function put(
  types: RegExp,
  path: string,
  value: unknown,
  applies: (spot: Spot) => boolean = () => true,
) {
  return replaced(types, (spot) => {
    const before = at(spot.frame, path);
    const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(value);
    return isOther && applies(spot) ? [withAt(spot.frame, path.split('.'), value)] : undefined;
  });
}

/** Moves each matching frame to the place before or behind another one. */
export function moved(
  types: RegExp,
  to: RegExp,
  side: 'before' | 'behind',
  applies: (spot: Spot) => boolean = () => true,
): Mutation['mutants'] {
  return (trace) => {
    const spots = spotsOf(trace);
    return spots
      .filter((spot) => types.test(spot.type) && applies(spot))
      .flatMap((spot) => {
        const others = spots.filter((each) => to.test(each.type));
        const target =
          side === 'before'
            ? others.findLast((each) => each.at < spot.at)
            : others.find((each) => each.at > spot.at);
        const entry = trace[spot.at];
        if (target === undefined || entry === undefined) return [];
        const without = trace.toSpliced(spot.at, 1);
        return [without.toSpliced(target.at, 0, entry)];
      });
  };
}

/** Inserts a frame behind each matching one. */
export const inserted = (types: RegExp, frame: (spot: Spot) => Fields | undefined): Mutation['mutants'] =>
  replaced(types, (spot) => {
    const other = frame(spot);
    return other && [spot.frame, { event_id: `event_inserted_${spot.at}`, ...other }];
  });

/** Replaces an id in all frames. */
export function renamed(trace: Trace, from: unknown, to: unknown): Trace {
  return JSON.parse(JSON.stringify(trace).replaceAll(JSON.stringify(from), JSON.stringify(to)));
}

export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((found: unknown, name) => Object(found)[name], value);
}

export function withAt(value: unknown, path: readonly string[], put: unknown): Fields {
  const [name, ...rest] = path;
  if (name === undefined) return put as Fields;
  if (Array.isArray(value)) {
    return value.with(Number(name), withAt(value[Number(name)], rest, put)) as unknown as Fields;
  }
  return { ...(value as Fields), [name]: withAt((value as Fields)[name], rest, put) };
}

/** `response.done` of the response of an event. */
function endOf({ trace, frame }: Spot): Fields {
  const done = spotsOf(trace).find(
    (spot) => spot.type === 'response.done' && at(spot.frame, 'response.id') === responseIdOf(frame),
  );
  return Object(at(done?.frame, 'response'));
}

export function responseIdOf(frame: Fields): unknown {
  return frame.response_id ?? at(frame, 'response.id');
}

/** Whether the response of an event is complete, so that its text is that of its deltas. */
export const isWhole = (spot: Spot) => endOf(spot).status === 'completed';
export const hasStatus = (status: string) => (spot: Spot) => endOf(spot).status === status;
export const isMain = (spot: Spot) => endOf(spot).conversation_id !== null;
export const isGa = ({ trace }: Spot) => at(spotsOf(trace)[0]?.frame, 'session.audio') !== undefined;
export const hasWords = ({ frame }: Spot) => String(frame.transcript).trim() !== '';
export const isOfTurn = ({ frame, trace }: Spot) =>
  spotsOf(trace).some(
    (spot) => spot.type === 'input_audio_buffer.committed' && spot.frame.item_id === at(frame, 'item.id'),
  );
export const isOfResponse = ({ frame, trace }: Spot) =>
  spotsOf(trace).some(
    (spot) =>
      spot.type === 'response.output_item.added' && at(spot.frame, 'item.id') === at(frame, 'item.id'),
  );
export const isOfClient = (spot: Spot) => !isOfTurn(spot) && !isOfResponse(spot);
export const isMessage = ({ frame }: Spot) => at(frame, 'item.type') === 'message';
export const isCall = ({ frame }: Spot) => at(frame, 'item.type') === 'function_call';
export const hasCode =
  (code: RegExp) =>
  ({ frame }: Spot) =>
    code.test(String(at(frame, 'error.code')));
/** Whether an error rejects a whole event, not a field of an update. */
export const rejectsEvent = ({ frame }: Spot) => !String(at(frame, 'error.param')).startsWith('session.');

/** Only for traces whose responses are automatic. A response that the client requests may wait for a transcript. */
export function automatic(mutants: Mutation['mutants']): Mutation['mutants'] {
  return (trace) =>
    spotsOf(trace, 'client').some(({ type }) => type === 'response.create') ? [] : mutants(trace);
}
