/** Videos as this page reads them. */

export interface Video {
  readonly id: string;
  readonly model: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** Percent, an estimate. */
  readonly progress: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly prompt: string;
  /** WIDTHxHEIGHT of the segment. */
  readonly size: string;
  /** Length of the segment. */
  readonly seconds: string;
  readonly audio: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly metadata: {
    /** How the model makes segments, where that is not what the prompt says. */
    readonly note: string;
  } | null;
}
