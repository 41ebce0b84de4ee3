/** Stored voices as returned by `/v1/audio/voices` (plugins/voices/README.md). */

export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly format: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly duration_s: number;
  readonly speaker_description?: string;
}

export interface NewVoice extends Voice {
  /** Quality problems of the clip. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** Minimum and maximum clip length in seconds. */
export const MIN_SECONDS = 5;
export const MAX_SECONDS = 15;
/** Default of the service's clip size limit, in bytes. */
export const MAX_CLIP_BYTES = 20 * 1024 * 1024;
export const MAX_NAME_CHARACTERS = 200;
export const MAX_TEXT_CHARACTERS = 2000;

/** Form data of a new voice. */
export interface Enrollment {
  readonly clip: File;
  readonly name: string;
  readonly text: string;
  readonly description: string;
  readonly consent: string;
}

export function enrollmentForm({ clip, name, text, description, consent }: Enrollment): FormData {
  const form = new FormData();
  form.append('name', name);
  form.append('ref_text', text);
  form.append('consent', consent);
  if (description.trim() !== '') form.append('speaker_description', description);
  form.append('audio_sample', clip);
  return form;
}
