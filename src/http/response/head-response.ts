/**
 * The answer to HEAD of what would be a long body. The framework answers HEAD with what GET gives and reads the whole
 * body to count it; this is a body that says how long it is and has no bytes.
 */
export function headAnswer(lengthBytes: number, init: ResponseInit): Response {
  const counted = new ReadableStream({
    start(controller) {
      controller.enqueue({ byteLength: lengthBytes });
      controller.close();
    },
  });
  return new Response(counted, init);
}
