/** Models that exist without configuration. The file can remap them and add more. */

export const DEFAULT_MODELS = {
  'svc-tts': { kind: 'kokoro' },
  'svc-stt': { kind: 'whisper' },
  'smollm2-135m-instruct': { kind: 'llama' },
  'qwen2.5-0.5b-instruct': { kind: 'llama', weights: 'qwen2.5-0.5b-instruct' },
  'qwen2.5-1.5b-instruct': { kind: 'llama', weights: 'qwen2.5-1.5b-instruct' },
  'all-minilm-l6-v2': { kind: 'minilm' },
  'vid-2.0-mini': { kind: 'continuation' },
  'vid-2.0-fast': { kind: 'continuation' },
  'vid-2.0': { kind: 'continuation' },
  'vid-2.5': { kind: 'continuation' },
  'svc-voice': { kind: 'conversation' },
} as const;
