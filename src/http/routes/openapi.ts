import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Route } from '../../contract/route.ts';
import { documentOf, type RouteTag } from '../openapi/document.ts';
import { publicPage } from '../openapi/route-docs.ts';
import { route } from '../route.ts';

const swaggerUi = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));

/** Static files of the page, by path. */
const FILES: Readonly<Record<string, string>> = {
  '/swagger/swagger-ui.css': swaggerUi('swagger-ui.css'),
  '/swagger/swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js'),
  '/swagger/swagger-page.css': join(import.meta.dirname, '../openapi/swagger-page.css'),
  '/swagger/swagger-page.js': join(import.meta.dirname, '../openapi/swagger-page.js'),
};

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

/**
 * Swagger UI at /swagger and the OpenAPI document at /swagger/json.
 * @param others all other routes of the app.
 * @param tags of the plugins, in the order of the document.
 */
export function openapiRoutes(
  version: string,
  tags: readonly RouteTag[],
  others: readonly Route[],
): readonly Route[] {
  // Created by the first request: the routes of an app do not change.
  let document: object | undefined;
  const pages: readonly Route[] = [
    route({
      method: 'GET',
      path: '/swagger',
      ...publicPage('Swagger UI', 'text/html', 'This page.'),
      handle: () => new Response(PAGE, { headers: PAGE_HEADERS }),
    }),
    route({
      method: 'GET',
      path: '/swagger/json',
      ...publicPage(
        'The OpenAPI document',
        'application/json',
        'OpenAPI 3.1 document of the enabled plugins.',
      ),
      handle() {
        document ??= documentOf([...others, ...pages], version, tags);
        return document;
      },
    }),
  ];
  const files = Object.entries(FILES).map(([path, name]) => {
    const file = Bun.file(name);
    const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=3600' };
    return route({
      method: 'GET',
      path,
      isHidden: true,
      isPublic: true,
      handle: () => new Response(file, { headers }),
    });
  });
  return [...pages, ...files];
}
