/** Fields of a form as an object: brackets nest and repeat (openai-wire 1.2). */

import { invalidRequest, type ServiceError } from '../../contract/core/error.ts';

/** A field: text, an uploaded file in whatever form it is kept, a list of them, or fields named with brackets. */
export type FormValue<Upload> = string | Upload | FormValue<Upload>[] | FormFields<Upload>;
export interface FormFields<Upload> {
  [name: string]: FormValue<Upload>;
}

/** Fields of one form. */
export const MAX_FIELDS = 1000;
const MAX_DEPTH = 8;
/** Characters of a field's name that an error repeats. */
const MAX_NAME = 100;
const NO_LISTS: ReadonlySet<string> = new Set();

/** Puts together the fields of one form: `a[b]` becomes nested, `a[]` a list, scalars stay strings. */
export class FormBuilder<Upload extends object> {
  /** Without a prototype, so that no field name is special. */
  readonly fields: FormFields<Upload> = Object.create(null);
  readonly #lists: ReadonlySet<string>;
  #count = 0;

  /** @param lists fields that are lists without brackets too, as some clients name them. */
  constructor(lists = NO_LISTS) {
    this.#lists = lists;
  }

  /** @throws ServiceError 400 for too many fields, too deep a name, and a field that is given twice. */
  add(name: string, value: string | Upload): void {
    this.#count += 1;
    if (this.#count > MAX_FIELDS) throw tooManyFields();
    const path = name.replaceAll(']', '').split('[');
    if (path.length > MAX_DEPTH) {
      throw invalidRequest(`A form field must be nested at most ${MAX_DEPTH} deep.`, shortened(name));
    }
    const hasBrackets = path.length > 1 && path.at(-1) === '';
    if (hasBrackets) path.pop();
    const isList = hasBrackets || this.#lists.has(name);
    const last = path.pop() ?? '';
    let owner = this.fields;
    for (const part of path) {
      owner[part] ??= Object.create(null) as FormFields<Upload>;
      const next = owner[part];
      if (!isGroup(next)) throw clash(name);
      owner = next;
    }
    const present = owner[last];
    if (isList && Array.isArray(present)) present.push(value);
    else if (present !== undefined) throw clash(name);
    else owner[last] = isList ? [value] : value;
  }
}

export function tooManyFields(): ServiceError {
  return invalidRequest(`A form must have at most ${MAX_FIELDS} fields.`);
}

/** A field's name as an error may repeat it. */
export function shortened(name: string): string {
  return name.slice(0, MAX_NAME);
}

/** Whether a request's body is the fields of a form, and not those of a JSON object. */
export function isForm(body: object): boolean {
  return Object.getPrototypeOf(body) === null;
}

/** Only groups of fields have no prototype. */
function isGroup<Upload extends object>(value: FormValue<Upload>): value is FormFields<Upload> {
  return typeof value === 'object' && isForm(value);
}

function clash(name: string): ServiceError {
  const shown = shortened(name);
  return invalidRequest(`The form field '${shown}' is given more than once.`, shown, 'invalid_value');
}
