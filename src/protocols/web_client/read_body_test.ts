import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { readBody } from "./read_body.ts";

function createRequest(body: BodyInit): Request {
  // Node requires `duplex` for a stream.
  const init = { method: "POST", body, duplex: "half" };
  return new Request("http://localhost/", init);
}

Deno.test("readBody(): returns a body, and ends one that is too large", async () => {
  const limits = { maxBytes: 5, timeoutMs: 10_000 };
  assertEquals(await readBody(createRequest("Café"), limits), "Café");
  const large = readBody(createRequest("Coffee"), limits);
  await assertRejects(() => large, BadRequestError, "larger than 5 bytes");
});

Deno.test("readBody(): ends a body that does not arrive in time", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    cancel: () => {
      isCancelled = true;
    },
  });
  const reading = readBody(createRequest(body), { maxBytes: 100, timeoutMs: 5 });
  await assertRejects(() => reading, BadRequestError, "not received within 5 ms");
  assertEquals(isCancelled, true);
});
