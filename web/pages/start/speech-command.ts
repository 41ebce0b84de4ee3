/**
 * A curl command that creates a speech file. The key is not included.
 * @param baseUrl URL of the console, which may have a path prefix.
 */
export function speechCommand(baseUrl: string): string {
  const url = new URL('v1/audio/speech', baseUrl);
  return `curl -f '${url}' \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "svc-tts", "input": "Hello, and welcome."}' \\
  -o speech.wav
`;
}
