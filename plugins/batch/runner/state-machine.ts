/**
 * The life of one batch, pure (spec 3.1; openai-wire 3.1): which moves there are, and what is to be done in each state.
 * The store makes the moves, each guarded by the statement that writes it. The table is docs/states/batch.md.
 */

import { type BatchStatus, BEFORE_BATCH_END } from '../../../src/contract/stores/batch-store.ts';

export type Event =
  /** A runner has it. @param late whether its 24 hours are over. */
  | { readonly kind: 'taken'; readonly late: boolean }
  /** Every line of the input is well formed. */
  | { readonly kind: 'input_accepted' }
  | { readonly kind: 'input_refused' }
  /** Its bytes are gone, for ever. */
  | { readonly kind: 'input_lost' }
  /** Results of some lines are to be saved. */
  | { readonly kind: 'lines_ended' }
  /** Every line has a result. */
  | { readonly kind: 'last_line_ended' }
  /** Its result files are stored, of all that it will ever have. */
  | { readonly kind: 'files_stored'; readonly as: 'completed' | 'cancelled' | 'expired' }
  | { readonly kind: 'cancel_asked' };

export type Effect =
  /** Read the whole input and look for faults. */
  | { readonly kind: 'validate' }
  /** Let it fail, with the one fault of this code. */
  | { readonly kind: 'refuse'; readonly code: 'batch_expired' | 'input_file_lost' }
  | { readonly kind: 'run_lines' }
  /** Give every line that has no result an error, then store the result files. */
  | { readonly kind: 'write_off'; readonly as: 'cancelled' | 'expired' }
  | { readonly kind: 'store_files'; readonly as: keyof typeof BEFORE_BATCH_END }
  /** Keep results, counts and bills. */
  | { readonly kind: 'save' }
  /** Answer whoever asked for a cancel: with the batch, or 409. */
  | { readonly kind: 'answer'; readonly status: 200 | 409 };

export interface Step {
  readonly status: BatchStatus;
  readonly effects: readonly Effect[];
}

/** Total: what makes no sense in a state leaves it as it is. */
export function next(status: BatchStatus, event: Event): Step {
  switch (event.kind) {
    case 'taken':
      return { status, effects: workOf(status, event.late) };
    case 'input_accepted':
      return status === 'validating' ? to('in_progress') : to(status);
    case 'input_refused':
      return status === 'validating' ? to('failed') : to(status);
    case 'input_lost':
      return { status, effects: withoutInput(status) };
    case 'lines_ended': {
      const isSaved = status === 'in_progress' || status === 'cancelling';
      return { status, effects: isSaved ? [{ kind: 'save' }] : [] };
    }
    case 'last_line_ended':
      return status === 'in_progress' ? to('finalizing') : to(status);
    case 'files_stored':
      return status === BEFORE_BATCH_END[event.as] ? to(event.as) : to(status);
    case 'cancel_asked':
      return cancel(status);
    default:
      return event satisfies never;
  }
}

/** What a runner does. */
function workOf(status: BatchStatus, late: boolean): readonly Effect[] {
  switch (status) {
    case 'validating':
      return [late ? { kind: 'refuse', code: 'batch_expired' } : { kind: 'validate' }];
    case 'in_progress':
      return [late ? { kind: 'write_off', as: 'expired' } : { kind: 'run_lines' }];
    case 'cancelling':
      return [{ kind: 'write_off', as: 'cancelled' }];
    case 'finalizing':
      return [{ kind: 'store_files', as: 'completed' }];
    default:
      return [];
  }
}

/** Lines that have no result will have none, and nobody knows their names. */
function withoutInput(status: BatchStatus): readonly Effect[] {
  switch (status) {
    case 'validating':
      return [{ kind: 'refuse', code: 'input_file_lost' }];
    case 'in_progress':
      return [{ kind: 'store_files', as: 'expired' }];
    case 'cancelling':
      return [{ kind: 'store_files', as: 'cancelled' }];
    default:
      return [];
  }
}

function cancel(status: BatchStatus): Step {
  switch (status) {
    case 'validating':
    case 'in_progress':
    case 'cancelling':
      return { status: 'cancelling', effects: [{ kind: 'answer', status: 200 }] };
    default:
      return { status, effects: [{ kind: 'answer', status: 409 }] };
  }
}

function to(status: BatchStatus): Step {
  return { status, effects: [] };
}
