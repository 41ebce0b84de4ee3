/** Entry file of an inference process. The serving process must not import it. */

import type { PoolSpec } from '../inference/pool/model-loader.ts';
import { serveInference } from '../inference/pool/worker-loop.ts';
import { LOADERS } from './loaders.ts';

serveInference<PoolSpec>((spec, runtime, onImport) => {
  const loader = LOADERS.find(({ kind }) => kind === spec.kind);
  if (loader === undefined) throw new Error(`no loader for '${spec.kind}'`);
  return loader.load(spec, runtime, onImport);
});
