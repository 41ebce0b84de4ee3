/** Shorthands for TypeBox schemas. */

import { type TProperties, Type } from '@sinclair/typebox';

/** A deeply read-only type. */
export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** An object with exactly these fields. */
export function closed<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

/** An object that may contain further fields. */
export function open<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: true });
}

export function nullable<Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}
