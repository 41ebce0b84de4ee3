import type { ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import type { CallEnd } from '../report/ledger.ts';

/** How a turn on a socket ended. */
export interface TurnEnd {
  readonly end: CallEnd;
  readonly detail?: string;
}

/** Maps an exception of the client to an end. The client throws on disconnection, timeout and protocol violations. */
export function endOf(error: unknown): TurnEnd {
  const detail = error instanceof Error ? error.message : String(error);
  if (detail.startsWith('time ran out')) return { end: 'late', detail };
  if (detail.startsWith('frames of the server')) return { end: 'wrong', detail };
  return { end: 'cut', detail };
}

/** Whether the event is an internal error of the service, sent instead of the expected event. */
export const isServerError = ({ type, error }: ServerEventFrame) =>
  type === 'error' && (error as { type?: unknown } | undefined)?.type === 'server_error';

export const codeOf = ({ error }: ServerEventFrame) =>
  String((error as { code?: unknown } | undefined)?.code);
