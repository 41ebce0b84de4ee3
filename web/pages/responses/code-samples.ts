/** The request as a curl command and as code for OpenAI's SDKs. The key is never included. Pure. */

import type { RequestBody } from './response-form.ts';

export const LANGUAGES = ['curl', 'typescript', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** @param baseUrl URL of the service with `/v1` and without a trailing slash. */
export function codeSample(language: Language, baseUrl: string, body: RequestBody): string {
  switch (language) {
    case 'curl':
      return curl(baseUrl, body);
    case 'typescript':
      return typescript(baseUrl, body);
    case 'python':
      return python(baseUrl, body);
  }
}

function curl(baseUrl: string, body: RequestBody): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
  return `curl ${body.stream === true ? '-N ' : ''}'${baseUrl}/responses' \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json}'
`;
}

function typescript(baseUrl: string, body: RequestBody): string {
  const call = `await client.responses.create(${JSON.stringify(body, null, 2)})`;
  const head = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.API_KEY });
`;
  if (body.stream === true) {
    return `${head}
const events = ${call};
for await (const event of events) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
}
`;
  }
  return `${head}
const response = ${call};
console.log(response.output_text);
`;
}

function python(baseUrl: string, body: RequestBody): string {
  const fields = Object.entries(body).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},\n`,
  );
  const call = `client.responses.create(\n${fields.join('')})`;
  const head = `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["API_KEY"])
`;
  if (body.stream === true) {
    return `${head}
for event in ${call}:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
`;
  }
  return `${head}
response = ${call}
print(response.output_text)
`;
}

/** Formats a JSON value as a Python literal. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((each) => pythonLiteral(each, inner))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (lines.length === 0) return `${open}${close}`;
  return `${open}\n${lines.map((line) => `${inner}${line},\n`).join('')}${indent}${close}`;
}
