import { fileURLToPath } from 'node:url';
import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';

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
<script>SwaggerUIBundle({ url: 'swagger/json', dom_id: '#ui', persistAuthorization: true });</script>
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
  return routes.use(
    swagger({
      provider: 'swagger-ui',
      path: '/swagger',
      documentation: {
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
          { name: 'models', description: 'What can be asked for' },
          { name: 'usage', description: 'What was consumed' },
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
