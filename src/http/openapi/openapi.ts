import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';
import { ERROR_KINDS, type ErrorCode, type ErrorKind, ServiceError } from '../../contract/core/error.ts';
import { type ErrorBody, errorBody } from '../response/error-body.ts';
import { namedSchemas } from './named-schemas.ts';
import { errorResponse, publicPage } from './route-docs.ts';
import { type SampledSchema, sampleOf } from './schema-sample.ts';

const swaggerUi = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));

/** Static files of the page, by path. */
const FILES: Readonly<Record<string, string>> = {
  '/swagger/swagger-ui.css': swaggerUi('swagger-ui.css'),
  '/swagger/swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js'),
  '/swagger/swagger-page.css': join(import.meta.dirname, 'swagger-page.css'),
  '/swagger/swagger-page.js': join(import.meta.dirname, 'swagger-page.js'),
};
export const SWAGGER_FILES: readonly string[] = Object.keys(FILES);

/** Only its own scripts run; audio and video responses are played from `blob:` URLs. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The page. URLs are relative, so that it also works behind a path prefix; nothing is loaded from other hosts. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Voice service: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/swagger-ui.css">
<link rel="stylesheet" href="swagger/swagger-page.css">
</head>
<body>
<nav class="service-links" aria-label="Service"><a href=".">Console</a><a href="docs">Docs</a></nav>
<div id="ui"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/swagger-page.js"></script>
</body>
</html>
`;

/** A group of routes in the document. */
export interface RouteTag {
  readonly name: string;
  readonly description: string;
}

/**
 * Swagger UI at /swagger and the OpenAPI document at /swagger/json, generated from the schemas of the routes.
 * @param tags of the plugins, in the order of the document.
 */
export function openapiRoutes(version: string, tags: readonly RouteTag[]) {
  const routes = new Elysia({ name: 'openapi' });
  for (const [path, name] of Object.entries(FILES)) {
    const file = Bun.file(name);
    const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=3600' };
    routes.get(path, () => new Response(file, { headers }), { detail: { hide: true } });
  }
  // Cached: the routes of an app do not change.
  let document: OpenApiDocument | undefined;
  routes.onBeforeHandle(({ route }) => {
    // The page of the Swagger plugin would load its script from the internet.
    if (route === '/swagger') return new Response(PAGE, { headers: PAGE_HEADERS });
    return route === '/swagger/json' ? document : undefined;
  });
  routes.onAfterHandle(({ route, response }) => {
    if (route !== '/swagger/json' || document !== undefined) return;
    document = response as OpenApiDocument;
    normalizeDocument(document);
  });
  return routes.use(
    swagger({
      provider: 'swagger-ui',
      path: '/swagger',
      documentation: {
        // The schemas use JSON Schema keywords that OpenAPI 3.0 does not support (const, null, examples).
        openapi: '3.1.0',
        info: {
          title: 'Voice service',
          version,
          description:
            'A self-hosted voice-AI back end, compatible with the OpenAI API. [The guide](docs) has examples for curl, TypeScript and Python. To try an endpoint, select “Authorize”, enter your API key as `bearer`, then select “Try it out”; the examples work without changes.',
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
          // Of several plugins.
          { name: 'audio', description: 'Text to speech, speech to text, and stored voices' },
          ...tags,
          { name: 'models', description: 'Available models' },
          { name: 'usage', description: 'Usage records, daily totals and credits' },
          { name: 'organization', description: 'Your organization and its API keys' },
          { name: 'service', description: 'Plugins, health checks, metrics and pages' },
        ],
        paths: {
          '/swagger': page('Swagger UI', 'text/html', 'This page.'),
          '/swagger/json': page(
            'The OpenAPI document',
            'application/json',
            'OpenAPI 3.1 document of the enabled plugins.',
          ),
        },
      },
    }),
  );
}

/** The part of an OpenAPI document that {@link normalizeDocument} modifies. */
interface OpenApiDocument {
  tags: readonly { readonly name: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  readonly components: { schemas: Readonly<Record<string, unknown>> };
}

interface OpenApiOperation {
  readonly tags?: readonly string[];
  /** Empty for public endpoints. */
  readonly security?: readonly object[];
  readonly requestBody?: OpenApiBody;
  responses?: Record<string, OpenApiBody>;
}

/** The body of a request or of a response. */
interface OpenApiBody {
  /** Request bodies only. */
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
 * Corrects and completes the framework's document: adds the responses that all operations share (401 and 429 where a key is
 * required, 400, 413 and 415 where there is a body), and removes the tags of disabled plugins.
 */
function normalizeDocument(document: OpenApiDocument): void {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const headings = new Set(operations.flatMap(({ tags = [] }) => tags));
  document.tags = document.tags.filter(({ name }) => headings.has(name));
  for (const operation of operations) {
    operation.responses ??= {};
    const { requestBody, responses, security } = operation;
    if (security?.length !== 0) {
      responses[401] ??= errorResponse('Missing or invalid API key');
      responses[429] ??= errorResponse('Rate limit exceeded; retry after `retry-after` seconds');
    }
    if (requestBody !== undefined) {
      responses[400] ??= errorResponse('Invalid request body; `param` is the field');
      responses[413] ??= errorResponse('Request body too large');
      responses[415] ??= errorResponse('Unsupported content type');
    }
    for (const [status, response] of Object.entries(responses)) {
      response.description ??= status.startsWith('2') ? 'Success' : 'Error';
      const json = response.content?.['application/json'];
      // The framework moves the title of the schema to the response.
      if (response.title !== undefined && json?.schema !== undefined) json.schema.title = response.title;
      delete response.title;
      if (json?.schema?.properties?.error !== undefined)
        json.example = errorExample(status, response.description);
      normalizeBody(response);
    }
    if (requestBody !== undefined) {
      normalizeBody(requestBody);
      // The framework documents every body as required, but accepts no body if no field is required.
      if (isOptional(requestBody)) requestBody.required = false;
    }
  }
  const { value, schemas } = namedSchemas(document.paths);
  document.paths = value;
  document.components.schemas = schemas;
}

/** The most common error code of each status. */
const COMMON_CODES: Readonly<Record<string, ErrorCode>> = {
  400: 'missing_required_parameter',
  401: 'invalid_api_key',
  403: 'permission_denied',
  413: 'payload_too_large',
  429: 'rate_limit_exceeded',
  500: 'server_error',
  502: 'upstream_error',
  503: 'server_overloaded',
};

/** Example of an error response, with the description of the response as its message. */
function errorExample(status: string, description: string): ErrorBody | undefined {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  const kind = kinds.findLast((each) => ERROR_KINDS[each].status === Number(status));
  if (kind === undefined) return undefined;
  const param = status === '400' ? 'model' : undefined;
  const message =
    status === '400' ? "'model' is required and must be a string." : `${description.replaceAll('`', '')}.`;
  return errorBody(new ServiceError(kind, message, { param, code: COMMON_CODES[status] }));
}

function isOptional({ content = {} }: OpenApiBody): boolean {
  const schemas = Object.values(content).map(({ schema }) => schema);
  return schemas.every((schema) => schema?.type === 'object' && (schema.required ?? []).length === 0);
}

/** The framework documents every schema as JSON, form and text; this keeps only JSON, and adds an example. */
function normalizeBody(body: OpenApiBody): void {
  const { 'application/json': json, 'multipart/form-data': form, 'text/plain': text } = body.content ?? {};
  if (json === undefined) return;
  if (form !== undefined && text !== undefined) body.content = { 'application/json': json };
  if (json.examples === undefined && json.schema !== undefined) json.example ??= sampleOf(json.schema);
}

function page(summary: string, contentType: string, about: string) {
  const { tag, isPublic: _, ...rest } = publicPage(summary, contentType, about);
  return { get: { tags: [tag], security: [], ...rest } };
}
