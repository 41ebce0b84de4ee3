import type { FrameEntry, RuleName, TraceEntry } from '../../tools/trace-check/check.ts';

/** Mutations of valid traces, with the rules of which at least one must detect them. */

type Fields = Record<string, unknown>;
type Trace = readonly TraceEntry[];

export interface Mutation {
  readonly name: string;
  readonly detectedBy: readonly RuleName[];
  /** A mutated copy; undefined if the mutation does not apply to the trace. */
  mutate(trace: Trace, random: () => number): Trace | undefined;
}

/** A frame in a trace. */
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

/** A trace without the matching frames. */
function without(trace: Trace, matches: (frame: Fields) => boolean): Trace {
  return trace.filter((entry) => 'end' in entry || !matches(Object(entry.frame)));
}

/** Replaces a random matching frame; `change` returns undefined if it does not apply. */
function replaced(
  matches: (spot: Spot) => boolean,
  change: (spot: Spot, random: () => number) => readonly unknown[] | undefined,
  from: 'server' | 'client' = 'server',
): Mutation['mutate'] {
  return (trace, random) => {
    const spot = chosen(spots(trace, from).filter(matches), random);
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
    ({ frame }) => [frame, withNewId(frame)],
  );

/** The frame with another event id. */
function withNewId(frame: Fields): Fields {
  return { ...frame, event_id: `${frame.event_id}_again` };
}

/** A copy with the value at a path replaced; undefined removes it. */
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

/** Whether a frame ends a response with a status. */
const ends = (status: string) => (spot: Spot) =>
  spot.type === 'response.done' && (spot.frame.response as Fields).status === status;

/** Swaps two adjacent server frames of different types. */
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

/** Whether a delta belongs to a completed transcription; a failed one has no transcript to compare. */
const completes = (spot: Spot) =>
  spots(spot.trace).some(({ type, frame }) => type === COMPLETED && frame.item_id === spot.frame.item_id);

export const MUTATIONS: readonly Mutation[] = [
  { name: 'session.created is dropped', detectedBy: ['session-first'], mutate: dropped('session.created') },
  {
    name: 'session.created is duplicated',
    detectedBy: ['session-first'],
    mutate: doubled('session.created'),
  },
  {
    name: 'session.updated is dropped',
    detectedBy: ['reply-missing', 'reply-order'],
    mutate: dropped('session.updated'),
  },
  {
    name: 'session.updated is duplicated',
    detectedBy: ['reply-unrequested', 'reply-order', 'reply-missing', 'session-keeps'],
    mutate: doubled('session.updated'),
  },
  {
    name: 'the session id changes',
    detectedBy: ['session-same'],
    mutate: put(['session.updated'], 'session.id', 'sess_other'),
  },
  {
    name: 'an unsent setting changes',
    detectedBy: ['session-keeps'],
    mutate: put(['session.updated'], 'session.tts_model', 'another'),
  },
  {
    name: 'a rejected field is applied',
    detectedBy: ['session-rejection', 'session-keeps'],
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
    detectedBy: ['reply-missing', 'reply-order', 'session-rejection'],
    mutate: replaced(
      // A missing error for an unknown field of an update cannot be detected.
      ({ type, frame }) => type === 'error' && !String((frame.error as Fields).param).startsWith('session'),
      () => [],
    ),
  },
  {
    name: 'an error has no event_id of its cause',
    detectedBy: ['error-echo', 'reply-order', 'reply-missing'],
    mutate: replaced(
      ({ type, frame }) => type === 'error' && (frame.error as Fields).event_id !== null,
      ({ frame }) => [withAt(frame, ['error', 'event_id'], null)],
    ),
  },
  {
    name: 'an error has an unknown event_id as its cause',
    detectedBy: ['error-echo'],
    mutate: put(['error'], 'error.event_id', 'c_foreign'),
  },
  {
    name: 'an error has an unknown code',
    detectedBy: ['error-shape'],
    mutate: put(['error'], 'error.code', 'invalid_value'),
  },
  {
    name: 'an error has the wrong type',
    detectedBy: ['error-shape'],
    mutate: put(['error'], 'error.type', 'server_error'),
  },
  {
    name: 'response_in_progress without a running response',
    detectedBy: ['error-cause'],
    mutate: replaced(
      ({ type, frame }) =>
        type === 'error' &&
        (frame.error as Fields).code === 'unsupported_feature' &&
        (frame.error as Fields).event_id !== null,
      ({ frame }) => [withAt(frame, ['error', 'code'], 'response_in_progress')],
    ),
  },
  {
    name: 'an error code without its cause',
    detectedBy: ['error-cause', 'reply-unrequested', 'error-echo'],
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
    name: 'the last response is missing',
    detectedBy: ['reply-missing'],
    mutate: (trace) => {
      const last = spots(trace).at(-1);
      const request = { from: 'client', frame: { type: 'input_audio_buffer.clear' } } as const;
      return last && trace.toSpliced(last.at, 0, request);
    },
  },
  {
    name: 'an acknowledgement is dropped',
    detectedBy: ['reply-missing', 'reply-order', 'item-chain', 'item-announced'],
    mutate: dropped(`${INPUT}.cleared`, CREATED),
  },
  {
    name: 'an acknowledgement is duplicated',
    detectedBy: ['reply-unrequested', 'reply-order', 'reply-missing', 'item-new'],
    mutate: doubled(`${INPUT}.cleared`, CREATED),
  },
  {
    name: 'a client event is removed',
    detectedBy: ['reply-unrequested', 'reply-order', 'reply-missing', 'error-echo'],
    mutate: replaced(
      ({ type, frame }) =>
        type === `${INPUT}.clear` || (type === 'session.update' && Object(frame.session) === frame.session),
      () => [],
      'client',
    ),
  },
  {
    name: 'two responses to events are swapped',
    detectedBy: ['reply-order', 'reply-missing', 'error-cause', 'reply-unrequested', 'session-rejection'],
    mutate: swapped(
      /^(session\.updated|input_audio_buffer\.cleared)$/,
      /^(input_audio_buffer\.cleared|session\.updated|error)$/,
    ),
  },

  {
    name: 'an event_id is reused',
    detectedBy: ['event-id'],
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
    detectedBy: ['event-id'],
    mutate: replaced(
      () => true,
      ({ frame }) => [withAt(frame, ['event_id'], undefined)],
    ),
  },
  {
    name: 'an event_id has another prefix',
    detectedBy: ['event-id'],
    mutate: replaced(
      () => true,
      ({ frame }) => [{ ...frame, event_id: `evt_${frame.event_id}` }],
    ),
  },
  {
    name: 'an event has an unknown type',
    detectedBy: ['known-event'],
    mutate: replaced(
      () => true,
      ({ frame, at }) => [frame, { type: 'rate_limits.updated', event_id: `event_more_${at}` }],
    ),
  },

  {
    name: 'speech_started is dropped',
    detectedBy: ['turn-order'],
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
    detectedBy: ['turn-order'],
    mutate: dropped(`${INPUT}.speech_stopped`),
  },
  {
    name: 'committed is dropped',
    detectedBy: ['turn-order', 'reply-missing', 'reply-order', 'transcription-order'],
    mutate: dropped(`${INPUT}.committed`),
  },
  {
    name: 'committed is duplicated',
    detectedBy: ['commit-cause', 'item-new', 'item-chain'],
    mutate: doubled(`${INPUT}.committed`),
  },
  {
    name: 'committed before speech_stopped',
    detectedBy: ['turn-order'],
    mutate: swapped(/speech_stopped$/, /committed$/),
  },
  {
    name: 'another item is committed than was started',
    detectedBy: ['turn-item'],
    mutate: replaced(
      ({ type }) => type === `${INPUT}.speech_stopped`,
      ({ frame }) => [{ ...frame, item_id: 'item_other' }],
    ),
  },
  {
    name: 'a second turn starts in the first',
    detectedBy: ['turn-order'],
    mutate: replaced(
      ({ type }) => type === `${INPUT}.speech_started`,
      ({ frame }) => [frame, { ...withNewId(frame), item_id: 'item_other' }],
    ),
  },
  {
    name: 'a speech event without server_vad',
    detectedBy: ['turn-detected'],
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
    detectedBy: ['turn-times'],
    mutate: put([`${INPUT}.speech_started`], 'audio_start_ms', 1e9),
  },
  {
    name: 'audio times decrease',
    detectedBy: ['turn-times'],
    mutate: replaced(
      ({ type, frame, trace }) =>
        type === `${INPUT}.speech_stopped` &&
        frame !== spots(trace).find((spot) => spot.type === type)?.frame,
      ({ frame }) => [{ ...frame, audio_end_ms: 0 }],
    ),
  },

  {
    name: 'the end of a transcription is dropped',
    detectedBy: ['transcription-order', 'transcription-serial'],
    mutate: dropped(COMPLETED, FAILED),
  },
  {
    name: 'a transcription ends twice',
    detectedBy: ['transcription-order'],
    mutate: doubled(COMPLETED, FAILED),
  },
  {
    name: 'a delta follows the end of its transcription',
    detectedBy: ['transcription-order'],
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
    name: 'a transcription has another item id',
    detectedBy: ['transcription-order'],
    mutate: put([DELTA, COMPLETED, FAILED], 'item_id', 'item_other'),
  },
  {
    name: 'a second item is transcribed before the first has ended',
    detectedBy: ['transcription-serial'],
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
    detectedBy: ['transcription-text'],
    mutate: replaced(
      (spot) => spot.type === DELTA && completes(spot),
      () => [],
    ),
  },
  {
    name: 'a transcript differs from its deltas',
    detectedBy: ['transcription-text'],
    mutate: changed([COMPLETED], (frame) => ({ ...frame, transcript: `${frame.transcript}!` })),
  },
  {
    name: 'a transcription has no usage',
    detectedBy: ['transcription-usage'],
    mutate: put([COMPLETED], 'usage', undefined),
  },
  {
    name: 'the usage of a transcription has a wrong sum',
    detectedBy: ['transcription-usage'],
    mutate: put([COMPLETED], 'usage.total_tokens', 13),
  },
  {
    name: 'a failed transcription has no error',
    detectedBy: ['transcription-failure'],
    mutate: put([FAILED], 'error.param', null),
  },

  {
    name: 'previous_item_id is null in the middle',
    detectedBy: ['item-chain'],
    mutate: replaced(
      ({ type, frame }) => type === `${INPUT}.committed` && frame.previous_item_id !== null,
      ({ frame }) => [{ ...frame, previous_item_id: null }],
    ),
  },
  {
    name: 'previous_item_id names another item',
    detectedBy: ['item-chain'],
    mutate: put([`${INPUT}.committed`, CREATED], 'previous_item_id', 'item_other'),
  },
  {
    name: 'an item id is reused',
    detectedBy: ['item-new', 'turn-item'],
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
    detectedBy: ['item-mirror'],
    mutate: replaced(
      ({ type, frame }) =>
        type === CREATED && JSON.stringify(frame).includes('"content":[{"type":"input_text"'),
      ({ frame }) => [withAt(frame, ['item', 'content', '0', 'text'], 'other words')],
    ),
  },
  {
    name: "a client's id is not kept",
    detectedBy: ['item-mirror'],
    mutate: replaced(
      ({ type, frame }) => type === CREATED && String((frame.item as Fields).id).startsWith('mine'),
      ({ frame }) => [withAt(frame, ['item', 'id'], 'item_ours')],
    ),
  },
  {
    name: "the server's item has no prefix",
    detectedBy: ['id-prefix', 'turn-item'],
    mutate: put([`${INPUT}.committed`], 'item_id', 'msg_1'),
  },
  {
    name: 'an announced item was not created',
    detectedBy: ['item-announced', 'response-order'],
    mutate: doubled('conversation.item.done'),
  },
  {
    name: 'an item is not announced to a GA client',
    detectedBy: ['item-announced'],
    mutate: dropped('conversation.item.added', 'conversation.item.done'),
  },

  {
    name: 'a second response runs concurrently',
    detectedBy: ['response-one'],
    mutate: replaced(
      ({ type }) => type === 'response.output_item.added',
      ({ frame, trace }) => {
        const created = spots(trace).find((spot) => spot.type === 'response.created')?.frame ?? {};
        return [
          frame,
          withAt(withNewId({ ...created, event_id: frame.event_id }), ['response', 'id'], 'resp_second'),
        ];
      },
    ),
  },
  {
    name: 'a response was not requested',
    detectedBy: ['reply-unrequested'],
    mutate: (trace) =>
      spots(trace).some(({ type }) => type === 'response.created')
        ? without(trace, ({ type }) => type === 'response.create')
        : undefined,
  },
  {
    name: 'a response id is reused',
    detectedBy: ['response-ids'],
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
    detectedBy: ['response-end', 'response-one', 'reply-missing'],
    mutate: dropped('response.done'),
  },
  { name: 'response.done is duplicated', detectedBy: ['response-end'], mutate: doubled('response.done') },
  {
    name: 'an event of a response is dropped',
    detectedBy: ['response-order', 'response-ids', 'response-output', 'item-announced'],
    mutate: dropped(
      'response.output_item.added',
      'response.content_part.added',
      'response.content_part.done',
      'response.output_item.done',
      ...AUDIO_DONE,
    ),
  },
  {
    name: 'events of a response are swapped',
    detectedBy: ['response-order', 'response-end', 'response-ids'],
    mutate: swapped(
      /^response\.(created|output_item|content_part|audio\.done|output_audio\.done|done)/,
      /^response\.(output_item|content_part|audio\.done|output_audio\.done|done)/,
    ),
  },
  {
    name: 'audio after response.audio.done',
    detectedBy: ['response-order'],
    mutate: replaced(
      ({ type }) => AUDIO_DONE.includes(type),
      ({ frame, type }) => [
        frame,
        { ...withNewId(frame), type: type.replace('.done', '.delta'), delta: 'AAAA' },
      ],
    ),
  },
  {
    name: 'audio after a cancelled response.done',
    detectedBy: ['response-end'],
    mutate: replaced(ends('cancelled'), ({ frame, at, trace }) => {
      const last = spots(trace.slice(0, at)).findLast(({ type }) => AUDIO_DONE.includes(type));
      if (last === undefined) return undefined;
      return [frame, { ...withNewId(last.frame), type: last.type.replace('.done', '.delta'), delta: 'AAAA' }];
    }),
  },
  {
    name: 'a part has another response id',
    detectedBy: ['response-ids'],
    mutate: put(PARTS, 'response_id', 'resp_other'),
  },
  {
    name: 'a part has another item id',
    detectedBy: ['response-ids'],
    mutate: put(PARTS, 'item_id', 'item_other'),
  },
  {
    name: 'a part has another content_index',
    detectedBy: ['response-ids'],
    mutate: put(PARTS, 'content_index', 1),
  },
  {
    name: 'both names of an audio event',
    detectedBy: ['one-dialect'],
    mutate: replaced(
      ({ type }) => [...AUDIO_DONE, ...TEXT_DONE].includes(type),
      ({ frame, type }) => [{ ...frame, type: renamed(type) }, { ...withNewId(frame) }],
    ),
  },
  { name: 'audio is not base64', detectedBy: ['field-shape'], mutate: put(AUDIO, 'delta', 'AAA-') },
  {
    name: 'a delta of a response transcript is dropped',
    detectedBy: ['response-text'],
    mutate: dropped(...TEXT),
  },
  {
    name: 'the transcript of a response differs from its deltas',
    detectedBy: ['response-text'],
    mutate: put(TEXT_DONE, 'transcript', 'other words'),
  },
  {
    name: 'the content part of a response has another transcript',
    detectedBy: ['response-text'],
    mutate: put(['response.content_part.done'], 'part.transcript', 'other words'),
  },
  {
    name: 'a response is completed without its transcript',
    detectedBy: ['response-order'],
    mutate: (trace) => {
      const kept = trace.filter(
        (entry) => 'end' in entry || ![...TEXT, ...TEXT_DONE].includes(String((entry.frame as Fields).type)),
      );
      return kept.length < trace.length ? kept : undefined;
    },
  },
  {
    name: 'a completed response has no usage',
    detectedBy: ['response-usage'],
    mutate: replaced(ends('completed'), ({ frame }) => [withAt(frame, ['response', 'usage'], null)]),
  },
  {
    name: 'a cancelled response has usage',
    detectedBy: ['response-usage'],
    mutate: replaced(ends('cancelled'), ({ frame }) => [
      withAt(frame, ['response', 'usage'], { total_tokens: 1, input_tokens: 1, output_tokens: 0 }),
    ]),
  },
  {
    name: 'a response is cancelled without a request of the client',
    detectedBy: ['response-cancel', 'response-order', 'reply-order'],
    mutate: replaced(ends('completed'), ({ frame }) => [
      withAt(withAt(frame, ['response', 'status'], 'cancelled'), ['response', 'status_details'], {
        type: 'cancelled',
        reason: 'client_cancelled',
      }),
    ]),
  },
  {
    name: 'a cancelled response has the status completed',
    detectedBy: ['response-status', 'response-usage', 'reply-missing'],
    mutate: replaced(ends('cancelled'), ({ frame }) => [withAt(frame, ['response', 'status'], 'completed')]),
  },
  {
    name: 'a failed response has no error',
    detectedBy: ['response-status'],
    mutate: replaced(ends('failed'), ({ frame }) => [withAt(frame, ['response', 'status_details'], null)]),
  },
  {
    name: 'the output of a response is another item',
    detectedBy: ['response-output'],
    mutate: put(['response.done'], 'response.output.0.id', 'item_other'),
  },
  {
    name: 'a response has no output',
    detectedBy: ['response-output'],
    mutate: put(['response.done'], 'response.output', []),
  },
  {
    name: 'a response has another conversation id',
    detectedBy: ['response-ids'],
    mutate: put(['response.done'], 'response.conversation_id', 'conv_other'),
  },
  {
    name: 'a response without the modality',
    detectedBy: ['response-requested'],
    mutate: (trace) => {
      const silent = (entry: TraceEntry) =>
        'end' in entry || (entry.frame as Fields).type !== 'session.updated'
          ? entry
          : { ...entry, frame: withAt(entry.frame, ['session', 'output_modalities'], []) };
      return spots(trace).some(({ type }) => type === 'response.created') ? trace.map(silent) : undefined;
    },
  },
  {
    name: 'a new response has the status completed',
    detectedBy: ['response-status'],
    mutate: put(['response.created'], 'response.status', 'completed'),
  },
  {
    name: "the assistant's item begins with content",
    detectedBy: ['item-shape'],
    mutate: put(['response.output_item.added'], 'item.status', 'completed'),
  },
  {
    name: 'audio of a user without a transcript key',
    detectedBy: ['item-shape'],
    mutate: replaced(
      ({ type, frame }) =>
        type === 'conversation.item.added' &&
        JSON.stringify(frame).includes('"content":[{"type":"input_audio"'),
      ({ frame }) => [withAt(frame, ['item', 'content', '0', 'transcript'], undefined)],
    ),
  },
  {
    name: "the session's id has no prefix",
    detectedBy: ['id-prefix'],
    mutate: put(['session.created'], 'session.id', 'session_1'),
  },
  {
    name: 'a frame follows the end',
    detectedBy: ['session-first'],
    mutate: (trace) => [...trace, ...trace.filter((entry) => 'frame' in entry).slice(-1)],
  },
];
