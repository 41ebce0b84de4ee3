/** Descriptions and examples of all events for the AsyncAPI document. */

import type { SentEvent } from '../protocol/client-events.ts';
import type {
  ServerEvent,
  ServerEventOf,
  WireAssistantItem,
  WireItem,
  WireSession,
  WireStartedResponse,
} from '../protocol/server-events.ts';

interface EventDoc<Event> {
  readonly summary: string;
  readonly example: Event;
}

type ClientDocs = {
  readonly [Type in SentEvent['type']]: EventDoc<Extract<SentEvent, { readonly type: Type }>>;
};
type ServerDocs = { readonly [Type in ServerEvent['type']]: EventDoc<ServerEventOf<Type>> };

const PCM = { type: 'audio/pcm', rate: 24_000 } as const;
const AUDIO = 'AAD//wIA/f8=';
const TEXT = 'Hello there.';

const SESSION: WireSession = {
  id: 'sess_0a1b2c',
  object: 'realtime.session',
  type: 'transcription',
  audio: {
    input: {
      format: PCM,
      transcription: { model: 'svc-stt' },
      turn_detection: null,
      noise_reduction: null,
    },
    output: { format: PCM },
  },
  output_modalities: [],
  tts_model: 'svc-tts',
};

const USER_ITEM: WireItem = {
  id: 'item_1',
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text: TEXT }],
};
const AUDIO_ITEM: WireItem = {
  ...USER_ITEM,
  id: 'item_3',
  content: [{ type: 'input_audio', transcript: null }],
};
const HEARD_ITEM: WireItem = {
  ...USER_ITEM,
  id: 'item_3',
  content: [{ type: 'input_audio', transcript: 'Turn on the lights.' }],
};
const SPOKEN_ITEM: WireAssistantItem = {
  id: 'item_2',
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'audio', transcript: TEXT }],
};
const BEGUN_ITEM: WireAssistantItem = { ...SPOKEN_ITEM, status: 'in_progress', content: [] };

const RESPONSE: WireStartedResponse = {
  object: 'realtime.response',
  id: 'resp_1',
  status: 'in_progress',
  status_details: null,
  output: [],
  conversation_id: 'conv_1',
  output_modalities: ['audio'],
  max_output_tokens: 'inf',
  audio: { output: { format: PCM } },
  usage: null,
  metadata: null,
};

const PART = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 } as const;
const OUTPUT = { response_id: 'resp_1', output_index: 0 } as const;
const HEARD = { item_id: 'item_3', content_index: 0 } as const;

export const CLIENT_EVENT_DOCS: ClientDocs = {
  'session.update': {
    summary: 'Updates the session. Omitted fields keep their values.',
    example: {
      type: 'session.update',
      event_id: 'c1',
      session: {
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 16_000 },
            transcription: { language: 'en' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 400 },
          },
        },
        output_modalities: ['audio'],
      },
    },
  },
  'input_audio_buffer.append': {
    summary: 'Appends strict base64 audio to the buffer. Not acknowledged.',
    example: { type: 'input_audio_buffer.append', audio: AUDIO },
  },
  'input_audio_buffer.commit': {
    summary:
      'Commits the buffer for transcription. The commits of a connection are transcribed one after another.',
    example: { type: 'input_audio_buffer.commit', event_id: 'c2' },
  },
  'input_audio_buffer.clear': {
    summary: 'Clears the buffer.',
    example: { type: 'input_audio_buffer.clear' },
  },
  'conversation.item.create': {
    summary: 'Adds an item to the conversation, which contains the last 64 items.',
    example: {
      type: 'conversation.item.create',
      event_id: 'c3',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: TEXT }] },
    },
  },
  'response.create': {
    summary: 'Synthesizes the latest user text. Of `response` only `metadata` is used; it is echoed.',
    example: { type: 'response.create', event_id: 'c4' },
  },
  'response.cancel': {
    summary: 'Cancels the response in progress.',
    example: { type: 'response.cancel', event_id: 'c5' },
  },
  'conversation.item.retrieve': {
    summary: 'GA names only: retrieves an item of the conversation. Otherwise `unsupported_feature`.',
    example: { type: 'conversation.item.retrieve', item_id: 'item_3' },
  },
  'conversation.item.truncate': {
    summary: 'GA names only: reports how much audio of an item was played. Otherwise `unsupported_feature`.',
    example: { type: 'conversation.item.truncate', item_id: 'item_2', content_index: 0, audio_end_ms: 1500 },
  },
  'conversation.item.delete': {
    summary: 'Not supported: results in `unsupported_feature`.',
    example: { type: 'conversation.item.delete', item_id: 'item_1' },
  },
  'output_audio_buffer.clear': {
    summary:
      'Not supported: results in `unsupported_feature`, because a WebSocket connection has no output buffer.',
    example: { type: 'output_audio_buffer.clear' },
  },
};

/** Name of `session.update` in the beta protocol. */
export const BETA_SESSION_UPDATE_DOC = {
  summary: 'Alias of `session.update` with the flat field names of the beta protocol.',
  example: {
    type: 'transcription_session.update',
    session: { input_audio_format: 'pcm16', turn_detection: null },
  },
};

export const SERVER_EVENT_DOCS: ServerDocs = {
  'session.created': {
    summary: 'The first event of a connection.',
    example: { type: 'session.created', session: SESSION },
  },
  'session.updated': {
    summary: 'Acknowledges `session.update` with the complete current session.',
    example: {
      type: 'session.updated',
      session: {
        ...SESSION,
        audio: {
          ...SESSION.audio,
          input: {
            ...SESSION.audio.input,
            format: { type: 'audio/pcm', rate: 16_000 },
            transcription: { model: 'svc-stt', language: 'en' },
            turn_detection: {
              type: 'server_vad',
              threshold: 0.5,
              prefix_padding_ms: 300,
              silence_duration_ms: 400,
              create_response: false,
              interrupt_response: false,
              idle_timeout_ms: null,
            },
          },
        },
        output_modalities: ['audio'],
      },
    },
  },
  error: {
    summary: 'A client event, or a field of it, was rejected. The connection stays open.',
    example: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'response_in_progress',
        message: 'response.create rejected: a response is already in progress.',
        param: null,
        event_id: 'c4',
      },
    },
  },
  'input_audio_buffer.committed': {
    summary: 'The buffer, or the turn that ended, is now a user item and will be transcribed.',
    example: { type: 'input_audio_buffer.committed', item_id: 'item_3', previous_item_id: 'item_2' },
  },
  'input_audio_buffer.cleared': {
    summary: 'The buffer was cleared.',
    example: { type: 'input_audio_buffer.cleared' },
  },
  'input_audio_buffer.speech_started': {
    summary:
      'server_vad: speech was detected. The position counts all audio since the connection was opened.',
    example: { type: 'input_audio_buffer.speech_started', item_id: 'item_3', audio_start_ms: 1180 },
  },
  'input_audio_buffer.speech_stopped': {
    summary: 'server_vad: the configured silence has elapsed. `input_audio_buffer.committed` follows.',
    example: { type: 'input_audio_buffer.speech_stopped', item_id: 'item_3', audio_end_ms: 3260 },
  },
  'conversation.item.input_audio_transcription.delta': {
    summary: 'The next part of a transcript.',
    example: {
      type: 'conversation.item.input_audio_transcription.delta',
      ...HEARD,
      delta: 'Turn on ',
      logprobs: null,
    },
  },
  'conversation.item.input_audio_transcription.completed': {
    summary: 'The complete transcript. It equals the concatenated deltas.',
    example: {
      type: 'conversation.item.input_audio_transcription.completed',
      ...HEARD,
      transcript: 'Turn on the lights.',
      logprobs: null,
      usage: {
        type: 'tokens',
        total_tokens: 26,
        input_tokens: 21,
        output_tokens: 5,
        input_token_details: { text_tokens: 0, audio_tokens: 21 },
      },
    },
  },
  'conversation.item.input_audio_transcription.failed': {
    summary: 'The item could not be transcribed. The connection stays open.',
    example: {
      type: 'conversation.item.input_audio_transcription.failed',
      ...HEARD,
      error: {
        type: 'server_error',
        code: 'upstream_error',
        message: 'The model failed to transcribe this.',
      },
    },
  },
  'conversation.item.created': {
    summary: 'Acknowledges `conversation.item.create`.',
    example: { type: 'conversation.item.created', previous_item_id: null, item: USER_ITEM },
  },
  'conversation.item.added': {
    summary: 'An item of the user or the assistant was added to the conversation.',
    example: { type: 'conversation.item.added', previous_item_id: 'item_1', item: BEGUN_ITEM },
  },
  'conversation.item.done': {
    summary: 'An item is complete, except for the transcript of its audio.',
    example: { type: 'conversation.item.done', previous_item_id: 'item_2', item: AUDIO_ITEM },
  },
  'conversation.item.retrieved': {
    summary: 'Result of `conversation.item.retrieve`.',
    example: { type: 'conversation.item.retrieved', item: HEARD_ITEM },
  },
  'conversation.item.truncated': {
    summary: 'Acknowledges `conversation.item.truncate`.',
    example: {
      type: 'conversation.item.truncated',
      item_id: 'item_2',
      content_index: 0,
      audio_end_ms: 1500,
    },
  },
  'response.created': {
    summary: 'A response was created.',
    example: { type: 'response.created', response: RESPONSE },
  },
  'response.output_item.added': {
    summary: 'The item of the response, without content.',
    example: { type: 'response.output_item.added', ...OUTPUT, item: BEGUN_ITEM },
  },
  'response.content_part.added': {
    summary: 'The content part of the item: audio.',
    example: { type: 'response.content_part.added', ...PART, part: { type: 'audio', transcript: '' } },
  },
  'response.audio.delta': {
    summary: 'The next audio, base64-encoded in the output format.',
    example: { type: 'response.audio.delta', ...PART, delta: AUDIO },
  },
  'response.audio_transcript.delta': {
    summary: 'The next part of the spoken text.',
    example: { type: 'response.audio_transcript.delta', ...PART, delta: 'Hello ' },
  },
  'response.audio_transcript.done': {
    summary: 'The complete spoken text.',
    example: { type: 'response.audio_transcript.done', ...PART, transcript: TEXT },
  },
  'response.audio.done': {
    summary: 'The audio is complete.',
    example: { type: 'response.audio.done', ...PART },
  },
  'response.content_part.done': {
    summary: 'The part is complete.',
    example: { type: 'response.content_part.done', ...PART, part: { type: 'audio', transcript: TEXT } },
  },
  'response.output_item.done': {
    summary: 'The item is complete. `response.done` contains it as well.',
    example: { type: 'response.output_item.done', ...OUTPUT, item: SPOKEN_ITEM },
  },
  'response.done': {
    summary: 'The final event of a response, which is completed, cancelled or failed.',
    example: {
      type: 'response.done',
      response: {
        ...RESPONSE,
        status: 'completed',
        output: [SPOKEN_ITEM],
        usage: {
          total_tokens: 15,
          input_tokens: 3,
          output_tokens: 12,
          input_token_details: {
            text_tokens: 3,
            audio_tokens: 0,
            image_tokens: 0,
            cached_tokens: 0,
            cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
          },
          output_token_details: { text_tokens: 0, audio_tokens: 12 },
        },
      },
    },
  },
};
