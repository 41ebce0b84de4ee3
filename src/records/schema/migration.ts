import type { Compilable, CreateTableBuilder, SchemaModule } from 'kysely';

/** The schema builder of an engine, and the parts of SQL in which the engines differ. */
export interface MigrationDialect {
  readonly schema: SchemaModule;
  /** 64-bit integer. */
  readonly integer: 'integer' | 'bigint';
  /** Double precision. */
  readonly real: 'real' | 'double precision';
  /** A new table whose rows are numbered in insertion order. */
  numberedTable(name: string): CreateTableBuilder<string, 'sequence'>;
  table(name: string): CreateTableBuilder<string, never>;
}

/** A migration: statements of the schema builder, or SQL text that is valid in both engines. */
export type Migration = (dialect: MigrationDialect) => readonly (Compilable | string)[];
