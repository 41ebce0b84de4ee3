/**
 * The lifecycle of a batch (spec 3.1; openai-wire 3.1): its transitions and the effects of each state. Pure. The store
 * performs the transitions, each guarded by the statement that writes it. The state table is docs/states/batch.md.
 */

import { type BatchStatus, STATUS_BEFORE_END } from '../../../src/contract/stores/batch-store.ts';

export type Event =
  /** A runner claimed the batch. @param late whether the completion window is over. */
  | { readonly kind: 'claimed'; readonly late: boolean }
  /** The input is valid. */
  | { readonly kind: 'input_accepted' }
  | { readonly kind: 'input_rejected' }
  /** The input file is permanently lost. */
  | { readonly kind: 'input_lost' }
  /** Some lines have results to save. */
  | { readonly kind: 'lines_finished' }
  /** Every line has a result. */
  | { readonly kind: 'last_line_finished' }
  /** The final result files are stored. */
  | { readonly kind: 'files_stored'; readonly as: 'completed' | 'cancelled' | 'expired' }
  | { readonly kind: 'cancel_requested' };

export type Effect =
  /** Validate the whole input. */
  | { readonly kind: 'validate' }
  /** Fail the batch with the error of this code. */
  | { readonly kind: 'fail'; readonly code: 'batch_expired' | 'input_file_lost' }
  | { readonly kind: 'run_lines' }
  /** Give every line without a result an error, then store the result files. */
  | { readonly kind: 'skip_remaining'; readonly as: 'cancelled' | 'expired' }
  | { readonly kind: 'store_files'; readonly as: keyof typeof STATUS_BEFORE_END }
  /** Save results, counts and bills. */
  | { readonly kind: 'save' }
  /** Respond to a cancel request with the batch or with 409. */
  | { readonly kind: 'respond'; readonly status: 200 | 409 };

export interface Step {
  readonly status: BatchStatus;
  readonly effects: readonly Effect[];
}

/** Total: an event that does not apply to a state leaves it unchanged. */
export function next(status: BatchStatus, event: Event): Step {
  switch (event.kind) {
    case 'claimed':
      return { status, effects: workOf(status, event.late) };
    case 'input_accepted':
      return status === 'validating' ? to('in_progress') : to(status);
    case 'input_rejected':
      return status === 'validating' ? to('failed') : to(status);
    case 'input_lost':
      return { status, effects: withoutInput(status) };
    case 'lines_finished': {
      const isSaved = status === 'in_progress' || status === 'cancelling';
      return { status, effects: isSaved ? [{ kind: 'save' }] : [] };
    }
    case 'last_line_finished':
      return status === 'in_progress' ? to('finalizing') : to(status);
    case 'files_stored':
      return status === STATUS_BEFORE_END[event.as] ? to(event.as) : to(status);
    case 'cancel_requested':
      return cancel(status);
    default:
      return event satisfies never;
  }
}

/** The work of a runner in a state. */
function workOf(status: BatchStatus, late: boolean): readonly Effect[] {
  switch (status) {
    case 'validating':
      return [late ? { kind: 'fail', code: 'batch_expired' } : { kind: 'validate' }];
    case 'in_progress':
      return [late ? { kind: 'skip_remaining', as: 'expired' } : { kind: 'run_lines' }];
    case 'cancelling':
      return [{ kind: 'skip_remaining', as: 'cancelled' }];
    case 'finalizing':
      return [{ kind: 'store_files', as: 'completed' }];
    default:
      return [];
  }
}

/** Remaining lines cannot get results: their ids are lost with the input. */
function withoutInput(status: BatchStatus): readonly Effect[] {
  switch (status) {
    case 'validating':
      return [{ kind: 'fail', code: 'input_file_lost' }];
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
      return { status: 'cancelling', effects: [{ kind: 'respond', status: 200 }] };
    default:
      return { status, effects: [{ kind: 'respond', status: 409 }] };
  }
}

function to(status: BatchStatus): Step {
  return { status, effects: [] };
}
