/** Converts form fields to an object; brackets in names denote nesting and lists (openai-wire 1.2). */

import { invalidRequest, type ServiceError } from '../../contract/core/error.ts';

/** A field: text, an uploaded file, a list of these, or a group of fields named with brackets. */
export type FormValue<Upload> = string | Upload | FormValue<Upload>[] | FormFields<Upload>;
export interface FormFields<Upload> {
  [name: string]: FormValue<Upload>;
}

/** Maximum number of fields per form. */
export const MAX_FIELDS = 1000;
const MAX_DEPTH = 8;
/** Maximum number of characters of a field name in an error message. */
const MAX_NAME = 100;
const NO_LISTS: ReadonlySet<string> = new Set();

/** Collects the fields of a form: `a[b]` becomes a nested field, `a[]` a list. Scalars stay strings. */
export class FormBuilder<Upload extends object> {
  /** Has no prototype, so that field names such as `__proto__` have no special meaning. */
  readonly fields: FormFields<Upload> = Object.create(null);
  readonly #lists: ReadonlySet<string>;
  #count = 0;

  /** @param lists fields that are lists even without brackets, which some clients omit. */
  constructor(lists = NO_LISTS) {
    this.#lists = lists;
  }

  /** @throws ServiceError 400 for too many fields, too many levels of nesting, and duplicate fields. */
  add(name: string, value: string | Upload): void {
    this.#count += 1;
    if (this.#count > MAX_FIELDS) throw tooManyFields();
    const path = name.replaceAll(']', '').split('[');
    if (path.length > MAX_DEPTH) {
      throw invalidRequest(`A form field can have at most ${MAX_DEPTH} levels of nesting.`, shortened(name));
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

/** A field name, truncated for an error message. */
export function shortened(name: string): string {
  return name.slice(0, MAX_NAME);
}

/** Whether a parsed request body came from a form rather than from JSON. */
export function isForm(body: object): boolean {
  return Object.getPrototypeOf(body) === null;
}

/** Groups of fields are the only objects without a prototype. */
function isGroup<Upload extends object>(value: FormValue<Upload>): value is FormFields<Upload> {
  return typeof value === 'object' && isForm(value);
}

function clash(name: string): ServiceError {
  const shown = shortened(name);
  return invalidRequest(`Duplicate form field '${shown}'.`, shown, 'invalid_value');
}
