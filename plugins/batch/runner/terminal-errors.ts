/** Errors of a whole batch that a later run cannot resolve. Errors of lines are in input/validation/validator.ts. */

import type { BatchError } from '../../../src/contract/stores/batch-store.ts';

/** Reasons why a batch fails before its input is validated. */
export const VALIDATION_FAILURES = {
  batch_expired: batchError(
    'batch_expired',
    'The completion window ended before the input file was validated.',
  ),
  input_file_lost: batchError('input_file_lost', 'The content of the input file is lost.'),
} as const;

/** Error of a batch that ends early. */
export const INPUT_LOST: BatchError = batchError(
  'input_file_lost',
  'The content of the input file is lost. Requests that are missing in the result files did not run.',
);

/** Error of a batch whose result files are incomplete. */
export const RESULTS_LOST: BatchError = batchError(
  'results_lost',
  'Results of some requests are lost: the requests ran and are counted, but are missing in the result files.',
);

function batchError(code: string, message: string): BatchError {
  return { code, message, param: null, line: null };
}
