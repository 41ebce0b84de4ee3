import type { FrameEntry, RuleName, TraceEntry } from '../../tools/trace-check/check.ts';

/** Ways to break a legal trace. Each names the rules of which one must notice. */

type Fields = Record<string, unknown>;
type Trace = readonly TraceEntry[];

export interface Mutation {
  readonly name: string;
  readonly noticedBy: readonly RuleName[];
  /** A broken copy, or undefined when the trace has nothing of the kind. */
  mutate(trace: Trace, random: () => number): Trace | undefined;
}

/** A frame of the server in a trace. */
interface Spot {
  readonly at: number;
  readonly entry: FrameEntry;
  readonly frame: Fields;
  readonly type: string;
  readonly trace: Trace;
}

function spots(trace: Trace, from: 'server' | 'client' = 'server'): Spot[] {
  return trace.flatMap((entry, at) => {
    if ('end' in entry || entry.from !== from || typeof entry.frame !== 'object') return [];
    const frame = entry.frame as Fields;
    return [{ at, entry, frame, type: String(frame.type), trace }];
  });
}

function chosen<T>(values: readonly T[], random: () => number): T | undefined {
  return values[Math.floor(random() * values.length)];
}

/** A trace without the frames that fit. */
function without(trace: Trace, fits: (frame: Fields) => boolean): Trace {
  return trace.filter((entry) => 'end' in entry || !fits(Object(entry.frame)));
}

/** Replaces one frame that fits with others; `change` gives undefined where it cannot. */
function replaced(
  fits: (spot: Spot) => boolean,
  change: (spot: Spot, random: () => number) => readonly unknown[] | undefined,
  from: 'server' | 'client' = 'server',
): Mutation['mutate'] {
  return (trace, random) => {
    const spot = chosen(spots(trace, from).filter(fits), random);
    const frames = spot === undefined ? undefined : change(spot, random);
    if (spot === undefined || frames === undefined) return undefined;
    return trace.toSpliced(spot.at, 1, ...frames.map((frame) => ({ from, frame }) as const));
  };
}

const dropped = (...types: readonly string[]) =>
  replaced(
    ({ type }) => types.includes(type),
    () => [],
  );
const changed = (types: readonly string[], change: (frame: Fields) => Fields) =>
  replaced(
    ({ type }) => types.includes(type),
    ({ frame }) => [change(frame)],
  );
const doubled = (...types: readonly string[]) =>
  replaced(
    ({ type }) => types.includes(type),
    ({ frame }) => [frame, anew(frame)],
  );

/** The frame under an event id of its own. */
function anew(frame: Fields): Fields {
  return { ...frame, event_id: `${frame.event_id}_again` };
}

/** A copy in which the value at a path is another; undefined takes it away. */
function withAt(value: unknown, path: readonly (string | number)[], put: unknown): Fields {
  const [name, ...rest] = path;
  if (name === undefined) return put as Fields;
  if (Array.isArray(value)) {
    return value.with(Number(name), withAt(value[Number(name)], rest, put)) as unknown as Fields;
  }
  const fields = (value ?? {}) as Fields;
  if (rest.length === 0 && put === undefined) {
    const { [name]: _, ...others } = fields;
    return others;
  }
  return { ...fields, [name]: withAt(fields[name], rest, put) };
}

const put = (types: readonly string[], path: string, value: unknown) =>
  changed(types, (frame) => withAt(frame, path.split('.'), value));

/** The status of a response that ends in a frame. */
const ends = (status: string) => (spot: Spot) =>
  spot.type === 'response.done' && (spot.frame.response as Fields).status === status;

/** Frames whose neighbour in the trace is also the server's and of another type change places with it. */
function swapped(first: RegExp, second: RegExp): Mutation['mutate'] {
  return (trace, random) => {
    const all = spots(trace);
    const pairs = all.flatMap((spot, place) => {
      const next = all[place + 1];
      const fit = next?.at === spot.at + 1 && first.test(spot.type) && second.test(next.type);
      return fit && spot.type !== next.type ? [[spot, next] as const] : [];
    });
    const pair = chosen(pairs, random);
    if (pair === undefined) return undefined;
    return trace.toSpliced(pair[0].at, 2, pair[1].entry, pair[0].entry);
  };
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const DELTA = `${TRANSCRIPTION}.delta`;
const COMPLETED = `${TRANSCRIPTION}.completed`;
const FAILED = `${TRANSCRIPTION}.failed`;
const AUDIO = ['response.audio.delta', 'response.output_audio.delta'];
const AUDIO_DONE = ['response.audio.done', 'response.output_audio.done'];
const TEXT = ['response.audio_transcript.delta', 'response.output_audio_transcript.delta'];
const TEXT_DONE = ['response.audio_transcript.done', 'response.output_audio_transcript.done'];
const PARTS = [...AUDIO, ...AUDIO_DONE, ...TEXT, ...TEXT_DONE, 'response.content_part.done'];
const INPUT = 'input_audio_buffer';
const CREATED = 'conversation.item.created';

const renamed = (type: string) =>
  type.includes('output_audio')
    ? type.replace('output_audio', 'audio')
    : type.replace('.audio', '.output_audio');

/** A delta of a transcription that completes; the text of a failed one is unknown. */
const completes = (spot: Spot) =>
  spots(spot.trace).some(({ type, frame }) => type === COMPLETED && frame.item_id === spot.frame.item_id);

export const MUTATIONS: readonly Mutation[] = [
  { name: 'session.created is dropped', noticedBy: ['session-first'], mutate: dropped('session.created') },
  { name: 'session.created comes twice', noticedBy: ['session-first'], mutate: doubled('session.created') },
  {
    name: 'session.updated is dropped',
    noticedBy: ['answer-missing', 'answer-order'],
    mutate: dropped('session.updated'),
  },
  {
    name: 'session.updated comes twice',
    noticedBy: ['answer-unasked', 'answer-order', 'answer-missing', 'session-keeps'],
    mutate: doubled('session.updated'),
  },
  {
    name: 'the session gets another id',
    noticedBy: ['session-same'],
    mutate: put(['session.updated'], 'session.id', 'sess_other'),
  },
  {
    name: 'an unsent setting changes',
    noticedBy: ['session-keeps'],
    mutate: put(['session.updated'], 'session.tts_model', 'another'),
  },
  {
    name: 'a refused field applies',
    noticedBy: ['session-refusal', 'session-keeps'],
    mutate: replaced(
      ({ type, at, trace }) => {
        const before = trace[at - 1];
        const frame = before !== undefined && 'frame' in before ? (before.frame as Fields) : {};
        return type === 'session.updated' && frame.type === 'error';
      },
      ({ frame }) => [
        withAt(frame, ['session', 'audio', 'input', 'noise_reduction'], { type: 'near_field' }),
      ],
    ),
  },

  {
    name: 'an error is dropped',
    noticedBy: ['answer-missing', 'answer-order', 'session-refusal'],
    mutate: replaced(
      // A missing error for an unknown field of an update cannot be detected.
      ({ type, frame }) => type === 'error' && !String((frame.error as Fields).param).startsWith('session'),
      () => [],
    ),
  },
  {
    name: 'an error loses its event_id',
    noticedBy: ['error-echo', 'answer-order', 'answer-missing'],
    mutate: replaced(
      ({ type, frame }) => type === 'error' && (frame.error as Fields).event_id !== null,
      ({ frame }) => [withAt(frame, ['error', 'event_id'], null)],
    ),
  },
  {
    name: 'an error echoes a foreign event_id',
    noticedBy: ['error-echo'],
    mutate: put(['error'], 'error.event_id', 'c_foreign'),
  },
  {
    name: 'an error has a code that is not in the table',
    noticedBy: ['error-shape'],
    mutate: put(['error'], 'error.code', 'invalid_value'),
  },
  {
    name: 'an error has the wrong type',
    noticedBy: ['error-shape'],
    mutate: put(['error'], 'error.type', 'server_error'),
  },
  {
    name: 'response_in_progress while none is',
    noticedBy: ['error-cause'],
    mutate: replaced(
      ({ type, frame }) =>
        type === 'error' &&
        (frame.error as Fields).code === 'unsupported_feature' &&
        (frame.error as Fields).event_id !== null,
      ({ frame }) => [withAt(frame, ['error', 'code'], 'response_in_progress')],
    ),
  },
  {
    name: 'a code without its cause',
    noticedBy: ['error-cause', 'answer-unasked', 'error-echo'],
    mutate: replaced(
      ({ type, frame }) =>
        type === 'error' &&
        (frame.error as Fields).code === 'invalid_request_error' &&
        (frame.error as Fields).param === 'type' &&
        (frame.error as Fields).event_id !== null,
      ({ frame }) => [withAt(frame, ['error', 'code'], 'buffer_overflow')],
    ),
  },
  {
    name: 'the last answer is missing',
    noticedBy: ['answer-missing'],
    mutate: (trace) => {
      const last = spots(trace).at(-1);
      const asked = { from: 'client', frame: { type: 'input_audio_buffer.clear' } } as const;
      return last && trace.toSpliced(last.at, 0, asked);
    },
  },
  {
    name: 'an acknowledgement is dropped',
    noticedBy: ['answer-missing', 'answer-order', 'item-chain', 'item-announced'],
    mutate: dropped(`${INPUT}.cleared`, CREATED),
  },
  {
    name: 'an acknowledgement comes twice',
    noticedBy: ['answer-unasked', 'answer-order', 'answer-missing', 'item-new'],
    mutate: doubled(`${INPUT}.cleared`, CREATED),
  },
  {
    name: 'what the client asked for was never asked',
    noticedBy: ['answer-unasked', 'answer-order', 'answer-missing', 'error-echo'],
    mutate: replaced(
      ({ type, frame }) =>
        type === `${INPUT}.clear` || (type === 'session.update' && Object(frame.session) === frame.session),
      () => [],
      'client',
    ),
  },
  {
    name: 'two answers change places',
    noticedBy: ['answer-order', 'answer-missing', 'error-cause', 'answer-unasked', 'session-refusal'],
    mutate: swapped(
      /^(session\.updated|input_audio_buffer\.cleared)$/,
      /^(input_audio_buffer\.cleared|session\.updated|error)$/,
    ),
  },

  {
    name: 'an event_id is used twice',
    noticedBy: ['event-id'],
    mutate: (trace, random) => {
      const first = chosen(spots(trace), random);
      return replaced(
        ({ at }) => at !== first?.at,
        ({ frame }) => [{ ...frame, event_id: first?.frame.event_id }],
      )(trace, random);
    },
  },
  {
    name: 'an event has no event_id',
    noticedBy: ['event-id'],
    mutate: replaced(
      () => true,
      ({ frame }) => [withAt(frame, ['event_id'], undefined)],
    ),
  },
  {
    name: 'an event_id has another prefix',
    noticedBy: ['event-id'],
    mutate: replaced(
      () => true,
      ({ frame }) => [{ ...frame, event_id: `evt_${frame.event_id}` }],
    ),
  },
  {
    name: 'an event is not in the list',
    noticedBy: ['known-event'],
    mutate: replaced(
      () => true,
      ({ frame, at }) => [frame, { type: 'rate_limits.updated', event_id: `event_more_${at}` }],
    ),
  },

  {
    name: 'speech_started is dropped',
    noticedBy: ['turn-order'],
    mutate: replaced(
      ({ type, frame, trace }) =>
        type === `${INPUT}.speech_started` &&
        spots(trace).some(
          (stop) => stop.type === `${INPUT}.speech_stopped` && stop.frame.item_id === frame.item_id,
        ),
      () => [],
    ),
  },
  {
    name: 'speech_stopped is dropped',
    noticedBy: ['turn-order'],
    mutate: dropped(`${INPUT}.speech_stopped`),
  },
  {
    name: 'committed is dropped',
    noticedBy: ['turn-order', 'answer-missing', 'answer-order', 'transcription-order'],
    mutate: dropped(`${INPUT}.committed`),
  },
  {
    name: 'committed comes twice',
    noticedBy: ['commit-cause', 'item-new', 'item-chain'],
    mutate: doubled(`${INPUT}.committed`),
  },
  {
    name: 'committed before speech_stopped',
    noticedBy: ['turn-order'],
    mutate: swapped(/speech_stopped$/, /committed$/),
  },
  {
    name: 'another item is committed than started',
    noticedBy: ['turn-item'],
    mutate: replaced(
      ({ type }) => type === `${INPUT}.speech_stopped`,
      ({ frame }) => [{ ...frame, item_id: 'item_other' }],
    ),
  },
  {
    name: 'a second turn starts in the first',
    noticedBy: ['turn-order'],
    mutate: replaced(
      ({ type }) => type === `${INPUT}.speech_started`,
      ({ frame }) => [frame, { ...anew(frame), item_id: 'item_other' }],
    ),
  },
  {
    name: 'a speech event without server_vad',
    noticedBy: ['turn-detected'],
    mutate: replaced(
      ({ type }) => type === 'session.created',
      ({ frame }) => [
        frame,
        { type: `${INPUT}.speech_started`, event_id: 'event_s', item_id: 'item_s', audio_start_ms: 0 },
      ],
    ),
  },
  {
    name: 'a turn ends before it starts',
    noticedBy: ['turn-times'],
    mutate: put([`${INPUT}.speech_started`], 'audio_start_ms', 1e9),
  },
  {
    name: 'times go back',
    noticedBy: ['turn-times'],
    mutate: replaced(
      ({ type, frame, trace }) =>
        type === `${INPUT}.speech_stopped` &&
        frame !== spots(trace).find((spot) => spot.type === type)?.frame,
      ({ frame }) => [{ ...frame, audio_end_ms: 0 }],
    ),
  },

  {
    name: 'the end of a transcription is dropped',
    noticedBy: ['transcription-order', 'transcription-serial'],
    mutate: dropped(COMPLETED, FAILED),
  },
  {
    name: 'a transcription ends twice',
    noticedBy: ['transcription-order'],
    mutate: doubled(COMPLETED, FAILED),
  },
  {
    name: 'a delta comes after the end of its transcription',
    noticedBy: ['transcription-order'],
    mutate: replaced(
      ({ type }) => type === COMPLETED || type === FAILED,
      ({ frame }) => [
        frame,
        {
          type: DELTA,
          event_id: `${frame.event_id}_d`,
          item_id: frame.item_id,
          content_index: 0,
          delta: 'x',
        },
      ],
    ),
  },
  {
    name: 'a transcription is of another item',
    noticedBy: ['transcription-order'],
    mutate: put([DELTA, COMPLETED, FAILED], 'item_id', 'item_other'),
  },
  {
    name: 'a second item is transcribed before the first has ended',
    noticedBy: ['transcription-serial'],
    mutate: (trace, random) => {
      const terminals = spots(trace).filter(({ type }) => type === COMPLETED || type === FAILED);
      const pairs = terminals.flatMap((first, place) => {
        const second = terminals[place + 1];
        const committed = (at: number) =>
          spots(trace.slice(0, at)).some(
            ({ type, frame }) => type === `${INPUT}.committed` && frame.item_id === second?.frame.item_id,
          );
        return second !== undefined && committed(first.at) ? [[first, second] as const] : [];
      });
      const pair = chosen(pairs, random);
      if (pair === undefined) return undefined;
      const [first, second] = pair;
      return trace.with(first.at, second.entry).with(second.at, first.entry);
    },
  },
  {
    name: 'a delta of a transcription is dropped',
    noticedBy: ['transcription-text'],
    mutate: replaced(
      (spot) => spot.type === DELTA && completes(spot),
      () => [],
    ),
  },
  {
    name: 'a transcript is changed',
    noticedBy: ['transcription-text'],
    mutate: changed([COMPLETED], (frame) => ({ ...frame, transcript: `${frame.transcript}!` })),
  },
  {
    name: 'a transcription has no usage',
    noticedBy: ['transcription-usage'],
    mutate: put([COMPLETED], 'usage', undefined),
  },
  {
    name: 'the usage of a transcription does not add up',
    noticedBy: ['transcription-usage'],
    mutate: put([COMPLETED], 'usage.total_tokens', 13),
  },
  {
    name: 'a failed transcription tells null',
    noticedBy: ['transcription-failure'],
    mutate: put([FAILED], 'error.param', null),
  },

  {
    name: 'previous_item_id is null in the middle',
    noticedBy: ['item-chain'],
    mutate: replaced(
      ({ type, frame }) => type === `${INPUT}.committed` && frame.previous_item_id !== null,
      ({ frame }) => [{ ...frame, previous_item_id: null }],
    ),
  },
  {
    name: 'previous_item_id names another item',
    noticedBy: ['item-chain'],
    mutate: put([`${INPUT}.committed`, CREATED], 'previous_item_id', 'item_other'),
  },
  {
    name: 'an item takes the id of another',
    noticedBy: ['item-new', 'turn-item'],
    mutate: (trace, random) => {
      const [first] = spots(trace).filter(({ type }) => type === `${INPUT}.committed` || type === CREATED);
      const id = first?.frame.item_id ?? (first?.frame.item as Fields | undefined)?.id;
      return replaced(
        ({ type, at }) => type === `${INPUT}.committed` && first !== undefined && at > first.at,
        ({ frame }) => [{ ...frame, item_id: id }],
      )(trace, random);
    },
  },
  {
    name: 'a created item has another text',
    noticedBy: ['item-mirror'],
    mutate: replaced(
      ({ type, frame }) =>
        type === CREATED && JSON.stringify(frame).includes('"content":[{"type":"input_text"'),
      ({ frame }) => [withAt(frame, ['item', 'content', '0', 'text'], 'other words')],
    ),
  },
  {
    name: "a client's id is not kept",
    noticedBy: ['item-mirror'],
    mutate: replaced(
      ({ type, frame }) => type === CREATED && String((frame.item as Fields).id).startsWith('mine'),
      ({ frame }) => [withAt(frame, ['item', 'id'], 'item_ours')],
    ),
  },
  {
    name: "the server's item has no prefix",
    noticedBy: ['id-prefix', 'turn-item'],
    mutate: put([`${INPUT}.committed`], 'item_id', 'msg_1'),
  },
  {
    name: 'an announced item that was never created',
    noticedBy: ['item-announced', 'response-order'],
    mutate: doubled('conversation.item.done'),
  },
  {
    name: 'an item that is not announced to a GA client',
    noticedBy: ['item-announced'],
    mutate: dropped('conversation.item.added', 'conversation.item.done'),
  },

  {
    name: 'a second response is in flight',
    noticedBy: ['response-one'],
    mutate: replaced(
      ({ type }) => type === 'response.output_item.added',
      ({ frame, trace }) => {
        const created = spots(trace).find((spot) => spot.type === 'response.created')?.frame ?? {};
        return [
          frame,
          withAt(anew({ ...created, event_id: frame.event_id }), ['response', 'id'], 'resp_second'),
        ];
      },
    ),
  },
  {
    name: 'a response that was never requested',
    noticedBy: ['answer-unasked'],
    mutate: (trace) =>
      spots(trace).some(({ type }) => type === 'response.created')
        ? without(trace, ({ type }) => type === 'response.create')
        : undefined,
  },
  {
    name: 'two responses have one id',
    noticedBy: ['response-ids'],
    mutate: (trace) => {
      const [first, second] = spots(trace).filter(({ type }) => type === 'response.created');
      const id = (first?.frame.response as Fields | undefined)?.id;
      return (
        second &&
        trace.with(second.at, { from: 'server', frame: withAt(second.frame, ['response', 'id'], id) })
      );
    },
  },
  {
    name: 'response.done is dropped',
    noticedBy: ['response-end', 'response-one', 'answer-missing'],
    mutate: dropped('response.done'),
  },
  { name: 'response.done comes twice', noticedBy: ['response-end'], mutate: doubled('response.done') },
  {
    name: 'an event of a response is dropped',
    noticedBy: ['response-order', 'response-ids', 'response-output', 'item-announced'],
    mutate: dropped(
      'response.output_item.added',
      'response.content_part.added',
      'response.content_part.done',
      'response.output_item.done',
      ...AUDIO_DONE,
    ),
  },
  {
    name: 'events of a response change places',
    noticedBy: ['response-order', 'response-end', 'response-ids'],
    mutate: swapped(
      /^response\.(created|output_item|content_part|audio\.done|output_audio\.done|done)/,
      /^response\.(output_item|content_part|audio\.done|output_audio\.done|done)/,
    ),
  },
  {
    name: 'audio after response.audio.done',
    noticedBy: ['response-order'],
    mutate: replaced(
      ({ type }) => AUDIO_DONE.includes(type),
      ({ frame, type }) => [frame, { ...anew(frame), type: type.replace('.done', '.delta'), delta: 'AAAA' }],
    ),
  },
  {
    name: 'audio after a cancelled response.done',
    noticedBy: ['response-end'],
    mutate: replaced(ends('cancelled'), ({ frame, at, trace }) => {
      const last = spots(trace.slice(0, at)).findLast(({ type }) => AUDIO_DONE.includes(type));
      if (last === undefined) return undefined;
      return [frame, { ...anew(last.frame), type: last.type.replace('.done', '.delta'), delta: 'AAAA' }];
    }),
  },
  {
    name: 'a part is of another response',
    noticedBy: ['response-ids'],
    mutate: put(PARTS, 'response_id', 'resp_other'),
  },
  {
    name: 'a part is of another item',
    noticedBy: ['response-ids'],
    mutate: put(PARTS, 'item_id', 'item_other'),
  },
  { name: 'a part has another place', noticedBy: ['response-ids'], mutate: put(PARTS, 'content_index', 1) },
  {
    name: 'both names of an audio event',
    noticedBy: ['one-dialect'],
    mutate: replaced(
      ({ type }) => [...AUDIO_DONE, ...TEXT_DONE].includes(type),
      ({ frame, type }) => [{ ...frame, type: renamed(type) }, { ...anew(frame) }],
    ),
  },
  { name: 'audio is not base64', noticedBy: ['field-shape'], mutate: put(AUDIO, 'delta', 'AAA-') },
  {
    name: 'a delta of a response transcript is dropped',
    noticedBy: ['response-text'],
    mutate: dropped(...TEXT),
  },
  {
    name: 'the transcript of a response is changed',
    noticedBy: ['response-text'],
    mutate: put(TEXT_DONE, 'transcript', 'other words'),
  },
  {
    name: 'the part of a response says something else',
    noticedBy: ['response-text'],
    mutate: put(['response.content_part.done'], 'part.transcript', 'other words'),
  },
  {
    name: 'a response is completed without its transcript',
    noticedBy: ['response-order'],
    mutate: (trace) => {
      const kept = trace.filter(
        (entry) => 'end' in entry || ![...TEXT, ...TEXT_DONE].includes(String((entry.frame as Fields).type)),
      );
      return kept.length < trace.length ? kept : undefined;
    },
  },
  {
    name: 'a completed response has no usage',
    noticedBy: ['response-usage'],
    mutate: replaced(ends('completed'), ({ frame }) => [withAt(frame, ['response', 'usage'], null)]),
  },
  {
    name: 'a cancelled response has usage',
    noticedBy: ['response-usage'],
    mutate: replaced(ends('cancelled'), ({ frame }) => [
      withAt(frame, ['response', 'usage'], { total_tokens: 1, input_tokens: 1, output_tokens: 0 }),
    ]),
  },
  {
    name: 'a cancelled response that was never cancelled by the client',
    noticedBy: ['response-cancel', 'response-order', 'answer-order'],
    mutate: replaced(ends('completed'), ({ frame }) => [
      withAt(withAt(frame, ['response', 'status'], 'cancelled'), ['response', 'status_details'], {
        type: 'cancelled',
        reason: 'client_cancelled',
      }),
    ]),
  },
  {
    name: 'a cancelled response is called completed',
    noticedBy: ['response-status', 'response-usage', 'answer-missing'],
    mutate: replaced(ends('cancelled'), ({ frame }) => [withAt(frame, ['response', 'status'], 'completed')]),
  },
  {
    name: 'a failed response does not say why',
    noticedBy: ['response-status'],
    mutate: replaced(ends('failed'), ({ frame }) => [withAt(frame, ['response', 'status_details'], null)]),
  },
  {
    name: 'the output of a response is another item',
    noticedBy: ['response-output'],
    mutate: put(['response.done'], 'response.output.0.id', 'item_other'),
  },
  {
    name: 'a response has no output',
    noticedBy: ['response-output'],
    mutate: put(['response.done'], 'response.output', []),
  },
  {
    name: 'a response moves to another conversation',
    noticedBy: ['response-ids'],
    mutate: put(['response.done'], 'response.conversation_id', 'conv_other'),
  },
  {
    name: 'a response without the modality',
    noticedBy: ['response-asked'],
    mutate: (trace) => {
      const silent = (entry: TraceEntry) =>
        'end' in entry || (entry.frame as Fields).type !== 'session.updated'
          ? entry
          : { ...entry, frame: withAt(entry.frame, ['session', 'output_modalities'], []) };
      return spots(trace).some(({ type }) => type === 'response.created') ? trace.map(silent) : undefined;
    },
  },
  {
    name: 'a response begins completed',
    noticedBy: ['response-status'],
    mutate: put(['response.created'], 'response.status', 'completed'),
  },
  {
    name: "the assistant's item begins with content",
    noticedBy: ['item-shape'],
    mutate: put(['response.output_item.added'], 'item.status', 'completed'),
  },
  {
    name: 'audio of a user without a transcript key',
    noticedBy: ['item-shape'],
    mutate: replaced(
      ({ type, frame }) =>
        type === 'conversation.item.added' &&
        JSON.stringify(frame).includes('"content":[{"type":"input_audio"'),
      ({ frame }) => [withAt(frame, ['item', 'content', '0', 'transcript'], undefined)],
    ),
  },
  {
    name: "the session's id has no prefix",
    noticedBy: ['id-prefix'],
    mutate: put(['session.created'], 'session.id', 'session_1'),
  },
  {
    name: 'a frame after the end',
    noticedBy: ['session-first'],
    mutate: (trace) => [...trace, ...trace.filter((entry) => 'frame' in entry).slice(-1)],
  },
];
