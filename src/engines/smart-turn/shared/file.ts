/** Path of the Smart Turn graph. In its own module, because the serving process must not load the ONNX runtime. */

import { resolveModelFiles } from '../../../models/model-files.ts';

/** @throws Error that names the missing file and the command that downloads it. */
export function smartTurnFile(modelsDir: string): string {
  return resolveModelFiles(modelsDir, 'smart-turn-v3.2')['smart-turn-v3.2-cpu.onnx'] ?? '';
}
