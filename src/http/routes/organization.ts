import { Type } from '@sinclair/typebox';
import { KEY_ROLES } from '../../contract/accounts/api-key.ts';
import type { Route } from '../../contract/route.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { jsonResponse } from '../openapi/route-docs.ts';
import { route } from '../route.ts';
import { principalOf } from '../security/caller.ts';

const Organization = Type.Object(
  {
    object: Type.Literal('organization'),
    id: Type.String({ examples: ['default'] }),
    role: oneOf(KEY_ROLES, { description: 'Admin keys can create and revoke keys.' }),
    operator: Type.Boolean({ description: 'Whether the key can enable and disable plugins of the service.' }),
    key_id: Type.Optional(
      Type.String({
        description: 'Id of the key; absent for fixed keys of `API_KEYS`.',
        examples: ['key_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
      }),
    ),
  },
  { title: 'Organization' },
);

/** GET /v1/organization: the organization of the API key, and its permissions. */
export function organizationRoutes(): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/organization',
      summary: 'Retrieve your organization',
      description:
        'Returns the organization of the API key and the permissions of the key. The id is the name of the organization.',
      tag: 'organization',
      responses: { 200: jsonResponse('The organization', Organization) },
      handle({ request }) {
        const { organization, role, operator, storedKey } = principalOf(request);
        return { object: 'organization', id: organization, role, operator, key_id: storedKey };
      },
    }),
  ];
}
