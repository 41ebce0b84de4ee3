import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { type ApiKeyRecord, type ApiKeyStore, KEY_ROLES } from '../../contract/accounts/api-key.ts';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { issueKey } from '../../kit/keys/issue-key.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { deleted, failure, json, pageOf, pathId, query } from '../openapi/route-docs.ts';
import { UnixSeconds } from '../openapi/schemas.ts';
import { pageIn, readQuery } from '../request/query.ts';
import { callerOf, requireAdmin } from '../security/caller.ts';

/** Good keys that an organization may have by this way. */
export const MAX_KEYS = 1000;

const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };
const EXAMPLE = 'key_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';

const key = {
  object: Type.Literal('api_key'),
  id: Type.String({ examples: [EXAMPLE] }),
  name: Type.Union([Type.String(), Type.Null()], { examples: ['Reception'] }),
  hint: Type.String({ description: 'How the key begins.', examples: ['sk-4fJa…'] }),
  role: oneOf(KEY_ROLES, { description: "An admin's key makes and ends keys." }),
  created_at: UnixSeconds,
  revoked_at: Type.Union([UnixSeconds, Type.Null()], { description: 'Null while the key is good.' }),
};
const Key = Type.Object(key, { title: 'Api key' });
const NewKey = Type.Object(
  {
    ...key,
    key: Type.String({ description: 'The key itself, shown this once.', examples: ['sk-4fJa…'] }),
  },
  { title: 'New api key' },
);

/** Of a text without control characters, in the notation that every JSON Schema validator reads. */
const NO_CONTROLS = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

const Wish = t.Object(
  {
    name: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 64, pattern: NO_CONTROLS }), Type.Null()], {
        description: 'What you call it; without control characters.',
        examples: ['Reception'],
      }),
    ),
    role: Type.Optional(oneOf(KEY_ROLES, { default: 'member' })),
  },
  { additionalProperties: false, examples: [{ name: 'Reception', role: 'member' }] },
);

const FORBIDDEN = failure("The key is a member's: `permission_denied`");

/** Keys of the caller's organization: GET, POST and DELETE of /v1/keys. Those of API_KEYS are not among them. */
export function keyRoutes(keys: Pick<ApiKeyStore, 'create' | 'listOf' | 'revoke'>) {
  return new Elysia({ name: 'keys', tags: ['organization'] })
    .get(
      '/v1/keys',
      async ({ request }) => {
        const { limit, after } = pageIn(readQuery(request, ['limit', 'after']), LIMIT);
        const { organization } = callerOf(request);
        const page = await keys.listOf({ organization, limit, after });
        return {
          object: 'list',
          data: page.keys.map(keyObject),
          first_id: page.keys[0]?.id ?? null,
          last_id: page.keys.at(-1)?.id ?? null,
          has_more: page.hasMore,
        };
      },
      {
        detail: {
          summary: 'Keys of your organization, newest first',
          description:
            'Revoked ones too; fixed keys of `API_KEYS` are not among them. The service keeps no key, only its hash.',
          parameters: [
            query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'Keys of a page.'),
            query('after', { type: 'string' }, 'Id of the last key of the page before.'),
          ],
          responses: { 200: json('A page', pageOf(Key, EXAMPLE)), 400: failure('The query is not allowed') },
        },
      },
    )
    .post(
      '/v1/keys',
      async ({ request, body }) => {
        readQuery(request, []);
        const { organization } = requireAdmin(request);
        const { name, role = 'member' } = body;
        const issued = await issueKey(keys, { organization, role, name }, MAX_KEYS);
        return { ...keyObject(issued.record), key: issued.key };
      },
      {
        body: Wish,
        detail: {
          summary: 'Make a key',
          description: `For admins' keys. An organization may have ${MAX_KEYS} good keys.`,
          responses: {
            200: json('The key, which is shown only now', NewKey),
            400: failure('A field is not allowed, or there are too many keys: `key_limit_exceeded`'),
            403: FORBIDDEN,
          },
        },
      },
    )
    .delete(
      '/v1/keys/:key_id',
      async ({ request, params: { key_id: id } }) => {
        readQuery(request, []);
        const { organization, storedKey } = requireAdmin(request);
        if (id === storedKey) {
          throw invalidRequest(
            'A key cannot revoke itself. Use another admin key.',
            'key_id',
            'invalid_value',
          );
        }
        // A fixed key stays an admin key, so only a stored one must leave another.
        const keepAdmin = storedKey !== undefined;
        if (!(await keys.revoke(id, { organization, keepAdmin }))) {
          throw new ServiceError('not_found', 'Your organization has no active key with this id.');
        }
        return { id, object: 'api_key.deleted', deleted: true };
      },
      {
        detail: {
          summary: 'Revoke a key',
          description:
            'For admin keys. The key is invalid immediately, on other nodes within five seconds. Work that it started continues.',
          parameters: [pathId('key_id', EXAMPLE)],
          responses: {
            200: json('The key is revoked', deleted('api_key.deleted', EXAMPLE)),
            400: failure('It is the key of this request'),
            403: FORBIDDEN,
            404: failure('Your organization has no active key with this id'),
            409: failure(
              'It is the last active admin key, because the key of this request was revoked concurrently: `last_admin_key`',
            ),
          },
        },
      },
    );
}

function keyObject({ id, name, hint, role, createdAt, revokedAt }: ApiKeyRecord) {
  return { object: 'api_key', id, name, hint, role, created_at: createdAt, revoked_at: revokedAt };
}
