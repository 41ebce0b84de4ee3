import { loadConfigAndPlugins } from '../server/config.ts';
import type { ApiKeyStore } from '../src/contract/accounts/api-key.ts';
import { StartError } from '../src/contract/core/error.ts';
import type { OrganizationStore } from '../src/contract/stores/organization-store.ts';
import { systemClock } from '../src/kit/clock.ts';
import { issueKey, type NewKeyOptions } from '../src/kit/keys/issue-key.ts';
import { printable } from '../src/kit/text/printable.ts';
import { apiKeyStore } from '../src/records/accounts/api-key-store.ts';
import { organizationStore } from '../src/records/accounts/organization-store.ts';
import { openRecords } from '../src/records/open-records.ts';

/**
 * `bun run keys …`: API keys and organizations in the service's database. A running service applies changes immediately in
 * SQLite, and within five seconds in PostgreSQL (src/records/accounts/cached-api-key-store.ts).
 */

const USAGE = `Usage:
  bun run keys create --org NAME [--admin]   create a key and print it once; admin keys may create and revoke
                                             keys of their organization
  bun run keys list                          list all keys, without their values
  bun run keys revoke ID                     revoke a key
  bun run keys organizations                 list organizations with their active keys`;

interface Stores {
  readonly keys: ApiKeyStore;
  readonly organizations: OrganizationStore;
}

/** Invalid arguments, or an operation that is not possible. */
class UsageError extends Error {}

async function run(args: readonly string[]): Promise<void> {
  const action = parse(args);
  const { config } = await loadConfigAndPlugins();
  const records = await openRecords(config.database);
  try {
    await action({
      keys: apiKeyStore(records, systemClock),
      organizations: organizationStore(records, systemClock),
    });
  } finally {
    await records.close();
  }
}

/** Parses the arguments before the database is opened. */
function parse([command, ...rest]: readonly string[]): (stores: Stores) => Promise<void> {
  if (command === 'create') {
    const { organization, ...options } = parseKeyOptions(rest);
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(organization)) {
      throw new UsageError('An organization name consists of 1 to 64 characters: A-Z a-z 0-9 . _ -');
    }
    return ({ keys }) => create(keys, { organization, ...options });
  }
  if (command === 'list' && rest.length === 0) return ({ keys }) => list(keys);
  if (command === 'organizations' && rest.length === 0) {
    return ({ organizations }) => listOrganizations(organizations);
  }
  const [id] = rest;
  if (command === 'revoke' && rest.length === 1 && id !== undefined) return ({ keys }) => revoke(keys, id);
  throw new UsageError(USAGE);
}

/** `--org NAME` and `--admin`, in any order. */
function parseKeyOptions(args: readonly string[]): NewKeyOptions {
  const names = args.filter((arg) => arg !== '--admin');
  const [option, organization] = names;
  if (args.length - names.length > 1 || names.length !== 2 || option !== '--org') throw new UsageError(USAGE);
  return { organization: organization ?? '', role: args.includes('--admin') ? 'admin' : 'member' };
}

async function create(store: ApiKeyStore, options: NewKeyOptions): Promise<void> {
  const { key, record } = await issueKey(store, options);
  console.log(
    `Created the ${options.role} key ${record.id} of '${options.organization}'. It is shown only once:\n\n    ${key}\n`,
  );
}

async function list(store: ApiKeyStore): Promise<void> {
  const rows = (await store.list()).map(({ id, organization, name, role, hint, createdAt, revokedAt }) => [
    id,
    organization,
    role,
    hint,
    day(createdAt),
    revokedAt === null ? 'active' : `revoked ${day(revokedAt)}`,
    ...(name === null ? [] : [printable(name)]),
  ]);
  for (const row of rows) console.log(row.join('  '));
  if (rows.length === 0) console.log('No keys are stored.');
}

async function revoke(store: ApiKeyStore, id: string): Promise<void> {
  if (!(await store.revoke(id))) throw new UsageError(`No active key has the id ${id}.`);
  console.log(`${id} is revoked.`);
}

async function listOrganizations(store: OrganizationStore): Promise<void> {
  const organizations = await store.list();
  for (const { id, createdAt, keys } of organizations) {
    console.log([id, `since ${day(createdAt)}`, `${keys} ${keys === 1 ? 'key' : 'keys'}`].join('  '));
  }
  if (organizations.length === 0) console.log('No organizations.');
}

function day(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 10);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const forPeople = error instanceof UsageError || error instanceof StartError;
  console.error(forPeople ? error.message : error);
  process.exit(1);
}
