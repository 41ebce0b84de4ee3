/** The rules of conversations by name: section of the reference of conversations and description. */
export const CONVERSATION_RULES = {
  'known-event': [
    'talk 2.2',
    'the server sends only the events of conversations, in the names of one protocol',
  ],
  'event-id': ['talk 6.3', 'every server event has an `event_id` that is used once'],
  'error-shape': [
    'talk 6.2',
    'an error has a type, code and message; `param` and `event_id` are text or null',
  ],
  'error-cause': ['talk 6.2', 'an error is sent only for the cause of its code'],
  'error-echo': ['talk 6.2', '`error.event_id` names the event of the client that it answers, else null'],

  'session-first': ['talk 1.2', '`session.created` is the first event of the server, and comes once'],
  'session-same': ['talk 1.2', 'id, model and end of a session never change'],
  'session-keeps': ['talk 1.2', 'a field that was not sent keeps its value'],
  'session-applies': ['talk 1.2', 'a field that was sent applies, or is refused'],

  'reply-missing': ['talk 2.1', 'every event of a client that needs a reply gets one'],
  'reply-order': ['talk 2.1', 'the events of a client are answered in their order'],
  'reply-unrequested': ['talk 2.1', 'a reply follows the event that requires it, once'],

  'turn-order': ['talk 2.4 a', 'speech_started, speech_stopped and committed, of one turn at a time'],
  'turn-item': ['talk 2.4 a', 'the events of a turn name one item'],
  'turn-times': ['talk 2.4 a', 'a turn ends after its start, and turns start in order'],
  'turn-detected': ['talk 2.4 a', 'speech is reported only in sessions that detect turns'],
  'commit-cause': ['talk 2.4 a', 'committed follows the end of a turn, a commit or an idle timeout'],
  'timeout-cause': [
    'talk 2.4 g',
    'an idle timeout needs `idle_timeout_ms`, silence, and comes at most twice in a row',
  ],

  'item-new': ['talk 2.3', 'an id names one item'],
  'item-announced': ['talk 2.4 a', 'an item is added, and done if it is complete, directly after its cause'],
  'item-chain': ['talk 2.4 a', '`previous_item_id` names the item before; null only at the front'],
  'item-mirror': ['talk 2.1', 'an item of the client comes back as it was sent'],
  'item-shape': ['talk 2.3', 'items have the status and content of their progress'],
  'item-known': ['talk 2.1', 'retrieved, deleted and truncated items exist'],
  'item-state': ['talk 2.4 d', 'a retrieved item is the known one; spoken words are only removed'],

  'transcription-order': ['talk 2.4 a', 'a committed item is transcribed once, after it was added'],
  'transcription-text': ['talk 2.4 a', 'the deltas together are the transcript'],
  'transcription-usage': ['talk 2.4 i', 'the usage of a transcription adds up'],

  'response-one': ['talk 2.4 f', 'at most one response of the conversation and four others are in progress'],
  'response-cause': ['talk 2.4 a', 'a response follows a request, a turn with words, or an idle timeout'],
  'response-missing': ['talk 2.4 a', 'a turn with words is answered, if the session creates responses'],
  'response-known': ['talk 2.4', 'the events of a response come between its start and its end'],
  'response-same': ['talk 2.4 e', 'a response ends with the settings and the metadata of its start'],
  'response-cut': ['talk 2.4 d', 'speech that interrupts ends a response immediately; nothing of it follows'],
  'response-cancel': [
    'talk 2.4 d',
    'a response is cancelled only by its client or by speech that interrupts',
  ],
  'response-status': ['talk 2.4', 'status, details and items of an ended response are consistent'],
  'response-usage': ['talk 2.4 i', 'a response that was generated to its end has a usage that adds up'],
  'response-output': ['talk 2.4', 'the output of a response consists of its finished items, in their order'],

  'output-index': ['talk 2.4', 'events name the item, output_index and content_index of their place'],
  'output-order': ['talk 2.4', 'the events of an output item come in their order, each part once'],
  'output-modality': ['talk 2.4 b', 'parts and deltas have the modality of the response'],
  'output-text': ['talk 2.4', 'deltas, done events, part and item have the same text'],
  'call-arguments': ['talk 2.4 c', 'the arguments of a call are valid JSON, the same in all its events'],
  'out-of-band': ['talk 2.4 e', 'a response out of band adds no item to the conversation'],
} as const satisfies Record<string, readonly [section: string, description: string]>;

type Name = keyof typeof CONVERSATION_RULES;
/** The rules of plain sessions have no prefix. */
export type ConversationRuleName = `conversation/${Name}`;

/** Reports a violation of a rule of conversations. */
export type Report = (rule: Name, message: string) => void;
