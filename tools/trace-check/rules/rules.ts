import type { ConversationRuleName } from '../conversation/rules.ts';

/** The order rules of WS /v1/realtime by name: section (`spec`: specification, `wire`: event reference) and description. */
export const RULES = {
  'known-event': ['spec 6.2', 'the server sends only the events of the list'],
  'event-id': ['spec 2.6', 'every server event has an `event_id` with the prefix `event_`, used once'],
  'id-prefix': ['spec 2.6', 'ids that the server creates have the prefix of their kind'],
  'field-shape': ['wire 8.5', 'required fields are present and have the right type'],
  'error-shape': ['spec 7', 'an `error` has a code of the table, its type, a message, a param'],

  'session-first': ['spec 3.4', '`session.created` is the first event of the server, and comes once'],
  'session-same': ['spec 2.6', 'the session keeps its id and its object name'],
  'session-keeps': ['spec 4.7 rule 1', 'a field that was not sent keeps its value'],
  'session-rejection': [
    'spec 4.7 rule 2',
    'a field that was sent applies, or is rejected and keeps its value',
  ],

  'reply-missing': ['wire 8.4', 'every event of a client that needs a reply gets one'],
  'reply-order': ['wire 8.1', "a client's events are handled, and answered, in their order"],
  'reply-unrequested': ['wire 8.4', 'a reply follows the event that requires it'],
  'error-echo': ['wire 8.8', '`error.event_id` is the `event_id` of the event it answers, else null'],
  'error-cause': ['spec 7', 'an error is sent only for the cause of its code'],

  'turn-order': ['spec 6.2 order rule 2', 'speech_started, speech_stopped, committed, of one turn at a time'],
  'turn-item': ['wire 8.5', 'the events of one turn name the same item'],
  'turn-detected': ['spec 6.2', 'speech events are sent only under `server_vad`'],
  'turn-times': ['wire 8.5', 'times count all audio: a turn ends after its start, and turns are in order'],
  'commit-cause': ['spec 6.2 order rule 1', '`committed` follows a commit or the end of a turn'],

  'transcription-order': ['spec 6.2 order rule 1', 'committed, delta*, then completed or failed, once'],
  'transcription-serial': ['spec 6.1', 'one commit is transcribed at a time, in their order'],
  'transcription-text': ['spec 6.2', 'the deltas together are the transcript'],
  'transcription-usage': ['spec 6.2', 'completed carries a `usage` that adds up'],
  'transcription-failure': ['wire 8.5', 'the error of a failed transcription omits unknown fields'],

  'item-new': ['wire 8.5', 'an id names one item'],
  'item-chain': ['wire 8.5', '`previous_item_id` names the item before; null only for the first'],
  'item-mirror': ['spec 6.2', '`conversation.item.created` mirrors the item of the client'],
  'item-shape': ['wire 8.6', 'items of the server have their exact shape'],
  'item-announced': ['wire 8.2', 'GA clients receive added and done of every item; others receive neither'],

  'response-one': ['spec 3.4', 'at most one response is in flight'],
  'response-requested': ['spec 3.4', 'a response follows a `response.create`'],
  'response-order': ['spec 6.2 order rule 3', 'the events of a response come in their one order'],
  'response-ids': ['spec 6.2', 'all events of a response carry its ids and indices'],
  'response-end': ['spec 3.4', 'a response ends once, and nothing of it follows'],
  'response-status': ['wire 8.7', 'status, status_details and item are consistent'],
  'response-usage': ['spec 6.2', '`usage` is present if completed, otherwise null'],
  'response-output': ['spec 6.2', '`response.done` contains the item of `response.output_item.done`'],
  'response-text': ['wire 8.5', 'transcript deltas, transcript, part and item have the same text'],
  'response-cancel': ['spec 3.4', 'a response is cancelled only on request of the client'],
  'one-dialect': ['wire 8.2', 'a connection uses one dialect; never both names of an audio event'],
} as const satisfies Record<string, readonly [section: string, description: string]>;

/** The rules of conversations have the prefix `conversation/`. */
export type RuleName = keyof typeof RULES | ConversationRuleName;
type PlainRuleName = keyof typeof RULES;

/** A violation of a rule by a frame. */
export interface Violation {
  readonly rule: RuleName;
  /** Section that defines the rule. */
  readonly section: string;
  /** Starts with the number of the frame in its connection, from 0. */
  readonly message: string;
  readonly index: number;
}

/** Reports a violation. */
export type Report = (rule: PlainRuleName, message: string) => void;
