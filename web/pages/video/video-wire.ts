/** Videos as returned by the API, with the fields that this page uses. */

export interface Video {
  readonly id: string;
  readonly model: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** Estimated progress in percent. */
  readonly progress: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly prompt: string;
  /** WIDTHxHEIGHT of the segment. */
  readonly size: string;
  /** Duration of the segment in seconds. */
  readonly seconds: string;
  readonly audio: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly metadata: {
    /** How the model creates segments, if it does not follow the prompt. */
    readonly note: string;
  } | null;
}
