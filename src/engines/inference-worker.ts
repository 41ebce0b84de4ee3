/** Entry file of an inference process. The serving process must not import it. */

import { LOADERS } from './loaders.ts';
import type { PoolSpec } from './pool/model-loader.ts';
import { serveInference } from './pool/worker-loop.ts';

serveInference<PoolSpec>((spec, runtime, onImport) => {
  const loader = LOADERS.find(({ kind }) => kind === spec.kind);
  if (loader === undefined) throw new Error(`no loader for '${spec.kind}'`);
  return loader.load(spec, runtime, onImport);
});
