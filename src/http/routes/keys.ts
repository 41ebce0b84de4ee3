import { type Static, Type } from '@sinclair/typebox';
import { type ApiKeyRecord, type ApiKeyStore, KEY_ROLES } from '../../contract/accounts/api-key.ts';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import type { Route } from '../../contract/route.ts';
import { issueKey } from '../../kit/keys/issue-key.ts';
import { codePoints } from '../../kit/validation/code-points.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { deletionSchema, idParameter, jsonResponse, pageOf } from '../openapi/route-docs.ts';
import { UnixSeconds } from '../openapi/schemas.ts';
import { newestFirstQuery } from '../queries.ts';
import { deletedBody, listBody } from '../response/bodies.ts';
import { route, strictBody } from '../route.ts';
import { requireAdmin } from '../security/caller.ts';

/** Maximum number of active keys that an organization can create through the API. */
export const MAX_KEYS = 1000;

const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };
const EXAMPLE_ID = 'key_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';

const key = {
  object: Type.Literal('api_key'),
  id: Type.String({ examples: [EXAMPLE_ID] }),
  name: Type.Union([Type.String(), Type.Null()], { examples: ['Reception'] }),
  hint: Type.String({ description: 'First characters of the key.', examples: ['sk-4fJa…'] }),
  role: oneOf(KEY_ROLES, { description: 'Admin keys can create and revoke keys.' }),
  created_at: UnixSeconds,
  revoked_at: Type.Union([UnixSeconds, Type.Null()], { description: 'Null while the key is active.' }),
};
const Key = Type.Object(key, { title: 'Api key' });
const NewKey = Type.Object(
  {
    ...key,
    key: Type.String({
      description: 'The key. It is returned only in this response.',
      examples: ['sk-4fJa…'],
    }),
  },
  { title: 'New api key' },
);

const NAME_CHARACTERS = 64;
/**
 * Matches text without control characters, including those of bidirectional text (UAX #9), which could make a name look like
 * another one. The syntax is supported by every JSON Schema validator.
 */
const NAME_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$';

const CreateKeyBody = Type.Object(
  {
    name: Type.Optional(
      // Checked by `requireName`, because TypeBox counts UTF-16 code units.
      Type.Unknown({
        anyOf: [
          { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS, pattern: NAME_PATTERN },
          { type: 'null' },
        ],
        description: 'Display name, without control characters.',
        examples: ['Reception'],
      }),
    ),
    role: Type.Optional(oneOf(KEY_ROLES, { default: 'member' })),
  },
  { additionalProperties: false, examples: [{ name: 'Reception', role: 'member' }] },
);

const FORBIDDEN = 'The key is a member key: `permission_denied`';

const PAGE = newestFirstQuery(LIMIT, {
  limit: 'Max. number of keys per page.',
  after: 'Id of the last key of the previous page.',
});

/** GET, POST and DELETE of /v1/keys: API keys of the caller's organization, without the fixed keys of API_KEYS. */
export function keyRoutes(keys: Pick<ApiKeyStore, 'create' | 'listOf' | 'revoke'>): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/keys',
      summary: 'List API keys',
      description:
        'Lists the keys of your organization, newest first, including revoked keys. Fixed keys of `API_KEYS` are not listed. The service stores only a hash of each key.',
      tag: 'organization',
      query: PAGE,
      responses: { 200: jsonResponse('A page of keys', pageOf(Key, EXAMPLE_ID)), 400: 'Invalid query' },
      async handle({ caller: { organization }, query: { limit, after } }) {
        const page = await keys.listOf({ organization, limit, after });
        return listBody(page.keys.map(keyObject), page.hasMore);
      },
    }),
    route({
      method: 'POST',
      path: '/v1/keys',
      summary: 'Create an API key',
      description: `Requires an admin key. An organization can have at most ${MAX_KEYS} active keys.`,
      tag: 'organization',
      body: strictBody<Static<typeof CreateKeyBody>>(CreateKeyBody),
      responses: {
        200: jsonResponse('The new key. The key itself is returned only once', NewKey),
        400: 'Invalid field, or too many keys: `key_limit_exceeded`',
        403: FORBIDDEN,
      },
      async handle({ request, body: { name, role = 'member' } }) {
        const { organization } = requireAdmin(request);
        const issued = await issueKey(keys, { organization, role, name: requireName(name) }, MAX_KEYS);
        return { ...keyObject(issued.record), key: issued.key };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v1/keys/:key_id',
      summary: 'Revoke an API key',
      description:
        'Requires an admin key. The key becomes invalid immediately, on other nodes within five seconds. Work that was started with it continues.',
      tag: 'organization',
      pathParameters: [idParameter('key_id', EXAMPLE_ID)],
      responses: {
        200: jsonResponse('The key is revoked', deletionSchema('api_key.deleted', EXAMPLE_ID)),
        400: 'The key to revoke is the key of this request',
        403: FORBIDDEN,
        404: 'Your organization has no active key with this id',
        409: 'It is the last active admin key, because the key of this request was revoked concurrently: `last_admin_key`',
      },
      async handle({ request, params: { key_id: id } }) {
        const { organization, storedKey } = requireAdmin(request);
        if (id === storedKey) {
          throw invalidRequest(
            'A key cannot revoke itself. Use another admin key.',
            'key_id',
            'invalid_value',
          );
        }
        // A fixed key cannot be revoked, so only a stored key must leave another admin key.
        const keepAdmin = storedKey !== undefined;
        if (!(await keys.revoke(id, { organization, keepAdmin }))) {
          throw new ServiceError('not_found', 'Your organization has no active key with this id.');
        }
        return deletedBody('api_key.deleted', id);
      },
    }),
  ];
}

/** @throws ServiceError `invalid_request` for another type, an empty or long name, or control characters. */
function requireName(name: unknown): string | null | undefined {
  if (name === undefined || name === null) return name;
  if (typeof name !== 'string') throw invalidRequest("'name' must be a string or null.", 'name');
  const characters = codePoints(name);
  if (characters < 1 || characters > NAME_CHARACTERS) {
    throw invalidRequest(`'name' must have 1 to ${NAME_CHARACTERS} characters, not ${characters}.`, 'name');
  }
  if (!name.isWellFormed() || !new RegExp(NAME_PATTERN).test(name)) {
    throw invalidRequest("'name' must not contain control characters.", 'name');
  }
  return name;
}

function keyObject({ id, name, hint, role, createdAt, revokedAt }: ApiKeyRecord) {
  return { object: 'api_key', id, name, hint, role, created_at: createdAt, revoked_at: revokedAt };
}
