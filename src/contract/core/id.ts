/** Identifiers with the prefixes of the API. */

const PREFIXES = {
  request: 'req_',
  usage: 'usage_',
  key: 'key_',
  voice: 'tts-vc-voice_',
  video: 'video_',
  session: 'sess_',
  event: 'event_',
  item: 'item_',
  conversation: 'conv_',
  response: 'resp_',
  completion: 'chatcmpl-',
  message: 'msg_',
  functionCall: 'fc_',
  toolCall: 'call_',
  functionOutput: 'fco_',
  reasoning: 'rs_',
  searchCall: 'ws_',
  codeCall: 'ci_',
  container: 'cntr_',
  file: 'file-',
  batch: 'batch_',
  batchLine: 'batch_req_',
} as const;

export type IdKind = keyof typeof PREFIXES;
export type Id<K extends IdKind> = `${(typeof PREFIXES)[K]}${string}`;

/**
 * Kinds whose ids increase with time (UUID version 7, RFC 9562; 74 random bits). Usage rows are inserted by
 * the hundred; random ids would touch a different index page for each row.
 */
const GROWING: ReadonlySet<IdKind> = new Set(['usage']);

/** Creates an identifier, e.g. `req_5f0c…`, with 122 random bits (74 for time-ordered kinds). */
export function newId<K extends IdKind>(kind: K): Id<K> {
  const uuid = GROWING.has(kind) ? Bun.randomUUIDv7() : crypto.randomUUID();
  return `${PREFIXES[kind]}${uuid.replaceAll('-', '')}` as Id<K>;
}

/** Whether a text has the prefix of a kind. The id can still be unknown to the store. */
export function mayBeId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return text.startsWith(PREFIXES[kind]);
}

/**
 * Returns the id of a part of a response, e.g. `msg_5f0c…_2` of `resp_5f0c…`. It contains the id of the
 * response, so that the part can be found.
 */
export function partId<K extends IdKind>(kind: K, whole: Id<'response'>, part: string): Id<K> {
  return `${PREFIXES[kind]}${whole.slice(PREFIXES.response.length)}_${part}` as Id<K>;
}
