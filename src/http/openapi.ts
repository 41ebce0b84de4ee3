import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';

/** Swagger UI at /swagger and the OpenAPI document at /swagger/json, made from the routes' own schemas. */
export function openapiRoutes(version: string) {
  return new Elysia({ name: 'openapi' }).use(
    swagger({
      provider: 'swagger-ui',
      path: '/swagger',
      documentation: {
        info: {
          title: 'Voice service',
          version,
          description: 'Speech, realtime audio, batch, responses and video over the OpenAI wire.',
        },
        components: {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer' },
            apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
            partnerSecret: { type: 'apiKey', in: 'header', name: 'x-partner-secret' },
          },
        },
        security: [{ bearer: [] }, { apiKey: [] }, { partnerSecret: [] }],
        tags: [
          { name: 'audio', description: 'Speech' },
          { name: 'models', description: 'What can be asked for' },
          { name: 'usage', description: 'What was consumed' },
          { name: 'service', description: 'State of the process; no key needed' },
        ],
        paths: {
          '/swagger': page('Swagger UI', 'text/html'),
          '/swagger/json': page('The OpenAPI document', 'application/json'),
        },
      },
      swaggerOptions: { persistAuthorization: true },
    }),
  );
}

function page(summary: string, contentType: string) {
  return {
    get: {
      summary,
      tags: ['service'],
      security: [],
      responses: { 200: { description: summary, content: { [contentType]: {} } } },
    },
  };
}
