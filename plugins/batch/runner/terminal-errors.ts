/** Faults of batches that no later run can mend. Those of lines are the input check's. */

import type { BatchFault } from '../../../src/contract/stores/batch-store.ts';

/** Why a batch fails whose input was never checked. */
export const REFUSALS = {
  batch_expired: fault(
    'batch_expired',
    'The completion window was over before the input file could be checked.',
  ),
  input_file_lost: fault('input_file_lost', 'The service has lost the content of the input file.'),
} as const;

/** Of a batch that ends before its time. */
export const INPUT_LOST: BatchFault = fault(
  'input_file_lost',
  'The service has lost the content of the input file. Requests that are in no result file were not run.',
);

/** Of a batch whose result files have gaps. */
export const RESULTS_LOST: BatchFault = fault(
  'results_lost',
  'The service has lost results of some requests: they ran and are counted, but are in no result file.',
);

function fault(code: string, message: string): BatchFault {
  return { code, message, param: null, line: null };
}
