import { StartError } from '../../contract/core/error.ts';

/** The database cannot be used. The message identifies it, without the password. */
export class DatabaseError extends StartError {
  override readonly name = 'DatabaseError';
}

/** The error for a schema of a newer build, which this build must not change. */
export function newerSchemaError(database: string, version: number, known: number): DatabaseError {
  return new DatabaseError(
    `The database ${database} has schema version ${version}; this build supports up to ${known}. Use the newer build.`,
  );
}
