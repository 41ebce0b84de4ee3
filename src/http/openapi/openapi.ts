import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';
import { ERROR_KINDS, type ErrorCode, type ErrorKind, ServiceError } from '../../contract/core/error.ts';
import { type ErrorBody, errorBody } from '../response/error-body.ts';
import { namedSchemas } from './named-schemas.ts';
import { failure } from './route-docs.ts';
import { type SampledSchema, sampleOf } from './schema-sample.ts';

const swaggerUi = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));

/** Files that the page loads, by their path here. */
const FILES: Readonly<Record<string, string>> = {
  '/swagger/swagger-ui.css': swaggerUi('swagger-ui.css'),
  '/swagger/swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js'),
  '/swagger/swagger-page.js': join(import.meta.dirname, 'swagger-page.js'),
};
export const SWAGGER_FILES: readonly string[] = Object.keys(FILES);

/** Its own files run and nothing else; answers that are heard or seen are played from memory. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The page: relative addresses, so that it works behind a prefix too, and nothing from another host. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Voice service: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/swagger-page.js"></script>
</body>
</html>
`;

/** Swagger UI at /swagger and the OpenAPI document at /swagger/json, made from the routes' own schemas. */
export function openapiRoutes(version: string) {
  const routes = new Elysia({ name: 'openapi' });
  for (const [path, name] of Object.entries(FILES)) {
    const file = Bun.file(name);
    const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=3600' };
    routes.get(path, () => new Response(file, { headers }), { detail: { hide: true } });
  }
  // Made once: other routes are another app's.
  let document: OpenApiDocument | undefined;
  routes.onBeforeHandle(({ route }) => {
    // The plugin's own page would load its script from the internet.
    if (route === '/swagger') return new Response(PAGE, { headers: PAGE_HEADERS });
    return route === '/swagger/json' ? document : undefined;
  });
  routes.onAfterHandle(({ route, response }) => {
    if (route !== '/swagger/json' || document !== undefined) return;
    document = response as OpenApiDocument;
    tidy(document);
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
          description:
            'A company’s own voice-AI back end over the OpenAI wire. [The guide](docs) has code for curl, TypeScript and Python. To try a route here: Authorize, with the key as `bearer`, then “Try it out”; the examples work as they are.',
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
          { name: 'audio', description: 'Text to speech, speech to text, and stored voices' },
          { name: 'realtime', description: 'Audio both ways over one WebSocket: [its events](docs/sockets)' },
          {
            name: 'partner',
            description: 'What a voice-agent platform calls: [how to set it up](docs/partner)',
          },
          { name: 'text', description: 'Language models: chat, responses, embeddings' },
          { name: 'files', description: 'Input and results of batches' },
          { name: 'batch', description: 'Many requests in one file, done within a day' },
          { name: 'video', description: 'Clips, continued' },
          { name: 'models', description: 'What can be asked for' },
          { name: 'usage', description: 'What was consumed, and what may still be' },
          { name: 'organization', description: 'Whose key it is, and its other keys' },
          { name: 'service', description: 'The process: its features, its state, its pages' },
        ],
        paths: {
          '/swagger': page('Swagger UI', 'text/html', 'This page.'),
          '/swagger/json': page(
            'The OpenAPI document',
            'application/json',
            'OpenAPI 3.1, of the features that are on.',
          ),
        },
      },
    }),
  );
}

/** The part of an OpenAPI document that {@link tidy} changes. */
interface OpenApiDocument {
  tags: readonly { readonly name: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  readonly components: { schemas: Readonly<Record<string, unknown>> };
}

interface OpenApiOperation {
  readonly tags?: readonly string[];
  /** Empty: no key is needed. */
  readonly security?: readonly object[];
  readonly requestBody?: OpenApiBody;
  responses?: Record<string, OpenApiBody>;
}

/** The body of a request or of a response. */
interface OpenApiBody {
  /** Of a request. */
  required?: boolean;
  description?: string;
  title?: string;
  content?: Record<string, OpenApiContent>;
}

interface OpenApiContent {
  readonly schema?: SampledSchema & { title?: string };
  readonly examples?: object;
  example?: unknown;
}

/**
 * Makes the framework's document a valid one. What needs a key may be refused for it, whatever the route says, and a heading
 * without routes, whose feature is off, is left out.
 */
function tidy(document: OpenApiDocument): void {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const headings = new Set(operations.flatMap(({ tags = [] }) => tags));
  document.tags = document.tags.filter(({ name }) => headings.has(name));
  for (const operation of operations) {
    operation.responses ??= {};
    const { requestBody, responses, security } = operation;
    if (security?.length !== 0) {
      responses[401] ??= failure('No key, or a wrong one');
      responses[429] ??= failure('Too many requests; `retry-after` says when to try again');
    }
    if (requestBody !== undefined) {
      responses[400] ??= failure('The body is not allowed; `param` names the field');
      responses[413] ??= failure('The body is too large');
      responses[415] ??= failure('The content type of the body is not allowed');
    }
    for (const [status, response] of Object.entries(responses)) {
      response.description ??= status.startsWith('2') ? 'The answer' : 'A refusal';
      const json = response.content?.['application/json'];
      // The framework says of the answer what its schema says of itself.
      if (response.title !== undefined && json?.schema !== undefined) json.schema.title = response.title;
      delete response.title;
      if (json?.schema?.properties?.error !== undefined)
        json.example = refusalExample(status, response.description);
      tidyBody(response);
    }
    if (requestBody !== undefined) {
      tidyBody(requestBody);
      // The framework documents each body as required, and accepts a request without one when no field is required.
      if (isOptional(requestBody)) requestBody.required = false;
    }
  }
  const { value, schemas } = namedSchemas(document.paths);
  document.paths = value;
  document.components.schemas = schemas;
}

/** Codes that refusals of a status mostly have. */
const USUAL_CODES: Readonly<Record<string, ErrorCode>> = {
  400: 'missing_required_parameter',
  401: 'invalid_api_key',
  403: 'permission_denied',
  413: 'payload_too_large',
  429: 'rate_limit_exceeded',
  500: 'server_error',
  502: 'upstream_error',
  503: 'server_overloaded',
};

/** What a refusal looks like, in the words that the document has for it. */
function refusalExample(status: string, description: string): ErrorBody | undefined {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  const kind = kinds.findLast((each) => ERROR_KINDS[each].status === Number(status));
  if (kind === undefined) return undefined;
  const param = status === '400' ? 'model' : undefined;
  const message =
    status === '400' ? "'model' is required and must be a string." : `${description.replaceAll('`', '')}.`;
  return errorBody(new ServiceError(kind, message, { param, code: USUAL_CODES[status] }));
}

function isOptional({ content = {} }: OpenApiBody): boolean {
  const schemas = Object.values(content).map(({ schema }) => schema);
  return schemas.every((schema) => schema?.type === 'object' && (schema.required ?? []).length === 0);
}

/** The framework says of a schema that it comes as JSON, as a form and as text: it is JSON. That has an example. */
function tidyBody(body: OpenApiBody): void {
  const { 'application/json': json, 'multipart/form-data': form, 'text/plain': text } = body.content ?? {};
  if (json === undefined) return;
  if (form !== undefined && text !== undefined) body.content = { 'application/json': json };
  if (json.examples === undefined && json.schema !== undefined) json.example ??= sampleOf(json.schema);
}

function page(summary: string, contentType: string, about: string) {
  return { get: { tags: ['service'], ...publicPage(summary, contentType, about) } };
}

/** Documentation of a route that needs no key and answers with other than JSON. */
export function publicPage(summary: string, contentType: string, about = '') {
  const content = { [contentType]: { schema: { type: 'string' as const } } };
  const description = `${about} No key is needed.`.trim();
  return { summary, description, security: [], responses: { 200: { description: summary, content } } };
}
