/** Entry files of the processes of a service, as parts of their command lines. */
export const WORKER_ENTRIES = {
  inference: 'src/engines/inference-worker.ts',
  languageModel: 'src/engines/llama/worker/main.ts',
  voiceActivity: 'src/engines/silero/worker/main.ts',
  turnEnd: 'src/engines/smart-turn/worker/main.ts',
  video: 'src/engines/continuation/worker/main.ts',
  media: 'src/media/worker.ts',
  audioEncoding: 'src/media/speech/worker.ts',
  inputCheck: 'plugins/batch/input/validation/worker.ts',
} as const;
