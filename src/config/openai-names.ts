/**
 * Names of OpenAI's audio models, which clients send without any configuration (https://platform.openai.com/docs/models and
 * the types `SpeechModel` and `AudioModel` of the package `openai`), and `kokoro`, the name of Kokoro-FastAPI's model. Each
 * follows a model of this service: the same engine and weights, also when CONFIG maps that model to another engine.
 */

export interface OpenaiName {
  readonly task: 'speech' | 'transcription';
  /** Id of the model whose engine, weights and prices it has. */
  readonly follows: 'svc-tts' | 'svc-stt';
}

const SPEECH = { task: 'speech', follows: 'svc-tts' } as const;
const TRANSCRIPTION = { task: 'transcription', follows: 'svc-stt' } as const;

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
]);
