/** Identifiers: made in one place, each with the prefix that the wire promises. */

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
 * Kinds whose ids grow with the time (RFC 9562, version 7; 74 random bits): rows of usage are stored by the hundred, and
 * at random places of a large index each would cost a page of the disk.
 */
const GROWING: ReadonlySet<IdKind> = new Set(['usage']);

/** A fresh identifier, e.g. `req_5f0c…`: of 122 random bits, but for kinds that grow. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  const uuid = GROWING.has(kind) ? Bun.randomUUIDv7() : crypto.randomUUID();
  return `${PREFIXES[kind]}${uuid.replaceAll('-', '')}` as Id<K>;
}

/** Whether a text has the form of such an identifier; its store knows whether it is one. */
export function mayBeId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return text.startsWith(PREFIXES[kind]);
}

/**
 * The identifier of a part of something that has one itself, e.g. `msg_5f0c…_2` of `resp_5f0c…`: it tells where to
 * look for the part.
 */
export function partId<K extends IdKind>(kind: K, whole: Id<'response'>, part: string): Id<K> {
  return `${PREFIXES[kind]}${whole.slice(PREFIXES.response.length)}_${part}` as Id<K>;
}
