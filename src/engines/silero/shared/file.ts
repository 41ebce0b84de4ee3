/** Path of the published Silero graph. In its own module, because the serving process must not load the ONNX runtime. */

import { resolveModelFiles } from '../../../models/model-files.ts';

/** @throws Error that names the missing file and the command that downloads it. */
export function sileroFile(modelsDir: string): string {
  return resolveModelFiles(modelsDir, 'silero-vad')['silero_vad_v6.onnx'] ?? '';
}
