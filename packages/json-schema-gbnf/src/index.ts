/** JSON Schema to llama.cpp grammars (GBNF). See README.md. */

export { completeJson } from './complete-json.ts';
export { Grammar, literal } from './grammar.ts';
export { type GrammarPart, readGrammar } from './grammar-reader.ts';
export { PrefixParser } from './prefix-parser.ts';
export { schemaRule } from './schema-grammar.ts';
export { type JsonSchema, UnsupportedSchemaError } from './schema-values.ts';
export type { Schema } from './value-sets.ts';
