import { StartError } from '../../contract/core/error.ts';

/** A database that cannot be used. The message names it, without its password. */
export class DatabaseError extends StartError {
  override readonly name = 'DatabaseError';
}

/** Tables of a newer build are left alone: this one does not know what they mean. */
export function laterVersion(database: string, version: number, known: number): DatabaseError {
  return new DatabaseError(
    `The database ${database} is of version ${version}, this build knows ${known}. Run the newer build.`,
  );
}
