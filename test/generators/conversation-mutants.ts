import type { TraceEntry } from '../../tools/trace-check/check.ts';
import {
  again,
  at,
  automatic,
  CURRENT,
  doubled,
  dropped,
  hasCode,
  hasStatus,
  hasWords,
  inserted,
  isCall,
  isGa,
  isMain,
  isMessage,
  isOfClient,
  isOfResponse,
  isOfTurn,
  isWhole,
  type Mutation,
  moved,
  put,
  rejectsEvent,
  renamed,
  replaced,
  responseIdOf,
  spotsOf,
  withAt,
} from './conversation-mutant-tools.ts';

/** Mutations of conversations, with the rules of which at least one must detect each mutant. */

const TRANSCRIPT = /^conversation\.item\.input_audio_transcription\./;
const COMPLETED = /input_audio_transcription\.completed$/;
const DELTA = /input_audio_transcription\.delta$/;
const STARTED = /speech_started$/;
const STOPPED = /speech_stopped$/;
const COMMITTED = /^input_audio_buffer\.committed$/;
const ADDED = /^conversation\.item\.added$/;
const DONE = /^conversation\.item\.done$/;
const CREATED = /^response\.created$/;
const OUTPUT_ADDED = /^response\.output_item\.added$/;
const OUTPUT_DONE = /^response\.output_item\.done$/;
const PART_ADDED = /content_part\.added$/;
const PART_DONE = /content_part\.done$/;
const AUDIO = /output_audio\.delta$/;
const AUDIO_DONE = /output_audio\.done$/;
const TEXT = /output_(text|audio_transcript)\.delta$/;
const TEXT_DONE = /output_(text|audio_transcript)\.done$/;
const ARGUMENTS = /function_call_arguments\.delta$/;
const ARGUMENTS_DONE = /function_call_arguments\.done$/;
const ENDED = /^response\.done$/;
const ERROR = /^error$/;
const UPDATED = /^session\.updated$/;

export const MUTATIONS: readonly Mutation[] = [
  // Sessions and errors.
  {
    name: 'session.created is dropped',
    detectedBy: ['plain/session-first'],
    mutants: dropped(/^session\.created$/),
  },
  {
    name: 'session.created is duplicated',
    detectedBy: ['session-first'],
    mutants: doubled(/^session\.created$/),
  },
  {
    name: 'session.updated is dropped',
    detectedBy: ['reply-missing', 'reply-order'],
    mutants: dropped(UPDATED),
  },
  { name: 'session.updated is duplicated', detectedBy: ['reply-unrequested'], mutants: doubled(UPDATED) },
  {
    name: 'the session id changes',
    detectedBy: ['session-same'],
    mutants: put(UPDATED, 'session.id', 'sess_other'),
  },
  {
    name: 'the session ends later',
    detectedBy: ['session-same'],
    mutants: put(UPDATED, 'session.expires_at', 9),
  },
  {
    name: 'an unsent setting changes',
    detectedBy: ['session-keeps'],
    mutants: put(UPDATED, 'session.truncation', 'disabled'),
  },
  {
    name: 'a sent setting does not apply',
    detectedBy: ['session-applies'],
    mutants: put(UPDATED, 'session.instructions', 'Old.', ({ trace }) =>
      spotsOf(trace, 'client').some(({ frame }) => at(frame, 'session.instructions') !== undefined),
    ),
  },
  {
    name: 'turn detection stays on',
    detectedBy: ['session-applies'],
    mutants: put(
      UPDATED,
      'session.audio.input.turn_detection',
      {},
      ({ frame }) => at(frame, 'session.audio.input.turn_detection') === null,
    ),
  },
  {
    name: 'an unknown event is sent',
    detectedBy: ['known-event'],
    mutants: put(/./, 'type', 'response.cancelled', ({ at: place }) => place > 0),
  },
  {
    name: 'an event has the name of the other protocol',
    detectedBy: ['known-event'],
    mutants: replaced(/output_(audio|text)|item\.added$/, ({ frame, type }) => {
      const beta = CURRENT.map(([, name]) => name);
      const other =
        frame.type === type ? type.replace('output_', '').replace('item.added', 'item.created') : type;
      return beta.length > 0 && !/output_item/.test(type) ? [{ ...frame, type: other }] : undefined;
    }),
  },
  {
    name: 'an event_id is used twice',
    detectedBy: ['event-id'],
    mutants: replaced(/./, ({ frame, trace }) => {
      const first = spotsOf(trace)[0]?.frame.event_id;
      return first === frame.event_id ? undefined : [{ ...frame, event_id: first }];
    }),
  },
  { name: 'an event has no event_id', detectedBy: ['event-id'], mutants: put(/./, 'event_id', null) },
  {
    name: 'an error is dropped',
    detectedBy: ['reply-missing', 'reply-order'],
    mutants: dropped(ERROR, rejectsEvent),
  },
  {
    name: 'an error is duplicated',
    detectedBy: ['reply-unrequested', 'error-echo'],
    mutants: doubled(ERROR),
  },
  {
    name: 'an error names an unknown event',
    detectedBy: ['error-echo'],
    mutants: put(ERROR, 'error.event_id', 'foreign'),
  },
  {
    name: 'an error names no event',
    detectedBy: ['error-echo', 'reply-unrequested', 'reply-order'],
    // Commits may be answered in another order, so that this error can belong to the next one.
    mutants: put(ERROR, 'error.event_id', null, (spot) => !hasCode(/commit_empty$/)(spot)),
  },
  {
    name: 'an error has an unknown type',
    detectedBy: ['error-shape'],
    mutants: put(ERROR, 'error.type', 'fatal'),
  },
  { name: 'an error has no code', detectedBy: ['error-shape'], mutants: put(ERROR, 'error.code', null) },
  { name: 'an error has no message', detectedBy: ['error-shape'], mutants: put(ERROR, 'error.message', '') },
  { name: 'an error has no param', detectedBy: ['error-shape'], mutants: put(ERROR, 'error.param', 7) },
  {
    name: 'the error of a busy conversation names another response',
    detectedBy: ['error-cause'],
    mutants: put(ERROR, 'error.message', 'resp_other', hasCode(/active_response$/)),
  },
  {
    name: 'a busy conversation without a response',
    detectedBy: ['error-cause', 'reply-order'],
    mutants: moved(ERROR, ENDED, 'behind', hasCode(/active_response$/)),
  },
  {
    name: 'a known item is reported as unknown',
    detectedBy: ['error-cause'],
    mutants: replaced(
      /item\.retrieve$/,
      ({ frame }) => (frame.event_id === 'gone' ? [{ ...frame, item_id: 'two' }] : undefined),
      'client',
    ),
  },
  {
    name: 'an answer comes before the previous one',
    detectedBy: ['reply-order'],
    mutants: moved(/item\.(retrieved|deleted)$/, ADDED, 'before'),
  },
  {
    name: 'an acknowledgement is dropped',
    detectedBy: ['reply-missing', 'reply-order'],
    mutants: dropped(/cleared$|item\.(retrieved|deleted|truncated)$/),
  },
  {
    name: 'an acknowledgement is duplicated',
    detectedBy: ['reply-unrequested'],
    mutants: doubled(/cleared$|item\.(retrieved|deleted|truncated)$/),
  },
  {
    name: 'a request is missing',
    detectedBy: ['reply-unrequested', 'error-echo', 'item-mirror'],
    mutants: replaced(/clear$|item\.(create|retrieve|truncate)$|session\.update$/, () => [], 'client'),
  },

  // Turns.
  { name: 'speech_started is dropped', detectedBy: ['turn-order'], mutants: dropped(STARTED) },
  { name: 'speech_started is duplicated', detectedBy: ['turn-order', 'item-new'], mutants: doubled(STARTED) },
  { name: 'speech_stopped is dropped', detectedBy: ['turn-order'], mutants: dropped(STOPPED) },
  { name: 'speech_stopped is duplicated', detectedBy: ['turn-order'], mutants: doubled(STOPPED) },
  {
    name: 'speech stops before it starts',
    detectedBy: ['turn-order'],
    mutants: moved(STOPPED, STARTED, 'before'),
  },
  {
    name: 'speech stops for another item',
    detectedBy: ['turn-item'],
    mutants: put(STOPPED, 'item_id', 'item_other'),
  },
  {
    name: 'another item is committed',
    detectedBy: ['turn-item'],
    mutants: put(COMMITTED, 'item_id', 'item_other', ({ trace, frame }) =>
      spotsOf(trace).some((each) => STARTED.test(each.type) && each.frame.item_id === frame.item_id),
    ),
  },
  {
    name: 'speech ends before its start',
    detectedBy: ['turn-times'],
    mutants: put(STARTED, 'audio_start_ms', 1_000_000),
  },
  {
    name: 'speech without turn detection',
    detectedBy: ['turn-detected'],
    mutants: (trace) =>
      spotsOf(trace).some(({ type }) => STARTED.test(type))
        ? [
            ...put(/^session\.created$/, 'session.audio.input.turn_detection', null)(trace),
            ...put(/^session\.created$/, 'session.turn_detection', null)(trace),
          ]
        : [],
  },
  {
    name: 'committed is dropped',
    detectedBy: ['item-announced', 'item-mirror', 'transcription-order', 'reply-missing', 'turn-order'],
    mutants: dropped(COMMITTED),
  },
  {
    name: 'committed is duplicated',
    detectedBy: ['item-announced', 'commit-cause'],
    mutants: doubled(COMMITTED),
  },
  {
    name: 'a commit without its cause',
    detectedBy: ['commit-cause'],
    mutants: replaced(
      /buffer\.commit$/,
      ({ frame }) => (frame.event_id === undefined ? [] : undefined),
      'client',
    ),
  },
  {
    name: 'a commit without its answer',
    detectedBy: ['reply-missing'],
    mutants: (trace) => [
      trace.toSpliced(-1, 0, { from: 'client', frame: { type: 'input_audio_buffer.commit' } }),
    ],
  },
  {
    name: 'an idle timeout that is off',
    detectedBy: ['timeout-cause'],
    mutants: put(UPDATED, 'session.audio.input.turn_detection.idle_timeout_ms', null),
  },
  {
    name: 'an idle timeout during a response',
    detectedBy: ['timeout-cause'],
    mutants: inserted(CREATED, ({ type: _ }) => ({
      type: 'input_audio_buffer.timeout_triggered',
      item_id: 'item_idle',
      audio_start_ms: 0,
      audio_end_ms: 1,
    })),
  },
  {
    name: 'the item of an idle timeout is not committed',
    detectedBy: ['item-announced'],
    mutants: replaced(COMMITTED, ({ trace, at: place }) =>
      /timeout/.test(String(at(trace[place - 1], 'frame.type'))) ? [] : undefined,
    ),
  },

  // Items.
  {
    name: 'two turns have one item',
    detectedBy: ['item-new', 'item-chain', 'item-announced'],
    mutants: (trace) => {
      const [first, ...others] = spotsOf(trace).filter(({ type }) => COMMITTED.test(type));
      return others.map(({ frame }) => renamed(trace, frame.item_id, first?.frame.item_id));
    },
  },
  {
    name: 'an item id of the server has another prefix',
    detectedBy: ['item-new', 'item-mirror'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter(({ type }) => COMMITTED.test(type) || OUTPUT_ADDED.test(type))
        .map(({ frame }) => renamed(trace, frame.item_id ?? at(frame, 'item.id'), 'other_1')),
  },
  {
    name: 'conversation.item.added is dropped',
    detectedBy: ['item-announced', 'reply-missing', 'reply-order', 'item-chain'],
    mutants: dropped(ADDED),
  },
  {
    name: 'conversation.item.added is duplicated',
    detectedBy: ['item-announced', 'item-mirror', 'item-new'],
    mutants: doubled(ADDED),
  },
  {
    name: 'conversation.item.done is dropped',
    detectedBy: ['item-announced', 'output-order'],
    mutants: dropped(DONE),
  },
  {
    name: 'conversation.item.done is duplicated',
    detectedBy: ['item-announced', 'output-order'],
    mutants: doubled(DONE),
  },
  {
    name: 'conversation.item.done of another item',
    detectedBy: ['item-announced', 'item-known', 'output-order'],
    mutants: put(DONE, 'item.id', 'item_other'),
  },
  {
    name: 'an item follows an unknown one',
    detectedBy: ['item-chain', 'item-mirror'],
    mutants: put(
      /^conversation\.item\.(added|done)$|^input_audio_buffer\.committed$/,
      'previous_item_id',
      'item_gone',
    ),
  },
  {
    name: 'an item is the first one again',
    detectedBy: ['item-chain', 'item-mirror'],
    mutants: put(/^conversation\.item\.added$|^input_audio_buffer\.committed$/, 'previous_item_id', null),
  },
  {
    name: 'an item of the client has another text',
    detectedBy: ['item-mirror'],
    mutants: put(ADDED, 'item.content.0.text', 'Other.', isOfClient),
  },
  {
    name: 'an item of the client has another role',
    detectedBy: ['item-mirror'],
    mutants: put(ADDED, 'item.role', 'system', isOfClient),
  },
  {
    name: 'an output of the client belongs to another call',
    detectedBy: ['item-mirror'],
    mutants: put(ADDED, 'item.call_id', 'call_other', isOfClient),
  },
  {
    name: 'an item of the client is in progress',
    detectedBy: ['item-shape'],
    mutants: put(ADDED, 'item.status', 'in_progress', isOfClient),
  },
  {
    name: 'an item differs between added and done',
    detectedBy: ['item-shape'],
    mutants: put(DONE, 'item.status', 'incomplete', (spot) => !isOfResponse(spot)),
  },
  {
    name: 'the item of a turn has its transcript too early',
    detectedBy: ['item-shape'],
    mutants: put(ADDED, 'item.content.0.transcript', 'Ask not.', isOfTurn),
  },
  {
    name: 'a new item of a response has content',
    detectedBy: ['item-shape'],
    mutants: put(OUTPUT_ADDED, 'item.content', [{ type: 'output_text', text: 'Hi.' }]),
  },
  {
    name: 'a new item of a response is completed',
    detectedBy: ['item-shape'],
    mutants: put(OUTPUT_ADDED, 'item.status', 'completed'),
  },
  {
    name: 'a new call has arguments',
    detectedBy: ['item-shape'],
    mutants: put(OUTPUT_ADDED, 'item.arguments', '{}'),
  },
  {
    name: 'an unknown item is retrieved',
    detectedBy: ['item-known'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter(({ type }) => type.endsWith('retrieved'))
        .map(({ frame, at: place }) => {
          const id = at(frame, 'item.id');
          const place2 = trace.findIndex(
            (each) =>
              at(each, 'frame.type') === 'conversation.item.retrieve' && at(each, 'frame.item_id') === id,
          );
          const other = (each: TraceEntry | undefined) =>
            renamed([each as TraceEntry], id, 'item_none')[0] as TraceEntry;
          return trace.with(place, other(trace[place])).with(place2, other(trace[place2]));
        }),
  },
  {
    name: 'an unknown item is deleted',
    detectedBy: ['item-known'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter(({ type }) => type.endsWith('deleted'))
        .map(({ frame, at: place }) => {
          const request = trace.findIndex(
            (each) =>
              at(each, 'frame.type') === 'conversation.item.delete' &&
              at(each, 'frame.item_id') === frame.item_id,
          );
          const other = (each: TraceEntry | undefined) =>
            renamed([each as TraceEntry], frame.item_id, 'item_none')[0] as TraceEntry;
          return trace.with(place, other(trace[place])).with(request, other(trace[request]));
        }),
  },
  {
    name: 'a retrieved item has more words',
    detectedBy: ['item-state'],
    mutants: replaced(/item\.retrieved$/, ({ frame }) => {
      const field = at(frame, 'item.content.0.transcript') === undefined ? 'text' : 'transcript';
      const path = `item.content.0.${field}`;
      return at(frame, path) == null
        ? undefined
        : [withAt(frame, path.split('.'), `${at(frame, path)} And more.`)];
    }),
  },
  {
    name: 'a retrieved item has another role',
    detectedBy: ['item-state'],
    mutants: put(/item\.retrieved$/, 'item.role', 'system'),
  },
  {
    name: 'another item is truncated',
    detectedBy: ['reply-unrequested', 'item-known'],
    mutants: put(/item\.truncated$/, 'item_id', 'item_other'),
  },
  {
    name: 'an item is truncated at another time',
    detectedBy: ['reply-unrequested'],
    mutants: put(/item\.truncated$/, 'audio_end_ms', 7),
  },

  // Transcriptions.
  {
    name: 'the end of a transcription is dropped',
    detectedBy: ['transcription-order', 'response-cause'],
    mutants: dropped(/transcription\.(completed|failed)$/),
  },
  {
    name: 'the end of a transcription is duplicated',
    detectedBy: ['transcription-order'],
    mutants: doubled(/transcription\.(completed|failed)$/),
  },
  {
    name: 'a transcription precedes its commit',
    detectedBy: ['transcription-order'],
    mutants: moved(TRANSCRIPT, COMMITTED, 'before'),
  },
  {
    name: 'a delta follows the end of its transcription',
    detectedBy: ['transcription-order'],
    mutants: moved(DELTA, CREATED, 'behind'),
  },
  {
    name: 'a transcription belongs to another item',
    detectedBy: ['transcription-order'],
    mutants: put(TRANSCRIPT, 'item_id', 'item_other'),
  },
  {
    name: 'a transcription has another content_index',
    detectedBy: ['output-index'],
    mutants: put(TRANSCRIPT, 'content_index', 1),
  },
  {
    name: 'a delta of a transcription is dropped',
    detectedBy: ['transcription-text'],
    mutants: dropped(DELTA, ({ trace, frame }) =>
      spotsOf(trace).some(({ type, frame: end }) => COMPLETED.test(type) && end.item_id === frame.item_id),
    ),
  },
  {
    name: 'a transcript has another text',
    detectedBy: ['transcription-text'],
    mutants: put(COMPLETED, 'transcript', 'Something else.'),
  },
  {
    name: 'the usage of a transcription does not add up',
    detectedBy: ['transcription-usage'],
    mutants: put(COMPLETED, 'usage.total_tokens', 999),
  },

  // Responses.
  { name: 'response.created is dropped', detectedBy: ['response-known'], mutants: dropped(CREATED) },
  {
    name: 'response.created is duplicated',
    detectedBy: ['response-one', 'response-known'],
    mutants: doubled(CREATED),
  },
  {
    name: 'a response without its request',
    detectedBy: ['response-cause', 'error-echo'],
    mutants: replaced(/response\.create$/, () => [], 'client'),
  },
  {
    name: 'a turn without words is answered',
    detectedBy: ['response-cause', 'transcription-text'],
    mutants: put(
      COMPLETED,
      'transcript',
      ' ',
      (spot) =>
        hasWords(spot) && spotsOf(spot.trace, 'client').every(({ type }) => type !== 'response.create'),
    ),
  },
  {
    name: 'a response precedes the transcript',
    detectedBy: ['response-cause', 'transcription-order'],
    mutants: automatic(moved(CREATED, COMPLETED, 'before')),
  },
  {
    name: 'a turn with words is not answered',
    detectedBy: ['response-missing'],
    mutants: (trace) => {
      const [created] = spotsOf(trace).filter((spot) => CREATED.test(spot.type));
      const isAutomatic = spotsOf(trace, 'client').every(
        ({ type }) => type !== 'response.create' && type !== 'conversation.item.truncate',
      );
      if (
        created === undefined ||
        !isAutomatic ||
        spotsOf(trace).some(({ type }) => /timeout|failed$/.test(type)) ||
        spotsOf(trace).filter((s) => CREATED.test(s.type)).length > 1
      )
        return [];
      const id = at(created.frame, 'response.id');
      const items = new Set(
        spotsOf(trace)
          .filter(({ type, frame }) => OUTPUT_ADDED.test(type) && frame.response_id === id)
          .map(({ frame }) => at(frame, 'item.id')),
      );
      return [
        trace.filter((entry) => {
          const frame = at(entry, 'frame');
          return (
            responseIdOf(Object(frame)) !== id &&
            !items.has(at(frame, 'item.id')) &&
            !items.has(at(frame, 'item_id'))
          );
        }),
      ];
    },
  },
  {
    name: 'two responses are in progress',
    detectedBy: ['response-one'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter((spot) => CREATED.test(spot.type) && isMain(spot))
        .map(({ at: place, frame }) =>
          trace.toSpliced(
            place + 1,
            0,
            { from: 'client', frame: { type: 'response.create' } },
            {
              from: 'server',
              frame: { ...again(frame), response: { ...Object(frame.response), id: 'resp_other' } },
            },
          ),
        ),
  },
  {
    name: 'response.done is dropped',
    detectedBy: ['response-known', 'response-one', 'reply-missing'],
    mutants: dropped(ENDED),
  },
  { name: 'response.done is duplicated', detectedBy: ['response-known'], mutants: doubled(ENDED) },
  {
    name: 'an event follows response.done',
    detectedBy: ['response-known', 'output-order'],
    mutants: moved(/^response\.(output|content|function)/, ENDED, 'behind'),
  },
  {
    name: 'an event belongs to an unknown response',
    detectedBy: ['response-known'],
    mutants: put(/^response\./, 'response_id', 'resp_other'),
  },
  {
    name: 'a response ends with other metadata',
    detectedBy: ['response-same'],
    mutants: put(ENDED, 'response.metadata', { other: true }),
  },
  {
    name: 'a response ends in another conversation',
    detectedBy: ['response-same'],
    mutants: put(ENDED, 'response.conversation_id', 'conv_other'),
  },
  {
    name: 'a response continues after an interruption',
    detectedBy: ['response-cut'],
    mutants: (trace) => {
      const started = spotsOf(trace)
        .filter(({ type }) => STARTED.test(type))
        .at(1);
      const delta = spotsOf(trace).findLast(
        ({ type, at: place }) => AUDIO.test(type) && place < (started?.at ?? 0),
      );
      const isInterrupted = spotsOf(trace).some(
        ({ frame }) => at(frame, 'response.status_details.reason') === 'turn_detected',
      );
      return started && delta && isInterrupted
        ? [trace.toSpliced(started.at + 1, 0, { from: 'server', frame: again(delta.frame) })]
        : [];
    },
  },
  {
    name: 'an interrupted response is completed',
    detectedBy: ['response-cut'],
    mutants: replaced(ENDED, ({ frame }) =>
      at(frame, 'response.status_details.reason') === 'turn_detected'
        ? [withAt(withAt(frame, ['response', 'status'], 'completed'), ['response', 'status_details'], null)]
        : undefined,
    ),
  },
  {
    name: 'a response is cancelled without a request',
    detectedBy: ['response-cancel'],
    mutants: replaced(
      /^response\.cancel$/,
      ({ frame }) => (frame.event_id === 'cancel' ? [] : undefined),
      'client',
    ),
  },
  {
    name: 'a response is cancelled by speech that was not',
    detectedBy: ['response-cancel'],
    mutants: put(ENDED, 'response.status_details.reason', 'turn_detected', hasStatus('cancelled')),
  },
  {
    name: 'an interruption is attributed to the client',
    detectedBy: ['response-cancel'],
    mutants: put(ENDED, 'response.status_details.reason', 'client_cancelled', hasStatus('cancelled')),
  },
  {
    name: 'a response ends without details',
    detectedBy: ['response-status', 'response-cancel'],
    mutants: put(ENDED, 'response.status_details', null),
  },
  {
    name: 'a completed response has details',
    detectedBy: ['response-status'],
    mutants: put(ENDED, 'response.status_details', { type: 'completed' }, isWhole),
  },
  {
    name: 'a failed response is completed',
    detectedBy: ['response-status', 'response-usage'],
    mutants: put(ENDED, 'response.status', 'completed'),
  },
  {
    name: 'a completed response has an incomplete item',
    detectedBy: ['response-status'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter((spot) => OUTPUT_DONE.test(spot.type) && isMessage(spot) && isWhole(spot))
        .map(({ frame }) => {
          const item = JSON.stringify(frame.item);
          return JSON.parse(
            JSON.stringify(trace).replaceAll(item, item.replace('"completed"', '"incomplete"')),
          );
        }),
  },
  {
    name: 'a completed response has no usage',
    detectedBy: ['response-usage'],
    mutants: put(ENDED, 'response.usage', null),
  },
  {
    name: 'the usage of a response does not add up',
    detectedBy: ['response-usage'],
    mutants: put(ENDED, 'response.usage.total_tokens', 999),
  },
  {
    name: 'the output of a response is empty',
    detectedBy: ['response-output'],
    mutants: put(ENDED, 'response.output', []),
  },
  {
    name: 'an item differs in the output of its response',
    detectedBy: ['response-output'],
    mutants: put(ENDED, 'response.output.0.id', 'item_other'),
  },

  // Output items.
  {
    name: 'an event has another output_index',
    detectedBy: ['output-index'],
    mutants: put(/^response\./, 'output_index', 7),
  },
  {
    name: 'an event has another content_index',
    detectedBy: ['output-index'],
    mutants: put(/^response\./, 'content_index', 1),
  },
  {
    name: 'an event belongs to another item',
    detectedBy: ['output-index'],
    mutants: put(/^response\./, 'item_id', 'item_other'),
  },
  {
    name: 'output_item.added is dropped',
    detectedBy: ['output-index', 'item-mirror'],
    mutants: dropped(OUTPUT_ADDED),
  },
  {
    name: 'output_item.added is duplicated',
    detectedBy: ['item-announced', 'output-index'],
    mutants: doubled(OUTPUT_ADDED),
  },
  { name: 'content_part.added is dropped', detectedBy: ['output-order'], mutants: dropped(PART_ADDED) },
  { name: 'content_part.added is duplicated', detectedBy: ['output-order'], mutants: doubled(PART_ADDED) },
  {
    name: 'a delta precedes its part',
    detectedBy: ['output-order'],
    mutants: moved(/output_(text|audio_transcript|audio)\.delta$/, PART_ADDED, 'before'),
  },
  {
    name: 'a delta follows the end of its text',
    detectedBy: ['output-order', 'output-text', 'response-known'],
    mutants: moved(TEXT, PART_DONE, 'behind'),
  },
  {
    name: 'audio follows its end',
    detectedBy: ['output-order'],
    mutants: moved(AUDIO, AUDIO_DONE, 'behind'),
  },
  {
    name: 'a done event is dropped',
    detectedBy: ['output-order', 'response-output'],
    mutants: dropped(/(audio|text|audio_transcript|content_part|arguments|output_item)\.done$/),
  },
  {
    name: 'a done event is duplicated',
    detectedBy: ['output-order', 'response-known', 'item-announced'],
    mutants: doubled(/(audio|text|audio_transcript|content_part|arguments|output_item)\.done$/),
  },
  {
    name: 'a part ends before its text',
    detectedBy: ['output-order'],
    mutants: moved(PART_DONE, TEXT_DONE, 'before'),
  },
  {
    name: 'an item ends before its part',
    detectedBy: ['output-order'],
    mutants: moved(OUTPUT_DONE, PART_DONE, 'before'),
  },
  {
    name: 'a part has another modality',
    detectedBy: ['output-modality'],
    mutants: (trace) => [
      ...put(/content_part/, 'part.type', 'text')(trace),
      ...put(/content_part/, 'part.type', 'audio')(trace),
    ],
  },
  {
    name: 'audio in a text response',
    detectedBy: ['output-modality'],
    mutants: replaced(/output_text\.delta$/, ({ frame, type }) => [
      frame,
      {
        ...again(frame),
        type: frame.type === type ? 'response.output_audio.delta' : 'response.audio.delta',
        delta: 'AAAA',
      },
    ]),
  },
  { name: 'audio without bytes', detectedBy: ['output-text'], mutants: put(AUDIO, 'delta', '') },
  { name: 'a text delta is dropped', detectedBy: ['output-text'], mutants: dropped(TEXT, isWhole) },
  {
    name: 'a text delta has another text',
    detectedBy: ['output-text'],
    mutants: put(TEXT, 'delta', 'Something else.', isWhole),
  },
  {
    name: 'the text differs from its deltas',
    detectedBy: ['output-text'],
    mutants: (trace) => [
      ...put(TEXT_DONE, 'text', 'Else.')(trace),
      ...put(TEXT_DONE, 'transcript', 'Else.')(trace),
    ],
  },
  {
    name: 'the text of a part differs',
    detectedBy: ['output-text'],
    mutants: (trace) => [
      ...put(PART_DONE, 'part.text', 'Else.')(trace),
      ...put(PART_DONE, 'part.transcript', 'Else.')(trace),
    ],
  },
  {
    name: 'the text of an item differs',
    detectedBy: ['output-text'],
    mutants: (trace) => [
      ...put(OUTPUT_DONE, 'item.content.0.text', 'Else.')(trace),
      ...put(OUTPUT_DONE, 'item.content.0.transcript', 'Else.')(trace),
    ],
  },
  {
    name: 'a finished item has no content',
    detectedBy: ['item-shape'],
    mutants: put(OUTPUT_DONE, 'item.content', []),
  },
  {
    name: 'a call has another name',
    detectedBy: ['call-arguments'],
    mutants: put(ARGUMENTS_DONE, 'name', 'other'),
  },
  {
    name: 'a call has another id',
    detectedBy: ['call-arguments'],
    mutants: put(/arguments\.(delta|done)$/, 'call_id', 'call_other'),
  },
  {
    name: 'the arguments differ from their deltas',
    detectedBy: ['call-arguments'],
    mutants: put(ARGUMENTS_DONE, 'arguments', '{}'),
  },
  { name: 'a delta of arguments is dropped', detectedBy: ['call-arguments'], mutants: dropped(ARGUMENTS) },
  {
    name: 'the arguments are half a JSON value',
    detectedBy: ['call-arguments'],
    mutants: (trace) =>
      spotsOf(trace)
        .filter((spot) => ARGUMENTS_DONE.test(spot.type))
        .map(({ frame }) => renamed(trace, frame.arguments, String(frame.arguments).slice(0, -3))),
  },
  {
    name: 'a finished call has other arguments',
    detectedBy: ['call-arguments'],
    mutants: put(OUTPUT_DONE, 'item.arguments', '{}', isCall),
  },
  {
    name: 'a finished call is incomplete',
    detectedBy: ['item-shape'],
    mutants: put(OUTPUT_DONE, 'item.status', 'incomplete', isCall),
  },
  {
    name: 'an item out of band is added',
    detectedBy: ['out-of-band'],
    mutants: inserted(OUTPUT_ADDED, (spot) =>
      isMain(spot)
        ? undefined
        : { type: 'conversation.item.added', previous_item_id: null, item: spot.frame.item },
    ),
  },
  {
    name: 'an item out of band is done',
    detectedBy: ['out-of-band'],
    mutants: replaced(OUTPUT_DONE, (spot) =>
      isMain(spot) || !isGa(spot)
        ? undefined
        : [
            {
              type: 'conversation.item.done',
              event_id: 'event_inserted',
              previous_item_id: null,
              item: spot.frame.item,
            },
            spot.frame,
          ],
    ),
  },
];
