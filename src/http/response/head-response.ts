/**
 * Creates the response to HEAD for long content. For HEAD the framework reads the whole body of the GET response to compute
 * `content-length`; the body of this response reports its length without having any bytes.
 */
export function headResponse(lengthBytes: number, init: ResponseInit): Response {
  const counted = new ReadableStream({
    start(controller) {
      controller.enqueue({ byteLength: lengthBytes });
      controller.close();
    },
  });
  return new Response(counted, init);
}
