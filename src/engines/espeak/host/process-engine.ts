import { workerLog } from '../../../inference/workers/worker-log.ts';
import type { EspeakNg } from '../../../text/front-end.ts';
import { EspeakEngine } from './engine.ts';

let engine: EspeakEngine | undefined;

/** The eSpeak process that all models of an inference process share. It starts with the first text that needs it. */
export function espeakOfProcess(modelsDir: string): EspeakNg {
  engine ??= new EspeakEngine({ modelsDir, environment: {}, log: workerLog('Inference process') });
  const shared = engine;
  return (voice, clauses) => shared.phonemes(voice, clauses);
}
