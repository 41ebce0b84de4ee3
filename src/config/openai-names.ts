/**
 * Names of OpenAI's audio and realtime models, which clients send without any configuration (https://platform.openai.com/docs/models
 * and the types `SpeechModel`, `AudioModel` and `RealtimeSessionCreateRequest` of the package `openai`), and `kokoro`, the name of
 * Kokoro-FastAPI's model. Each follows a model of this service: the same engine and weights, also when CONFIG maps that model to
 * another engine.
 */

export interface OpenaiName {
  readonly task: 'speech' | 'transcription' | 'conversation';
  /** Id of the model whose engine, weights and prices it has. */
  readonly follows: 'svc-tts' | 'svc-stt' | 'svc-voice';
}

const SPEECH = { task: 'speech', follows: 'svc-tts' } as const;
const TRANSCRIPTION = { task: 'transcription', follows: 'svc-stt' } as const;
const CONVERSATION = { task: 'conversation', follows: 'svc-voice' } as const;

/** In the order of `GET /v1/models`. */
export const OPENAI_NAMES: ReadonlyMap<string, OpenaiName> = new Map<string, OpenaiName>([
  ['tts-1', SPEECH],
  ['tts-1-1106', SPEECH],
  ['tts-1-hd', SPEECH],
  ['tts-1-hd-1106', SPEECH],
  ['gpt-4o-mini-tts', SPEECH],
  ['gpt-4o-mini-tts-2025-03-20', SPEECH],
  ['gpt-4o-mini-tts-2025-12-15', SPEECH],
  ['kokoro', SPEECH],
  ['whisper-1', TRANSCRIPTION],
  ['gpt-4o-transcribe', TRANSCRIPTION],
  ['gpt-4o-mini-transcribe', TRANSCRIPTION],
  ['gpt-4o-mini-transcribe-2025-12-15', TRANSCRIPTION],
  ['gpt-transcribe', TRANSCRIPTION],
  ['gpt-realtime', CONVERSATION],
  ['gpt-realtime-2025-08-28', CONVERSATION],
  ['gpt-realtime-1.5', CONVERSATION],
  ['gpt-realtime-2', CONVERSATION],
  ['gpt-realtime-2.1', CONVERSATION],
  ['gpt-realtime-mini', CONVERSATION],
  ['gpt-realtime-mini-2025-10-06', CONVERSATION],
  ['gpt-realtime-mini-2025-12-15', CONVERSATION],
  ['gpt-realtime-2.1-mini', CONVERSATION],
]);
