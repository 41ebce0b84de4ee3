/**
 * Limits of realtime connections. The code, the AsyncAPI document and its schemas read them here; a test compares the pages of
 * the guide.
 */

import { MAX_RATE_HZ, MIN_RATE_HZ } from '../../src/contract/engines/audio.ts';

export { MAX_BUFFERED_BYTES } from '../../src/conversation/settings.ts';

/** An inclusive range of a number. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly isInteger?: boolean;
}

/** Maximum length of an `event_id` that is echoed. */
export const MAX_EVENT_ID_CHARACTERS = 512;
/** Maximum length of an event, except for appends, which only the socket limits. */
export const MAX_EVENT_CHARACTERS = 1024 * 1024;
/** Maximum number of fields and list entries of an event. Each uses far more memory than its one or two characters. */
export const MAX_VALUES = 50_000;
/** Maximum nesting depth of lists and objects. */
export const MAX_DEPTH = 64;

/**
 * Frames that wait for the lookup of a voice. Clients should await `session.updated` (spec 3.4), so a correct client stays
 * far below the limits.
 */
export const MAX_QUEUED_FRAMES = 1024;
/** Fits the largest frame that a socket accepts and the frames before it. */
export const MAX_QUEUED_CHARACTERS = 40 * 1024 * 1024;

/** Maximum number of committed turns that wait behind the running transcription. */
export const MAX_PENDING_TURNS = 64;
/** Maximum number of items in a conversation (spec 8). */
export const WINDOW_ITEMS = 64;
/** Maximum size of an item as JSON in UTF-8, without its audio. */
export const MAX_ITEM_BYTES = 64 * 1024;
/** `metadata` of a response, in characters of JSON: 16 pairs of 64 and 512 characters, the OpenAI limit. */
export const MAX_METADATA_CHARACTERS = 16 * 1024;

/** Maximum size of the echoed values of a session, as JSON in UTF-8. */
export const MAX_ECHOED_BYTES = 256 * 1024;
/** Maximum length of an echoed model name. */
export const MAX_MODEL_CHARACTERS = 256;
/** Same limit as the HTTP endpoint. */
export const MAX_PROMPT_CHARACTERS = 5_000;
/** Maximum length of the tag of a language. RFC 5646 recommends 35. */
export const MAX_TAG_CHARACTERS = 64;
/** Languages that a transcription may detect. Models know about 100 languages. */
export const MAX_LANGUAGES = 100;
/** Sample rate of `audio/pcm`, in Hz. */
export const PCM_RATE_HZ: NumberRange = { from: MIN_RATE_HZ, to: MAX_RATE_HZ, isInteger: true };
/** Sample rate of G.711, in Hz (spec 4.7, rule 3). */
export const G711_RATE_HZ = 8_000;
/** Same range as speech over HTTP (spec 8). */
export const SPEED: NumberRange = { from: 0.25, to: 4 };
/** Speech probability of turn detection (spec 4.7, rule 6). */
export const THRESHOLD: NumberRange = { from: 0, to: 1 };
/** `prefix_padding_ms` and `silence_duration_ms` (spec 4.7, rule 6). */
export const VAD_MS: NumberRange = { from: 0, to: 5_000, isInteger: true };

/** Sessions of conversation models, as in OpenAI's protocol. */
export const CONVERSATION_SPEED: NumberRange = { from: 0.25, to: 1.5 };
export const IDLE_TIMEOUT_MS: NumberRange = { from: 5_000, to: 30_000, isInteger: true };
export const MAX_INSTRUCTIONS_CHARACTERS = 65_536;
export const MAX_TOOLS = 128;
export const OUTPUT_TOKENS: NumberRange = { from: 1, to: 4096, isInteger: true };
/** Other temperatures are accepted without effect. */
export const TEMPERATURE: NumberRange = { from: 0, to: 2 };
/** `truncation.token_limits.post_instructions`. */
export const TOKEN_LIMIT: NumberRange = { from: 0, to: 1_000_000, isInteger: true };

/** A size in MiB, for messages and documents. */
export const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
