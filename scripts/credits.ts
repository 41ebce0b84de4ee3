import { loadConfigAndPlugins } from '../server/config.ts';
import type { CreditStore, CreditTransfer } from '../src/contract/accounts/accounts-store.ts';
import { ServiceError, StartError } from '../src/contract/core/error.ts';
import { systemClock, unixSeconds } from '../src/kit/clock.ts';
import { creditStore } from '../src/records/accounts/credit-store.ts';
import { openRecords } from '../src/records/open-records.ts';
import { creditText, parseCredits } from '../src/usage/credit-amounts.ts';

/** `bun run credits …`: credits of organizations in the service's database. A running service applies changes immediately. */

const USAGE = `Usage:
  bun run credits grant --org NAME AMOUNT   give an organization credits, such as 12.5
  bun run credits balance --org NAME        what it has, what is held for running calls, what it spent
  bun run credits history --org NAME        every change of its credits, newest first`;

/** Transfers per query. */
const PAGE = 500;

/** Invalid arguments, or an operation that is not possible. */
class UsageError extends Error {}

async function run(args: readonly string[]): Promise<void> {
  const action = parse(args);
  const { config } = await loadConfigAndPlugins();
  const records = await openRecords(config.database);
  try {
    await action(creditStore(records));
  } finally {
    await records.close();
  }
}

/** Parses the arguments before the database is opened. */
function parse([command, flag, organization = '', ...rest]: readonly string[]): (
  store: CreditStore,
) => Promise<void> {
  if (flag !== '--org') throw new UsageError(USAGE);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(organization)) {
    throw new UsageError('An organization name consists of 1 to 64 characters: A-Z a-z 0-9 . _ -');
  }
  if (command === 'grant' && rest.length === 1) {
    const amount = parseCredits(rest[0] ?? '');
    if (amount === undefined || amount === 0) {
      throw new UsageError('AMOUNT must be a number above 0 with at most six decimal places, such as 12.5');
    }
    return (store) => grant(store, organization, amount);
  }
  if (command === 'balance' && rest.length === 0) return (store) => balance(store, organization);
  if (command === 'history' && rest.length === 0) return (store) => history(store, organization);
  throw new UsageError(USAGE);
}

async function grant(store: CreditStore, organization: string, amount: number): Promise<void> {
  const { available } = await store.grant(organization, amount, unixSeconds(systemClock));
  console.log(
    `'${organization}' received ${creditText(amount)} credits and has ${creditText(available)} available.`,
  );
}

async function balance(store: CreditStore, organization: string): Promise<void> {
  const { available, reserved, revenue, granted } = await store.balance(organization);
  console.log(`available  ${creditText(available)}`);
  console.log(`reserved   ${creditText(reserved)}`);
  console.log(`spent      ${creditText(revenue)}`);
  console.log(`given      ${creditText(granted === 0 ? 0 : -granted)}`);
}

async function history(store: CreditStore, organization: string): Promise<void> {
  let before: number | undefined;
  for (;;) {
    const transfers = await store.history(organization, { limit: PAGE, before });
    for (const transfer of transfers) console.log(line(transfer));
    if (before === undefined && transfers.length === 0) console.log('No transfers yet.');
    if (transfers.length < PAGE) return;
    before = transfers.at(-1)?.sequence;
  }
}

/** `2026-01-02 03:04:05  settle   available +0.5  reserved -2  revenue +1.5  usage_…` */
function line({ at, kind, entries, call }: CreditTransfer): string {
  const time = new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const amounts = entries.map(
    ({ account, amount }) => `${account} ${amount > 0 ? '+' : ''}${creditText(amount)}`,
  );
  return [time, kind.padEnd(7), ...amounts, ...(call === undefined ? [] : [call])].join('  ');
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const forPeople =
    error instanceof UsageError || error instanceof StartError || error instanceof ServiceError;
  console.error(forPeople ? error.message : error);
  process.exit(1);
}
