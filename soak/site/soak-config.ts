/** Configuration of the nodes: models of every kind, their prices, and one organization per load. */

import { NO_RECOGNISER, NO_SPEAKER } from '../../tools/harness/services/launcher.ts';

export const VOICE_MODEL = 'svc-tts';
/** Model for stored voices. */
export const CLONED_MODEL = 'svc-tts-cloned';
export const TRANSCRIPTION_MODEL = 'svc-stt';
export const CONVERSATION_MODEL = 'svc-voice';
export const CHAT_MODEL = 'smollm2-135m-instruct';
export const EMBED_MODEL = 'all-minilm-l6-v2';
export const VIDEO_MODEL = 'vid-2.0-mini';

/** One per load, so that usage and credits can be attributed. */
export const ORGANIZATIONS = [
  'speech',
  'transcriptions',
  'realtime',
  'conversations',
  'partner',
  'text',
  'files',
  'batches',
  'voices',
  'videos',
  'slow',
  'half-open',
] as const;
export type Organization = (typeof ORGANIZATIONS)[number];

export const keyOf = (organization: Organization) => `soak-key-of-${organization}`;
export const API_KEYS = ORGANIZATIONS.map((name) => `${keyOf(name)}:${name}`).join(',');

/** Credits of each organization, more than a run consumes. */
export const GRANTED = 1_000_000;

/** Prices in whole millionths of a credit, so that costs are not rounded. */
const PRICE = { request: 10_000, input_token: 1, output_token: 2, character: 3 };

const PRICED: readonly (readonly [endpoint: string, model: string])[] = [
  ['/v1/audio/speech', VOICE_MODEL],
  ['/v1/audio/speech', CLONED_MODEL],
  ['/v1/audio/transcriptions', TRANSCRIPTION_MODEL],
  ['POST /v1/voices/partner', VOICE_MODEL],
  ['POST /v1/transcribers/partner', TRANSCRIPTION_MODEL],
  ['POST /v1/chat/completions', CHAT_MODEL],
  ['POST /v1/responses', CHAT_MODEL],
  ['POST /v1/embeddings', EMBED_MODEL],
  ['POST /v1/videos/extensions', VIDEO_MODEL],
];

/** Consumption in a usage row. */
export interface Consumed {
  readonly endpoint: string;
  readonly model: string;
  readonly status: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly characters: number;
}

/** Cost of a usage row in millionths of a credit: fee per request with a result, and consumption (docs/decisions/credits.md). */
export function costOf(row: Consumed): number {
  if (!PRICED.some(([endpoint, model]) => endpoint === row.endpoint && model === row.model)) return 0;
  const hasResult = row.status === 'completed' || (row.status === 'cancelled' && row.outputTokens > 0);
  const { request, input_token, output_token, character } = PRICE;
  return (
    (hasResult ? request : 0) +
    input_token * row.inputTokens +
    output_token * row.outputTokens +
    character * row.characters
  );
}

/** The CONFIG section with the prices of these models. */
function pricesOf(models: readonly string[]): string {
  const units = Object.entries(PRICE).map(([unit, micro]) => `${unit} = ${(micro / 1_000_000).toFixed(6)}\n`);
  return PRICED.filter(([, model]) => models.includes(model))
    .map(
      ([endpoint, model]) => `
[[prices]]
endpoint = "${endpoint}"
model = "${model}"
${units.join('')}`,
    )
    .join('');
}

/** One process with one thread per pool, because all nodes share one computer. */
const INFERENCE = `
[inference]
workers = 1
threads = 1
[batch]
max_concurrent_lines = 8
`;

/** Limits that are counted in Redis, if available, but never reached. */
const RATE_LIMITS = `
[rate_limits]
requests_per_minute_per_key = 100000
requests_per_minute_per_organization = 100000
concurrent_calls_per_key = 1000
concurrent_calls_per_organization = 1000
`;

/** All models, for the nodes of the main site. */
export const WHOLE_CONFIG = `
[models."${VOICE_MODEL}"]
kind = "piper"
[models."${CLONED_MODEL}"]
kind = "kokoro"
[models."${TRANSCRIPTION_MODEL}"]
kind = "whisper"
weights = "tiny.en"
[models."${CONVERSATION_MODEL}"]
kind = "conversation"
stt = "${TRANSCRIPTION_MODEL}"
llm = "${CHAT_MODEL}"
tts = "${VOICE_MODEL}"
${INFERENCE}${RATE_LIMITS}${pricesOf(PRICED.map(([, model]) => model))}`;
export const WHOLE_PLUGINS = 'speech,voices,realtime,partner,responses,batch,video';

/** Text, files and batches, for the node with the small disk. */
export const SMALL_CONFIG = `${NO_SPEAKER}${NO_RECOGNISER}${INFERENCE}${pricesOf([CHAT_MODEL, EMBED_MODEL])}`;
export const SMALL_PLUGINS = 'responses,batch';
