/** Converts the form to the multipart body of POST /v1/videos/extensions. Pure. */

export interface ExtendForm {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number | '';
  readonly source: 'file' | 'video' | 'url';
  readonly file: File | undefined;
  /** Id of a completed video. */
  readonly video: string;
  readonly url: string;
}

export const NEW_EXTENSION: ExtendForm = {
  model: '',
  prompt: '',
  seconds: 4,
  source: 'file',
  file: undefined,
  video: '',
  url: '',
};

/** Field at which an error is shown, by its wire name. */
export type ExtensionField = 'model' | 'prompt' | 'seconds' | 'video';
export type ExtensionErrors = Partial<Record<ExtensionField, string>>;

/** Builds the form with the clip last: the service validates the other fields before it receives the clip. */
export function extensionForm(
  form: ExtendForm,
): { readonly form: FormData } | { readonly fieldErrors: ExtensionErrors } {
  const source = sourceOf(form);
  const fieldErrors: ExtensionErrors = {
    ...(form.model === '' ? { model: 'Select a model.' } : {}),
    ...(form.prompt.trim() === '' ? { prompt: 'Enter a prompt.' } : {}),
    ...(form.seconds === '' ? { seconds: 'Enter the duration of the new segment.' } : {}),
    ...(typeof source === 'string' ? { video: source } : {}),
  };
  if (typeof source === 'string' || Object.keys(fieldErrors).length > 0) return { fieldErrors };
  const fields = new FormData();
  fields.set('model', form.model);
  fields.set('prompt', form.prompt);
  fields.set('seconds', String(form.seconds));
  fields.set(source.name, source.value);
  return { form: fields };
}

/**
 * The errors that remain when fields change. The other fields keep theirs: the list of models may arrive late and select a
 * model after the form was checked.
 */
export function errorsAfter(errors: ExtensionErrors, changes: Partial<ExtendForm>): ExtensionErrors {
  const changed = new Set<string>(
    Object.keys(changes).map((name) => (SOURCE_FIELDS.has(name) ? 'video' : name)),
  );
  return Object.fromEntries(Object.entries(errors).filter(([field]) => !changed.has(field)));
}

/** Parts of the field `video`. */
const SOURCE_FIELDS: ReadonlySet<string> = new Set(['source', 'file', 'video', 'url']);

/** Form field of an error's `param`. */
export function extensionField(param: string | null): ExtensionField | undefined {
  const [, name] = /^(model|prompt|seconds|video)\b/.exec(param ?? '') ?? [];
  return name as ExtensionField | undefined;
}

/** The form field of the clip, or an error message if there is none. */
function sourceOf({ source, file, video, url }: ExtendForm) {
  switch (source) {
    case 'file':
      return file === undefined ? 'Select a clip.' : { name: 'video', value: file };
    case 'video':
      return video === '' ? 'Select a video.' : { name: 'video[id]', value: video };
    case 'url':
      return url.trim() === '' ? 'Enter the URL of the clip.' : { name: 'video[url]', value: url.trim() };
  }
}
