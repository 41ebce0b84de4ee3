/**
 * Grammars for JSON Schemas of requests, from `packages/json-schema-gbnf`. The import is a relative path, because a link in
 * `node_modules` would need an installation after every checkout and in every copy of the sources.
 */

import {
  type Grammar,
  schemaRule as ruleOfSchema,
  type Schema,
  UnsupportedSchemaError,
} from '../../../../packages/json-schema-gbnf/src/index.ts';
import { invalidRequest } from '../../../contract/core/error.ts';

/**
 * Adds the rule of a schema and returns its name.
 * @param param request field for errors.
 * @param root schema to which `#` in references resolves.
 * @throws ServiceError `invalid_request` with the unsupported keyword and its place in the schema.
 */
export function schemaRule(grammar: Grammar, schema: Schema, param: string, root: Schema = schema): string {
  try {
    return ruleOfSchema(grammar, schema, root);
  } catch (error) {
    if (!(error instanceof UnsupportedSchemaError)) throw error;
    const message = `The JSON Schema is not supported by this model: ${error.message}.`;
    throw invalidRequest(message, param, 'unsupported_value');
  }
}
