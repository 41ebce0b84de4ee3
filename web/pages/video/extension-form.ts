/** From what is set on the page to the form of POST /v1/videos/extensions. Pure. */

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

/** Where a fault is shown, by its name on the wire. */
export type ExtensionField = 'model' | 'prompt' | 'seconds' | 'video';
export type ExtensionFaults = Partial<Record<ExtensionField, string>>;

/** The form to send, the clip at its end: what comes before it is checked before it is sent. */
export function extensionForm(
  form: ExtendForm,
): { readonly form: FormData } | { readonly faults: ExtensionFaults } {
  const source = sourceOf(form);
  const faults: ExtensionFaults = {
    ...(form.model === '' ? { model: 'Choose a model.' } : {}),
    ...(form.prompt.trim() === '' ? { prompt: 'Say what happens next.' } : {}),
    ...(form.seconds === '' ? { seconds: 'Say how long the new segment is.' } : {}),
    ...(typeof source === 'string' ? { video: source } : {}),
  };
  if (typeof source === 'string' || Object.keys(faults).length > 0) return { faults };
  const fields = new FormData();
  fields.set('model', form.model);
  fields.set('prompt', form.prompt);
  fields.set('seconds', String(form.seconds));
  fields.set(source.name, source.value);
  return { form: fields };
}

/** The field that a refusal of the service is about. */
export function extensionField(param: string | null): ExtensionField | undefined {
  const [, name] = /^(model|prompt|seconds|video)\b/.exec(param ?? '') ?? [];
  return name as ExtensionField | undefined;
}

/** The part of the form that names the clip, or why there is none. */
function sourceOf({ source, file, video, url }: ExtendForm) {
  switch (source) {
    case 'file':
      return file === undefined ? 'Choose a clip.' : { name: 'video', value: file };
    case 'video':
      return video === '' ? 'Choose one of your videos.' : { name: 'video[id]', value: video };
    case 'url':
      return url.trim() === '' ? 'Say where the clip is.' : { name: 'video[url]', value: url.trim() };
  }
}
