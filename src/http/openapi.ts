import { fileURLToPath } from 'node:url';
import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';
import { failure } from './route-docs.ts';

/** Files of Swagger UI that its page loads, by their path here. */
export const SWAGGER_FILES = ['/swagger/swagger-ui.css', '/swagger/swagger-ui-bundle.js'] as const;

/** The page: relative addresses, so that it works behind a prefix too, and nothing from another host. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Voice service: API</title>
<link rel="stylesheet" href="swagger/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ deepLinking: true, url: 'swagger/json', dom_id: '#ui', persistAuthorization: true });</script>
</body>
</html>
`;

/** Swagger UI at /swagger and the OpenAPI document at /swagger/json, made from the routes' own schemas. */
export function openapiRoutes(version: string) {
  const routes = new Elysia({ name: 'openapi' });
  for (const path of SWAGGER_FILES) {
    const file = Bun.file(fileURLToPath(import.meta.resolve(path.replace('/swagger/', 'swagger-ui-dist/'))));
    const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=3600' };
    routes.get(path, () => new Response(file, { headers }), { detail: { hide: true } });
  }
  // The plugin's own page would load its script from the internet.
  routes.onBeforeHandle(({ route }) => {
    if (route !== '/swagger') return undefined;
    return new Response(PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } });
  });
  routes.onAfterHandle(({ route, response }) => {
    if (route === '/swagger/json') tidy(response as OpenApiDocument);
  });
  return routes.use(
    swagger({
      provider: 'swagger-ui',
      path: '/swagger',
      documentation: {
        // Schemas are JSON Schema as it is (const, null, examples), which 3.0 does not know.
        openapi: '3.1.0',
        info: {
          title: 'Voice service',
          version,
          description: 'A company’s own voice-AI back end over the OpenAI wire.',
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
          { name: 'realtime', description: 'Audio both ways over one WebSocket' },
          { name: 'partner', description: 'What a voice-agent platform calls' },
          { name: 'text', description: 'Language models: chat, responses, embeddings' },
          { name: 'files', description: 'Input and results of batches' },
          { name: 'batch', description: 'Many requests in one file, done within a day' },
          { name: 'video', description: 'Clips, continued' },
          { name: 'models', description: 'What can be asked for' },
          { name: 'usage', description: 'What was consumed' },
          { name: 'organization', description: 'Whose key it is, and its other keys' },
          { name: 'service', description: 'State of the process; no key needed' },
        ],
        paths: {
          '/swagger': page('Swagger UI', 'text/html'),
          '/swagger/json': page('The OpenAPI document', 'application/json'),
        },
      },
    }),
  );
}

/** The part of an OpenAPI document that {@link tidy} changes. */
interface OpenApiDocument {
  readonly paths: Record<string, Record<string, OpenApiOperation>>;
}

interface OpenApiOperation {
  /** Empty: no key is needed. */
  readonly security?: readonly object[];
  responses?: Record<string, OpenApiResponse>;
}

interface OpenApiResponse {
  description?: string;
  content?: Record<string, unknown>;
}

/**
 * Makes the plugin's document a valid one: every answer gets its description, and one that is JSON is not
 * said to come as a form and as text too. What needs a key may be refused for it, whatever the route says.
 */
function tidy(document: OpenApiDocument): void {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  for (const operation of operations) {
    operation.responses ??= {};
    const { responses, security } = operation;
    if (security?.length !== 0) {
      responses[401] ??= failure('No key, or a wrong one');
      responses[429] ??= failure('Too many requests; `retry-after` says when to try again');
    }
    for (const [status, response] of Object.entries(responses)) {
      response.description ??= status.startsWith('2') ? 'The answer' : 'A refusal';
      const { 'application/json': json, 'multipart/form-data': form } = response.content ?? {};
      if (json !== undefined && form !== undefined) response.content = { 'application/json': json };
    }
  }
}

function page(summary: string, contentType: string) {
  return { get: { tags: ['service'], ...publicPage(summary, contentType) } };
}

/** Documentation of a route that needs no key and answers with other than JSON. */
export function publicPage(summary: string, contentType: string) {
  const content = { [contentType]: { schema: { type: 'string' as const } } };
  return { summary, security: [], responses: { 200: { description: summary, content } } };
}
