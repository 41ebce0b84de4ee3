/** Where the published graph lies. A file of its own: the serving process asks for it, and must not load a runtime. */

import { resolveModelFiles } from '../../../../models/model-files.ts';

/** @throws Error that names the missing file and the command that brings it. */
export function sileroFile(modelsDir: string): string {
  return resolveModelFiles(modelsDir, 'silero-vad')['silero_vad_v6.onnx'] ?? '';
}
