import { serveLoopback } from "./loopback.ts";

Deno.test("serveLoopback(): the deadline of a closed server has no effect", async () => {
  await serveLoopback(() => new Response(), 50)[Symbol.asyncDispose]();
  // An error in the listener of the deadline would be uncaught.
  await new Promise((resolve) => AbortSignal.timeout(100).addEventListener("abort", resolve));
});
